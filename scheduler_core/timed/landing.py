"""What an operation of a scenario does to the objects that the API server holds."""

from __future__ import annotations

from dataclasses import replace

from scheduler_core.objects.model import Pod, PodGroup
from scheduler_core.scenario import Operation
from scheduler_core.timed.control import ControlledFramework


def land(framework: ControlledFramework, operation: Operation) -> None:
    """Create, update or delete the object of an operation; controllers and queue hear of it.

    What users write leaves a status alone: a pod that is updated keeps its node, its phase and its
    nomination, a PodGroup what its controller has counted.
    """
    obj, kind, key = operation.object, operation.kind, operation.key
    tell_of(framework, operation)
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
        former = framework.manager.store.objects.get((kind, key))
        framework.delete_object(kind, key)
        if former is not None:
            framework.observe("delete", former)
    else:
        action = "update" if operation.action == "update" else "create"
        framework.put_object(framework.observe(action, obj))


def tell_of(framework: ControlledFramework, operation: Operation) -> None:
    """Record that an operation lands."""
    told = f"{operation.action} {operation.kind} {operation.key}"
    framework.tell("Operation", operation.key, told)


def _put_pod(framework: ControlledFramework, pod: Pod, operation: Operation) -> None:
    key = operation.key
    former = framework.pods.get(key)
    if former is None:
        if operation.action == "create":
            framework.create_pod(pod)
            framework.observe("create", pod)
        return
    if former.terminal:
        return  # it revives nobody
    if not pod.node_name:
        pod = replace(pod, node_name=former.node_name)
    if not pod.terminal:
        pod = replace(pod, phase=former.phase, ready=former.ready, restarts=former.restarts)
    framework.update_pod(pod)
    framework.observe("update", pod)
