"""Any step rebuilt from a checkpoint equals the step of the straight run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from scheduler_core import load
from scheduler_core.authoring.examples import Example, examples
from scheduler_core.run import pack, packs, unpack
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.trace import trace_line
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.coscheduling.observer import phases_of
from tests.core.timed.parts import VIRTUAL, coscheduling, group, history, node, pod
from tests.core.trials import trials

LARGE = tuple(example for example in examples() if example.slug == "five-hundred")
SMALL = tuple(example for example in examples() if example not in LARGE)


def in_time(scenario: Scenario) -> Scenario:
    """Return a scenario in virtual time, without the cache that there is none of there."""
    changed = replace(scenario.settings, time="virtual", cache="off", audit=False)
    return scenario.under(scenario.policy, changed)


def hold(scenario: Scenario, steps: int) -> None:
    """Compare as many steps, spread over the run, rebuilt in three ways with those of the straight run."""
    straight = TimedSimulation(scenario)
    lines = [trace_line(cycle) for cycle in straight]
    stride = max(1, len(lines) // steps)
    forward = TimedSimulation(scenario, trace=False)
    for index in range(0, len(lines), stride):
        forward.replay(straight.decisions[forward.index : index])
        fork = forward.fork(trace=True)
        cycle = fork.step()
        assert cycle is not None
        assert trace_line(cycle) == lines[index]
        if index > len(lines) // 2 and (packed := pack(forward)) is not None:
            other = unpack(packed, scenario)
            other.record(trace=True)
            assert trace_line(next(iter(other))) == lines[index]
        again = forward.fork(trace=True)  # what the first one did has not touched the one it came from
        later = [trace_line(one) for one in again]
        assert later == lines[index:]
    fresh = TimedSimulation(scenario)
    fresh.replay(straight.decisions[: len(lines) // 2])
    assert [trace_line(one) for one in fresh] == lines[len(lines) // 2 :]
    assert fresh.placement() == straight.placement()
    assert fresh.availability() == straight.availability()
    assert phases_of(fresh.observers) == phases_of(straight.observers)


@pytest.mark.parametrize("example", SMALL, ids=lambda example: example.slug)
def test_every_shipped_scenario_is_rebuilt_at_any_step(example: Example) -> None:
    """Forks and replays of each example go on as the straight run did, byte by byte."""
    scenario = in_time(example.load())
    hold(scenario, 3)


@pytest.mark.parametrize("example", LARGE, ids=lambda example: example.slug)
def test_a_large_scenario_is_rebuilt_in_its_middle(example: Example) -> None:
    """One step of it, and where all pods are at the end, equal those of the straight run."""
    scenario = in_time(example.load())
    straight = TimedSimulation(scenario, trace=False)
    count = len(list(straight))
    forward = TimedSimulation(scenario, trace=False)
    forward.replay(straight.decisions[: count // 2])
    fork = forward.fork(trace=True)
    expected = TimedSimulation(scenario, trace=False)
    for _ in range(count // 2):
        expected.step()
    expected.record(trace=True)
    found, wanted = fork.step(), expected.step()
    assert found is not None
    assert wanted is not None
    assert trace_line(found) == trace_line(wanted)
    fork.record(trace=False)
    assert [cycle.decision for cycle in fork] == straight.decisions[count // 2 + 1 :]
    assert fork.placement() == straight.placement()
    assert fork.rest == straight.rest


def test_no_other_scenario_is_as_large() -> None:
    """Those that are rebuilt at any step have fewer than a hundred nodes."""
    assert {example for example in examples() if example.counts()[0] >= 100} == {*LARGE}


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {podstep/start-seconds: "2"}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}
"""


CORDON = (
    "typeMeta: {kind: Node}, objectMeta: {name: n0}, patchType: merge, patch: {spec: {unschedulable: true}}"
)
ROLL = (
    "typeMeta: {kind: Deployment}, objectMeta: {name: web}, patchType: strategic, "
    "patch: {spec: {replicas: 4, template: {metadata: {labels: {v: two}}}}}"
)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Make a few nodes, single pods and groups under either edition, and changes at times."""
    classic = draw(st.booleans())
    parts = [coscheduling("v1beta2" if classic else "v1", permitWaitingTimeSeconds=draw(st.integers(2, 12)))]
    if draw(st.integers(0, 4)) == 0:
        parts = [VIRTUAL]
    fails = draw(st.integers(0, 2))
    for place in range(draw(st.integers(1, 4))):
        annotations = (
            {"podstep/fails-at": "20", "podstep/recovers-at": "90"} if place == 1 and fails else None
        )
        parts.append(node(f"n{place}", draw(st.integers(1, 6)), annotations))
    for name in "ab":
        count = draw(st.integers(0, 4))
        if count:
            parts.append(group(name, draw(st.integers(1, count + 1)), draw(st.sampled_from([None, 5]))))
        life = draw(st.sampled_from([("", ""), ("30", ""), ("7", "Failed")]))
        cpu = draw(st.integers(1, 3))
        parts += [pod(f"{name}-{one}", cpu, group=name, run=life[0], outcome=life[1]) for one in range(count)]
    for one in range(draw(st.integers(0, 3))):
        parts.append(pod(f"p{one}", draw(st.integers(1, 3)), priority=draw(st.integers(0, 1)) * 10))
    spec = "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}"
    created = f"createOperation: {{object: {{apiVersion: v1, kind: Pod, metadata: {{name: late}}, {spec}}}}}"
    when = draw(st.sampled_from(["step: 1", "time: 3.5", "time: 40", "step: {major: 1, minor: 2}"]))
    changes = [
        f"{when}, {created}",
        "time: 45, deleteOperation: {typeMeta: {kind: Node}, objectMeta: {name: n0}}",
        "time: 45, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: p0}}",
        f"time: 60, patchOperation: {{{CORDON}}}",
        f"time: 70, patchOperation: {{{ROLL}}}",
    ]
    parts.append(DEPLOYMENT)
    single = any("name: p0" in part for part in parts)
    wanted = draw(st.lists(st.sampled_from([0, 4] + [1, 3][: 1 + draw(st.integers(0, 1))] + [2] * single)))
    chosen = sorted(set(wanted))
    if 1 in chosen and 3 in chosen:
        chosen.remove(3)
    if chosen:
        parts.append(history(*(changes[place] for place in chosen)))
    return load("---\n".join(parts))


@given(scenarios())
@settings(max_examples=trials(20))
def test_random_gangs_are_rebuilt_at_any_step(scenario: Scenario) -> None:
    """Whatever groups, single pods, failures and changes meet, a checkpoint is as good as the beginning."""
    hold(scenario, 3)


def test_a_decision_of_another_run_is_refused() -> None:
    """A replay that does not decide what it is given says which cycle differs."""
    scenario = load("---\n".join([VIRTUAL, node("n"), node("m"), pod("a"), pod("b")]))
    decisions = [cycle.decision for cycle in TimedSimulation(scenario)]
    other = replace(decisions[0], node="n" if decisions[0].node == "m" else "m")
    with pytest.raises(ValueError, match="cycle 1 decides"):
        TimedSimulation(scenario).replay([other])
    with pytest.raises(ValueError, match="cycle 1 is about default/a"):
        TimedSimulation(scenario).replay(decisions[1:])
    with pytest.raises(ValueError, match="no pod is left"):
        TimedSimulation(scenario).replay([*decisions, decisions[0]])


def test_constants_in_checkpoints_are_known_by_objects_that_live() -> None:
    """No object that is made later has the identity of a constant, which a run would have in its place."""
    places = packs._constants(0)
    assert places
    assert [path for key, (one, path) in places.items() if id(one) != key] == []
