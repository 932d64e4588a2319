"""Where a Workload stands: its queue, its place in it, and what an attempt finds for it now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from scheduler_core.cluster.kueue.amounts import format_amount
from scheduler_core.cluster.kueue.assignment import FlavorAttempt, PodSetResult
from scheduler_core.cluster.kueue.cache import Cache
from scheduler_core.cluster.kueue.candidates import PreemptionTarget
from scheduler_core.cluster.kueue.entry import Entry, PodSetRequest
from scheduler_core.cluster.kueue.nomination import Nomination
from scheduler_core.cluster.kueue.queues import PendingQueue
from scheduler_core.explain.kueue.quota_facts import QuotaFacts, quota_facts

AHEAD_NAMED = 5
TARGETS_NAMED = 10


class QueuePlace(Struct, frozen=True):
    """A place in a queue, counted from 1; ``ahead`` are the first ones before it.

    ``is_active``: the next cycles try it, once those before it are done with; otherwise it was tried, and
    waits for an event.
    """

    number: int
    length: int
    is_active: bool
    is_sticky: bool
    strategy: str
    ahead: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The place in words."""
        text = f"number {self.number:,} of {self.length:,} pending in the queue ({self.strategy})"
        if self.is_sticky:
            return f"{text}: it is kept at the head while its preemptions are awaited"
        if not self.is_active:
            return f"{text}: tried, and waiting for an event that could change the answer"
        if self.number == 1:
            return f"{text}: the next cycle tries it"
        return f"{text}, behind {', '.join(self.ahead)}{self._more}"

    @property
    def _more(self) -> str:
        more = self.number - 1 - len(self.ahead)
        return f" and {more:,} more" if more > 0 else ""


def place_of(queue: PendingQueue, strategy: str, key: str) -> QueuePlace | None:
    """Return a Workload's place by the order of the visibility API: heap and inadmissible together."""
    listed = [*queue.listed(), *queue.waiting()]
    ordered = [one.key for one in sorted(listed, key=lambda one: (one.key != queue.sticky, one.order))]
    if key not in ordered:
        return None
    at = ordered.index(key)
    return QueuePlace(
        at + 1,
        len(ordered),
        key in queue.active,
        key == queue.sticky,
        strategy,
        tuple(ordered[:at][:AHEAD_NAMED]),
    )


def request_sentence(request: PodSetRequest) -> str:
    """Return what a pod set asks for."""
    each = ", ".join(f"{name} {format_amount(name, amount)}" for name, amount in sorted(request.each.items()))
    pods = "1 pod" if request.count == 1 else f"{request.count:,} pods"
    least = request.pod_set.min_count
    fewer = "" if least is None else f" (at least {least:,})"
    return f"pod set {request.pod_set.name}: {pods}{fewer}{' of ' + each if each else ''}"


class FlavorStanding(Struct, frozen=True):
    """A flavor that an attempt tried for a pod set: how it suits, and the quota of each resource."""

    pod_set: str
    flavor: str
    verdict: str
    reasons: tuple[str, ...]
    quotas: tuple[QuotaFacts, ...]

    @property
    def sentences(self) -> Iterator[str]:
        """The flavor in words, with the quota of each resource and its users where it is short."""
        yield f"{self.flavor} for {self.pod_set}: {self.verdict}"
        yield from (f"  {text}" for text in self.reasons)
        for facts in self.quotas:
            yield f"  {facts.sentence}"
            if facts.missing and facts.users_sentence:
                yield f"    {facts.users_sentence}"


_VERDICTS = (
    "does not suit",
    "preemption would be needed, and finds nobody",
    "by preemption",
    "by reclaiming",
    "fits",
)


def flavors_of(cache: Cache, entry: Entry, one: Nomination) -> Iterator[FlavorStanding]:
    """Yield the flavors that an attempt tried, in its order."""
    for result in one.assignment.pod_sets:
        for attempt in result.attempts:
            yield FlavorStanding(
                result.name,
                attempt.flavor,
                _verdict(attempt),
                tuple(text for text in attempt.reasons if not text.startswith("insufficient ")),
                tuple(_quotas(cache, entry.cluster_queue, result, attempt)),
            )


def _verdict(attempt: FlavorAttempt) -> str:
    height = attempt.height
    borrows = f", borrowing from a cohort {height} up" if height and attempt.mode else ""
    return f"{_VERDICTS[attempt.mode]}{borrows}"


def _quotas(cache: Cache, queue: str, result: PodSetResult, attempt: FlavorAttempt) -> Iterator[QuotaFacts]:
    for group in cache.queues[queue].groups:
        quotas = next((flavor.resources for flavor in group.flavors if flavor.name == attempt.flavor), None)
        for resource in quotas or ():
            if result.requests.get(resource):
                yield quota_facts(cache, queue, (attempt.flavor, resource), result.requests[resource])


def targets_sentences(targets: Sequence[PreemptionTarget]) -> Iterator[str]:
    """Yield whom an attempt would preempt, in the order of the search, and for what reason."""
    for number, one in enumerate(targets[:TARGETS_NAMED], 1):
        workload = one.reserving.workload
        yield f"{number}. {workload.key} of {one.reserving.queue}, priority {workload.rank}: {one.reason}"
    if len(targets) > TARGETS_NAMED:
        yield f"and {len(targets) - TARGETS_NAMED:,} more"
