"""The search for flavors: a flavor for each resource group of each pod set (flavorassigner)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.kueue.amounts import format_amount, sum_of
from scheduler_core.cluster.kueue.assignment import (
    COARSE,
    FITS,
    FREELY,
    NEVER,
    NO_CANDIDATES,
    NO_FIT,
    PREEMPT,
    RECLAIM,
    Assignment,
    FlavorAttempt,
    FlavorChoice,
    PodSetResult,
    Suitability,
)
from scheduler_core.cluster.kueue.entry import Entry, PodSetRequest, Tried
from scheduler_core.cluster.kueue.objects import (
    Amounts,
    ClusterQueue,
    FlavorFungibility,
    FlavorResource,
    ResourceFlavor,
    ResourceGroup,
    Usage,
)
from scheduler_core.cluster.kueue.quota import QuotaNode
from scheduler_core.cluster.v1_37.objects import term_matches, tolerates

Oracle = Callable[[FlavorResource, int], Suitability]
"""Says what preemption could do for an amount of one flavor's resource."""

Mismatch = Callable[[PodSetRequest, ResourceFlavor, ResourceGroup], str]
"""Says why a flavor of a group does not suit a pod set's topology request, "" if it does."""


class FlavorSearch(Struct, frozen=True):
    """What a search for flavors looks at."""

    queue: ClusterQueue
    node: QuotaNode
    flavors: Mapping[str, ResourceFlavor]
    generation: int
    preempts_while_borrowing: bool
    is_fungible: bool  # the gate FlavorFungibility
    oracle: Oracle
    mismatch: Mismatch


class _FoundFlavor(Struct):
    choices: dict[str, FlavorChoice]
    reasons: list[str]
    attempts: list[FlavorAttempt]


def assign(search: FlavorSearch, entry: Entry, requests: Sequence[PodSetRequest]) -> Assignment:
    """Assign flavors to the pod sets; after the first group that fails the others are not looked at."""
    usage: Usage = {}
    results: list[PodSetResult] = []
    tried = entry.tried if search.is_fungible else None
    if tried is not None and tried.generation < search.generation:
        tried = None
    counted = [_with_pods(search.queue, one) for one in requests]
    for group in _groups(counted):
        parts = [total for _, _, total in group]
        found = _assign_group(search, tried, group, sum_of(parts), usage)
        for _, request, total in group:
            kept = {name: one for name, one in found.choices.items() if name in total}
            results.append(_result(request, total, kept, found))
            for resource, choice in kept.items():
                pair = choice.flavor, resource
                usage[pair] = usage.get(pair, 0) + total[resource]
        if any(parts) and not found.choices and found.reasons:
            break
    positions = tuple({name: one.tried for name, one in result.choices.items()} for result in results)
    return Assignment(tuple(results), usage, Tried(positions, search.generation))


def _result(
    request: PodSetRequest, total: Amounts, kept: Mapping[str, FlavorChoice], found: _FoundFlavor
) -> PodSetResult:
    return PodSetResult(
        name=request.pod_set.name,
        count=request.count,
        requests=total,
        choices=kept,
        reasons=tuple(found.reasons),
        attempts=tuple(found.attempts),
    )


def _with_pods(queue: ClusterQueue, request: PodSetRequest) -> tuple[PodSetRequest, Amounts]:
    total = request.total
    if queue.group_of("pods"):
        total = {**total, "pods": request.count}
    return request, total


_Member = tuple[int, PodSetRequest, Amounts]


def _groups(counted: Sequence[tuple[PodSetRequest, Amounts]]) -> list[list[_Member]]:
    """Put pod sets of one group together; the others are groups of one."""
    groups: dict[tuple[str, int], list[_Member]] = {}
    for index, (request, total) in enumerate(counted):
        name = request.pod_set.topology.group if request.pod_set.topology else ""
        groups.setdefault((name, -1) if name else ("", index), []).append((index, request, total))
    return list(groups.values())


def _assign_group(
    search: FlavorSearch, tried: Tried | None, group: Sequence[_Member], requests: Amounts, usage: Usage
) -> _FoundFlavor:
    whole = _FoundFlavor({}, [], [])
    for resource in sorted(requests):
        covering = search.queue.group_of(resource)
        if resource in whole.choices or (covering is None and not requests[resource]):
            continue
        found = _FoundFlavor({}, [f"resource {resource} unavailable in ClusterQueue"], [])
        if covering is not None:
            first = tried.next_index(group[0][0], resource) if tried else 0
            found = _best_flavor(search, covering, group, requests, usage, first)
        whole.attempts += found.attempts
        if not found.choices:
            return _FoundFlavor({}, found.reasons, whole.attempts)
        whole.choices.update(found.choices)
        whole.reasons += found.reasons
    return whole


def _best_flavor(
    search: FlavorSearch,
    covering: ResourceGroup,
    group: Sequence[_Member],
    requests: Amounts,
    usage: Usage,
    first: int,
) -> _FoundFlavor:
    """Return the best flavor of a resource group, from the one at an index on."""
    wanted = [(name, requests[name]) for name in sorted(requests) if name in covering.covered]
    keys = {
        key
        for one in covering.flavors
        if one.name in search.flavors
        for key in search.flavors[one.name].node_labels
    }
    best, best_choices = NEVER, dict[str, tuple[str, Suitability]]()
    attempts: list[FlavorAttempt] = []
    index = -1
    fungibility = search.queue.fungibility
    for index in range(first, len(covering.flavors)):
        name = covering.flavors[index].name
        unsuitable = _mismatch(search, name, covering, group, keys)
        if unsuitable:
            attempts.append(FlavorAttempt(name, reasons=(unsuitable,)))
            continue
        suits, choices, attempt = _try_flavor(search, name, wanted, usage)
        attempts.append(attempt)
        if search.is_fungible and not _goes_on(suits, fungibility):
            best, best_choices = suits, choices
            break
        if is_better(suits, best, fungibility if search.is_fungible else None):
            best, best_choices = suits, choices
            if not search.is_fungible and suits.mode == FITS:
                break
    last = -1 if index == len(covering.flavors) - 1 else index
    return _FoundFlavor(
        choices={
            resource: FlavorChoice(
                flavor, COARSE[one.mode], one.height or 0, last if search.is_fungible else 0
            )
            for resource, (flavor, one) in best_choices.items()
        },
        reasons=[] if best.mode == FITS else [text for one in attempts for text in one.reasons],
        attempts=attempts,
    )


def _try_flavor(
    search: FlavorSearch, name: str, wanted: Iterable[tuple[str, int]], usage: Usage
) -> tuple[Suitability, dict[str, tuple[str, Suitability]], FlavorAttempt]:
    worst, choices, reasons = FREELY, dict[str, tuple[str, Suitability]](), list[str]()
    height = 0
    for resource, amount in wanted:
        suits, reason = quota_for(search, (name, resource), amount, usage.get((name, resource), 0))
        height = max(height, suits.height or 0)
        if reason:
            reasons.append(reason)
        if is_better(worst, suits, search.queue.fungibility):
            worst = suits
        if worst.mode == NO_FIT:
            break
        choices[resource] = name, suits
    return worst, choices, FlavorAttempt(name, worst.mode, height, tuple(reasons))


def quota_for(
    search: FlavorSearch, pair: FlavorResource, amount: int, before: int
) -> tuple[Suitability, str]:
    """Return how well an amount suits a flavor beside what earlier pod sets took, and why it does not fit."""
    node, (flavor, resource), whole = search.node, pair, amount + before
    most = node.potential_available(pair)
    if whole > most:
        return NEVER, (
            f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests "
            f"({format_amount(resource, before)}) + current podset request "
            f"({format_amount(resource, amount)}) > maximum capacity ({format_amount(resource, most)})"
        )
    height, is_smaller = node.lowest_fit(pair, whole)
    available = max(0, node.available(pair))
    if whole <= available:
        return Suitability(FITS, height), ""
    missing = format_amount(resource, whole - available)
    reason = f"insufficient unused quota for {resource} in flavor {flavor}, {missing} more needed"
    if whole <= node.nominal(pair) or is_smaller or search.preempts_while_borrowing:
        return search.oracle(pair, whole), reason
    return Suitability(NO_FIT, height), reason


def _goes_on(suits: Suitability, fungibility: FlavorFungibility) -> bool:
    if suits.mode in (NO_FIT, NO_CANDIDATES):
        return True
    if suits.mode in (PREEMPT, RECLAIM) and fungibility.when_can_preempt == "TryNextFlavor":
        return True
    return bool(suits.height) and fungibility.when_can_borrow == "TryNextFlavor"


def is_better(one: Suitability, other: Suitability, fungibility: FlavorFungibility | None) -> bool:
    """Return whether a flavor is preferred to another; without fungibility by the mode alone."""
    if NO_FIT in (one.mode, other.mode):
        return one.mode != NO_FIT
    if fungibility is None:
        return one.mode > other.mode
    heights = one.height or 0, other.height or 0
    if fungibility.preference == "PreemptionOverBorrowing" and heights[0] != heights[1]:
        return heights[0] < heights[1]
    if one.mode != other.mode:
        return one.mode > other.mode
    return heights[0] < heights[1]


# --- taints and node labels


def _mismatch(
    search: FlavorSearch, name: str, covering: ResourceGroup, group: Sequence[_Member], keys: set[str]
) -> str:
    flavor = search.flavors.get(name)
    if flavor is None:
        return f"flavor {name} not found"
    for _, request, _ in group:
        spec = request.pod_set.pod_spec
        reason = search.mismatch(request, flavor, covering) or _untolerated(spec, flavor)
        if reason:
            return reason
        if not _selects(spec, flavor, keys):
            return f"flavor {name} doesn't match node affinity"
    return ""


def _untolerated(spec: Mapping[str, Any], flavor: ResourceFlavor) -> str:
    tolerations = [*(spec.get("tolerations") or ()), *flavor.tolerations]
    for taint in flavor.node_taints:
        hard = taint.get("effect") in ("NoSchedule", "NoExecute")
        if hard and not any(tolerates(one, taint) for one in tolerations):
            text = f"{taint['key']} {taint.get('value') or ''} {taint['effect']} <nil>"
            return f"untolerated taint {{{text}}} in flavor {flavor.name}"
    return ""


def _selects(spec: Mapping[str, Any], flavor: ResourceFlavor, keys: set[str]) -> bool:
    """Evaluate node selector and affinity over the label keys that the group's flavors have."""
    labels = flavor.node_labels
    for key, value in (spec.get("nodeSelector") or {}).items():
        if key in keys and labels.get(key) != value:
            return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return True
    terms = [
        [row for row in term.get("matchExpressions") or () if row["key"] in keys]
        for term in required.get("nodeSelectorTerms") or ()
    ]
    node = {"metadata": {"name": "", "labels": dict(labels)}}
    return not all(terms) or not terms or any(term_matches({"matchExpressions": one}, node) for one in terms)
