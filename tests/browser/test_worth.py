"""The Cache tab, Worth it?: what a cache costs and saves, and where another mode decides otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, becomes, example_text, share
from tests.services.stack import Stack

WORKED_OUT = 60_000  # milliseconds, on a busy machine


@pytest.fixture(scope="module")
def promise(site: Stack) -> str:
    """The address of the example in which v1.11 places a pod beside one that it must stay away from."""
    return share(site, example_text("cache-broken-promise"), "Broken promise")


def worth(bench: Workbench) -> Locator:
    """Open the view and return the panel."""
    panel = bench.tab("Cache")
    panel.get_by_role("button", name="Worth it?").click()
    expect(panel.get_by_role("heading", name="Was it worth it?")).to_be_visible()
    return panel


def run_both(panel: Locator, mode: str) -> Locator:
    """Choose a mode, run, and return the section with what came of it."""
    panel.get_by_label("Cache mode").select_option(mode)
    panel.get_by_role("button", name="Run both").click()
    expect(panel.get_by_role("table", name="Both runs in numbers")).to_be_visible(timeout=WORKED_OUT)
    return panel.get_by_role("region", name="Run it in another mode")


def test_the_other_mode_opens_in_a_copy(page: Page, promise: str) -> None:
    """The copy stands at the cycle in question and runs in that mode."""
    section = run_both(worth(Workbench(page).open(promise).step()), "sound")
    section.get_by_role("button", name="Open in a copy with this mode").click()
    page.wait_for_url(re.compile(r"/p/[^/]+/\?step=4&tab=cache"))
    bench = Workbench(page).wait().at(4)
    becomes(lambda: page.evaluate("podstep.playback.policy.cache"), "sound")
    expect(bench.panel("Cache")).to_contain_text("cache sound")


def test_it_fits_a_phone_and_is_accessible(
    visitor: Callable[..., Page], accessible: Callable[[Page], None], promise: str
) -> None:
    """Nothing is wider than the screen, and every part has a name and contrast."""
    page = visitor(size=(390, 844), color_scheme="light")
    Workbench(page).open(f"{promise}?step=3&tab=cache&view=worth")
    panel = page.get_by_role("region", name="Inspect")
    panel.get_by_role("button", name="Measure").click()
    expect(panel.get_by_role("table", name=re.compile("^Evaluations, memory"))).to_be_visible(
        timeout=WORKED_OUT
    )
    run_both(panel, "sound")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    accessible(page)
