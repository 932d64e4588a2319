"""What tests and pictures do with the weights on the page."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench


def opened(page: Page, address: str, index: int) -> Locator:
    """Open the tab at a cycle with the weights unfolded; return their part of it."""
    Workbench(page).open(f"{address}?step={index}&tab=priorities").at(index)
    return weights_of(page)


def give(part: Locator, weights: dict[str, int]) -> None:
    """Type weights into their fields."""
    for name, weight in weights.items():
        part.get_by_role("spinbutton", name=f"Weight of {name}").fill(str(weight))


def weights_of(page: Page) -> Locator:
    """Unfold the weights of the tab that is open."""
    part = page.get_by_role("region", name="Weights")
    toggle = part.get_by_role("button", name="Try other weights")
    if toggle.get_attribute("aria-expanded") != "true":
        toggle.click()
    expect(part.get_by_role("button", name="Reset")).to_be_visible()
    return part
