"""The stage in a cycle with preemption: the node made room on, the victims struck out, the pod that waits."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.editors import yaml_of
from tests.browser.pages import Workbench, drafted, example_text
from tests.e2e.bundles import small

pytestmark = pytest.mark.browser


def test_the_nominated_node_shows_who_left_and_who_comes(page: Page) -> None:
    """The card tells for whom it is nominated instead of a reason that no longer holds."""
    bench = Workbench(page).open(f"{drafted(page, example_text('making-room'))}?step=1").at(1)
    node = bench.node("worker-4")
    expect(node).to_contain_text("nominated for checkout, 1 victim deleted")
    expect(node).not_to_contain_text("Insufficient cpu")
    expect(node.locator(".victim")).to_have_attribute("title", "report-4, deleted by this cycle")
    expect(node.locator(".ghost")).to_have_attribute("title", "checkout, nominated to this node")
    expect(bench.node("worker-5").locator(".victim, .ghost")).to_have_count(0)
    bench.step()
    expect(node.locator(".victim, .ghost")).to_have_count(0)
    an_edit_leaves_the_colours(bench, example_text("making-room"))


def an_edit_leaves_the_colours(bench: Workbench, text: str) -> None:
    """What preempts stays coloured by priority while it is computed anew; what no longer does is not."""
    page = bench.page
    colour = bench.stage.get_by_label("Colour", exact=True)
    expect(colour).to_have_value("priority")
    page.evaluate("""() => { window.looks = []; window.opened = 0;
        podstep.view.store.look.subscribe(({ colour }) => looks.push(colour));
        podstep.playback.store.scenario.subscribe(() => { opened += 1; });
        looks.length = opened = 0; }""")
    yaml = yaml_of(bench).shows(re.compile("kind"))
    apply = bench.build.get_by_role("button", name="Apply", exact=True)
    yaml.fill(f"{text}\n# a note\n")
    apply.click()
    page.wait_for_function("() => opened === 1")
    bench.wait()
    assert page.evaluate("looks") == []
    yaml.fill(small("calm"))
    apply.click()
    page.wait_for_function("() => opened === 2")
    bench.wait()
    expect(colour).to_have_value("workload")
    assert page.evaluate("looks") == ["workload"]
