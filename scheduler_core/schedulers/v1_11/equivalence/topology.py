"""The state of the cluster that the invalidation table reads, beyond the objects of the event itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import PersistentVolume, Pod
from scheduler_core.schedulers.columns.podinfo import PodInfo, Term
from scheduler_core.schedulers.columns.storage import DiskKey, disks

REMEMBERED = 4096  # verdicts about label sets


class Seen:
    """Required affinity terms and disks of every pod seen in a run so far.

    Nothing is ever removed: an entry outlives the pods it was written for, and is looked up again as soon
    as their controller creates a new one.
    """

    def __init__(self) -> None:
        self.affinity: dict[Term, None] = {}
        self.anti_affinity: dict[Term, None] = {}
        self._numbers: set[int] = set()
        self._shared: dict[DiskKey, bool] = {}
        self._verdicts: dict[tuple[str, frozenset[tuple[str, str]]], tuple[bool, bool]] = {}

    def pod(self, info: PodInfo) -> None:
        """Record a compiled pod; only the first one of each compiled class is recorded."""
        if info.number in self._numbers:
            return
        self._numbers.add(info.number)
        terms = info.terms
        if terms.required or terms.anti_required:
            self.affinity.update(dict.fromkeys(terms.required))
            self.anti_affinity.update(dict.fromkeys(terms.anti_required))
            self._verdicts.clear()
        for disk, shares in disks(info):
            self._shared[disk] = shares and self._shared.get(disk, True)

    @property
    def any_terms(self) -> bool:
        """Whether any pod seen has required affinity or anti-affinity."""
        return bool(self.affinity or self.anti_affinity)

    @property
    def anti_affinity_keys(self) -> frozenset[str]:
        """The topology keys of required anti-affinity."""
        return frozenset(term.topology_key for term in self.anti_affinity)

    @property
    def keys(self) -> frozenset[str]:
        """The topology keys of required affinity and anti-affinity."""
        return self.anti_affinity_keys | {term.topology_key for term in self.affinity}

    def selecting(self, pod: Pod) -> tuple[bool, bool]:
        """Return whether a required affinity term selects a pod, and whether an anti-affinity term does."""
        namespace, labels = pod.meta.namespace, pod.meta.labels
        key = (namespace, frozenset(labels.items()))
        known = self._verdicts.get(key)
        if known is None:
            if len(self._verdicts) >= REMEMBERED:
                self._verdicts.clear()
            known = self._verdicts[key] = (
                _any_selects(self.affinity, namespace, labels),
                _any_selects(self.anti_affinity, namespace, labels),
            )
        return known

    def always_shared(self, disk: DiskKey) -> bool:
        """Return whether every pod that used a disk did so read-only and its type allows sharing."""
        return self._shared.get(disk, False)


def _any_selects(terms: Mapping[Term, None], namespace: str, labels: Mapping[str, str]) -> bool:
    return any(term.selects(namespace, labels) for term in terms)


class RowTopology(Protocol):
    """The cluster as the table reads it. Rows are those of the cache: the nodes before the event.

    :meth:`EquivalenceCache.remap` adopts a changed node list after the event's invalidations.
    """

    seen: Seen

    def row(self, node: str) -> int:
        """Return a node's row, -1 if there is no such node."""

    def sharing(self, node: str, keys: Collection[str]) -> IntVector:
        """Return the rows of the nodes that share the value of at least one of these labels with ``node``,
        ascending; a label that ``node`` lacks matches none.
        """

    def volume(self, name: str) -> PersistentVolume | None:
        """Return a PersistentVolume by name, ``None`` if it does not exist."""
