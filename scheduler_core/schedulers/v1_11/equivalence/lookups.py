"""One pod's predicate results, from the cache on a hit (podFitsOnNode with an equivalence cache)."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.record.cache_record import BoolMatrix, Counts, ResultSource, Sources
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.profiles.predicate import FITS, PredicateResult
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.equivalence.audit import Audit, Suspect, differing
from scheduler_core.schedulers.v1_11.equivalence.cache import EquivalenceCache
from scheduler_core.schedulers.v1_11.vectors import ClassVectors


class PendingWrite(Struct, frozen=True):
    """A result yet to be written: ``codes`` are those of ``rows``."""

    predicate: str
    rows: IntVector
    codes: Codes
    generations: IntVector  # of the entries, before the evaluation


class Lookups:
    """The first half of the cache's work in a cycle: look up, evaluate the misses, collect the writes.

    ``number`` is the hash of the pod's class, ``None`` for a pod without one. The keeper writes the results
    after the evaluation, so that an event can arrive in between. With an ``audit`` every hit is also
    evaluated.
    """

    def __init__(
        self,
        cache: EquivalenceCache,
        cluster: Cluster,
        profile: Profile,
        pod: PodState,
        number: int | None,
        vectors: ClassVectors | None,
        *,
        trace: bool,
        audit: Audit | None,
    ) -> None:
        self.cache = cache
        self.cluster = cluster
        self.profile = profile
        self.pod = pod
        self.number = number
        self.vectors = vectors
        self.audit = audit
        self.counts = Counts()
        self.pending: list[PendingWrite] = []
        self.suspects: list[Suspect] = []
        self.nodes = cluster.columns.names
        size = len(self.nodes)
        self.cachable: BoolVector | None = None  # None: every node
        self._whole = View(cluster)
        self.sources: Sources | None = np.zeros((len(profile.order), size), np.uint8) if trace else None
        self._cleared: BoolMatrix | None = None

    @property
    def checks(self) -> range:
        """All predicates: each is looked up in turn."""
        return range(len(self.profile.predicates))

    @property
    def whole(self) -> ClassVectors | None:
        """The vectors that provide results besides the cache."""
        return self.vectors

    def leave_out(self, nodes: IntVector) -> None:
        """Bypass the cache on nodes where nominated pods are added (v1.10+, both passes)."""
        self.cachable = np.ones(len(self.nodes), np.bool_)
        self.cachable[nodes] = False

    def outcome(self, place: int, open_rows: BoolVector | None) -> PredicateResult:
        """Return a predicate's result for all nodes; it is defined for the open ones (``None``: all)."""
        key = self.profile.order[place]
        asked = np.ones(len(self.nodes), np.bool_) if open_rows is None else open_rows
        if self.number is None:
            return self._fresh(place, asked, ResultSource.BYPASSED)
        cached = asked if self.cachable is None else asked & self.cachable
        codes, valid = self.cache.lookup(self.number, key)
        hits = valid & cached
        known = int(np.count_nonzero(hits))
        result = np.where(hits, codes, np.int16(0)) if known else np.zeros(len(self.nodes), np.int16)
        errors: dict[int, str] = {}
        self._note(place, hits, ResultSource.HIT, known)
        missing = asked & ~hits
        if missing.any():
            self._evaluate(place, missing, cached, result, errors)
        if known and self.audit is not None:
            self._check(self.audit, place, hits, codes)
        return PredicateResult(result, errors) if errors or result.any() else FITS

    def clear(self, predicates: tuple[str, ...] | None, rows: IntVector | None) -> None:
        """Record that an event invalidated entries that were looked up; ``rows`` are the cache's current."""
        if self.sources is None or self.number is None:
            return
        if rows is not None and self.cache.nodes is not self.nodes:  # a node was added or removed since
            own = {name: row for row, name in enumerate(self.nodes)}
            there = (own.get(self.cache.nodes[row]) for row in rows.tolist())
            rows = np.array([row for row in there if row is not None], np.int64)
        if self._cleared is None:
            self._cleared = np.zeros(self.sources.shape, np.bool_)
        for place, key in enumerate(self.profile.order):
            if predicates is None or key in predicates:
                self._cleared[place, slice(None) if rows is None else rows] = True

    def cleared(self) -> BoolMatrix | None:
        """Return which entries looked up were invalidated since, ``(P, N) bool``; ``None`` if none were.

        An entry that was written after the invalidating event is valid and not among them.
        """
        if self._cleared is None or self.sources is None or self.number is None:
            return None
        gone = self._cleared & ((self.sources == ResultSource.HIT) | (self.sources == ResultSource.MISS))
        if self.cache.nodes is self.nodes:
            for place in np.flatnonzero(gone.any(axis=1)).tolist():
                gone[place] &= ~self.cache.lookup(self.number, self.profile.order[place])[1]
        return gone if gone.any() else None

    def _evaluate(
        self, place: int, missing: BoolVector, cached: BoolVector, result: Codes, errors: dict[int, str]
    ) -> None:
        outcome = self._truth(place, missing)
        if outcome.codes is not None:
            np.copyto(result, outcome.codes, where=missing)
            errors.update({row: text for row, text in outcome.errors.items() if missing[row]})
        written = missing & cached
        rows = np.flatnonzero(written)
        self._note(place, written, ResultSource.MISS, len(rows))
        if self.cachable is not None:
            bypassed = missing & ~cached
            self._note(place, bypassed, ResultSource.BYPASSED, int(np.count_nonzero(bypassed)))
        if len(rows):
            key = self.profile.order[place]
            self.pending.append(PendingWrite(key, rows, result[rows], self.cache.generations(key, rows)))

    def _fresh(self, place: int, asked: BoolVector, source: ResultSource) -> PredicateResult:
        self._note(place, asked, source, int(np.count_nonzero(asked)))
        return self._truth(place, asked)

    def _truth(self, place: int, rows: BoolVector) -> PredicateResult:
        """Evaluate a predicate on these rows; elsewhere the result is undefined."""
        known = self.vectors.outcomes[place] if self.vectors is not None else None
        return known if known is not None else self._truth_for(self.pod, place, rows)

    def _truth_for(self, pod: PodState, place: int, rows: BoolVector) -> PredicateResult:
        predicate = self.profile.predicates[place]
        if rows.all():
            return predicate(pod.info, self._whole, pod)
        numbers = np.flatnonzero(rows)
        found = predicate(pod.info, View(self.cluster, numbers), pod)
        if found.codes is None:
            return FITS
        codes = np.zeros(len(self.nodes), np.int16)
        codes[numbers] = found.codes
        return PredicateResult(codes, {int(numbers[row]): text for row, text in found.errors.items()})

    def _check(self, audit: Audit, place: int, hits: BoolVector, codes: Codes) -> None:
        """Evaluate the hits as well and keep those whose result differs."""
        true = _codes(self._truth(place, hits), len(self.nodes))
        rows = np.flatnonzero(hits & (true != codes))
        if not len(rows) or self.number is None:
            return
        key = self.profile.order[place]
        written = [self.cache.written(self.number, key, row) or 0 for row in rows.tolist()]
        differs = self._differs(audit, place, rows, codes, written)
        self.suspects.append(
            Suspect(key, rows, codes[rows].copy(), true[rows].copy(), written, differs, audit.seen)
        )
        self.counts.stale += len(rows)

    def _differs(
        self, audit: Audit, place: int, rows: IntVector, codes: Codes, written: list[int]
    ) -> list[tuple[str, ...]]:
        """Return, per row, the fields in which the pod differs from the one that the entry was written for.

        Empty where the entry is no longer correct for that other pod.
        """
        found: dict[int, tuple[str, ...]] = {}
        for cycle in dict.fromkeys(written):
            writer = audit.writer(cycle)
            if writer is None or writer.info.number == self.pod.info.number:
                continue
            again = replace(writer, key="", node_name="", node=-1)  # a pod like it that is not placed yet
            mine = np.zeros(len(self.nodes), np.bool_)
            mine[[row for row, when in zip(rows.tolist(), written) if when == cycle]] = True
            true = _codes(self._truth_for(again, place, mine), len(self.nodes))
            fields = differing(self.profile.order[place], writer, self.pod)
            found |= dict.fromkeys(np.flatnonzero(mine & (true == codes)).tolist(), fields)
        return [found.get(row, ()) for row in rows.tolist()]

    def _note(self, place: int, rows: BoolVector, source: ResultSource, count: int) -> None:
        if not count:
            return
        if self.sources is not None:
            self.sources[place, rows] = source
        if source is ResultSource.HIT:
            self.counts.hits += count
        elif source is ResultSource.MISS:
            self.counts.misses += count
        else:
            self.counts.bypassed += count


def _codes(outcome: PredicateResult, size: int) -> Codes:
    return np.zeros(size, np.int16) if outcome.codes is None else outcome.codes
