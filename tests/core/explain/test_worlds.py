"""On random clusters: the verdicts are the engine's own, and a trial is as good as a cluster made anew."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core import Scenario, Simulation, load_documents
from scheduler_core.explain import explain
from scheduler_core.explain.changes import search
from scheduler_core.explain.cooperative import finished
from scheduler_core.explain.world import NodeVerdicts, ObjectsAtMoment, PredicateFailure, snapshot
from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod
from scheduler_core.record.cycle import Cycle
from tests.conformance.random_records import record

SEEDS = range(300, 308)


def read(seed: int) -> Scenario:
    """Read a random record, which v1.11 answers."""
    made = record(seed)
    read = load_documents(made["objects"], expand=False, admission=False, presumed="v1.11")
    return replace(read, policy=made.get("policy"))


def reported(cycle: Cycle) -> list[tuple[PredicateFailure, ...]]:
    """Return a cycle's own verdicts, node by node: those that it records, and those of all predicates."""
    matrix, recorded = cycle.unabridged, cycle.matrix
    assert matrix is not None
    assert recorded is not None
    return [
        tuple(
            PredicateFailure(
                matrix.order[number],
                matrix.reasons[code] if code > 0 else (),
                matrix.errors.get((number, row)),
                further=recorded.codes[number, row] <= 0 and (number, row) not in recorded.errors,
            )
            for number, code in enumerate(matrix.codes[:, row].tolist())
            if code or (number, row) in matrix.errors
        )
        for row in range(len(cycle.nodes))
    ]


def verdicts(standing: NodeVerdicts) -> list[Any]:
    """Return all that a standing says."""
    rows = range(len(standing.names))
    return [standing.early, *((standing.failures(row), standing.fits(row)) for row in rows)]


@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_are_those_of_the_cycle(seed: int) -> None:
    """What explain says before a cycle is what the cycle then finds, on every node."""
    simulation = Simulation(read(seed), unabridged=True)
    for cycle in simulation:
        if cycle.unabridged is None:  # the attempt ended before any predicate
            continue
        earlier = Simulation(simulation.scenario, trace=False)
        earlier.replay(simulation.decisions[: cycle.index - 1])
        earlier.peek()
        standing = NodeVerdicts(snapshot(earlier, cycle.pod))
        assert [standing.failures(row) for row in range(len(standing.names))] == reported(cycle)
        if cycle.result != "error":
            assert standing.fitting() == [cycle.nodes[node] for node in cycle.feasible.tolist()]


def different(world: ObjectsAtMoment) -> list[ObjectsAtMoment]:
    """Make worlds in which one object is different or gone."""
    out = []
    for key, obj in world.objects.items():
        changed: KubernetesObject | None = None
        if isinstance(obj, Node):
            changed = replace(obj, taints=(), unschedulable=False)
        elif isinstance(obj, Pod) and key[1] == world.pod:
            changed = replace(obj, priority=10**6, tolerations=())
        elif not isinstance(obj, Pod) or not obj.node_name:
            continue
        out.append(world.with_objects({key: changed}))
    return out


@pytest.mark.parametrize("seed", SEEDS)
def test_a_trial_is_as_a_cluster_made_anew_and_leaves_no_trace(seed: int) -> None:
    """Verdicts and victims in a trial are those of a fresh cluster; afterwards all is as before."""
    simulation = Simulation(read(seed), trace=False)
    for _ in simulation:
        pass
    pod = next(reversed(simulation.cluster.pods))
    world = snapshot(simulation, pod)
    standing = NodeVerdicts(world)
    before = verdicts(standing)
    rows = range(len(standing.names))
    for other in different(world)[:25]:
        fresh = NodeVerdicts(other)
        with standing.trial(other) as tried:
            assert verdicts(tried) == verdicts(fresh)
            for row in rows:
                assert _keys(tried, row) == _keys(fresh, row)
        assert verdicts(NodeVerdicts(world, standing.cluster, standing.queue)) == before
    orders = {key: state.order for key, state in standing.cluster.pods.items()}
    assert orders == {key: state.order for key, state in NodeVerdicts(world).cluster.pods.items()}


def _keys(standing: NodeVerdicts, row: int) -> list[str] | None:
    candidate = standing.victims(row)
    return None if candidate is None else [pod.key for pod in candidate.victims]


@pytest.mark.parametrize("seed", SEEDS)
def test_pods_of_random_clusters_are_explained(seed: int) -> None:
    """Every pod has an answer, always the same one, and each change names the node that it opens."""
    simulation = Simulation(read(seed), trace=False)
    for _ in simulation:
        pass
    for pod, node in list(simulation.placement().items())[-6:]:
        answer = explain(simulation, pod)
        assert (answer.node or "") == node
        assert answer.state in ({"placed", "bound"} if node else {"pending", "other"})
        assert all(change.node in change.fits for change in answer.changes)
        assert answer.as_dict() == explain(simulation, pod).as_dict()


def test_a_change_that_is_no_valid_object_is_not_shown() -> None:
    """A label value that the API server would refuse leads to no change of the node."""
    wanted = {"key": "disk", "operator": "In", "values": ["no good"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    affine = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    objects = [
        {
            "kind": "Node",
            "apiVersion": "v1",
            "metadata": {"name": "n"},
            "status": {"allocatable": {"pods": "9"}},
        },
        {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {"name": "p"},
            "spec": {"containers": [{"name": "c"}], "affinity": affine},
        },
    ]
    simulation = Simulation(load_documents(objects, expand=False, admission=False))
    standing = NodeVerdicts(snapshot(simulation, "default/p"))
    words = [change.words for change in finished(search(standing, [0]))]
    assert words == [("drop the pod's required node affinity",)]
