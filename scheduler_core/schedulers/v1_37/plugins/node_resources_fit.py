"""NodeResourcesFit: requests against what is left, and the three scoring strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.kubernetes.requests import (
    Amounts,
    amounts,
    is_extended,
    is_scalar,
    spec_requests,
)
from scheduler_core.kubernetes.shared_devices import COUNT, ON_ONE_DEVICE, SHARE
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.device_use import devices_in_use
from scheduler_core.schedulers.v1_37.extended_resources import EXTENDED_GATE, IMPLICIT, backed, device_totals
from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.plugins.base import (
    MAX_SCORE,
    Codes,
    Context,
    Ints,
    Mask,
    Plugin,
    Rows,
    Status,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import CPU_AND_MEMORY, Argument, Declared, Reused
from scheduler_core.schedulers.v1_37.plugins.hints import always, answer, listed, metadata, spec, status
from scheduler_core.schedulers.v1_37.plugins.shape import evaluate, read_shape
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments
from scheduler_core.schedulers.v1_37.status import UNRESOLVABLE, UNSCHEDULABLE

STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
"""How the plugin can score."""

NATIVE = ("cpu", "memory", "ephemeral-storage")
NONZERO = ("cpu", "memory")
"""The resources of which every container counts for something in scores, in the order of their columns."""

_DIGITS = 24
"""After so many resources the codes, a ternary digit each, are renumbered before they overflow.

Such numbers are good for one attempt only.
"""

_DEFAULT_RESOURCES = ({"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1})
_DEFAULT_SHAPE = ((0, 0), (100, 100))


def checked(requests: Mapping[str, int], arguments: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the resources that are compared, in the order of the reasons."""
    for name in NATIVE:
        if requests.get(name, 0) > 0:
            yield name, requests[name]
    resources = arguments.get("ignoredResources") or ()
    groups = arguments.get("ignoredResourceGroups") or ()
    for name in sorted(requests):
        ignored = is_extended(name) and (name in resources or name.partition("/")[0] in groups)
        if name not in NATIVE and requests[name] > 0 and not ignored:
            yield name, requests[name]


def served_by_devices(ctx: Context, entries: Any) -> bool:
    """Return whether the pod requests a scored resource that a DeviceClass backs."""
    spared = backed(ctx.cluster, ctx.pod.requests)
    return bool(spared) and any(name in spared for name, _ in scored_resources(entries))


def held_of(ctx: Context, name: str, rows: Rows) -> tuple[Ints, Ints]:
    """Return how much of a resource each node has, and how much of that is requested.

    Of one that a DeviceClass backs and the node does not report: its devices, and those allocated.
    """
    nodes = ctx.nodes
    whole = nodes.column(nodes.allocatable, name)[rows]
    used = nodes.column(nodes.requested, name)[rows]
    if not (whole == 0).any() or name not in backed(ctx.cluster, ctx.pod.requests):
        return whole, used
    in_use = devices_in_use(ctx.cluster)
    for place in np.flatnonzero(whole == 0):
        node = nodes.nodes[int(rows[place])]
        devices, allocated = device_totals(ctx.cluster, in_use, name, node.name, node.labels)
        if devices:
            whole[place], used[place] = devices, allocated
    return whole, used


def scored_resources(entries: Any) -> list[tuple[str, int]]:
    """Read the resources of a strategy with their weights; a node counts no others."""
    listed: Sequence[Mapping[str, Any]] = entries or _DEFAULT_RESOURCES
    return [
        (entry["name"], int(entry.get("weight") or 1))
        for entry in listed
        if entry["name"] in NATIVE or is_scalar(entry["name"])
    ]


class NodeResourcesFit(Plugin):
    """Requests of the pod, of the node's pods, and the node's allocatable resources."""

    key = "NodeResourcesFit"

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse nodes with too little of anything; the code encodes which, and what the empty node lacks.

        Devices serve a resource that a DeviceClass backs on nodes that do not report it.
        """
        compared = list(checked(ctx.pod.requests, ctx.arguments(self.key)))
        spared = backed(ctx.cluster, ctx.pod.requests)
        if len(compared) >= _DIGITS:
            codes = _lacking(ctx, rows, compared, spared)
        else:
            key = self.key, "filter", tuple(compared), spared
            codes = ctx.nodes.by_numbers(key, None, rows, lambda some: _lacking(ctx, some, compared, spared))
        if ctx.nodes.shared is not None and ctx.pod.demand is not None:
            codes = 2 * codes + _crowded(ctx, rows, compared)
        return codes if codes.any() else None

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """List what is lacking; it is beyond resolution if the empty node would lack it too.

        The last reason is an addition: that no single GPU has room for a share (:class:`SharedDevices`).
        """
        del code
        nodes = ctx.nodes
        reasons = []
        hopeless = False
        spared = backed(ctx.cluster, ctx.pod.requests)
        if nodes.pod_counts[row] >= nodes.column(nodes.allocatable, "pods")[row]:
            reasons.append("Too many pods")
        for name, amount in checked(ctx.pod.requests, ctx.arguments(self.key)):
            whole = nodes.column(nodes.allocatable, name)[row]
            if name in spared and whole == 0:
                continue
            if whole - nodes.column(nodes.requested, name)[row] < amount:
                reasons.append(f"Insufficient {name}")
                hopeless |= bool(whole < amount)
        here = np.array([row], np.intp)
        if _crowded(ctx, here, list(checked(ctx.pod.requests, ctx.arguments(self.key))))[0]:
            reasons.append(f"Insufficient {ON_ONE_DEVICE}")
        return Status(UNRESOLVABLE if hopeless else UNSCHEDULABLE, tuple(reasons))

    def score(self, ctx: Context, rows: Rows) -> Ints:
        """Score by the strategy of the arguments."""
        strategy = ctx.arguments(self.key).get("scoringStrategy") or {}
        make = _STRATEGIES[strategy.get("type") or "LeastAllocated"]
        pod = ctx.pod
        key = (
            self.key,
            ctx.profile.scheduler_name,
            (*pod.scored_nonzero.items(), None, *pod.scored_plain.items()),
        )
        if served_by_devices(ctx, strategy.get("resources")):
            return make(ctx, rows, strategy)
        return ctx.nodes.by_numbers(key, ctx.profile, rows, lambda some: make(ctx, some, strategy))


RoomCheck = Callable[[Rows, Mapping[str, Ints]], Mask]
"""Tells which rows have room; given is what pods hold there, their number as "pods", if it is not NOW."""
NOW: Mapping[str, Ints] = {}
"""What pods hold as it is."""


def room_of(ctx: Context) -> RoomCheck:
    """Return what tells which rows NodeResourcesFit passes, without what is lacking on the others.

    It is good until a node object changes.
    """
    nodes, demand, spared = ctx.nodes, ctx.pod.demand, backed(ctx.cluster, ctx.pod.requests)
    columns = [
        (name, nodes.column(nodes.allocatable, name), nodes.column(nodes.requested, name), amount)
        for name, amount in checked(ctx.pod.requests, ctx.arguments(NodeResourcesFit.key))
    ]
    pods = nodes.column(nodes.allocatable, "pods")

    def fits(rows: Rows, held: Mapping[str, Ints]) -> Mask:
        out: Mask = (held["pods"] if held else nodes.pod_counts[rows]) < pods[rows]
        for name, whole, used, amount in columns:
            here = whole[rows]
            enough = here - (held[name] if name in held else used[rows]) >= amount
            out &= enough | (here == 0) if name in spared else enough
        if nodes.shared is not None and demand is not None:
            out &= ~nodes.shared.crowded(rows, demand)
        return out

    return fits


def _lacking(ctx: Context, rows: Rows, compared: Sequence[tuple[str, int]], spared: frozenset[str]) -> Codes:
    """Return a ternary digit for each resource: 1 for too little left, 2 for too little on the empty node.

    ``spared`` are not compared on nodes without any (shouldDelegateResourceToDRA).
    """
    nodes = ctx.nodes
    codes = (nodes.pod_counts[rows] >= nodes.column(nodes.allocatable, "pods")[rows]).astype(np.int64)
    for number, (name, amount) in enumerate(compared, 1):
        whole = nodes.column(nodes.allocatable, name)[rows]
        lacking = whole - nodes.column(nodes.requested, name)[rows] < amount
        if name in spared:
            lacking &= whole != 0
        if number % _DIGITS == 0:
            codes = _renumbered(codes)
        codes *= 3
        if lacking.any():
            codes += lacking
            codes += lacking & (whole < amount)
    return codes


def _crowded(ctx: Context, rows: Rows, compared: Sequence[tuple[str, int]]) -> Codes:
    """Return 1 where the shares that are free suffice in sum, but on no single GPU."""
    nodes, demand = ctx.nodes, ctx.pod.demand
    if nodes.shared is None or demand is None:
        return np.zeros(len(rows), np.int64)
    short = nodes.shared.crowded(rows, demand)
    for name, amount in compared:
        if name in (SHARE, COUNT):
            left = nodes.column(nodes.allocatable, name)[rows] - nodes.column(nodes.requested, name)[rows]
            short &= left >= amount
    return short.astype(np.int64)


def _renumbered(codes: Codes) -> Codes:
    """Return small numbers for the codes; 0 stays 0."""
    return np.unique(np.append(0, codes), return_inverse=True)[1][1:].astype(np.int64)


def _utilized(ctx: Context, rows: Rows, strategy: Mapping[str, Any]) -> Iterator[tuple[int, Ints, Ints]]:
    """Yield weight, requested and allocatable of each resource; 0 allocatable leaves it out."""
    nodes, pod = ctx.nodes, ctx.pod
    for name, weight in scored_resources(strategy.get("resources")):
        if name in NONZERO:
            requested = nodes.nonzero[NONZERO.index(name)][rows] + pod.scored_nonzero.get(name, 0)
        else:
            own = pod.scored_plain.get(name, 0)
            if own == 0 and is_scalar(name):
                continue
            whole, used = held_of(ctx, name, rows)
            yield weight, used + own, whole
            continue
        yield weight, requested, nodes.column(nodes.allocatable, name)[rows]


def _mean(ctx: Context, rows: Rows, strategy: Mapping[str, Any], rate: Callable[[Ints, Ints], Ints]) -> Ints:
    total = np.zeros(len(rows), np.int64)
    weights = np.zeros(len(rows), np.int64)
    for weight, requested, allocatable in _utilized(ctx, rows, strategy):
        counts = allocatable != 0
        scores = rate(requested, np.where(counts, allocatable, 1))
        total += np.where(counts, weight * scores, 0)
        weights += np.where(counts, weight, 0)
    mean: Ints = np.where(weights > 0, total // np.maximum(weights, 1), 0)
    return mean


def _least(ctx: Context, rows: Rows, strategy: Mapping[str, Any]) -> Ints:
    def rate(requested: Ints, allocatable: Ints) -> Ints:
        score: Ints = np.maximum(allocatable - requested, 0) * MAX_SCORE // allocatable
        return score

    return _mean(ctx, rows, strategy, rate)


def _most(ctx: Context, rows: Rows, strategy: Mapping[str, Any]) -> Ints:
    def rate(requested: Ints, allocatable: Ints) -> Ints:
        score: Ints = np.minimum(requested, allocatable) * MAX_SCORE // allocatable
        return score

    return _mean(ctx, rows, strategy, rate)


def _ratio(ctx: Context, rows: Rows, strategy: Mapping[str, Any]) -> Ints:
    shape = read_shape((strategy.get("requestedToCapacityRatio") or {}).get("shape"), _DEFAULT_SHAPE)
    total = np.zeros(len(rows), np.int64)
    weights = np.zeros(len(rows), np.int64)
    for weight, requested, allocatable in _utilized(ctx, rows, strategy):
        whole = np.maximum(allocatable, 1)
        utilization = np.where(requested > whole, 100, requested * 100 // whole)
        scores = np.where(allocatable != 0, evaluate(shape, utilization), 0)
        total += weight * scores
        weights += np.where(scores > 0, weight, 0)
    mean = total / np.maximum(weights, 1)
    return np.floor(mean + 0.5).astype(np.int64)


_STRATEGIES: Mapping[str, Callable[[Context, Rows, Mapping[str, Any]], Ints]] = {
    "LeastAllocated": _least,
    "MostAllocated": _most,
    "RequestedToCapacityRatio": _ratio,
}


def _wanted(pod: CompiledPod) -> Amounts:
    return {name: amount for name, amount in pod.requests.items() if amount > 0}


def _allocatable(node: Manifest | None) -> Amounts:
    return amounts(status(node).get("allocatable"))


def _after_node_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    wanted, now = _wanted(pod), _allocatable(event.new)
    by_devices = {name for name in backed(context.cluster, wanted) if now.get(name, 0) == 0}
    lacking = (n for n, amount in wanted.items() if n not in by_devices and amount > now.get(n, 0))
    # Exempt resources are asked for here as well: Fits is called without them.
    if now.get("pods", 0) < 1 or any(lacking):
        return "QueueSkip"
    if event.old is None or by_devices:
        return "Queue"
    before = _allocatable(event.old)
    return answer(any(now.get(name, 0) > before.get(name, 0) for name in ("pods", *wanted)))


def _after_scale_down(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    read_held = context.configuration.dialect.pod.read_held
    before = read_held(spec(event.old), status(event.old))
    after = read_held(spec(event.new), status(event.new))
    return answer(any(before.get(name, 0) > after.get(name, 0) for name in _wanted(pod)))


def _after_device_class_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    asked = spec_requests(pod.spec)
    name = spec(event.new).get("extendedResourceName")
    if event.old is None:
        return answer(name in asked or IMPLICIT + str(metadata(event.new).get("name")) in asked)
    return answer(name != spec(event.old).get("extendedResourceName") and name in asked)


def _until(pod: CompiledPod) -> str:
    asked = listed([name for name, amount in pod.requests.items() if amount > 0])
    room = f"room for its {asked}" if asked else "room for one more pod"
    return (
        "a pod leaves a node or is scaled down, or a node that could hold it is added or grows: "
        f"it needs {room}"
    )


def signed_requests(pod: CompiledPod, arguments: Arguments) -> Any:
    """Return the requests; what scores put in for those that are missing is not looked at."""
    del arguments
    return sorted((name, amount) for name, amount in pod.requests.items() if amount or name not in NATIVE)


_WITH_SHAPE = {"scoringStrategy.type": STRATEGIES[2]}

_ARGUMENTS = (
    Argument(
        "scoringStrategy.type", "choice", STRATEGIES[0], "which nodes score high: emptier ones, fuller ones, "
        "or those of the shape", STRATEGIES,
    ),
    Argument(
        "scoringStrategy.requestedToCapacityRatio.shape", "shape", text="the score, 0 to 10, at each "
        "utilization, which ascends from 0 to 100", only=_WITH_SHAPE,
    ),
    Argument(
        "scoringStrategy.resources", "resources", CPU_AND_MEMORY, "what is scored, with weights from 1 to "
        "100", least=1, most=100,
    ),
    Argument("ignoredResources", "names", (), "extended resources that Filter does not compare"),
    Argument("ignoredResourceGroups", "names", (), "prefixes before the / of such resources"),
)  # fmt: skip


PLUGIN = Declared(
    "NodeResourcesFit",
    "preFilter filter preScore score placementScore",
    rank=80,
    weight=1,
    unprepared={"filter": 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'},
    filters="the requests, with sidecars and overhead, fit into what is left of allocatable, and so does "
    "one pod",
    prefers="by default nodes of which little is requested (LeastAllocated)",
    formula="mean over resources of 100 · (allocatable − requested) / allocatable, by weight; not normalized",
    arguments=_ARGUMENTS,
    events=(
        ClusterEventWithHint("AssignedPod", frozenset({"Delete"}), always),
        ClusterEventWithHint("AssignedPod", frozenset({"UpdatePodScaleDown"}), _after_scale_down),
        ClusterEventWithHint("TargetPod", frozenset({"UpdatePodScaleDown"}), always),
        ClusterEventWithHint("Node", frozenset({"Add", "UpdateNodeAllocatable"}), _after_node_change),
        ClusterEventWithHint(
            "resource.k8s.io/DeviceClass",
            frozenset({"Add", "Update"}),
            _after_device_class_change,
            EXTENDED_GATE,
        ),
    ),
    until=_until,
    signs=signed_requests,
    reuse=Reused(filter="own", score="requests"),
    code=NodeResourcesFit(),
)
