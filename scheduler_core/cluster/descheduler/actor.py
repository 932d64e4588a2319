"""The descheduler in a living cluster: a pass at each interval, evictions by the API, what came of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from copy import deepcopy
from math import floor
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.descheduler.configuration import DeschedulerConfiguration
from scheduler_core.cluster.descheduler.facts import NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.lister import EvictionRefusedError, Listing
from scheduler_core.cluster.descheduler.record import REFUSED, RunRecord
from scheduler_core.cluster.descheduler.runner import evict_by, run_policy
from scheduler_core.cluster.v1_37.eviction import evict
from scheduler_core.cluster.v1_37.loop import StatusError
from scheduler_core.cluster.v1_37.objects import Manifest, key_of, namespace_of
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import EvictionOutcome, StoredWrite

LISTED = ("Node", "Pod", "PodDisruptionBudget", "PersistentVolumeClaim")
NAME_LABEL = "kubernetes.io/metadata.name"
TIMED = frozenset(("PodLifeTime", "RemoveFailedPods"))
"""Plugins that may find something merely because time has passed."""

Workload = tuple[str, str, str]
"""Namespace, kind and name of a pod's first owner."""
Report = Callable[[Manifest, str], None]
"""Makes an event of a refused eviction."""


class Pass(Struct):
    """One run, with the spread of the nodes' requests before it: the range of percentages by resource.

    ``time`` is in virtual seconds, ``cause`` what it ran for: its interval, or the node that asked for it.
    """

    time: float
    record: RunRecord
    spread: Mapping[str, float]
    cause: str = ""

    @property
    def summary(self) -> str:
        """What it did and why, in a line."""
        evicted = Counter(strategy for strategy, _ in self.record.evictions)
        refused = sum(len(one.of(REFUSED)) for one in self.record.strategies)
        counted = ", ".join(f"{name} {count:,}" for name, count in evicted.items())
        done = f"{'would evict' if self.record.dry_run else 'evicts'} {evicted.total():,} ({counted})"
        parts = [done if evicted else "evicts nothing"]
        parts += [f"{refused:,} refused by a budget"] if refused else []
        return f"{', '.join(parts)}: {self._reason}"

    @property
    def _reason(self) -> str:
        """The first eviction's reason, or why nothing was evicted."""
        first = next(self.record.evictions, None)
        if first is not None:
            return first[1].reason
        stopped = (one.stopped for one in self.record.strategies if one.stopped)
        kept = (f"{one.outcome}: {one.reason}" for each in self.record.strategies for one in each.verdicts)
        found = next(stopped, "") or next(kept, "") or "no strategy finds a pod"
        return self.record.skipped or found


class Return(Struct, frozen=True):
    """Ping-pong: a workload's pod was evicted from a node to which one came in place of an evicted one."""

    workload: str
    node: str
    pod: str
    time: float


class Descheduler:
    """Runs a policy over the API server's objects. ``report`` makes events of refusals.

    A pass without anything changed since the last one finds nothing new, and does not keep a run alive.
    """

    def __init__(self, server: ApiServer, given: DeschedulerConfiguration, report: Report) -> None:
        self.server, self.loop, self.given, self.report = server, server.loop, given, report
        self.passes: list[Pass] = []
        self.returns: list[Return] = []
        self._left: dict[tuple[Workload, str], float] = {}  # when a workload's pod was last evicted of a node
        self._compiled: dict[str, PodFacts] = {}
        self._stale = True
        self._timed = any(
            row.name in TIMED or profile.evictor.min_pod_age is not None
            for profile in given.policy.profiles
            for row, _ in profile.strategies("deschedule")
        )
        server.watch(self._observe, LISTED)
        self.loop.passes_matter(self._is_busy)
        self.loop.pass_at(given.settings.interval, self._pass)

    def __deepcopy__(self, memo: dict[int, Any]) -> Descheduler:
        """Return a copy that shares what passes recorded, which nothing changes."""
        made = memo[id(self)] = object.__new__(Descheduler)
        copied = {"server", "loop", "report"}
        for name, value in vars(self).items():
            kept = type(value)(value) if isinstance(value, (list, dict)) else value
            setattr(made, name, deepcopy(value, memo) if name in copied else kept)
        return made

    def _observe(self, write: StoredWrite) -> None:
        del write
        self._stale = True

    @property
    def is_done(self) -> bool:
        """Whether all passes that the settings allow have run."""
        return len(self.passes) >= self.given.settings.passes

    def _is_busy(self) -> bool:
        return not self.is_done and (self._stale or self._timed)

    def _pass(self) -> None:
        if self.is_done:
            return
        if self._is_busy():
            self._stale = False
            self.run()
        self.loop.pass_at(self.loop.now + self.given.settings.interval, self._pass)

    def run(self, node: str = "") -> RunRecord:
        """Run the policy once, now; ``node`` is the one at which it was asked for, if it was."""
        given = self.given
        cause = f"asked for at {node}" if node else f"every {given.settings.interval:g} s"
        listing = self._listing()
        spread = spread_of(listing)
        record = run_policy(given.policy, listing, given.flags, given.priority_classes)
        self.passes.append(Pass(round(self.loop.now, 3), record, spread, cause))
        return record

    def spread(self) -> Mapping[str, float]:
        """Return the spread of the nodes' requests now."""
        return spread_of(self._listing())

    def _listing(self) -> Listing:
        objects = {kind: list(self.server.of_kind(kind)) for kind in LISTED}
        names = {namespace_of(pod) or "default" for pod in objects["Pod"]}
        objects["Namespace"] = [self._namespace(name) for name in sorted(names)]
        there = {key_of(pod) for pod in objects["Pod"]}
        self._compiled = {key: one for key, one in self._compiled.items() if key in there}
        evict = evict_by(self.given.policy.edition, self.given.flags, self._evict)
        return Listing(objects, self.loop.wall_time, evict, self._compiled)

    def _namespace(self, name: str) -> Manifest:
        labels = {NAME_LABEL: name, **self.given.namespaces.get(name, {})}
        return {"kind": "Namespace", "metadata": {"name": name, "labels": labels}}

    def _evict(self, pod: PodFacts, why: str) -> Manifest | None:
        try:
            evict(self.server, pod.key, pod.uid, EvictionOutcome("Descheduled", why))
        except StatusError as error:
            refused = error.code == 429
            if refused:
                self.report(pod.manifest, f"{why}: {error}")
            raise EvictionRefusedError(str(error), by_budget=refused) from error
        self._note_return(pod)
        return self.server.get("Pod", pod.key)

    def _note_return(self, pod: PodFacts) -> None:
        """Note ping-pong: since the workload's last eviction from the node, a pod of it has come to it."""
        place, now = (_workload(pod), pod.node), self.loop.now
        before = self._left.get(place)
        if pod.owners and before is not None and self._has_come(place, pod, self.loop.epoch + floor(before)):
            self.returns.append(Return(f"{place[0][1]} {place[0][0]}/{place[0][2]}", pod.node, pod.key, now))
        self._left[place] = now

    def _has_come(self, place: tuple[Workload, str], pod: PodFacts, since: float) -> bool:
        keys = (pod.key, *self.server.pods_on.get(place[1], ()))
        found = (self._compiled[key] for key in keys if key in self._compiled)
        return any(one.created >= since and _workload(one) == place[0] for one in found)


def _workload(pod: PodFacts) -> Workload:
    owner = pod.owners[0] if pod.owners else {"kind": "Pod", "name": pod.name}
    return pod.namespace, owner["kind"], owner["name"]


def spread_of(listing: Listing) -> dict[str, float]:
    """Return by how many percent points the requests of the ready nodes differ, for cpu and memory."""
    ready = [node for node in listing.nodes if node.is_ready]
    found = {name: [_percentage(listing, node, name) for node in ready] for name in ("cpu", "memory")}
    return {name: max(values) - min(values) for name, values in found.items() if values}


def _percentage(listing: Listing, node: NodeFacts, name: str) -> float:
    whole = node.capacity.get(name, 0)
    return listing.requested_on(node.name).get(name, 0) / whole * 100 if whole else 0.0
