"""The entries of a Scenario document: in their order, with their steps and objects, and new ones."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.scenario.moments import in_order, stepped
from scheduler_core.scenario.reconfiguration import VERSIONS
from scheduler_core.scenario.scenario import Operation, Scenario

Operations = list[Manifest]

SCENARIO_KIND = "Scenario"
SCENARIO_VERSION = "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1"
ACTIONS = ("createOperation", "patchOperation", "deleteOperation")


def listed_in(documents: Sequence[Document]) -> Sequence[Mapping[str, Any]]:
    """Return the entries of the bundle's Scenario document as they are written."""
    found = next((d for d in documents if d.get("kind") == SCENARIO_KIND), None)
    return ((found or {}).get("spec") or {}).get("operations") or ()


def with_entries(documents: Sequence[Document], added: Sequence[Manifest]) -> list[Document]:
    """Return the documents with the operations added to their Scenario, or to one of their own."""
    own = next((one for one in documents if one.get("kind") == SCENARIO_KIND), None)
    others = [one for one in documents if one is not own]
    spec = dict((own or {}).get("spec") or {})
    listed = [*(spec.get("operations") or []), *added]
    made = own or {"apiVersion": SCENARIO_VERSION, "kind": SCENARIO_KIND, "metadata": {"name": "operations"}}
    return [*others, {**made, "spec": {**spec, "operations": listed}}]


def entries_of(documents: Sequence[Document]) -> Sequence[Mapping[str, Any]]:
    """Return the entries of the bundle's Scenario document, read-only, in the order in which they land.

    Those written with only a time have the step that follows from it.
    """
    return stepped(listed_in(documents))


def written_of(documents: Sequence[Document]) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the entries as written, each with its index there, in the order in which they land."""
    listed = listed_in(documents)
    return [(place, listed[place]) for place in in_order(listed)]


def operations_of(documents: Sequence[Document]) -> Operations:
    """Return mutable copies of the entries."""
    return [plain_copy(entry) for entry in entries_of(documents)]


def ids_of(operations: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the id of each operation; one without an id gets its number, as when it is read."""
    taken: set[str] = set()
    names = []
    for operation in operations:
        given = operation.get("id")
        name = str(given) if given not in (None, "") else str(len(taken) + 1)
        taken.add(name)
        names.append(name)
    return names


def major_of(operation: Mapping[str, Any]) -> int:
    """Return the major step of an entry."""
    step = operation["step"]
    return int(step["major"] if isinstance(step, Mapping) else step)


def minor_of(operation: Mapping[str, Any]) -> int | None:
    """Return after how many cycles of its step an entry lands; ``None``: when no cycle is left to run."""
    step = operation.get("step")
    return step.get("minor") if isinstance(step, Mapping) else None


def resolved(
    operations: Sequence[Mapping[str, Any]], scenario: Scenario
) -> Iterator[tuple[Mapping[str, Any], list[Operation]]]:
    """Yield each entry with its resolved operations: its own, and those of controllers in response."""
    left = iter([*scenario.operations, None])
    current = next(left)
    for name, operation in zip(ids_of(operations), operations):
        made: list[Operation] = []
        while current is not None and current.id == (f"{name}.{len(made)}" if made else name):
            made.append(current)
            current = next(left)
        yield operation, made


def creating(manifest: Mapping[str, Any]) -> Manifest:
    """Return the action that creates an object."""
    return {"createOperation": {"object": plain_copy(manifest)}}


def patching(key: Key, manifest: Mapping[str, Any], kind: str, patch: Any) -> Manifest:
    """Return the action that patches an object; ``kind`` is the patch type."""
    return {"patchOperation": {**_target(key, manifest), "patchType": kind, "patch": plain_copy(patch)}}


def deleting(key: Key, manifest: Mapping[str, Any]) -> Manifest:
    """Return the action that deletes an object."""
    return {"deleteOperation": _target(key, manifest)}


def _target(key: Key, manifest: Mapping[str, Any]) -> Manifest:
    kind, named = key
    version = manifest.get("apiVersion") or VERSIONS.get(kind) or "v1"
    target: Manifest = {"typeMeta": {"apiVersion": version, "kind": kind}}
    if kind not in VERSIONS:
        namespace, _, name = named.rpartition("/")
        target["objectMeta"] = {"name": name, **({"namespace": namespace} if namespace else {})}
    return target


def target_of(operation: Mapping[str, Any]) -> Key:
    """Return the key of an entry's object: the kind, and ``namespace/name`` or name, "" for a selection."""
    action: Mapping[str, Any] = next((operation[name] for name in ACTIONS if name in operation), {})
    if "object" in action:
        key = document_key(action["object"])
    else:
        kind, meta = (action.get("typeMeta") or {}).get("kind"), action.get("objectMeta") or {}
        key = document_key({"kind": kind, "metadata": meta}) if meta else (str(kind), "")
    return (key[0], key[0]) if key[0] in VERSIONS else key


def plain_copy(value: Any) -> Any:
    """Return a mutable copy, with mappings as dicts and sequences as lists."""
    if isinstance(value, Mapping):
        return {key: plain_copy(item) for key, item in value.items()}
    return [plain_copy(item) for item in value] if isinstance(value, (list, tuple)) else copy.copy(value)
