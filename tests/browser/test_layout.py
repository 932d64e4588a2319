"""The three regions of the workbench share a window: on a desk, at 1024 pixels, and when it changes."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, example_text, share, wide
from tests.services.stack import Stack

WIDTHS = """() => ["build", "stage", "inspect"].map(
    name => Math.round(document.querySelector(`.region.${name}`).getBoundingClientRect().width))"""
STAGE_LEAST = 380


def test_all_three_regions_fit_1024_pixels(visitor: Callable[..., Page], site: Stack) -> None:
    """Each is wide enough to work in, splitters move within what is there, and hiding one gives its room."""
    page = visitor(size=(1024, 768))
    bench = Workbench(page).open(share(site, example_text("shop"), "A shop on twelve nodes")).step()
    build, stage, inspect = page.evaluate(WIDTHS)
    assert (build >= 190, stage >= STAGE_LEAST, inspect >= 300) == (True, True, True), (build, stage, inspect)
    splitter = page.get_by_role("separator", name="Width of the Inspect panel")
    splitter.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(WIDTHS) == [build, stage + 20, inspect - 20]
    for _ in range(4):
        page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate(WIDTHS)[1] >= STAGE_LEAST
    page.keyboard.press("[")
    expect(bench.build).to_be_hidden()
    assert page.evaluate(WIDTHS)[1] > STAGE_LEAST
    assert wide(page) <= 0


def test_the_open_tab_is_whole_where_not_all_fit(visitor: Callable[..., Page], site: Stack) -> None:
    """A tab that is opened by its key is scrolled into view; the strip says at which side there is more."""
    page = visitor(size=(1024, 768))
    bench = Workbench(page).open(share(site, example_text("gang-deadlock-coscheduled"), "Two gangs")).step()
    strip = bench.inspect.get_by_role("tablist")
    for key, name in (("8", "Events"), ("1", "Story")):
        tab = bench.inspect.get_by_role("tab", name=name, exact=True)
        page.keyboard.press(key)
        expect(tab).to_have_attribute("aria-selected", "true")
        mine, all_ = tab.bounding_box(), strip.bounding_box()
        assert mine is not None
        assert all_ is not None
        assert all_["x"] <= mine["x"] + 1
        assert mine["x"] + mine["width"] <= all_["x"] + all_["width"] + 1


def test_the_regions_follow_the_window(page: Page, site: Stack) -> None:
    """A window that becomes narrow takes from the panels before the stage, and gives back when it is wide."""
    Workbench(page).open(share(site, example_text("shop"), "A shop on twelve nodes"))
    before = page.evaluate(WIDTHS)
    page.set_viewport_size({"width": 960, "height": 800})
    page.wait_for_function("innerWidth === 960")
    build, stage, inspect = page.evaluate(WIDTHS)
    assert stage >= STAGE_LEAST
    assert build < before[0]
    assert inspect < before[2]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.wait_for_function("innerWidth === 1440")
    assert page.evaluate(WIDTHS) == before
