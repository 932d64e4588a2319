"""The objects at the end of a run as manifests, pods with the node they were bound to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.formats.manifest import to_manifest
from scheduler_core.objects.keys import Key, document_key, key_of
from scheduler_core.objects.manifests import Document
from scheduler_core.objects.model import KubernetesObject, Pod
from scheduler_core.scenario.scenario import Scenario


def cluster_documents(
    scenario: Scenario, objects: Iterable[KubernetesObject], placements: Mapping[str, str]
) -> list[Document]:
    """Return the manifests of ``objects``, in their order.

    ``placements`` maps a pod's ``namespace/name`` to its node. An object read from a manifest
    keeps it, including unread fields; an object that a controller created gets one.
    """
    given = _manifests(scenario)
    out: list[Document] = []
    for obj in objects:
        document = given.get(key_of(obj)) or to_manifest(obj)
        node = placements.get(obj.meta.key) if isinstance(obj, Pod) else None
        out.append(bound(document, node) if node else document)
    return out


def bound(document: Mapping[str, Any], node: str) -> Document:
    """Return a pod's manifest with the pod bound to and running on a node."""
    spec = {**(document.get("spec") or {}), "nodeName": node}
    status = {**(document.get("status") or {}), "phase": "Running"}
    status.pop("nominatedNodeName", None)
    return {**document, "spec": spec, "status": status}


def _manifests(scenario: Scenario) -> dict[Key, Mapping[str, Any]]:
    out: dict[Key, Mapping[str, Any]] = {}
    for document in scenario.documents:
        out[document_key(document)] = document
        if document.get("kind") == "Scenario":
            for operation in (document.get("spec") or {}).get("operations") or ():
                created = (operation.get("createOperation") or {}).get("object")
                if created:
                    out[document_key(created)] = created
    return out
