"""Every matrix and table of nodes: it and the stage light each other; sorting, filtering, copying."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.clusters import zoned
from tests.browser.pages import Workbench, becomes, example_text, share, texts
from tests.services.stack import Stack

HOVERED = "() => podstep.playback.nodes.names[podstep.view.hovered] ?? null"
COPIED = "() => navigator.clipboard.readText()"


@pytest.fixture(scope="module")
def shop(site: Stack) -> str:
    """The address of a shared example."""
    return share(site, example_text("shop"), "shop")


def opened(page: Page, address: str, tab: str, index: int) -> Locator:
    """Open a tab at a cycle."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    Workbench(page).open(f"{address}?step={index}&tab={tab.lower()}").at(index)
    return Workbench(page).panel(tab)


def lines(page: Page) -> list[list[str]]:
    """What is on the clipboard, as rows of cells."""
    return [line.split("\t") for line in str(page.evaluate(COPIED)).split("\n")]


def lights(page: Page, table: Locator) -> None:
    """By pointer and by the keyboard's focus a row lights its node; a node on the stage lights its row."""
    row = table.get_by_role("row").nth(2)
    name = row.get_by_role("rowheader").inner_text()
    row.get_by_role("rowheader").hover()
    becomes(lambda: page.evaluate(HOVERED), name)
    expect(page.locator(".node.hovered")).to_contain_text(name)
    page.mouse.move(5, 5)
    table.get_by_role("row").nth(1).get_by_role("rowheader").click()
    page.keyboard.press("ArrowDown")
    becomes(lambda: page.evaluate(HOVERED), name)
    Workbench(page).node(name).hover()
    expect(row).to_have_class(re.compile("is-hovered"))


def copies(page: Page, panel: Locator, table: Locator) -> None:
    """Ctrl C copies the header and the rows on screen, sorted and filtered, as the button does."""
    panel.get_by_role("searchbox").fill("general")
    expect(table.get_by_role("rowheader").filter(has_text="batch")).to_have_count(0)
    table.get_by_role("columnheader", name="node", exact=True).click()
    page.keyboard.press("Control+c")
    expect(page.get_by_text(re.compile(r"^\d rows copied$")).last).to_be_visible()
    by_key = lines(page)
    assert by_key[0][0].startswith("node")
    assert [row[0] for row in by_key[1:]] == texts(table.get_by_role("rowheader"))
    panel.get_by_role("button", name="Copy as tab separated text").first.click()
    becomes(lambda: lines(page), by_key)
    panel.get_by_role("searchbox").fill("")


def test_a_matrix_and_the_stage_light_each_other(page: Page, shop: str) -> None:
    """A row lights its node and is lit by it; what is on screen is copied by key and by button."""
    panel = opened(page, shop, "Predicates", 20)
    table = panel.get_by_role("grid", name="Node by predicate")
    lights(page, table)
    copies(page, panel, table)


def test_a_matrix_of_many_nodes_is_walked_through_and_keeps_its_place(page: Page, site: Stack) -> None:
    """Rows come as they are scrolled to; wherever one is Tab leads in, and arrows go on from there."""
    panel = opened(page, share(site, zoned(60), "sixty"), "Predicates", 20)
    table = panel.get_by_role("grid", name="Node by predicate")
    stops = table.locator("[tabindex='0']")
    table.get_by_role("rowheader").nth(2).click()
    seen = table.get_by_role("rowheader").nth(2).inner_text()
    page.keyboard.press("ArrowDown")
    expect(table.locator(":focus")).to_have_attribute("data-row", "3")
    page.keyboard.press("Control+End")
    expect(table.locator(":focus")).to_have_attribute("data-row", "59")
    expect(table.get_by_role("rowheader", name=seen, exact=True)).to_have_count(0)
    expect(stops).to_have_count(1)
    scroll = "(grid, to) => { grid.scrollTop = to; }"
    panel.locator(".grid-scroll").evaluate(scroll, 0)  # what was focused is no longer there
    expect(table.get_by_role("rowheader", name=seen, exact=True)).to_have_count(1)
    expect(stops).to_have_count(1)
    stops.focus()
    page.keyboard.press("ArrowDown")
    expect(table.locator(":focus")).to_have_attribute("data-row", "1")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    node = table.get_by_role("rowheader").nth(1).inner_text()
    expect(table.locator("tr.is-selected")).to_contain_text(node)
    Workbench(page).button("Step").click()
    Workbench(page).at(21)
    expect(table.locator("tr.is-selected")).to_contain_text(node)
    expect(stops).to_have_count(1)
    expect(stops).to_have_attribute("data-row", "1")
