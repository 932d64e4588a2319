"""Weights live, in the tab Priorities: what the browser works out is what the engine decides."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from playground.edits.configuration import configured
from scheduler_core import Simulation, load, simulate
from scheduler_core.record.cycle import Cycle
from scheduler_core.scenario.history import Moment
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11.policy.providers import DEFAULT_PRIORITIES
from scheduler_core.schedulers.v1_37.configuration import compile_v1_37_configuration
from tests.browser.conftest import LOOKS
from tests.browser.modules import served
from tests.browser.pages import Workbench, becomes, drafted, share, wide
from tests.browser.weights import give, opened, weights_of
from tests.e2e import bundles
from tests.services.stack import Stack

#: cpu, memory in Gi, and what the node is already asked for of each: LeastRequested and Balanced disagree.
SHAPES = ((4, 16, 1, 12), (8, 8, 6, 2), (16, 64, 2, 48), (8, 32, 5, 4), (4, 32, 2, 2), (32, 32, 20, 25))
PODS = 8
WEIGHED = ("LeastRequestedPriority", "BalancedResourceAllocation", "NodeAffinityPriority")


def cluster(nodes: int, pods: int = PODS) -> str:
    """Return a cluster in which priorities disagree about the best node, with ties among alike nodes."""
    documents: list[dict[str, Any]] = []
    for at in range(nodes):
        cpu, memory, used, held = SHAPES[at % len(SHAPES)]
        name = f"n{at:04d}"
        documents.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": {"disk": "ssd" if at % 3 else "hdd"}},
                "status": {"allocatable": {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "110"}},
            }
        )
        documents.append(_pod(f"held-{at}", f"{used}", f"{held}Gi", node=name))
    documents += [_pod(f"new-{at}", "500m", "1Gi", affinity=at % 3) for at in range(pods)]
    return bundles.bundle(*documents)


def _pod(name: str, cpu: str, memory: str, node: str = "", affinity: int = 0) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]
    }
    if node:
        spec["nodeName"] = node
    if affinity:
        term = {
            "weight": affinity * 3,
            "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]},
        }
        spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


TEXT = cluster(13)
SCORED = ("NodeResourcesFit", "NodeResourcesBalancedAllocation", "NodeAffinity", "TaintToleration")
USUAL = compile_v1_37_configuration(None).profiles["default-scheduler"].weights


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


def again(scenario: Scenario, decided: list[Cycle], index: int, weights: dict[str, int]) -> Cycle:
    """Let the engine decide a cycle anew with other weights, on the cluster that the cycle found."""
    priorities = [
        {"name": name, "weight": weights.get(name, weight)}
        for name, weight in DEFAULT_PRIORITIES
        if weights.get(name, weight)
    ]
    policy = {"apiVersion": "v1", "kind": "Policy", "priorities": priorities}
    simulation = Simulation(replace(scenario, policy=policy))
    simulation.replay([cycle.decision for cycle in decided[: index - 1]])
    cycle = simulation.step()
    assert cycle is not None
    return cycle


#: What the page's own module says of the cycle on screen with some weights.
WORKED_OUT = """async ([weighing, ranking, weights]) => {
  const { scalesOf, totalsWith, choiceOf, flipsOf } = await import(weighing);
  const { rankedOf } = await import(ranking);
  const { names } = podstep.playback.nodes;
  const ranked = podstep.playback.parts.priorities;
  const made = rankedOf(ranked, names);
  const scales = scalesOf(ranked, made, names);
  const tried = made.rows.map((row) => weights[row.name] ?? row.weight);
  const totals = totalsWith(scales, tried);
  const { winner, ties } = choiceOf(scales, totals);
  return { winner: names[made.nodes[winner]], ties: ties.map((one) => names[made.nodes[one]]),
    totals: Object.fromEntries(made.nodes.map((node, i) => [names[node], totals[i]])),
    flips: Object.fromEntries(made.rows.map((row, r) => [row.name,
      flipsOf(scales, tried, r).map(({ from, to, winner: one }) => [from, to, names[made.nodes[one]]])])) };
}"""


def worked_out(page: Page, weights: dict[str, int]) -> dict[str, Any]:
    """Ask the module that the page's is made of."""
    modules = [served(page, f"workbench/inspect/{name}.ts") for name in ("weights", "ranked")]
    answer: dict[str, Any] = page.evaluate(WORKED_OUT, [*modules, weights])
    return answer


def tried(seed: int) -> Iterator[tuple[int, dict[str, int]]]:
    """Yield cycles with random weights: small ones, where ties are common, and large ones."""
    rng = random.Random(seed)
    for _ in range(24):
        most = rng.choice((3, 12, 5000))
        yield rng.randint(1, PODS), {name: rng.randint(0, most) for name in WEIGHED}


def test_the_browser_adds_up_and_chooses_as_the_engine(
    page: Page, shared: str, scenario: Scenario, decided: list[Cycle]
) -> None:
    """For random weights the totals, the ties in their order and the node taken are the engine's own."""
    winners = set()
    bench = Workbench(page).open(f"{shared}?tab=priorities")
    for index, weights in sorted(tried(7), key=lambda one: one[0]):
        if bench.index != index:
            bench.goto(index)
        cycle = again(scenario, decided, index, weights)
        answer = worked_out(page, weights)
        assert cycle.totals is not None
        assert answer["totals"] == {
            cycle.nodes[node]: total
            for node, total in zip(cycle.feasible.tolist(), cycle.totals.tolist(), strict=True)
        }, (index, weights)
        assert answer["ties"] == [cycle.nodes[node] for node in cycle.ties.tolist()], (index, weights)
        assert answer["winner"] == cycle.node, (index, weights)
        winners.add(cycle.node)
    assert len(winners) > 3, "the weights must matter for this to say anything"


def test_the_winner_flips_exactly_where_the_page_says(
    page: Page, shared: str, scenario: Scenario, decided: list[Cycle]
) -> None:
    """On both sides of every breakpoint the engine, asked with that weight, takes the node that was named."""
    seen = 0
    bench = Workbench(page).open(f"{shared}?tab=priorities")
    for index in (2, 5):
        bench.goto(index)
        base = dict(DEFAULT_PRIORITIES)
        flips = worked_out(page, {})["flips"]
        for name in WEIGHED:
            spans = flips[name]
            assert spans[0][0] == 0
            assert [span[0] for span in spans[1:]] == [span[1] + 1 for span in spans[:-1]]
            for first, last, winner in spans:
                for weight in {first, min(last, first + 3), min(last, 40_000)}:
                    cycle = again(scenario, decided, index, {**base, name: weight})
                    assert cycle.node == winner, (index, name, weight)
                    seen += 1
    assert seen > 20


def test_moving_a_slider_tells_who_would_have_won(page: Page, shared: str, decided: list[Cycle]) -> None:
    """By keyboard, to the weight where the winner flips: result, ranking, diagram and announcement."""
    index = 2
    part = opened(page, shared, index)
    flips = worked_out(page, {})["flips"]
    name, spans = next((name, flips[name]) for name in WEIGHED if len(flips[name]) > 1)
    weight = dict(DEFAULT_PRIORITIES)[name]
    at = next(n for n, (first, last, _) in enumerate(spans) if first <= weight <= last)
    to = spans[at + 1] if at + 1 < len(spans) else spans[at - 1]
    target = to[0] if at + 1 < len(spans) else to[1]
    frames: list[str] = []
    page.on("websocket", lambda socket: frames.append(socket.url))
    slider = part.get_by_role("slider", name=re.compile(name.removesuffix("Priority")))
    slider.focus()
    for _ in range(abs(target - weight)):
        page.keyboard.press("ArrowRight" if target > weight else "ArrowLeft")
    expect(part.get_by_role("spinbutton", name=f"Weight of {name}")).to_have_value(str(target))
    expect(slider).to_have_attribute("aria-valuetext", f"{target}: {to[2]} wins")
    expect(part).to_contain_text(f"{to[2]} would have won")
    expect(page.locator("[data-announce]")).to_have_text(re.compile(f"^{to[2]} would win with "))
    expect(part.get_by_role("row").filter(has_text="would win")).to_contain_text(to[2])
    expect(part.get_by_role("img", name=re.compile(f"^Totals over the weight of {name}"))).to_be_visible()
    part.get_by_text("As a table").click()
    table = part.get_by_role("table", name=f"Who wins by the weight of {name}")
    expect(table.get_by_role("row")).to_have_count(len(spans) + 1)
    part.get_by_role("button", name="Reset").click()
    expect(part).to_contain_text(f"As decided: {decided[index - 1].node}")
    assert not frames


def newest() -> list[dict[str, Any]]:
    """Return the cluster's documents, with v1.37 as its scheduler."""
    kept = [one for one in json.loads(TEXT)["items"] if one["kind"] != "SimulationSettings"]
    return [*kept, {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37"}]


def test_the_newest_release_is_weighed_as_it_decides(page: Page, site: Stack) -> None:
    """Under v1.37 totals, ties and the root of the heap are the engine's own, for random weights."""
    documents = newest()
    address = share(site, bundles.bundle(*documents), "v1.37")
    bench = Workbench(page).open(f"{address}?tab=priorities")
    rng = random.Random(3)
    tied = 0
    for index in (1, 4, PODS):
        bench.goto(index)
        for most in (1, 2, 40):
            weights = {name: rng.randint(name == SCORED[0], most) for name in SCORED}
            weights = dict.fromkeys(USUAL, 0) | weights
            moment = Moment(1, index - 1)
            text = configured(bundles.bundle(*documents), "weights", "", json.dumps(weights), moment)["text"]
            cycle = list(simulate(load(text)))[index - 1]
            answer = worked_out(page, weights)
            assert cycle.totals is not None
            assert answer["totals"] == {
                cycle.nodes[node]: total
                for node, total in zip(cycle.feasible.tolist(), cycle.totals.tolist(), strict=True)
            }, (index, weights)
            assert sorted(answer["ties"]) == sorted(cycle.nodes[node] for node in cycle.ties.tolist())
            assert answer["winner"] == answer["ties"][0] == cycle.node, (index, weights)
            tied += len(answer["ties"]) > 1
    assert tied > 1, "ties must be there for this to say anything"


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
    """With 2,000 nodes a move is worked out and drawn in 16 ms; a busy machine is given ten times as long."""
    text = cluster(2000, 2)
    part = opened(page, share(site, text, "Many"), 1)
    field = part.get_by_role("spinbutton", name="Weight of LeastRequestedPriority")
    took = []
    for weight in range(2, 9):
        page.evaluate("podstep.weighing = null")
        field.fill(str(weight))
        page.wait_for_function("() => podstep.weighing")
        took.append(page.evaluate("podstep.weighing.took"))
    assert sorted(took)[len(took) // 2] < 160, took


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


def test_the_weights_are_accessible_and_fit_a_phone(
    visitor: Callable[..., Page], shared: str, accessible: Callable[[Page], None]
) -> None:
    """Unfolded, with a weight tried and the table open, no rule of WCAG is broken and nothing is too wide."""
    for size, scheme in LOOKS:
        page = visitor(size=size, color_scheme=scheme)
        part = opened(page, shared, 2)
        give(part, {"LeastRequestedPriority": 6})
        part.get_by_text("As a table").click()
        accessible(page)
        assert wide(page) == 0
