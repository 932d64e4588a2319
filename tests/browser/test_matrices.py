"""Every matrix and table of nodes: it and the stage light each other; sorting, filtering, copying."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.clusters import zoned
from tests.browser.pages import Workbench, becomes, cycles_of, example_text, share, texts
from tests.services.stack import Stack

HOVERED = "() => podstep.playback.nodes.names[podstep.view.hovered] ?? null"
COPIED = "() => navigator.clipboard.readText()"
#: The matrices, by the tabs that have them.
MATRICES = {"Predicates": "Node by predicate", "Priorities": "Node by priority"}


@pytest.fixture(scope="module")
def shop(site: Stack) -> str:
    """The address of a shared example."""
    return share(site, example_text("shop"), "shop")


@pytest.fixture(scope="module")
def preempting(site: Stack) -> str:
    """The address of an example in which a pod makes room for itself."""
    return share(site, example_text("making-room"), "making room")


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
    """Both matrices do, and are copied; turned round, it is the column that lights and is lit."""
    for tab, grid in MATRICES.items():
        panel = opened(page, shop, tab, 20)
        table = panel.get_by_role("grid", name=grid)
        lights(page, table)
        copies(page, panel, table)
    panel.get_by_role("button", name="Priorities", exact=True).click()
    table = panel.get_by_role("grid", name="Priority by node")
    head = table.get_by_role("columnheader").nth(2)
    head.hover()
    name = head.inner_text().split(" ", 1)[1]
    becomes(lambda: page.evaluate(HOVERED), name)
    page.mouse.move(5, 5)
    Workbench(page).node(name).hover()
    expect(head).to_have_class(re.compile("lit-column"))


def test_candidates_of_preemption_are_sorted_filtered_copied_and_lit(page: Page, preempting: str) -> None:
    """Like a matrix: by column both ways, by name, as text, and with the stage."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    bench = Workbench(page)
    index = next(cycle.index for cycle in cycles_of(example_text("making-room")) if cycle.preemption)
    panel = opened(page, preempting, "Preemption", index)
    table = panel.get_by_role("table", name=re.compile("^Candidate nodes"))
    expect(table.locator("tr[data-of]")).not_to_have_count(0)
    names = texts(table.locator("tr[data-of] .candidate"))
    assert len(names) > 1
    table.get_by_role("button", name="node", exact=True).click()
    becomes(lambda: texts(table.locator("tr[data-of] .candidate")), sorted(names))
    table.get_by_role("button", name=re.compile("^node")).click()
    becomes(lambda: texts(table.locator("tr[data-of] .candidate")), sorted(names, reverse=True))
    panel.get_by_role("button", name="Copy as tab separated text").first.click()
    expect(page.get_by_text(f"{len(names)} rows copied")).to_be_visible()
    becomes(lambda: [row[0] for row in lines(page)[1:]], sorted(names, reverse=True))
    table.locator("tr[data-of] .candidate [data-at]").first.hover()
    becomes(lambda: page.evaluate(HOVERED), max(names))
    page.mouse.move(5, 5)
    bench.node(names[0]).hover()
    expect(table.locator("tr.is-hovered")).to_contain_text(names[0])
    panel.get_by_role("searchbox", name="Filter candidate nodes by name or victim").fill(names[0])
    expect(table.locator("tr[data-of]")).to_have_count(1)


def test_the_map_of_the_cache_is_sorted_copied_and_lit(page: Page, site: Stack) -> None:
    """The number of entries sorts downwards first; the text has what is on screen."""
    text = example_text("shop").replace(
        "kind: SimulationSettings\n", "kind: SimulationSettings\ncache: sound\n"
    )
    panel = opened(page, share(site, text, "cached"), "Cache", 12)
    panel.get_by_role("button", name="Map", exact=True).or_(
        panel.get_by_role("tab", name="Map")
    ).first.click()
    table = panel.get_by_role("table", name="Valid entries of the cache by node")
    name = table.get_by_role("rowheader").first.get_by_role("button")
    name.hover()
    becomes(lambda: page.evaluate(HOVERED), name.inner_text())
    table.get_by_role("button", name="entries").click()
    found = [
        int(row[-1]) for row in [texts(r.get_by_role("cell")) for r in table.get_by_role("row").all()[1:]]
    ]
    assert found == sorted(found, reverse=True)
    panel.get_by_role("button", name="Copy as tab separated text").first.click()
    expect(page.get_by_text(f"{len(found)} rows copied")).to_be_visible()
    becomes(lambda: [int(row[-1]) for row in lines(page)[1:]], found)


#: A letter is typed right before the next step draws the table anew, as it is while it plays.
TYPED_AND_STEPPED = """(step) => {
  const field = document.querySelector('input[aria-label="Filter pods: Active"]');
  field.value = "no such pod";
  field.dispatchEvent(new Event("input"));
  podstep.playback.goto(step);
}"""


def test_the_queues_are_sorted_filtered_copied_and_lit_over_steps(page: Page, site: Stack) -> None:
    """What is looked for stays where the next step draws the tables anew, and so does the focus."""
    address = share(site, example_text("gang-deadlock-coscheduled"), "two gangs")
    panel = opened(page, address, "Queue", 7)
    active = panel.get_by_role("table", name="Active: pods in their order")
    pods = active.locator("tbody tr:not(.follows)")
    names = texts(pods.locator(".who"))
    active.get_by_role("button", name="pod", exact=True).click()
    active.get_by_role("button", name="pod ↑").click()
    expect(active.get_by_role("columnheader", name="pod")).to_have_attribute("aria-sort", "descending")
    becomes(lambda: texts(pods.locator(".who")), sorted(names, reverse=True))
    panel.get_by_role("button", name="Copy as tab separated text").first.click()
    expect(page.get_by_text(f"{len(names)} rows copied")).to_be_visible()
    becomes(lambda: [row[1] for row in lines(page)[1:]], sorted(names, reverse=True))
    field = panel.get_by_role("searchbox", name="Filter pods: Active")
    field.fill(names[-1])
    expect(pods).to_have_count(1)
    page.evaluate("podstep.playback.goto(8)")
    Workbench(page).at(8)
    expect(pods).to_have_count(1)
    expect(pods).to_contain_text(names[-1])
    expect(field).to_be_focused()
    page.evaluate(TYPED_AND_STEPPED, 9)
    Workbench(page).at(9)
    expect(field).to_have_value("no such pod")
    expect(pods).to_have_count(0)
    page.evaluate("podstep.playback.goto(8)")
    Workbench(page).at(8)
    row = panel.locator(".queue.at-waiting tbody tr").first
    node = row.get_by_role("cell").nth(1).inner_text()
    row.get_by_role("cell").nth(2).hover()
    becomes(lambda: page.evaluate(HOVERED), node)
    row.get_by_role("cell").nth(2).click()
    expect(page.get_by_role("region", name="Selected")).to_contain_text(node)
    page.mouse.move(5, 5)
    Workbench(page).node(node).hover()
    expect(row).to_have_class(re.compile("is-hovered"))


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
