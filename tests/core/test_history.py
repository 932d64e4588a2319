"""An operation put into a history at a moment: what was before stays, what comes later comes when it did."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
import yaml

from scheduler_core import load
from scheduler_core.formats.difference import smallest_patch
from scheduler_core.formats.patch import apply_patch
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.run.instant import Simulation
from scheduler_core.scenario.history import (
    HistoryError,
    Moment,
    manifest_at,
    moved,
    objects_at,
    placed,
    removed,
    with_operations,
)
from scheduler_core.scenario.history_entries import creating, deleting, ids_of, operations_of, patching
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from tests.core.properties.histories import STARTS, bundle, seeds

# What no decision depends on, and no pod is tried again for.
NEUTRAL = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "brand-new"}}
CORDON = {"spec": {"unschedulable": True}}


def played(scenario: Scenario) -> list[tuple[str, Any, tuple[str, ...]]]:
    """Return step, decision and operations of every cycle."""
    return [(c.step, c.decision, c.operations) for c in Simulation(scenario, trace=False)]


def read(scenario: Scenario, operations: list[dict[str, Any]]) -> Scenario:
    """Return the scenario of a random bundle with other operations."""
    return as_seen(with_operations(scenario.documents, operations))


def as_seen(documents: Iterable[Document]) -> Scenario:
    """Read a random bundle, which is what the scheduler sees."""
    return load_documents(documents, expand=False, admission=False)


def moment_of(cycles: list[tuple[str, Any, tuple[str, ...]]], index: int, **more: bool) -> Moment:
    """Return the moment after a cycle, the start for 0."""
    return Moment.parse(cycles[index - 1][0] if index else "1.0", **more)


@pytest.mark.parametrize("start", STARTS)
def test_an_operation_that_changes_nothing_leaves_every_cycle_as_it_was(start: int) -> None:
    """At any step of a random history: all decisions, and which operations come before which cycle."""
    for seed in seeds(start):
        before = as_seen(bundle(seed))
        cycles = played(before)
        for index in {0, 1, len(cycles), Random(seed).randint(0, len(cycles))}:
            during = bool(seed % 2)
            operations, name = placed(
                before, moment_of(cycles, min(index, len(cycles)), during=during), creating(NEUTRAL)
            )
            after = played(read(before, operations))
            assert [decision for _, decision, _ in after] == [decision for _, decision, _ in cycles], seed
            landings = [tuple(o for o in ids if o != name) for _, _, ids in after]
            assert landings == [ids for _, _, ids in cycles], seed
            if index < len(cycles):
                assert name in after[index][2], (seed, index)


@pytest.mark.parametrize("start", STARTS)
def test_what_was_before_the_moment_stays_and_later_operations_come_later(start: int) -> None:
    """A node is cordoned at any step of a random history."""
    for seed in seeds(start):
        before = as_seen(bundle(seed))
        cycles = played(before)
        index = Random(seed).randint(0, len(cycles))
        moment = moment_of(cycles, index)
        nodes = [key for key in objects_at(before, moment) if key[0] == "Node"]
        if not nodes:
            continue
        manifest = manifest_at(before, nodes[0], moment)
        assert manifest is not None
        operations, name = placed(before, moment, patching(nodes[0], manifest, "merge", CORDON))
        changed = read(before, operations)
        after = played(changed)
        assert after[:index] == cycles[:index], seed
        order = [operation.id for operation in changed.operations]
        assert [o for o in order if o != name] == [operation.id for operation in before.operations], seed
        landed = [o for _, _, ids in after for o in ids]
        assert landed == order[: len(landed)], seed
        shown = manifest_at(changed, nodes[0], moment)
        assert shown is not None
        assert shown["spec"]["unschedulable"] is True


@pytest.mark.parametrize("start", STARTS)
def test_putting_in_and_taking_out_again_is_as_before(start: int) -> None:
    """The decisions of a random history are the same again, and so is what lands before which cycle."""
    for seed in seeds(start):
        before = as_seen(bundle(seed))
        cycles = played(before)
        moment = moment_of(cycles, Random(seed).randint(0, len(cycles)))
        operations, name = placed(before, moment, creating(NEUTRAL))
        back, gone = removed(read(before, operations), name, moment)
        assert gone["createOperation"]["object"] == NEUTRAL
        after = played(read(before, back))
        assert [(d, ids) for _, d, ids in after] == [(d, ids) for _, d, ids in cycles], seed


@pytest.mark.parametrize("start", STARTS)
def test_moving_what_changes_nothing_moves_only_that(start: int) -> None:
    """From any step of a random history to any other: it lands there, and all else stays."""
    for seed in seeds(start):
        before = as_seen(bundle(seed))
        cycles = played(before)
        dice = Random(seed)
        first, second = dice.randint(0, len(cycles)), dice.randint(0, len(cycles))
        operations, name = placed(before, moment_of(cycles, first), creating(NEUTRAL))
        with_it = read(before, operations)
        now = played(with_it)
        target = moment_of(now, second)
        without, there, gone = moved(with_it, name, moment_of(cycles, first), target)
        operations, again = placed(without, there, gone)
        assert again == name
        after = played(read(before, operations))
        assert [d for _, d, _ in after] == [d for _, d, _ in cycles], seed
        assert [tuple(o for o in ids if o != name) for _, _, ids in after] == [ids for _, _, ids in cycles], (
            seed
        )
        if second < len(cycles):
            assert name in after[second][2], (seed, first, second)


CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {zone: a}}
spec: {taints: [{key: old, effect: NoSchedule}]}
status:
  allocatable: {cpu: "4", memory: 8Gi, pods: "10"}
  conditions: [{type: Ready, status: "True"}, {type: MemoryPressure, status: "False"}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}], tolerations: [{operator: Exists}]}
"""


def test_edits_at_one_moment_come_in_the_order_they_were_made() -> None:
    """What is done second at a step sees what was done first there, and one during evaluation comes last."""
    scenario = load(CLUSTER)
    at, inside = Moment(1, 2), Moment(1, 2, during=True)
    key = ("Node", "n1")
    for moment, labels in ((at, {"x": "1"}), (inside, {"y": "1"}), (at, {"x": "2"})):
        manifest = manifest_at(scenario, key, at)
        assert manifest is not None
        entry = patching(key, manifest, "merge", {"metadata": {"labels": labels}})
        scenario = load_documents(with_operations(scenario.documents, placed(scenario, moment, entry)[0]))
    assert ids_of(operations_of(scenario.documents)) == ["edit-1", "edit-3", "edit-2"]
    shown = manifest_at(scenario, key, at)
    assert shown is not None
    assert shown["metadata"]["labels"] == {"zone": "a", "x": "2", "y": "1"}
    former = manifest_at(scenario, key, Moment(1, 1))
    assert former is not None
    assert former["metadata"]["labels"] == {"zone": "a"}


def test_what_a_controller_made_has_a_manifest_too() -> None:
    """A pod of a Deployment can be read, deleted, and is gone from then on."""
    scenario = load(CLUSTER)
    key = next(key for key in objects_at(scenario, Moment(1, 0)) if key[0] == "Pod")
    manifest = manifest_at(scenario, key, Moment(1, 1))
    assert manifest is not None
    assert manifest["metadata"]["labels"]["app"] == "web"
    operations, _ = placed(scenario, Moment(1, 1), deleting(key, manifest))
    changed = load_documents(with_operations(scenario.documents, operations))
    assert manifest_at(changed, key, Moment(1, 1)) is None
    assert key in objects_at(changed, Moment(1, 0))
    assert key not in objects_at(changed, Moment(1, 1))


def test_scaling_a_deployment_at_a_step_brings_its_pods_there() -> None:
    """The pods come in the cycle after; the cycles before are the same."""
    scenario = load(CLUSTER)
    key = ("Deployment", "default/web")
    manifest = manifest_at(scenario, key, Moment(1, 2))
    assert manifest is not None
    operations, _ = placed(
        scenario, Moment(1, 2), patching(key, manifest, "merge", {"spec": {"replicas": 5}})
    )
    changed = load_documents(with_operations(scenario.documents, operations), scheduler="v1.11")
    cycles = played(changed)
    assert [step for step, _, _ in cycles] == ["1.1", "1.2", "2.1", "2.2", "2.3"]
    assert cycles[:2] == played(scenario)[:2]


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("3.1", "There is no major step 3: the operations of this scenario lead to 1, 2."),
        ("1.4", "There is no cycle 1.4: operations end major step 1 after 1.2."),
        ("x", "'x' is not a moment: write the cycle's major.minor, such as 3.4; 1.0 is the start."),
    ],
)
def test_a_moment_that_there_is_not_is_refused(moment: str, said: str) -> None:
    """The text says which moments there are."""
    scenario = load(CLUSTER)
    operations, _ = placed(scenario, Moment(1, 2), creating(NEUTRAL))
    changed = load_documents(with_operations(scenario.documents, operations))
    with pytest.raises(HistoryError) as raised:
        placed(changed, Moment.parse(moment), creating({**NEUTRAL, "metadata": {"name": "other"}}))
    assert str(raised.value) == said


def _node() -> dict[str, Any]:
    document: dict[str, Any] = next(yaml.safe_load_all(CLUSTER))
    return document


def test_the_smallest_patch_names_only_what_changed() -> None:
    """A field is a merge patch; an item of a list with a merge key a strategic one; a null takes away."""
    before, after = _node(), _node()
    after["spec"]["unschedulable"] = True
    del after["metadata"]["labels"]["zone"]
    assert smallest_patch(before, after) == (
        "merge",
        {"metadata": {"labels": {"zone": None}}, "spec": {"unschedulable": True}},
    )
    after = _node()
    after["status"]["conditions"][1]["status"] = "True"
    assert smallest_patch(before, after) == (
        "strategic",
        {"status": {"conditions": [{"type": "MemoryPressure", "status": "True"}]}},
    )


def test_any_change_has_a_patch_that_leads_there() -> None:
    """Random changes of a manifest, lists with and without merge keys, and fields that go."""
    before = _node()
    for seed in range(300):
        dice = Random(seed)
        after = _node()
        conditions = after["status"]["conditions"]
        dice.shuffle(conditions)
        if dice.random() < 0.4:
            conditions.append({"type": f"C{seed}", "status": "True", "since": None})
        if dice.random() < 0.4:
            del conditions[0]
        if dice.random() < 0.3:
            after["spec"]["taints"] = []
        if dice.random() < 0.3:
            after["spec"] = None
        if dice.random() < 0.3:
            after["metadata"]["labels"] = {"other": "b", "zone": "true"}
        kind, patch = smallest_patch(before, after)
        found = apply_patch(before, patch, kind)
        assert _without_nulls(found) == _without_nulls(after), seed


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(part) for key, part in value.items() if part is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def test_operations_that_name_only_their_time_still_do() -> None:
    """What is put in before them does not turn their time into a step."""
    history = """---
apiVersion: simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
spec:
  operations:
  - {id: late, time: 50, createOperation: {object: {apiVersion: v1, kind: Service, metadata: {name: s}}}}
"""
    scenario = load(CLUSTER + history)
    operations, name = placed(scenario, Moment(1, 2), creating(NEUTRAL))
    documents = with_operations(scenario.documents, operations)
    listed = documents[-1]["spec"]["operations"]
    assert [(o["id"], o.get("step"), o.get("time")) for o in listed] == [
        (name, {"major": 1, "minor": 2}, 0),
        ("late", None, 50),
    ]
    assert [o.id for o in load_documents(documents).operations] == [name, "late"]


COUNTED = f"""{CLUSTER.replace("replicas: 3", "replicas: 8")}---
apiVersion: simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1
kind: Scenario
metadata: {{name: history}}
spec:
  operations:
  - id: a
    step: {{major: 1, minor: 5}}
    time: 7
    during: evaluation
    patchOperation:
      typeMeta: {{kind: Node}}
      objectMeta: {{name: n1}}
      patchType: merge
      patch: {{metadata: {{labels: {{a: x}}}}}}
  - id: b
    step: 1
    createOperation:
      object: {{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: b}}}}
  - id: c
    step: 9
    createOperation:
      object: {{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: c}}}}
"""


def moments_of(operations: list[dict[str, Any]]) -> list[tuple[Any, Any, Any]]:
    """Return what each entry is called, and when it lands: its step and its time."""
    return [(o["id"], o["step"], o.get("time")) for o in operations]


def test_what_comes_later_counts_on_from_the_new_operation() -> None:
    """Five cycles of step 1 are two of it and three of the next; steps that were left out stay free."""
    operations, _ = placed(load(COUNTED), Moment(1, 2), creating(NEUTRAL))
    assert moments_of(operations) == [
        ("edit-1", {"major": 1, "minor": 2}, 0),
        ("a", {"major": 2, "minor": 3}, 7),
        ("b", 2, None),
        ("c", 9, None),
    ]
    before = load(COUNTED)
    after = played(load_documents(with_operations(before.documents, operations)))
    assert [ids for _, _, ids in played(before)][5] == ("a", "b")
    assert [ids for _, _, ids in after][2] == ("edit-1",)
    assert [ids for _, _, ids in after][5] == ("a", "b")


def test_what_joins_a_step_at_its_head_takes_its_time() -> None:
    """The first operation of a step says at which virtual second all of it lands."""
    operations, _ = placed(load(COUNTED), Moment(1, 5), creating(NEUTRAL))
    assert moments_of(operations)[:2] == [
        ("edit-1", {"major": 1, "minor": 5}, 7),
        ("a", {"major": 1, "minor": 5}, 7),
    ]


def test_the_second_of_a_step_lands_where_the_first_did_that_is_taken_out() -> None:
    """It was written without a moment of its own, and keeps the one that it had."""
    operations, gone = removed(load(COUNTED), "a", Moment(1, 5))
    assert gone["id"] == "a"
    assert moments_of(operations) == [("b", {"major": 1, "minor": 5}, 7), ("c", 9, None)]


def test_owners_that_form_a_circle_go_together() -> None:
    """Deleting one of them ends, and deletes each once."""

    def owned(name: str, owner: str) -> dict[str, Any]:
        reference = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": owner,
            "uid": owner,
            "controller": True,
        }
        template = {
            "metadata": {"labels": {"a": name}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
        return {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": name, "ownerReferences": [reference]},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"a": name}}, "template": template},
        }

    history = {
        "kind": "Scenario",
        "spec": {"operations": [{"step": 1, **deleting(("ReplicaSet", "default/one"), {})}]},
    }
    scenario = load_documents([owned("one", "two"), owned("two", "one"), history], scheduler="v1.11")
    assert [(one.action, one.key) for one in scenario.operations] == [
        ("delete", "default/one"),
        ("delete", "default/two"),
    ]
