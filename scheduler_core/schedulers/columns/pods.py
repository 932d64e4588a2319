"""Pods on nodes, counted by the properties that selectors can distinguish.

A selector sees a pod's namespace, labels and whether it is being deleted: a *kind*. Every
selector in use keeps one vector of counts over the nodes, patched when a pod of a matching
kind is added or removed; so a selector is evaluated once per kind.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from operator import neg
from typing import ClassVar

import numpy as np
from msgspec import Struct, field

from scheduler_core.forks import Copier, Forkable, Memo, copied, keyed
from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.times import microseconds_of
from scheduler_core.schedulers.columns.columns import Domains
from scheduler_core.schedulers.columns.pod_selectors import Selector, matches
from scheduler_core.schedulers.columns.podinfo import AffinityTerms, PodInfo, Term
from scheduler_core.schedulers.columns.storage import PodUse

NOT_STARTED = 2**62  # microseconds: a pod that has not started counts as started now (GetPodStartTime)
TRACKED_LIMIT = 2048  # selectors whose counts are kept; the oldest is evicted, and counted again when needed


class PodState(Struct, eq=False, gc=False):
    """One pod of the cluster; ``order`` is its position of creation, ``node`` a column index or -1."""

    key: str
    pod: Pod
    info: PodInfo
    kind: PodKind
    affinity: AffinityClass | None
    order: int
    priority: int
    node_name: str = ""
    node: int = -1
    nominated: str = ""
    use: PodUse | None = None  # the ports and volumes counted on its node

    @property
    def terminating(self) -> bool:
        """Whether the pod has a deletionTimestamp."""
        return self.info.terminating

    @property
    def started(self) -> int:
        """The start time in microseconds since 1970; later than any time if the pod has not started."""
        at = microseconds_of(self.pod.start_time)
        return NOT_STARTED if at is None else at

    def __deepcopy__(self, memo: Memo) -> PodState:
        """Copy what changes: not the pod, what was compiled of it and what it uses."""
        made = copy(self)
        made.kind = copied(self.kind, memo)
        if self.affinity is not None:
            made.affinity = copied(self.affinity, memo)
        return made


class PodKind(Struct, eq=False):
    """Pods of one namespace, label set and deletion state; ``nodes`` maps node to count."""

    namespace: str
    labels: Mapping[str, str]
    terminating: bool
    nodes: dict[int, int] = field(default_factory=dict)
    tracked: list[TrackedCount] = field(default_factory=list)

    def count(self, node: int, change: int) -> None:
        """Add pods on a node; a negative change removes them."""
        left = self.nodes.get(node, 0) + change
        if left:
            self.nodes[node] = left
        else:
            del self.nodes[node]

    def count_all(self, nodes: Sequence[int], changes: Sequence[int]) -> None:
        """Add pods on each of some nodes, all different; what is 0 then is dropped."""
        counts = self.nodes
        if not counts:
            counts.update(zip(nodes, changes))
        elif counts == dict(zip(nodes, map(neg, changes))):
            counts.clear()
        else:
            for node, change in zip(nodes, changes):
                self.count(node, change)

    def __deepcopy__(self, memo: Memo) -> PodKind:
        """Copy the counts; namespace and labels never change."""
        made = memo[id(self)] = copy(self)
        made.nodes, made.tracked = self.nodes.copy(), copied(self.tracked, memo)
        return made


UNCOUNTED = PodKind("", {}, terminating=False)
"""The kind of a pod that is not counted yet."""


class PodCounts:
    """The number of certain pods on each node: ``counts`` is ``(N,) int64``.

    Sums over topology domains are computed on first use, and updated with every change.
    """

    __slots__ = ("_sums", "counts", "total")

    def __init__(self, size: int) -> None:
        self.counts = np.zeros(size, np.int64)
        self.total = 0
        self._sums: dict[Domains, IntVector] = {}

    def add(self, node: int, count: int) -> None:
        """Add ``count`` pods on a node; a negative count removes them."""
        self.counts[node] += count
        self.total += count
        for domains, sums in self._sums.items():
            domain = domains.ids[node]
            if domain >= 0:
                sums[domain] += count

    def add_all(self, nodes: IntVector, changes: IntVector) -> None:
        """Add pods on each of some nodes, all different: ``changes`` has as many entries."""
        self.counts[nodes] += changes
        self.total += int(changes.sum())
        for domains, sums in self._sums.items():
            ids = domains.ids[nodes]
            np.add.at(sums, ids[ids >= 0], changes[ids >= 0])

    def forget_sums(self) -> None:
        """Discard the sums over topology domains."""
        self._sums.clear()

    def sums(self, domains: Domains) -> IntVector:
        """Return the sum of each domain, ``(count + 1,) int64``; the last entry, for no domain, is 0."""
        sums = self._sums.get(domains)
        if sums is None:
            sums = self._sums[domains] = np.zeros(domains.count + 1, np.int64)
            np.add.at(sums, domains.ids, self.counts)
            sums[-1] = 0
        return sums


class AffinityClass(PodCounts):
    """The pods with one set of inter-pod affinity terms."""

    __slots__ = ("terms",)

    def __init__(self, terms: AffinityTerms, size: int) -> None:
        super().__init__(size)
        self.terms = terms


class PodQuery(Struct, frozen=True):
    """A query for the pods that match every (or any) of the namespaced selectors."""

    parts: tuple[tuple[tuple[str, ...], Selector | None], ...]
    every: bool = True
    skip_terminating: bool = False

    @classmethod
    def of_terms(cls, terms: Iterable[Term]) -> PodQuery:
        """Create the query for the pods that match all of the terms."""
        return cls(tuple((term.namespaces, term.selector) for term in terms))

    def matches(self, namespace: str, labels: Mapping[str, str], *, terminating: bool = False) -> bool:
        """Return whether the query matches pods of this kind."""
        if self.skip_terminating and terminating:
            return False
        verdicts = (
            namespace in namespaces and matches(selector, labels) for namespaces, selector in self.parts
        )
        return all(verdicts) if self.every else any(verdicts)


class TrackedCount(PodCounts):
    """The pods that match a query."""

    __slots__ = ("query",)

    def __init__(self, query: PodQuery, size: int) -> None:
        super().__init__(size)
        self.query = query


class PodIndex(Forkable):
    """Kinds and affinity classes of the pods on the nodes, with their counts."""

    FORKED: ClassVar[Mapping[str, Copier]] = {"kinds": keyed, "classes": keyed, "_tracked": keyed}

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self.kinds: dict[Hashable, PodKind] = {}
        self.classes: dict[AffinityTerms, AffinityClass] = {}
        self._tracked: dict[PodQuery, TrackedCount] = {}
        self._acting: dict[PodKind, tuple[int, list[AffinityClass]]] = {}

    def kind_of(self, info: PodInfo) -> PodKind:
        """Return the kind of a compiled pod, registering it with every tracked query that matches."""
        key = (info.namespace, tuple(sorted(info.labels.items())), info.terminating)
        kind = self.kinds.get(key)
        if kind is None:
            kind = self.kinds[key] = PodKind(info.namespace, info.labels, info.terminating)
            kind.tracked = [t for t in self._tracked.values() if _means(t.query, kind)]
        return kind

    def class_of(self, info: PodInfo) -> AffinityClass | None:
        """Return the affinity class of a compiled pod, ``None`` if it has no terms."""
        terms = info.terms
        if not (terms.required or terms.preferred or terms.anti_required or terms.anti_preferred):
            return None
        known = self.classes.get(terms)
        if known is None:
            known = self.classes[terms] = AffinityClass(terms, self.size)
        return known

    def add(self, state: PodState, sign: int) -> None:
        """Add (+1) or remove (-1) a pod on its node."""
        node, kind = state.node, state.kind
        kind.count(node, sign)
        for tracked in kind.tracked:
            tracked.add(node, sign)
        if state.affinity is not None:
            state.affinity.add(node, sign)

    def count(self, query: PodQuery) -> TrackedCount:
        """Return the live counts of a query; they are updated until the index is rebuilt."""
        tracked = self._tracked.get(query)
        if tracked is None:
            if len(self._tracked) >= TRACKED_LIMIT:
                self._forget(next(iter(self._tracked)))
            tracked = self._tracked[query] = self._start_tracking(query)
        return tracked

    def _start_tracking(self, query: PodQuery) -> TrackedCount:
        tracked = TrackedCount(query, self.size)
        for kind in self.kinds.values():
            if _means(query, kind):
                kind.tracked.append(tracked)
                for node, count in kind.nodes.items():
                    tracked.add(node, count)
        return tracked

    def _forget(self, query: PodQuery) -> None:
        tracked = self._tracked.pop(query)
        for kind in self.kinds.values():
            if tracked in kind.tracked:
                kind.tracked.remove(tracked)

    def forget_sums(self) -> None:
        """Discard the sums over topology domains, which have changed, and keep the counts."""
        for counted in (*self._tracked.values(), *self.classes.values()):
            counted.forget_sums()

    def acting_on(self, kind: PodKind) -> list[AffinityClass]:
        """Return the classes with any term that selects pods of ``kind``, in order of appearance."""
        seen, acting = self._acting.get(kind, (0, []))
        if seen < len(self.classes):
            fresh = list(self.classes.values())[seen:]
            acting = acting + [c for c in fresh if _acts(c.terms, kind)]
            self._acting[kind] = (len(self.classes), acting)
        return acting


def _means(query: PodQuery, kind: PodKind) -> bool:
    return query.matches(kind.namespace, kind.labels, terminating=kind.terminating)


def _acts(terms: AffinityTerms, kind: PodKind) -> bool:
    everything = (*terms.required, *terms.preferred, *terms.anti_required, *terms.anti_preferred)
    return any(term.selects(kind.namespace, kind.labels) for term in everything)
