"""The descheduler until a step: its passes, and of the last one each strategy's candidates and thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.cluster.descheduler.actor import Pass, Return
from scheduler_core.cluster.descheduler.policy import V1ALPHA2
from scheduler_core.cluster.descheduler.record import (
    APPROPRIATE,
    EVICTED,
    OVER,
    REFUSED,
    UNDER,
    RunRecord,
    StrategyRecord,
    Utilization,
)
from scheduler_core.cluster.descheduler.strategy import DESCHEDULE
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.run.several.descheduler_record import descheduling_of
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.descheduler import is_descheduler_policy

PASSES = 50  # the newest of them
CANDIDATES = 100  # of a strategy
NODES = 60  # of a strategy, those outside the thresholds first
PING_PONG = 20  # workloads
ORDER = (OVER, UNDER, APPROPRIATE)

NONE = "No descheduler runs here: it needs a DeschedulerPolicy, and descheduler in the SimulationSettings."


def configured(scenario: Scenario) -> dict[str, Any] | None:
    """Return the protocol's ``Descheduler``: how the scenario runs it, ``None`` if it does not."""
    given = scenario.descheduler
    if given is None:
        return None
    settings, policy = given.settings, given.policy
    return {
        "edition": policy.edition,
        "interval": settings.interval,
        "passes": settings.passes,
        "dryRun": settings.dry_run,
        "profiles": _profiles(next(one for one in scenario.documents if is_descheduler_policy(one))),
    }


def _profiles(policy: Document) -> list[dict[str, Any]]:
    """Return the profiles of a v1alpha2 policy as they are written; none of another."""
    if policy.get("apiVersion") != V1ALPHA2:
        return []
    profiles: Sequence[Document | None] = policy.get("profiles") or (None,)
    return [_profile(one or {}) for one in profiles]


def _profile(profile: Document) -> dict[str, Any]:
    points: Mapping[str, Document | None] = profile.get("plugins") or {}
    listed: list[Document] = [one or {} for one in points.values()]
    return {
        "name": profile.get("name") or "",
        "enabled": [name for one in listed for name in one.get("enabled") or ()],
        "arguments": {one.get("name"): one.get("args") or {} for one in profile.get("pluginConfig") or ()},
    }


def descheduling(record: Cycle | FinalState) -> dict[str, Any]:
    """Return the protocol's ``descheduler`` part of a cycle or of the end; ``{"why": text}`` without one."""
    found = descheduling_of(record)
    if found is None:
        return {"why": NONE}
    passes = found.passes
    return {
        "passes": [_pass(*one) for one in list(enumerate(passes, 1))[-PASSES:]],
        "passCount": len(passes),
        "spread": None if found.spread is None else dict(found.spread),
        "returns": _returns(found.returns),
        "last": _last(passes[-1]) if passes else None,
    }


def _pass(number: int, one: Pass) -> dict[str, Any]:
    record = one.record
    return {
        "number": number,
        "time": one.time,
        "cause": one.cause,
        "evicted": _count(record, EVICTED),
        "refused": _count(record, REFUSED),
        "violations": sum(len(each.verdicts) for each in record.strategies if each.point == DESCHEDULE),
        "spread": dict(one.spread),
    }


def _count(record: RunRecord, outcome: str) -> int:
    return sum(len(one.of(outcome)) for one in record.strategies)


def _returns(returns: Sequence[Return]) -> list[list[Any]]:
    counts = Counter((one.workload, one.node) for one in returns)
    return [[workload, node, count] for (workload, node), count in counts.most_common(PING_PONG)]


def _last(one: Pass) -> dict[str, Any]:
    record = one.record
    return {
        "time": one.time,
        "edition": record.edition,
        "dryRun": record.dry_run,
        "nodeCount": len(record.nodes),
        "skipped": record.skipped,
        "strategies": [_strategy(one) for one in record.strategies],
    }


def _strategy(record: StrategyRecord) -> dict[str, Any]:
    return {
        "name": record.strategy,
        "profile": record.profile,
        "point": record.point,
        "stopped": record.stopped,
        "candidates": [[one.pod, one.node, one.outcome, one.reason] for one in record.verdicts[:CANDIDATES]],
        "candidateCount": len(record.verdicts),
        "outcomes": dict(Counter(one.outcome for one in record.verdicts)),
        "utilization": None if record.utilization is None else _utilization(record.utilization),
    }


def _utilization(found: Utilization) -> dict[str, Any]:
    nodes = sorted(found.nodes, key=lambda one: ORDER.index(one.category))
    return {
        "low": _percentages(found.low),
        "high": _percentages(found.high),
        "nodes": [[one.node, one.category, _percentages(one.usage), one.cordoned] for one in nodes[:NODES]],
        "counts": dict(Counter(one.category for one in found.nodes)),
    }


def _percentages(amounts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in amounts.items()}
