"""Reading manifests as the API server stores them: metadata, owners, selectors, conditions, times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import Any

from scheduler_core.kubernetes.times import rfc3339, seconds_of

Manifest = dict[str, Any]

CLUSTER_SCOPED = frozenset((
    "Node", "PersistentVolume", "StorageClass", "PriorityClass", "Namespace", "CSINode", "RuntimeClass",
    "AdmissionCheck", "ClusterQueue", "Cohort", "ResourceFlavor", "Topology", "WorkloadPriorityClass",
))  # fmt: skip

RESOURCES = {
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "PriorityClass": "priorityclasses",
    "RuntimeClass": "runtimeclasses",
    "StorageClass": "storageclasses",
    "Topology": "topologies",
    "WorkloadPriorityClass": "workloadpriorityclasses",
}
"""Resources whose name is not the lower-case kind with an s."""


def resource_of(kind: str) -> str:
    """Return the API's resource of a kind, ``pods`` for Pod."""
    return RESOURCES.get(kind) or kind.lower() + "s"


def clone(value: Any) -> Any:
    """Return a deep copy of a manifest's part."""
    if isinstance(value, dict):
        return {key: clone(part) for key, part in value.items()}
    if isinstance(value, list):
        return [clone(part) for part in value]
    return value


def key_of(obj: Manifest) -> str:
    """Return ``namespace/name``, or the name of an object without namespace."""
    return key_in(obj["kind"], obj["metadata"].get("namespace"), obj["metadata"]["name"])


def key_in(kind: str, namespace: str | None, name: str) -> str:
    """Return the key of an object of a kind."""
    return name if kind in CLUSTER_SCOPED else intern(f"{namespace or 'default'}/{name}")


def name_of(obj: Manifest) -> str:
    """Return ``metadata.name``."""
    return str(obj["metadata"]["name"])


def namespace_of(obj: Manifest) -> str:
    """Return ``metadata.namespace``, "" for an object without one."""
    return str(obj["metadata"].get("namespace") or "")


def uid_of(obj: Manifest) -> str:
    """Return ``metadata.uid``."""
    return str(obj["metadata"]["uid"])


def labels_of(obj: Manifest) -> dict[str, str]:
    """Return ``metadata.labels``."""
    return obj["metadata"].get("labels") or {}


def annotations_of(obj: Manifest) -> dict[str, str]:
    """Return ``metadata.annotations``."""
    return obj["metadata"].get("annotations") or {}


def spec_of(obj: Manifest) -> dict[str, Any]:
    """Return ``spec``."""
    return obj.get("spec") or {}


def status_of(obj: Manifest) -> dict[str, Any]:
    """Return ``status``."""
    return obj.get("status") or {}


def generation(obj: Manifest) -> int:
    """Return ``metadata.generation``."""
    return int(obj["metadata"].get("generation") or 0)


def is_deleting(obj: Manifest) -> bool:
    """Return whether ``metadata.deletionTimestamp`` is set."""
    return bool(obj["metadata"].get("deletionTimestamp"))


def is_same_status(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two statuses are equal but for fields that are empty, which a dump leaves out."""
    return one == other or _without_empty(one) == _without_empty(other)


def _without_empty(status: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in status.items() if value}


def with_status(obj: Manifest, status: Mapping[str, Any]) -> Manifest:
    """Return an object with another status."""
    return {**obj, "status": dict(status)}


def with_meta(obj: Manifest, **fields: Any) -> Manifest:
    """Return an object with changed fields of its metadata; ``None`` removes one."""
    return {**obj, "metadata": without_none({**obj["metadata"], **fields})}


def with_spec(obj: Manifest, **fields: Any) -> Manifest:
    """Return an object with changed fields of its spec; ``None`` removes one."""
    return {**obj, "spec": without_none({**spec_of(obj), **fields})}


def without_none(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields without those that are ``None``, which are few."""
    if None not in fields.values():
        return fields
    return {name: value for name, value in fields.items() if value is not None}


# --- owners


def owners_of(obj: Manifest) -> list[dict[str, Any]]:
    """Return the owner references."""
    return obj["metadata"].get("ownerReferences") or []


def controller_of(obj: Manifest) -> dict[str, Any] | None:
    """Return the owner reference with ``controller: true`` (metav1.GetControllerOf)."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return owner  # type: ignore[no-any-return]
    return None


def reference_to(owner: Manifest) -> dict[str, Any]:
    """Return the reference of a controller on what it makes (metav1.NewControllerRef)."""
    return {
        "apiVersion": owner.get("apiVersion", "v1"),
        "kind": owner["kind"],
        "name": name_of(owner),
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def references_to(owner: Manifest) -> list[dict[str, Any]]:
    """Return a new object's owners, its controller alone: the same list for all that this one makes."""
    return _references(owner.get("apiVersion", "v1"), owner["kind"], name_of(owner), uid_of(owner))


@lru_cache(4_096)
def _references(version: str, kind: str, name: str, uid: str) -> list[dict[str, Any]]:
    return [reference_to({"apiVersion": version, "kind": kind, "metadata": {"name": name, "uid": uid}})]


# --- selectors


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector matches; an absent one matches nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    for key, value in wanted.items():
        if labels.get(key) != value:
            return False
    return all(_meets(one, labels) for one in selector.get("matchExpressions") or ())


def _meets(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = requirement["key"], requirement.get("values") or ()
    match requirement["operator"]:
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels


# --- node selectors


def term_matches(term: Mapping[str, Any], node: Manifest) -> bool:
    """Return whether a node selector term matches a node."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    return all(_meets_node(one, labels_of(node)) for one in expressions) and all(
        _meets_node(one, {"metadata.name": name_of(node)}) for one in fields
    )


def _meets_node(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = requirement["key"], requirement.get("values") or ()
    found = labels.get(key)
    match requirement["operator"]:
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
        case operator:
            return found is not None and _compares(operator, found, values)


def _compares(operator: str, found: str, values: Sequence[str]) -> bool:
    try:
        number, limit = int(found), int(values[0])
    except (ValueError, IndexError):
        return False
    return number > limit if operator == "Gt" else number < limit


# --- times


def stamp(now: float) -> str:
    """Return a time in seconds since 1970 as ``metav1.Time`` is stored: whole seconds, cut."""
    return rfc3339(int(now))


def second(timestamp: str | None) -> float:
    """Return the seconds since 1970 of a timestamp, 0 without one."""
    return seconds_of(timestamp) or 0.0


def created_at(obj: Manifest) -> float:
    """Return when an object was created, in seconds since 1970."""
    return second(obj["metadata"].get("creationTimestamp"))


# --- conditions


def condition_of(obj: Manifest, kind: str) -> dict[str, Any] | None:
    """Return the condition of a type."""
    return condition_in(status_of(obj).get("conditions") or (), kind)


def condition_in(conditions: Iterable[dict[str, Any]], kind: str) -> dict[str, Any] | None:
    """Return the condition of a type among several."""
    for one in conditions:
        if one["type"] == kind:
            return one
    return None


def with_condition(conditions: Sequence[dict[str, Any]], condition: dict[str, Any]) -> list[dict[str, Any]]:
    """Return conditions with one replaced in its place, or added at the end."""
    if condition_in(conditions, condition["type"]) is None:
        return [*conditions, condition]
    return [condition if one["type"] == condition["type"] else one for one in conditions]


def ready_status(node: Manifest) -> str:
    """Return the status of a node's condition Ready, ``Unknown`` without one."""
    found = condition_of(node, "Ready")
    return "Unknown" if found is None else str(found["status"])


# --- pods


def node_of(pod: Manifest) -> str:
    """Return ``spec.nodeName``."""
    return str(spec_of(pod).get("nodeName") or "")


def phase_of(pod: Manifest) -> str:
    """Return ``status.phase``."""
    return str(status_of(pod).get("phase") or "Pending")


def is_finished(pod: Manifest) -> bool:
    """Return whether a pod has succeeded or failed."""
    return status_of(pod).get("phase") in ("Succeeded", "Failed")


def is_active(pod: Manifest) -> bool:
    """Return whether a pod counts as a replica (controller.IsPodActive)."""
    if pod["metadata"].get("deletionTimestamp"):
        return False
    status = pod.get("status")
    return not status or status.get("phase") not in ("Succeeded", "Failed")


def is_terminating(pod: Manifest) -> bool:
    """Return whether a pod is being deleted and has not ended yet (controller.IsPodTerminating)."""
    return is_deleting(pod) and not is_finished(pod)


def is_ready(pod: Manifest) -> bool:
    """Return whether a pod's condition Ready is true."""
    status = pod.get("status")
    for one in (status.get("conditions") or ()) if status else ():
        if one["type"] == "Ready":
            return bool(one["status"] == "True")
    return False


def ready_since(pod: Manifest) -> float:
    """Return since when a pod is ready or not, in seconds since 1970."""
    found = condition_of(pod, "Ready")
    return 0.0 if found is None else second(found.get("lastTransitionTime"))


def is_available(pod: Manifest, min_ready: int, now: float) -> bool:
    """Return whether a pod has been ready for so many seconds (podutil.IsPodAvailable)."""
    return is_ready(pod) and (not min_ready or ready_since(pod) + min_ready <= now)


def restarts_of(pod: Manifest) -> int:
    """Return the restarts of a pod's containers, in sum."""
    return sum(_restarts(pod))


def most_restarts_of(pod: Manifest) -> int:
    """Return the restarts of the container that has restarted most (maxContainerRestarts)."""
    return max(_restarts(pod), default=0)


def _restarts(pod: Manifest) -> list[int]:
    return [int(one.get("restartCount") or 0) for one in status_of(pod).get("containerStatuses") or ()]


# --- taints


def taints_of(node: Manifest) -> list[dict[str, Any]]:
    """Return a node's taints."""
    return spec_of(node).get("taints") or []


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Return whether a toleration matches a taint (Toleration.ToleratesTaint)."""
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")


# --- amounts


def scaled(amount: Any, whole: int, *, up: bool) -> int:
    """Return a count, or a percentage of the whole rounded up or down (GetScaledValueFromIntOrPercent)."""
    if isinstance(amount, str) and amount.endswith("%"):
        exact = whole * int(amount[:-1])
        return -(-exact // 100) if up else exact // 100
    return int(amount or 0)
