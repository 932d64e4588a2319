"""Resources of one pod on one node: what is short, and how the node or the pod would provide it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.explain.edits import Edit, Mutation
from scheduler_core.explain.misspellings import correct_resource
from scheduler_core.explain.rules import Finding, PodOnNode
from scheduler_core.explain.world import Resize
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.model import Container, Pod
from scheduler_core.kubernetes.quantity import format_resource
from scheduler_core.kubernetes.shared_devices import COUNT, ON_ONE_DEVICE, SHARE, WHOLE
from scheduler_core.schedulers.columns.columns import BASIC_RESOURCES

RESIZES_NAMED = 3


class ResourceAmounts(Struct, frozen=True):
    """One resource of one pod on one node, in the units of objects.model."""

    name: str
    requested: int
    allocatable: int
    used: int

    @property
    def free(self) -> int:
        """What is left; negative if more is requested already than is allocatable."""
        return self.allocatable - self.used

    @property
    def short(self) -> int:
        """The shortage."""
        return self.requested - self.free

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as Kubernetes prints them."""
        numbers = {
            "requested": self.requested,
            "free": self.free,
            "shortBy": self.short,
            "allocatable": self.allocatable,
            "used": self.used,
        }
        return {
            "resource": self.name,
            **{key: format_resource(self.name, amount) for key, amount in numbers.items()},
        }


def amounts(place: PodOnNode, name: str) -> ResourceAmounts:
    """Compute one resource; counts pods nominated to the node with at least the pod's priority."""
    cluster, pod, row = place.standing.cluster, place.standing.pod, place.row
    known = place.standing.known_amounts(row, name)
    if known is not None:
        return ResourceAmounts(name, *known)
    nominated = [
        other.info
        for other in place.standing.queue.nominated_to(place.node.meta.name)
        if other.priority >= pod.priority
    ]
    if name in BASIC_RESOURCES:
        number = BASIC_RESOURCES.index(name)
        used = int(cluster.used[number, row]) + sum(int(info.usage[number]) for info in nominated)
        return ResourceAmounts(
            name, int(pod.info.request[number]), int(cluster.columns.allocatable[number, row]), used
        )
    used = int(cluster.scalar_used(name)[row]) + sum(_of(i.scalar_usage, name) for i in nominated)
    return ResourceAmounts(
        name, _of(pod.info.scalar_request, name), int(cluster.columns.scalar(name)[row]), used
    )


def _of(scalars: Sequence[tuple[str, int]], name: str) -> int:
    """Look up one amount by bisection: scalars are sorted by name, and a pod may request thousands."""
    at = bisect_left(scalars, (name,))
    return scalars[at][1] if at < len(scalars) and scalars[at][0] == name else 0


def insufficient(place: PodOnNode, name: str) -> Finding:
    """Add the shortage to the node, lower the request to what is free, or correct the resource's name."""
    if name == ON_ONE_DEVICE:
        return _crowded_devices(place)
    have = amounts(place, name)

    def shown(amount: int) -> str:
        return format_resource(name, amount)

    detail = (
        f"{name}: requested {shown(have.requested)}, free {shown(have.free)}, short by {shown(have.short)}"
    )
    devices = "" if have.allocatable else place.standing.served_by(name)
    if devices:  # no kubelet reports it
        return Finding((detail, devices), (), (have.as_dict(),))
    share = have.short / max(1, have.requested)
    total = have.allocatable + have.short
    node = place.node
    add = Edit(
        "Node",
        node.meta.name,
        f"add {shown(have.short)} {name} to node {node.meta.name}, from {shown(have.allocatable)} "
        f"allocatable to {shown(total)}",
        "allocatable" if have.allocatable else "hardware",
        "node",
        _allocatable(node.allocatable, name, total),
        size=share,
    )
    options = [(add,)]
    lowest = 0 if name not in BASIC_RESOURCES else 1
    if name != "pods" and lowest <= have.free < have.requested:
        words = f"lower the pod's {name} request from {shown(have.requested)} to {shown(have.free)}"
        cost = "request" if have.free else "forgo"
        lower = place.edit_pod(words, cost, _lower(place.standing.pod.pod, name, have.free), size=share)
        options.append((lower,))
    correct = correct_resource(place, name)
    if correct is not None:
        options.append((correct,))
    resizes = place.standing.resizes(place.row, name)[:RESIZES_NAMED]
    details = [
        f"{shown(one.after - one.before)} {name} is taken by the deferred resize of {one.pod} from "
        f"{shown(one.before)} to {shown(one.after)}, which counts as if it were done"
        for one in resizes
    ]
    options += [(_taken_back(place, name, one),) for one in resizes if one.after - one.before >= have.short]
    return Finding((detail, *details), tuple(options), (have.as_dict(),))


def _taken_back(place: PodOnNode, name: str, resize: Resize) -> Edit:
    """Resize a pod back to what it has."""
    shown = [format_resource(name, amount) for amount in (resize.after, resize.before)]
    words = f"take back the resize of pod {resize.pod}: its {name} request from {shown[0]} to {shown[1]}"
    pod = place.standing.cluster.pods[resize.pod].pod
    return Edit("Pod", resize.pod, words, "resize", "pods", _lower(pod, name, resize.before), size=1.0)


def _crowded_devices(place: PodOnNode) -> Finding:
    """Report what no device has room for; add devices to the node, or lower the share to the largest room."""
    found, demand, node = place.standing.cluster.device_room, place.standing.pod.info.demand, place.node
    assert demand is not None
    devices, idle = int(found.devices[place.row]), int(found.idle[place.row])
    largest = int(found.largest[place.row])
    missing = max(1, demand.devices - idle)
    milli, count = node.allocatable.get(SHARE, 0), node.allocatable.get(COUNT, 0)
    raised = {SHARE: milli + missing * WHOLE} | ({COUNT: count + missing} if count else {})

    def add(document: Manifest) -> None:
        for name, total in raised.items():
            _allocatable(node.allocatable, name, total)(document)

    words = f"add {missing} GPU{'s' if missing > 1 else ''} to node {node.meta.name}, from {devices}"
    options = [(Edit("Node", node.meta.name, words, "allocatable", "node", add, size=1.0),)]
    if demand.share and largest:
        lower = f"lower the pod's {SHARE} request from {demand.share} to {largest}"
        edit = place.edit_pod(
            lower,
            "request",
            _lower(place.standing.pod.pod, SHARE, largest),
            size=(demand.share - largest) / demand.share,
        )
        options.append((edit,))
    wanted = f"a share of {demand.share}" if demand.share else f"{demand.devices} whole"
    free = f"{idle} idle, the largest share free on one is {largest}"
    detail = f"{SHARE}: wants {wanted} on one GPU of {devices}; {free}"
    return Finding((detail,), tuple(options))


def _allocatable(given: Mapping[str, int], name: str, total: int) -> Mutation:
    def mutate(document: Manifest) -> None:
        listed = part(document, "status", "allocatable")
        for other, amount in given.items():  # a node may declare it in its capacity only
            listed.setdefault(other, format_resource(other, amount))
        listed[name] = format_resource(name, total)

    return mutate


def _lower(pod: Pod, name: str, target: int) -> Mutation:
    """Lower the largest requests until their sum is the target; cap each init container at the target."""
    left = _lowered([c.requests.get(name, 0) for c in pod.containers], target)
    init = [min(c.requests.get(name, 0), target) for c in pod.init_containers]

    def mutate(document: Manifest) -> None:
        _write_requests(document, "containers", pod.containers, name, left)
        _write_requests(document, "initContainers", pod.init_containers, name, init)

    return mutate


def _lowered(requests: list[int], target: int) -> list[int]:
    left = list(requests)
    for place in sorted(range(len(left)), key=lambda n: -left[n]):
        excess = sum(left) - target
        if excess <= 0:
            break
        left[place] -= min(left[place], excess)
    return left


def _write_requests(
    document: Manifest, field_name: str, containers: tuple[Container, ...], name: str, wanted: list[int]
) -> None:
    for number, (container, amount) in enumerate(zip(containers, wanted)):
        if amount == container.requests.get(name, 0):
            continue
        resources = part(document, "spec", field_name, number, "resources")
        part(resources, "requests")[name] = format_resource(name, amount)
        if name not in BASIC_RESOURCES and name in (resources.get("limits") or {}):
            resources["limits"][name] = format_resource(name, amount)  # extended resources: both or neither
