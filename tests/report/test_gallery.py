"""Every chart of the gallery: its page, its specification, and that Vega-Lite draws it without a complaint."""

import re

import altair as alt
import pytest
import vl_convert

import nashboard as nb
from report.chart_summaries import DRAWN, ROOT, SUMMARIES, drawn, gallery, summary, written

CHARTS = sorted(DRAWN)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


def test_the_page_is_what_the_script_writes() -> None:
    assert (ROOT / "docs" / "gallery.md").read_text() == gallery().page()


def test_every_chart_function_is_in_the_gallery() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text()
    functions = set(nb.charts.__all__) - {"save", "themed"}
    assert {name for name in functions if f"nb.charts.{name}(" in page} == functions


def test_the_page_shows_every_picture_that_is_kept() -> None:
    shown = set(re.findall(r"\(gallery/(\w+)\.png\)", (ROOT / "docs" / "gallery.md").read_text()))
    kept = {path.stem for path in (ROOT / "docs" / "gallery").glob("*.png")}
    assert shown == {name for name in kept if not name.endswith("_dark")} == set(DRAWN)


@pytest.mark.parametrize("name", CHARTS)
def test_a_specification_is_the_one_that_is_kept(name: str) -> None:
    """Words and structure to the letter; numbers to 2%, since the last digits depend on the linear algebra."""
    found, kept = written(summary(drawn(name))), (SUMMARIES / f"{name}.json").read_text()
    assert NUMBER.split(found) == NUMBER.split(kept)
    numbers, expected = ([float(one.replace(",", "")) for one in NUMBER.findall(text)] for text in (found, kept))
    assert numbers == pytest.approx(expected, rel=0.02, abs=0.011)


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_says_what_it_shows(name: str) -> None:
    spec = drawn(name)
    assert spec["title"]["text"]
    assert all(len(line) < 120 for line in spec["title"]["subtitle"])
    assert spec["title"]["subtitle"]
    assert len(spec["description"]) > 20
    assert '"tooltip"' in written(summary(spec))


@pytest.mark.parametrize("name", CHARTS)
def test_names_of_views_and_choices_are_ours(name: str) -> None:
    assert not re.findall(r'"(?:view|param|selector)_\d+"', written(summary(drawn(name))))


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_names_no_colour(name: str) -> None:
    without_theme = written(summary(drawn(name)))
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|rgb\(|\"scheme\"", without_theme)


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("version", ["6.4", "5.20"])
def test_vega_lite_compiles_a_chart_without_a_warning(
    name: str, version: str, capfd: pytest.CaptureFixture[str]
) -> None:
    spec = drawn(name) | {"$schema": f"https://vega.github.io/schema/vega-lite/v{version[0]}.json"}
    vega = vl_convert.vegalite_to_vega(spec, vl_version=version, show_warnings=True)
    said = capfd.readouterr()
    assert "WARN" not in said.out + said.err
    assert vega["marks"]


@pytest.mark.parametrize("name", CHARTS)
def test_a_specification_is_valid_vega_lite(name: str) -> None:
    spec = drawn(name)
    few = {key: rows[:3] for key, rows in spec["datasets"].items()}  # the shape is the same with fewer rows
    alt.Chart.from_dict(spec | {"datasets": few}, validate=True)
