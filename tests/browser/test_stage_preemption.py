"""The stage in a cycle with preemption: the node made room on, the victims struck out, the pod that waits."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Workbench, example_text, share
from tests.services.stack import Stack

pytestmark = pytest.mark.browser


def test_the_nominated_node_shows_who_left_and_who_comes(page: Page, site: Stack) -> None:
    """The card tells for whom it is nominated instead of a reason that no longer holds."""
    bench = Workbench(page).open(f"{share(site, example_text('making-room'))}?step=1").at(1)
    node = bench.node("worker-4")
    expect(node).to_contain_text("nominated for checkout, 1 victim deleted")
    expect(node).not_to_contain_text("Insufficient cpu")
    expect(node.locator(".victim")).to_have_attribute("title", "report-4, deleted by this cycle")
    expect(node.locator(".ghost")).to_have_attribute("title", "checkout, nominated to this node")
    expect(bench.node("worker-5").locator(".victim, .ghost")).to_have_count(0)
    bench.step()
    expect(node.locator(".victim, .ghost")).to_have_count(0)
