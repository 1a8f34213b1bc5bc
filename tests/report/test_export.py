"""Charts as files: every format is real, holds something, and is the same every time."""

import json
import re
import struct
import zlib
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nashboard as nb
from nashboard.charts.theme import PAGES, THEMES

NASTY = ["<script>alert(1)</script>", "a.b[0]'\"\\", "x" * 300]


def small() -> Any:
    matches = nb.Matches.from_counts([[0, 9, 1], [1, 0, 9], [9, 1, 0]], agents=NASTY)
    return nb.charts.weights(nb.nash_average(matches))


def pixels(picture: bytes) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    """Decode a png of 8-bit RGBA, filter by filter (the PNG specification, section 9)."""
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, colours = struct.unpack(">IIBB", picture[16:26])
    assert (depth, colours) == (8, 6)
    at, packed = 8, b""
    while at < len(picture):
        (length,) = struct.unpack(">I", picture[at : at + 4])
        kind, content = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        assert struct.unpack(">I", picture[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + content)
        packed += content if kind == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 4 * width)
    found = np.zeros((height, width, 4), np.uint8)
    for y, row in enumerate(rows):
        line = row[1:].reshape(width, 4)
        if row[0] == 1:
            found[y] = np.cumsum(line, axis=0, dtype=np.uint8)
        else:
            assert row[0] in (0, 2)
            found[y] = line + (found[y - 1] if row[0] == 2 and y else 0)
    return found


@pytest.mark.thin(2)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_png_is_a_picture_on_the_page_of_its_theme(tmp_path: Path, theme: Any) -> None:
    nb.charts.save(small(), tmp_path / "chart.png", theme=theme, scale=1)
    found = pixels((tmp_path / "chart.png").read_bytes())
    page = [int(PAGES[theme][k : k + 2], 16) for k in (1, 3, 5)]
    assert found[0, 0].tolist() == [*page, 255]
    drawn = (found[:, :, :3] != page).any(axis=2)
    assert 0.02 < drawn.mean() < 0.6
    bar = [int(THEMES[theme]["style"]["nash"]["color"][k : k + 2], 16) for k in (1, 3, 5)]
    assert (found[:, :, :3] == bar).all(axis=2).mean() > 0.02


@pytest.mark.slow
def test_scale_makes_a_png_larger(tmp_path: Path) -> None:
    sizes = []
    for scale in (1, 2):
        nb.charts.save(small(), tmp_path / "chart.png", scale=scale)
        sizes.append(struct.unpack(">II", (tmp_path / "chart.png").read_bytes()[16:24]))
    assert np.allclose(sizes[1], np.array(sizes[0]) * 2, atol=2)


def test_an_svg_holds_names_as_text(tmp_path: Path) -> None:
    nb.charts.save(small(), tmp_path / "chart.svg")
    svg = (tmp_path / "chart.svg").read_text()
    assert svg.startswith("<svg")
    assert "<script" not in svg
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in svg
    assert "…" in svg  # the name of 300 characters is shortened


def test_a_pdf_is_a_pdf(tmp_path: Path) -> None:
    nb.charts.save(small(), tmp_path / "chart.pdf")
    content = (tmp_path / "chart.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert len(content) > 5000


def test_a_page_needs_no_network(tmp_path: Path) -> None:
    nb.charts.save(small(), tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text()
    assert "<script src=" not in page
    assert page.count("</script") == 3  # those of the page itself: no name ends a script
    assert len(page) > 100_000


def test_json_is_the_specification(tmp_path: Path) -> None:
    nb.charts.save(small(), tmp_path / "chart.json", theme="dark")
    spec = json.loads((tmp_path / "chart.json").read_text())
    assert spec["background"] == PAGES["dark"]
    assert spec["config"]["style"] == THEMES["dark"]["style"]


@pytest.mark.thin(2)
@pytest.mark.parametrize("ending", ["png", "svg", "html", "json"])
def test_the_same_chart_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    for name in ("one", "two"):
        nb.charts.save(small(), tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


@pytest.mark.parametrize(
    ("path", "options", "said"),
    [
        ("chart.bmp", {}, "use a name that ends in .png, .svg, .pdf, .html or .json"),
        ("chart", {}, "use a name that ends in"),
        ("chart.png", {"theme": "drak"}, "did you mean 'dark'?"),
        ("chart.png", {"scale": 0}, "between 0.1 and 20"),
        ("missing/chart.svg", {}, "cannot write"),
    ],
)
def test_what_cannot_be_written_is_said_in_a_sentence(
    tmp_path: Path, path: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(nb.InputError, match=said.replace("?", r"\?")):
        nb.charts.save(small(), tmp_path / path, **options)
    assert not list(tmp_path.iterdir())


def test_a_theme_changes_the_look_and_nothing_else() -> None:
    light, dark = (nb.charts.themed(small(), theme).to_dict() for theme in ("light", "dark"))
    assert light.pop("config") != dark.pop("config")
    assert light == dark


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_the_page(theme: str) -> None:
    def luminance(colour: str) -> float:
        channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    config, page = THEMES[theme], luminance(PAGES[theme])
    for colour, least in (
        (config["title"]["color"], 7),
        (config["title"]["subtitleColor"], 4.5),
        (config["axis"]["labelColor"], 7),
        (config["style"]["nash"]["color"], 3),
        (config["style"]["other"]["color"], 3),
    ):  # WCAG 2: 4.5 for text, 3 for what is drawn
        high, low = sorted([luminance(colour), page], reverse=True)
        assert (high + 0.05) / (low + 0.05) >= least


@pytest.mark.parametrize("page", ["report/templates/page.css", "paper/page.html.jinja"])
def test_pages_have_the_colours_of_charts(page: str) -> None:
    css = files("nashboard").joinpath(page).read_text(encoding="utf-8")
    for place, (theme, behind) in enumerate(PAGES.items()):
        look = THEMES[theme]
        axis = look["axis"]
        colours = {"page": behind, "text": look["text"]["color"], "soft": axis["titleColor"], "rule": axis["gridColor"]}
        assert {name: re.findall(rf"--{name}: (#\w+);", css)[place] for name in colours} == colours
