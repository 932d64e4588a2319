"""The tab Priorities: the matrix either way round, a priority worked out, and one node's column."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, example_text, share, wide
from tests.services.stack import Stack

RANKED = 20  # a cycle of the example that ranks five nodes


@pytest.fixture(scope="module")
def shop(site: Stack) -> str:
    """The address of a shared example."""
    return share(site, example_text("shop"), "shop")


def opened(page: Page, shop: str, query: str = "") -> Locator:
    """Open the tab at the cycle and return its panel."""
    Workbench(page).open(f"{shop}?step={RANKED}&tab=priorities{query}").at(RANKED)
    return Workbench(page).panel("Priorities")


def test_the_matrix_is_walked_through_and_turned_back(page: Page, shop: str) -> None:
    """Arrows reach a header, Enter opens its priority; Back leads to the matrix as it was before."""
    panel = opened(page, shop)
    grid = panel.get_by_role("grid", name="Node by priority")
    grid.locator('[tabindex="0"]').focus()
    for key in ("Control+Home", "ArrowUp", "End"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(panel.get_by_role("heading", name="A7 TaintTolerationPriority")).to_be_visible()
    button = panel.get_by_role("button", name="A1 SelectorSpread")
    button.focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("heading", name="A1 SelectorSpreadPriority")).to_be_visible()
    expect(button).to_be_focused()
    above = page.locator(".scores td.total").first.evaluate(
        "cell => getComputedStyle(cell, '::after').content"
    )
    assert above == '"+9"'
    panel.get_by_role("button", name="Priorities", exact=True).click()
    expect(panel.get_by_role("grid", name="Priority by node")).to_be_visible()
    page.go_back()
    expect(grid).to_be_visible()
    expect(panel.get_by_role("button", name="Nodes", exact=True)).to_have_attribute("aria-pressed", "true")


def test_the_tab_is_accessible_and_fits_a_phone(
    phone: Page, shop: str, accessible: Callable[[Page], None]
) -> None:
    """Either way round, with a formula open, no rule of WCAG is broken, and nothing is too wide."""
    panel = opened(phone, shop)
    phone.get_by_role("button", name="Inspect", exact=True).click()
    panel.get_by_role("columnheader", name="A3 LeastRequested").click()
    expect(panel.get_by_role("heading", name="A3 LeastRequestedPriority")).to_be_visible()
    accessible(phone)
    panel.get_by_role("button", name="Priorities", exact=True).click()
    expect(panel.get_by_role("grid", name="Priority by node")).to_be_visible()
    accessible(phone)
    assert wide(phone) == 0
