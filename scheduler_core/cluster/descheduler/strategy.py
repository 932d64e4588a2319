"""What a strategy declares, and what it runs with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct

from scheduler_core.cluster.descheduler.arguments import InvalidArguments
from scheduler_core.cluster.descheduler.eviction import Evictions
from scheduler_core.cluster.descheduler.facts import NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.lister import Listing
from scheduler_core.cluster.descheduler.record import NO_TARGET, PROTECTED, StrategyRecord
from scheduler_core.kubernetes.readers import Reader

CLASSIC, CURRENT = "v0.9.0", "main-2026-06"
DESCHEDULE, BALANCE = "deschedule", "balance"


class Filters(Protocol):
    """Who may be evicted: DefaultEvictor, or the rules of v0.9.0."""

    def protection(self, pod: PodFacts) -> str:
        """Return why a pod may not be evicted, "" if it may."""

    def hindrance(self, pod: PodFacts) -> str:
        """Return what keeps a pod from being evicted now, "" if nothing does."""


class StrategyContext:
    """One strategy's run: the nodes by name, who may be evicted, and the evictions."""

    def __init__(
        self, nodes: tuple[NodeFacts, ...], listing: Listing, filters: Filters, evictions: Evictions
    ) -> None:
        self.nodes, self.listing, self.filters, self.evictions = nodes, listing, filters, evictions

    @property
    def record(self) -> StrategyRecord:
        """The strategy's part of the run's record."""
        return self.evictions.record

    def stop(self, reason: str) -> None:
        """Record why the strategy does nothing more."""
        self.record.stopped = reason

    def unprotected(self, pod: PodFacts) -> bool:
        """Return whether the filter passes a pod; otherwise record why not."""
        reason = self.filters.protection(pod)
        if reason:
            self.evictions.note(pod, PROTECTED, reason)
        return not reason

    def unhindered(self, pod: PodFacts) -> bool:
        """Return whether the pre-eviction filter passes a pod; otherwise record why not."""
        reason = self.filters.hindrance(pod)
        if reason:
            self.evictions.note(pod, NO_TARGET, reason)
        return not reason

    def admits(self, pod: PodFacts) -> bool:
        """Return whether both filters pass a pod; otherwise record why not."""
        return self.unprotected(pod) and self.unhindered(pod)

    def evict(self, pod: PodFacts, reason: str) -> str:
        """Evict a pod within the limits (:meth:`Evictions.evict`)."""
        return self.evictions.evict(pod, reason)


def _accept(args: Any) -> Iterator[InvalidArguments]:
    del args
    return iter(())


class Strategy(Struct, frozen=True, kw_only=True):
    """A row: a strategy of one edition.

    ``args`` reads its arguments, ``check`` yields what upstream refuses of them in its order, ``run`` does
    the work. ``words`` say what it evicts. ``gaps`` yields what of the arguments is not simulated.
    ``starting`` are arguments that it cannot do without, as a form writes them when it is switched on.
    """

    name: str
    point: str
    words: str
    args: Reader
    run: Callable[[StrategyContext, Any], None]
    check: Callable[[Any], Iterator[InvalidArguments]] = _accept
    defaults: Mapping[str, Any] = {}
    gaps: Callable[[Any], Iterator[InvalidArguments]] = _accept
    starting: Mapping[str, Any] = {}
    edition: str = CURRENT
