"""Outcomes, filters, weights, segments and counting are one query: what the engines themselves say they have run."""

import re
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import nashboard as nb
import servers
from data.conftest import in_postgres
from data.formats.reading import counts
from nashboard.data.counting import pairs
from nashboard.data.table import exact_sums

AGENTS, LABELS = 4, ("model_a", " MODEL_B ", "Tie")
ROWS = 24_000  # more than the sample from which labels are learnt
PAIRS = [(a, b) for a in range(AGENTS) for b in range(AGENTS) if a != b]
LOG: dict[str, list[Any]] = {
    "model_a": [f"agent {PAIRS[k % len(PAIRS)][0]}" for k in range(ROWS)],
    "model_b": [f"agent {PAIRS[k % len(PAIRS)][1]}" for k in range(ROWS)],
    "winner": [LABELS[k % 3] for k in range(ROWS)],
    "weight": [float(1 + k % 2) / 2 for k in range(ROWS)],
    "language": [(None, "en", "de")[k // 7 % 3] for k in range(ROWS)],
    "rated": [("yes", "no")[k // 5 % 2] for k in range(ROWS)],
    "prompt": ["long text"] * ROWS,
}
ASKED: dict[str, Any] = {"weight": "weight", "where": {"rated": "yes"}}
GROUPS = len(PAIRS) * 3 * 2  # ordered pairs, segments (and none), rows that are kept or left out


def expected() -> dict[str, dict[tuple[str, str], tuple[float, float, float]]]:
    """Return the counts by a plain loop."""
    found: dict[str, dict[tuple[str, str], list[float]]] = {}
    for a, b, winner, weight, language, rated, _ in zip(*LOG.values(), strict=True):
        if language is None or rated == "no":
            continue
        low, high = sorted((a, b))
        total = found.setdefault(language, {}).setdefault((low, high), [0.0, 0.0, 0.0])
        side = {"model_a": 0, " MODEL_B ": 2, "Tie": 1}[winner]
        total[side if a == low else 2 - side] += weight
    return {value: {pair: (w, d, x) for pair, (w, d, x) in part.items()} for value, part in found.items()}


def check(segments: nb.Segments) -> None:
    assert {value: counts(part) for value, part in segments.parts.items() if isinstance(part, nb.Matches)} == expected()
    assert segments.without == sum(
        language is None and rated == "yes" for language, rated in zip(LOG["language"], LOG["rated"], strict=True)
    )


def test_polars_reads_a_file_once_and_only_the_columns_that_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl.DataFrame(LOG).write_parquet(tmp_path / "log.parquet")
    monkeypatch.setattr(exact_sums, "PIECE", 5000)
    plans: list[str] = []
    came: list[int] = []
    in_pieces: list[str] = []
    collect, collect_batches = pl.LazyFrame.collect, pl.LazyFrame.collect_batches

    def spied(frame: pl.LazyFrame, **options: Any) -> Any:
        found = collect(frame, **options)
        plans.append(frame.explain(engine="streaming"))
        came.append(len(found))
        return found

    def spied_batches(frame: pl.LazyFrame, **options: Any) -> Any:
        in_pieces.append(frame.explain(engine="streaming"))
        return collect_batches(frame, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect", spied)
    monkeypatch.setattr(pl.LazyFrame, "collect_batches", spied_batches)
    check(nb.read_segments(tmp_path / "log.parquet", "language", **ASKED))
    summed = [number for plan, number in zip(plans, came, strict=True) if "AGGREGATE" in plan]
    read = [plan for plan in plans if "AGGREGATE" in plan and "Parquet SCAN" in plan]
    assert summed[:3] == [1, 3, 3]  # how often prompts repeat, the segments, the labels,
    assert summed[-1] == GROUPS  # and the counts
    assert max(came) <= pairs.SAMPLE  # what else is looked at
    assert len(summed) > 5  # several pieces, and these added up
    assert (len(read), len(in_pieces)) == (3, 1)
    last = in_pieces[0]
    assert "AGGREGATE" not in last
    assert last.count("Parquet SCAN") == 1
    assert re.search(r"PROJECT 6/7 COLUMNS", last)  # not the prompts


def test_duckdb_answers_with_groups_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is a function of DuckDB's own, which no client can hold: only what comes back is made."""
    with duckdb.connect() as connection:
        million = connection.sql(
            "select 'agent ' || (k % 4) as model_a, 'agent ' || ((k + 1 + k // 4 % 3) % 4) as model_b, "
            "['model_a', 'model_b', 'tie'][1 + k % 3] as winner from range(3_000_000) as log(k)"
        )
        came: list[int] = []
        to_polars = pl.from_arrow

        def spied(table: Any, **options: Any) -> Any:
            came.append(table.num_rows)
            return to_polars(table, **options)

        monkeypatch.setattr(pl, "from_arrow", spied)
        assert nb.read_matches(million).n_games == 3_000_000
    assert sum(came) == 3 + 12
    assert came


@pytest.mark.xdist_group("postgresql")
def test_postgresql_gets_one_statement_for_all_segments(postgres_port: int) -> None:
    address = in_postgres(LOG, postgres_port)
    with servers.statements(postgres_port) as found:
        check(nb.read_segments(address, "language", **ASKED))
    asked = [query for query, _ in found if '"log"' in query and "limit $1" not in query]
    assert len(asked) == 4  # how often prompts repeat, the segments, the labels, and the counts
    assert all("GROUP BY" in query for query in asked)
    fetched = sum(count for query, count in found if query.upper().startswith("FETCH") or query in asked)
    assert fetched == 1 + 3 + 3 + GROUPS


@pytest.mark.xdist_group("spark")
def test_spark_sums_up_on_its_executors_and_exchanges_once(spark: Any, tmp_path: Path) -> None:
    """As docs/cluster.md says: a partial aggregation, one exchange, a final aggregation, one action."""
    pl.DataFrame(LOG).write_parquet(tmp_path / "log.parquet")
    games = spark.read.parquet(str(tmp_path / "log.parquet"))
    store = spark._jsparkSession.sharedState().statusStore()
    before = store.executionsCount()
    check(nb.read_segments(games, "language", **ASKED))
    assert store.executionsCount() - before == 4  # how often prompts repeat, the segments, the labels, the counts
    executions = store.executionsList()
    last = executions.apply(executions.size() - 1).physicalPlanDescription()
    final = last.partition("== Initial Plan ==")[0]
    operators = re.findall(r"\+- (?:\* )?(\w+)", final)
    assert operators.count("HashAggregate") == 2
    assert operators.count("Exchange") == 1
    assert operators.index("HashAggregate") < operators.index("Exchange")
    assert operators[operators.index("Exchange") + 1] == "HashAggregate"
    assert "partial_sum" in last
    exchange = last[last.index("hashpartitioning") :].partition("\n")[0]
    assert all(key in exchange for key in ("first", "second", "left_out", "segment"))
    read = re.findall(r"ReadSchema: .*", last)
    assert len(read) == 1
    assert "prompt" not in read[0]
