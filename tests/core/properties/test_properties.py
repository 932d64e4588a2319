"""What must hold of every scenario: what may not change a decision does not.

The seeds are few here; for longer runs see ``histories``.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.record.cycle import Decision
from scheduler_core.run.instant import Simulation
from scheduler_core.run.trace import trace_line
from scheduler_core.scenario.load import load
from scheduler_core.scenario.scenario import Scenario
from tests.conformance.random_records import Dice, Manifest, record
from tests.core.properties.histories import STARTS, bundle, read, seeds, simulated


def trace(scenario: Scenario, **options: bool) -> list[str]:
    """Return every line of a scenario's trace."""
    return [trace_line(cycle) for cycle in Simulation(scenario, **options)]


def outcome(scenario: Scenario, **options: bool) -> tuple[list[Decision], dict[str, str], list[str]]:
    """Return the decisions, where every pod is in the end, and which pods were deleted for others."""
    run = Simulation(scenario, **options)
    return [cycle.decision for cycle in run], run.placement(), run.deleted


def test_the_histories_hold_what_they_promise() -> None:
    """Together they have every kind of change, restarts and preemption; else they would show little."""
    kinds: set[str] = set()
    results: set[str] = set()
    victims = 0
    for seed in seeds(STARTS[0]):
        scenario = read(bundle(seed))
        kinds |= {f"{operation.kind}/{operation.action}" for operation in scenario.operations}
        decisions, _, deleted = outcome(scenario)
        results |= {decision.result for decision in decisions}
        victims += len(deleted)
    assert kinds >= {
        "Node/create",
        "Node/update",
        "Node/delete",
        "Pod/create",
        "Pod/delete",
        "Service/create",
        "PersistentVolume/create",
        "Policy/create",
    }
    assert results == {"scheduled", "unschedulable", "error"}
    assert victims


@pytest.mark.parametrize("start", STARTS)
def test_reuse_decides_as_evaluation_does(start: int) -> None:
    """What pods of one class share, through nodes that change, go and come, alters no line of the trace."""
    for seed in seeds(start):
        scenario = read(simulated(seed))
        assert trace(scenario) == trace(scenario, reuse=False), seed


@pytest.mark.parametrize("start", STARTS)
def test_a_trace_decides_as_none_does(start: int) -> None:
    """Without a trace, with it, and with every predicate on every node, the decisions are the same."""
    for seed in seeds(start):
        scenario = read(simulated(seed))
        quick = outcome(scenario, trace=False)
        assert quick == outcome(scenario), seed
        assert quick == outcome(scenario, unabridged=True), seed
        assert quick == outcome(scenario, trace=False, reuse=False), seed


def _yaml_stream(scenario: Scenario) -> str:
    return scenario.to_yaml()


def _json_lines(scenario: Scenario) -> str:
    return "\n".join(json.dumps(document) for document in scenario.documents)


def _json_array(scenario: Scenario) -> str:
    return json.dumps(list(scenario.documents), indent=1)


def _kubectl(scenario: Scenario) -> Manifest:
    return {"apiVersion": "v1", "items": list(scenario.documents), "kind": "List", "metadata": {}}


def _kubectl_json(scenario: Scenario) -> str:
    return json.dumps(_kubectl(scenario), indent=4)


def _kubectl_yaml(scenario: Scenario) -> str:
    by_key = json.loads(json.dumps(_kubectl(scenario), sort_keys=True))  # as kubectl prints them
    return write_yaml([by_key]).removeprefix("---\n")


FORMS: dict[str, Callable[[Scenario], str]] = {
    "a YAML stream": _yaml_stream,
    "JSON lines": _json_lines,
    "a JSON array": _json_array,
    "kubectl get -o json": _kubectl_json,
    "kubectl get -o yaml": _kubectl_yaml,
}


@pytest.mark.parametrize("form", FORMS)
def test_a_scenario_that_is_written_and_read_decides_alike(form: str) -> None:
    """Written in any form and read again, a scenario is the same content and gives the same cycles."""
    for seed in seeds(STARTS[0]):
        scenario = read(simulated(seed))
        again = load(FORMS[form](scenario), expand=False, admission=False)
        assert again.id == scenario.id, seed
        assert again.objects == scenario.objects, seed
        assert again.operations == scenario.operations, seed
        assert trace(again) == trace(scenario), seed


ORDERED = ("Node", "Pod", "Service")  # the rules name the order among the objects of each of these kinds


def shuffled(documents: list[Manifest], dice: Dice) -> list[Manifest]:
    """Put documents into another order, which only within a kind of ``ORDERED`` stays the same."""
    mixed = dice.sample(documents, len(documents))
    waiting = {kind: [d for d in reversed(documents) if d["kind"] == kind] for kind in ORDERED}
    return [waiting[d["kind"]].pop() if d["kind"] in ORDERED else d for d in mixed]


@pytest.mark.parametrize("start", STARTS)
def test_the_order_of_unrelated_objects_is_of_no_account(start: int) -> None:
    """Volumes, claims, classes, budgets, controllers and configuration may stand in any order, anywhere."""
    for seed in seeds(start):
        documents = simulated(seed)
        other = shuffled(documents, Dice(seed))
        assert other != documents
        assert trace(read(other)) == trace(read(documents)), seed


@pytest.mark.parametrize("start", STARTS)
def test_objects_of_a_namespace_without_pods_are_of_no_account(start: int) -> None:
    """Services, budgets, claims and controllers of another namespace change nothing, nor do kept kinds."""
    for seed in seeds(start):
        documents = bundle(seed)
        selector = {"matchLabels": {"app": "web"}}
        strangers: list[Manifest] = [
            {"apiVersion": "v1", "kind": "Service", "spec": {"selector": {"app": "web"}}},
            {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {"selector": selector}},
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"selector": selector}},
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"volumeName": "pv-0"}},
            {"apiVersion": "v1", "kind": "ConfigMap"},
        ]
        added = [{**s, "metadata": {"name": "stranger", "namespace": "elsewhere"}} for s in strangers]
        dice = Dice(seed)
        crowded = list(documents)
        for stranger in added:
            crowded.insert(dice.randint(0, len(crowded)), stranger)
        assert trace(read(crowded)) == trace(read(documents)), seed


def labelled(manifest: Manifest, note: str) -> Manifest:
    """Add a label and an annotation that no rule names; what has no labels keeps none, for rules ask that."""
    out = copy.deepcopy(manifest)
    metadata = out["metadata"]
    if metadata.get("labels"):
        metadata["labels"]["team.example.com/note"] = note
    metadata.setdefault("annotations", {})["team.example.com/note"] = note
    return out


@pytest.mark.parametrize("start", STARTS)
def test_labels_that_no_rule_names_are_of_no_account(start: int) -> None:
    """A label that splits classes of equal pods, and annotations, alter no line of the trace.

    CheckServiceAffinity looks for pods with all labels of the pod, so that under it every pod has the same.
    """
    for seed in seeds(start):
        documents = bundle(seed)
        notes = 1 if "serviceAffinity" in json.dumps(documents) else 3
        other = [
            labelled(d, f"n-{number % notes}") if d["kind"] not in ("Policy", "Scenario") else d
            for number, d in enumerate(documents)
        ]
        assert trace(read(other)) == trace(read(documents)), seed


@pytest.mark.parametrize("start", STARTS)
def test_the_names_of_pods_are_of_no_account(start: int) -> None:
    """Under other names, in another alphabetical order, the same pods go to the same nodes."""
    for seed in seeds(start):
        documents = [d for d in bundle(seed) if d["kind"] != "Scenario"]
        other = copy.deepcopy(documents)
        names = {}
        for number, document in enumerate(d for d in other if d["kind"] == "Pod"):
            metadata = document["metadata"]
            fresh = f"x-{997 - number}"
            names[f"{metadata['namespace']}/{metadata['name']}"] = f"{metadata['namespace']}/{fresh}"
            metadata |= {"name": fresh, "uid": f"uid-{number * 7919 % 1009}"}
        decisions, placement, deleted = outcome(read(documents))
        renamed = [
            replace(
                decision,
                pod=names[decision.pod],
                victims=tuple(names[v] for v in decision.victims),
                cleared=tuple(names[v] for v in decision.cleared),
            )
            for decision in decisions
        ]
        expected = renamed, {names[pod]: on for pod, on in placement.items()}, [names[pod] for pod in deleted]
        assert outcome(read(other)) == expected, seed


@pytest.mark.parametrize("start", STARTS)
def test_a_node_that_takes_no_pod_is_of_no_account(start: int) -> None:
    """A node that is unschedulable changes the count in messages and nothing else, wherever it stands.

    The static order puts CheckNodeCondition first and stops there. A policy that puts others before it, or
    checks all, may meet an error on that node or find it worth a preemption: the rules name that.
    """
    closed: Manifest = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "closed", "labels": {"kubernetes.io/hostname": "closed"}},
        "spec": {"unschedulable": True},
        "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110", "example.com/gpu": "8"}},
    }
    for seed in seeds(start):
        made = record(seed)
        policy = made["policy"]
        if policy is not None:
            policy.pop("alwaysCheckAllPredicates", None)
            for entry in policy.get("predicates") or ():
                entry.pop("order", None)
        documents = [*made["objects"], *([policy] if policy is not None else [])]
        expected = outcome(read(documents))
        for place in (0, len(documents) // 2, len(documents)):
            crowded = [*documents[:place], closed, *documents[place:]]
            assert outcome(read(crowded)) == expected, (seed, place)
