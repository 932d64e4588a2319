"""Weights live, in the tab Priorities: what the browser works out is what the engine decides."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, becomes, share
from tests.browser.weights import give, opened, weights_of
from tests.javascript.recorded import TEXT, cluster
from tests.services.stack import Stack


@pytest.fixture(scope="module")
def shared(site: Stack) -> str:
    """The address of the shared cluster."""
    return share(site, TEXT, "Weights")


def test_many_nodes_are_weighed_at_once(page: Page, site: Stack) -> None:
    """With 2,000 nodes a move is worked out and drawn in 16 ms; of a busy machine's moves one is as quick."""
    text = cluster(2000, 2)
    part = opened(page, share(site, text, "Many"), 1)
    field = part.get_by_role("spinbutton", name="Weight of LeastRequestedPriority")

    def took(weight: int) -> float:
        page.evaluate("podstep.weighing = null")
        field.fill(str(weight))
        page.wait_for_function("() => podstep.weighing")
        return float(page.evaluate("podstep.weighing.took"))

    assert any(took(weight) < 160 for weight in range(2, 40))


def test_weights_are_applied_in_a_copy_and_from_the_start(page: Page, shared: str) -> None:
    """Of what is shared a draft is made with the weights; a draft's own text changes, and Undo leads back."""
    part = opened(page, shared, 2)
    give(part, {"LeastRequestedPriority": 7})
    part.get_by_role("button", name="Apply in a copy").click()
    page.wait_for_url("**/p/**")
    bench = Workbench(page).wait().at(2)
    becomes(
        lambda: page.evaluate(
            "podstep.playback.policy.priorities.find(([name]) => name.startsWith('Least'))[1]"
        ),
        7,
    )
    bench.is_on("Priorities")
    part = weights_of(page)
    give(part, {"LeastRequestedPriority": 0, "NodeAffinityPriority": 4})
    part.get_by_role("button", name="Apply from the start").click()
    expect(
        page.get_by_text("From the start: LeastRequestedPriority off, NodeAffinityPriority weight 4.").first
    ).to_be_visible()
    bench.wait()
    page.wait_for_function(
        """() => { const reported = podstep.playback.policy.priorities.join();
            return reported.includes("NodeAffinityPriority,4") &&
                !reported.includes("LeastRequestedPriority"); }"""
    )
    page.get_by_role("button", name="Undo").first.click()
    page.wait_for_function(
        "() => podstep.playback.policy.priorities.some(([name, w]) => name.startsWith('Least') && w === 7)"
    )
