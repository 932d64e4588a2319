"""The Policy tab of a draft that v1.37 answers: its plugins, weights, arguments and feature gates by form."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, drafted, wide
from tests.browser.test_policy_editor import text_of

CLUSTER = """# two nodes, one of them half full
apiVersion: v1
kind: Node
metadata: {name: empty, labels: {topology.kubernetes.io/zone: a, kubernetes.io/hostname: empty}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: full, labels: {topology.kubernetes.io/zone: b, kubernetes.io/hostname: full}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: there}
spec: {nodeName: full, containers: [{name: c, image: i, resources: {requests: {cpu: "2", memory: 4Gi}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: new}  # goes to the emptier node
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
"""


def plugins(bench: Workbench) -> Locator:
    """Open the Policy tab and return its panel."""
    bench.build.get_by_role("tab", name="Policy").click()
    panel = bench.build.get_by_role("tabpanel", name="Policy")
    expect(panel.get_by_role("heading", name="Score plugins")).to_be_visible()
    return panel


def plugin(panel: Locator, name: str) -> Locator:
    """The row of a plugin."""
    return panel.locator(f".plugins li[data-name={name}]")


def goes_to(bench: Workbench, node: str) -> None:
    """The only pod is placed there."""
    expect(bench.tab("Story")).to_contain_text(f"new is placed on {node}")


def test_what_v1_37_runs_is_changed_by_form_and_undone(page: Page) -> None:
    """A strategy, a plugin, a default constraint; each is one step of Undo, and comments stay."""
    bench = Workbench(page).open(drafted(page, CLUSTER, as_is=True) + "?step=1").at(1)
    panel = plugins(bench)
    for absent in ("Equivalence cache", "Predicates", "Priorities"):
        expect(panel.get_by_role("heading", name=absent)).to_have_count(0)
    expect(plugin(panel, "NodeResourcesFit")).to_contain_text(re.compile(r"LeastAllocated\s*default"))
    goes_to(bench, "empty")

    panel.get_by_role("button", name="Arguments of NodeResourcesFit").click()
    form = page.get_by_role("dialog", name="Arguments of NodeResourcesFit")
    form.get_by_label("type").select_option("MostAllocated")
    form.get_by_label("weight").first.fill("101")
    form.get_by_role("button", name="Change", exact=True).click()
    wrong = form.get_by_role("alert").filter(has_text="row 1, weight must be at most 100, not 101")
    expect(wrong).to_be_visible()
    expect(form.get_by_label("weight").first).to_have_attribute("aria-invalid", "true")
    form.get_by_label("weight").first.fill("1")
    form.get_by_role("button", name="Change", exact=True).click()
    expect(form).to_be_hidden()
    expect(plugin(panel, "NodeResourcesFit")).to_contain_text("MostAllocated")
    goes_to(bench, "full")

    panel.get_by_role("switch", name="NodePorts", exact=True).click()
    expect(plugin(panel, "NodePorts")).to_contain_text("off")
    expect(bench.tab("Filter")).not_to_contain_text("NodePorts")
    panel.get_by_role("switch", name="DefaultBinder", exact=True).click()
    expect(plugin(panel, "DefaultBinder").get_by_role("alert")).to_contain_text("at least one bind plugin")
    expect(panel.get_by_role("switch", name="DefaultBinder", exact=True)).to_be_checked()

    panel.get_by_role("button", name="Arguments of PodTopologySpread").click()
    form = page.get_by_role("dialog", name="Arguments of PodTopologySpread")
    form.get_by_label("defaultingType").select_option("List")
    form.get_by_role("button", name="Add a constraint").click()
    form.get_by_label("whenUnsatisfiable").select_option("DoNotSchedule")
    form.get_by_role("button", name="Change", exact=True).click()
    expect(form).to_be_hidden()
    reported = "topology.kubernetes.io/zone ≤ 1 DoNotSchedule"
    expect(plugin(panel, "PodTopologySpread")).to_contain_text(reported)
    text_of(panel).shows(re.compile("defaultingType: List"))

    undo = bench.build.get_by_role("button", name="Undo")
    undo.click()
    expect(plugin(panel, "PodTopologySpread")).not_to_contain_text(reported)
    undo.click()
    expect(panel.get_by_role("switch", name="NodePorts", exact=True)).to_be_checked()
    goes_to(bench, "full")
    undo.click()
    expect(plugin(panel, "NodeResourcesFit")).to_contain_text("LeastAllocated")
    goes_to(bench, "empty")
    text_of(panel).shows("")


def test_weights_nodes_profiles_and_gates(page: Page) -> None:
    """What is wrong is said at the field; a default is shown as one and leads back."""
    bench = Workbench(page).open(drafted(page, CLUSTER, as_is=True) + "?step=1").at(1)
    panel = plugins(bench)
    weight = panel.get_by_role("spinbutton", name="Weight of NodeAffinity;")
    weight.fill("7")
    weight.press("Enter")
    panel.get_by_role("button", name="Default weight of NodeAffinity").click()
    expect(weight).to_have_value("2")
    nodes = panel.get_by_label("percentageOfNodesToScore")
    nodes.fill("300")
    nodes.press("Enter")
    expect(panel.get_by_role("alert")).to_contain_text("from 0 to 100, where 0 is adaptive")
    nodes.fill("40")
    nodes.press("Enter")
    expect(panel.get_by_role("button", name="Default of percentageOfNodesToScore")).to_be_visible()
    panel.get_by_role("switch", name="TopologyAwareWorkloadScheduling").click()
    row = panel.locator("li[data-name=TopologyAwareWorkloadScheduling]")
    expect(row.get_by_role("alert")).to_contain_text("needs GenericWorkload")
    panel.get_by_role("switch", name="GenericWorkload", exact=True).click()
    expect(panel.get_by_role("switch", name="GangScheduling", exact=True)).to_be_checked()
    panel.get_by_role("button", name="Profile", exact=True).click()
    choice = panel.get_by_role("group", name="Profile")
    expect(choice.get_by_role("button")).to_have_count(2)
    panel.get_by_role("switch", name="ImageLocality", exact=True).click()
    expect(panel.get_by_role("switch", name="ImageLocality", exact=True)).not_to_be_checked()
    choice.get_by_role("button", name="default-scheduler").click()
    expect(panel.get_by_role("switch", name="ImageLocality", exact=True)).to_be_checked()
    panel.locator("summary[data-control='points:NodePorts']").click()
    panel.get_by_role("switch", name="NodePorts at filter").click()
    expect(plugin(panel, "NodePorts")).to_contain_text("off at filter")


def test_added_affinity_is_written_by_rows(page: Page) -> None:
    """It keeps pods off the nodes that it does not select."""
    bench = Workbench(page).open(drafted(page, CLUSTER, as_is=True) + "?step=1").at(1)
    panel = plugins(bench)
    panel.get_by_role("button", name="Arguments of NodeAffinity").click()
    form = page.get_by_role("dialog", name="Arguments of NodeAffinity")
    form.get_by_role("button", name="Add a required term").click()
    form.get_by_label("label key").fill("topology.kubernetes.io/zone")
    form.get_by_label("values").fill("b")
    form.get_by_role("button", name="Change", exact=True).click()
    expect(form).to_be_hidden()
    expect(plugin(panel, "NodeAffinity")).to_contain_text("topology.kubernetes.io/zone In b")
    goes_to(bench, "full")


def test_the_form_is_accessible_and_fits_a_phone(
    visitor: Callable[..., Page], accessible: Callable[[Page], None]
) -> None:
    """WCAG 2.2 AA with everything open and in a form; no wider than a phone."""
    page = visitor(color_scheme="dark")
    panel = plugins(Workbench(page).open(drafted(page, CLUSTER, as_is=True)))
    closed = panel.locator("details:not([open]) > summary")
    for _ in range(closed.count()):
        closed.first.click()
    accessible(page)
    panel.get_by_role("button", name="Arguments of NodeResourcesFit").click()
    expect(page.get_by_role("dialog", name="Arguments of NodeResourcesFit")).to_be_visible()
    accessible(page)
    phone = visitor(size=(390, 844), color_scheme="light")
    Workbench(phone).open(drafted(phone, CLUSTER, as_is=True))
    phone.get_by_role("button", name="Build", exact=True).click()
    plugins(Workbench(phone))
    assert wide(phone) == 0
