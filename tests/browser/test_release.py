"""kube-scheduler v1.37 in the workbench: it is named, its plugins and hints are shown, and it is switched."""

from __future__ import annotations

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
    expect(page.locator(".phases")).to_contain_text("filter")
    predicates = bench.tab("Filter")
    expect(predicates.get_by_role("heading", name="Filter plugins")).to_be_visible()
    expect(predicates.locator(".ladder")).to_contain_text("NodeResourcesFit")
    expect(predicates.locator(".ladder")).to_contain_text("skipped")
    priorities = bench.tab("Score")
    expect(priorities).to_contain_text("NodeResourcesBalancedAllocation")
    expect(priorities).to_contain_text("no choice is random")
    batching = bench.tab("Batching")
    expect(batching).to_contain_text("There is no equivalence cache.")
    expect(batching).to_contain_text("without effect: PodTopologySpread has default constraints")
    bench.step().at(2)
    expect(bench.tab("Filter").locator(".ladder li.removes")).to_contain_text("NodeAffinity")
    hints = bench.tab("Hints")
    expect(hints).to_contain_text("1 pod asleep after this cycle")
    expect(hints).to_contain_text("NodeAffinity until a node with disk=nvme is added")
    bench.goto(1).at(1)


SPREAD = """---
apiVersion: v1
kind: Pod
metadata: {name: spread, labels: {app: web}}
spec:
  containers: [{name: c}]
  topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
---
apiVersion: v1
kind: Pod
metadata: {name: beside, labels: {app: web}}
spec: {nodeName: n1, containers: [{name: c}]}
---
apiVersion: podstep/v1
kind: SimulationSettings
scheduler: v1.37
"""


def test_a_spread_constraint_is_shown_by_domain(page: Page, site: Stack) -> None:
    """A bar a domain with the pods there, and Why? with the same counts."""
    bench = Workbench(page).open(share(site, CLUSTER + SPREAD, "Spread") + "?step=1&tab=predicates").at(1)
    spread = bench.panel("Filter").locator(".spread")
    expect(spread.locator("li")).to_have_count(3)
    expect(spread.locator("li.refused")).to_have_text("z11 + 1 skew 2 > 1")
    expect(spread).to_contain_text("A domain may have 1 with this pod: the fewest of a domain is 0")
    bench.panel("Filter").locator("td.fail").click()
    expect(page.get_by_role("dialog")).to_contain_text("zone=z1 would have 2 pods, this one included")
    expect(page.get_by_role("dialog")).to_contain_text("1 plugin fails")


def test_one_choice_switches_the_release(page: Page) -> None:
    """The choice at the top writes the draft's SimulationSettings and simulates it anew."""
    bench = Workbench(page).open(drafted(page, CLUSTER + PODS, "Switched") + "?step=1&tab=story").at(1)
    choice = page.get_by_label("kube-scheduler", exact=True)
    expect(choice).to_have_value("v1.11")
    expect(bench.panel("Story")).not_to_contain_text("v1.37")
    choice.select_option("v1.37")
    expect(bench.panel("Story")).to_contain_text("kube-scheduler v1.37 runs this cycle")
    expect(page.get_by_label("kube-scheduler", exact=True)).to_have_value("v1.37")
