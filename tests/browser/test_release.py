"""kube-scheduler v1.37 in the workbench: it is named, its plugins and hints are shown, and it is switched."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, drafted, share
from tests.services.stack import Stack

CLUSTER = "".join(
    f"""---
apiVersion: v1
kind: Node
metadata: {{name: n{number}, labels: {{zone: z{number}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
"""
    for number in range(3)
)
PODS = """---
apiVersion: v1
kind: Pod
metadata: {name: first}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: picky}
spec: {nodeSelector: {disk: nvme}, containers: [{name: c}]}
"""
MODERN = CLUSTER + PODS + "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.37\n"


def test_the_tabs_speak_in_plugins(page: Page, site: Stack) -> None:
    """The release at the top and in the story, the ladder of filters, scores by plugin, hints, no cache."""
    bench = Workbench(page).open(share(site, MODERN, "Today") + "?step=1&tab=story").at(1)
    expect(page.locator("[data-release]")).to_have_text("kube-scheduler v1.37")
    expect(bench.panel("Story")).to_contain_text("kube-scheduler v1.37 runs this cycle")
    predicates = bench.tab("Predicates")
    expect(predicates.get_by_role("heading", name="Filter plugins")).to_be_visible()
    expect(predicates.locator(".ladder")).to_contain_text("NodeResourcesFit")
    expect(predicates.locator(".ladder")).to_contain_text("skipped")
    priorities = bench.tab("Priorities")
    expect(priorities).to_contain_text("NodeResourcesBalancedAllocation")
    expect(priorities).to_contain_text("no choice is random")
    expect(bench.tab("Cache")).to_contain_text("There is no equivalence cache.")
    bench.step().at(2)
    expect(bench.tab("Predicates").locator(".ladder li.removes")).to_contain_text("NodeAffinity")
    hints = bench.tab("Hints")
    expect(hints).to_contain_text("1 pod asleep after this cycle")
    expect(hints).to_contain_text("NodeAffinity until a node with disk=nvme is added")
    bench.goto(1).at(1)


def test_a_bundle_that_says_nothing_is_answered_by_v1_37(page: Page) -> None:
    """The top of the workbench says so, and one choice lets v1.11 answer."""
    address = drafted(page, CLUSTER + PODS, "Plain", as_is=True)
    bench = Workbench(page).open(address + "?step=1&tab=story").at(1)
    choice = page.get_by_label("kube-scheduler", exact=True)
    expect(choice).to_have_value("v1.37")
    expect(bench.panel("Story")).to_contain_text("kube-scheduler v1.37 runs this cycle")
    choice.select_option("v1.11")
    expect(bench.panel("Story")).not_to_contain_text("v1.37")
    expect(choice).to_have_value("v1.11")


def test_a_phone_shows_and_switches_the_release(visitor: Callable[..., Page]) -> None:
    """Below the title, where it widens nothing."""
    phone = visitor(size=(390, 844))
    Workbench(phone).open(drafted(phone, CLUSTER + PODS, "Plain", as_is=True) + "?step=1").at(1)
    choice = phone.get_by_label("kube-scheduler", exact=True)
    expect(choice).to_be_visible()
    expect(choice).to_have_value("v1.37")
    choice.select_option("v1.11")
    expect(choice).to_have_value("v1.11")
    assert phone.evaluate("document.documentElement.scrollWidth") == 390


def test_the_policy_tab_shows_the_plugins_that_run_by_default(page: Page) -> None:
    """A plugin that is switched off is so in a configuration, and v1.37 goes on answering."""
    Workbench(page).open(drafted(page, CLUSTER + PODS, "Plain", as_is=True) + "?step=1").at(1)
    page.get_by_role("tab", name="Policy").click()
    panel = page.locator(".policy")
    expect(panel).to_contain_text("the default plugins of kube-scheduler v1.37")
    expect(panel).not_to_contain_text("DefaultProvider")
    panel.get_by_role("switch", name="NodePorts").last.click()
    expect(panel).to_contain_text("This scenario's KubeSchedulerConfiguration.")
    expect(page.get_by_label("kube-scheduler", exact=True)).to_have_value("v1.37")


def test_one_choice_switches_the_release(page: Page) -> None:
    """The choice at the top writes the draft's SimulationSettings and simulates it anew."""
    bench = Workbench(page).open(drafted(page, CLUSTER + PODS, "Switched") + "?step=1&tab=story").at(1)
    choice = page.get_by_label("kube-scheduler", exact=True)
    expect(choice).to_have_value("v1.11")
    expect(bench.panel("Story")).not_to_contain_text("v1.37")
    choice.select_option("v1.37")
    expect(bench.panel("Story")).to_contain_text("kube-scheduler v1.37 runs this cycle")
    expect(page.get_by_label("kube-scheduler", exact=True)).to_have_value("v1.37")
