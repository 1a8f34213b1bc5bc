"""The report as a file: complete, the same bytes, escaped, self-contained, small enough."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import nashboard as nb
from nashboard.errors import ConvergenceError
from nashboard.report import findings as steps
from nashboard.report.blocks import (
    Fold,
    Grid,
    Part,
    Picture,
    Sentences,
    embed_json,
    make_grid,
    rank_cells,
    renumber_names,
)
from nashboard.report.build import Summary, as_page, render_page, summarise
from report.pages import HOSTILE, content, evaluation, page

pytestmark = pytest.mark.xdist_group("pages")  # what all need is made once, in one process
ORDER = [
    "verdict", "board", "tasks", "trust", "redundancy", "skills", "cycles", "stress", "methods", "method", "data",
    "cite",
]  # fmt: skip
ATARI = pytest.param("atari", marks=pytest.mark.slow)


class Outline(HTMLParser):
    """What a browser sees of a page: elements, ids, headings, and text outside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.skipping = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.skipping += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.skipping -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self.skipping:
            self.text.append(data)


def summarised(found: nb.Evaluation) -> Summary:
    return summarise(found, title=None, say=lambda what: None)


def parts(shown: Summary) -> list[Part]:
    def inner(part: Part) -> list[Part]:
        return [part, *(one for held in part.parts for one in inner(held))] if isinstance(part, Fold) else [part]

    return [one for section in shown.sections for part in section.parts for one in inner(part)]


@pytest.mark.parametrize("name", ["scores", "matches", "payoffs", pytest.param("pair", marks=pytest.mark.slow)])
def test_sections_are_in_order_and_each_opens_with_a_sentence_and_help(name: str) -> None:
    sections = content(name).sections
    keys = [section.key for section in sections]
    assert keys == [key for key in ORDER if key in keys]
    assert set(ORDER) - set(keys) == (set() if name == "scores" else {"tasks", "skills"})
    for section in sections:
        assert section.opening.endswith(".")
        assert not re.search(r"Nash|entropy|transitiv|Schur|Hodge", section.opening)
        assert section.how
        assert section.parts
    text = page(name)
    assert re.findall(r'<section id="([a-z]+)"', text) == keys
    assert text.count("<summary>How to read this</summary>") == len(keys)


@pytest.mark.parametrize("name", ["scores", "matches", "payoffs"])
def test_every_column_of_every_table_says_what_it_means(name: str) -> None:
    grids = [part for part in parts(content(name)) if isinstance(part, Grid)]
    assert grids
    assert [(one.key, head.name) for one in grids for head in one.columns if not head.meaning] == []


def test_the_same_input_gives_the_same_bytes_also_later_in_the_life_of_a_program() -> None:
    nb.charts.plane(nb.schur([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]))  # Altair counts the charts it made
    again = nb.evaluate(nb.load_dataset("suite-4"), n_resamples=10)
    assert as_page(again) == page("scores")


@pytest.mark.slow
def test_the_report_of_a_hundred_agents_on_a_hundred_tasks_is_at_most_two_megabytes() -> None:
    assert 900_000 < len(page("large").encode()) <= 2_000_000


@pytest.mark.parametrize("name", [pytest.param("hostile", marks=pytest.mark.slow), "hostile scores"])
def test_names_from_strangers_are_text_and_nothing_else(name: str) -> None:
    seen, plain = Outline(page(name)), Outline(page("matches" if name == "hostile" else "scores"))
    assert set(seen.tags) <= set(plain.tags) | {"wbr"}  # names may break after their separators
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert seen.tags.count("script") == page(name).count("</script>")
    assert seen.tags.count("img") == 0
    text = "".join(seen.text)
    for agent in HOSTILE:
        assert agent in text


def test_a_source_and_a_title_from_strangers_are_text() -> None:
    values = evaluation("matches").to_dict()
    values["input"]["source"] = "<script>alert(1)</script>.csv"
    found = nb.Evaluation.from_json(json.dumps(values))
    text = as_page(found, title="</title><script>alert(2)</script>")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_json_in_the_page_cannot_end_its_element_and_reads_back() -> None:
    given = {"names": [*HOSTILE, "\u2028\u2029 & é"]}
    text = embed_json(given)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == given


def test_the_policy_allows_the_scripts_of_the_page_by_hash_and_no_network() -> None:
    text = page("matches")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    policy = policy.replace("&#39;", "'")
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 3
    for script in scripts:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]
    seen = Outline(text)
    assert not {"link", "iframe", "img", "object", "base", "form"} & set(seen.tags)
    assert not [value for name, value in seen.attributes if name in ("src", "srcset", "poster", "action")]
    assert all(value and value.startswith("#") for name, value in seen.attributes if name == "href")


@pytest.mark.parametrize("name", ["scores", "matches", ATARI])
def test_no_id_is_given_twice_and_headings_go_down_by_one(name: str) -> None:
    seen = Outline(page(name))
    assert len(seen.ids) == len(set(seen.ids))
    levels = [int(tag[1]) for tag in seen.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", ["scores", ATARI, "matches", "payoffs"])
def test_a_result_read_back_from_json_makes_a_page_and_says_what_is_missing(name: str) -> None:
    found = nb.Evaluation.from_json(evaluation(name).to_json())
    saved = summarised(found)
    keys = [section.key for section in saved.sections]
    assert keys == [section.key for section in content(name).sections]
    for key in ("trust", "redundancy", "cycles", "stress"):
        section = saved.sections[keys.index(key)]
        missing = [part for part in section.parts if isinstance(part, Sentences) and part.tone == "missing"]
        assert "saved result" in " ".join(missing[0].lines)
    boards = [part.key for part in parts(saved) if isinstance(part, Picture)]
    assert boards[0] == "chart-board"
    assert found.verdict[0] in "".join(Outline(render_page(saved)).text)


def test_a_step_that_fails_leaves_a_sentence_and_the_rest_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ConvergenceError("the solver stopped at 1e-3")

    monkeypatch.setattr(steps, "run_stress", fail)
    monkeypatch.setattr(nb.Evaluation, "audit", fail)
    rest = summarised(evaluation("matches"))
    said = [line for part in parts(rest) if isinstance(part, Sentences) for line in part.lines]
    assert sum("the solver stopped at 1e-3" in line for line in said) >= 3
    assert len(rest.sections) == 10


@pytest.mark.slow
def test_large_data_skip_what_would_take_too_long_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MOST_AUDITED", 5)
    monkeypatch.setattr(steps, "MOST_STRESSED", 5)
    monkeypatch.setattr(steps, "MOST_DECOMPOSED", 5)
    said = [
        line for part in parts(summarised(evaluation("matches"))) if isinstance(part, Sentences) for line in part.lines
    ]
    for command in ("nashboard audit", "nashboard stress", "nashboard hodge"):
        assert any(f"There are 6 entries; a report does this for up to 5. The command {command}" in s for s in said)


def test_warnings_on_the_way_are_kept_as_notes() -> None:
    import warnings

    run = steps.Steps(lambda what: None)
    assert run.run("audit", "", lambda: warnings.warn("thin ice", stacklevel=1)) is None
    assert run.notes["audit"] == ("thin ice",)


def test_tables_are_sorted_by_value_and_what_is_missing_has_no_place() -> None:
    assert rank_cells([3.0, None, -1.0, float("nan"), 3.0]) == [1, -1, 0, -1, 1]
    assert rank_cells(["2-10", "10", "2", "2-3"]) == [2, 3, 0, 1]
    assert rank_cells(["b", "A", "a", "C"]) == [2, 0, 1, 3]
    assert rank_cells([True, False, True]) == [1, 0, 1]


def test_the_csv_of_a_board_is_the_board() -> None:
    found = evaluation("scores")
    board = next(part for part in parts(content("scores")) if isinstance(part, Grid) and part.key == "agents")
    assert board.csv == nb._tables.as_csv(found.leaderboard("all"))


def test_a_long_table_is_cut_with_a_note_and_its_csv_is_whole() -> None:
    from nashboard._tables import Column, Table

    long = Table(columns=(Column(name="agent"),), rows=tuple((f"a{k}",) for k in range(2500)))
    shown = make_grid(long, "key", caption="all", things="agents", saved=True)
    assert len(shown.rows) == 2000
    assert shown.notes[0].startswith("The first 2,000 of 2,500 agents are shown")
    assert shown.csv.count("\n") == 2501


def test_names_that_a_library_counts_up_are_counted_anew_and_names_of_agents_are_not() -> None:
    spec = {
        "params": [{"name": "param_7"}],
        "layer": [
            {"encoding": {"y": {"sort": ["param_7", "view_3"]}}, "transform": [{"filter": {"param": "param_7"}}]}
        ],
        "datasets": {"d": [{"name": "param_7"}]},
    }
    assert renumber_names(spec) == {
        "params": [{"name": "param_1"}],
        "layer": [
            {"encoding": {"y": {"sort": ["param_7", "view_3"]}}, "transform": [{"filter": {"param": "param_1"}}]}
        ],
        "datasets": {"d": [{"name": "param_7"}]},
    }


@pytest.mark.slow
def test_a_report_that_is_interrupted_leaves_no_file(tmp_path: Path) -> None:
    def stop(what: str) -> None:
        if what == "Drawing ...":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluation("scores").report(tmp_path / "page.html", say=stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow  # in a process of its own
def test_the_room_of_evaluation_does_not_import_the_report() -> None:
    import subprocess
    import sys

    code = "import sys, nashboard.evaluation.document; sys.exit('nashboard.report' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_first_screen_has_the_verdict_a_compact_board_and_what_to_trust() -> None:
    for name in ("scores", "matches", "payoffs"):
        found = evaluation(name)
        first = content(name).sections[0]
        assert first.opening == found.verdict[0]
        board, trust = [part for part in first.parts if isinstance(part, Grid) or getattr(part, "title", "") == TRUST]
        assert isinstance(board, Grid)
        assert {"rank", "agent", "gap", "P(top)"} >= {head.name for head in board.columns}
        assert len(board.rows) <= 5
        assert isinstance(trust, Sentences)
        assert "checks passed" in trust.lines[0]


TRUST = "What to trust"


def test_an_unbeaten_agent_is_named_once_among_what_to_trust() -> None:
    games = (
        [("ann", "bob", k % 2) for k in range(40)] + [("bob", "cat", k % 2) for k in range(40)] + [("new", "ann", 1)]
    )
    found = nb.evaluate(nb.Matches.from_games(*zip(*games, strict=True)), n_resamples=10)
    assert any("never lost a game" in line for line in found.warnings)
    section = summarise(found, title=None, say=lambda what: None).sections[0]
    (trust,) = [part for part in section.parts if isinstance(part, Sentences) and part.title == TRUST]
    assert len([line for line in trust.lines if "'new'" in line and "only the prior limits" in line]) == 1


def test_the_whole_board_calls_its_entries_as_asked() -> None:
    found = nb.evaluate(nb.Matches.from_counts([[0, 30, 40], [5, 0, 30], [1, 5, 0]]), n_resamples=10, call="models")
    board = next(one for one in summarise(found, title=None, say=lambda what: None).sections if one.key == "board")
    assert board.opening.startswith("All models, best first")
    assert "model" in {head.name for part in board.parts if isinstance(part, Grid) for head in part.columns}


def test_two_spellings_are_named_once_among_what_to_trust() -> None:
    games = [(("Ann", "ann ")[k % 2], ("bob", "cat")[k % 3 % 2], k % 5 < 3) for k in range(60)]
    rows = {"a": [x for x, _, _ in games], "b": [y for _, y, _ in games], "result": [int(won) for *_, won in games]}
    found = nb.evaluate(nb.read_matches(rows), n_resamples=10)
    assert any("two spellings" in line for line in found.warnings)
    section = summarise(found, title=None, say=lambda what: None).sections[0]
    (trust,) = [part for part in section.parts if isinstance(part, Sentences) and part.title == TRUST]
    assert len([line for line in trust.lines if "case or white space" in line]) == 1


@pytest.mark.slow
def test_segments_are_compared_in_a_section_of_their_own() -> None:
    whole = evaluation("matches")
    parts_of_it = {name: nb.evaluate(whole.data.select(kept), n_resamples=10) for name, kept in SEGMENTS.items()}  # type: ignore[union-attr]
    text = as_page(whole, segments=parts_of_it)
    assert '<section id="segments"' in text
    assert f"first half: {parts_of_it['first half'].verdict[0]}" in "".join(Outline(text).text)
    assert '<section id="segments"' not in page("matches")


SEGMENTS = {"first half": ["ant", "bee", "cat", "dog"], "second half": ["bee", "cat", "dog", "fox"]}
