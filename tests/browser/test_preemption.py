"""The Preemption tab: who had to go, pod by pod, and which criterion picked the node."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import Workbench, example_text, share, show, wide
from tests.services.stack import Stack


@pytest.fixture(scope="module")
def making_room(site: Stack) -> str:
    """The address of the example in which a critical pod fits nowhere."""
    return share(site, example_text("making-room"), "Making room")


def test_it_is_read_on_a_phone_and_by_everyone(
    phone: Page, accessible: Callable[[Page], None], making_room: str
) -> None:
    """At 390 px nothing is cut off at the side, and the tab keeps to WCAG."""
    Workbench(phone).open(f"{making_room}?step=1&tab=preemption").at(1)
    show(phone, "Inspect")
    panel = phone.locator(".preemption-tab")
    expect(panel).to_contain_text("Where it cannot help")
    panel.get_by_role("button", name="Dry run on worker-1").click()
    expect(panel.get_by_text("PDB db")).to_be_visible()
    assert wide(phone) <= 0
    assert panel.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    accessible(phone)


def test_names_stay_whole(page: Page, making_room: str) -> None:
    """Neither the pod above the stage nor a node or victim in the table is cut or broken at its hyphen."""
    Workbench(page).open(f"{making_room}?step=1&tab=preemption").at(1)
    names = page.locator(".candidates :is(.candidate, .victims) .link")
    pod = page.get_by_role("main", name="Stage").get_by_role("button", name="checkout", exact=True).first
    for size in turned(page):
        show(page, "Inspect")
        expect(names.filter(has_text="report-4").first).to_be_visible()
        lines = names.evaluate_all(
            "l => l.filter(e => e.offsetHeight)"
            ".map(e => Math.round(e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight)))"
        )
        assert set(lines) == {1}, size
        show(page, "Stage")
        expect(pod).to_be_visible()
        assert pod.locator("b").evaluate("e => e.scrollWidth - e.clientWidth") <= 0, size
