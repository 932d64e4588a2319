"""The Cache tab, Worth it?: what a cache costs and saves, and where another mode decides otherwise."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Locator, Page, expect

from scheduler_core import load
from scheduler_core.compare.cost import measure_costs
from tests.browser.pages import Workbench, becomes, example_text, share, texts
from tests.services.stack import Stack

WORKED_OUT = 60_000  # milliseconds, on a busy machine


@pytest.fixture(scope="module")
def promise(site: Stack) -> str:
    """The address of the example in which v1.11 places a pod beside one that it must stay away from."""
    return share(site, example_text("cache-broken-promise"), "Broken promise")


@pytest.fixture
def hundreds(site: Stack) -> str:
    """The address of an example that takes seconds to measure, of which no answer is kept."""
    return share(site, f"{example_text('five-hundred')}\n# {secrets.token_hex(4)}\n", "Five hundred")


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


def cells(table: Locator, row: str) -> list[str]:
    """Return the cells of the row that is called so."""
    found = table.get_by_role("row").filter(has=table.page.get_by_role("rowheader", name=row, exact=True))
    return texts(found.get_by_role("cell"))


def test_strategies_are_measured_and_modes_tried(page: Page, promise: str) -> None:
    """The table is the engine's own; a mode that decides alike says so by keyboard."""
    # The table is the engine's own; the verdict names what was saved and what was wrong.
    panel = worth(Workbench(page).open(promise).step())
    assert "view=worth" in page.url
    panel.get_by_role("button", name="Measure").click()
    table = panel.get_by_role("table", name="Evaluations, memory and time of each strategy")
    expect(table).to_be_visible(timeout=WORKED_OUT)
    becomes(lambda: texts(table.get_by_role("columnheader")), ["no cache", "v1.11", "sound", "batching"])
    costs = measure_costs(load(example_text("cache-broken-promise")))
    for row, key in (("evaluations", "evaluations"), ("cache operations", "operations"), ("hits", "hits")):
        becomes(partial(cells, table, row), [f"{getattr(cost, key):,}" for cost in costs])
    becomes(lambda: cells(table, "pods elsewhere"), ["–", "1", "0", "0"])
    becomes(lambda: cells(table, "first difference"), ["–", "#4", "none", "none"])
    saved = 100 * (1 - costs[1].evaluations / costs[0].evaluations)
    expect(panel).to_contain_text(f"v1.11 saved {saved:.1f} % of the evaluations")
    expect(panel).to_contain_text(
        "Stale answers changed decisions: 1 pod placed differently than without a cache"
    )
    expect(panel.get_by_role("group", name=re.compile("Strategies side by side"))).to_contain_text("no cache")
    table.get_by_role("button", name="cycle 4").click()
    Workbench(page).at(4)
    expect(table).to_be_visible()  # stepping does not throw away what took a while
    # Enter in the form runs it; where nothing differs there is no cycle to go to.
    mode = panel.get_by_label("Cache mode")
    mode.select_option("batching")
    expect(panel.get_by_label("Equivalence class")).to_be_disabled()
    mode.select_option("designed")
    expect(panel.get_by_label("Equivalence class")).to_be_enabled()
    panel.get_by_role("button", name="Run both").focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_text("All decisions are identical")).to_be_visible(timeout=WORKED_OUT)
    expect(panel.get_by_role("button", name=re.compile("^Go to cycle"))).to_have_count(0)


def test_another_mode_shows_both_decisions_side_by_side(page: Page, promise: str) -> None:
    """The first different cycle is a click away; the stale answer that was believed is reported."""
    bench = Workbench(page).open(promise).step()
    panel = worth(bench)
    expect(panel.get_by_text("It runs with cache v1.11 here.")).to_be_visible()
    section = run_both(panel, "sound")
    expect(section).to_contain_text("1 pod ends elsewhere.")
    sides = section.get_by_role("article")
    becomes(
        lambda: [re.sub(r"\s+", " ", text) for text in texts(sides.get_by_role("heading"))],
        [
            "v1.11 as it runs here",
            "sound the other mode",
        ],
    )
    expect(sides.nth(0)).to_contain_text("scheduled on worker-")
    expect(sides.nth(1)).to_contain_text("unschedulable")
    expect(sides.nth(1)).to_contain_text("0/3 nodes are available")
    expect(section).to_contain_text("Under v1.11 a stale answer was believed: by MatchInterPodAffinity")
    expect(section).to_contain_text("not invalidated by Pod/ADD (row pod-add-affinity")
    numbers = section.get_by_role("table", name="Both runs in numbers")
    becomes(lambda: cells(numbers, "placed"), ["4", "3"])
    becomes(lambda: cells(numbers, "stale hits")[1:], ["0"])
    section.get_by_role("button", name="Go to cycle 4").click()
    bench.at(4)


def test_the_other_mode_opens_in_a_copy(page: Page, promise: str) -> None:
    """The copy stands at the cycle in question and runs in that mode."""
    section = run_both(worth(Workbench(page).open(promise).step()), "sound")
    section.get_by_role("button", name="Open in a copy with this mode").click()
    page.wait_for_url(re.compile(r"/p/[^/]+/\?step=4&tab=cache"))
    bench = Workbench(page).wait().at(4)
    becomes(lambda: page.evaluate("podstep.playback.policy.cache"), "sound")
    expect(bench.panel("Cache")).to_contain_text("cache sound")


def test_a_long_measurement_shows_how_far_it_is_and_can_be_given_up(page: Page, hundreds: str) -> None:
    """The bar fills; after Cancel everything can be asked again."""
    panel = worth(Workbench(page).open(hundreds).step())
    panel.get_by_role("button", name="Measure").click()
    bar = panel.get_by_role("progressbar", name="Progress")
    expect(bar).to_be_visible()
    expect(panel.get_by_role("status").filter(has_text="of about")).to_be_visible(timeout=WORKED_OUT)
    expect(panel.get_by_role("button", name="Run both")).to_be_disabled()
    panel.get_by_role("button", name="Cancel").click()
    expect(panel.get_by_text("Given up.")).to_be_visible()
    expect(bar).to_have_count(0)
    expect(panel.get_by_role("button", name="Measure")).to_be_enabled()
    expect(panel.get_by_role("button", name="Run both")).to_be_enabled()


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
