"""The fields of the node objects as columns: one array entry per node, in object order.

Columns change only with the node objects; the usage by pods is kept in
:mod:`scheduler_core.schedulers.columns.state`. Strings are interned per column, so that a rule is
evaluated once per distinct value and mapped to the nodes by one array lookup.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from functools import cached_property
from operator import lt
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import Node, Taint

T = TypeVar("T", bound=Hashable)

INT64_MAX = 2**63 - 1
BASIC_RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods")
ZONE_LABEL = "failure-domain.beta.kubernetes.io/zone"
REGION_LABEL = "failure-domain.beta.kubernetes.io/region"


def clamp(amount: int) -> int:
    """Clamp a quantity to the range of a 64-bit integer, as resource.Quantity.Value does."""
    return max(-INT64_MAX - 1, min(INT64_MAX, amount))


class Interned(Struct, Generic[T], frozen=True):
    """A column with few distinct values: ``ids`` is ``(N,) int64``, -1 where a node has no value."""

    ids: IntVector
    values: tuple[T, ...]


def intern_column(items: Sequence[T | None]) -> Interned[T]:
    """Number the distinct items in order of first appearance; ``None`` becomes -1."""
    values = tuple(item for item in dict.fromkeys(items) if item is not None)
    numbers: dict[T | None, int] = {None: -1, **{item: number for number, item in enumerate(values)}}
    return Interned(np.fromiter(map(numbers.__getitem__, items), np.int64, len(items)), values)


def _has_other_columns(old: Node, new: Node) -> bool:
    """Return whether two versions of a node differ in anything but taints and status."""
    return (old.meta.name, old.meta.labels, old.allocatable, old.images) != (
        new.meta.name, new.meta.labels, new.allocatable, new.images
    )  # fmt: skip


class Domains(Struct, frozen=True, eq=False):
    """The topology domains of the nodes: ``ids`` is ``(N,) int64``, -1 for none."""

    ids: IntVector
    count: int


class NodeColumns:
    """The columns of a fixed sequence of nodes.

    ``allocatable`` is ``(4, N) int64`` in the order of :data:`BASIC_RESOURCES` (millicores,
    bytes, bytes, pods); an absent amount is 0 (schedulercache.NodeInfo.SetNode).
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = tuple(nodes)
        self.size = len(self.nodes)
        self.names = tuple(node.meta.name for node in self.nodes)
        self.index = {name: row for row, name in enumerate(self.names)}
        self.allocatable = np.zeros((len(BASIC_RESOURCES), self.size), np.int64)
        self.scalars: dict[str, IntVector] = {}
        for row, node in enumerate(self.nodes):
            self._read_allocatable(row, node)
        self.no_scalar = np.zeros(self.size, np.int64)
        self._label_maps = [node.meta.labels for node in self.nodes]
        self._labels: dict[str, Interned[str]] = {}
        self._topologies: dict[tuple[str, ...], Domains] = {}
        self._zones: Domains | None = None
        self._images: dict[str, dict[int, int]] | None = None
        self.everything = np.arange(self.size, dtype=np.int32)  # all node indices
        self._sorted: bool | None = None
        self._name_ranks: IntVector | None = None

    def following(self, nodes: Sequence[Node], changed: Iterable[str]) -> NodeColumns:
        """Return the columns of later versions of the same nodes, of which some have changed.

        They share what a change of taints, conditions and annotations leaves as it is.
        """
        rows = [self.index[name] for name in changed if name in self.index]
        if any(_has_other_columns(self.nodes[row], nodes[row]) for row in rows):
            return NodeColumns(nodes)
        made = copy(self)
        made.nodes = tuple(nodes)
        for name in ("taints", "status"):
            made.__dict__.pop(name, None)
        return made

    @cached_property
    def taints(self) -> Interned[tuple[Taint, ...]]:
        """The column of taints."""
        return intern_column([node.taints for node in self.nodes])

    @cached_property
    def status(self) -> Interned[tuple[Any, bool]]:
        """The column of conditions and ``spec.unschedulable``."""
        return intern_column([(node.conditions, node.unschedulable) for node in self.nodes])

    def _read_allocatable(self, row: int, node: Node) -> None:
        for name, amount in node.allocatable.items():
            if name in BASIC_RESOURCES:
                self.allocatable[BASIC_RESOURCES.index(name), row] = clamp(amount)
            else:
                self.scalars.setdefault(name, np.zeros(self.size, np.int64))[row] = clamp(amount)

    def scalar(self, name: str) -> IntVector:
        """Return the allocatable amount of one scalar resource, ``(N,) int64``, 0 where a node has none."""
        return self.scalars.get(name, self.no_scalar)

    def label(self, key: str) -> Interned[str]:
        """Return the column of one label key."""
        column = self._labels.get(key)
        if column is None:
            column = intern_column([labels.get(key) for labels in self._label_maps])
            self._labels[key] = column
        return column

    def label_mask(self, key: str, holds: Callable[[str | None], bool]) -> npt.NDArray[np.bool_]:
        """Evaluate a condition on a label's value once per distinct value: ``(N,) bool``."""
        column = self.label(key)
        verdicts = np.array([*(holds(value) for value in column.values), holds(None)], np.bool_)
        return verdicts[column.ids]

    def topology(self, keys: tuple[str, ...]) -> Domains:
        """Number the topology domains of the combination of ``keys`` (priorityutil.NodesHaveSameTopologyKey).

        A node that lacks one of the labels is in no domain.
        """
        known = self._topologies.get(keys)
        if known is None:
            known = self._topologies[keys] = self._number_domains(keys)
        return known

    def _number_domains(self, keys: tuple[str, ...]) -> Domains:
        if not keys:
            return Domains(np.zeros(self.size, np.int64), 1)
        if len(keys) == 1:
            column = self.label(keys[0])
            return Domains(column.ids, len(column.values))
        head = self.topology(keys[:-1]).ids
        last = self.label(keys[-1])
        width = max(1, len(last.values))
        pairs = np.where((head >= 0) & (last.ids >= 0), head * width + last.ids, -1)
        distinct, inverse = np.unique(pairs, return_inverse=True)
        offset = 1 if distinct.size and distinct[0] == -1 else 0
        return Domains(inverse.reshape(-1).astype(np.int64) - offset, len(distinct) - offset)

    @property
    def zones(self) -> Domains:
        """The zones for spreading: pairs of region and zone label (utilnode.GetZoneKey)."""
        if self._zones is None:
            region, zone = (self._numbers_from_1(key) for key in (REGION_LABEL, ZONE_LABEL))
            pairs = region * (int(zone.max(initial=0)) + 1) + zone
            distinct, inverse = np.unique(pairs, return_inverse=True)
            unzoned = int(distinct.size > 0 and distinct[0] == 0)
            ids = inverse.reshape(-1).astype(np.int64) - unzoned
            self._zones = Domains(ids, len(distinct) - unzoned)
        return self._zones

    def _numbers_from_1(self, key: str) -> IntVector:
        """Number a label's values from 1, ``(N,) int64``; 0 where it is absent or empty."""
        column = self.label(key)
        empty = column.values.index("") if "" in column.values else -1
        return np.where(column.ids == empty, 0, column.ids + 1)

    @property
    def images(self) -> dict[str, dict[int, int]]:
        """A map from image name to {node: size in bytes}."""
        if self._images is None:
            self._images = {}
            for row, node in enumerate(self.nodes):
                for image in node.images:
                    for name in image.names:
                        self._images.setdefault(name, {})[row] = image.size_bytes
        return self._images

    @property
    def name_ranks(self) -> IntVector:
        """Each node's rank by name in byte order, ``(N,) int64``.

        Strings compare by code point, which is the order of their bytes in UTF-8.
        """
        if self._name_ranks is None:
            order = sorted(range(self.size), key=self.names.__getitem__)
            self._name_ranks = np.empty(self.size, np.int64)
            self._name_ranks[order] = np.arange(self.size)
        return self._name_ranks

    @property
    def sorted_by_name(self) -> bool:
        """Whether the object order equals the order by name, in which case no ranks are needed."""
        if self._sorted is None:
            self._sorted = all(map(lt, self.names, self.names[1:]))
        return self._sorted
