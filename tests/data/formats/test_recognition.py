"""The format of a file is recognised by its content; it can be forced; packing changes nothing."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nashboard as nb
from data.formats.reading import FILES, everything, packed
from nashboard.data.formats import FORMATS

READERS: dict[str, Callable[..., nb.Matches | nb.Scores | nb.Payoffs]] = {
    "matches": nb.read_matches,
    "scores": nb.read_scores,
    "payoffs": nb.read_payoffs,
}

# file or fixture, the format's name, what is read from it
CASES: list[tuple[str, str, str]] = [
    ("matches.csv", "matches", "matches"),
    ("evalica.csv", "evalica", "matches"),
    ("esportsbench.csv", "esportsbench", "matches"),
    ("pair_counts.csv", "pair-counts", "matches"),
    ("chatbot_arena.json", "chatbot-arena", "matches"),
    ("lmarena", "lmarena", "matches"),
    ("kaggle_55k.csv", "kaggle", "matches"),
    ("alpaca_eval.json", "alpaca-eval", "matches"),
    ("arena_hard.jsonl", "arena-hard", "matches"),
    ("mt_bench_pair.jsonl", "mt-bench", "matches"),
    ("games.pgn", "pgn", "matches"),
    ("games_latin1.pgn", "pgn", "matches"),
    ("cutechess.txt", "cutechess", "matches"),
    ("win_rates.csv", "payoff-matrix", "matches"),
    ("win_counts.csv", "payoff-matrix", "matches"),
    ("payoffs.csv", "payoff-matrix", "payoffs"),
    ("scores_long.csv", "scores-long", "scores"),
    ("scores_wide.csv", "scores-wide", "scores"),
    ("lm_eval", "lm-eval", "scores"),
    ("every_eval_ever", "every-eval-ever", "scores"),
    ("opencompass_summary.csv", "opencompass", "scores"),
    ("open_llm_leaderboard.csv", "open-llm-leaderboard", "scores"),
    ("helm_core_scenarios.json", "helm", "scores"),
    ("rliable.json", "rliable", "scores"),
    ("rliable_npz", "rliable", "scores"),
]
FOLDERS = {"lm_eval", "every_eval_ever"}
# Formats that are recognised by nothing but the names of their columns, so that only these can be missing.
BY_COLUMNS = {
    "evalica": "has no columns for the two agents",
    "esportsbench": "has no columns for the two agents",
    "matches": "has no columns for the two agents",
    "pair-counts": "has no columns for the two agents",
    "chatbot-arena": "has no column 'model_a'",
    "lmarena": "has no column 'model_a'",
    "kaggle": "has no column 'winner_model_a'",
    "alpaca-eval": "has no column 'preference'",
    "arena-hard": "has no column 'model'",
    "mt-bench": "has no column 'g1_winner'",
    "payoff-matrix": "is not square: 1 row and 2 columns",
}


@pytest.fixture
def source(request: pytest.FixtureRequest) -> Path:
    name: str = request.param
    return FILES / name if (FILES / name).exists() else request.getfixturevalue(name)


def read(kind: str, source: Path | str, **options: Any) -> nb.Matches | nb.Scores | nb.Payoffs:
    return READERS[kind](source, **options)


@pytest.mark.parametrize(("source", "format", "kind"), CASES, indirect=["source"])
def test_the_format_is_recognised_whatever_the_name_of_the_file_and_can_be_forced(
    source: Path, format: str, kind: str, tmp_path: Path
) -> None:
    copy = tmp_path / "data"
    shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
    found = read(kind, source)
    assert found.origin.format.partition(" (")[0] == format
    assert everything(nb.read(source)) == everything(found)
    assert everything(read(kind, copy)) == everything(found)
    assert everything(read(kind, source, format=format)) == everything(found)


PACKED = [(case, ("gzip", "zstd")[k % 2]) for k, case in enumerate(case for case in CASES if case[0] not in FOLDERS)]


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("source", "kind", "packing"), [(case[0], case[2], how) for case, how in PACKED], indirect=["source"]
)
def test_a_packed_file_reads_the_same(source: Path, kind: str, packing: str, tmp_path: Path) -> None:
    assert everything(read(kind, packed(source, packing, tmp_path))) == everything(read(kind, source))


@pytest.mark.parametrize(("folder", "packing"), [("every_eval_ever", "gzip"), ("lm_eval", "zstd")])
def test_packed_files_of_a_folder_read_the_same(folder: str, packing: str, tmp_path: Path) -> None:
    for file in (FILES / folder).rglob("*.json"):
        target = tmp_path / file.parent.relative_to(FILES)
        target.mkdir(parents=True, exist_ok=True)
        packed(file, packing, target)
    assert everything(nb.read_scores(str(tmp_path / "**/*.json.*"))) == everything(
        nb.read_scores(str(FILES / folder / "**/*.json"))
    )


@pytest.mark.parametrize(("format", "message"), BY_COLUMNS.items())
def test_a_forced_format_says_which_column_is_missing(format: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("who,whom,what\nx,y,1\n")
    with pytest.raises(nb.InputError, match=f"log.csv' {message}"):
        nb.read_matches(file, format=format)


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("opencompass", "has no column 'dataset'"),
        ("open-llm-leaderboard", "has no column 'Model'"),
        ("scores-long", "has no column for the agent"),
        ("helm", "is not valid json"),
        ("lm-eval", "is not valid json"),
        ("every-eval-ever", "is not valid json"),
        ("rliable", "is not valid json"),
    ],
)
def test_a_forced_format_of_scores_says_what_is_missing(format: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("who,whom,what\nx,y,1\n")
    with pytest.raises(nb.InputError, match=f"table.csv' {message}"):
        nb.read_scores(file, format=format)


@pytest.mark.parametrize(("format", "what"), [("pgn", "PGN"), ("cutechess", "finished")])
def test_a_forced_format_of_games_says_that_there_are_none(format: str, what: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("who,whom,what\nx,y,1\n")
    with pytest.raises(nb.InputError, match=rf"log.csv' contains no {what} game"):
        nb.read_matches(file, format=format)


def test_forcing_wide_reads_a_long_table_as_wide(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("model,task,score\n1,2,3\n4,5,6\n")
    assert nb.read_scores(file).tasks == ("2", "5")
    assert nb.read_scores(file, format="scores-wide").tasks == ("task", "score")


def test_forcing_generic_matches_passes_over_the_official_filters() -> None:
    battles = nb.read_matches(FILES / "chatbot_arena.json", format="matches")
    assert (battles.n_games, battles.origin.left_out) == (7, ())


@pytest.mark.parametrize(
    ("name", "reader", "message"),
    [
        ("evalica.csv", nb.read_scores, r"looks like evalica \(evalica csv: left, right, winner\): use read_matches"),
        ("rliable.json", nb.read_matches, "looks like rliable .*: use read_scores"),
        ("win_rates.csv", nb.read_scores, "looks like payoff-matrix .*: use read_matches or read_payoffs"),
    ],
)
def test_the_wrong_reader_names_the_right_one(name: str, reader: Any, message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        reader(FILES / name)


def test_a_log_of_json_lines_is_not_read_whole_to_be_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: object) -> None:
        raise AssertionError("read whole")

    monkeypatch.setattr("nashboard.data.formats.format.read_document", refuse)
    monkeypatch.setattr("nashboard.data.formats.harnesses.read_document", refuse)
    file = tmp_path / "log.jsonl"
    file.write_text('{"agent_a": "x", "agent_b": "y", "winner": "tie"}\n' * 2)
    assert nb.read_matches(file).n_games == 2


def test_the_page_of_formats_lists_every_format() -> None:
    page = (FILES.parents[1] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = [f"| `{one.name}` | {one.makes} | {one.holds} |" for one in FORMATS]
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows
