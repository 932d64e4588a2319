"""What a run's summary says of the descheduler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from scheduler_core.cluster.descheduler.actor import Descheduler, Return
from scheduler_core.cluster.descheduler.record import REFUSED

SHOWN = 5
"""How many of a kind are listed."""


def descheduler_lines(actor: Descheduler) -> Iterator[str]:
    """Yield passes and evictions by strategy, how evenly nodes are used, ping-pong, and why it rests."""
    records = [one.record for one in actor.passes]
    evicted = Counter(strategy for one in records for strategy, _ in one.evictions)
    refused = sum(len(of.of(REFUSED)) for one in records for of in one.strategies)
    would = " that a dry run would have made" if actor.given.settings.dry_run else ""
    made = _count(sum(evicted.values()), "eviction", "evictions") + would
    by = ", ".join(f"{name} {count:,}" for name, count in evicted.most_common())
    passes = _count(len(records), "pass", "passes")
    yield f"\nDescheduler: {passes}, {made}{f' ({by})' if by else ''}, {refused:,} refused by a budget"
    if actor.passes:
        yield f"  requests of nodes differ by {_spread(actor.passes[0].spread, actor.spread())}"
    for one in dict.fromkeys(skipped for record in records if (skipped := record.skipped)):
        yield f"  a pass did nothing: {one}"
    yield from _stopped(actor)
    yield from _ping_pong(actor.returns)
    if actor.is_done and actor.given.settings.passes:
        yield f"  it rests after {len(records)} passes, as the settings say (descheduler.passes)"


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _spread(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.0f} → {after.get(name, 0.0):.0f}%" for name, value in before.items())


def _stopped(actor: Descheduler) -> Iterator[str]:
    """Yield why strategies ended in the last pass."""
    if actor.passes:
        for one in actor.passes[-1].record.strategies:
            if one.stopped:
                yield f"  {one.strategy} in the last pass: {one.stopped}"


def _ping_pong(returns: list[Return]) -> Iterator[str]:
    """Yield the workloads whose pods came back to the node that they were evicted from, and went again."""
    found = Counter((one.workload, one.node) for one in returns)
    for (workload, node), count in found.most_common(SHOWN):
        yield f"  ping-pong: pods of {workload} came back to {node} and were evicted again, {count:,} times"
    if len(found) > SHOWN:
        yield f"  and {len(found) - SHOWN:,} more workloads in ping-pong"
