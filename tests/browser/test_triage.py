"""After a paste: what is pending, and the cluster replayed from empty."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench
from tests.playground.test_triage import CLUSTER, NODE

ZONED = "---".join(
    NODE.replace("n1", name).replace("uid:", f"labels: {{topology.kubernetes.io/zone: {zone}}}, uid:")
    for name, zone in (("n1", "a"), ("n2", "b"))
)
UNREAD = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n"
#: A dump of two zones, with pods that stay pending.
PENDING = ZONED + CLUSTER.removeprefix(NODE) + UNREAD


def test_a_pasted_cluster_is_replayed_from_empty(page: Page) -> None:
    """What is pending comes first; a branch has every pod waiting that no daemon runs."""
    page.goto("/")
    page.get_by_label("Manifests").fill(PENDING)
    page.get_by_role("button", name="Open the workbench").click()
    Workbench(page).wait()
    expect(page.get_by_role("heading", name="4 pods stay pending")).to_be_visible()
    before = page.url.partition("?")[0]
    page.get_by_role("button", name="Replay from empty").click()
    page.wait_for_url(lambda url: url.partition("?")[0] != before)
    Workbench(page).wait()
    expect(page.get_by_text("6 pods had no node; the scheduler places 2.")).to_be_visible()
