"""What the API server adds to a new object: defaults of the API, and admission."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from scheduler_core.cluster.v1_37.objects import (
    CLUSTER_SCOPED,
    Manifest,
    annotations_of,
    spec_of,
    uid_of,
    with_meta,
)
from scheduler_core.cluster.v1_37.template_defaults import defaulted as defaulted_template

TOLERATION_SECONDS = 300
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
GENERATION = "deprecated.daemonset.template.generation"
"""The annotation that counts the templates that a DaemonSet has had."""
MOST = 2**31 - 1


class PriorityClasses(Protocol):
    """Where admission looks up priority classes."""

    def get(self, kind: str, key: str) -> Manifest | None:
        """Return an object, ``None`` if there is none."""
        ...

    def of_kind(self, kind: str) -> Any:
        """Yield the objects of a kind."""
        ...


def admitted(obj: Manifest, classes: PriorityClasses) -> Manifest:
    """Return a new object as it is stored."""
    if obj["kind"] not in CLUSTER_SCOPED and not obj["metadata"].get("namespace"):
        obj = with_meta(obj, namespace="default")
    defaulted = _DEFAULTS.get(obj["kind"])
    return with_template(obj if defaulted is None else defaulted(obj, classes))


def with_template(obj: Manifest) -> Manifest:
    """Return a workload with the defaults of its pods' template."""
    spec = spec_of(obj)
    if spec.get("template"):
        made = defaulted_template(spec["template"])
        return obj if made == spec["template"] else {**obj, "spec": {**spec, "template": made}}
    if spec.get("jobTemplate"):
        return {**obj, "spec": {**spec, "jobTemplate": with_template(spec["jobTemplate"])}}
    return obj


def _merged(defaults: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return fields with defaults for those that are absent or null, recursively."""
    out = {**defaults, **{key: value for key, value in given.items() if value is not None}}
    for key, value in defaults.items():
        if isinstance(value, dict) and isinstance(given.get(key), dict):
            out[key] = _merged(value, given[key])
    return out


def _by(defaults: dict[str, Any]) -> Callable[[Manifest, PriorityClasses], Manifest]:
    return lambda obj, _: {**obj, "spec": _merged(defaults, spec_of(obj))}


def _deployment(obj: Manifest, _: PriorityClasses) -> Manifest:
    spec = _merged(
        {"replicas": 1, "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10, "strategy": {}},
        spec_of(obj),
    )
    strategy = _merged({"type": "RollingUpdate"}, spec["strategy"])
    if strategy["type"] == "RollingUpdate":
        given = strategy.get("rollingUpdate") or {}
        strategy["rollingUpdate"] = _merged({"maxSurge": "25%", "maxUnavailable": "25%"}, given)
    return {**obj, "spec": {**spec, "strategy": strategy}}


def _stateful_set(obj: Manifest, _: PriorityClasses) -> Manifest:
    spec = _merged(
        {
            "replicas": 1,
            "podManagementPolicy": "OrderedReady",
            "revisionHistoryLimit": 10,
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
        },
        spec_of(obj),
    )
    strategy = dict(spec.get("updateStrategy") or {})
    if not strategy.get("type"):
        strategy = {"type": "RollingUpdate", "rollingUpdate": strategy.get("rollingUpdate") or {}}
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        strategy["rollingUpdate"] = _merged({"partition": 0, "maxUnavailable": 1}, strategy["rollingUpdate"])
    return {**obj, "spec": {**spec, "updateStrategy": strategy}}


def _daemon_set(obj: Manifest, _: PriorityClasses) -> Manifest:
    spec = _merged({"revisionHistoryLimit": 10, "updateStrategy": {"type": "RollingUpdate"}}, spec_of(obj))
    strategy = dict(spec["updateStrategy"])
    if strategy["type"] == "RollingUpdate":
        given = strategy.get("rollingUpdate") or {}
        strategy["rollingUpdate"] = _merged({"maxUnavailable": 1, "maxSurge": 0}, given)
    if GENERATION not in annotations_of(obj):
        obj = with_meta(obj, annotations={**annotations_of(obj), GENERATION: "1"})
    return {**obj, "spec": {**spec, "updateStrategy": strategy}}


def _job(obj: Manifest, _: PriorityClasses) -> Manifest:
    spec = dict(spec_of(obj))
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    replacement = "Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed"
    limit = 6 if spec.get("backoffLimitPerIndex") is None else MOST
    defaults = {
        "parallelism": 1,
        "backoffLimit": limit,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": replacement,
    }
    spec = _merged(defaults, spec)
    if not spec.get("manualSelector"):
        spec = _with_job_labels(obj, spec)
    return {**obj, "spec": spec}


def _with_job_labels(obj: Manifest, spec: dict[str, Any]) -> dict[str, Any]:
    uid, name = uid_of(obj), obj["metadata"]["name"]
    own = {"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name}
    own |= {"controller-uid": uid, "job-name": name}
    template = spec["template"]
    meta = template.get("metadata") or {}
    labels = {**(meta.get("labels") or {}), **own}
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    return {**spec, "selector": selector, "template": {**template, "metadata": {**meta, "labels": labels}}}


def _node(obj: Manifest, _: PriorityClasses) -> Manifest:
    status = dict(obj.get("status") or {})
    at = obj["metadata"]["creationTimestamp"]
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    status.setdefault("conditions", [{**ready, "lastHeartbeatTime": at, "lastTransitionTime": at}])
    return {**obj, "status": status}


def _pod(obj: Manifest, classes: PriorityClasses) -> Manifest:
    spec = _merged(
        {
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "schedulerName": "default-scheduler",
        },
        spec_of(obj),
    )
    spec |= _priority(spec, classes)
    spec["tolerations"] = _tolerations(spec.get("tolerations") or ())
    spec["containers"] = [_container(one) for one in spec.get("containers") or ()]
    return {**obj, "spec": spec, "status": {"phase": "Pending", **(obj.get("status") or {})}}


def _claim(obj: Manifest, classes: PriorityClasses) -> Manifest:
    """Give a claim that names no class the default one, the youngest of several (DefaultStorageClass)."""
    spec, default = spec_of(obj), None
    if spec.get("storageClassName") is None:
        found = [one for one in classes.of_kind("StorageClass") if _is_default_class(one)]
        found.sort(key=lambda one: one["metadata"]["name"])
        default = max(found, key=lambda one: one["metadata"].get("creationTimestamp") or "", default=None)
    if default is not None:
        spec = {**spec, "storageClassName": default["metadata"]["name"]}
    return {**obj, "spec": spec, "status": {"phase": "Pending", **(obj.get("status") or {})}}


def _is_default_class(one: Manifest) -> bool:
    marks = annotations_of(one)
    prefixes = ("storageclass.kubernetes.io", "storageclass.beta.kubernetes.io")
    return any(marks.get(f"{prefix}/is-default-class") == "true" for prefix in prefixes)


def _container(container: dict[str, Any]) -> dict[str, Any]:
    resources = container.get("resources") or {}
    if not resources.get("limits"):
        return container
    requests = {**resources["limits"], **(resources.get("requests") or {})}
    return {**container, "resources": {**resources, "requests": requests}}


def _priority(spec: dict[str, Any], classes: PriorityClasses) -> dict[str, Any]:
    """Return what the Priority plugin sets; what a pod says itself stays, where that would refuse it."""
    name, own = spec.get("priorityClassName"), spec.get("preemptionPolicy")
    if name:
        found = classes.get("PriorityClass", name)
    else:
        found = next((one for one in classes.of_kind("PriorityClass") if one.get("globalDefault")), None)
    if found is None:
        value = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}.get(
            name or "", 0
        )
        return {"priority": spec.get("priority", value), "preemptionPolicy": own or "PreemptLowerPriority"}
    policy = own or found.get("preemptionPolicy") or "PreemptLowerPriority"
    return {
        "priorityClassName": found["metadata"]["name"],
        "priority": spec.get("priority", found["value"]),
        "preemptionPolicy": policy,
    }


_BRIEF: list[dict[str, Any]] = [
    {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATION_SECONDS}
    for key in (NOT_READY, UNREACHABLE)
]
"""What DefaultTolerationSeconds adds; nothing changes the list, which most pods share."""


def _tolerations(given: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add what DefaultTolerationSeconds adds."""
    return [*given, *(row for row in _BRIEF if not _tolerates(given, row["key"]))] if given else _BRIEF


def _tolerates(given: Sequence[dict[str, Any]], key: str) -> bool:
    return any(
        one.get("key") in (key, None, "") and one.get("effect") in ("NoExecute", None, "") for one in given
    )


_DEFAULTS: dict[str, Callable[[Manifest, PriorityClasses], Manifest]] = {
    "Pod": _pod,
    "Node": _node,
    "Deployment": _deployment,
    "ReplicaSet": _by({"replicas": 1}),
    "ReplicationController": _by({"replicas": 1}),
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Job": _job,
    "CronJob": _by(
        {
            "concurrencyPolicy": "Allow",
            "suspend": False,
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 1,
        }
    ),
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": lambda obj, _: {**obj, "status": {"phase": "Available", **(obj.get("status") or {})}},
}
