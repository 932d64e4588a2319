"""The resource pools that a node reaches, from ResourceSlices (GatherPools of the structured allocator)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from msgspec import Struct, field

from scheduler_core.kubernetes.device_versions import as_v1
from scheduler_core.kubernetes.quantity import exact_quantity
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.device_taints import added_taints, rules_of
from scheduler_core.schedulers.v1_37.devices import Device, device_of, tainted
from scheduler_core.schedulers.v1_37.selectors import node_terms
from scheduler_core.schedulers.v1_37.state import ClusterState

PoolId = tuple[str, str]
"""Driver and pool."""

Counters = dict[str, dict[str, Fraction]]
"""Amounts by counter set and counter."""


Taints = Callable[[Device], Sequence[Mapping[str, Any]]]
"""Returns the taints of rules that select a device."""


def reaches(given: Mapping[str, Any], node: str, labels: Mapping[str, str]) -> bool:
    """Return whether a slice or a device is for the node (NodeMatches); one without any field is for none."""
    if given.get("nodeName"):
        return bool(given["nodeName"] == node)
    terms = node_terms(given.get("nodeSelector"))
    return bool(given.get("allNodes")) or (
        terms is not None and any(term.matches(node, labels) for term in terms)
    )


FIELDS: Mapping[str, frozenset[str]] = {
    "DRAPartitionableDevices": frozenset({"perDeviceNodeSelection", "sharedCounters", "consumesCounters"}),
    "DRADeviceTaints": frozenset({"taints"}),
    "DRAConsumableCapacity": frozenset({"allowMultipleAllocations"}),
    "DRADeviceBindingConditions": frozenset({"bindingConditions", "bindingFailureConditions", "bindsToNode"}),
}
"""The fields of slices and devices that mean nothing while a feature gate is off."""


def hidden_fields(cluster: ClusterState) -> frozenset[str]:
    """Return the fields of slices and devices that the cluster's scheduler does not act on."""
    off = (fields for gate, fields in FIELDS.items() if not cluster.configuration.gate(gate))
    return frozenset[str]().union(*off)


def _without(spec: Mapping[str, Any], hidden: frozenset[str]) -> Mapping[str, Any]:
    devices = [
        {name: value for name, value in device.items() if name not in hidden}
        for device in spec.get("devices") or ()
    ]
    kept = {name: value for name, value in spec.items() if name not in hidden}
    return {**kept, "devices": devices} if devices else kept


class Slice:
    """A ResourceSlice; its devices are compiled when they are first asked for."""

    def __init__(
        self, manifest: Manifest, taints: Taints | None = None, hidden: frozenset[str] = frozenset()
    ) -> None:
        """``hidden`` are fields that the scheduler does not act on (:func:`hidden_fields`)."""
        self.name: str = manifest["metadata"]["name"]
        self._taints = taints
        self.spec: Mapping[str, Any] = as_v1(manifest)["spec"]
        if hidden:
            self.spec = _without(self.spec, hidden)
        pool = self.spec["pool"]
        self.pool: PoolId = (self.spec["driver"], pool["name"])
        self.generation = int(pool.get("generation") or 0)
        self.count = int(pool.get("resourceSliceCount") or 1)

    @cached_property
    def devices(self) -> list[Device]:
        """The devices, in the slice's order."""
        devices = [device_of(self.spec, each) for each in self.spec.get("devices") or ()]
        return devices if self._taints is None else [tainted(each, self._taints(each)) for each in devices]

    @cached_property
    def is_hidden(self) -> bool:
        """Whether it declares compatibility groups, which are off by default: it counts as missing."""
        consumed = (one for each in self.devices for one in each.spec.get("consumesCounters") or ())
        return any(one.get("compatibilityGroups") for one in consumed)

    def is_for(self, node: str, labels: Mapping[str, str]) -> bool:
        """Return whether the slice, or one of its devices if each has its own nodes, is for the node."""
        if self.spec.get("perDeviceNodeSelection"):
            return any(reaches(each.spec, node, labels) for each in self.devices)
        return reaches(self.spec, node, labels)

    def reached_from(self, node: str, labels: Mapping[str, str]) -> list[Device]:
        """Return the devices that the node reaches."""
        if self.spec.get("perDeviceNodeSelection"):
            return [each for each in self.devices if reaches(each.spec, node, labels)]
        return self.devices if reaches(self.spec, node, labels) else []


class DevicePool(Struct):
    """A pool as one node sees it. ``problem``: why nothing is allocated from it; then it has no devices."""

    id: PoolId
    problem: str = ""
    """``being updated``: slices are missing; ``invalid``: its slices contradict each other."""
    devices: list[Device] = field(default_factory=list)
    elsewhere: list[Device] = field(default_factory=list)
    """Devices of slices that the node does not reach."""
    counters: Counters = field(default_factory=dict)


INCOMPLETE, INVALID = "being updated", "invalid"


class SliceIndex:
    """All ResourceSlices, by the node that they name and by pool."""

    def __init__(self, slices: Iterable[Slice]) -> None:
        self._by_node: dict[str, list[Slice]] = {}
        self._shared: list[Slice] = []
        self._by_pool: dict[PoolId, list[Slice]] = {}
        for piece in slices:
            node = piece.spec.get("nodeName")
            (self._by_node.setdefault(node, []) if node else self._shared).append(piece)
            self._by_pool.setdefault(piece.pool, []).append(piece)

    def pools(self, node: str, labels: Mapping[str, str]) -> list[DevicePool]:
        """Return the pools that the node reaches, by driver and name; those that bind late come last."""
        gathered = (self._pool(*each) for each in self._gathered(node, labels).items())
        pools = [pool for pool in gathered if pool is not None]
        return sorted(pools, key=lambda pool: (_binds_late(pool), pool.id))

    def _gathered(self, node: str, labels: Mapping[str, str]) -> dict[PoolId, list[Slice]]:
        """Return the slices for the node by pool, of the newest generation that reaches it."""
        found: dict[PoolId, list[Slice]] = {}
        for piece in (*self._by_node.get(node, ()), *self._shared):
            if piece.is_hidden or not piece.is_for(node, labels):
                continue
            known = found.setdefault(piece.pool, [])
            if known and piece.generation > known[0].generation:
                known.clear()
            if not known or piece.generation == known[0].generation:
                known.append(piece)
        return found

    def _pool(self, pool: PoolId, reached: list[Slice]) -> DevicePool | None:
        """Return the pool of some slices; None if a newer generation replaces them, wherever it is."""
        if len(reached) == reached[0].count:
            return _built(pool, reached, ())
        generation = reached[0].generation
        if any(piece.generation > generation for piece in self._by_pool[pool]):
            return None
        whole = [p for p in self._by_pool[pool] if p.generation == generation and not p.is_hidden]
        if len(whole) != reached[0].count:
            return DevicePool(pool, INCOMPLETE)
        names = {piece.name for piece in reached}
        return _built(pool, reached, [piece for piece in whole if piece.name not in names])


_SLICES = ("ResourceSlice", "DeviceTaintRule", "DeviceClass")
"""What decides about devices and their taints."""


def slices_of(cluster: ClusterState) -> list[Slice]:
    """Return all ResourceSlices, their devices with the taints of the DeviceTaintRules."""
    hidden = hidden_fields(cluster)

    def compiled() -> list[Slice]:
        rules = rules_of(cluster)
        taints = partial(added_taints, cluster, rules) if rules else None
        return [Slice(one, taints, hidden) for one in cluster.list("ResourceSlice")]

    slices: list[Slice] = cluster.derived(_SLICES, "slices", compiled)
    return slices


def pools_of(cluster: ClusterState, node: str, labels: Mapping[str, str]) -> list[DevicePool]:
    """Return the pools that a node reaches, in the order in which devices are tried."""
    index = cluster.derived(_SLICES, "slice index", lambda: SliceIndex(slices_of(cluster)))
    known = cluster.derived((*_SLICES, "Node"), "pools", dict[str, list[DevicePool]])
    if node not in known:
        known[node] = index.pools(node, labels)
    pools: list[DevicePool] = known[node]
    return pools


def _binds_late(pool: DevicePool) -> bool:
    return any(device.spec.get("bindingConditions") is not None for device in pool.devices)


def _built(pool: PoolId, reached: Iterable[Slice], others: Iterable[Slice]) -> DevicePool:
    """Return the pool of all its slices (buildPool); one that contradicts itself is invalid."""
    reached = sorted(reached, key=lambda piece: piece.name)
    counters = _counters([*reached, *others])
    devices, elsewhere = list(_devices(reached)), list(_devices(others))
    names = {device.id for device in devices}
    known = counters is not None and all(_is_known(counters, each) for each in (*devices, *elsewhere))
    if len(names) < len(devices) or counters is None or not known:
        return DevicePool(pool, INVALID)
    return DevicePool(pool, "", devices, elsewhere, counters)


def _devices(slices: Iterable[Slice]) -> Iterator[Device]:
    return (device for piece in slices if not piece.spec.get("sharedCounters") for device in piece.devices)


def _counters(slices: Iterable[Slice]) -> Counters | None:
    """Return the counter sets of a pool; None if two have one name."""
    found: Counters = {}
    for each in (each for piece in slices for each in piece.spec.get("sharedCounters") or ()):
        if each["name"] in found:
            return None
        found[each["name"]] = amounts(each.get("counters"))
    return found


def amounts(counters: Mapping[str, Any] | None) -> dict[str, Fraction]:
    """Return the amount of each counter."""
    given = (counters or {}).items()
    return {name: Fraction(exact_quantity(str(counter["value"]))) for name, counter in given}


def _is_known(counters: Counters, device: Device) -> bool:
    """Return whether the pool has every counter that a device consumes."""
    consumed = device.spec.get("consumesCounters") or ()
    return all(
        set(one.get("counters") or ()) <= set(counters.get(one["counterSet"], ()))
        and one["counterSet"] in counters
        for one in consumed
    )
