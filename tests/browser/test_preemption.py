"""The Preemption tab: who had to go, pod by pod, and which criterion picked the node."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import turned
from tests.browser.pages import Workbench, becomes, example_text, share, show, texts, wide
from tests.services.stack import Stack


@pytest.fixture(scope="module")
def making_room(site: Stack) -> str:
    """The address of the example in which a critical pod fits nowhere."""
    return share(site, example_text("making-room"), "Making room")


def test_the_tab_says_who_has_to_go_and_why(page: Page, making_room: str) -> None:
    """Of the cycle's preemption: candidates, dry runs, criteria, and nodes where nothing helps."""
    # The story links to the tab; its table has the chosen node first and each other with what dropped
    # it.
    bench = Workbench(page).open(making_room).step()
    expect(bench.inspect.get_by_role("tab", name="Preemption")).to_contain_text("1")
    bench.tab("Story").get_by_role("button", name="Preemption", exact=True).click()
    bench.is_on("Preemption")
    assert "tab=preemption" in page.url
    panel = bench.panel("Preemption")
    expect(panel).to_contain_text("report-4 is deleted from worker-4 to make room for checkout.")
    table = panel.get_by_role("table", name="Candidate nodes, the chosen one first")
    becomes(lambda: texts(table.get_by_role("rowheader")), [f"worker-{n}" for n in (4, 5, 3, 2, 1)])
    expect(table.get_by_role("row", name=re.compile("worker-4 .*chosen first by name"))).to_be_visible()
    expect(table.get_by_role("row", name=re.compile("worker-1 .*dropped out: fewest PDB"))).to_be_visible()
    steps = table.get_by_role("list", name="Reprieved pods, in order").get_by_role("listitem")
    becomes(
        lambda: [re.sub(r"\s+", " ", text) for text in texts(steps)],
        [
            "1 kept web-4 priority 100",
            "2 victim report-4 priority 10 with it here: Insufficient cpu",
            "3 kept logs-4 priority 10",
        ],
    )
    # Enter opens the dry run of another candidate, with the budget that its victim violates.
    opener = panel.get_by_role("button", name="Dry run on worker-1")
    opener.focus()
    page.keyboard.press("Enter")
    expect(opener).to_have_attribute("aria-expanded", "true")
    expect(panel.get_by_text("PDB db")).to_be_visible()
    page.keyboard.press("Enter")
    expect(panel.get_by_text("PDB db")).to_be_hidden()
    # Every criterion shows who stays, with the value, and who is out; the last one decided.
    table = bench.tab("Preemption").get_by_role("table", name=re.compile("^The criteria in turn"))
    rows = [re.sub(r"\s+", " ", text) for text in texts(table.locator("tbody").get_by_role("row"))]
    assert len(rows) == 6
    assert re.search(r"fewest PDB violations .*worker-2, .*0 violations .*worker-1 1 violation", rows[1])
    assert re.search(r"first by name decided .*worker-4 .*worker-5", rows[5])
    struck = table.locator("s")
    becomes(lambda: texts(struck), ["worker-1", "worker-2", "worker-3", "worker-5"])
    struck.first.get_by_role("button", name="worker-1").click()
    expect(bench.stage.get_by_role("heading", name="worker-1")).to_be_visible()
    # Each reason says of how many nodes; a click shows them on the stage.
    group = bench.tab("Preemption").get_by_role("listitem").filter(has_text="deleting pods does not resolve")
    expect(group).to_contain_text("taints that the pod didn't tolerate")
    group.get_by_role("button", name="1 node", exact=True).click()
    expect(bench.node("gpu-1")).to_have_class(re.compile(r"\blit\b"))
    expect(bench.node("edge-1")).not_to_have_class(re.compile(r"\blit\b"))
    # The empty tab says why there was none and goes to the cycle that has one.
    bench.step()
    expect(panel).to_contain_text("A node was found for default/checkout")
    panel.get_by_role("button", name="Last cycle with one: #1").click()
    bench.at(1)
    expect(panel.get_by_role("table")).to_have_count(2)


def test_it_is_read_on_a_phone_and_by_everyone(
    phone: Page, accessible: Callable[[Page], None], making_room: str
) -> None:
    """At 390 px nothing is cut off at the side, and the tab keeps to WCAG."""
    Workbench(phone).open(f"{making_room}?step=1&tab=preemption").at(1)
    panel = phone.locator(".preemption-tab")
    expect(panel).to_contain_text("Where it cannot help")
    assert wide(phone) <= 0
    assert panel.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    accessible(phone)


def test_names_stay_whole(page: Page, making_room: str) -> None:
    """Neither the pod above the stage nor a node or victim in the table is cut or broken at its hyphen."""
    Workbench(page).open(f"{making_room}?step=1&tab=preemption").at(1)
    names = page.locator(".candidates :is(.candidate, .victims) .link")
    pod = page.get_by_role("main", name="Stage").get_by_role("button", name="checkout", exact=True).first
    for size in turned(page):
        show(page, "Inspect")
        expect(names.filter(has_text="report-4").first).to_be_visible()
        lines = names.evaluate_all(
            "l => l.filter(e => e.offsetHeight)"
            ".map(e => Math.round(e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight)))"
        )
        assert set(lines) == {1}, size
        show(page, "Stage")
        expect(pod).to_be_visible()
        assert pod.locator("b").evaluate("e => e.scrollWidth - e.clientWidth") <= 0, size
