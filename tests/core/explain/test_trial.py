"""A copy with the change in it: the pod is placed there, and everything else is as it was."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import Scenario, Simulation, load, load_documents
from scheduler_core.authoring.examples import find
from scheduler_core.explain import explain
from scheduler_core.explain.cooperative import finished
from scheduler_core.explain.remedy import Remedy
from scheduler_core.explain.trial import Copy, copying, counterpart
from scheduler_core.kubernetes.keys import document_key
from tests.core.engine.builders import node, obj, pod
from tests.e2e.bundles import any_release, by_v1_11

TIGHT = {"cpu": "1", "memory": "1Gi", "pods": "10"}


def copied(whole: Scenario, change: Remedy, key: str, **given: Any) -> Copy:
    """Make the copy at the end of the run."""
    simulation = Simulation(whole, trace=False)
    for _ in simulation:
        pass
    given = {"index": simulation.index, "major": simulation.major, **given}
    made = finished(copying(whole, change, key, **given))
    assert made is not None
    return made


def cycle_of(made: Copy) -> tuple[str, str | None]:
    """Load the copy's documents anew and return the pod and the node of the cycle it points at."""
    for cycle in Simulation(load_documents(made.documents), trace=False):
        if cycle.index == made.index:
            return cycle.pod, cycle.node
    raise AssertionError("there is no such cycle")


def others(documents: Any, changed: set[tuple[str, str]]) -> list[Any]:
    """Return what a change is not about."""
    return [document for document in documents if document_key(document) not in changed]


@pytest.mark.parametrize("slug", ["reading-the-message", "taints-are-not-magnets", "a-day", "shop"])
def test_every_change_of_an_example_places_the_pod_in_a_copy(slug: str) -> None:
    """Whatever is offered for a pending pod, the copy places it, and the other objects are the same."""
    found = find(slug)
    assert found is not None
    whole = load(by_v1_11(any_release(found.read())))
    simulation = Simulation(whole, trace=False)
    for _ in simulation:
        pass
    pending = [key for key, where in simulation.placement().items() if not where]
    for key in pending:
        for change in explain(whole, key).changes:
            made = copied(whole, change, key)
            assert made.node is not None, change.words
            assert cycle_of(made) == (made.pod, made.node)
            if made.way == "manifests":
                changed = {(patch["kind"], patch["name"]) for patch in change.patches}
                assert others(made.documents, changed) == others(whole.documents, changed)


def test_a_template_is_changed_for_all_its_pods() -> None:
    """The Deployment's template gets the toleration; the pod that was asked about has another name then."""
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}]},
    }
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    deployment = obj("Deployment", "web", "apps/v1", spec=spec)
    whole = load_documents([node("n", taints=["gpu:NoSchedule"]), deployment, pod("alone")])
    keys = [key for key in Simulation(whole).placement() if key.startswith("default/web-")]
    change = next(c for c in explain(whole, keys[1]).changes if c.words[0].startswith("tolerate"))
    assert change.notes == (
        "This changes the pod template of Deployment default/web: all its 3 pods are recreated with it.",
    )
    made = copied(whole, change, keys[1])
    assert (made.way, made.node) == ("manifests", "n")
    assert made.pod != keys[1] and made.pod.startswith("default/web-")
    assert counterpart(whole, made.scenario, keys[1]) == made.pod
    assert cycle_of(made) == (made.pod, "n")
    assert len(others(made.documents, {("Deployment", "default/web")})) == 2


def test_a_pod_that_the_run_placed_is_deleted_by_an_operation() -> None:
    """What no manifest binds cannot be taken out of the manifests: all cycles before stay as they were."""
    whole = load_documents(
        [
            node("n", allocatable=TIGHT),
            pod("first", {"cpu": "800m"}),
            pod("p", {"cpu": "500m"}),
            {
                "apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1",
                "kind": "Scenario",
                "metadata": {"name": "s"},
                "spec": {
                    "operations": [
                        {
                            "id": "why-1",
                            "step": 1,
                            "createOperation": {"object": node("late", unschedulable=True)},
                        }
                    ]
                },
            },
        ]
    )
    simulation = Simulation(whole, trace=False)
    before = [cycle.decision for cycle in simulation]
    change = next(
        c for c in explain(whole, "default/p").changes if c.words[0].startswith("delete pod default/first")
    )
    made = copied(whole, change, "default/p")
    assert (made.way, made.node) == ("operation", "n")
    again = Simulation(load_documents(made.documents), trace=False)
    after = [cycle.decision for cycle in again]
    assert after[: len(before)] == before
    assert cycle_of(made) == ("default/p", "n")
    operations = made.documents[-1]["spec"]["operations"]
    assert [entry["id"] for entry in operations] == ["why-1", "why-2"]


def test_a_pod_bound_by_its_manifest_goes_out_of_the_manifests() -> None:
    """A victim that was there from the start is left out of the copy."""
    whole = load_documents(
        [node("n", allocatable=TIGHT), pod("there", {"cpu": "800m"}, on="n"), pod("p", {"cpu": "500m"})]
    )
    change = next(c for c in explain(whole, "default/p").changes if c.words[0].startswith("delete"))
    made = copied(whole, change, "default/p")
    assert (made.way, made.node, made.index) == ("manifests", "n", 1)
    assert [document["metadata"]["name"] for document in made.documents] == ["n", "p"]


def test_of_a_placed_pod_the_other_node_fits_too() -> None:
    """For a pod that is placed only the manifests can change, and there the node asked about is feasible."""
    whole = load_documents([node("a", taints=["gpu:NoSchedule"]), node("b"), pod("p")])
    change = explain(whole, "default/p", "a").changes[0]
    made = copied(whole, change, "default/p", placed=True)
    assert (made.way, made.pod, made.index) == ("manifests", "default/p", 1)
    (cycle,) = Simulation(made.scenario)
    assert cycle.feasible.tolist() == [0, 1]


def test_a_copy_without_time_to_run_it_is_there_all_the_same() -> None:
    """Running out of time leaves a copy with the change, at the cycle that was asked about."""
    pods = [pod(f"q{n}") for n in range(60)]
    whole = load_documents([node("n", taints=["gpu:NoSchedule"]), *pods, pod("p")])
    change = explain(whole, "default/p").changes[0]
    made = copied(whole, change, "default/p", out_of_time=lambda: True)
    assert (made.node, made.index) == (None, 61)
    assert made.documents != whole.documents


def test_an_operation_is_made_before_those_of_later_steps() -> None:
    """A victim can be deleted in a copy of a scenario that goes on with operations of its own."""
    create = {"object": node("late", allocatable=TIGHT)}
    operations = [{"id": "late", "step": 7, "createOperation": create}]
    history = obj("Scenario", "history", spec={"operations": operations})
    pods = [pod(name, {"cpu": "700m"}) for name in ("first", "second")]
    documents = [node("a", allocatable=TIGHT), *pods, history]
    whole = load_documents(documents)
    simulation = Simulation(whole, trace=False)
    simulation.step()
    simulation.step()
    offered = explain(simulation, "default/second").changes
    change = next(change for change in offered if change.patches[0]["action"] == "delete")
    made = finished(copying(whole, change, "default/second", index=2, major=simulation.major))
    assert made is not None
    assert (made.way, made.node) == ("operation", "a")
    steps = [operation.step for operation in made.scenario.operations]
    assert steps == [1, 7]
