"""Kueue's Configuration, as far as it decides: fair sharing, resources, gates; and what of it is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from scheduler_core.cluster.kueue.requests import ResourceRules, read_rules

FINAL_SHARE, INITIAL_SHARE = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
STRATEGIES = ((FINAL_SHARE, INITIAL_SHARE), (FINAL_SHARE,), (INITIAL_SHARE,))
"""What Kueue's validation accepts as ``preemptionStrategies``, the default first."""

GATES: Mapping[str, bool] = {
    "FairSharingPreemptWithinNominal": True,
    "FairSharingPrioritizeNonBorrowing": True,
    "FlavorFungibility": True,
    "PartialAdmission": True,
    "PrioritySortingWithinCohort": True,
    "SchedulerTimestampPreemptionBuffer": False,
    "SchedulingEquivalenceHashing": False,
    "TASBalancedPlacement": False,
    "TASProfileMixed": True,
}
"""The feature gates that decide anything here, with their defaults in v0.17."""

_LEFT_OUT = {
    "admissionFairSharing": "usage-based fair sharing within a ClusterQueue",
    "multiKueue": "dispatching to other clusters",
    "objectRetentionPolicies": "removal of finished Workloads",
    "waitForPodsReady": "blocking of admission, and eviction, until pods are ready",
}


class KueueConfiguration(Struct, frozen=True):
    """What decides; ``strategies`` are the preemption strategies of fair sharing, ``None`` without it."""

    strategies: tuple[str, ...] | None = None
    resources: ResourceRules = field(default_factory=ResourceRules)
    manages_unlabelled_jobs: bool = False
    gates: Mapping[str, bool] = field(default_factory=lambda: GATES)

    @property
    def is_fair(self) -> bool:
        """Whether fair sharing is on."""
        return self.strategies is not None


def read_configuration(part: Mapping[str, Any] | None) -> KueueConfiguration:
    """Read a Configuration of ``config.kueue.x-k8s.io``, or a part of one.

    Raises:
        ValueError: Its strategies of fair sharing are none that Kueue accepts.
    """
    part = part or {}
    gates = {**GATES, **{name: on for name, on in (part.get("featureGates") or {}).items() if name in GATES}}
    return KueueConfiguration(
        strategies=_strategies(part.get("fairSharing")),
        resources=read_rules(part.get("resources") or {}),
        manages_unlabelled_jobs=bool(part.get("manageJobsWithoutQueueName")),
        gates=gates,
    )


def _strategies(part: Mapping[str, Any] | None) -> tuple[str, ...] | None:
    if part is None or part.get("enable") is False:  # v1beta1 switches it with a field
        return None
    found = tuple(part.get("preemptionStrategies") or STRATEGIES[0])
    if found not in STRATEGIES:
        known = ", or ".join(" and ".join(one) for one in STRATEGIES)
        raise ValueError(f"preemptionStrategies must be {known}, not {found!r:.80}")
    return found


def left_out(part: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a Configuration asks for and is not simulated, by name."""
    for name, what in _LEFT_OUT.items():
        if part.get(name):
            yield f"{name} ({what})"
    for name, on in (part.get("featureGates") or {}).items():
        if name not in GATES and on:
            yield f"feature gate {name}"
