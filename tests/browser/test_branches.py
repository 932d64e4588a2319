"""Branches on the page: made at a step, listed as a tree, compared, renamed, deleted and switched."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, share, wide
from tests.browser.test_edit import CLUSTER
from tests.services.stack import Stack


@pytest.fixture(scope="module")
def cluster(site: Stack) -> str:
    """The address of a shared cluster: six pods go to three nodes in turn."""
    return share(site, CLUSTER, "Three nodes")


def branched(page: Page, address: str, index: int) -> Workbench:
    """Branch a source at a step; return the copy, which stands at that step."""
    bench = Workbench(page).open(address).step(index)
    bench.build.get_by_role("button", name="Branch here").click()
    page.wait_for_url("**/p/**")
    return bench.wait().at(index)


def tree(bench: Workbench) -> Locator:
    """Return the tree of branches."""
    return bench.build.get_by_role("treegrid", name="Branches")


def cordon(page: Page, bench: Workbench, node: str) -> None:
    """Add an event that cordons a node after the cycle on screen."""
    bench.build.get_by_role("button", name="Event", exact=True).click()
    form = page.get_by_role("dialog", name="Add an event")
    form.get_by_label("Node", exact=True).fill(node)
    form.get_by_role("button", name="Add the event").click()
    expect(form).to_have_count(0)
    expect(bench.build.get_by_role("listitem").filter(has_text=f"patch Node {node}")).to_be_visible()


def test_a_branch_is_made_at_the_step_and_compared_with_its_parent(page: Page, cluster: str) -> None:
    """It opens there; what was changed, how many are placed, and where it parts are reported."""
    bench = branched(page, cluster, 2)
    rows = tree(bench).get_by_role("row")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("Three nodes")
    here = rows.nth(1)
    expect(here).to_have_attribute("aria-current", "true")
    expect(here).to_contain_text("from cycle 2")
    expect(here).to_contain_text("Every cycle ends as in the parent.")
    cordon(page, bench, "n2")
    expect(here).to_contain_text("after 1.2: patch Node n2: spec.unschedulable true")
    expect(here).to_contain_text("6 placed, 0 pending")
    expect(here).to_contain_text(
        re.compile(r"First different: cycle \d: web-\S+|First different: cycle \d: default/")
    )
    here.get_by_role("button", name=re.compile("^To cycle")).click()
    page.wait_for_function("() => podstep.playback.index > 2")
    here.hover()
    here.get_by_role("button", name=re.compile("^Compare with its parent")).click()
    beside = page.get_by_role("dialog", name=re.compile("beside its parent"))
    expect(beside.get_by_role("row", name="pods placed 6 6")).to_be_visible()


def test_branches_of_branches_are_a_tree_to_switch_in(page: Page, cluster: str) -> None:
    """A branch of a branch hangs under it; another is opened at the same step."""
    bench = branched(page, cluster, 2)
    first = page.url.split("?")[0]
    bench.step()
    page.locator("[data-deck]").get_by_role("button", name="Branch here").click()
    page.wait_for_url(lambda url: "/p/" in url and not url.startswith(first))
    bench.wait().at(3)
    levels = tree(bench).get_by_role("row").evaluate_all("rows => rows.map(row => row.ariaLevel)")
    assert levels == ["1", "2", "3"]
    tree(bench).get_by_role("link", name="Three nodes, from cycle 2").click()
    page.wait_for_url(f"{first}?**")
    bench.wait().at(3)


def test_a_branch_is_renamed_and_deleted_by_keyboard(page: Page, cluster: str) -> None:
    """Its name is the draft's title; of a deleted one the children stay; its page becomes the parent's."""
    bench = branched(page, cluster, 1)
    own = tree(bench).get_by_text("Three nodes, from cycle 1", exact=True)
    expect(own).to_be_visible()
    expect(tree(bench)).to_contain_text("Every cycle ends as in the parent.")
    tree(bench).get_by_role("link", name="Three nodes", exact=True).focus()
    page.keyboard.press("ArrowDown")
    expect(own).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    naming = page.get_by_role("dialog", name="Rename the branch")
    naming.get_by_label("Name of the branch").fill("Fewer nodes")
    page.keyboard.press("Enter")
    expect(tree(bench).get_by_text("Fewer nodes", exact=True)).to_be_visible()
    expect(page.get_by_label("Title of this draft")).to_have_value("Fewer nodes")
    bench.build.get_by_role("button", name="Branch here").click()
    page.wait_for_url(lambda url: "/p/" in url)
    expect(page.get_by_label("Title of this draft")).to_have_value("Fewer nodes, from cycle 1")
    bench.wait()
    tree(bench).get_by_role("link", name="Fewer nodes", exact=True).focus()
    page.keyboard.press("Delete")
    asked = page.get_by_role("dialog", name="Delete Fewer nodes?")
    expect(asked).to_contain_text("1 branch of it stays")
    page.keyboard.press("Enter")
    expect(tree(bench).get_by_role("row")).to_have_count(2)
    page.keyboard.press("End")
    page.keyboard.press("Delete")
    page.get_by_role("dialog", name=re.compile("^Delete Fewer nodes, from")).get_by_role(
        "button", name="Delete it"
    ).click()
    page.wait_for_url(lambda url: cluster in url)


def test_branches_on_a_phone_and_for_everybody(
    phone: Page, cluster: str, accessible: Callable[[Page], None]
) -> None:
    """Nothing is wider than a phone; axe finds nothing to complain about."""
    bench = Workbench(phone).open(cluster)
    phone.get_by_role("button", name="Build").click()
    bench.build.get_by_role("button", name="Branch here").click()
    phone.wait_for_url("**/p/**")
    bench.wait()
    phone.get_by_role("button", name="Build").click()
    expect(tree(bench)).to_contain_text("Every cycle ends as in the parent.")
    assert wide(phone) <= 0
    accessible(phone)
