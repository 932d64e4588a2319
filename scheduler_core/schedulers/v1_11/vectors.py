"""Results that the pods of one class share: vectors over all nodes, patched where events changed a node.

Pods of a class do not differ in any field that predicates and priorities read, so the result of a rule
of scope OBJECTS or NODE for one of them on a node holds for the next one, until pods are added to or
removed from that node. Rules of scope CLUSTER are never reused. Reuse is exact: a row is computed by the
same code, on a view of the changed nodes alone. For a class without ports and volumes, a result computed
for one node also holds for any node with the same allocatable and used resources: for a node that fills up
as others did before, the result is looked up.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.schedulers.columns.alike import MOST_CHANGED
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.predicate import PredicateResult
from scheduler_core.schedulers.profiles.priority import MapOnly, Mapped, MapReduce, MapScaled
from scheduler_core.schedulers.profiles.profile import Profile

ALIKE_BYTES = 64  # a node, in what compares nodes
KEPT_BYTES = 64 * 1024 * 1024  # of vectors; the least recently used class is evicted first
REBUILD_SHARE = 4  # if more than a quarter of the nodes changed, computing all is cheaper than patching
FEW_ROWS = 8  # up to so many changed nodes are looked up; more are cheaper to compute together
FOUND_LIMIT = 4096  # node states whose results one class keeps

Rows = npt.NDArray[np.int64]


class Plan:
    """Which of a profile's rules can be reused, by their numbers."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        known = [n for n, p in enumerate(profile.predicates) if p.scope is not Scope.CLUSTER]
        self.predicates = [(n, profile.predicates[n]) for n in known]
        self.patched = [(n, p) for n, p in self.predicates if p.scope is Scope.NODE]
        self.fixed_members = [
            member
            for _, predicate in self.patched
            for member in getattr(predicate, "members", ())
            if member.scope is Scope.OBJECTS
        ]
        self.priorities = [
            (number, priority.weight, priority.run.steps)
            for number, priority in enumerate(profile.priorities)
            if isinstance(priority.run, Mapped) and reusable(priority.run.steps)
        ]
        self.patched_priorities = [entry for entry in self.priorities if entry[2].scope is Scope.NODE]
        self._fixed = {number for number, _, steps in self.priorities if steps.scope is Scope.OBJECTS}
        known_priorities = {number for number, _, _ in self.priorities}
        self.open_priorities = [
            (number, priority)
            for number, priority in enumerate(profile.priorities)
            if number not in known_priorities
        ]

    def fixed(self, number: int) -> bool:
        """Return whether a priority's values for a class are constant until the class is computed again."""
        return number in self._fixed


class KnownOutcomes(Protocol):
    """The outcomes of a pod's predicates that are known before any is evaluated."""

    @property
    def checks(self) -> Sequence[int]:
        """The numbers of the predicates that are not known to pass on every node."""

    @property
    def whole(self) -> KnownOutcomes | None:
        """The outcomes to use without short-circuiting; others than these if a lookup has side effects."""

    def outcome(self, number: int, open_rows: BoolVector | None) -> PredicateResult | None:
        """Return a predicate's result, valid for the open rows (``None``: all).

        Return ``None`` if it is not known and must be evaluated.
        """

    def leave_out(self, nodes: IntVector) -> None:
        """Register the nodes with nominated pods, which the known outcomes do not account for."""


class FollowsRows(Protocol):
    """What is derived of a class's vectors row by row."""

    def renew(self, rows: list[int]) -> None:
        """Follow a change of the vectors in some rows."""


class PatchedResults(NamedTuple):
    """The results of the patched rules on R rows, ``(R,)`` each; or on a single node, one number each."""

    codes: Sequence[Codes | int | None]  # None: it passes
    values: Sequence[IntVector | int]


class ClassVectors:
    """One class's predicate outcomes and priority values on all N nodes.

    ``outcomes`` has one entry per predicate, ``None`` for one that is not reused. ``checks`` are
    the numbers of the predicates that some node may fail. ``base`` is ``(N,) int64``: the weighted
    sum of the priorities whose score on a node does not depend on which other nodes are feasible.
    """

    def __init__(self, cluster: Cluster, plan: Plan, pod: PodState) -> None:
        self.cluster = cluster
        self.plan = plan
        self.position = len(cluster.touched)
        self.outcomes: list[PredicateResult | None] = [None] * len(plan.profile.predicates)
        self.raws: dict[int, IntVector] = {}
        self.steps: dict[int, MapReduce] = {}
        self.scaled: dict[int, Scaled] = {}
        self.base = np.zeros(cluster.columns.size, np.int64)
        self._fill(pod)
        self.checks = self._remaining()
        # results of a class with ports or volumes also depend on those in use on the node
        self._by_resources = not cluster.use_of(pod.info)
        self._devices = pod.info.demand is not None
        self._scalars = tuple(name for name, _ in pod.info.scalar_request)
        whole = View(cluster)
        members = (member(pod.info, whole, pod).codes for member in plan.fixed_members)
        self._fixed = [codes for codes in members if codes is not None]
        self._found: dict[Hashable, PatchedResults] = {}
        self.choices = 0  # until nodes are compared; -1 for never
        self.alike: FollowsRows | None = None
        arrays = 1 + len(self.raws) + 2 * len(self.scaled)
        self.bytes = self.base.nbytes * arrays + self.base.size * (2 * len(self.outcomes) + ALIKE_BYTES)

    def _fill(self, pod: PodState) -> None:
        whole = View(self.cluster)
        for number, predicate in self.plan.predicates:
            self.outcomes[number] = predicate(pod.info, whole, pod)
        for number, _ in self.plan.patched:
            self.outcomes[number] = _own(self.outcomes[number])
        for number, weight, steps in self.plan.priorities:
            raw = self.raws[number] = steps.map(pod.info, whole).copy()
            raw.flags.writeable = not self.plan.fixed(number)
            self.steps[number] = steps
            if isinstance(steps, MapOnly):
                self.base += weight * raw
            elif isinstance(steps, MapScaled):
                if raw.any():
                    self.scaled[number] = Scaled(steps, weight, raw)
                else:
                    self.base += weight * steps.scale(raw, 0)

    @property
    def whole(self) -> ClassVectors:
        """The vectors themselves: they hold a reused predicate's outcome on every node."""
        return self

    def outcome(self, number: int, open_rows: BoolVector | None) -> PredicateResult | None:  # noqa: ARG002
        """Return the kept outcome of a predicate on all nodes."""
        return self.outcomes[number]

    def leave_out(self, nodes: IntVector) -> None:
        """Do nothing: the outcomes are for nodes without nominated pods, and are only used for that pass."""

    def _remaining(self) -> list[int]:
        """Return the predicates that are not known to pass everywhere."""
        return [
            number
            for number, known in enumerate(self.outcomes)
            if known is None or known.codes is not None or known.errors
        ]

    def follow(self, pod: PodState) -> bool:
        """Patch what changed since the last call; return False if computing all again is cheaper."""
        touched = self.cluster.touched
        if len(touched) == self.position:
            return True
        rows = set(touched[self.position :])
        if len(rows) * REBUILD_SHARE > max(64, self.base.size):
            return False
        self.position = len(touched)
        changed = list(rows)
        states = self._states(rows) if self._by_resources and len(rows) <= FEW_ROWS else {}
        for row, state in states.items():
            found = self._found.get(state)
            if found is not None:
                self._write(row, found)
                rows.discard(row)
        if rows:
            self._renew(pod, sorted(rows), states)
        if self.alike is not None and len(changed) > MOST_CHANGED:
            self.alike, self.choices = None, 0
        elif self.alike is not None:
            self.alike.renew(changed)
        return True

    def _states(self, rows: Iterable[int]) -> dict[int, Hashable]:
        """Return by node everything that the patched rules read of it: resources, free capacity of shared
        devices for a class that requests any, and the outcomes of a bundle's members of scope OBJECTS.
        """
        state = self.cluster.resource_state
        found = {row: state(row, self._scalars) for row in rows}
        if self._fixed:
            found = {row: (one, *(codes.item(row) for codes in self._fixed)) for row, one in found.items()}
        if self._devices:
            room = self.cluster.device_room
            return {row: (known, room.idle.item(row), room.largest.item(row)) for row, known in found.items()}
        return found

    def _renew(self, pod: PodState, rows: list[int], states: Mapping[int, Hashable]) -> None:
        """Run the patched rules on some nodes, and keep the results for nodes in equal state."""
        together = np.array(rows, np.int64)
        view = View(self.cluster, together)
        codes = [predicate(pod.info, view, pod).codes for _, predicate in self.plan.patched]
        values = [steps.map(pod.info, view) for _, _, steps in self.plan.patched_priorities]
        self._write(together, PatchedResults(codes, values))
        if len(self._found) + len(states) > FOUND_LIMIT:
            self._found.clear()
        for place, row in enumerate(rows if states else ()):
            self._found[states[row]] = PatchedResults(
                [None if found is None else found.item(place) or None for found in codes],
                [found.item(place) for found in values],
            )

    def _write(self, rows: Rows | int, found: PatchedResults) -> None:
        for (number, _), fresh in zip(self.plan.patched, found.codes):
            known = self.outcomes[number]
            codes = known.codes if known is not None else None
            if codes is not None:
                codes[rows] = 0 if fresh is None else fresh
            elif fresh is not None:
                codes = np.zeros(self.base.size, np.int16)
                codes[rows] = fresh
                self.outcomes[number] = PredicateResult(codes)
                self.checks = self._remaining()
        for (number, weight, _), values in zip(self.plan.patched_priorities, found.values):
            raw = self.raws[number]
            self.base[rows] += weight * (values - raw[rows])
            raw[rows] = values


class Scaled:
    """A priority whose values never change and whose scores depend on the highest feasible value."""

    def __init__(self, steps: MapScaled, weight: int, raw: IntVector) -> None:
        self.steps = steps
        self.weight = weight
        self.raw = raw
        self.highest = int(raw.max())
        self.best_nodes = np.flatnonzero(raw == self.highest)
        self._most = -1
        self._scores = raw

    def scores(self, feasible: Rows | None, failed: Codes | None) -> IntVector:
        """Return the scores on all nodes, given that these nodes are feasible: ``(N,) int64``."""
        most = self.highest
        if feasible is not None and failed is not None and failed[self.best_nodes].all():
            most = int(self.raw[feasible].max())
        if most != self._most:
            self._most, self._scores = most, self.steps.scale(self.raw, most)
        return self._scores


def _own(outcome: PredicateResult | None) -> PredicateResult | None:
    """Return an outcome whose codes are a copy that can be written to."""
    return outcome if outcome is None or outcome.codes is None else PredicateResult(outcome.codes.copy())


def reusable(steps: MapReduce) -> bool:
    """Return whether a priority's scores can be derived from values that are kept per class."""
    if isinstance(steps, MapOnly):
        return steps.scope is not Scope.CLUSTER
    return isinstance(steps, MapScaled) and steps.scope is Scope.OBJECTS


class VectorStore:
    """The vectors of recently used classes, within a memory limit."""

    def __init__(self, cluster: Cluster, profile: Profile, limit: int = KEPT_BYTES) -> None:
        self.cluster = cluster
        self._profile = profile
        self._limit = limit
        self._kept: dict[int, ClassVectors] = {}
        self._bytes = 0
        self._generation = -1

    def __deepcopy__(self, memo: dict[int, Any]) -> VectorStore:
        """Return an empty store for a copied cluster: the vectors can be computed again."""
        return VectorStore(deepcopy(self.cluster, memo), deepcopy(self._profile, memo), self._limit)

    @cached_property
    def plan(self) -> Plan:
        """What can be reused, made with the first vectors: some runs never want any."""
        return Plan(self._profile)

    def of(self, pod: PodState) -> ClassVectors:
        """Return the up-to-date vectors of a pod's class."""
        if self._generation != self.cluster.generation:
            self._kept.clear()
            self._bytes = 0
            self._generation = self.cluster.generation
        number = pod.info.number
        known = self._kept.pop(number, None)
        if known is None or not known.follow(pod):
            self._bytes -= known.bytes if known is not None else 0
            known = ClassVectors(self.cluster, self.plan, pod)
            self._bytes += known.bytes
        self._kept[number] = known
        while self._bytes > self._limit and len(self._kept) > 1:
            self._bytes -= self._kept.pop(next(iter(self._kept))).bytes
        return known
