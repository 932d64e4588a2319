"""What a dumped cluster recorded, beside the answer here: in the bar over the stage and in Why?."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, drafted
from tests.core.explain.test_recorded_answer import insufficient, node, pod

DUMP = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            node(),
            node("n2"),
            pod("default", "other", "100m", nodeName="n1"),
            pod("default", "same", "1900m", insufficient(2, 2)),
            pod("default", "web", "2", insufficient(2, 2)),
        ],
    }
)


def test_a_recorded_condition_stands_beside_the_simulated_answer(page: Page) -> None:
    """The bar says that the dump is incomplete and which pod differs; Why? quotes the cluster."""
    bench = Workbench(page).open(drafted(page, DUMP))
    bar = bench.stage.get_by_role("group").filter(has_text="The dump is incomplete")
    expect(bar.locator("summary")).to_contain_text("1 more note")
    bar.locator("summary").click()
    entries = bar.get_by_role("listitem")
    expect(entries.nth(0)).to_contain_text("no pod of the namespace kube-system, only of default")
    expect(entries.nth(1)).to_contain_text("here the pod is placed on n2")
    expect(entries.nth(1)).to_contain_text("Likely cause: the dump has no pod of the namespace kube-system")
    entries.nth(1).get_by_role("button", name="Why?").click()
    quoted = (
        page.get_by_role("dialog")
        .get_by_role("figure")
        .filter(has_text="Recorded by the cluster that was dumped")
    )
    expect(quoted).to_contain_text(insufficient(2, 2))
    expect(quoted).to_contain_text("Differs: here the pod")


def test_the_story_quotes_the_cluster_beside_the_simulated_event(page: Page) -> None:
    """Both are labelled, and neither is taken for what a kubectl command printed."""
    bench = Workbench(page).open(drafted(page, DUMP) + "?step=2")
    figures = bench.panel("Story").get_by_role("figure")
    expect(figures.nth(0)).to_contain_text("Simulated event of pod web in default")
    expect(figures.nth(1)).to_contain_text("Recorded by the cluster that was dumped")
    expect(figures.nth(1)).to_contain_text(insufficient(2, 2))
