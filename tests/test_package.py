"""The package as a whole: what is imported when, what is public, what the command does."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import nashboard as nb

ROOT = Path(__file__).parents[1]
HEAVY = {"numpy", "scipy", "numba", "polars", "narwhals", "altair", "pandas", "pyarrow"}


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in done.stderr.split()}


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not modules_after("import nashboard") & (HEAVY | {"typer", "rich"})


@pytest.mark.thin(3)
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["inspect", "--help"]])
def test_help_and_version_load_nothing_heavy(arguments: list[str]) -> None:
    run = f"sys.argv = ['nashboard', *{arguments!r}]\nfrom nashboard.cli.app import main\n"
    assert not modules_after(run + "try:\n    main()\nexcept SystemExit:\n    pass") & HEAVY


def test_every_public_name_can_be_imported() -> None:
    names = vars(nb)["__all__"]
    assert {"Matches", "Scores", "Payoffs", "read_matches", "InputError"} <= set(names) <= set(dir(nb))
    for name in names:
        assert getattr(nb, name) is not None


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == nb.__version__
    assert f"## {nb.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_dependencies_are_ranges_not_exact_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    every = [
        *project["dependencies"],
        *(entry for extra in project["optional-dependencies"].values() for entry in extra),
    ]
    assert not [entry for entry in every if "==" in entry]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_the_source_distribution_contains_all_that_its_tests_read() -> None:
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    kept = {path.partition("/")[0] for path in done.stdout.splitlines()}
    assert kept - {*build["targets"]["sdist"]["include"]} == {".gitignore", "pyproject.toml"}  # which hatch adds


def test_no_file_of_the_product_knows_the_folder_beside_it() -> None:
    shared = "shared" + "/"
    assert not [path for path in (ROOT / "src").rglob("*.py") if f"../{shared}" in path.read_text()]


def test_python_dash_m_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "nashboard", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"nashboard {nb.__version__}\n"
