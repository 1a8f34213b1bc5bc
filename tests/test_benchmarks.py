"""The page of benchmarks is what the results say, and the harness tells the truth about whoever it measures."""

import importlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import psutil
import pytest

ROOT = Path(__file__).parents[1]
SECTIONS = (
    "startup",
    "reading",
    "online",
    "evaluation",
    "algebra",
    "ranking",
    "end_to_end",
    "equilibrium",
    "elo",
    "ratings",
)
PEERS = {
    "cvxpy",
    "scipy",
    "nashpy",
    "polarix",
    "evalica",
    "arena-rank",
    "open_spiel",
    "rliable",
    "choix",
    "riix",
    "scikit-learn",
}
Row = dict[str, Any]


class Benchmarks:
    """The files of the folder, which is no package, as modules."""

    def __getattr__(self, name: str) -> ModuleType:
        return importlib.import_module(name)


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Benchmarks]:
    for path in (ROOT / "benchmarks").glob("*.py"):
        monkeypatch.delitem(sys.modules, path.stem, raising=False)  # folders of tests have some of these names too
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield Benchmarks()
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(ROOT / "benchmarks")):
            del sys.modules[name]


def test_the_page_of_benchmarks_and_the_table_of_the_readme_are_written_from_the_results(
    benchmarks: Benchmarks,
) -> None:
    page = benchmarks.page
    assert page.PAGE.read_text(encoding="utf-8") == page.page()
    assert page.README.read_text(encoding="utf-8") == page.readme()
    assert page.readme().count("| cvxpy (OpenSpiel's program) |") == 3


def test_the_small_version_keeps_its_rows_and_page_to_itself_and_the_full_one_writes_the_documents(
    benchmarks: Benchmarks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, page, startup = benchmarks.run, benchmarks.page, benchmarks.startup
    one = benchmarks.harness.Comparison(
        what="nothing", sides=[benchmarks.harness.Side(name="us", code="answer = 0")], repeats=1
    )
    monkeypatch.setattr(startup, "SECTION", replace(startup.SECTION, comparisons=lambda size, folder: iter([one])))
    full, small = tmp_path / "benchmarks" / "results", tmp_path / "out" / "benchmarks"
    places = {"PAGE": "docs/benchmarks.md", "README": "README.md", "SMALL_PAGE": "out/benchmarks.md"}
    for module in (run, page):
        monkeypatch.setattr(module, "RESULTS", full)
        monkeypatch.setattr(module, "SMALL", small)
    monkeypatch.setattr(page, "ROOT", tmp_path)
    for name, place in places.items():
        monkeypatch.setattr(page, name, tmp_path / place)
    page.README.write_text("".join(["before\n", *page.MARKS, "after\n"]))
    terminated = signal.getsignal(signal.SIGTERM)
    try:
        before = page.README.read_text()
        assert run.main(["--only", "startup"]) == 0
        assert capsys.readouterr().out.endswith("The page is out/benchmarks.md.\n")
        assert [row["what"] for row in benchmarks.results.read(small / "startup.json")["rows"]] == ["nothing"]
        assert "The small version" in page.SMALL_PAGE.read_text()
        assert "| nothing | us |" in page.SMALL_PAGE.read_text()
        assert not full.exists()
        assert not page.PAGE.exists()
        assert page.README.read_text() == before
        page.SMALL_PAGE.unlink()
        assert run.main(["--full", "--only", "startup"]) == 0
        assert capsys.readouterr().out.endswith("The page is docs/benchmarks.md; the comparison is in README.md.\n")
        assert "Without a peer: nothing " in page.PAGE.read_text()
        assert page.README.read_text() == page.readme() != before
        assert not page.SMALL_PAGE.exists()
    finally:
        signal.signal(signal.SIGTERM, terminated)


def test_one_task_is_measured_alone_and_the_other_rows_stay(benchmarks: Benchmarks, tmp_path: Path) -> None:
    run, harness, results = benchmarks.run, benchmarks.harness, benchmarks.results
    ran = tmp_path / "ran"
    tasks = [
        harness.Comparison(
            what=what,
            sides=[harness.Side(name="us", code=f"answer = open({str(ran)!r}, 'a').write('{what}, ')")],
            repeats=1,
        )
        for what in ("once", "in rounds")
    ]
    section = replace(benchmarks.startup.SECTION, comparisons=lambda size, folder: iter(tasks))
    run.measured(section, "full", tmp_path, tmp_path)
    assert "once" in ran.read_text()
    ran.unlink()
    run.measured(section, "full", tmp_path, tmp_path, "rounds")
    assert set(ran.read_text().split(", ")) == {"in rounds", ""}
    assert [row["what"] for row in results.read(tmp_path / f"{section.name}.json")["rows"]] == ["once", "in rounds"]


def test_every_peer_is_measured(benchmarks: Benchmarks, tmp_path: Path) -> None:
    packages = set()
    for name in SECTIONS:
        section = getattr(benchmarks, name).SECTION
        for comparison in section.comparisons("tiny", tmp_path):
            packages |= {side.package for side in comparison.sides}
    assert set(benchmarks.run.SECTIONS) == set(SECTIONS)
    assert packages >= PEERS


def test_elo_is_measured_from_columns_and_from_parquet_once_and_resampled_on_the_same_sides(
    benchmarks: Benchmarks, tmp_path: Path
) -> None:
    elo = benchmarks.elo
    found = {one.series: one for one in elo.comparisons("tiny", tmp_path) if one.series}
    assert sorted(found) == [
        "from columns",
        "from columns, 100 rounds",
        "from parquet",
        "from parquet, 100 rounds",
    ]
    names = [[side.name for side in one.sides] for one in found.values()]
    assert all(some == names[0] for some in names)
    for series, one in found.items():
        for side in one.sides:
            reads = "read_parquet(" in side.code or "read_matches('" in side.code
            assert reads == series.startswith("from parquet"), (series, side.name)
            code = side.code.replace(str(tmp_path), "").replace("3000-100", "")
            assert ("100" in code) == series.endswith("100 rounds"), (series, side.name)


def measured(benchmarks: Benchmarks, comparison: Any) -> tuple[dict[str, Row], list[list[Row]]]:
    kept: list[list[Row]] = []
    rows = benchmarks.harness.compared(comparison, [], kept.append)
    return {row["who"]: row for row in rows}, kept


def test_who_fails_hangs_or_answers_wrongly_is_reported_as_such_with_its_version(benchmarks: Benchmarks) -> None:
    Side, Comparison = benchmarks.harness.Side, benchmarks.harness.Comparison
    hang = "import subprocess, sys\nhelper = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])\n"
    comparison = Comparison(
        what="two and two",
        sides=[
            Side(name="ours", code="answer = 4"),
            Side(name="fails", code="raise ArithmeticError('too hard')", package="numpy"),
            Side(name="hangs", setup=hang, code="helper.wait()", package="numpy"),
            Side(name="is wrong", code="answer = 5", package="numpy"),
            Side(name="says nothing", code="answer = None", package="numpy"),
            Side(name="is not there", code="answer = 4", environment="no-such-environment"),
        ],
        quality=lambda answer, ours: (f"says {answer:d}", answer == ours),
        repeats=2,
        limit=1.0,
        series="sums",
        size=2,
    )
    rows, kept = measured(benchmarks, comparison)
    assert rows["ours"]["quality"] == "says 4"
    assert rows["ours"]["repeats"] == 2
    assert rows["fails"]["failed"] == "fails: ArithmeticError: too hard"
    assert rows["fails"]["version"].startswith("numpy ")
    assert rows["hangs"]["failed"] == "over 1 s"
    assert rows["hangs"]["ratio at least"] > 10
    assert rows["is wrong"]["quality"] == "WRONG: says 5"
    assert rows["says nothing"]["quality"].startswith("WRONG: an answer of another form, TypeError")
    assert rows["is not there"]["failed"] == "not installed here"
    assert kept[0][0]["who"] == "ours"
    assert len(kept[0]) == 1
    assert len(kept[-1]) == 6
    larger = Comparison(what="more", sides=[comparison.sides[0], comparison.sides[2]], series="sums", size=3, repeats=1)
    ours, hangs = benchmarks.harness.compared(larger, list(rows.values()), kept.append)
    assert ours["repeats"] == 1
    assert hangs["failed"] == "not tried: over 1 s on two and two"


def test_who_claims_the_maximum_of_entropy_is_wrong_without_it_and_who_returns_any_equilibrium_is_not(
    benchmarks: Benchmarks, tmp_path: Path
) -> None:
    equilibrium, games = benchmarks.equilibrium, benchmarks.games
    comparison = next(equilibrium.comparisons("tiny", tmp_path))
    judges = {side.name: side.quality or comparison.quality for side in comparison.sides}
    circles = np.kron(games.CIRCLE, np.ones((2, 2)))  # everybody twice: there are many equilibria
    spread, one = np.full(6, 1 / 6), np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0]) / 3
    ours, other = games.of_weights(circles, spread), games.of_weights(circles, one)
    for name in (equilibrium.CVXPY, equilibrium.POLARIX):
        assert judges[name](ours, ours)[1]
        assert judges[name](ours | {"entropy": ours["entropy"] + 0.009}, ours)[1]
        said, right = judges[name](other, ours)
        assert not right
        assert said.endswith("entropy 1.0986, which is not the maximum among equilibria, 1.7918")
        assert not judges[name](ours | {"entropy": ours["entropy"] + 0.02}, ours)[1]
        assert not judges[name](ours | {"entropy": float("nan")}, ours)[1]
        assert not judges[name](ours | {"gain": 0.1}, ours)[1]
    for name in ("nashboard", "HiGHS simplex", "HiGHS interior point", "nashpy", equilibrium.LLE):
        assert judges[name](other, ours)[1]


def test_the_entropy_of_many_games_is_that_of_those_which_everybody_solves(benchmarks: Benchmarks) -> None:
    games = benchmarks.games
    circles, weights = np.stack([games.CIRCLE] * 3), np.array([[1 / 3] * 3, [1 / 3] * 3, [1.0, 0.0, 0.0]])
    found = games.of_stack(circles, weights, 2)
    assert found["entropy"] == games.of_stack(circles[:2], weights[:2], 2)["entropy"] == pytest.approx(np.log(3))
    assert found["gain"] == 1  # of all games


def test_whoever_takes_long_has_two_turns_and_everybody_else_all(
    benchmarks: Benchmarks, monkeypatch: pytest.MonkeyPatch
) -> None:
    Side, Comparison = benchmarks.harness.Side, benchmarks.harness.Comparison
    comparison = Comparison(what="nothing", sides=[Side(name="ours", code="answer = 0")], repeats=4)
    assert measured(benchmarks, comparison)[0]["ours"]["repeats"] == 4
    monkeypatch.setattr(benchmarks.harness, "LONG", 0.0)
    assert measured(benchmarks, comparison)[0]["ours"]["repeats"] == 2


def test_who_would_run_into_the_limit_is_not_tried(benchmarks: Benchmarks) -> None:
    Side, Comparison = benchmarks.harness.Side, benchmarks.harness.Comparison
    side = Side(name="peer", code="")
    before = [{"what": f"{n}", "who": "peer", "series": "s", "size": n, "seconds": 4 + n} for n in (1, 10)]
    task = Comparison(what="100", sides=[side], series="s", size=100, limit=100.0, linear=True)
    assert benchmarks.harness.in_vain(task, side, before) == "14 s on 10, on the way to over 100 s"
    assert benchmarks.harness.in_vain(replace(task, limit=200.0), side, before) == ""
    assert benchmarks.harness.in_vain(replace(task, linear=False), side, before) == ""


def test_a_child_that_is_stopped_leaves_no_process_behind(benchmarks: Benchmarks, tmp_path: Path) -> None:
    child, told = benchmarks.child, tmp_path / "helper"
    setup = "import subprocess, sys, time\nhelper = subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
    setup += f"open({str(told)!r}, 'w').write(str(helper.pid))\n"
    with pytest.raises(child.SideError, match=r"over 0\.2 s"):
        child.run(sys.executable, setup=setup, code="time.sleep(99)", after="answer = 0", again=False, limit=0.2)
    status = Path(f"/proc/{told.read_text()}/status")
    assert not status.exists() or "State:\tZ" in status.read_text()  # gone, or dead and not yet buried


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of processes is read from /proc")
def test_seconds_processor_seconds_and_memory_are_those_of_the_timed_part(
    benchmarks: Benchmarks, tmp_path: Path
) -> None:
    file = tmp_path / "pages"
    file.write_bytes(bytes(200 << 20))
    setup = f"import mmap, time\nheld = bytearray(60 << 20)\nfile = open({str(file)!r}, 'rb')\n"
    code = "more = bytearray(b'x') * (80 << 20)\nmapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
    code += "total = sum(mapped[k] for k in range(0, len(mapped), 4096))\ntime.sleep(0.2)"
    found = benchmarks.child.run(
        sys.executable, setup=setup, code=code, after="del more\nanswer = total", again=False, limit=60.0
    )
    assert found.answer == 0
    assert 80 <= found.new < 100
    assert 140 <= found.peak < 200  # the 200 MB of the mapped file are not counted
    assert found.seconds >= 0.2
    assert found.cpu <= found.seconds - 0.15  # sleeping is no work


def test_rows_are_replaced_in_their_place(benchmarks: Benchmarks, tmp_path: Path) -> None:
    path, head = tmp_path / "some.json", {"title": "Some"}
    save, read = benchmarks.results.save, benchmarks.results.read
    save(path, head, [{"what": "a", "who": "x", "n": 1}, {"what": "b", "who": "x", "n": 1}])
    save(path, head, [{"what": "a", "who": "x", "n": 2}, {"what": "a", "who": "y", "n": 2}])
    assert [(row["what"], row["who"], row["n"]) for row in read(path)["rows"]] == [
        ("a", "x", 2),
        ("a", "y", 2),
        ("b", "x", 1),
    ]


def run_at(date: str, load: float, **more: str) -> Row:
    run = {"date": date, "load": load, "machine": "a machine", "versions": ["nashboard 0.1.0", "numpy 2.3.3"]}
    return {"version": "nashboard 0.1.0", "run": run | more}


def test_the_page_says_the_first_and_the_last_date_in_whatever_order_the_rows_are(benchmarks: Benchmarks) -> None:
    measured = benchmarks.page.measured
    rows = [run_at(f"2026-11-16 0{hour}:00 UTC", load) for hour, load in ((6, 1.0), (8, 0.5), (5, 1.5), (7, 9.0))]
    on = "on a machine; nashboard 0.1.0, numpy 2.3.3."
    assert measured(rows) == f"Measured 2026-11-16 05:00 UTC (load 1.5) to 2026-11-16 08:00 UTC (load 0.5) {on}"
    assert measured(rows[:1]) == f"Measured 2026-11-16 06:00 UTC (load 1.0) {on}"
    at_once = [rows[0], run_at("2026-11-16 06:00 UTC", 0.9)]
    assert measured(at_once) == f"Measured 2026-11-16 06:00 UTC (load 0.9 to 1.0) {on}"


def test_the_page_says_the_commit_that_was_measured_where_it_is_known(benchmarks: Benchmarks) -> None:
    date = "2026-11-16 06:00 UTC"
    old, unknown, new = run_at(date, 1.0), run_at(date, 1.0, commit=""), run_at(date, 1.0, commit="0123abc+")
    peer = new | {"version": "choix 0.4.1"}
    assert benchmarks.page.measured([old, unknown, new, peer]) == (
        f"Measured {date} (load 1.0) on a machine; nashboard 0.1.0, numpy 2.3.3; choix 0.4.1. "
        f"Measured {date} (load 1.0) on a machine; nashboard 0.1.0 (commit 0123abc+), numpy 2.3.3; choix 0.4.1."
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_commit_has_a_plus_where_source_or_benchmarks_are_changed_and_is_empty_outside_a_repository(
    benchmarks: Benchmarks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    results, project = benchmarks.results, tmp_path / "project"
    (project / "benchmarks" / "results").mkdir(parents=True)
    (project / "benchmarks" / "run.py").write_text("1\n")
    monkeypatch.setattr(results, "ROOT", project)
    assert results.commit() == ""

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", "-C", str(project), *who, *arguments], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "--quiet")
    assert results.commit() == ""  # nothing is committed yet
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    short = git("rev-parse", "--short", "HEAD")
    assert results.circumstances()["commit"] == short
    for harmless in ("notes.md", "benchmarks/results/elo.json"):
        (project / harmless).write_text("{}\n")
    assert results.commit() == short
    (project / "benchmarks" / "run.py").write_text("2\n")
    assert results.commit() == f"{short}+"
    monkeypatch.setattr(results, "ROOT", project / "benchmarks")
    assert results.commit() == ""  # a folder in somebody else's repository
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(results, "ROOT", project)
    assert results.commit() == ""  # no git


def test_the_slope_of_growth_is_fitted_to_what_was_finished(benchmarks: Benchmarks) -> None:
    rows = [
        {"what": f"{n}", "who": "ours", "series": "cubic", "size": n, "seconds": 1e-6 * n**3} for n in (10, 100, 1000)
    ]
    rows.append({"what": "9999", "who": "ours", "series": "cubic", "size": 9999, "failed": "over 1 s"})
    assert benchmarks.page.growth(rows) == "Growth: cubic: ours 3.00 (10 to 1,000)."
    assert benchmarks.page.growth(rows[:2]) == ""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_bench_says_one_line_and_leaves_nothing_running() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--tiny", "--only", "startup"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline().startswith("-- Start-up")
    bench = psutil.Process(running.pid)
    while len(started := bench.children(recursive=True)) < 2:  # a side, and the Python whose start it measures
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said == "Interrupted: nothing is kept.\n"
    assert psutil.wait_procs(started, timeout=30)[1] == []
