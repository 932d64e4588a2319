"""Ask: a cluster at rest opens with answers, which lead to the branch at the step that decided."""

from __future__ import annotations

import re
from collections.abc import Callable

import yaml
from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, share, wide
from tests.core.audit.clusters import node, orphan
from tests.services.stack import Stack

SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37"}


#: Of a ReplicaSet that is not there: nobody makes another in place of one that is lost.
CALM = yaml.safe_dump_all(
    (SETTINGS, node("n1"), node("n2"), *(orphan(f"web-{n}", f"n{1 + n % 2}", "1500m") for n in range(4)))
)


def answered(page: Page) -> None:
    """Wait until all answers are there."""
    expect(page.locator("button", has_text="Ask again")).to_have_count(1)


def test_a_cluster_at_rest_opens_with_answers(
    page: Page, site: Stack, accessible: Callable[[Page], None]
) -> None:
    """They come by themselves, can be narrowed, and one opens the branch in which a pod finds no place."""
    page.goto(share(site, CALM, "Calm"))
    tab = page.locator(".ask-tab")
    expect(tab.locator(".ask-row").first).to_contain_text("No pod is pending")
    answered(page)
    accessible(page)
    field = tab.get_by_label("Filter the answers")
    field.fill("no such thing")
    expect(tab.get_by_text("No answer matches.")).to_be_visible()
    tab.get_by_role("button", name="Show all of them").click()
    tab.get_by_role("button", name=re.compile("At risk \\d")).click()
    lost = tab.locator(".ask-row", has_text="If node n1 is lost, 2 pods are gone for good.")
    expect(lost).to_contain_text("ReplicaSet default/web-7 of default/web-0 is not in the bundle")
    lost.get_by_role("button", name="Open the branch at its end").click()
    page.wait_for_url("**/p/**")
    Workbench(page).wait()
    expect(page.get_by_role("tabpanel", name="Story")).to_contain_text("n1")


def test_a_pasted_pod_is_counted_on_a_phone(phone: Page, site: Stack) -> None:
    """The answers are the first thing there, too; a mistake of the text is named with its line."""
    phone.goto(share(site, CALM, "Calm on a phone"))
    answered(phone)
    tab = phone.locator(".ask-tab")
    expect(tab.get_by_text("No pod is pending")).to_be_visible()
    assert wide(phone) <= 0
    tab.get_by_text("How many of a pod fit?").click()
    tab.get_by_label("How many are wanted").fill("9")
    tab.get_by_role("button", name="Count").click()
    expect(tab.locator(".ask-pod .ask-row")).to_contain_text(
        "a node like n1 (cpu 4, memory 64Gi): 1 more node"
    )
    tab.get_by_label("A Pod, or a workload").fill("kind: Pod\nspec: {containers: 3}")
    tab.get_by_role("button", name="Count").click()
    expect(tab.get_by_role("alert")).to_contain_text("Line")
