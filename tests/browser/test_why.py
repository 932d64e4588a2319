"""Why?: find out why a pod is pending, and fix it in a copy with one click."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, example_text, share, wide
from tests.services.stack import Stack

SLUG = "reading-the-message"


@pytest.fixture
def address(site: Stack) -> str:
    """A pod that five nodes refuse, each for a reason of its own."""
    return share(site, example_text(SLUG), "Reading the message")


def panel(page: Page) -> Locator:
    """Return the panel once its answer is there."""
    found = page.get_by_role("dialog")
    expect(found.get_by_text("default/report", exact=True)).to_be_visible()
    return found


def ask(page: Page, address: str) -> Locator:
    """Open the workbench at the pod's cycle and press the key."""
    Workbench(page).open(f"{address}?step=1").at(1)
    page.keyboard.press("w")
    return panel(page)


def test_find_out_why_a_pod_is_pending_and_fix_it(page: Page, address: str) -> None:
    """From the key to the reasons, to a change that was run, to a copy in which the pod is placed."""
    why = ask(page, address)
    expect(why.get_by_role("heading", name="Why is report pending?")).to_be_focused()
    first = why.get_by_role("list").last.get_by_role("listitem").first
    first.get_by_role("button", name="Apply in a copy").click()
    page.wait_for_url(re.compile(r"/p/[\w-]+/\?step=1&pod=default/report"))
    bench = Workbench(page).wait().at(1)
    expect(bench.node("node-a")).to_have_accessible_name(re.compile("chosen"))
    reported = page.locator("[data-toasts]").get_by_text(
        "In this copy: uncordon node node-a, and report is placed on node-a"
    )
    expect(reported).to_be_visible()
    expect(bench.stage).to_be_focused()
    notice, timeline = reported.bounding_box(), bench.timeline.bounding_box()
    assert notice is not None
    assert timeline is not None
    assert notice["y"] + notice["height"] < timeline["y"]
    expect(page.get_by_label("Title of this draft")).to_have_value(
        "Reading the message: uncordon node node-a"
    )


def test_escape_comes_back_to_the_cell_that_asked(page: Page, address: str) -> None:
    """A click on a cell of the matrix opens the panel about its node; the focus returns to it."""
    bench = Workbench(page).open(f"{address}?step=1").at(1)
    cell = bench.tab("Predicates").get_by_role(
        "gridcell", name=re.compile("GeneralPredicates: Insufficient cpu$")
    )
    cell.first.click()
    why = panel(page)
    expect(why.get_by_role("heading", name=re.compile(r"Why is report not on node-[de]\?"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(cell.first).to_be_focused()


def test_the_panel_goes_on_to_nodes(page: Page, address: str) -> None:
    """Back goes from a node to all of them, and closes the panel."""
    why = ask(page, address)
    why.get_by_role("button", name="Why not on node-b?").click()
    expect(why.get_by_role("heading", name="Why is report not on node-b?")).to_be_visible()
    expect(page).to_have_url(re.compile(r"why=default/report&on=node-b$"))
    page.go_back()
    expect(why.get_by_role("heading", name="Why is report pending?")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_it_fills_a_phone(phone: Page, address: str) -> None:
    """The panel is the whole screen, and nothing sticks out."""
    box = ask(phone, address).bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 390)
    assert wide(phone) == 0
    assert phone.locator(".why-body").evaluate("e => e.scrollWidth - e.clientWidth") == 0
