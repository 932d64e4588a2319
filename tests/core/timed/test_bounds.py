"""Every loop of virtual time ends: reactions at one moment and events for ever meet a bound with a name."""

from __future__ import annotations

import pytest

from scheduler_core import load
from scheduler_core.run import run_end
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.trace import trace_line
from scheduler_core.schedulers.v1_22 import api
from scheduler_core.schedulers.v1_22.api import Api
from tests.core.timed.parts import COSCHEDULING, VIRTUAL, coscheduling, ended, history, node, pod, simulation

NEVER_SETTLES = (
    "PodGroup default/g goes from Pending to PreScheduling and round again: with minMember 0 the "
    "controller's rules never settle. It is left in PreScheduling here"
)
CLASSIC = COSCHEDULING.format(
    version="v1beta2",
    points="    permit: {enabled: [{name: Coscheduling}]}\n    reserve: {enabled: [{name: Coscheduling}]}",
    args="{}",
)


LATE = "{apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {containers: [{name: c}]}}"


def empty_group(spec: str = "{}") -> str:
    """Return a PodGroup of the classic API without members."""
    return (
        "apiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\n"
        f"metadata: {{name: g, namespace: default}}\nspec: {spec}\n"
    )


def test_a_group_whose_rules_undo_each_other_is_left_alone() -> None:
    """A classic PodGroup with minMember 0 and no members is synced once round, and the run goes on."""
    made, cycles = ended(CLASSIC, node("n"), empty_group(), pod("a"))
    assert [cycle.node for cycle in cycles] == ["n"]
    assert made.unsettled == [NEVER_SETTLES]
    assert made.happenings < 50


def test_each_change_of_such_a_group_is_synced_once_round() -> None:
    """Members that come and go set it off again, each time for a few syncs."""
    member = pod("a", run="5").replace("labels: {}", "labels: {pod-group.scheduling.sigs.k8s.io: g}")
    made, _ = ended(CLASSIC, node("n"), empty_group(), member)
    assert made.unsettled[0] == NEVER_SETTLES
    assert made.happenings < 100


def test_reactions_without_end_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that answers each turn with another meets the bound, which the end of the run names."""
    monkeypatch.setattr(api, "MOST_TURNS", 100)

    def echo(self: Api, key: str, event: str) -> None:
        self.record_event("Echo", key)
        self.later(lambda: echo(self, key, event))

    monkeypatch.setattr(Api, "_heard_of_group", echo)
    made, cycles = ended(coscheduling("v1beta2"), node("n"), empty_group("{minMember: 1}"), pod("a"))
    assert cycles == []
    (why,) = made.unsettled
    assert why.startswith("More than 150 reactions followed from each other at one moment")
    assert why.endswith("; the last concerned default/g. The run ends here")


def test_moments_without_a_cycle_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer that sets itself again would go on until an operation a week away."""
    monkeypatch.setattr(run_end, "MOST_MOMENTS", 200)
    monkeypatch.setattr(run_end, "MOMENTS_EACH", 0)
    made = simulation(VIRTUAL, node("n"), history("time: 600000, createOperation: {object: " + LATE + "}"))
    clock = made.framework.clock

    def tick() -> None:
        clock.schedule(clock.now + 0.001, tick, "tick")

    tick()
    assert list(made) == []
    assert made.done
    assert made.unsettled == ["The run was ended: 200 events since the last cycle are too many"]


def test_whoever_steps_can_interrupt() -> None:
    """The hook is called while time passes, also where nothing is ever scheduled."""
    calls: list[int] = []

    def count() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise TimeoutError

    read = load("---\n".join((VIRTUAL, node("n"), pod("a"))))
    with pytest.raises(TimeoutError):
        list(TimedSimulation(read, interrupt=count))
    assert len(calls) == 3


def test_interrupting_does_not_change_a_run() -> None:
    """A hook that only looks leaves every decision as it is."""
    documents = (coscheduling("v1beta2"), node("n"), empty_group("{minMember: 1}"), pod("a"), pod("b"))
    read = load("---\n".join(documents))
    seen: list[int] = []
    looked = TimedSimulation(read, interrupt=lambda: seen.append(1))
    made = TimedSimulation(read)
    assert [trace_line(cycle) for cycle in made] == [trace_line(cycle) for cycle in looked]
    assert seen


REPLICA_SET = (
    "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: {name}, ownerReferences: "
    "[{{apiVersion: apps/v1, kind: ReplicaSet, name: {owner}, controller: true}}]}}\n"
    "spec: {{replicas: 1, selector: {{matchLabels: {{app: {name}}}}}, template: "
    "{{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c}}]}}}}}}\n"
)


@pytest.mark.parametrize("owners", [{"a": "a"}, {"a": "b", "b": "a"}], ids=["itself", "each other"])
def test_replica_sets_that_own_each_other_are_run(owners: dict[str, str]) -> None:
    """A circle of owners is not followed around: each ReplicaSet makes its pod."""
    sets = [REPLICA_SET.format(name=name, owner=owner) for name, owner in owners.items()]
    _, cycles = ended(VIRTUAL, node("n"), *sets)
    assert [cycle.result for cycle in cycles] == ["scheduled"] * len(owners)
