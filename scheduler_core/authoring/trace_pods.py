"""The pods that arrive and go over the time of a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from scheduler_core.cluster.controllers.annotations import RUN, seconds
from scheduler_core.kubernetes.model import Pod
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.coscheduling.resource_check import pod_requests


class TracePod(Struct, frozen=True):
    """A pod of a trace: when it was created, for how many seconds it was there, and what it requests.

    ``lifetime`` is None if it was never deleted; requests are in millicores and bytes.
    """

    created: float
    lifetime: float | None
    requests: Mapping[str, int]


def pods_of(scenario: Scenario) -> tuple[list[TracePod], dict[str, int]]:
    """Return the pods that operations create, by time, and how many have what only the trace knows.

    A pod lives until an operation deletes it, or for the seconds that its annotation says.
    """
    found: list[TracePod] = []
    open_: dict[str, tuple[float, Pod]] = {}
    left_out: Counter[str] = Counter()
    for operation in scenario.operations:
        if operation.kind != "Pod":
            left_out[f"operations on {operation.kind}s"] += 1
        elif operation.action == "create" and isinstance(operation.object, Pod):
            open_[operation.key] = operation.time, operation.object
            left_out.update(_unkept(operation.object))
        elif operation.action == "delete" and operation.key in open_:
            found.append(_ended(*open_.pop(operation.key), operation.time))
    found += (_ended(created, pod, None) for created, pod in open_.values())
    if initial := sum(isinstance(one, Pod) for one in scenario.objects):
        left_out["pods that are there from the start"] = initial
    return sorted(found, key=lambda pod: pod.created), dict(left_out)


def _ended(created: float, pod: Pod, end: float | None) -> TracePod:
    runs = seconds(pod.meta.annotations.get(RUN, ""))
    return TracePod(created, runs if end is None else end - created, pod_requests(pod))


def _unkept(pod: Pod) -> Iterator[str]:
    if pod.affinity is not None:
        yield "affinity"
    if pod.node_selector:
        yield "nodeSelector"
    if any(not one.key.startswith("node.kubernetes.io/") for one in pod.tolerations):
        yield "tolerations"
    if pod.pod_group:
        yield "pod group"
    if pod.priority:
        yield "priority"
    if pod.volumes:
        yield "volumes"
