"""Menus of what operators do, by keyboard and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, drafted, wide
from tests.playground.test_verbs import BUNDLE


def own(page: Page) -> Workbench:
    """Open a draft under its own release, at its end."""
    return Workbench(page).open(drafted(page, BUNDLE, as_is=True))


def test_menus_are_reached_by_keyboard_and_offer_what_changes_something(page: Page) -> None:
    """The right button on a card, `a` on what is selected; Escape gives the focus back."""
    bench = own(page)
    bench.step(6)
    card = bench.stage.get_by_role("button", name=re.compile(r"^n1\b"))
    entries = page.get_by_role("menu").get_by_role("menuitem")
    card.click(button="right")
    expect(entries.first).to_be_focused()
    page.keyboard.press("Escape")
    card.focus()
    page.keyboard.press("a")
    expect(entries.first).to_be_focused()
    expect(entries.filter(has_text="Uncordon")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(card).to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Command")).to_be_focused()
    page.keyboard.type("drain zone b")
    page.keyboard.press("Enter")
    box = page.get_by_role("dialog", name="Drain: zone b")
    expect(box.get_by_role("status")).to_contain_text("Cordons node n3, then evicts")
    page.keyboard.press("Escape")
    bench.stage.get_by_role("button", name="Operate zone a").click()
    page.get_by_role("menuitem", name="Upgrade one by one…").click()
    box = page.get_by_role("dialog", name="Upgrade one by one: zone a")
    box.get_by_label("Seconds for each node").fill("soon")
    expect(box.get_by_label("Seconds for each node")).to_have_accessible_description(
        re.compile("is not a number of seconds")
    )


def test_menu_and_dialog_on_a_phone(phone: Page, accessible: Callable[[Page], None]) -> None:
    """The sheet of a node has the menu; nothing is wider than the phone, and axe finds nothing."""
    bench = own(phone)
    bench.stage.get_by_role("button", name=re.compile(r"^n1\b")).click()
    phone.get_by_role("button", name="Operate", exact=True).click()
    expect(phone.get_by_role("menu")).to_be_visible()
    assert wide(phone) <= 0
    phone.get_by_role("menuitem", name="Drain…", exact=True).click()
    expect(phone.get_by_role("dialog").get_by_role("status")).to_contain_text("then evicts")
    assert wide(phone) <= 0
    accessible(phone)
