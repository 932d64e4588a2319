"""Weights live, in the tab Priorities: what the browser works out is what the engine decides."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from scheduler_core import Simulation, load
from scheduler_core.record.cycle import Cycle
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11.policy.providers import DEFAULT_PRIORITIES
from tests.browser.pages import Workbench, becomes, drafted, share
from tests.browser.weights import give, opened, weights_of
from tests.e2e import bundles
from tests.javascript.recorded import TEXT, WEIGHED, again, cluster, newest
from tests.services.stack import Stack


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    """The same cluster, to be decided by the engine in this process."""
    return load(TEXT)


@pytest.fixture(scope="module")
def decided(scenario: Scenario) -> list[Cycle]:
    """Its cycles with the weights that it has."""
    return list(Simulation(scenario))


@pytest.fixture(scope="module")
def shared(site: Stack) -> str:
    """The address of the shared cluster."""
    return share(site, TEXT, "Weights")


def flip(scenario: Scenario, decided: list[Cycle], index: int) -> tuple[str, int, str]:
    """Return a priority, and the first higher weight of it with which the engine takes another node."""
    usual = dict(DEFAULT_PRIORITIES)
    for name in WEIGHED:
        for weight in range(usual[name] + 1, 40):
            node = again(scenario, decided, index, {**usual, name: weight}).node
            if node is not None and node != decided[index - 1].node:
                return name, weight, node
    raise AssertionError("no weight changes anything")


def test_moving_a_slider_tells_who_would_have_won(
    page: Page, shared: str, scenario: Scenario, decided: list[Cycle]
) -> None:
    """By keyboard, to the weight where the winner flips: result, ranking, diagram and announcement."""
    index = 2
    part = opened(page, shared, index)
    name, target, winner = flip(scenario, decided, index)
    frames: list[str] = []
    page.on("websocket", lambda socket: frames.append(socket.url))
    slider = part.get_by_role("slider", name=re.compile(name.removesuffix("Priority")))
    slider.focus()
    for _ in range(target - dict(DEFAULT_PRIORITIES)[name]):
        page.keyboard.press("ArrowRight")
    expect(part.get_by_role("spinbutton", name=f"Weight of {name}")).to_have_value(str(target))
    expect(slider).to_have_attribute("aria-valuetext", f"{target}: {winner} wins")
    expect(part).to_contain_text(f"{winner} would have won")
    expect(page.locator("[data-announce]")).to_have_text(re.compile(f"^{winner} would win with "))
    expect(part.get_by_role("row").filter(has_text="would win")).to_contain_text(winner)
    expect(part.get_by_role("img", name=re.compile(f"^Totals over the weight of {name}"))).to_be_visible()
    part.get_by_text("As a table").click()
    table = part.get_by_role("table", name=f"Who wins by the weight of {name}")
    expect(table.get_by_role("row").filter(has_text=winner).first).to_be_visible()
    part.get_by_role("button", name="Reset").click()
    expect(part).to_contain_text(f"As decided: {decided[index - 1].node}")
    assert not frames


def test_weights_of_the_newest_release_are_applied_as_its_configuration(page: Page) -> None:
    """A draft's KubeSchedulerConfiguration is written, and the cycle is decided with it."""
    documents = newest()
    part = opened(page, drafted(page, bundles.bundle(*documents)), 2)
    give(part, {"NodeResourcesFit": 7})
    part.get_by_role("button", name="Apply from the start").click()
    expect(page.get_by_text("From the start: NodeResourcesFit weight 7.").first).to_be_visible()
    weights = "podstep.playback.parts?.priorities.rows.find(({ name }) => name === 'NodeResourcesFit').weight"
    Workbench(page).wait().at(2)
    page.wait_for_function(f"() => {weights} === 7")


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


def test_weights_are_applied_right_before_the_cycle(page: Page) -> None:
    """An operation restarts the scheduler: this cycle is decided with them, those before are not."""
    bench = Workbench(page)
    part = opened(page, drafted(page, TEXT), 3)
    give(part, {"BalancedResourceAllocation": 9})
    part.get_by_role("button", name="Apply before this cycle").click()
    expect(page.get_by_text("Before cycle 3: BalancedResourceAllocation weight 9.").first).to_be_visible()
    bench.wait().at(3)
    weights = "podstep.playback.parts?.priorities.rows.find(({ name }) => name.startsWith('Balanced')).weight"
    page.wait_for_function(f"() => {weights} === 9")
    bench.goto(2)
    page.wait_for_function(f"() => {weights} === 1")
