"""Breakpoints that a browser keeps."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, example_text, share
from tests.services.stack import Stack

SHOP = "shop"


@pytest.fixture
def bench(page: Page, site: Stack) -> Workbench:
    """The shop on twelve nodes, before its first cycle; cycles 17 and 26 fail."""
    return Workbench(page).open(share(site, example_text(SHOP), "A shop on twelve nodes"))


def panel(page: Page) -> Locator:
    """Open the panel of breakpoints by its key."""
    page.keyboard.press("b")
    found = page.get_by_role("dialog", name="Breakpoints")
    expect(found).to_be_visible()
    return found


def set_by_form(page: Page, kind: str) -> None:
    """Set a breakpoint by the form of the panel, and close it."""
    box = panel(page)
    box.get_by_role("combobox", name="Stop when").select_option(kind)
    box.get_by_role("button", name="Set this breakpoint").click()
    expect(box.get_by_role("checkbox")).not_to_have_count(0)
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)


def test_breakpoints_are_kept_switched_off_and_removed(page: Page, bench: Workbench) -> None:
    """A reload keeps them with whether they are on; what is off does not stop; a removed one is gone."""
    set_by_form(page, "preemption")
    set_by_form(page, "unschedulable")
    box = panel(page)
    box.get_by_role("checkbox", name="any pod is unschedulable").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    bench.wait()
    expect(page.get_by_role("button", name="Breakpoints: 1")).to_be_visible()
    page.keyboard.press("r")
    expect(page.get_by_text("No later cycle breaks.")).to_be_visible()
    box = panel(page)
    expect(box.get_by_role("checkbox", name="any pod is unschedulable")).not_to_be_checked()
    box.get_by_role("button", name="Remove: any preemption").click()
    expect(box.get_by_role("checkbox")).to_have_count(1)


def test_storage_that_is_broken_does_no_harm(page: Page, bench: Workbench) -> None:
    """What somebody else left in the browser's storage is not taken for breakpoints."""
    scenario = page.evaluate("podstep.playback.source.scenario")
    for kept in (
        "{",
        "[]",
        json.dumps({f"scenario:{scenario}": [["nonsense", True], 7, ["preemption", True]]}),
    ):
        page.evaluate("kept => localStorage.setItem('podstep.breaks', kept)", kept)
        page.reload()
        bench.wait()
    expect(page.get_by_role("button", name="Breakpoints: 1")).to_be_visible()
