"""The reference pages as one reads them: a table that can be filtered, and on a phone cards."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from scheduler_core.schedulers.v1_11.equivalence.rules import TABLE
from tests.browser.pages import becomes, wide


def rules(page: Page) -> Locator:
    """Return the rows of the invalidation table that are shown."""
    return page.locator(".cache-rules tr[id]:visible")


def test_the_table_is_filtered_by_resource_and_mode(page: Page) -> None:
    """The rows left are those of the engine's table; the address keeps the choice, and they are counted."""
    page.goto("/reference/cache/")
    expect(rules(page)).to_have_count(len(TABLE))
    page.get_by_role("combobox", name="Resource").select_option("Node")
    page.get_by_role("combobox", name="Mode").select_option("v1.11")
    left = [row.id for row in TABLE if row.resource == "Node" and "v1.11" in row.scopes]
    becomes(lambda: [row.get_attribute("id") for row in rules(page).all()], left)
    expect(page.get_by_text(f"{len(left)} of {len(TABLE)} rows", exact=True)).to_be_visible()
    page.reload()
    expect(rules(page)).to_have_count(len(left))
    page.get_by_role("combobox", name="Resource").select_option("StorageClass")
    expect(page.get_by_text("No row of this resource applies there.")).to_be_visible()


def test_a_link_to_a_row_shows_it_though_it_is_filtered_out(page: Page) -> None:
    """What a cycle names is found, whatever was looked at before."""
    page.goto("/reference/cache/?resource=Pod#node-delete")
    expect(page.locator("#node-delete")).to_be_in_viewport()
    expect(page.get_by_role("combobox", name="Resource")).to_have_value("")


def test_rules_are_cards_on_a_phone(phone: Page, accessible: Callable[[Page], None]) -> None:
    """Each row is read from top to bottom with its modes named, and nothing is wider than the screen."""
    phone.goto("/reference/cache/")
    card = phone.locator("#pod-add-affinity")
    card.scroll_into_view_if_needed()
    assert wide(phone) == 0
    mode = card.locator('td[data-label="sound"]')
    expect(mode).to_contain_text("all nodes where that is unclear")
    expect(card.locator('td[data-label="designed"]')).to_be_hidden()
    box, heading = mode.bounding_box(), card.get_by_role("rowheader").bounding_box()
    assert box is not None
    assert heading is not None
    assert heading["y"] < box["y"]
    assert box["width"] > 300
    accessible(phone)


def test_plugins_fit_a_phone(phone: Page) -> None:
    """Also those of many extension points, in whose row nothing is cut off."""
    phone.goto("/reference/plugins/")
    points = phone.locator("#DynamicResources td").filter(has_text="preEnqueue").last
    expect(points).to_contain_text("podGroupPostFilter")
    assert wide(phone) == 0
    assert points.evaluate("cell => cell.scrollWidth <= cell.clientWidth")
