"""Binary files in public layouts, built once."""

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest


@pytest.fixture(scope="session")
def lmarena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Votes of three sessions in the layout of the LMArena 140k release."""
    votes = [
        ("s1", 1, "claude", "gemini", "model_a", "en", datetime(2025, 4, 24, 10, 0)),
        ("s1", 2, "gemini", "claude", "both_bad", "en", datetime(2025, 4, 24, 10, 5)),
        ("s2", 1, "gemini", "gpt-4o", "model_b", "pl", datetime(2025, 7, 17, 23, 59)),
        ("s2", 2, "claude", "gpt-4o", "tie", "pl", datetime(2025, 5, 1)),
        ("s3", 1, "gpt-4o", "claude", "model_a", "en", datetime(2025, 5, 2)),
    ]
    turn = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    file = tmp_path_factory.mktemp("lmarena") / "train-00000-of-00007.parquet"
    pl.DataFrame(
        [
            {
                "id": f"id-{k}",
                "model_a": a,
                "model_b": b,
                "winner": winner,
                "evaluation_session_id": session,
                "evaluation_order": order,
                "conversation_a": [turn],
                "conversation_b": [turn],
                "full_conversation": [{"user": turn, "model_side_a": turn, "model_side_b": turn}],
                "conv_metadata": {"sum_user_tokens": 3, "header_count_a": {"h1": 0}},
                "category_tag": {"math_v0.1": {"math": False}},
                "language": language,
                "is_code": False,
                "timestamp": time,
            }
            for k, (session, order, a, b, winner, language, time) in enumerate(votes)
        ]
    ).write_parquet(file)
    return file


@pytest.fixture(scope="session")
def rliable_npz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A score dictionary: runs by tasks, for each agent its own number of runs."""
    file = tmp_path_factory.mktemp("rliable") / "scores.npz"
    arrays: dict[str, Any] = {
        "DQN (Nature)": np.array([[1.0, 10.0], [3.0, np.nan], [5.0, 12.0]]),
        "Rainbow": np.asfortranarray(np.array([[2, 20], [4, 22]])),
    }
    np.savez(file, **arrays)
    return file
