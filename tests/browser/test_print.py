"""On paper: the step on screen as a whole, on white, and nothing that one presses."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.clusters import zoned
from tests.browser.pages import Workbench, example_text, share
from tests.services.stack import Stack

CLIPPED = """() => [...document.querySelectorAll(".region, .stage-body, .region-body, .grid-scroll")]
    .filter((e) => e.offsetParent && getComputedStyle(e).overflow !== "visible").map((e) => e.className)"""


@pytest.fixture
def printed(page: Page, site: Stack) -> Workbench:
    """The shop at a cycle, its predicates open, as it would be printed from a dark screen."""
    bench = Workbench(page).open(share(site, example_text("shop")) + "?step=20&tab=predicates")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.emulate_media(media="print")
    return bench


def test_the_step_is_printed_whole(page: Page, printed: Workbench) -> None:
    """Every node and every row of the open tab is on the paper; nothing is cut off."""
    expect(page.get_by_role("grid").get_by_role("row")).to_have_count(13)
    for name in ("general-1", "memory-2"):
        expect(printed.node(name)).to_be_visible()
    expect(page.get_by_role("tab", name=re.compile("^Predicates"))).to_be_visible()
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate("document.documentElement.scrollHeight > innerHeight")


def test_nothing_to_press_is_printed(page: Page, printed: Workbench) -> None:
    """Build, the transport, buttons of the head and the other tabs stay on the screen."""
    for hidden in (".region.build", "[data-play]", "[data-share]", ".stage-tools", ".splitter"):
        expect(page.locator(hidden).first).to_be_hidden()
    expect(page.get_by_role("tab", name=re.compile("^Story"))).to_be_hidden()
    expect(page.locator(".at-index")).to_have_text("20 / 26")


def test_what_lies_over_the_screen_is_not_printed(page: Page, site: Stack) -> None:
    """No find bar and no way back; cards as small as on paper; all of what the scenario is about."""
    Workbench(page).open("/examples/first-cycle/?step=1").at(1)
    page.keyboard.press("/")
    page.keyboard.type("node")
    expect(page.get_by_role("region", name="Found")).to_be_visible()
    expect(page.locator(".about-all")).to_be_hidden()
    page.locator(".show-node").evaluate("one => { one.hidden = false; }")
    large = page.locator(".cards").evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
    page.emulate_media(media="print")
    for hidden in (".find-bar", ".show-node", ".about .btn", ".about-lead"):
        expect(page.locator(hidden)).to_be_hidden()
    about = page.locator(".about-all")
    expect(about).to_be_visible()
    assert about.evaluate("one => one.scrollHeight <= one.clientHeight + 1")
    printed = page.locator(".cards").evaluate("one => parseFloat(getComputedStyle(one).fontSize)")
    assert large > printed == 13


def test_paper_is_light_and_the_screen_stays_dark(page: Page, printed: Workbench) -> None:
    """The theme of the screen comes back after printing."""
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.emulate_media(media="screen")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_all_rows_of_a_long_matrix_are_printed(page: Page, site: Stack) -> None:
    """Rows that a screen draws only when they are scrolled to are there on paper."""
    bench = Workbench(page).open(share(site, zoned(500, 0.05)) + "?step=3&tab=predicates")
    rows = page.get_by_role("grid").get_by_role("row")
    assert rows.count() < 200
    page.emulate_media(media="print")
    expect(rows).to_have_count(501)
    page.emulate_media(media="screen")
    expect(rows).not_to_have_count(501)
    bench.at(3)
