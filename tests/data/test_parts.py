"""Logs of many files: folders are columns, and the columns of the files need not be quite the same."""

import gzip
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nashboard as nb
from data.conftest import in_sqlite
from data.formats.reading import everything

LOG: dict[str, list[Any]] = {"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["model_a", "tie"]}


def put(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(LOG | columns).write_parquet(path)
    return path


def sizes(source: Any, column: str) -> dict[str, float]:
    return {value: part.origin.rows for value, part in nb.read_segments(source, column).parts.items()}


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("m", ["1", "01", "001"]),
        ("version", ["1.1", "1.10", "2"]),
        ("day", ["2024-01-01", "2024-1-1"]),
        ("flag", ["true", "True"]),
        ("tag", ["a b", "日本語", "1e3"]),
        ("odd", ["b=c", "a*", "[x]", "what?", "100%"]),
    ],
)
@pytest.mark.parametrize("pattern", ["", "/**/*.parquet"])
def test_the_value_of_a_folder_is_what_the_folder_is_called(
    column: str, values: list[str], pattern: str, tmp_path: Path
) -> None:
    for value in values:
        put(tmp_path / "games" / f"{column}={value}" / "part.parquet")
    source = f"{tmp_path}/games{pattern}"
    assert sizes(source, column) == dict.fromkeys(values, 2)
    for value in values:
        assert nb.read_matches(source, where={column: value}).n_games == 2


def test_folders_are_read_as_spark_writes_them(tmp_path: Path) -> None:
    put(tmp_path / "tag=a%2Fb" / "part.parquet")
    put(tmp_path / "tag=%E6%97%A5" / "part.parquet")
    put(tmp_path / "tag=__HIVE_DEFAULT_PARTITION__" / "part.parquet")
    segments = nb.read_segments(tmp_path, "tag")
    assert (sorted(segments.parts), segments.without) == (["a/b", "日"], 2)


def test_a_number_chooses_the_folder_that_is_spelt_like_it(tmp_path: Path) -> None:
    for value in ("1", "01", "2.0"):
        put(tmp_path / f"m={value}" / "part.parquet")
    assert nb.read_matches(tmp_path, where={"m": 1}).n_games == 2
    assert nb.read_matches(tmp_path, where={"m": [1, "01"]}).n_games == 4
    assert nb.read_matches(tmp_path, where={"m": 2}).n_games == 2
    (tmp_path / "log.csv").write_text("a,b,winner,m\nx,y,x,1\nx,y,x,01\nx,y,x,2.0\n")  # where all may be numbers
    assert nb.read_matches(tmp_path / "log.csv", where={"m": [1, 2]}).n_games == 3


def test_folders_may_hold_weights_times_and_clusters(tmp_path: Path) -> None:
    put(tmp_path / "weight=2" / "date=2024-01-31" / "cluster=p" / "part.parquet")
    put(tmp_path / "weight=0.5" / "date=2023-12-01" / "cluster=q" / "part.parquet")
    matches = nb.read_matches(tmp_path)
    assert matches.n_games == 5
    assert matches.origin.period == ("2023-12-01", "2024-01-31")
    assert matches.clusters is not None


def test_packed_files_keep_the_columns_of_their_folders(tmp_path: Path) -> None:
    plain = put(tmp_path / "m=1" / "part.parquet")
    (tmp_path / "m=01").mkdir()
    (tmp_path / "m=01" / "part.parquet").write_bytes(gzip.compress(plain.read_bytes()))
    assert sizes(tmp_path, "m") == {"1": 2, "01": 2}


def test_a_folder_goes_before_a_column_of_the_same_name_and_that_is_told(tmp_path: Path) -> None:
    put(tmp_path / "m=1" / "part.parquet", m=["7", "8"])
    matches = nb.read_matches(tmp_path, where={"m": "1"})
    assert matches.n_games == 2
    assert "taken from the folders, not from the files, where they stand too: 'm'" in matches.origin.notes


def test_a_column_that_only_some_parts_have_is_missing_in_the_others(tmp_path: Path) -> None:
    put(tmp_path / "1.parquet")
    put(tmp_path / "2.parquet", prompt=["p", "q"], language=["en", "de"])
    put(tmp_path / "3.parquet", other=[1, 2])
    matches = nb.read_matches(tmp_path)
    assert matches.n_games == 6
    assert matches.origin.notes == (
        "columns that some of the files do not have are empty there: 'prompt', 'language' and 'other'",
    )
    assert nb.read_matches(tmp_path, where={"language": "en"}).n_games == 1
    assert nb.read_segments(tmp_path, "language").without == 4
    put(tmp_path / "4.parquet", weight=[1.0, 2.0])
    with pytest.raises(nb.InputError, match="6 rows have a weight that is missing"):
        nb.read_matches(tmp_path)


def test_folders_may_differ_in_depth_and_some_files_lie_in_none(tmp_path: Path) -> None:
    put(tmp_path / "old.parquet")
    put(tmp_path / "year=2024" / "part.parquet")
    put(tmp_path / "year=2024" / "month=01" / "part.parquet")
    put(tmp_path / "month=02" / "year=2023" / "part.parquet")
    assert nb.read_matches(tmp_path).n_games == 8
    assert sizes(tmp_path, "year") == {"2024": 4, "2023": 2}
    assert sizes(tmp_path, "month") == {"01": 2, "02": 2}


@pytest.mark.parametrize(
    ("first", "second", "games"),
    [
        ([1, 2], [0.5, 1.0], 4.5),
        ([0.5, 1.0], [1, 2], 4.5),
        (pl.Series([1, 2], dtype=pl.Int8), pl.Series([3, 4], dtype=pl.UInt64), 10),
        (pl.Series([1, 2], dtype=pl.Float32), pl.Series([3, 4], dtype=pl.Int64), 10),
    ],
)
def test_weights_may_be_whole_numbers_in_one_part_and_fractions_in_another(
    first: Any, second: Any, games: float, tmp_path: Path
) -> None:
    put(tmp_path / "1.parquet", weight=first)
    put(tmp_path / "2.parquet", weight=second)
    matches = nb.read_matches(tmp_path)
    assert matches.n_games == games
    assert not any("text" in note for note in matches.origin.notes)


def test_parts_may_differ_in_what_they_know_of_a_column(tmp_path: Path) -> None:
    put(tmp_path / "1.parquet", language=pl.Series(["en", "de"], dtype=pl.Categorical), note=[None, None])
    put(tmp_path / "2.parquet", language=pl.Series(["en", "fr"], dtype=pl.Enum(["en", "fr"])), note=["p", "q"])
    put(tmp_path / "3.parquet", language=["en", None], note=["p", "q"])
    assert sizes(tmp_path, "language") == {"en": 3, "de": 1, "fr": 1}
    assert nb.read_matches(tmp_path).origin.notes == ()


def test_objects_of_parts_may_have_more_fields(tmp_path: Path) -> None:
    put(tmp_path / "1.parquet", meta=[{"p": 1}, {"p": 2}])
    put(tmp_path / "2.parquet", meta=[{"p": 1.5, "q": "x"}, None])
    assert nb.read_matches(tmp_path).n_games == 4


def test_a_column_of_numbers_and_text_is_text_and_both_files_are_named(tmp_path: Path) -> None:
    one = put(tmp_path / "1.parquet", id=[1, 2], day=["2024-01-01", "2024-01-02"])
    two = put(tmp_path / "2.parquet", id=["1", "b"], day=[date(2024, 1, 1), date(2024, 1, 3)])
    matches = nb.read_matches(tmp_path, where={"id": "1"})
    assert matches.n_games == 2
    assert f"column 'id' is read as text: it contains Int64 in '{one}', and String in '{two}'" in matches.origin.notes
    assert nb.read_matches(tmp_path, where={"day": "2024-01-01"}).n_games == 2


def test_a_column_that_no_type_can_hold_is_refused_with_both_files(tmp_path: Path) -> None:
    one = put(tmp_path / "1.parquet", meta=[{"p": 1}, {"p": 2}])
    two = put(tmp_path / "2.parquet", meta=["p", "q"])
    with pytest.raises(nb.InputError) as caught:
        nb.read_matches(tmp_path)
    assert str(caught.value) == (
        f"column 'meta' contains Struct({{'p': Int64}}) in '{one}', and String in '{two}': "
        f"read the files separately, or write the column in one way"
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_parts_are_read_by_the_names_of_their_columns(kind: str, tmp_path: Path) -> None:
    for k, names in enumerate((["a", "b", "winner"], ["winner", "b", "a"], ["b", "winner", "a", "more"])):
        table = pl.DataFrame({"a": ["x"], "b": ["y"], "winner": ["a"], "more": ["m"]}).select(names)
        table.write_csv(tmp_path / f"{k}.csv") if kind == "csv" else table.write_parquet(tmp_path / f"{k}.parquet")
    matches = nb.read_matches(f"{tmp_path}/*.{kind}")
    assert (matches.agents, matches.wins.tolist(), matches.losses.tolist()) == (("x", "y"), [3], [0])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_that_are_no_parts_of_one_table_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    tables = [
        pl.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["x"]}),
        pl.DataFrame({"model_a": ["x"], "model_b": ["y"], "result": ["x"]}),
        pl.DataFrame({"agent": ["x"], "skill": [1.5]}),
    ]
    paths = [tmp_path / f"{k}.{kind}" for k in range(3)]
    for path, table in zip(paths, tables, strict=True):
        table.write_csv(path) if kind == "csv" else table.write_parquet(path)
    with pytest.raises(nb.InputError, match=r"1\.\w+' has other columns than '.*0\.\w+': 'result' instead of"):
        nb.read_matches(f"{tmp_path}/[01].{kind}")
    with pytest.raises(nb.InputError, match=r"2\.\w+' has other columns than .*, and none of the same: 'agent'"):
        nb.read_matches(f"{tmp_path}/[02].{kind}")


def test_a_broken_record_is_found_in_a_part_with_more_columns(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b,winner\nx,y,x\n")
    (tmp_path / "2.csv").write_text("more,a,b,winner\nm,x,y,x\nm,x,y\n")
    with pytest.raises(nb.InputError, match=r"2.csv': data row 2 \(line 3, 'm'\) has 3 cells, the header has 4"):
        nb.read_matches(f"{tmp_path}/*.csv")


def test_the_folders_of_an_address_are_text_too(tmp_path: Path) -> None:
    for value in ("1", "01", "1.10"):
        put(tmp_path / f"m={value}" / "part.parquet")
    put(tmp_path / "m=1" / "extra.parquet", note=["p", "q"], winner=["model_b", "tie"])
    source = f"file://{tmp_path}/**/*.parquet"
    assert sizes(source, "m") == {"1": 4, "01": 2, "1.10": 2}
    assert nb.read_matches(source, where={"m": "01"}).n_games == 2
    assert nb.read_matches(f"file://{tmp_path}/m=01/part.parquet", where={"m": "01"}).n_games == 2


def test_parts_at_an_address_may_differ_a_little(tmp_path: Path) -> None:
    put(tmp_path / "1.parquet", weight=[1.5, 2.0], more=["p", "q"])
    put(tmp_path / "2.parquet", weight=[1, 2])
    put(tmp_path / "3.parquet", weight=[1.0, 2.0], other=["p", "q"])
    assert nb.read_matches(f"file://{tmp_path}/*.parquet").n_games == 9.5


@pytest.mark.parametrize("pattern", ["[12].parquet", "**/*.parquet"])
def test_parts_at_an_address_may_differ_as_parts_of_a_folder_may(pattern: str, tmp_path: Path) -> None:
    folder = tmp_path / "m=1"
    put(folder / "1.parquet", weight=[1, 2])
    put(folder / "2.parquet", weight=[1.5, 2.0])
    put(folder / "n=2" / "1.parquet", weight=[1, 2])
    assert nb.read_matches(f"file://{folder}/{pattern}").n_games > 6
    assert everything(nb.read_matches(f"file://{folder}/{pattern}")) == everything(
        nb.read_matches(f"{folder}/{pattern}")
    )


@pytest.mark.parametrize("where", ["frame", "parquet", "address", "sqlite"])
def test_weights_that_are_text_are_numbers_everywhere(where: str, tmp_path: Path) -> None:
    def read(weight: list[str]) -> nb.Matches:
        table = pl.DataFrame(LOG | {"weight": weight})
        path = put(tmp_path / "log.parquet", weight=weight)
        source: Any = {"frame": table, "parquet": path, "address": f"file://{path}"}.get(where)
        if where == "sqlite":
            source = in_sqlite({name: table[name].to_list() for name in table.columns}, tmp_path)
        return nb.read_matches(source)

    assert read(["1", "2"]).n_games == 3
    with pytest.raises(nb.InputError, match="column 'weight': 1 row has a weight that is missing, negative or not fin"):
        read(["1", "much"])


def test_weights_of_text_files_are_numbers(tmp_path: Path) -> None:
    table = pl.DataFrame(LOG | {"weight": ["1", "2"]})
    table.write_csv(tmp_path / "log.csv", quote_style="always")
    table.write_ndjson(tmp_path / "log.jsonl")
    assert nb.read_matches(tmp_path / "log.csv").n_games == nb.read_matches(tmp_path / "log.jsonl").n_games == 3
