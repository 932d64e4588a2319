"""What PodTopologySpread's Filter counted for a pod: matching pods by domain, for each hard constraint."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import PodTopologySpread, Spread

DOMAINS_SHOWN = 30


class SpreadDomain(Struct, frozen=True):
    """A value of the topology key: the matching pods there, and whether another one would be too many."""

    value: str
    pods: int
    refused: bool


class SpreadCounts(Struct, frozen=True):
    """A hard constraint as Filter found it.

    ``least`` is what domains are compared with: the fewest matching pods of a domain, 0 if there are fewer
    domains than ``min_domains``. ``counts_itself``: the pod matches its own selector. ``domains`` are the
    first :data:`DOMAINS_SHOWN` of ``number``, those with the fewest pods first; ``refused`` is how many of
    all refuse the pod. ``policies`` are nodeAffinityPolicy and nodeTaintsPolicy.
    """

    key: str
    max_skew: int
    min_domains: int
    least: int
    counts_itself: bool
    policies: tuple[str, str]
    domains: tuple[SpreadDomain, ...]
    number: int
    refused: int


def spread_counts(context: Context) -> tuple[SpreadCounts, ...]:
    """Return what Filter counted, in the order of the pod's constraints; empty if PreFilter skipped."""
    return tuple(_counts(context, spread) for spread in _spreads(context))


def _spreads(context: Context) -> list[Spread]:
    found: list[Spread] = context.states.get(PodTopologySpread.key) or []
    return found


def _counts(context: Context, spread: Spread) -> SpreadCounts:
    constraint, least = spread.constraint, spread.least()
    there = np.flatnonzero(spread.domains)
    pods = spread.matches[there]
    refused = pods + spread.self_match - least > constraint.max_skew
    values = context.nodes.label(constraint.key).values
    first = np.argsort(pods, kind="stable")[:DOMAINS_SHOWN].tolist()
    return SpreadCounts(
        constraint.key,
        constraint.max_skew,
        constraint.min_domains,
        least,
        bool(spread.self_match),
        (_policy(constraint.honors_affinity), _policy(constraint.honors_taints)),
        tuple(SpreadDomain(values[there[at]], int(pods[at]), bool(refused[at])) for at in first),
        spread.number,
        int(refused.sum()),
    )


def _policy(honors: bool) -> str:
    return "Honor" if honors else "Ignore"


def skews(context: Context, row: int) -> list[tuple[int, str | None, int]]:
    """Return the constraints that refuse a row: the constraint's index, the row's domain and its skew.

    The domain is None where the node does not have the label. The skew counts the pod itself if it matches
    the constraint's selector.
    """
    found: list[tuple[int, str | None, int]] = []
    for index, spread in enumerate(_spreads(context)):
        column = context.nodes.label(spread.constraint.key)
        number = int(column.ids[row])
        if number < 0:
            found.append((index, None, 0))
            continue
        skew = int(spread.matches[number]) + spread.self_match - spread.least()
        if skew > spread.constraint.max_skew:
            found.append((index, column.values[number], skew))
    return found
