"""At any step: whatever is offered, done to a dump of that moment and read again, makes the pod fit there."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from msgspec.structs import replace

from scheduler_core import Scenario, Simulation, load_documents
from scheduler_core.compare.results.final_manifests import bound
from scheduler_core.explain import Explanation, asking, explain
from scheduler_core.explain.cooperative import finished
from scheduler_core.explain.notes import REPLACE
from scheduler_core.explain.remedy import Remedy
from scheduler_core.explain.world import ObjectsAtMoment, snapshot
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.formats.patch import apply_patch
from scheduler_core.kubernetes.keys import document_key, key_of
from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.cycle import Cycle
from scheduler_core.schedulers.v1_11.attempt import GenericScheduler
from tests.core.engine.builders import node, operation, pod, scenario
from tests.core.explain.test_worlds import read

TIGHT = {"cpu": "1", "memory": "1Gi", "pods": "10"}
SEEDS = range(400, 424)


def asked(whole: Scenario, index: int, key: str, where: str | None = None) -> Explanation:
    """Ask about a pod after a cycle of a whole run."""
    simulation = Simulation(whole, trace=False)
    for _ in simulation:
        pass
    return finished(asking(whole, simulation.decisions, index, key, where))


def moment(whole: Scenario, index: int, key: str) -> ObjectsAtMoment:
    """Return the objects as they are explained: before the cycle if it tried the pod in vain, else after."""
    simulation = Simulation(whole, trace=False)
    cycle = None
    for cycle in simulation:
        if cycle.index == index:
            break
    if cycle is not None and cycle.pod == key and cycle.result != "scheduled":
        earlier = Simulation(whole, trace=False)
        earlier.replay(simulation.decisions[: index - 1])
        earlier.peek()
        return snapshot(earlier, key)
    return snapshot(simulation, key)


def dumped(world: ObjectsAtMoment) -> list[dict[str, Any]]:
    """Write the moment as manifests, nominations included."""
    given = {document_key(document): document for document in world.documents.values()}
    out = []
    for obj in world.objects.values():
        manifest = copy.deepcopy(dict(given.get(key_of(obj)) or to_manifest(obj)))
        if isinstance(obj, Pod):
            if obj.node_name:
                manifest = dict(bound(manifest, obj.node_name))
            status = {**(manifest.get("status") or {}), "nominatedNodeName": obj.nominated_node_name}
            manifest["status"] = status
        out.append(manifest)
    return out


def done(manifests: list[dict[str, Any]], change: Remedy) -> list[dict[str, Any]]:
    """Do the change to the manifests."""
    out = copy.deepcopy(manifests)
    for patch in change.live:
        if patch["action"] == "create":
            out.append(patch["object"])
            continue
        namespace, _, name = patch["name"].rpartition("/")
        at = next(
            n
            for n, m in enumerate(out)
            if (m["kind"], m["metadata"]["name"]) == (patch["kind"], name)
            and (m["metadata"].get("namespace") or "default") in (namespace or "default", "default")
        )
        if patch["action"] == "delete":
            del out[at]
        else:
            out[at] = apply_patch(out[at], patch["patch"], "merge")
    return out


def attempt(manifests: list[dict[str, Any]], world: ObjectsAtMoment, whole: Scenario) -> Cycle:
    """Let the scheduler try the pod on a cluster read from the manifests."""
    loaded = replace(load_documents(manifests, expand=False, admission=False), policy=whole.policy)
    simulation = Simulation(loaded)
    simulation.queue.remove(simulation.cluster.pods[world.pod])
    simulation.cluster.refresh()
    scheduler = GenericScheduler(simulation.cluster, simulation.queue, simulation.profile)
    return scheduler.schedule(simulation.cluster.pods[world.pod], world.last_node_index)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_change_holds_in_a_dump_of_the_moment(seed: int) -> None:
    """Read again with the change in it, the pod fits on the node named and goes where it was said to go."""
    whole = read(seed)
    simulation = Simulation(whole, trace=False)
    cycles = list(simulation)
    for cycle in [c for c in cycles if c.result != "scheduled"][:4]:
        answer = asked(whole, cycle.index, cycle.pod)
        assert (answer.index, answer.step, answer.before) == (cycle.index, cycle.step, True)
        world = moment(whole, cycle.index, cycle.pod)
        manifests = dumped(world)
        for change in answer.changes:
            tried = attempt(done(manifests, change), world, whole)
            assert change.node in [tried.nodes[row] for row in tried.feasible.tolist()], change.words
            assert tried.node == change.chosen, change.words


def test_the_moment_is_that_of_the_step() -> None:
    """A pod is not tried, then in the way of nothing, then placed, as the steps go by."""
    whole = scenario(node("a"), node("b", unschedulable=True), pod("p"), pod("q"))
    states = [asked(whole, index, "default/q").state for index in (0, 1, 2)]
    assert states == ["pending", "pending", "placed"]
    first = asked(whole, 0, "default/q")
    assert (first.index, first.step) == (0, "1.0")
    assert first.summary == "default/q has not been tried yet. default/q fits on 1 of 2 nodes."
    assert explain(whole, "default/q", step=0).as_dict() == first.as_dict()


def test_a_preemptor_is_explained_as_its_cycle_found_the_cluster() -> None:
    """At its cycle the victims are still there; a step later they are gone and the pod fits."""
    whole = scenario(
        node("n", allocatable=TIGHT),
        pod("low", {"cpu": "800m"}, on="n"),
        pod("high", {"cpu": "500m"}, priority=9),
    )
    answer = asked(whole, 1, "default/high")
    assert (answer.state, answer.before, answer.step) == ("pending", True, "1.1")
    assert answer.summary.startswith("default/high is pending: 0/1 nodes are available")
    assert "So preemption deleted 1 pod on n in this cycle" in answer.summary
    assert any(
        "delete pod default/low (priority 0) from node n, as preemption would" in change.words
        for change in answer.changes
    )
    assert asked(whole, 2, "default/high").state == "placed"
    assert asked(whole, 1, "default/low").state == "preempted"


def test_a_pod_that_comes_later_is_not_there_yet() -> None:
    """Before its operation a pod is absent; after another one it is deleted."""
    first = scenario(node("n"), pod("p"))
    history = replace(
        first, operations=(operation(1, "create", pod("late")), operation(2, "delete", pod("p")))
    )
    assert asked(history, 1, "default/late").state == "absent"
    assert asked(history, 2, "default/late").state == "placed"
    ended = explain(history, "default/p")
    assert ended.state == "deleted"


def test_nodes_are_grouped_by_what_fails_there() -> None:
    """Every node is in one group, the largest first, and the fitting ones in one without a failure."""
    full = [node(f"full-{n}", allocatable={**TIGHT, "cpu": "100m"}) for n in range(40)]
    tainted = [node(f"gpu-{n}", taints=["gpu:NoSchedule"]) for n in range(7)]
    whole = scenario(*full, *tainted, pod("p", {"cpu": "1"}))
    shown = explain(whole, "default/p").as_dict()["groups"]
    assert [(g["count"], len(g["nodes"])) for g in shown] == [(40, 20), (7, 7)]
    assert [f["reasons"] for f in shown[0]["failures"]] == [["Insufficient cpu"]]
    assert shown[1]["failures"][0]["predicate"] == "PodToleratesNodeTaints"
    free = explain(scenario(node("a"), node("b"), pod("x", schedulerName="mine")), "default/x")
    assert [(group.failures, group.count) for group in free.groups] == [((), 2)]


def test_one_pod_is_freed_where_preemption_would_take_several() -> None:
    """Of pods of equal priority preemption takes the youngest until it is enough; one larger one will do."""
    whole = scenario(
        node("n", allocatable={**TIGHT, "cpu": "2"}),
        pod("big", {"cpu": "900m"}, on="n"),
        *(pod(f"small-{k}", {"cpu": "300m"}, on="n") for k in range(3)),
        pod("p", {"cpu": "900m"}, priority=5),
    )
    answer = asked(whole, 1, "default/p")
    deleting = [
        change.words
        for change in answer.changes
        if all(patch["action"] == "delete" for patch in change.patches)
    ]
    assert ("delete pod default/big (priority 0) from node n",) in deleting
    assert any(len(words) == 3 and "as preemption would" in words[0] for words in deleting), deleting


def test_what_is_to_be_known_before_is_said() -> None:
    """A change says whether the machine, a template or another pod is in it."""
    whole = scenario(node("n", allocatable=TIGHT), pod("x", {"cpu": "600m"}, on="n"), pod("p", {"cpu": "2"}))
    notes = {change.words[0].split()[1]: change.notes for change in explain(whole, "default/p").changes}
    assert notes["1600m"] == (
        "The kubelet reports what is allocatable: add capacity to the machine, or reserve less of it.",
    )
    lowered = explain(scenario(node("n", allocatable=TIGHT), pod("p", {"cpu": "2"})), "default/p").changes[0]
    assert lowered.notes == (REPLACE,)


def test_of_a_placed_pod_the_nodes_are_grouped_as_its_cycle_found_them() -> None:
    """Which nodes fitted, and what failed on the others, is reported for a pod that has its place."""
    whole = scenario(node("a"), node("b"), node("c", unschedulable=True), pod("p"))
    reported = [
        (group.nodes, [f.predicate for f in group.failures]) for group in explain(whole, "default/p").groups
    ]
    assert reported == [(("a", "b"), []), (("c",), ["CheckNodeCondition"])]
