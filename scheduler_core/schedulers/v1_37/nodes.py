"""The nodes as columns: one row per node, one NumPy array per resource, label and interned property.

Rows are stable while a node exists; ``order`` lists them as the scheduler walks them. A row whose node was
deleted while pods remain on it keeps them (``alive`` is False), as the scheduler's cache does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from scheduler_core.forks import Copier, Forkable, Memo, flat, nested
from scheduler_core.kubernetes.model import Requirement
from scheduler_core.kubernetes.requests import amounts
from scheduler_core.kubernetes.selectors import holds
from scheduler_core.kubernetes.shared_devices import SHARE, DeviceDemand
from scheduler_core.schedulers.v1_37.node_list import Names, NodeList
from scheduler_core.schedulers.v1_37.pod_spec import Port
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.row_memo import RowMemo
from scheduler_core.schedulers.v1_37.selectors import NAME_FIELD
from scheduler_core.schedulers.v1_37.shared_devices import SharedDevices

Rows = NDArray[np.intp]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ZONE = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
_REGION = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
_MAX_MASKS = 512


class Column(Forkable):
    """Interned values of the rows: ``ids`` is (capacity,) int, -1 where the row has no value."""

    FORKED: ClassVar[Mapping[str, Copier]] = dict.fromkeys(("ids", "values", "_index"), flat)

    def __init__(self, capacity: int) -> None:
        self.ids = np.full(capacity, -1, np.intp)
        self.values: list[Any] = []
        self._index: dict[Hashable, int] = {}

    def set(self, row: int, value: Hashable | None) -> None:
        """Give a row a value; None for none."""
        if value is None:
            self.ids[row] = -1
            return
        number = self._index.get(value)
        if number is None:
            number = self._index[value] = len(self.values)
            self.values.append(value)
        self.ids[row] = number

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self.ids = np.concatenate((self.ids, np.full(capacity - len(self.ids), -1, np.intp)))

    def number(self, value: Hashable) -> int | None:
        """Return a value's id, if any row ever had it."""
        return self._index.get(value)

    def lookup(self, answer: Callable[[Any], Any], missing: Any, dtype: type) -> NDArray[Any]:
        """Evaluate ``answer`` once for each distinct value; return it for all rows."""
        table: NDArray[Any] = np.array([*(answer(value) for value in self.values), missing], dtype)
        return table[self.ids]  # -1 takes the last


class NodeInfo(Struct):
    """What is looked at one node at a time."""

    name: str
    manifest: Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, Any], ...] = ()
    alive: bool = True
    zone: str = ""
    pods: list[CompiledPod] = field(default_factory=list)
    ports: set[Port] = field(default_factory=set)
    images: tuple[str, ...] = ()
    is_lent: bool = False
    """Whether copies of the table share it: whoever changes it copies it first."""

    def __copy__(self) -> NodeInfo:
        """Return a node with pods and ports of its own; the rest is replaced as a whole and never changed."""
        return replace(self, pods=self.pods.copy(), ports=self.ports.copy(), is_lent=False)


def _lent(nodes: list[NodeInfo], memo: Memo) -> list[NodeInfo]:
    """Copy the rows of a table, whose nodes are shared until one of the copies changes them."""
    del memo
    for node in nodes:
        node.is_lent = True
    return nodes.copy()


def zone_of(labels: Mapping[str, str]) -> str:
    """Return the key of region and zone (node.GetZoneKey)."""
    zone, region = (next((labels[key] for key in keys if key in labels), "") for keys in (_ZONE, _REGION))
    return f"{region}:\x00:{zone}" if zone or region else ""


class Image(Struct):
    """An image's state: nodes that list it, its size as the first of them gave it, and the frozen columns."""

    size: int
    nodes: set[int]
    sizes: Ints
    counts: Ints


class SavedRow(Struct):
    """A row's state before a what-if."""

    row: int
    pods: list[CompiledPod]
    ports: set[Port]
    requested: dict[str, int]
    nonzero: tuple[int, int]
    dirty: bool
    priorities: Counter[int]


class NodeTable(Forkable):
    """All rows, their columns and their order."""

    FORKED: ClassVar[Mapping[str, Copier]] = {"rows": flat, "nodes": _lent, "names": flat, "_zones": nested}

    def __init__(self, capacity: int = 16) -> None:
        self.capacity = capacity
        self.rows: dict[str, int] = {}
        self.nodes: list[NodeInfo] = []
        self.names: Names = np.empty(capacity, np.object_)
        self.allocatable: dict[str, Ints] = {}
        self.requested: dict[str, Ints] = {}
        self.nonzero = np.zeros((2, capacity), np.int64)
        self.pod_counts = np.zeros(capacity, np.int64)
        self.priorities: Counter[int] = Counter()
        """How many pods on rows have each priority."""
        self.unschedulable = np.zeros(capacity, np.bool_)
        self.labels: dict[str, Column] = {}
        self.taints = Column(capacity)
        self.features = Column(capacity)
        self.with_ports: set[int] = set()
        self.images: dict[str, Image] = {}
        self.shared: SharedDevices | None = None
        """GPUs that pods share, once a node has some."""
        self.order: Rows = np.zeros(0, np.intp)
        self.order_version = 0
        self.version = 0
        """Grows with every change of a node object; masks over nodes are kept for one version."""
        self.structure = 0
        """Grows with those changes that concern more than one row's taints and amounts."""
        self.changed_at = np.zeros(capacity, np.int64)
        """The version at which each row's node object changed last."""
        self._zones: dict[str, list[int]] = {}
        self._ordered: frozenset[int] = frozenset()
        self._came_or_went = False
        self._dirty: set[int] = set()
        self._masks: dict[Hashable, NDArray[Any]] = {}
        self._mask_version = 0
        self._memo = RowMemo()
        self._keeps = True

    # Rows.

    def __len__(self) -> int:
        return len(self.nodes)

    def row(self, name: str) -> int | None:
        """Return the row of an existing node."""
        row = self.rows.get(name)
        return row if row is not None and self.nodes[row].alive else None

    def listed(self, rows: Rows) -> NodeList:
        """Return the nodes of rows, to be named later."""
        return NodeList(self.names, rows)

    def _own(self, row: int) -> NodeInfo:
        """Return a row's node to change it."""
        node = self.nodes[row]
        if node.is_lent:
            node = self.nodes[row] = copy(node)
        return node

    def _own_all(self, rows: Iterable[int]) -> list[NodeInfo]:
        """Return the nodes of all rows, to change those of some."""
        for row in set(rows):
            self._own(row)
        return self.nodes

    def name(self, row: int) -> str:
        """Return the name of a row's node."""
        return self.nodes[row].name

    def unknown(self, name: str) -> int:
        """Return a row for pods of a node that does not exist (yet)."""
        return self._new_row(name)

    def _new_row(self, name: str) -> int:
        row = len(self.nodes)
        if row == self.capacity:
            self._grow(2 * self.capacity)
        self.nodes.append(NodeInfo(name, {}, alive=False))
        self.names[row] = name
        self.rows[name] = row
        return row

    def _grow(self, capacity: int) -> None:
        def grown(array: Ints) -> Ints:
            return np.concatenate((array, np.zeros(capacity - len(array), array.dtype)))

        for table in (self.allocatable, self.requested):
            for name in table:
                table[name] = grown(table[name])
        for image in self.images.values():
            image.sizes, image.counts = grown(image.sizes), grown(image.counts)
        self.changed_at = grown(self.changed_at)
        self.nonzero = np.stack((grown(self.nonzero[0]), grown(self.nonzero[1])))
        self.pod_counts = grown(self.pod_counts)
        self.names = np.concatenate((self.names, np.empty(capacity - self.capacity, np.object_)))
        self.unschedulable = np.concatenate(
            (
                self.unschedulable,
                np.zeros(capacity - self.capacity, np.bool_),
            )
        )
        for column in (*self.labels.values(), self.taints, self.features):
            column.grow(capacity)
        if self.shared is not None:
            self.shared.grow(capacity)
        self.capacity = capacity
        self.version += 1  # the masks are too short now
        self.structure += 1

    # Node objects.

    def put(self, manifest: Mapping[str, Any]) -> int:
        """Add or update a node from its manifest; return its row."""
        name = manifest["metadata"]["name"]
        row = self.rows.get(name)
        if row is None:
            row = self._new_row(name)
        node = self._own(row)
        spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
        self.structure += not self._keeps_structure(node, manifest)
        node.manifest = manifest
        node.labels = manifest["metadata"].get("labels") or {}
        node.taints = tuple(spec.get("taints") or ())
        zone = zone_of(node.labels)
        if not node.alive or zone != node.zone:
            self._leave_zone(row)
            self._zones.setdefault(zone, []).append(row)
            self._came_or_went |= not node.alive
            node.zone, node.alive = zone, True
        self.unschedulable[row] = bool(spec.get("unschedulable"))
        held = amounts(status.get("allocatable"))
        for resource in {*held, *self.allocatable}:
            self.column(self.allocatable, resource)[row] = held.get(resource, 0)
        if self.shared is None and SHARE in held:
            self.shared = SharedDevices(self.capacity)
        if self.shared is not None:
            self.shared.put(row, held, self._demands(row))
        for key, column in self.labels.items():
            column.set(row, node.name if key == NAME_FIELD else node.labels.get(key))
        self.taints.set(
            row, tuple((t["key"], t.get("value") or "", t.get("effect") or "") for t in node.taints)
        )
        self.features.set(row, frozenset(status.get("declaredFeatures") or ()))
        self._set_images(row, status.get("images") or ())
        self._changed(row)
        return row

    def _keeps_structure(self, node: NodeInfo, manifest: Mapping[str, Any]) -> bool:
        """Return whether a node changes its taints, conditions and amounts at most."""
        if not node.alive or self.shared is not None:
            return False
        old, new = node.manifest.get("status") or {}, manifest.get("status") or {}
        if (manifest["metadata"].get("labels") or {}) != node.labels:
            return False
        return all(old.get(name) == new.get(name) for name in ("images", "declaredFeatures"))

    def _demands(self, row: int) -> list[DeviceDemand]:
        return [pod.demand for pod in self.nodes[row].pods if pod.demand is not None]

    def remove(self, name: str) -> None:
        """Remove a node; its pods stay on the row."""
        row = self.rows[name]
        self._leave_zone(row)
        self._set_images(row, ())
        self._own(row).alive = False
        self._came_or_went = True
        self.structure += 1
        self._changed(row)

    def _changed(self, row: int) -> None:
        self.version += 1
        self.changed_at[row] = self.version
        self._dirty.add(row)

    def _leave_zone(self, row: int) -> None:
        node = self.nodes[row]
        if node.alive:
            members = self._zones[node.zone]
            members.remove(row)
            if not members:
                del self._zones[node.zone]

    def _set_images(self, row: int, images: Any) -> None:
        node = self._own(row)
        for name in node.images:
            self.images[name].nodes.discard(row)
        named: dict[str, int] = {}
        for entry in images:
            for name in entry.get("names") or ():
                named.setdefault(name, int(entry.get("sizeBytes") or 0))
        for name, size in named.items():
            state = self.images.get(name)
            if state is None:
                empty = np.zeros(self.capacity, np.int64)
                state = self.images[name] = Image(size, set(), empty, empty.copy())
            elif not state.nodes:
                state.size = size
            state.nodes.add(row)
        node.images = tuple(named)

    # The snapshot of a cycle.

    def refresh(self) -> None:
        """Update what changes only between cycles: the list of nodes, and image counts (UpdateSnapshot)."""
        if self._dirty:
            if self._came_or_went:
                self._came_or_went = False
                alive = frozenset(row for rows in self._zones.values() for row in rows)
                if alive != self._ordered:
                    self.order, self._ordered = self._listed(), alive
                    self.order_version += 1
            for row in self._dirty:
                self._freeze_images(row)
            self._dirty.clear()

    def _listed(self) -> Rows:
        """Return the first node of each zone in turn, then the second of each (nodeTree.list)."""
        out: list[int] = []
        zones = list(self._zones.values())
        for position in range(max(map(len, zones), default=0)):
            out.extend(rows[position] for rows in zones if position < len(rows))
        return np.array(out, np.intp)

    def _freeze_images(self, row: int) -> None:
        for image in self.images.values():
            listed = row in image.nodes
            image.sizes[row] = image.size if listed else 0
            image.counts[row] = len(image.nodes) if listed else 0

    @property
    def images_are_settled(self) -> bool:
        """Whether no row's images were counted before a node with one of them came, changed or went."""
        for image in self.images.values():
            listed = list(image.nodes)
            if np.count_nonzero(image.counts) != len(listed):
                return False
            if (image.counts[listed] != len(listed)).any() or (image.sizes[listed] != image.size).any():
                return False
        return True

    def without_pods(self) -> NodeTable:
        """Return columns for scores, with the same nodes but no requests of pods and no images on them."""
        out = copy(self)
        nothing = np.zeros_like(self.nonzero)
        vars(out).update(requested={}, images={}, nonzero=nothing, _memo=RowMemo())
        return out

    # Columns.

    def column(self, table: dict[str, Ints], name: str) -> Ints:
        """Return a resource's column of the table, made at first use."""
        found = table.get(name)
        if found is None:
            found = table[name] = np.zeros(self.capacity, np.int64)
        return found

    def label(self, key: str) -> Column:
        """Return a label's column; ``metadata.name`` is the name."""
        found = self.labels.get(key)
        if found is None:
            found = self.labels[key] = Column(self.capacity)
            for row, node in enumerate(self.nodes):
                found.set(row, node.name if key == NAME_FIELD else node.labels.get(key))
        return found

    def having(self, key: str) -> Rows:
        """Return the rows of the walk, in order, whose nodes have a label."""

        def make() -> Rows:
            return self.order[self.label(key).ids[self.order] >= 0]

        return self.mask(("having", key, self.order_version), make)

    def places(self) -> Rows:
        """Return the place of each row in the walk, -1 for a row that is not in it; do not change it."""

        def make() -> Rows:
            out = np.full(self.capacity, -1, np.intp)
            out[self.order] = np.arange(len(self.order))
            return out

        return self.mask(("place", self.order_version), make)

    def mask(self, key: Hashable, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return an array over all rows that depends on node objects alone, kept until one changes."""
        if self._mask_version != self.version or len(self._masks) > _MAX_MASKS:
            self._masks.clear()
            self._mask_version = self.version
        found = self._masks.get(key)
        if found is None:
            found = self._masks[key] = make()
        return found

    def holds(self, requirement: Requirement) -> Mask:
        """Evaluate an expression on labels for all rows; (capacity,) bool."""

        def make() -> Mask:
            satisfies = partial(holds, requirement)
            return self.label(requirement.key).lookup(satisfies, satisfies(None), np.bool_)

        return self.mask(requirement, make)

    def by_numbers(self, key: Hashable, owner: object, rows: Rows, make: Callable[[Rows], Ints]) -> Ints:
        """Return for rows what depends on node objects and the rows' pods' requests alone; do not change it.

        It is evaluated again for rows that changed. ``owner``: what the key leaves out, such as arguments.
        """
        if not self._keeps:
            return make(rows)
        state = self.version, self.capacity, len(self.order)
        return self._memo.values(key, owner, state, rows, make, self.numbers)

    @contextmanager
    def unkept(self) -> Iterator[None]:
        """Evaluate what depends on numbers without keeping it: the caller keeps it itself."""
        self._keeps = False
        try:
            yield
        finally:
            self._keeps = True

    # Pods on rows.

    def add_pod(self, row: int, pod: CompiledPod) -> None:
        """Count a pod on a row (NodeInfo.AddPod)."""
        node = self._own(row)
        node.pods.append(pod)
        self._count(row, pod, 1)
        if pod.host_ports:
            node.ports.update(pod.host_ports)
            self.with_ports.add(row)

    def list_all(self, pods: Iterable[CompiledPod], rows: Iterable[int]) -> None:
        """List pods on their rows, in order; they are left to be counted."""
        nodes = self._own_all(rows)
        for row, pod in zip(rows, pods):
            nodes[row].pods.append(pod)

    def unlist_all(self, rows: Iterable[int]) -> None:
        """Take the pods that were listed last from their rows again."""
        nodes = self._own_all(rows)
        for row in rows:
            nodes[row].pods.pop()

    def count_all(self, rows: Ints, changes: Ints, pod: CompiledPod) -> None:
        """Count pods that hold what ``pod`` does, and no ports, on rows, all different: so many on each."""
        for name, amount in pod.held.items():
            self.column(self.requested, name)[rows] += amount * changes
        self.nonzero[:, rows] += np.outer(pod.held_nonzero, changes)
        self.pod_counts[rows] += changes
        self._count_priority(pod.priority, int(changes.sum()))
        if self.shared is not None and pod.demand is not None:
            for row in rows.tolist():
                self.shared.renew(row, self._demands(row))
        self._dirty.update(rows.tolist())
        self._memo.forget()

    def remove_pod(self, row: int, pod: CompiledPod) -> None:
        """Count a pod no more; the last one takes its place in the list (NodeInfo.RemovePod).

        Its ports are free then even if another pod of the node has them, for upstream keeps a set.
        """
        node = self._own(row)
        place = next(i for i, other in enumerate(node.pods) if other.key == pod.key)
        node.pods[place] = node.pods[-1]
        node.pods.pop()
        self._count(row, pod, -1)
        node.ports.difference_update(pod.host_ports)

    def put_again(self, row: int, old: CompiledPod, new: CompiledPod) -> None:
        """Count a pod instead of another that holds the same: as if that one left and this one came.

        Its host ports are taken again, also where a pod that shared one has left and freed it.
        """
        node = self._own(row)
        pods = node.pods
        if new.host_ports:
            node.ports.update(new.host_ports)
            self.with_ports.add(row)
        place, key = len(pods) - 1, old.key
        while pods[place].key != key:
            place -= 1
        pods[place] = pods[-1]
        pods[-1] = new
        self._dirty.add(row)

    def _count(self, row: int, pod: CompiledPod, sign: int) -> None:
        for name, amount in pod.held.items():
            self.column(self.requested, name)[row] += sign * amount
        cpu, memory = pod.held_nonzero
        self.nonzero[0, row] += sign * cpu
        self.nonzero[1, row] += sign * memory
        self.pod_counts[row] += sign
        self._count_priority(pod.priority, sign)
        if self.shared is not None and pod.demand is not None:
            self.shared.renew(row, self._demands(row))
        self._dirty.add(row)
        self._memo.changed(row)

    def _count_priority(self, priority: int, change: int) -> None:
        self.priorities[priority] += change
        if not self.priorities[priority]:
            del self.priorities[priority]

    def numbers(self, row: int) -> tuple[int, ...]:
        """Return all that requests are compared with on a row."""
        return (
            int(self.pod_counts[row]),
            *self.nonzero[:, row].tolist(),
            *(int(column[row]) for column in self.requested.values()),
            *(int(column[row]) for column in self.allocatable.values()),
            *(() if self.shared is None else self.shared.numbers(row)),
        )

    def save(self, row: int) -> SavedRow:
        """Remember a row before a what-if."""
        node = self.nodes[row]
        return SavedRow(
            row,
            list(node.pods),
            set(node.ports),
            {name: int(column[row]) for name, column in self.requested.items()},
            (int(self.nonzero[0, row]), int(self.nonzero[1, row])),
            row in self._dirty,
            self.priorities.copy(),
        )

    def restore(self, saved: SavedRow) -> None:
        """Take a what-if back."""
        row, node = saved.row, self._own(saved.row)
        node.pods, node.ports = list(saved.pods), set(saved.ports)
        if node.ports:
            self.with_ports.add(row)
        for name, column in self.requested.items():
            column[row] = saved.requested.get(name, 0)
        self.nonzero[:, row] = saved.nonzero
        self.pod_counts[row] = len(node.pods)
        self.priorities = saved.priorities
        if self.shared is not None:
            self.shared.renew(row, self._demands(row))
        self._memo.changed(row)
        if not saved.dirty:
            self._dirty.discard(row)
