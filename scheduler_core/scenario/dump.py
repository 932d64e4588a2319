"""What the dump of a real cluster contains and lacks: its scheduler's own conditions, and missing pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.support import part_of

SYSTEM = "kube-system"
OPENSHIFT = "openshift-"  # whose clusters run theirs in namespaces of their own
NAMED = 3  # nodes or controllers named in a message; the others are counted
ADVICE = "use the output of `kubectl get nodes,pods -A -o yaml`"
COUNTED = {"DaemonSet": "currentNumberScheduled", "ReplicaSet": "replicas", "StatefulSet": "replicas"}
"""The controllers that create pods and count them, and the field of their status that does."""
DISKS = (
    "persistentVolumeClaim", "ephemeral", "awsElasticBlockStore", "azureDisk", "cinder", "fc",
    "gcePersistentDisk", "iscsi", "portworxVolume", "rbd", "vsphereVolume", "csi",
)  # fmt: skip
"""The sources of volumes that a node may list in ``status.volumesInUse``."""


class SchedulingCondition(Struct, frozen=True):
    """The condition ``PodScheduled: False`` of a pending pod, as its cluster recorded it."""

    pod: str
    reason: str  # Unschedulable, SchedulerError or SchedulingGated
    message: str
    since: str = ""  # RFC 3339: when the pod began to wait; the message may be newer


def scheduling_conditions(documents: Iterable[Document]) -> dict[str, SchedulingCondition]:
    """Return the conditions of pods that the cluster's scheduler could not place, by ``namespace/name``."""
    found = (_condition(one) for one in documents if one.get("kind") == "Pod")
    return {condition.pod: condition for condition in found if condition is not None}


def _condition(pod: Document) -> SchedulingCondition | None:
    if _node(pod):
        return None
    for one in _entries(pod, "status", "conditions"):
        if (one.get("type"), one.get("status")) == ("PodScheduled", "False"):
            words = (str(one.get(name) or "") for name in ("reason", "message", "lastTransitionTime"))
            return SchedulingCondition(_key(pod), *words)
    return None


def is_dump(documents: Iterable[Document]) -> bool:
    """Return whether a bundle has nodes that the kubelets of a real cluster reported."""
    return any(one.get("kind") == "Node" and _is_real(one) for one in documents)


def missing_pods(documents: Iterable[Document]) -> tuple[Problem, ...]:
    """Return a warning for each sign that the dump of a real cluster lacks pods that run on its nodes.

    A bundle whose nodes no kubelet has reported is no dump, and may have the pods that it likes.
    """
    listed = list(documents)
    nodes = {_name(one): one for one in listed if one.get("kind") == "Node" and _is_real(one)}
    if not nodes:
        return ()
    pods = [one for one in listed if one.get("kind") == "Pod" and not _is_over(one)]
    texts = (*_absent(nodes, [one for one in pods if _node(one) in nodes]), *_uncounted(listed, pods))
    return tuple(Problem(text, incomplete=True) for text in texts)


def _absent(nodes: Mapping[str, Document], pods: Sequence[Document]) -> Iterator[str]:
    """Yield what the pods that run on the nodes do not account for."""
    if not pods:
        yield f"the dump has no pod that runs on its nodes, which count as empty: {ADVICE}"
        return
    namespaces = Counter(_namespace(one) for one in pods)
    pods_on, mounted = Counter(map(_node, pods)), Counter[str]()
    for pod in pods:
        mounted[_node(pod)] += sum(
            not one.keys().isdisjoint(DISKS) for one in _entries(pod, "spec", "volumes")
        )
    if not any(name == SYSTEM or name.startswith(OPENSHIFT) for name in namespaces):
        yield (
            f"the dump has no pod of the namespace {SYSTEM}, only of {_listed(list(namespaces))}: what runs "
            f"there takes room that counts as free here; {ADVICE}"
        )
    elif idle := [name for name, node in nodes.items() if _is_ready(node) and not pods_on[name]]:
        where = f"{_listed(idle)}, where a real node runs at least its agents"
        yield f"no pod of the dump runs on {where}: {ADVICE}"
    if busy := [name for name, node in nodes.items() if _volumes_in_use(node) > mounted[name]]:
        yield f"more volumes are in use than the pods of the dump mount on {_listed(busy)}: {ADVICE}"


def _uncounted(documents: Iterable[Document], pods: Iterable[Document]) -> Iterator[str]:
    """Yield which controllers count more pods of theirs than the dump has."""
    owned = Counter(
        (_namespace(pod), owner.get("kind"), owner.get("name"))
        for pod in pods
        for owner in _entries(pod, "metadata", "ownerReferences")
    )
    short: list[str] = []
    for one in documents:
        kind = str(one.get("kind"))
        count = part_of(one, "status", COUNTED[kind]) if kind in COUNTED else None
        have = owned[_namespace(one), kind, _name(one)]
        if isinstance(count, int) and count > have:
            short.append(f"{kind} {_key(one)} ({have:,} of {count:,})")
    if short:
        yield f"pods of controllers are missing from the dump: {_listed(short)}"


def _is_real(node: Document) -> bool:
    """Return whether a kubelet of a real cluster has reported the node."""
    version = part_of(node, "status", "nodeInfo", "kubeletVersion")
    real = isinstance(version, str) and version.startswith("v1.") and "kwok" not in version
    return real and bool(part_of(node, "metadata", "uid"))


def _is_ready(node: Document) -> bool:
    conditions = _entries(node, "status", "conditions")
    return any((one.get("type"), one.get("status")) == ("Ready", "True") for one in conditions)


def _is_over(pod: Document) -> bool:
    return part_of(pod, "status", "phase") in ("Succeeded", "Failed")


def _volumes_in_use(node: Document) -> int:
    listed = part_of(node, "status", "volumesInUse")
    return len(listed) if isinstance(listed, list) else 0


def _entries(document: Document, *path: str) -> list[dict[str, Any]]:
    """Return the objects of a list, which may be anything."""
    listed = part_of(document, *path)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _node(pod: Document) -> str:
    return str(part_of(pod, "spec", "nodeName") or "")


def _namespace(document: Document) -> str:
    return str(part_of(document, "metadata", "namespace") or "default")


def _name(document: Document) -> str:
    return str(part_of(document, "metadata", "name") or "")


def _key(document: Document) -> str:
    return f"{_namespace(document)}/{_name(document)}"
