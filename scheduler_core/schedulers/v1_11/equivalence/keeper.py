"""The equivalence cache of a running scheduler: lookups, events, the audit, and the record of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import cast

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.record.cache_record import (
    INVALIDATIONS_SHOWN,
    NODES_SHOWN,
    CacheRecord,
    Counts,
    Invalidated,
)
from scheduler_core.schedulers.columns.events import InvalidationEvent
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.equivalence.audit import Audit
from scheduler_core.schedulers.v1_11.equivalence.cache import EquivalenceCache
from scheduler_core.schedulers.v1_11.equivalence.classes import Classes, Definition, EquivalenceClass
from scheduler_core.schedulers.v1_11.equivalence.live import LiveTopology
from scheduler_core.schedulers.v1_11.equivalence.lookups import Lookups, PendingWrite
from scheduler_core.schedulers.v1_11.equivalence.row import Mode
from scheduler_core.schedulers.v1_11.equivalence.rules import Invalidation, InvalidationRules
from scheduler_core.schedulers.v1_11.strategy import EvaluationStrategy
from scheduler_core.schedulers.v1_11.vectors import ClassVectors
from scheduler_core.settings.settings import Settings

NO_CLASS = "it has no controller, hence no equivalence class"


class CacheKeeper(EvaluationStrategy):
    """Manages the cache of one scheduler; a restarted scheduler gets a new keeper."""

    def __init__(self, cluster: Cluster, profile: Profile, settings: Settings, *, trace: bool) -> None:
        super().__init__()
        self.cluster = cluster
        self.profile = profile
        self.settings = settings
        self.trace = trace
        mode = cast("Mode", settings.cache)
        predicates = dict(zip(profile.order, profile.predicates))
        self.exact = mode == "sound" and settings.stale_writes == "generations"
        self.rules = InvalidationRules(mode, predicates)
        self.sound = InvalidationRules("sound", predicates) if settings.audit else None
        self.cache = EquivalenceCache(())
        self.topology = LiveTopology(cluster, self.cache)
        self.classes = Classes(cast("Definition", settings.equivalence_class), split=mode == "sound")
        self.audit = Audit()
        self.by_rule: Counter[str] = Counter()
        self.cycle = 0
        self._lookups: Lookups | None = None
        self._class: EquivalenceClass | None = None
        self._counts = Counts()
        self._invalidations: list[Invalidated] = []
        self._invalidations_count = 0
        self._touched: set[str] = set()  # nodes that changed in this cycle, or whose pods did
        self._between = False

    @property
    def bytes(self) -> int:
        """The current size of the cache in bytes."""
        return self.cache.stats.bytes

    # Added and deleted pods

    def know(self, pod: PodState) -> None:
        """Register a pod: its class, and its affinity terms and disks, which concern other pods."""
        self.topology.seen.pod(pod.info)
        self.classes.of(pod.pod)

    def forget(self, key: str) -> None:
        """Remove a deleted pod from its class."""
        self.classes.forget(key)

    # A cycle

    def begin(self, cycle: int, time: float) -> None:  # noqa: ARG002 -- part of the EvaluationStrategy interface
        """Begin a cycle; cycles are counted from 1."""
        self.cycle = cycle

    def answers(self, pod: PodState, vectors: ClassVectors | None) -> Lookups:
        """Return the lookups that provide the results of the pod's predicates in this cycle."""
        names = self.cluster.columns.names
        if names is not self.cache.nodes:
            self.cache.remap(names)
        self._class = self.classes.of(pod.pod)
        self._lookups = Lookups(
            self.cache,
            self.cluster,
            self.profile,
            pod,
            None if self._class is None else self._class.hash,
            vectors,
            trace=self.trace,
            audit=self.audit if self.settings.audit else None,
        )
        self._touched.clear()
        self._between = True
        return self._lookups

    def write(self) -> None:
        """Write the results evaluated in the cycle, except those that the stale-write protection discards."""
        self._between = False
        lookups = self._lookups
        if lookups is None or lookups.number is None:
            return
        for item in lookups.pending:
            rows, generations = item.rows, None
            if self.settings.stale_writes == "isUpToDate":
                rows = self._up_to_date(item)
            elif self.settings.stale_writes == "generations":
                generations = item.generations
            codes = item.codes[np.isin(item.rows, rows)] if len(rows) < len(item.rows) else item.codes
            written = self.cache.write(
                lookups.number, item.predicate, codes, self.cycle, rows=rows, generations=generations
            )
            lookups.counts.writes += written
            lookups.counts.discarded += len(item.rows) - written
        if lookups.counts.writes and self.settings.audit:
            self.audit.wrote(self.cycle, lookups.pod)

    def _up_to_date(self, item: PendingWrite) -> IntVector:
        """Return the rows whose node is unchanged: #63040 compares only the node's own generation."""
        if not self._touched:
            return item.rows
        names = self.cache.nodes
        return np.array([row for row in item.rows.tolist() if names[row] not in self._touched], np.int64)

    def finish(self, message: str | None = None) -> CacheRecord:
        """End a cycle and return its record; ``message`` is why it ended, if that was before any lookup."""
        lookups, self._lookups = self._lookups, None
        known, self._class = self._class, None
        counts, self._counts = self._counts, Counts()
        record = CacheRecord(
            self.settings.cache, self.settings.equivalence_class, audited=self.settings.audit
        )
        if lookups is not None:
            counts.add(lookups.counts)
            record.sources, record.cleared = lookups.sources, lookups.cleared()
            if lookups.suspects:
                record.stale = self.audit.explain(lookups.suspects, lookups.nodes, self.cluster.reasons)
        if lookups is None:
            record.bypass = message or ""
        elif known is None:
            record.bypass = NO_CLASS
        if known is not None:
            record.hash, record.name, record.members = known.hash, known.name, len(known.members)
        self.totals.add(counts)
        record.counts = counts
        record.invalidations, self._invalidations = self._invalidations, []
        record.invalidations_count, self._invalidations_count = self._invalidations_count, 0
        if self.trace:
            record.totals = Counts()
            record.totals.add(self.totals)
            record.by_rule = dict(self.by_rule)
            record.causes = dict(self.audit.causes)
            record.stats = self.cache.stats
        return record

    def report(self) -> Iterator[str]:
        """Yield a summary of the cache over the whole run, line by line."""
        totals, settings = self.totals, self.settings
        asked = totals.hits + totals.evaluations
        share = f" ({totals.hits / asked:.1%} of {asked:,} lookups)" if asked else ""
        yield (
            f"equivalence cache {settings.cache}, classes by {settings.equivalence_class}: "
            f"{totals.hits:,} hits{share}, {totals.evaluations:,} evaluations, {totals.invalidated:,} "
            f"entries invalidated, {totals.discarded:,} results discarded, {len(self.classes):,} classes"
        )
        if settings.audit:
            yield f"audit: {totals.stale:,} stale hit{'' if totals.stale == 1 else 's'}"
            yield from (f"  {count:,} × {cause}" for cause, count in self.audit.causes.most_common())

    # Events

    def handle(self, event: InvalidationEvent | None) -> None:
        """Invalidate the entries that an event makes stale, and record the invalidations.

        Call it before nodes or storage change.
        """
        if event is None:
            return
        if event.node:
            self._touched.add(event.node)
        for found in self.rules.of(event, self.topology):
            cleared = self.cache.invalidate(found.predicates, found.rows)
            if self._lookups is not None:
                self._lookups.clear(found.predicates, found.rows)
            self._counts.invalidated += cleared
            if cleared:
                self.by_rule[found.row.id] += cleared
            self._record(found, cleared)
        if self.sound is not None:
            due = self.sound.of(event, self.topology)
            self.audit.expect(due, self.cache.nodes, self.cycle, during=self._between)

    def _record(self, found: Invalidation, cleared: int) -> None:
        self._invalidations_count += 1
        if not self.trace or len(self._invalidations) >= INVALIDATIONS_SHOWN:
            return
        names = self.cache.nodes
        rows = [] if found.rows is None else found.rows.tolist()
        nodes = tuple(names[row] for row in rows[:NODES_SHOWN])
        self._invalidations.append(
            Invalidated(
                found.row.id, str(found.event), found.predicates, nodes, len(rows), cleared, self._between
            )
        )
