"""Every option of every command has an effect or is refused, and the same option is the same everywhere."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import typer.main

import nashboard as nb
from commands import Run
from nashboard.cli.app import app
from nashboard.cli.rank import UNITS_MATTER

GROUP = typer.main.get_group(app)

LOG = "log.csv"  # matches, with columns that options can name
SCORES = "scores.csv"
HOLES = "holes.csv"
DATABASE = "sqlite:///games.db"
SAVED = "saved.json"
FAST = {  # settings that make a command quick
    "evaluate": ["--resamples", "5"],
    "report": ["--resamples", "5"],
    "changes": ["--resamples", "20"],
    "methods": ["--resamples", "5"],
    "stress": ["--copies", "1,2", "--repeats", "1", "--most", "2"],
    "plan": ["--probability", "0.6"],
}
BOOTSTRAP = ("--errors", "bootstrap", "--resamples", "5")
STATE = ("--state", "league.npz")

# Options that many commands take as one group: each command refuses what cannot be done, before any work, so that the
# words reached what uses them. Their effects have tests of their own, of one command each.
READING = {
    "--as": ["--as", "lmarena"],
    "--read": ["-r", "a=nowhere"],
    "--table": ["--table", "games"],
    "--query": ["--query", "select 1"],
}
CONNECTING = {
    "--agents": ["--agents", "nobody"],
    "--exclude": ["--exclude", "nobody"],
    "--min-games": ["--min-games", "1000"],
    "--components": ["--components", "each", "--format", "json"],
}
LISTING = {"--top": ["--top", "2", "--format", "json"], "--output": ["-o", "nowhere/x.csv"]}
# command -> option -> (words without it, words that it adds); the output, or the exit code, must differ
CASES: dict[str, dict[str, tuple[list[str], list[str]]]] = {
    "evaluate": {
        "--resamples": ([LOG], ["--resamples", "7"]),
        "--seed": ([LOG], ["--seed", "7"]),
        "--level": ([LOG], ["--level", "0.5"]),
        "--agents": ([LOG], ["--agents", "[abc]"]),
        "--exclude": ([LOG], ["--exclude", "d"]),
        "--segment": ([LOG], ["--segment", "language"]),
        "--min-games": ([LOG], ["--min-games", "20"]),
        "--components": ([LOG], ["--components", "each"]),
        "--anchor": ([LOG, "--format", "json"], ["--anchor", "a=1500"]),
        "--scaling": ([SCORES], ["--scaling", "rank"]),
        "--selection": ([SCORES, "--format", "json"], ["--selection", "maxent"]),
        "--missing": ([HOLES], ["--missing", "worst"]),
        "--noise": ([LOG, "--noise", "none"], ["--noise", "model"]),
        "--tolerance": ([SCORES, "--noise", "none"], ["--tolerance", "0.3"]),
        "--no-pool": ([LOG, "--format", "json"], ["--no-pool"]),
        "--call": ([LOG], ["--call", "players"]),
        "--method": ([LOG], ["--method", "nonsense"]),
        "--tasks": ([SCORES], ["--tasks"]),
        "--top": ([LOG], ["--top", "2"]),
        "--columns": ([LOG], ["--columns", "all"]),
        "--workers": ([LOG], ["--workers", "0"]),
        "--output": ([LOG], ["-o", "board.csv"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "report": {  # it takes the options of evaluate as the same group: most are refused here, before the work
        "--output": ([LOG, "-o", "-"], ["-o", "nowhere/page.html"]),
        "--title": ([LOG, "-o", "-"], ["--title", "Another"]),
        "--open": ([LOG, "-o", "-"], ["--open"]),
        "--resamples": ([LOG, "-o", "-"], ["--resamples", "0"]),
        "--seed": ([LOG, "-o", "-"], ["--seed", "7"]),
        "--level": ([LOG, "-o", "-"], ["--level", "5"]),
        "--agents": ([LOG, "-o", "-"], ["--agents", "nobody"]),
        "--exclude": ([LOG, "-o", "-"], ["--exclude", "nobody"]),
        "--segment": ([LOG, "-o", "-"], ["--segment", "language"]),
        "--anchor": ([LOG, "-o", "-"], ["--anchor", "nobody=1500"]),
        "--scaling": ([LOG, "-o", "-"], ["--scaling", "rank"]),
        "--selection": ([LOG, "-o", "-"], ["--selection", "maxent"]),
        "--missing": ([LOG, "-o", "-"], ["--missing", "worst"]),
        "--noise": ([LOG, "-o", "-"], ["--noise", "none"]),
        "--tolerance": ([LOG, "-o", "-"], ["--tolerance", "much"]),
        "--no-pool": ([LOG, "-o", "-"], ["--no-pool"]),
        "--call": ([LOG, "-o", "-"], ["--call", "players"]),
        "--method": ([LOG, "-o", "-"], ["--method", "nonsense"]),
        "--workers": ([LOG, "-o", "-"], ["--workers", "0"]),
    },
    "audit": {
        "--level": ([LOG, "--format", "json"], ["--level", "0.9"]),
        "--margin": ([SCORES, "--format", "json"], ["--margin", "0.4"]),
        "--noise": ([LOG], ["--noise", "none"]),
        "--show": ([LOG, "--format", "csv"], ["--show", "agents"]),
        "--missing": ([HOLES], ["--missing", "worst"]),
        "--fail-on": ([LOG], ["--fail-on", "nonsense"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "stress": {
        "--of": ([LOG], ["--of", "d"]),
        "--choice": ([LOG], ["--choice", "random"]),
        "--kind": ([SCORES], ["--kind", "agents"]),
        "--copies": ([LOG], ["--copies", "3"]),
        "--promote": ([LOG], ["--promote", "d"]),
        "--most": ([LOG, "--format", "json"], ["--most", "1"]),
        "--repeats": ([LOG], ["--repeats", "2"]),
        "--seed": ([LOG, "--format", "json"], ["--seed", "7"]),
        "--noise": ([LOG], ["--noise", "none"]),
        "--show": ([LOG, "--format", "csv"], ["--show", "attacks"]),
        "--missing": ([HOLES], ["--missing", "worst"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "compare": {
        "--level": ([SCORES, "a", "b"], ["--level", "0.5"]),
        "--margin": ([SCORES, "a", "b"], ["--margin", "9"]),
        "--over": ([SCORES, "a", "b"], ["--over", "runs"]),
        "--anytime": ([LOG, "a", "b"], ["--anytime"]),
        "--top": ([LOG], ["--top", "2"]),
        "--fail-on": ([LOG, "a", "b"], ["--fail-on", "nonsense"]),
        "--format": ([LOG, "a", "b"], ["--format", "json"]),
    },
    "sprt": {
        "--elo0": ([LOG, "a", "b"], ["--elo0", "-3"]),
        "--elo1": ([LOG, "a", "b"], ["--elo1", "9"]),
        "--level": ([LOG, "a", "b"], ["--level", "0.6"]),
        "--format": ([LOG, "a", "b"], ["--format", "json"]),
    },
    "plan": {
        "--games": ([LOG], ["--games", "70"]),
        "--target": ([LOG], ["--target", "order"]),
        "--pair": ([LOG], ["--pair", "a", "b"]),
        "--probability": ([LOG], ["--probability", "0.99"]),
        "--seed": ([LOG, "--format", "json"], ["--seed", "7"]),
        "--missing": ([HOLES], ["--missing", "worst"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "changes": {
        "--resamples": ([LOG, LOG], ["--resamples", "30"]),
        "--seed": ([LOG, LOG, "--format", "json"], ["--seed", "7"]),
        "--level": ([LOG, LOG], ["--level", "0.5"]),
        "--fail-on": ([LOG, LOG], ["--fail-on", "nonsense"]),
        "--format": ([LOG, LOG], ["--format", "json"]),
    },
    "influence": {
        "--judge": ([LOG], ["--judge", "board"]),
        "--voter": ([LOG], ["--voter", "language"]),
        "--by": ([SCORES], ["--by", "items"]),
        "--missing": ([HOLES], ["--missing", "worst"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "voters": {
        "--voter": ([LOG, "--voter", "language"], ["--voter", "winner"]),
        "--item": ([LOG, "--voter", "language"], ["--item", "winner"]),
        "--format": ([LOG, "--voter", "language"], ["--format", "json"]),
    },
    "exposure": {
        "--family": ([LOG], ["--family", "lab=[ab]"]),
        "--least-games": ([LOG], ["--least-games", "1"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "reduce": {
        "--level": ([SCORES], ["--level", "0.5"]),
        "--share": ([SCORES], ["--share", "2"]),
        "--missing": ([HOLES], ["--missing", "worst"]),
        "--format": ([SCORES], ["--format", "json"]),
    },
    "inspect": {"--format": ([LOG], ["--format", "json"])},
    "nash": {
        "--selection": ([SCORES, "--format", "json"], ["--selection", "maxent"]),
        "--tolerance": ([SCORES, "--format", "json"], ["--tolerance", "0.2"]),
        "--tasks": ([SCORES], ["--tasks"]),
        "--missing": ([HOLES], ["--missing", "worst"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "hodge": {
        "--show": ([LOG], ["--show", "cycles"]),
        "--cycles": ([LOG], ["--cycles", "0"]),
        "--split": ([LOG], ["--no-split"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "latent": {
        "--k": ([SCORES], ["--k", "1"]),
        "--ends": ([SCORES], ["--ends", "1"]),
        "--missing": ([HOLES], ["--missing", "worst"]),
        "--format": ([SCORES], ["--format", "json"]),
    },
    "rank": {
        "--method": ([LOG], ["--method", "borda"]),
        "--option": ([LOG, "--method", "pagerank"], ["--option", "damping=0.5"]),
        "--scaling": ([SCORES], ["--scaling", "rank"]),
        "--missing": ([HOLES], ["--missing", "worst"]),
        "--prompts": ([LOG, "--method", "deviation"], ["--prompts", "language"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "methods": {
        "--method": ([LOG, "-m", "borda"], ["-m", "copeland"]),
        "--prompts": ([LOG, "-m", "deviation"], ["--prompts", "language"]),
        "--resamples": ([LOG, "-m", "borda"], ["--resamples", "7"]),
        "--seed": ([LOG, "-m", "borda", "--format", "json"], ["--seed", "7"]),
        "--noise": ([LOG, "-m", "borda", "--noise", "none"], ["--noise", "model"]),
        "--scaling": ([SCORES, "-m", "uniform"], ["--scaling", "rank"]),
        "--missing": ([HOLES, "-m", "borda"], ["--missing", "worst"]),
        "--format": ([LOG, "-m", "borda"], ["--format", "json"]),
    },
    "elo": {
        "--prior": ([LOG], ["--prior", "2"]),
        "--first-advantage": ([LOG], ["--first-advantage"]),
        "--draws": ([LOG], ["--draws", "davidson"]),
        "--covariate": ([LOG], ["--covariate", "language"]),
        "--anchor": ([LOG], ["--anchor", "a=1500"]),
        "--level": ([LOG], ["--level", "0.5"]),
        "--errors": ([LOG], ["--errors", "hessian"]),
        "--resamples": ([LOG, *BOOTSTRAP], ["--resamples", "7"]),
        "--seed": ([LOG, *BOOTSTRAP], ["--seed", "7"]),
        "--workers": ([LOG, *BOOTSTRAP], ["--workers", "0"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "melo": {
        "--k": ([LOG], ["--k", "0"]),
        "--prior": ([LOG], ["--prior", "2"]),
        "--cyclic-prior": ([LOG], ["--cyclic-prior", "2"]),
        "--orthogonal": ([LOG], ["--orthogonal"]),
        "--anchor": ([LOG], ["--anchor", "a=1500"]),
        "--level": ([LOG], ["--level", "0.5"]),
        "--format": ([LOG], ["--format", "json"]),
    },
    "predict": {
        "--k": ([LOG, "a", "b"], ["--k", "0"]),
        "--prior": ([LOG, "a", "b"], ["--prior", "2"]),
        "--format": ([LOG, "a", "b"], ["--format", "json"]),
    },
    "online": {
        "--state": ([LOG, *STATE], ["--state", "nowhere/league.npz"]),
        "--k": ([LOG, *STATE], ["--k", "1"]),
        "--rate": ([LOG, *STATE], ["--rate", "16"]),
        "--cyclic-rate": ([LOG, *STATE], ["--cyclic-rate", "2"]),
        "--decay": ([LOG, *STATE], ["--decay", "5"]),
        "--seed": ([LOG, *STATE], ["--seed", "7"]),
        "--from-start": ([LOG, *STATE], ["--from-start"]),
        "--read": ([LOG, *STATE], ["-r", "outcomes=a:none"]),
        "--time": ([LOG, *STATE], ["--time", "language"]),
        "--format": ([LOG, *STATE], ["--format", "json"]),
    },
    "datasets": {"--format": ([], ["--format", "json"])},
    "paper": {"--output": ([], []), "--format": ([], [])},  # its own tests: it takes a minute
}
for name, cases in CASES.items():
    if name == "paper":
        continue
    words = {
        "latent": [SCORES], "reduce": [SCORES], "changes": [LOG, LOG], "voters": [LOG, "--voter", "language"],
        "predict": [LOG, "a", "b"], "compare": [LOG, "a", "b"], "sprt": [LOG, "a", "b"], "online": [LOG, *STATE],
        "methods": [LOG, "-m", "borda"], "datasets": [], "report": [LOG, "-o", "-"],
    }.get(name, [LOG])  # fmt: skip
    taken = {max(one.opts, key=len) for one in GROUP.commands[name].params}
    for option, added in (READING | CONNECTING | LISTING).items():
        if option in taken:
            cases.setdefault(option, (words, added))
EVERYWHERE = {"--quiet", "--help"}


def options_of(name: str) -> set[str]:
    return {max(parameter.opts, key=len) for parameter in GROUP.commands[name].params if parameter.opts[0][0] == "-"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import sqlite3

    folder = tmp_path_factory.mktemp("options")
    games = ["a,b,a", "b,c,b", "c,a,c", "a,d,a", "b,d,b", "c,d,d", "a,b,b", "c,b,c"]
    rows = [f"{game},{language}" for language, times in (("en", 3), ("de", 2)) for game in games * times]
    (folder / LOG).write_text("\n".join(["player_a,player_b,winner,language", *rows, "e,d,d,en"]) + "\n")
    table = ["a,1,0,3,7", "b,0,1,2,5", "c,0,1,2,1", "d,0.5,0.2,1,3"]
    (folder / SCORES).write_text("\n".join(["agent,t1,t2,t3,t4", *table]) + "\n")
    (folder / HOLES).write_text("\n".join(["agent,t1,t2,t3,t4", *table, "e,1,,2,2"]) + "\n")
    with sqlite3.connect(folder / "games.db") as database:
        database.execute("create table games (player_a, player_b, winner)")
        database.executemany("insert into games values (?, ?, ?)", [game.split(",") for game in games * 3])
    return folder


def test_every_option_of_every_command_has_a_case() -> None:
    assert set(GROUP.commands) == set(CASES)
    for name, cases in CASES.items():
        assert options_of(name) - EVERYWHERE == set(cases), name


def outcome(command: Run, *words: str) -> tuple[int, str, str]:
    if words[0] == "online":
        Path("league.npz").unlink(missing_ok=True)
        if "--from-start" in words:  # of a league that has read the log before
            command("online", LOG, *STATE)
    done = command(*words, code=(0, 2))
    said = "" if words[0] == "online" and done.returncode == 0 else done.stderr  # how many rows a second
    return done.returncode, re.sub(r"20\d\d-\d\d-\d\d[^<\"]*", "", done.stdout), said


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("name", "option"),
    [
        pytest.param(name, option, marks=[pytest.mark.slow] * (name in ("report", "stress") or option == "--judge"))
        for name, cases in CASES.items()
        for option in cases
        if name != "paper"
    ],
)
def test_an_option_has_an_effect_or_is_refused(
    name: str, option: str, folder: Path, command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before, added = CASES[name][option]
    base = [name, *before, *([] if "none" in before else FAST.get(name, []))]
    if tuple(base) not in PLAIN:
        PLAIN[tuple(base)] = outcome(command, *base)
    after = outcome(command, *base, *added)
    assert after != PLAIN[tuple(base)]
    if option == "--format":
        assert json.loads(after[1])["schema"].startswith("nashboard/")


PLAIN: dict[tuple[str, ...], tuple[int, str, str]] = {}  # outcomes without an option, each found once


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["audit", LOG, "--show", "agents", "--format", "json"], "--show has no effect: json contains all tables"),
        (["stress", LOG, "--format", "json", "--show", "noisy"], "--show has no effect: json contains all tables"),
        (["stress", LOG, "--of", "a", "--choice", "random"], "--choice has no effect: --of names what is copied"),
        (
            ["evaluate", LOG, "--segment", "language", "--components", "each"],
            "--segment and --components each both make several boards",
        ),
        (["evaluate", SCORES, "--tasks", "-o", "x.json"], "--tasks has no effect: json contains agents and tasks"),
        (["evaluate", SCORES, "--anchor", "a=1"], "--anchor has no effect: it is for matches"),
        (["evaluate", LOG, "--scaling", "rank"], "--scaling has no effect: it is for scores"),
        (["evaluate", LOG, "--top", "3", "-o", "x.html"], "--top has no effect: a report contains agents and tasks"),
        (["hodge", LOG, "--show", "cycles", "-o", "x.json"], "--show has no effect: json contains ratings and cycles"),
        (["report", SAVED, "--resamples", "9"], "--resamples has no effect: 'saved.json' is a saved evaluation"),
        (["report", LOG, "-o", "x.json", "--title", "T"], "--title has no effect: a file that ends in .json"),
        (["predict", "league.npz", "a", "b", "--k", "2"], "--k has no effect: 'league.npz' is an online league"),
        (["online", LOG, *STATE, "--cyclic-rate", "2"], "--cyclic-rate has no effect: plain Elo has no planes"),
        (["elo", LOG, "--seed", "2"], "--seed has no effect: it is for --errors bootstrap"),
        (
            ["online", LOG, *STATE, "--k", "1", "--seed", "2"],
            "--seed has no effect: the league in 'league.npz' has its",
        ),
        (["methods", "--seed", "2"], "--seed has no effect: it is for a file, and none was given"),
        (["datasets", "atari", "--format", "json"], "--format has no effect: the description of a data set is text"),
        (
            ["evaluate", LOG, "--call", "bots", "-o", "x.csv"],
            "--call has no effect: the columns of csv have fixed names",
        ),
        (["hodge", LOG, "--format", "csv", "--no-split"], "--split has no effect: csv contains the ratings alone"),
        (["hodge", LOG, "--show", "cycles", "--split"], "--split has no effect: the table of cycles has no shares"),
        (["latent", SCORES, "-o", "x.json", "--ends", "2"], "--ends has no effect: json contains all agents and tasks"),
        (["exposure", LOG, "--family", "x=[ab]", "-o", "x.csv"], "--family has no effect: csv contains the agents"),
        (
            ["evaluate", LOG, "--noise", "none", "--level", "0.9"],
            "--level has no effect: --noise none takes the data as",
        ),
        (["changes", SAVED, SAVED, "--seed", "2"], "--seed has no effect: all of these are saved evaluations"),
        (["melo", LOG, "--k", "0", "--orthogonal"], "--orthogonal has no effect: --k 0 has no planes"),
        (
            ["rank", SCORES, "-m", "borda", "--scaling", "rank"],
            "--scaling has no effect: borda does not depend on the units",
        ),
        (
            ["methods", LOG, "--noise", "none", "--resamples", "3"],
            "--resamples has no effect: --noise none takes the data",
        ),
        (["nash", LOG, "--tasks"], "--tasks has no effect: it is for scores"),
        (["nash", LOG, "--format", "json", "--top", "3"], "--top has no effect: json contains"),
    ],
)
def test_an_option_without_effect_is_refused(
    words: list[str], why: str, folder: Path, command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    if SAVED in words:
        command("evaluate", LOG, *FAST["evaluate"], "-o", SAVED)
    Path("league.npz").unlink(missing_ok=True)
    if words[0] == "predict" or "--k" in words:
        command("online", LOG, *STATE, "--k", "1")
    assert f"nashboard: {why}" in command(*words, code=2).stderr


def test_quiet_leaves_results_and_errors(folder: Path, command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    loud, quiet = (command("evaluate", LOG, *FAST["evaluate"], *more) for more in ([], ["--quiet"]))
    assert loud.stdout == quiet.stdout
    assert loud.stderr
    assert not quiet.stderr
    assert "no-such.csv" in command("evaluate", "no-such.csv", "--quiet", code=2).stderr


def test_an_option_means_the_same_in_every_command() -> None:
    found: dict[str, set[tuple[str, str]]] = {}
    for command in GROUP.commands.values():
        for parameter in command.params:
            if parameter.opts[0][0] == "-":
                meaning = (str(getattr(parameter, "help", "")), str(parameter.default))
                found.setdefault(max(parameter.opts, key=len), set()).add(meaning)
    assert {option for option, meanings in found.items() if len(meanings) > 1} == set(DIFFERENT)


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    "words",
    [
        ["elo", LOG, "--top", "2"],
        ["inspect", LOG],
        ["nash", SCORES, "--tasks"],
        ["evaluate", LOG, "--columns", "all", "--top", "2", *FAST["evaluate"]],
        ["evaluate", LOG, "--segment", "language", *FAST["evaluate"]],
    ],
)
@pytest.mark.parametrize("ending", ["json", "csv", "md", "tex", "txt"])
def test_a_file_contains_what_would_be_printed(
    words: list[str], ending: str, folder: Path, command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    if ending == "json":
        words = [word for word in words if word not in ("--top", "2", "--tasks", "--columns", "all")]
    printed = command(*words, "--format", {"tex": "latex", "txt": "text"}.get(ending, ending)).stdout
    done = command(*words, "-o", f"x.{ending}")
    assert not done.stdout
    assert f"Wrote 'x.{ending}'." in done.stderr.splitlines()
    assert Path(f"x.{ending}").read_text() == printed


def test_scaling_is_taken_by_the_methods_that_it_moves() -> None:
    scores = nb.Scores.from_array(np.random.default_rng(4).lognormal(size=(7, 5)))
    moved = set()
    for method in nb.methods():
        if method.name != "win_rate":  # which needs matches
            plain, ranked = (nb.rank(scores, method.name, scaling=way).scores for way in ("range", "rank"))
            if not np.allclose(plain, ranked):
                moved.add(method.name)
    assert moved == set(UNITS_MATTER)


def test_beside_a_table_for_programs_the_sentence_is_a_note(
    folder: Path, command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = command("plan", LOG, "--format", "csv", "--games", "10")
    assert done.stdout.startswith("a,b,games")
    assert "10 games as planned" in done.stderr
    assert not command("plan", LOG, "--format", "csv", "--games", "10", "--quiet").stderr


def test_a_file_is_written_also_where_a_condition_ends_the_command(
    folder: Path, command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = command("audit", LOG, "--fail-on", "open,failed", "-o", "checks.csv", code=3)
    assert Path("checks.csv").read_text().startswith("check,passed,because")
    assert "Wrote 'checks.csv'." in done.stderr


DIFFERENT = {
    "--format": "paper prints claims",
    "--k": "planes of ratings, or components of tasks; each command has its usual number",
    "--method": "rank takes one, nash unless given",
    "--output": "of report a page, of paper a folder",
    "--read": "online reads a log as it grows, with fewer options",
    "--show": "each command has tables of its own",
    "--tolerance": "nash takes results as exact, so it takes a number and not noise",
}
