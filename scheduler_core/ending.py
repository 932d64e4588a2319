"""The cluster as a run left it, as manifests: each as given and patched, pods with the node they got."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.export import bound, document_key
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.formats.patch import apply_patch, kind_of_patch
from scheduler_core.history import entries_of, resolved, target_of
from scheduler_core.objects.kinds import KINDS
from scheduler_core.objects.model import KubernetesObject, Pod
from scheduler_core.scenario import Document, Scenario
from scheduler_core.simulation import Simulation
from scheduler_core.workloads import Key, key_of


def ending_documents(simulation: Simulation) -> list[Document]:
    """Return the manifests of all objects that there are when a run is done, in order of creation.

    An object that came from a manifest keeps it, unread fields and all, with the patches of operations;
    what controllers made gets one. Kinds that are not read come first, as they were given.
    """
    scenario = simulation.scenario
    given = _manifests(scenario)
    unread = [d for d in scenario.documents if d.get("kind") == "Namespace"]
    return unread + [_manifest(obj, given, simulation) for obj in _objects(simulation)]


def _objects(simulation: Simulation) -> list[KubernetesObject]:
    there: dict[Key, KubernetesObject] = {key_of(obj): obj for obj in simulation.scenario.objects}
    for operation in simulation.scenario.operations:
        key = (operation.kind, operation.key)
        if operation.object is None:
            there.pop(key, None)
        else:
            there[key] = operation.object
    cluster = simulation.cluster
    alive = {**{key: state.pod for key, state in cluster.pods.items()}, **cluster.finished}
    kept = [obj for key, obj in there.items() if key[0] != "Pod"]
    return kept + [alive[key[1]] for key in there if key[0] == "Pod" and key[1] in alive]


def _manifest(obj: KubernetesObject, given: Mapping[Key, Document], simulation: Simulation) -> Document:
    document = given.get(key_of(obj)) or to_manifest(obj)
    if not isinstance(obj, Pod) or obj.terminal:
        return document
    state = simulation.cluster.pods[obj.meta.key]
    return bound(document, state.node_name) if state.node_name else document


def _manifests(scenario: Scenario) -> dict[Key, Any]:
    """Return the manifests of the objects that the scenario's documents name, as operations left them."""
    out: dict[Key, Any] = {}
    for document in scenario.documents:
        if document.get("kind") in KINDS:
            out[document_key(document)] = document
    for entry, made in resolved(entries_of(scenario.documents), scenario):
        if not made:
            continue
        key = target_of(entry)
        if "createOperation" in entry:
            out[key] = entry["createOperation"]["object"]
        elif "deleteOperation" in entry:
            out.pop(key, None)
        elif key in out:
            body = entry["patchOperation"]
            out[key] = apply_patch(out[key], body["patch"], kind_of_patch(body, out[key]))
    return out
