"""Writes of objects other than Workloads: what each kind changes in Kueue, and whom it wakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.objects import ClusterQueue, ResourceFlavor
from scheduler_core.cluster.kueue.queues import PendingQueue
from scheduler_core.cluster.kueue.reader import (
    read_admission_check,
    read_cluster_queue,
    read_cohort,
    read_flavor,
    read_local_queue,
    read_topology,
)
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    labels_of,
    name_of,
    namespace_of,
    selects,
    spec_of,
    status_of,
)

Handler = Callable[[Control, str, "Manifest | None"], None]
"""Takes an object's name, or its key if it has a namespace, and its manifest, ``None`` once it is deleted."""


def put(control: Control, kind: str, key: str, manifest: Manifest | None) -> None:
    """Let Kueue know of a write or deletion of an object that is no Workload."""
    handler = HANDLERS.get(kind)
    if handler is not None:
        handler(control, key, manifest)


def _cluster_queue(control: Control, name: str, manifest: Manifest | None) -> None:
    cache, old = control.cache, control.cache.queues.get(name)
    new = read_cluster_queue(manifest) if manifest is not None else None
    if new == old:
        return
    cache.change(name)
    if new is None:
        del cache.queues[name], control.queues[name]
    else:
        cache.queues[name] = new
        if old is None:
            control.queues[name] = PendingQueue()
            control.refill(control.of_cluster_queue(name))
        control.stir(name)
    if old is None or new is None or _asks_controller(old) != _asks_controller(new):
        control.reconcile(control.of_cluster_queue(name))


def _asks_controller(queue: ClusterQueue) -> tuple[Any, ...]:
    """Return the fields whose change makes the Workload controller look at a queue's Workloads."""
    return queue.stop_policy, queue.checks, queue.is_terminating


def _cohort(control: Control, name: str, manifest: Manifest | None) -> None:
    new = read_cohort(manifest) if manifest is not None else None
    if new == control.cache.cohorts.get(name):
        return
    control.cache.change(name)
    if new is None:
        del control.cache.cohorts[name]
    else:
        control.cache.cohorts[name] = new
    control.stir(name, is_queue=False)


def _local_queue(control: Control, key: str, manifest: Manifest | None) -> None:
    cache, old = control.cache, control.cache.local_queues.get(key)
    new = read_local_queue(manifest) if manifest is not None else None
    if new == old:
        return
    keys = control.of_local_queue(key)
    if old is not None and (new is None or new.stop_policy != "None") and old.cluster_queue in control.queues:
        for workload in keys:
            control.queues[old.cluster_queue].drop(workload)
    if new is None:
        del cache.local_queues[key]
    else:
        cache.local_queues[key] = new
        control.refill(keys)
    control.reconcile(keys)


def _flavor(control: Control, name: str, manifest: Manifest | None) -> None:
    flavors = control.cache.flavors
    new = read_flavor(manifest) if manifest is not None else None
    if new == flavors.get(name):
        return
    _set(flavors, name, new)
    control.cache.review()
    control.cache.change_topologies()
    _stir_all(control, lambda queue: name in _flavor_names(queue))


def _flavor_names(queue: ClusterQueue) -> set[str]:
    return {flavor.name for group in queue.groups for flavor in group.flavors}


def _check(control: Control, name: str, manifest: Manifest | None) -> None:
    checks = control.cache.checks
    new = read_admission_check(manifest) if manifest is not None else None
    if new == checks.get(name):
        return
    _set(checks, name, new)
    control.cache.review()
    _stir_all(control, lambda queue: name in queue.checks)


def _topology(control: Control, name: str, manifest: Manifest | None) -> None:
    cache = control.cache
    new = read_topology(manifest) if manifest is not None else None
    if new == cache.topologies.get(name):
        return
    _set(cache.topologies, name, new)
    cache.review()
    cache.change_topologies()
    _stir_all(control, lambda queue: name in _topology_names(control, queue))


def _topology_names(control: Control, queue: ClusterQueue) -> set[str]:
    flavors = control.cache.flavors
    return {flavors[name].topology for name in _flavor_names(queue) if name in flavors}


def _node(control: Control, name: str, manifest: Manifest | None) -> None:
    cache, old = control.cache, control.cache.nodes.get(name)
    _set(cache.nodes, name, manifest)
    cache.change_topologies()
    control.failures.observe(control, name, manifest)
    if _placing_fields(old) != _placing_fields(manifest):
        for flavor in cache.flavors.values():
            if _places_on(control, flavor, (old, manifest)):
                control.stir_later(flavor.name)


def _placing_fields(node: Manifest | None) -> Any:
    """Return what of a node matters to topologies."""
    if node is None:
        return None
    ready = [one.get("status") for one in status_of(node).get("conditions") or () if one["type"] == "Ready"]
    spec = spec_of(node)
    return (
        labels_of(node),
        spec.get("taints"),
        spec.get("unschedulable"),
        ready,
        status_of(node).get("allocatable"),
    )


def _places_on(control: Control, flavor: ResourceFlavor, nodes: tuple[Manifest | None, ...]) -> bool:
    """Return whether a flavor has a topology that one of these versions of a node is in."""
    topology = control.cache.topologies.get(flavor.topology)
    if topology is None:
        return False
    labels = [labels_of(node) for node in nodes if node is not None]
    wanted, levels = flavor.node_labels.items(), set(topology.levels)
    return any(wanted <= row.items() and levels <= row.keys() for row in labels)


def _pod(control: Control, key: str, manifest: Manifest | None) -> None:
    _set(control.cache.pods, key, manifest)
    control.cache.change_topologies()


def _namespace(control: Control, name: str, manifest: Manifest | None) -> None:
    namespaces = control.cache.namespaces
    if manifest is None:
        namespaces.pop(name, None)
        return
    labels = {"kubernetes.io/metadata.name": name, **labels_of(manifest)}
    old = namespaces.get(name)
    namespaces[name] = labels
    if old is not None and old != labels:
        _stir_all(control, lambda queue: selects(queue.namespace_selector, labels))


def _limit_range(control: Control, key: str, manifest: Manifest | None) -> None:
    around = control.cache.surroundings
    namespace, _, name = key.partition("/")
    rows = {row["name"]: row for row in around.limit_ranges.get(namespace, ())}
    rows.pop(name, None)
    if manifest is not None:
        rows[name] = {**spec_of(manifest), "name": name}
    ranges = {**around.limit_ranges, namespace: tuple(rows[one] for one in sorted(rows))}
    control.cache.surroundings = replace(around, limit_ranges=ranges)
    control.refill([one for one in control.workloads if one.startswith(f"{namespace}/")])


def _runtime_class(control: Control, name: str, manifest: Manifest | None) -> None:
    around = control.cache.surroundings
    overheads = {one: amounts for one, amounts in around.overheads.items() if one != name}
    if manifest is not None:
        overheads[name] = (manifest.get("overhead") or {}).get("podFixed") or {}
    control.cache.surroundings = replace(around, overheads=overheads)
    control.refill(list(control.workloads))


def _set(table: dict[str, Any], name: str, new: Any) -> None:
    if new is None:
        table.pop(name, None)
    else:
        table[name] = new


def _stir_all(control: Control, concerns: Callable[[ClusterQueue], bool]) -> None:
    for name, queue in control.cache.queues.items():
        if concerns(queue):
            control.stir(name)


HANDLERS: Mapping[str, Handler] = {
    "AdmissionCheck": _check,
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "LimitRange": _limit_range,
    "LocalQueue": _local_queue,
    "Namespace": _namespace,
    "Node": _node,
    "Pod": _pod,
    "ResourceFlavor": _flavor,
    "RuntimeClass": _runtime_class,
    "Topology": _topology,
}
"""What is done for each kind."""


def key_for(kind: str, manifest: Manifest) -> str:
    """Return the key by which a kind's objects are known here."""
    name = name_of(manifest)
    return f"{namespace_of(manifest) or 'default'}/{name}" if kind in NAMESPACED else name


NAMESPACED = frozenset(("Job", "LimitRange", "LocalQueue", "Pod", "Workload"))
