"""A cluster under v1.37 lives: what is done to it on the page brings its controllers into the run."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, drafted
from tests.browser.test_events_editor import form

CLUSTER = "---\n".join(
    f"""apiVersion: v1
kind: Node
metadata: {{name: {name}}}
status:
  allocatable: {{cpu: "2", memory: 8Gi, pods: "10"}}
  conditions: [{{type: Ready, status: "True"}}]
"""
    for name in ("n1", "n2", "n3")
)
WEB = """---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
"""


@pytest.mark.parametrize(("what", "holding"), [("Delete the node", 4), ("Fail", 6)])
def test_pods_of_a_lost_node_are_replaced_and_counted(page: Page, what: str, holding: int) -> None:
    """Four of five have room on the other nodes, one is pending; the draft was not in virtual time before.

    The two of a node that has failed are Terminating, and hold it until it answers again.
    """
    bench = Workbench(page).open(drafted(page, CLUSTER + WEB, as_is=True))
    assert not page.evaluate("podstep.playback.timed")
    bench.goto(5)
    node = str(page.evaluate("podstep.playback.nodes.names[podstep.playback.current.node]"))
    box = form(page, bench)
    box.get_by_label("What happens").select_option(label=what)
    box.get_by_label("Node", exact=True).fill(node)
    box.get_by_role("button", name="Add the event").click()
    expect(box).to_have_count(0)
    page.wait_for_function("() => podstep.playback.timed && podstep.playback.complete")
    bench.wait()
    page.keyboard.press("End")
    expect(bench.panel("Story")).to_contain_text(f"{holding} pods hold a node")
    expect(bench.panel("Story")).to_contain_text("in the Queue")
    bench.goto(2).goto(int(page.evaluate("podstep.playback.cycles")))
    expect(bench.tab("Filter").locator(".ladder")).to_contain_text("NodeResourcesFit")
