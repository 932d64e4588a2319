"""Dumps of real clusters that lack pods are announced as incomplete; bundles made by hand are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core import load
from tests.core.explain.test_recorded_answer import node, pod, system


def announced(objects: list[dict[str, Any]]) -> list[str]:
    return [one.message for one in load(yaml.safe_dump_all(objects)).warnings if one.incomplete]


def owner(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "o", "controller": True}


def daemons(scheduled: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c"}]}}
    spec = {"selector": {"matchLabels": {"app": "d"}}, "template": template}
    status = {"currentNumberScheduled": scheduled}
    meta = {"name": "agent", "namespace": "kube-system", "uid": "o"}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta, "spec": spec, "status": status}


def agent() -> dict[str, Any]:
    made = system()
    made["metadata"] |= {"labels": {"app": "d"}, "ownerReferences": [owner("DaemonSet", "agent")]}
    return made


DISK: dict[str, Any] = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


@pytest.mark.parametrize(
    ("objects", "texts"),
    [
        ([node(), system()], []),
        ([node(real=False), pod("web", "a", "1", nodeName="n1")], []),
        ([node(nodeInfo={"kubeletVersion": "kwok-v0.6.0"})], []),
        ([node(), pod("openshift-dns", "a", "1", nodeName="n1")], []),
        ([node()], ["the dump has no pod that runs on its nodes"]),
        (
            [node(), pod("web", "a", "1", nodeName="n1")],
            ["the dump has no pod of the namespace kube-system, only of web:"],
        ),
        ([node(), node("n2"), system()], ["no pod of the dump runs on n2,"]),
        ([node(), node("n2", conditions=[{"type": "Ready", "status": "Unknown"}]), system()], []),
        ([node(volumesInUse=["a"]), system()], ["more volumes are in use than the pods of the dump mount"]),
        ([node(volumesInUse=["a"]), system(), CLAIM, pod("default", "b", "0", nodeName="n1", **DISK)], []),
        ([node(), daemons(1), agent()], []),
        (
            [node(), daemons(3), agent()],
            ["pods of controllers are missing from the dump: DaemonSet kube-system/agent (1 of 3)"],
        ),
    ],
)  # fmt: skip
def test_what_a_dump_lacks_is_announced(objects: list[dict[str, Any]], texts: list[str]) -> None:
    """Each sign is a warning of its own."""
    found = announced(objects)
    assert len(found) == len(texts), found
    assert all(one.startswith(text) for one, text in zip(found, texts, strict=True)), found


def test_real_dumps_are_judged_by_what_they_hold(shared_folder: Path) -> None:
    """All pods of a cluster, its nodes alone, and nodes with the pods of one namespace."""

    def warned(*names: str) -> bool:
        files = [(name, (shared_folder / "dumps" / name).read_bytes()) for name in names]
        return any(one.incomplete for one in load(files).warnings)

    assert not warned("gke/nodes.yaml", "gke/pods.yaml")
    assert warned("gke/nodes.yaml")
    assert warned("pending/nodes.json", "pending/pods-message-pending-node-affinity.json")
