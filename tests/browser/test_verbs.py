"""What operators do, from menus of the stage: a node is drained and undone, a zone is lost in a branch."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, drafted, holds, wide
from tests.browser.test_edit import placements
from tests.playground.test_verbs import BUNDLE


def own(page: Page, text: str = BUNDLE) -> Workbench:
    """Open a draft under its own release, at its end."""
    return Workbench(page).open(drafted(page, text, as_is=True))


def menu(page: Page, bench: Workbench, node: str) -> Locator:
    """Open the menu of a node on the stage."""
    bench.stage.get_by_role("button", name=re.compile(rf"^{node}\b")).click(button="right")
    return page.get_by_role("menu")


def test_a_node_is_drained_from_its_menu_and_undone(page: Page) -> None:
    """The dialog says what will happen; the evicted pods come back elsewhere; one Undo takes all back."""
    bench = own(page)
    bench.step(6)
    before = placements(page)
    menu(page, bench, "n1").get_by_role("menuitem", name="Drain…", exact=True).click()
    box = page.get_by_role("dialog", name="Drain: node n1")
    expect(box.get_by_role("status")).to_have_text(re.compile(r"^Cordons node n1, then evicts \d pods?"))
    expect(box.get_by_role("status")).to_contain_text("budget default/web allows 1 at a time")
    box.get_by_role("button", name="Apply").click()
    expect(box).to_have_count(0)
    holds(lambda: placements(page), lambda nodes: len(nodes) > 6 and "n1" not in nodes[6:])
    bench.build.get_by_role("button", name="Undo").click()
    holds(lambda: placements(page), lambda nodes: nodes == before)


def test_menus_are_reached_by_keyboard_and_offer_what_changes_something(page: Page) -> None:
    """The context menu key on a card, `a` on what is selected; Escape gives the focus back."""
    bench = own(page)
    bench.step(6)
    card = bench.stage.get_by_role("button", name=re.compile(r"^n1\b"))
    card.focus()
    page.keyboard.press("a")
    entries = page.get_by_role("menu").get_by_role("menuitem")
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


def test_a_zone_is_lost_in_a_branch_by_one_click(page: Page) -> None:
    """The branch runs to its end, and workloads over time, nodes and figures stand beside the parent's."""
    bench = own(page)
    bench.step(6)
    bench.stage.get_by_role("button", name="Operate zone a").click()
    page.get_by_role("menuitem", name="… it is lost?").click()
    box = page.get_by_role("dialog", name="What if: lose zone a")
    expect(box.get_by_role("img", name=re.compile("^Deployment web, ready pods over time"))).to_be_visible()
    expect(box).to_contain_text(re.compile(r"pods evicted\s*3"))
    expect(box).to_contain_text("n3: 3 → 6")
    expect(bench.build.get_by_role("treegrid", name="Branches")).to_contain_text("What if: lose zone a")
    box.get_by_role("button", name="Delete the branch").click()
    expect(bench.build.get_by_role("treegrid", name="Branches")).to_be_hidden()
    expect(bench.build).to_contain_text("There are no operations yet")


def test_what_v1_11_cannot_do_is_hidden_and_said_by_the_palette(page: Page) -> None:
    """No time passes there: a node can be cordoned, and whoever asks for a drain is reported why not."""
    bench = Workbench(page).open(drafted(page, BUNDLE))
    entries = menu(page, bench, "n1").get_by_role("menuitem")
    expect(entries).to_have_text(["Cordon…", "Zone a…"])
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Command")).to_be_focused()
    page.keyboard.type("drain")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Drain needs controllers, and under v1.11 no time passes")).to_be_visible()


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
