"""The facts of a ClusterQueue: its Workloads, and the quota that they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from msgspec import Struct, field

from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.entry import Entry
from scheduler_core.cluster.kueue.nominal import fits_nominal
from scheduler_core.cluster.kueue.objects import FlavorResource
from scheduler_core.cluster.kueue.quota import QuotaNode
from scheduler_core.cluster.kueue.workload import ADMITTED, EVICTED
from scheduler_core.studies.contracts.subjects import Subject

MILLI = 1_000
MOST_OWED = 500
"""Pending Workloads of a queue that are looked at, in their order, for whether quota is owed to them."""


class QueueFacts(Struct):
    """The facts of one ClusterQueue. ``waiting`` and ``owed`` have since when each Workload has been."""

    subject: Subject
    control: Control
    waiting: dict[str, float] = field(default_factory=dict)
    owed: dict[str, float] = field(default_factory=dict)
    held: frozenset[str] = frozenset()
    evicted: int = 0

    def copied(self, control: Control) -> QueueFacts:
        """Return a copy, of the same queue of another ``control``."""
        return QueueFacts(self.subject, control, dict(self.waiting), dict(self.owed), self.held)

    @property
    def pending(self) -> int:
        """Workloads that wait for quota."""
        return len(self.waiting)

    def look(self, since: float) -> None:
        """Take the queue as it has been ``since`` a moment."""
        self._count_evicted()
        queue = self.control.queues.get(self.subject.queue)
        entries = [] if queue is None else [*queue.listed(), *queue.waiting()]
        self.waiting = _since((one.key for one in entries), self.waiting, since)
        is_open = self.control.cache.is_active(self.subject.queue)
        owed = filter(self._is_owed, islice(entries, MOST_OWED)) if is_open else ()
        self.owed = _since((one.key for one in owed), self.owed, since)

    def _count_evicted(self) -> None:
        workloads = self.control.workloads
        kept = (workloads.get(key) for key in self.held)
        self.evicted += sum(one is not None and one.has(EVICTED) for one in kept)
        self.held = frozenset(key for key in self._reserving if not workloads[key].has(EVICTED))

    @property
    def _reserving(self) -> Iterable[str]:
        return self.control.cache.reserving.get(self.subject.queue, {})

    def _is_owed(self, entry: Entry) -> bool:
        return fits_nominal(self.control.cache, entry)

    def value(self, name: str, argument: str, now: float) -> float:
        """Return a fact."""
        return _READ[name](self, argument, now)

    @property
    def admitted(self) -> int:
        """Workloads that are admitted and not evicted."""
        return sum(self.control.workloads[key].has(ADMITTED) for key in self.held)

    def used(self, named: str) -> float:
        """Return what is used of some flavors' resources."""
        node = self.control.cache.tree.queues.get(self.subject.queue)
        return (
            0.0 if node is None else _sum((one, node.usage.get(one, 0)) for one in pairs_named(node, named))
        )

    def nominal(self, named: str) -> float:
        """Return the nominal quota of some flavors' resources."""
        node = self._node
        return _sum((one, node.nominal(one)) for one in pairs_named(node, named)) if node else 0.0

    @property
    def _node(self) -> QuotaNode | None:
        return self.control.cache.tree.queues.get(self.subject.queue)


def pairs_named(node: QuotaNode, named: str) -> list[FlavorResource]:
    """Return the quotas of a resource such as ``cpu``, else of ``FLAVOR/RESOURCE``."""
    flavor, _, resource = named.partition("/")
    of_resource = [pair for pair in node.quotas if pair[1] == named]
    return of_resource or [pair for pair in node.quotas if pair == (flavor, resource)]


def _sum(amounts: Iterable[tuple[FlavorResource, int]]) -> float:
    """Add amounts up, in cores, bytes or pieces."""
    return sum(amount / MILLI if pair[1] == "cpu" else float(amount) for pair, amount in amounts)


def _since(keys: Iterable[str], known: Mapping[str, float], since: float) -> dict[str, float]:
    return {key: known.get(key, since) for key in keys}


def _longest(since: Mapping[str, float], now: float) -> float:
    return max(0.0, now - min(since.values())) if since else 0.0


_READ: Mapping[str, Callable[[QueueFacts, str, float], float]] = {
    "admitted": lambda of, _, __: float(of.admitted),
    "pending": lambda of, _, __: float(of.pending),
    "pending.seconds": lambda of, _, now: _longest(of.waiting, now),
    "owed.seconds": lambda of, _, now: _longest(of.owed, now),
    "evicted": lambda of, _, __: float(of.evicted),
    "used": lambda of, named, _: of.used(named),
    "nominal": lambda of, named, _: of.nominal(named),
}
