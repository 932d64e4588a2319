"""The Policy tab of a draft that v1.37 answers."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Workbench, drafted, wide

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


def test_the_form_is_accessible_and_fits_a_phone(
    visitor: Callable[..., Page], accessible: Callable[[Page], None]
) -> None:
    """WCAG 2.2 AA with everything open and in a form, whose change is shown; no wider than a phone."""
    page = visitor(color_scheme="dark")
    panel = plugins(Workbench(page).open(drafted(page, CLUSTER, as_is=True)))
    closed = panel.locator("details:not([open]) > summary")
    for _ in range(closed.count()):
        closed.first.click()
    accessible(page)
    panel.get_by_role("button", name="Arguments of NodeResourcesFit").click()
    form = page.get_by_role("dialog", name="Arguments of NodeResourcesFit")
    expect(form).to_be_visible()
    accessible(page)
    form.get_by_label("type").select_option("MostAllocated")
    form.get_by_role("button", name="Change", exact=True).click()
    expect(panel.locator(".plugins li[data-name=NodeResourcesFit]")).to_contain_text("MostAllocated")
    phone = visitor(size=(390, 844), color_scheme="light")
    Workbench(phone).open(drafted(phone, CLUSTER, as_is=True))
    phone.get_by_role("button", name="Build", exact=True).click()
    plugins(Workbench(phone))
    assert wide(phone) == 0
