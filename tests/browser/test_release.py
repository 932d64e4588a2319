"""kube-scheduler v1.37 in the workbench, on a phone."""

from __future__ import annotations

import re
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
