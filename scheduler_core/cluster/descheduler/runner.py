"""A run of the descheduler: which nodes, which strategies in which order, and the record of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.descheduler.classic.filters import ClassicFilter
from scheduler_core.cluster.descheduler.classic.params import Params
from scheduler_core.cluster.descheduler.eviction import (
    EvictionCounts,
    EvictionLimits,
    Evictions,
    TotalLimitError,
)
from scheduler_core.cluster.descheduler.evictor import DefaultEvictor
from scheduler_core.cluster.descheduler.facts import NodeFacts
from scheduler_core.cluster.descheduler.lister import Evict, Listing, pretend_done, pretend_gone
from scheduler_core.cluster.descheduler.policy import DeschedulerProfile, Policy, threshold_of
from scheduler_core.cluster.descheduler.record import RunRecord, StrategyRecord
from scheduler_core.cluster.descheduler.strategy import (
    BALANCE,
    CLASSIC,
    DESCHEDULE,
    Filters,
    Strategy,
    StrategyContext,
)
from scheduler_core.cluster.descheduler.table import CLASSIC_STRATEGIES
from scheduler_core.kubernetes.label_query import parse_label_query
from scheduler_core.kubernetes.selectors import matches


class Flags(Struct, frozen=True):
    """The options of the command line that decide. All but ``dry_run`` are those of v0.9.0.

    ``most_per_node`` of 0 sets no limit.
    """

    dry_run: bool = False
    node_selector: str = ""
    most_per_node: int = 0
    evict_local_storage: bool = False


def evict_by(edition: str, flags: Flags, evict: Evict) -> Evict:
    """Return what evicts: the eviction API, or in a dry run what the edition has in its place."""
    if not flags.dry_run:
        return evict
    return pretend_done if edition == CLASSIC else pretend_gone


class Step(Struct, frozen=True):
    """One strategy of a run, with its arguments and the filters of its profile."""

    strategy: Strategy
    args: Any
    filters: Filters
    profile: str = ""


def run_policy(
    policy: Policy, listing: Listing, flags: Flags, priority_classes: Mapping[str, int] = {}
) -> RunRecord:
    """Run all strategies once. The policy must have no refusals."""
    is_classic = policy.edition == CLASSIC
    selector = parse_label_query(flags.node_selector if is_classic else policy.node_selector)
    nodes = tuple(node for node in listing.nodes if node.is_ready and matches(selector, node.labels))
    record = RunRecord(policy.edition, flags.dry_run, tuple(node.name for node in nodes))
    if len(nodes) < 2:
        record.skipped = f"a run needs 2 nodes that are ready and selected, and finds {len(nodes)}"
        return record
    limits = EvictionLimits(flags.most_per_node or None) if is_classic else policy.limits
    steps = _classic(policy, flags) if is_classic else _current(policy, listing, priority_classes)
    counts = EvictionCounts()
    for step in steps:
        record.strategies.append(_run(step, nodes, listing, limits, counts))
    return record


def _classic(policy: Policy, flags: Flags) -> Iterator[Step]:
    """Yield the enabled strategies in the fixed order of v0.9.0."""
    filters = ClassicFilter(evict_local_storage=flags.evict_local_storage)
    for name, strategy in CLASSIC_STRATEGIES.items():
        found = policy.strategies.get(name)
        if found is not None and found.enabled:
            yield Step(strategy, found.params or Params(), filters)


def _current(policy: Policy, listing: Listing, classes: Mapping[str, int]) -> Iterator[Step]:
    """Yield the deschedule plugins of every profile, then the balance plugins of every profile."""
    made = [(profile, _evictor(profile, listing, classes)) for profile in policy.profiles]
    for point in (DESCHEDULE, BALANCE):
        for profile, filters in made:
            for strategy, args in profile.strategies(point):
                yield Step(strategy, args, filters, profile.name)


def _evictor(profile: DeschedulerProfile, listing: Listing, classes: Mapping[str, int]) -> DefaultEvictor:
    args = profile.evictor
    return DefaultEvictor(args, threshold_of(args.priority_threshold, classes), listing)


def _run(
    step: Step, nodes: tuple[NodeFacts, ...], listing: Listing, limits: EvictionLimits, counts: EvictionCounts
) -> StrategyRecord:
    record = StrategyRecord(step.strategy.name, step.profile, step.strategy.point)
    context = StrategyContext(nodes, listing, step.filters, Evictions(listing, limits, counts, record))
    try:
        step.strategy.run(context, step.args)
    except TotalLimitError:
        context.stop(f"the run may evict {limits.total} pods")
    return record
