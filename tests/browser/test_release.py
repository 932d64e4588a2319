"""kube-scheduler v1.37 in the workbench: it is named, its plugins and hints are shown, and it is switched."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, drafted, example_text, share
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
    """The release at the top and in the story, the ladder of filters, scores by plugin, hints, no cache.

    Why? speaks of plugins before there is a cycle that says which release decides.
    """
    bench = Workbench(page).open(share(site, MODERN, "Today") + "?step=0&tab=story").at(0)
    page.evaluate("podstep.view.actions.why({pod: 'default/picky', node: 'n0'})")
    expect(page.get_by_role("dialog")).to_contain_text("1 plugin fails")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    bench.step()
    expect(page.locator("[data-release]")).to_have_text("kube-scheduler v1.37")
    expect(bench.panel("Story")).to_contain_text("kube-scheduler v1.37 runs this cycle")
    expect(page.locator(".phases")).to_contain_text("filter")
    predicates = bench.tab("Filter")
    expect(predicates.get_by_role("heading", name="Filter plugins")).to_be_visible()
    expect(predicates.locator(".ladder")).to_contain_text("NodeResourcesFit")
    expect(predicates.locator(".ladder")).to_contain_text("skipped")
    priorities = bench.tab("Score")
    expect(priorities).to_contain_text("NodeResourcesBalancedAllocation")
    expect(priorities).to_contain_text("not at random")
    grid = priorities.get_by_role("grid", name="Node by plugin")
    expect(grid).to_be_visible()
    expect(priorities.get_by_role("heading", name="Node × plugin")).to_be_visible()
    expect(priorities.get_by_role("heading", name="What each plugin adds")).to_be_visible()
    expect(priorities).to_contain_text("score plugins could not tell the nodes apart")
    priorities.get_by_role("button", name=re.compile("NodeResourcesFit")).first.click()
    expect(priorities.locator(".formula")).to_contain_text("Score and NormalizeScore")
    expect(priorities.locator(".formula .ref")).to_have_attribute(
        "href", "/reference/plugins/#NodeResourcesFit"
    )
    expect(priorities).not_to_contain_text(re.compile("priorit|predicate|map|reduce", re.IGNORECASE))
    priorities.get_by_role("button", name="Plugins", exact=True).click()
    expect(priorities.get_by_role("grid", name="Plugin by node")).to_be_visible()
    batching = bench.tab("Batching")
    expect(batching).to_contain_text("Opportunistic batching")
    expect(batching).to_contain_text("without effect: PodTopologySpread has default constraints")
    bench.step().at(2)
    expect(bench.tab("Score")).to_contain_text("No node passed all filters, so there was nothing to rank.")
    expect(bench.tab("Filter").locator(".ladder li.removes")).to_contain_text("NodeAffinity")
    hints = bench.tab("Hints")
    expect(hints).to_contain_text("1 pod in the unschedulable queue after this cycle")
    expect(hints).to_contain_text("NodeAffinity until a node with disk=nvme is added")
    bench.goto(1).at(1)


def test_what_scores_do_not_mean_is_said_beside_them(page: Page, site: Stack) -> None:
    """The tab Score says that nodes were scored as empty, and its links show how each plugin scored."""
    address = share(site, example_text("extender-idle"), "Idle", as_is=True)
    panel = Workbench(page).open(address + "?step=1&tab=priorities").at(1).panel("Score")
    said = panel.locator(".surprises")
    expect(said).to_contain_text("score the nodes as if no pod ran on them and they had no image")
    said.get_by_role("button", name="ImageLocality").click()
    expect(panel.get_by_role("heading", name="A6 ImageLocality")).to_be_visible()


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


def test_long_domains_are_cut_in_their_middle(visitor: Callable[..., Page], site: Stack) -> None:
    """So that they can be distinguished on a phone."""
    page = visitor((390, 844))
    text = re.sub(r"zone: z(\d)", r"zone: datacentre-of-the-north-z\1", CLUSTER) + SPREAD
    Workbench(page).open(share(site, text, "Long") + "?step=1&tab=predicates").at(1)
    names = page.locator(".spread-domains .mono > [aria-hidden]")
    expect(names).to_have_count(3)
    texts = names.all_text_contents()
    assert len(set(texts)) == 3 and all("…" in text for text in texts), texts
    assert page.locator(".spread-domains .mono").evaluate_all(
        "all => all.every((one) => one.scrollWidth <= one.clientWidth)"
    )


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


def test_one_choice_switches_the_release(page: Page) -> None:
    """A bundle that says nothing is answered by v1.37; the choice at the top lets v1.11 answer, and back.

    The Policy tab has the plugins that run by default: one that is switched off is so in a configuration.
    """
    address = drafted(page, CLUSTER + PODS, "Plain", as_is=True)
    bench = Workbench(page).open(address + "?step=1&tab=story").at(1)
    choice = page.get_by_label("kube-scheduler", exact=True)
    story = bench.panel("Story")
    expect(choice).to_have_value("v1.37")
    expect(story).to_contain_text("kube-scheduler v1.37 runs this cycle")
    choice.select_option("v1.11")
    expect(story).not_to_contain_text("v1.37")
    expect(choice).to_have_value("v1.11")
    choice.select_option("v1.37")
    expect(story).to_contain_text("kube-scheduler v1.37 runs this cycle")
    expect(choice).to_have_value("v1.37")

    page.get_by_role("tab", name="Policy").click()
    panel = page.locator(".policy")
    expect(panel).to_contain_text("the default plugins of kube-scheduler v1.37")
    expect(panel).not_to_contain_text("DefaultProvider")
    panel.get_by_role("switch", name="NodePorts").last.click()
    expect(panel).to_contain_text("This scenario's KubeSchedulerConfiguration.")
    expect(choice).to_have_value("v1.37")
