"""The kit's components on the page that has them all, in the states that they can be in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client, override_settings
from playwright.sync_api import Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import texts, wide

ADDRESS = "/dev/kit/"


@pytest.fixture
def kit(page: Page) -> Page:
    """The page as a site under DEBUG serves it, with its Content-Security-Policy."""
    with override_settings(DEBUG=True):
        served = Client().get(ADDRESS)
    assert served.status_code == 200
    page.route(
        f"**{ADDRESS}",
        lambda route: route.fulfill(body=served.content.decode(), headers=dict(served.headers.items())),
    )
    page.goto(ADDRESS)
    expect(page.get_by_role("heading", name="Table", exact=True)).to_be_visible()
    return page


def test_it_is_for_development_alone() -> None:
    """A site that others use has no such page."""
    assert Client().get(ADDRESS).status_code == 404


def test_every_component_is_accessible_in_every_state(kit: Page, accessible: Callable[[Page], None]) -> None:
    """WCAG 2.2 AA by axe on a phone and a desk, light and dark; nothing scrolls sideways."""
    for width, _ in turned(kit):
        accessible(kit)
        assert wide(kit) <= width
    kit.get_by_role("button", name="Show a toast").click()
    kit.get_by_role("button", name="Open a menu").click()
    accessible(kit)
    kit.keyboard.press("Escape")
    kit.get_by_role("button", name="Open a dialog").click()
    expect(kit.get_by_role("dialog", name="A dialog")).to_be_visible()
    accessible(kit)
    kit.keyboard.press("Escape")
    kit.get_by_role("button", name="Open a sheet").click()
    accessible(kit)
    kit.get_by_role("dialog", name="A sheet").get_by_role("button", name="Close").click()
    expect(kit.get_by_role("dialog")).to_have_count(0)


def test_a_field_is_described_by_its_unit_and_by_what_is_wrong(kit: Page) -> None:
    """The hint gives way to the error, which goes once the value is right."""
    expect(kit.get_by_label("Wait", exact=True)).to_have_accessible_description("s From 0.")
    node = kit.get_by_label("Node", exact=True)
    node.fill("")
    expect(node).to_have_accessible_description("This is needed.")
    expect(node).to_have_attribute("aria-invalid", "true")
    node.fill("n2")
    expect(node).to_have_accessible_description("")


def test_a_table_sorts_filters_and_keeps_the_focus(kit: Page) -> None:
    """Numbers downwards first, a third press as given; a filter narrows while it is typed in."""
    table = kit.get_by_role("table", name="As given")
    names = table.get_by_role("rowheader")
    assert texts(names) == ["default/web-1", "default/web-2", "kube-system/dns"]
    sorter = table.get_by_role("button", name="priority")
    for order, state in (
        (["kube-system/dns", "default/web-2", "default/web-1"], "descending"),
        (["default/web-1", "default/web-2", "kube-system/dns"], "ascending"),
        (["default/web-1", "default/web-2", "kube-system/dns"], None),
    ):
        sorter.click()
        expect(names).to_have_text(order)
        expect(sorter).to_be_focused()
        head = table.get_by_role("columnheader", name="priority")
        assert head.get_attribute("aria-sort") == state
    field = kit.get_by_role("searchbox", name="Filter as given")
    field.press_sequentially("dns")
    expect(names).to_have_text(["kube-system/dns"])
    expect(field).to_be_focused()
    field.fill("nowhere")
    expect(kit.get_by_text("No row contains “nowhere”.")).to_be_visible()


def test_a_menu_is_walked_by_keys_and_closes(kit: Page) -> None:
    """Arrows and letters choose, Escape gives the focus back, the button and a press elsewhere close it."""
    button = kit.get_by_role("button", name="Open a menu")
    button.press("Enter")
    menu = kit.get_by_role("menu", name="What to do with n1")
    expect(button).to_have_attribute("aria-expanded", "true")
    for key, name in (("w", "Without an icon"), ("ArrowDown", "Zone a…"), ("ArrowDown", "Drain…")):
        kit.keyboard.press(key)
        expect(menu.get_by_role("menuitem", name=name)).to_be_focused()
    kit.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "false")
    for _ in "ab":
        button.click()
    expect(menu).to_have_count(0)
    button.click()
    kit.get_by_role("heading", name="Table", exact=True).click()
    expect(menu).to_have_count(0)
    button.click()
    menu.get_by_role("menuitem", name="Zone a…").click()
    expect(menu).to_have_count(0)
    expect(kit.get_by_text("Zone a", exact=True)).to_be_visible()


def test_style_is_set_without_an_exception_of_the_policy(kit: Page) -> None:
    """A component's style is a property of the DOM, which needs no unsafe-inline."""
    bar = kit.locator("[data-until-bar]")
    assert bar.evaluate("(element) => element.style.width") == "50%"
    assert bar.evaluate("(element) => getComputedStyle(element).width") != "0px"
