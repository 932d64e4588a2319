"""The Policy tab: how one comes to it, its focus, and its place on a screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, drafted, example_text, share, wide
from tests.services.stack import Stack


@pytest.fixture(scope="module")
def shop(site: Stack) -> str:
    """The address of a shared shop."""
    return share(site, example_text("shop"), "Shop")


def policy(bench: Workbench) -> Locator:
    """Open the Policy tab and return its panel."""
    bench.build.get_by_role("tab", name="Policy").click()
    panel = bench.build.get_by_role("tabpanel", name="Policy")
    expect(panel.get_by_role("heading", name="Priorities")).to_be_visible()
    return panel


SHOP = example_text("shop")


def own(page: Page, text: str = SHOP, step: int = 0) -> Workbench:
    """Open a draft of a text, which is the shop's."""
    bench = Workbench(page).open(drafted(page, text) + (f"?step={step}" if step else ""))
    return bench.at(step)


def test_the_focus_stays_with_what_was_switched(page: Page) -> None:
    """By keyboard one goes on where one was, though the list is drawn anew."""
    panel = policy(own(page))
    always = panel.get_by_role("switch", name="Check all predicates on every node")
    always.focus()
    page.keyboard.press("Space")
    expect(panel.get_by_role("status")).to_contain_text("check all predicates: on")
    expect(always).to_be_checked()
    expect(always).to_be_focused()
    panel.get_by_role("switch", name="NoDiskConflict").focus()
    page.keyboard.press("Space")
    expect(panel.get_by_role("heading", name="Predicates")).to_contain_text("12 in this order")
    expect(panel.locator("summary").first).to_be_focused()


def test_another_tab_can_lead_to_the_settings_of_the_cache(
    visitor: Callable[..., Page], page: Page, shop: str
) -> None:
    """On a desk and on a phone the settings come into view with the focus on the first of them."""
    for opened in (page, visitor(size=(390, 844))):
        Workbench(opened).open(shop)
        opened.evaluate("podstep.view.actions.policy('cache')")
        heading = opened.get_by_role("heading", name="Equivalence cache")
        expect(heading).to_be_in_viewport()
        expect(heading).to_be_focused()


def test_showing_the_caches_settings_does_not_scroll_the_page(
    visitor: Callable[..., Page], shop: str
) -> None:
    """In a small frame, too, only the list of the Policy tab moves."""
    frame = visitor(size=(800, 480))
    Workbench(frame).open(shop.replace("/s/", "/e/"))
    frame.evaluate("podstep.view.actions.policy('cache')")
    expect(frame.get_by_role("heading", name="Equivalence cache")).to_be_in_viewport()
    expect(frame.get_by_role("banner")).to_be_in_viewport(ratio=1)


def test_the_policy_tab_is_accessible_and_fits_a_phone(
    visitor: Callable[..., Page], accessible: Callable[[Page], None], shop: str
) -> None:
    """WCAG 2.2 AA with everything open, and nothing is wider than the screen."""
    page = visitor(color_scheme="dark")
    panel = policy(own(page))
    for summary in panel.locator("summary").all():
        summary.click()
    accessible(page)
    phone = visitor(size=(390, 844), color_scheme="light")
    bench = Workbench(phone).open(shop)
    phone.get_by_role("button", name="Build").click()
    policy(bench)
    assert wide(phone) == 0
