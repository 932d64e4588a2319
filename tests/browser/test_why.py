"""Why?: find out why a pod is pending, and fix it in a copy with one click."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, example_text, share, wide
from tests.services.stack import Stack

SLUG = "reading-the-message"
TWO_REASONS = """
apiVersion: podstep/v1
kind: SimulationSettings
scheduler: v1.37
---
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: 2, memory: 4Gi, pods: 9}}
---
apiVersion: v1
kind: Pod
metadata: {name: report}
spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 3}}}]}
"""


@pytest.fixture
def address(site: Stack) -> str:
    """A pod that five nodes refuse, each for a reason of its own."""
    return share(site, example_text(SLUG), "Reading the message")


def panel(page: Page) -> Locator:
    """Return the panel once its answer is there."""
    found = page.get_by_role("dialog")
    expect(found.get_by_text("default/report", exact=True)).to_be_visible()
    return found


def ask(page: Page, address: str) -> Locator:
    """Open the workbench at the pod's cycle and press the key."""
    Workbench(page).open(f"{address}?step=1").at(1)
    page.keyboard.press("w")
    return panel(page)


def test_find_out_why_a_pod_is_pending_and_fix_it(page: Page, address: str) -> None:
    """From the key to the reasons, to a change that was run, to a copy in which the pod is placed."""
    why = ask(page, address)
    expect(why.get_by_role("heading", name="Why is report pending?")).to_be_focused()
    expect(why).to_contain_text("0/5 nodes are available")
    expect(why.get_by_role("listitem").filter(has_text="Insufficient cpu").first).to_contain_text("2")
    first = why.get_by_role("list").last.get_by_role("listitem").first
    expect(first).to_contain_text("Uncordon node node-a")
    expect(first).to_contain_text("verified: it would then be scheduled to node-a")
    expect(first.get_by_label("Patch as YAML")).to_contain_text("unschedulable: null")
    expect(first).to_contain_text("cost 1")
    expect(
        why.get_by_text("Cost is the sum of what a change takes: 0 is a corrected name, 1 a label")
    ).to_be_visible()
    first.get_by_role("button", name="Apply in a copy").click()
    page.wait_for_url(re.compile(r"/p/[\w-]+/\?step=1&pod=default/report"))
    bench = Workbench(page).wait().at(1)
    expect(bench.node("node-a")).to_have_accessible_name(re.compile("chosen"))
    reported = page.locator("[data-toasts]").get_by_text(
        "In this copy: uncordon node node-a, and report is placed on node-a"
    )
    expect(reported).to_be_visible()
    expect(bench.stage).to_be_focused()
    notice, timeline = reported.bounding_box(), bench.timeline.bounding_box()
    assert notice is not None
    assert timeline is not None
    assert notice["y"] + notice["height"] < timeline["y"]
    expect(page.get_by_label("Title of this draft")).to_have_value(
        "Reading the message: uncordon node node-a"
    )


def test_why_is_asked_where_a_pod_or_a_node_stands(page: Page, address: str) -> None:
    """A cell of the matrix, the stage, the queue and the events lead to the panel."""
    # A click on it opens the panel about that node, with numbers, and Escape comes back to the cell.
    bench = Workbench(page).open(f"{address}?step=1").at(1)
    cell = bench.tab("Predicates").get_by_role(
        "gridcell", name=re.compile("GeneralPredicates: Insufficient cpu$")
    )
    cell.first.click()
    why = panel(page)
    expect(why.get_by_role("heading", name=re.compile(r"Why is report not on node-[de]\?"))).to_be_visible()
    expect(why).to_contain_text("wants 4 cpu; 2 of 2 free, 2 short")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(cell.first).to_be_focused()
    # What is selected on the stage has a button that asks about it; so have the queue and the events.
    bench.node("node-b").click()
    page.get_by_role("button", name="Why not here?").click()
    expect(panel(page)).to_contain_text("taint team=payments:NoSchedule is not tolerated")
    page.keyboard.press("Escape")
    for tab, name in (
        ("Queue", "Why does report wait?"),
        ("Events", re.compile("Why was report not scheduled")),
    ):
        bench.tab(tab).get_by_role("button", name=name).click()
        expect(panel(page).get_by_role("heading", name="Why is report pending?")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_schedulers_own_answer_comes_before_what_would_refuse_as_well(page: Page, site: Stack) -> None:
    """In the list of nodes as on the node that one asks about."""
    why = ask(page, share(site, TWO_REASONS, "Two reasons", as_is=True))
    expect(why).to_contain_text("had untolerated taint(s); would refuse as well: Insufficient cpu")
    why.get_by_role("button", name="Why not on n1?").click()
    expect(why.get_by_role("heading", name="Would refuse as well")).to_be_visible()
    names = why.get_by_text(re.compile("^(TaintToleration|NodeResourcesFit)$"))
    expect(names).to_have_text(["TaintToleration", "NodeResourcesFit"])


def test_the_panel_goes_on_to_nodes(page: Page, address: str) -> None:
    """A name that is not there is an error with a way on; the address reopens the panel, Back closes it."""
    # The nearest name is reported, and one goes on to all nodes.
    why = ask(page, address)
    why.get_by_label("Ask about a node").fill("nod-a")
    page.keyboard.press("Enter")
    expect(why.get_by_role("alert")).to_contain_text("did you mean 'node-a'?")
    why.get_by_role("button", name="Ask about all nodes").click()
    expect(why.get_by_role("heading", name="Why is report pending?")).to_be_visible()
    # A link to what is asked opens the panel; Back goes where one came from.
    why = ask(page, address)
    why.get_by_role("button", name="Why not on node-b?").click()
    expect(why.get_by_role("heading", name="Why is report not on node-b?")).to_be_visible()
    expect(page).to_have_url(re.compile(r"why=default/report&on=node-b$"))
    link = page.url
    page.go_back()
    expect(why.get_by_role("heading", name="Why is report pending?")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto(link)
    expect(panel(page).get_by_role("heading", name="Why is report not on node-b?")).to_be_visible()


def test_it_fills_a_phone(phone: Page, address: str) -> None:
    """The panel is the whole screen, and nothing sticks out."""
    box = ask(phone, address).bounding_box()
    assert box is not None
    assert (box["x"], box["width"]) == (0, 390)
    assert wide(phone) == 0
    assert phone.locator(".why-body").evaluate("e => e.scrollWidth - e.clientWidth") == 0
