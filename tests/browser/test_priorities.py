"""The tab Priorities: the matrix either way round, a priority worked out, and one node's column."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from scheduler_core.record.cycle import Cycle
from tests.browser.pages import Workbench, becomes, cycles_of, example_text, share, texts, wide
from tests.core.engine.test_describe import worth
from tests.services.stack import Stack

RANKED = 20  # a cycle of the example that ranks five nodes


@pytest.fixture(scope="module")
def shop(site: Stack) -> str:
    """The address of a shared example."""
    return share(site, example_text("shop"), "shop")


@pytest.fixture(scope="module")
def cycle() -> Cycle:
    """The cycle that the tests look at, as the engine decides it in this process."""
    return cycles_of(example_text("shop"))[RANKED - 1]


def opened(page: Page, shop: str, query: str = "") -> Locator:
    """Open the tab at the cycle and return its panel."""
    Workbench(page).open(f"{shop}?step={RANKED}&tab=priorities{query}").at(RANKED)
    return Workbench(page).panel("Priorities")


def rows_of(grid: Locator) -> dict[str, list[str]]:
    """Read a grid by its row headers."""
    rows = grid.get_by_role("row").all()[1:]
    return {texts(row.get_by_role("rowheader"))[0]: texts(row.get_by_role("gridcell")) for row in rows}


def plain(text: str) -> int:
    """Read a number as it is printed."""
    return int(text.replace(",", ""))


def test_which_values_are_shown_is_in_the_address(
    page: Page, visitor: Callable[..., Page], shop: str
) -> None:
    """A link shows the same matrix the same way round; Back leads to the one before."""
    panel = opened(page, shop)
    panel.get_by_role("button", name="Combine", exact=True).click()
    expect(page).to_have_url(re.compile(r"[?&]view=sum(&|$)"))
    panel.get_by_role("button", name="Priorities", exact=True).click()
    expect(page).to_have_url(re.compile(r"[?&]view=sum/priorities(&|$)"))
    other = visitor()
    Workbench(other).open(page.url).at(RANKED)
    there = Workbench(other).panel("Priorities")
    expect(there.get_by_role("button", name="Combine", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(there.get_by_role("grid", name="Priority by node")).to_be_visible()
    page.go_back()
    expect(panel.get_by_role("grid", name="Node by priority")).to_be_visible()
    expect(panel.get_by_role("button", name="Nodes", exact=True)).to_have_attribute("aria-pressed", "true")
    Workbench(page).tab("Story")
    expect(page).not_to_have_url(re.compile("view="))
    Workbench(page).tab("Priorities")
    expect(page).to_have_url(re.compile(r"[?&]view=sum(&|$)"))


def test_algorithms_are_rows_and_nodes_are_columns(page: Page, shop: str, cycle: Cycle) -> None:
    """Turned round, A1N1 … are the engine's scores, best node first, and Combine sums each column.

    By keyboard, arrows reach a header, and Enter opens its priority.
    """
    panel = opened(page, shop)
    priorities_work_by_keyboard(page, panel)
    panel.get_by_role("button", name="Priorities", exact=True).click()
    grid = panel.get_by_role("grid", name="Priority by node")
    names = [cycle.nodes[node] for node in cycle.feasible.tolist()]
    heads = [text.split(" ", 1) for text in texts(grid.get_by_role("columnheader"))[1:]]
    assert [number for number, _ in heads] == ["N1", "N2", "N3", "N4", "N5"]
    places = [names.index(name) for _, name in heads]
    panel.get_by_role("button", name="Reduced", exact=True).click()
    rows = rows_of(grid)
    for number, row in enumerate(cycle.priorities, 1):
        found = next(values for label, values in rows.items() if label.startswith(f"A{number} "))
        assert list(map(plain, found)) == [int(row.score[place]) for place in places]
    assert cycle.totals is not None
    assert list(map(plain, rows["Combine"])) == [int(cycle.totals[place]) for place in places]
    assert rows["rank"] == ["1", "1", "3", "3", "5"]
    panel.get_by_role("button", name="Combine", exact=True).click()
    becomes(lambda: list(rows_of(grid)), ["Combine", "rank", "behind the best"])
    panel.get_by_role("button", name="Nodes", exact=True).click()
    behind = rows_of(panel.get_by_role("grid", name="Node by priority"))
    assert [values[3] for values in behind.values()] == ["–", "–", "7", "7", "9"]


def test_a_node_is_worked_out_with_its_numbers(page: Page, shop: str, cycle: Cycle) -> None:
    """The formula gives the score of the selected node, and its column adds up to the total."""
    # The formula's numbers give the score of the selected node, which the weight turns into its points.
    panel = opened(page, shop, "&node=general-4")
    panel.get_by_role("columnheader", name="A3 LeastRequested").click()
    formula = panel.get_by_role("heading", name="A3 LeastRequestedPriority").locator("xpath=..")
    expect(formula).to_contain_text("on general-4")
    lines = formula.locator("li")
    expect(lines).to_have_count(6)
    names = [cycle.nodes[node] for node in cycle.feasible.tolist()]
    score = int(cycle.priorities[2].score[names.index("general-4")])
    worked = [
        (worth(line.locator("code").inner_text()), plain(line.locator("b").inner_text()))
        for line in lines.all()
    ]
    assert all(int(exact) == value for exact, value in worked)
    cpu, memory, halved = worked[1], worked[3], worked[4]
    assert halved == ((cpu[1] + memory[1]) / 2, score)
    assert worked[5] == (score, score)
    expect(formula.get_by_role("link", name=re.compile("^Reference"))).to_have_attribute(
        "href", "/reference/#LeastRequestedPriority"
    )
    # A priority that could not tell the nodes apart says so.
    panel.get_by_role("button", name="A7 TaintToleration").click()
    flat = panel.get_by_role("heading", name="A7 TaintTolerationPriority").locator("xpath=..")
    expect(flat).to_contain_text("Every feasible node scored 10 here")
    expect(flat).to_contain_text("10")
    # What the priorities add to the selected node is listed, and Combine is the node's total.
    table = panel.get_by_role("table", name="What each priority adds to the total of general-4")
    names = [cycle.nodes[node] for node in cycle.feasible.tolist()]
    place = names.index("general-4")
    *adds, total = [plain(texts(row.get_by_role("cell"))[-1]) for row in table.get_by_role("row").all()[1:]]
    assert adds == [int(row.weighted[place]) for row in cycle.priorities]
    assert cycle.totals is not None
    assert total == sum(adds) == int(cycle.totals[place])
    expect(table.get_by_text("same for all")).to_have_count(
        sum(len(set(row.score.tolist())) == 1 for row in cycle.priorities)
    )
    # A node that the predicates stopped has no column; the chosen one's is shown instead.
    panel = opened(page, shop, "&node=general-1")
    expect(panel).to_contain_text("general-1 has no scores, because it did not pass the predicates.")
    expect(panel.get_by_role("table", name=re.compile(f"total of {cycle.node}$"))).to_be_visible()


def priorities_work_by_keyboard(page: Page, panel: Locator) -> None:
    """Arrows reach a header, Enter opens its priority; in the table below the focus stays where it was."""
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
    expect(panel.get_by_role("button", name="A1 SelectorSpread")).to_be_focused()


def test_where_nothing_was_ranked_the_tab_says_why(page: Page, site: Stack) -> None:
    """With one node that fits, and with none, there is no matrix but the reason and the way to Predicates."""
    text = """
{apiVersion: v1, kind: Node, metadata: {name: one}, status: {allocatable: {cpu: "1", memory: 1Gi, pods: "9"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a},
 spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b},
 spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
"""
    bench = Workbench(page).open(share(site, text) + "?step=1&tab=priorities").at(1)
    panel = bench.panel("Priorities")
    expect(panel).to_contain_text("Priorities were not run, because only one node fits.")
    bench.goto(2)
    expect(panel).to_contain_text("There was nothing to rank.")
    panel.get_by_role("button", name="See what removed the nodes").click()
    bench.is_on("Predicates")


def test_large_totals_are_read_as_differences(page: Page, site: Stack) -> None:
    """Cards and the matrix show what exceeds the least total, and the full figure stays in the table."""
    address = share(site, example_text("first-cycle"))
    bench = Workbench(page).open(f"{address}?step=1&tab=priorities").at(1)
    totals = bench.page.evaluate("[...podstep.view.facts.totals.values()]")
    assert min(totals) > 10_000, totals
    assert max(totals) > min(totals), totals
    scores = page.locator(".node .score:not(:empty)")
    shown = {*scores.locator("span").all_inner_texts()} - {""}
    assert shown == {f"+{total - min(totals):,}" for total in totals}
    best = page.locator(".node .score.best")
    expect(best).to_have_attribute("title", f"score {max(totals):,}")
    cell = page.locator(".scores td.total").first
    expect(cell).to_have_text(f"{max(totals):,}")
    above = cell.evaluate("cell => getComputedStyle(cell, '::after').content")
    assert above == f'"+{max(totals) - min(totals):,}"'


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
