"""After a paste: what is pending and why, and each change that can be tried from there."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench
from tests.playground.test_triage import CLUSTER, NODE

ZONED = "---".join(
    NODE.replace("n1", name).replace("uid:", f"labels: {{topology.kubernetes.io/zone: {zone}}}, uid:")
    for name, zone in (("n1", "a"), ("n2", "b"))
)
DUMP = ZONED + CLUSTER.removeprefix(NODE)
UNREAD = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n"


@pytest.fixture
def pasted(page: Page) -> Page:
    """Paste a dump of two zones, with pods that stay pending, and open it."""
    page.goto("/")
    page.get_by_label("Manifests").fill(DUMP + UNREAD)
    page.get_by_role("button", name="Open the workbench").click()
    Workbench(page).wait()
    expect(page.get_by_role("heading", name="4 pods stay pending")).to_be_visible()
    return page


def test_causes_lead_to_why(pasted: Page) -> None:
    """Each pod of a cause has its explanation; a kind that changes no answer is folded."""
    pasted.locator(".triage-causes").get_by_role("button", name="Why?").first.click()
    expect(pasted.get_by_role("heading", name=re.compile("Why is big-1 pending"))).to_be_visible()
    pasted.keyboard.press("Escape")
    expect(pasted.get_by_text("1 kind that scheduling does not read")).to_be_visible()
    expect(pasted.get_by_text("1 ConfigMap is ignored")).to_be_hidden()


def test_a_node_is_drained(pasted: Page) -> None:
    """The list has the nodes, those with pods first; the form says what is evicted."""
    pasted.get_by_role("button", name="Drain…").click()
    pasted.get_by_role("menuitem").first.click()
    box = pasted.get_by_role("dialog", name="Drain: node n1")
    expect(box.get_by_role("status")).to_contain_text("the drain of node n1 fails before anything is evicted")


def test_a_zone_is_lost_in_a_branch(pasted: Page) -> None:
    """What if compares the branch with the draft."""
    pasted.get_by_role("button", name="Lose a zone…").click()
    pasted.get_by_role("menuitem", name="zone a").click()
    box = pasted.get_by_role("dialog", name=re.compile("zone a"))
    expect(box.get_by_role("status")).to_contain_text("stops answering")
    box.get_by_role("button", name="What if…").click()
    expect(pasted.get_by_role("dialog", name=re.compile("zone a"))).to_contain_text("pods pending5 (+1)")


def test_a_pod_is_added(pasted: Page) -> None:
    """The form of a pod opens, and its pod is scheduled with the others."""
    pasted.get_by_role("button", name="Add a pod").click()
    box = pasted.get_by_role("dialog", name=re.compile("Pod"))
    box.get_by_role("button", name="Add", exact=True).click()
    expect(pasted.get_by_role("heading", name="4 pods stay pending")).to_be_visible()
    expect(pasted.get_by_text("6 pods had no node; the scheduler places 2.")).to_be_visible()


def test_the_cluster_is_replayed_from_empty(pasted: Page) -> None:
    """A branch has every pod waiting that no daemon runs."""
    before = pasted.url.partition("?")[0]
    pasted.get_by_role("button", name="Replay from empty").click()
    pasted.wait_for_url(lambda url: url.partition("?")[0] != before)
    Workbench(pasted).wait()
    expect(pasted.get_by_text("6 pods had no node; the scheduler places 2.")).to_be_visible()
