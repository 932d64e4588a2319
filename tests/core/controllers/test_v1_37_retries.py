"""When, and in which order, kube-scheduler v1.37 tries pods again whose binding failed."""

from __future__ import annotations

from typing import Any

from tests.core.controllers.lives import Facts, live

CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "csi.podstep",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def node(name: str, cpu: str) -> Facts:
    """Return a node in a zone of its own."""
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"z-{name}"}
    status = {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def containers(cpu: str) -> dict[str, Any]:
    """Return a pod's spec."""
    return {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}


def claiming(replicas: int) -> Facts:
    """Return a StatefulSet whose claims it updates while the scheduler selects their nodes: a conflict."""
    requests = {"requests": {"storage": "1Gi"}}
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": requests}
    spec = {
        "replicas": replicas,
        "serviceName": "db",
        "podManagementPolicy": "Parallel",
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
        "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": containers("500m")},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
    }
    meta = {"name": "db", "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": spec}


def nominated(expect: Facts, second: int) -> dict[int, str]:
    """Return the nodes that pods are nominated to in a second, by their ordinals."""
    found = [one for one in expect["timeline"] if one["what"] == "nominated" and one["time"] == second]
    return {one["index"]: one["node"] for one in found}


def test_pods_return_in_the_order_in_which_they_failed() -> None:
    """Within a millisecond too: their bindings fail by name, so that db-10 returns before db-2."""
    expect = live([*(node(name, "4") for name in ("n1", "n2", "n3")), CLASS, claiming(11)], 5)
    assert nominated(expect, 0)[10] == "n2"
    assert [nominated(expect, 2)[ordinal] for ordinal in (0, 1, 10, 2)] == ["n1", "n2", "n3", "n1"]


def test_a_backoff_ends_on_a_whole_second() -> None:
    """Before anything else happens in it: room that becomes free in that second comes too late."""
    meta = {"name": "filler", "namespace": "default"}
    filler = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": containers("8")}
    objects = [node("n1", "8"), node("n2", "1"), CLASS, filler, claiming(1)]
    expect = live(objects, 1, {"do": "delete", "kind": "Pod", "name": "filler"}, 5)
    assert [one["time"] for one in expect["timeline"] if one["what"] == "deleted"] == [2]
    assert nominated(expect, 2) == {0: "n2"}
