"""The report in a real browser: opened from a file, with the network blocked."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Locator, Page, Route, expect, sync_playwright

from nashboard._tables import as_csv
from report.pages import HOSTILE, evaluation, page

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=f"no browser: none of {', '.join(NAMES)} is installed"),
    pytest.mark.xdist_group("pages"),  # made once, in one process
]
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MARKS = "svg .mark-symbol path, svg .mark-rect path, svg .mark-line path, svg .mark-rule line"
PATIENCE = 60_000  # milliseconds: a busy machine draws slowly
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as player:
        opened = player.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()


class Visit:
    """A page that is open, and what went wrong in it."""

    def __init__(self, browser: Browser, path: Path, **options: Any) -> None:
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.context: BrowserContext = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        self.context.set_default_timeout(PATIENCE)
        self.context.route(re.compile("^(?!file:|blob:|data:)"), self.refuse)
        self.page: Page = self.context.new_page()
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", self.dismiss)
        self.page.goto(path.as_uri())

    def dismiss(self, dialog: Dialog) -> None:
        self.errors.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def refuse(self, route: Route) -> None:
        self.requests.append(route.request.url)
        route.abort()

    def drawn(self) -> None:
        """Wait until every picture is drawn."""
        expect(self.page.locator("figure.picture:not([data-drawn])")).to_have_count(0)

    def unfold(self) -> None:
        """Open everything that is shown when asked for."""
        self.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")

    def close(self) -> None:
        self.context.close()
        assert self.requests == []
        assert self.errors == []


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    for name in ("atari", "matches", "payoffs", "hostile"):
        (folder / f"{name}.html").write_text(page(name), encoding="utf-8")
    return folder


@pytest.fixture
def visit(browser: Browser, files: Path) -> Iterator[Any]:
    open_pages: list[Visit] = []

    def opened(name: str, **options: Any) -> Visit:
        open_pages.append(Visit(browser, files / f"{name}.html", **options))
        return open_pages[-1]

    yield opened
    for one in open_pages:
        one.close()


def remembered(page: Page, colours: str) -> bool:
    """Whether colours are still chosen when the page is opened again.

    On a busy machine Chromium forgets, a few times in a hundred, all that a large file stored just before it is left.
    What the report itself did not store is forgotten every time.
    """
    button = page.get_by_role("button", name=colours)
    for _ in range(4):
        button.click()
        page.reload()
        if button.get_attribute("aria-pressed") == "true":
            return True
    return False


def names(table: Locator) -> list[str]:
    return table.locator("tbody tr:not([hidden]) th").all_inner_texts()


@pytest.mark.parametrize("name", ["atari", "matches", "payoffs", "hostile"])
def test_every_picture_is_drawn_and_not_blank_without_network_or_errors(visit: Any, name: str) -> None:
    seen = visit(name)
    seen.drawn()
    seen.unfold()
    figures = seen.page.locator("figure.picture")
    assert figures.count() == page(name).count('<figure class="picture"')
    for k in range(figures.count()):
        marks = figures.nth(k).locator(MARKS)
        assert marks.count() >= 3, figures.nth(k).get_attribute("id")
        box = figures.nth(k).locator("svg").first.evaluate("svg => [svg.clientWidth, svg.clientHeight]")
        assert min(box) > 50
    assert seen.page.locator("[data-failed]").count() == 0


@pytest.mark.parametrize("width", [360, 700, 1200, 1440])
@pytest.mark.parametrize("name", ["atari", "hostile"])
def test_nothing_overflows_the_page(visit: Any, name: str, width: int) -> None:
    seen = visit(name, viewport={"width": width, "height": 800})
    seen.drawn()
    seen.unfold()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    outside = seen.page.evaluate(
        """width => Array.from(document.querySelectorAll('main *'))
             .filter(one => !one.closest('.scroll') && one.getBoundingClientRect().right > width + 1)
             .map(one => one.outerHTML.slice(0, 80))""",
        width,
    )
    assert outside == []


@pytest.mark.parametrize("name", ["atari", "matches"])
def test_no_picture_or_table_scrolls_sideways_on_a_phone(visit: Any, name: str) -> None:
    seen = visit(name, viewport={"width": 390, "height": 800})
    seen.drawn()
    seen.unfold()
    wide = seen.page.evaluate(
        """() => Array.from(document.querySelectorAll('.canvas, .scroll'))
             .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.parentElement.id)"""
    )
    assert wide == []


def test_the_intervals_of_a_rating_are_seen_without_scrolling_on_a_usual_screen(visit: Any) -> None:
    seen = visit("matches", viewport={"width": 1280, "height": 800})
    board = seen.page.locator("#agents .scroll")
    (edge,) = [one["x"] + one["width"] for one in [board.bounding_box()]]
    heads = seen.page.locator("#agents-table thead th")
    for name in ("P(top)", "Elo low", "Elo high"):
        (box,) = [one.bounding_box() for one in heads.all() if one.inner_text().split() == name.split()]
        assert box["x"] + box["width"] <= edge


def test_the_board_is_sorted_by_pressing_a_heading_and_turned_round_by_pressing_again(visit: Any) -> None:
    seen = visit("atari")
    table = seen.page.locator("#agents-table")
    found = evaluation("atari").leaderboard("all")
    place = [column.name for column in found.columns].index("uniform")
    rising = [str(row[1]) for row in sorted(found.rows, key=lambda row: float(str(row[place])))]
    assert names(table) == [str(row[1]) for row in found.rows]
    head = table.locator("thead th").nth(place)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert names(table) == rising
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert names(table) == rising[::-1]


def test_search_leaves_the_rows_that_hold_the_text_and_says_how_many(visit: Any) -> None:
    seen = visit("atari")
    grid = seen.page.locator("#agents")
    grid.locator("input[type=search]").fill("RAINBOW")
    assert names(grid) == ["rainbow", "rainbow_hs"]
    assert grid.locator(".count").inner_text() == "2 of 20 agents"
    grid.locator("input[type=search]").fill("")
    assert len(names(grid)) == 20


def test_the_csv_that_is_downloaded_and_copied_is_the_board(visit: Any, tmp_path: Path) -> None:
    seen = visit("atari", permissions=["clipboard-read", "clipboard-write"])
    with seen.page.expect_download() as waiting:
        seen.page.locator("#agents [data-csv=save]").click()
    waiting.value.save_as(tmp_path / "board.csv")
    assert waiting.value.suggested_filename == "agents.csv"
    board = as_csv(evaluation("atari").leaderboard("all"))
    assert (tmp_path / "board.csv").read_bytes() == board.encode()
    button = seen.page.locator("#agents [data-csv=copy]")
    button.evaluate(
        """one => {
             window.texts = [];
             new MutationObserver(() => window.texts.push(one.textContent)).observe(one, { childList: true });
           }"""
    )
    button.click()
    expect(seen.page.locator("#said")).to_contain_text("Copied")  # the button itself says it for 1.6 s only
    assert seen.page.evaluate("window.texts[0]") == "Copied"
    assert seen.page.evaluate("navigator.clipboard.readText()") == board


def test_the_theme_changes_page_and_pictures_and_is_remembered(visit: Any) -> None:
    seen = visit("matches", color_scheme="light")
    seen.drawn()
    paper = "getComputedStyle(document.body).backgroundColor"
    light, before = seen.page.evaluate(paper), seen.page.locator("#chart-board svg").inner_html()
    seen.page.get_by_role("button", name="Dark").click()
    expect(seen.page.locator("figure.picture:not([data-drawn=dark])")).to_have_count(0)
    assert seen.page.evaluate(paper) != light
    assert seen.page.locator("#chart-board svg").inner_html() != before
    assert remembered(seen.page, "Dark")
    seen.page.get_by_role("button", name="Auto").click()
    assert seen.page.evaluate(paper) == light
    seen.page.emulate_media(color_scheme="dark")
    assert seen.page.evaluate(paper) != light


def test_two_agents_are_chosen_and_the_picture_says_who_gains(visit: Any) -> None:
    seen = visit("payoffs")
    seen.drawn()
    plane = seen.page.locator("#chart-plane")
    first, second = plane.locator("select").nth(0), plane.locator("select").nth(1)
    first.select_option("rock")
    second.select_option("none")
    expect(plane.locator("svg")).to_contain_text("rock gains")
    expect(seen.page.locator("#said")).to_contain_text("rock gains")  # a screen reader hears it
    shape = plane.locator("svg").inner_html()
    first.select_option("none")
    second.select_option("rock")
    expect(plane.locator("svg")).to_contain_text("rock gains")
    second.select_option("paper")
    expect(plane.locator("svg")).to_contain_text(re.compile("paper|even"))
    assert plane.locator("svg").inner_html() != shape
    seen.page.get_by_role("button", name="Dark").click()
    expect(plane).to_have_attribute("data-drawn", "dark")
    expect(plane.locator("svg")).to_contain_text(re.compile("paper|even"))
    assert plane.locator("select").nth(1).input_value() == "paper"


@pytest.mark.parametrize("name", ["matches", "hostile"])
def test_tooltips_show_names_as_text(visit: Any, name: str) -> None:
    seen = visit(name)
    seen.drawn()
    seen.page.locator("#chart-board svg .mark-symbol path").first.hover(force=True)
    tip = seen.page.locator("#vg-tooltip-element.visible")
    expect(tip).to_be_visible()
    assert any(agent[:12] in tip.inner_text() for agent in (*HOSTILE, "ant", "bee", "cat"))
    assert tip.locator("script, img, svg").count() == 0


def test_the_meaning_of_a_column_is_shown_to_keyboard_and_touch(visit: Any) -> None:
    seen = visit("matches")
    bubble = seen.page.locator("#meaning")
    expect(bubble).to_be_hidden()
    seen.page.locator("#agents thead button").nth(2).focus()
    expect(bubble).to_contain_text("Nash average")
    seen.page.keyboard.press("Escape")
    expect(bubble).to_be_hidden()
    seen.page.locator("#agents .meanings summary").press("Enter")
    expect(seen.page.locator("#agents .meanings dd").first).to_be_visible()
    touched = visit("matches", has_touch=True)
    touched.page.locator("#agents thead button").nth(3).tap()
    expect(touched.page.locator("#meaning")).to_be_visible()


@pytest.mark.parametrize("name", ["atari", "matches", "hostile"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault(visit: Any, name: str, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    seen = visit(name, color_scheme=theme, bypass_csp=True)
    seen.drawn()
    seen.unfold()
    found = Axe().run(seen.page).response["violations"]
    faults = [
        (fault["id"], fault["nodes"][0]["html"][:200]) for fault in found if fault["impact"] in ("serious", "critical")
    ]
    assert faults == []


def test_hostile_names_stay_text(visit: Any) -> None:
    seen = visit("hostile")
    seen.drawn()
    shown = {row.strip() for row in names(seen.page.locator("#agents-table"))}
    assert shown == {name.strip() for name in HOSTILE}
    assert seen.page.locator("main script:not([type='application/json'])").count() == 0
    assert seen.page.locator("main img").count() == 0


def test_print_is_light_opens_what_is_folded_and_hides_what_is_pressed(visit: Any) -> None:
    seen = visit("matches", color_scheme="dark")
    seen.drawn()
    folds = "Array.from(document.querySelectorAll('details')).filter(one => !one.open).length"
    assert seen.page.evaluate(folds) > 0
    seen.page.emulate_media(media="print")
    expect(seen.page.locator("details:not([open])")).to_have_count(0)
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    expect(seen.page.locator(".theme")).to_be_hidden()
    expect(seen.page.locator("#agents .tools")).to_be_hidden()
    seen.page.emulate_media(media="screen")
    expect(seen.page.locator("details:not([open])")).not_to_have_count(0)


def test_without_scripts_the_tables_are_there_and_pictures_are_described(visit: Any) -> None:
    seen = visit("matches", java_script_enabled=False)
    expect(seen.page.locator("#agents-table tbody tr")).to_have_count(6)
    expect(seen.page.locator("#chart-board .unscripted")).to_contain_text("The tables of this page contain its numbers")
    expect(seen.page.locator("#agents .tools")).to_be_hidden()
    expect(seen.page.locator(".theme")).to_be_hidden()


def test_the_skip_link_leads_to_the_report_and_contents_to_sections(visit: Any) -> None:
    seen = visit("matches")
    seen.page.keyboard.press("Tab")
    assert seen.page.evaluate("document.activeElement.className") == "skip"
    seen.page.keyboard.press("Enter")
    assert seen.page.evaluate("document.activeElement.id") == "main"
    for link in seen.page.locator(".contents a").all():
        assert seen.page.locator(link.get_attribute("href")).count() == 1
