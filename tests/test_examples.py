"""The examples run as they are shown: scripts by their own interpreter, notebooks by their own kernel."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.xdist_group("examples")  # what all need is made once, in one process
ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
# What each script must say, and the files that it leaves.
SCRIPTS = {
    "arena_weekly": ("new: cedar-v2, cedar-v3, cedar-v4, cedar-v5, late", ["board2.json", "board2.md", "board2.svg"]),
    "compare_months": ("only in june: late", ["compared.csv"]),
    "audit_suite": ("4 of 54 tasks give every agent the same skill", ["audit.json", "tasks.svg", "latent.svg"]),
    "roshambo_league": ("season 5: of", ["league.npz"]),
    "chess_engines": ("Matches(6 agents, 15 of 15 pairs met, 120 games)", ["games.pgn", "payoffs.svg"]),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, Path]]:
    """Run every script once, each in a folder of its own."""
    done = {}
    for name in SCRIPTS:
        folder = tmp_path_factory.mktemp(name)
        command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), str(folder / "out")]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        assert not run.stderr
        done[name] = run.stdout, folder / "out"
    return done


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_says_and_writes_what_it_promises(name: str, ran: dict[str, tuple[str, Path]]) -> None:
    said, files = SCRIPTS[name]
    out, folder = ran[name]
    assert said in out
    for file in files:
        assert (folder / file).stat().st_size > 100


def test_copies_lift_who_beats_them_unless_they_are_pooled(ran: dict[str, tuple[str, Path]]) -> None:
    out = ran["arena_weekly"][0]
    assert "near-duplicates: cedar, cedar-v2, cedar-v3, cedar-v4, cedar-v5" in out
    assert "as entered: first by Elo basalt, by uniform average basalt" in out
    assert "pooled: first by Elo aurora" in out
    assert "share first place: basalt (1.00) and aurora (1.00). cedar and 4 copies (0.9" in out


def test_in_a_league_of_cycles_melo_foretells_more_than_elo(ran: dict[str, tuple[str, Path]]) -> None:
    last = next(line for line in ran["roshambo_league"][0].splitlines() if line.startswith("season 5"))
    melo, elo = (int(share) for share in last.replace("%", "").replace(",", "").split()[-3::2])
    assert melo >= elo + 10


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_short_documented_and_listed(name: str) -> None:
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert len(text.splitlines()) < 120
    assert "def main(" in text
    assert f"`{name}.py`" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def test_the_list_of_examples_is_complete() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert not [path.name for path in EXAMPLES.glob("*.[pi]*") if f"`{path.name}`" not in listed]


@pytest.mark.filterwarnings("default")  # of the kernel and its sockets, which are not ours
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # kept without outputs: they are made by running
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    assert all(cell["outputs"] for cell in notebook.cells[-2:] if cell["cell_type"] == "code")


def test_there_are_two_notebooks() -> None:
    assert len(NOTEBOOKS) == 2


def test_best_responses_to_the_equilibrium_solve_kuhn_poker(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    command = [sys.executable, str(EXAMPLES / "psro_kuhn_poker.py"), str(tmp_path / "out")]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "a best response gains 0.0000" in out
    assert "the first player wins -0.0556 per game" in out
    assert (tmp_path / "out" / "payoffs.csv").stat().st_size > 100
