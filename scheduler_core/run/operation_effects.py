"""Apply an operation of a scenario to the objects in the API server."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.cluster.controllers.workloads import INDEX
from scheduler_core.kubernetes.model import KubernetesObject, Pod, PodGroup
from scheduler_core.run.control import ControlledFramework
from scheduler_core.run.late import NoEffectError, patched
from scheduler_core.scenario.scenario import Operation, Selection


def land(framework: ControlledFramework, operation: Operation) -> None:
    """Create, update or delete the object of an operation; controllers and the queue are notified.

    A user's update leaves the status alone: an updated pod keeps its node, its phase and its nomination, a
    PodGroup the status that its controller computed. An operation that is no longer possible is recorded as
    having no effect.
    """
    kind, key = operation.kind, operation.key
    try:
        obj = _current(framework, operation)
    except NoEffectError as error:
        record_operation(framework, operation, f" has no effect: {error}")
        return
    record_operation(framework, operation)
    if isinstance(obj, Pod):
        _put_pod(framework, obj, operation)
    elif kind == "Pod":
        framework.delete_pod(key)
    elif isinstance(obj, PodGroup):
        known = framework.groups.get(key)
        framework.put_group(obj if known is None else replace(obj, status=known.status))
    elif kind == "PodGroup":
        framework.delete_group(key)
    elif obj is None:
        framework.delete_object(kind, key)
    else:
        action = "update" if operation.action == "update" else "create"
        framework.put_object(framework.observe(action, obj))


def selects(selection: Selection, pod: Pod) -> bool:
    """Return whether an operation that selects pods is about one."""
    meta = pod.meta
    return (
        meta.namespace == selection.namespace
        and meta.deletion_timestamp is None
        and selection.labels.items() <= meta.labels.items()
        and selection.node in (None, pod.node_name)
        and selection.index in (None, _index(pod))
    )


def _index(pod: Pod) -> int | None:
    """Return a pod's ordinal in its StatefulSet, or its completion index in its Job."""
    owner = pod.meta.controller
    kind = "" if owner is None else owner.kind
    names = {"StatefulSet": pod.meta.name.rpartition("-")[2], "Job": pod.meta.annotations.get(INDEX, "")}
    found = names.get(kind, "")
    return int(found) if found.isdecimal() else None


def record_operation(framework: ControlledFramework, operation: Operation, outcome: str = "") -> None:
    """Record an operation on the timeline."""
    text = f"{operation.action} {operation.kind} {operation.key}{outcome}"
    framework.record_event("Operation", operation.key, text)


def live(framework: ControlledFramework, kind: str, key: str) -> KubernetesObject | None:
    """Return the current version of an object, ``None`` if it does not exist."""
    if kind == "Pod":
        return framework.pods.get(key)
    if kind == "PodGroup":
        return framework.groups.get(key)
    return framework.manager.objects.get((kind, key)) or framework.cluster.find(kind, key)


def _current(framework: ControlledFramework, operation: Operation) -> KubernetesObject | None:
    """Return the object that results from an operation, ``None`` if it deletes the object.

    Raises NoEffectError if the object to be changed does not exist, or its patch does not apply.
    """
    kind, key = operation.kind, operation.key
    if operation.action == "create" or not framework.controlled:
        return operation.object  # in a recording nothing else changes objects
    current = live(framework, kind, key)
    if operation.patch is not None:
        return patched(current, operation.patch, f"{kind} {key}")
    if current is None:
        raise NoEffectError(f"there is no {kind} {key} at this moment")
    return operation.object


def _put_pod(framework: ControlledFramework, pod: Pod, operation: Operation) -> None:
    key = operation.key
    previous = framework.pods.get(key)
    if previous is None:
        if operation.action == "create":
            framework.create_pod(pod)
        return
    if previous.terminal:
        return  # an update does not revive a terminal pod
    if not pod.node_name:
        pod = replace(pod, node_name=previous.node_name)
    if not pod.terminal:
        pod = replace(
            pod,
            phase=previous.phase,
            ready=previous.ready,
            restarts=previous.restarts,
            start_time=previous.start_time,
        )
    framework.update_pod(pod)
