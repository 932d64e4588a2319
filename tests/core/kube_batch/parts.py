"""Objects for sessions of kube-batch, in a few words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler_core.kubernetes.model import (
    Container,
    KubernetesObject,
    Node,
    NodeCondition,
    ObjectMeta,
    Pod,
    PodGroup,
    PriorityClass,
    Queue,
)
from scheduler_core.schedulers.kube_batch.configuration import parse_configuration
from scheduler_core.schedulers.kube_batch.recorder import Recorder
from scheduler_core.schedulers.kube_batch.session_run import Finished, run_session
from scheduler_core.schedulers.kube_batch.snapshot import (
    GROUP_NAME,
    ServerOption,
    WatchedObjects,
    take_snapshot,
)

GIB = 2**30
USUAL = ("priority gang conformance", "drf predicates proportion nodeorder")


def configuration(actions: str = "allocate", tiers: Iterable[str] = USUAL, **arguments: str) -> str:
    """Return a file: a tier is plugin names, each with switches to turn off after slashes.

    ``arguments`` are YAML maps by plugin.
    """
    lines = [f'actions: "{actions}"', "tiers:"]
    for tier in tiers:
        lines.append("- plugins:")
        for plugin in tier.split():
            name, *off = plugin.split("/")
            lines.append(f"  - name: {name}")
            lines += [f"    {switch}: false" for switch in off]
            if name in arguments:
                lines.append(f"    arguments: {arguments[name]}")
    return "\n".join(lines) + "\n"


def node(name: str, cpu: float = 4, memory: float = 16, pods: int = 110, **scalars: int) -> Node:
    """Return a ready node of so many cores and GiB; a scalar's name has _ for / and the domain x.io."""
    amounts = {"cpu": int(cpu * 1000), "memory": int(memory * GIB), "pods": pods}
    amounts |= {f"x.io/{key}": amount for key, amount in scalars.items()}
    conditions = (NodeCondition("Ready", "True"),)
    return Node(
        ObjectMeta(name, labels={"kubernetes.io/hostname": name}), amounts, amounts, conditions=conditions
    )


def queue(name: str = "default", weight: int = 1) -> Queue:
    """Return a Queue."""
    return Queue(ObjectMeta(name), weight)


def group(name: str, least: int = 1, **fields: Any) -> PodGroup:
    """Return a PodGroup of namespace ns."""
    return PodGroup(ObjectMeta(name, "ns", creation_timestamp=fields.pop("created", None)), least, **fields)


def priority_class(name: str, value: int, *, default: bool = False) -> PriorityClass:
    """Return a PriorityClass."""
    return PriorityClass(ObjectMeta(name), value, default)


def pod(name: str, of: str = "", cpu: float = 1, memory: float = 1, on: str = "", **fields: Any) -> Pod:
    """Return a pod of a group that is pending, or runs on a node; cpu 0 and memory 0 request nothing."""
    scalars = {f"x.io/{key}": fields.pop(key) for key in ("gpu",) if key in fields}
    amounts = {"cpu": int(cpu * 1000), "memory": int(memory * GIB)} if cpu or memory else {}
    meta = ObjectMeta(
        name,
        fields.pop("namespace", "ns"),
        uid=name,
        labels=fields.pop("labels", {}),
        annotations={GROUP_NAME: of} if of else fields.pop("annotations", {}),
        creation_timestamp=fields.pop("created", None),
        deletion_timestamp=fields.pop("deleted", None),
        owner_references=fields.pop("owners", ()),
    )
    return Pod(
        meta,
        node_name=on,
        containers=(Container("c", requests={**amounts, **scalars}),),
        scheduler_name=fields.pop("scheduler", "kube-batch"),
        phase=fields.pop("phase", "Running" if on else "Pending"),
        priority_given=fields.pop("priority_given", "priority" in fields),
        **fields,
    )


def members(of: str, count: int, **fields: Any) -> list[Pod]:
    """Return pods ``GROUP-0`` and so on."""
    return [pod(f"{of}-{number}", of, **fields) for number in range(count)]


def session(
    *objects: KubernetesObject | list[Pod], conf: str | None = None, recorder: Recorder | None = None
) -> Finished:
    """Run one session; without a Queue there is one named default."""
    listed: list[KubernetesObject] = []
    for obj in objects:
        listed += obj if isinstance(obj, list) else [obj]
    if not any(isinstance(obj, Queue) for obj in listed):
        listed.append(queue())
    snapshot = take_snapshot(WatchedObjects.of(listed), ServerOption())
    text = configuration() if conf is None else conf
    return run_session(snapshot, parse_configuration(text), recorder)


def bound(finished: Finished) -> dict[str, str]:
    """Return the nodes of the pods that were bound, by name."""
    return {key.partition("/")[2]: on for key, on in finished.session.outcome.bound.items()}


def evicted(finished: Finished) -> list[str]:
    """Return the names of the evicted pods, sorted."""
    return sorted(key.partition("/")[2] for key in finished.session.outcome.evicted)


def with_status(finished: Finished, status: str) -> dict[str, str]:
    """Return the nodes of the tasks with a status at the end, by name."""
    tasks = [task for job in finished.session.jobs.values() for task in job.tasks.values()]
    return {task.pod.meta.name: task.node_name for task in tasks if task.status == status}
