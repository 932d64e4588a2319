"""Native PodGroups in a bundle: their members are placed in one cycle, or none is."""

from __future__ import annotations

import io

import pytest

from scheduler_core import load
from scheduler_core.cli.simulate import report
from scheduler_core.explain import explain
from scheduler_core.record.cycle import Cycle
from scheduler_core.run import simulate
from scheduler_core.run.trace import trace_cycle
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from tests.core.v1_37.parts import GANG

FULL = (
    "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining, pod group preemption: No preemption victims "
    "found for incoming preemptor"
)
W = ("default/w-0", "default/w-1", "default/w-2")


def ran(text: str) -> tuple[V1_37Simulation, list[Cycle]]:
    """Return a bundle's simulation at its end, and its cycles."""
    simulation = simulate(load(text))
    assert isinstance(simulation, V1_37Simulation)
    return simulation, list(simulation)


def table(simulation: V1_37Simulation, cycles: list[Cycle]) -> dict[str, str]:
    """Return the lines of ``simulate`` by their first word, or two of a PodGroup's."""
    out = io.StringIO()
    report(simulation, {cycle.pod: cycle for cycle in cycles}, out)
    rows = {}
    for line in out.getvalue().splitlines():
        name = " ".join(line.split()[: 2 if line.startswith("PodGroup") else 1]).rstrip(":")
        rows[name] = " ".join(line[line.index(name) + len(name) :].strip(": ").split())
    return rows


def test_a_gang_waits_for_room_and_is_placed_in_one_cycle() -> None:
    """None is bound while one lacks a node; when one comes, time brings the group back, and all are bound."""
    simulation, cycles = ran(GANG)
    assert [(c.step, c.result, c.decision.placements) for c in cycles] == [
        ("1.1", "unschedulable", ()),
        ("1.2", "unschedulable", ()),
        ("2.1", "scheduled", tuple(zip(W, ("n1", "n2", "n1"), strict=True))),
    ]
    assert cycles[0].pod == W[2], "a cycle without a placement shows the member that found no node"
    assert cycles[0].message == "0/1 nodes are available: 1 Insufficient cpu."
    assert cycles[2].time > 30
    together = "placed with 2 more of its pods in one cycle of PodGroup default/train"
    assert table(simulation, cycles) == {
        W[0]: f"placed n1 {together}",
        W[1]: f"placed n2 {together}",
        W[2]: f"placed n1 {together}",
        "default/lost": "pending not tried: its PodGroup default/none does not exist",
        "PodGroup default/train": "PodGroupInitiallyScheduled=True Scheduled",
        "kube-scheduler": "v1.37: 2 nodes, 3 cycles: 3 placed, 1 pending",
    }


def test_members_without_a_place_have_their_own_message() -> None:
    """One that had a node gets the group's text; the group's condition stands in a line of its own."""
    simulation, cycles = ran(GANG.partition("---\nkind: Scenario")[0])
    rows = table(simulation, cycles)
    assert rows[W[0]] == f"pending pod group is unschedulable, {FULL}"
    assert rows[W[2]] == "pending 0/1 nodes are available: 1 Insufficient cpu."
    assert rows["PodGroup default/train"] == f"PodGroupInitiallyScheduled=False Unschedulable: {FULL}"
    line = trace_cycle(cycles[0])
    assert line.entity == "default/train"  # type: ignore[attr-defined]
    assert line.group["conditions"] == {  # type: ignore[attr-defined]
        "PodGroupInitiallyScheduled": f"False Unschedulable: {FULL}"
    }


def test_too_few_members_are_not_tried() -> None:
    """PreEnqueue of GangScheduling keeps the gang out of the queue until enough pods exist."""
    text = GANG.replace("minCount: 3", "minCount: 4")
    simulation, cycles = ran(text)
    assert cycles == []
    rows = table(simulation, cycles)
    assert rows[W[0]].startswith("pending not tried: GangScheduling keeps it out of the queue until another")
    assert rows["PodGroup default/train"] == "not tried: 3 of the 4 pods that it needs exist"


def test_an_operation_changes_a_group() -> None:
    """With a lower minCount the members that fit are placed, and the third fails by itself."""
    patch = """
  - time: 20
    patchOperation:
      typeMeta: {kind: PodGroup}
      objectMeta: {name: train}
      patchType: merge
      patch: {spec: {schedulingPolicy: {gang: {minCount: 2}}}}
"""
    simulation, cycles = ran(GANG.partition("  - time: 30")[0] + patch.lstrip("\n"))
    assert cycles[-2].decision.placements == ((W[0], "n1"), (W[1], "n1"))
    assert table(simulation, cycles)[W[2]].startswith("pending 0/1 nodes are available: 1 Insufficient cpu.")


def test_replay_and_fork_reach_the_same_cycles() -> None:
    """Groups, members and what waits for time are copied with the run."""
    scenario = load(GANG)
    whole = simulate(scenario)
    traces = [trace_cycle(cycle) for cycle in whole]
    again = simulate(scenario, trace=False)
    again.replay(whole.decisions[:1])
    fork = again.fork(trace=True)
    assert [trace_cycle(cycle) for cycle in fork] == traces[1:]
    assert again.index == 1
    again.replay(whole.decisions[1:])
    assert again.placement() == whole.placement() == fork.placement()


PRIORITY = """---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: low}
spec: {nodeName: n1, containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]}
"""


def test_a_group_has_the_priority_of_its_class_and_preempts() -> None:
    """The API server resolves a PodGroup's class as a pod's; members of another priority are an error."""
    text = GANG.partition("---\nkind: Scenario")[0].replace('cpu: "4"', 'cpu: "6"') + PRIORITY
    classed = text.replace("minCount: 3}}}", "minCount: 3}}, priorityClassName: high}")
    simulation, cycles = ran(classed)
    assert "should have the same priority as the pod group's priority, got 0 and 1000" in str(
        simulation.members[W[0]].message
    )
    both = classed.replace("podGroupName: train}\n", "podGroupName: train}\n  priorityClassName: high\n")
    simulation, cycles = ran(both)
    assert cycles[0].decision.victims == ("default/low",)
    assert cycles[-1].decision.placements == tuple((pod, "n1") for pod in W)
    assert simulation.deleted == ["default/low"]


def test_without_the_gate_each_pod_is_scheduled_alone() -> None:
    """And a warning names the gate, and where it is set."""
    scenario = load(GANG.replace("featureGates: {GenericWorkload: true}\n", ""))
    reported = " ".join(problem.message for problem in scenario.warnings)
    assert (
        "the feature gate GenericWorkload is off by default: write featureGates: {GenericWorkload: true}"
        in reported
    )
    placed = [cycle.decision.placements for cycle in simulate(scenario)]
    assert placed[:2] == [(("default/lost", "n1"),), ((W[0], "n1"),)]
    assert load(GANG).warnings == ()


def test_another_dialects_group_is_not_taken_for_the_native_one() -> None:
    """A PodGroup of Coscheduling has the same kind, and is none of kube-scheduler's."""
    scenario = load(GANG.replace("scheduling.k8s.io/v1beta1", "scheduling.x-k8s.io/v1alpha1"))
    reported = [problem.message for problem in scenario.warnings]
    assert (
        "kube-scheduler v1.37: PodGroups of scheduling.x-k8s.io are not read: kube-scheduler knows those of "
        "scheduling.k8s.io alone" in reported
    )
    assert not list(simulate(scenario)), "the group that the pods name does not exist"


@pytest.mark.parametrize(
    ("pod", "step", "part"),
    [
        ("w-1", None, "n2 in cycle 3 by kube-scheduler v1.37 with 2 more pods of PodGroup default/train."),
        ("w-2", "1.1", "PodGroup default/train, which needs 3 pods: 3 exist, 0 of them on nodes"),
        ("w-2", "1.1", "With its PodGroup default/train in this cycle: 0/1 nodes are available: 1 Insuff"),
        ("w-0", "1.1", f"its condition is PodGroupInitiallyScheduled=False Unschedulable: {FULL}."),
        ("w-0", "1.1", "It backs off until 2 s: no event brings it back earlier."),
        ("lost", None, "Its PodGroup default/none does not exist: it is not tried before"),
    ],
)
def test_explain_names_the_group(pod: str, step: str | None, part: str) -> None:
    """What keeps a member waiting is mostly its group."""
    assert part in explain(load(GANG), f"default/{pod}", step=step).summary
