"""Where kube-scheduler v1.11 does something else than it should, as one table.

The code that reproduces a quirk is marked with :func:`quirk`, so that a row without code, or code
without a row, does not go unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Quirk:
    """One deviation: ``does`` is reproduced exactly, ``should`` is what the documentation promises."""

    id: str
    where: str
    does: str
    should: str
    issue: str


QUIRKS = (
    Quirk(
        "last-anti-affinity-term",
        "MatchInterPodAffinity",
        "When any required anti-affinity term of an existing pod matches the incoming pod, the topology key "
        "of the last term in its list is compared, whichever term matched.",
        "Compare the topology key of the term that matched.",
        "kubernetes/kubernetes predicates metadata, getMatchingAntiAffinityTermsOfExistingPod",
    ),
    Quirk(
        "anti-affinity-terms-anded",
        "MatchInterPodAffinity",
        "The incoming pod's required anti-affinity terms fail a node only if one existing pod matches all of "
        "them and shares all of their topology keys.",
        "Each required anti-affinity term excludes nodes on its own.",
        "kubernetes/kubernetes podMatchesAllAffinityTermProperties",
    ),
    Quirk(
        "nominated-pods-are-no-targets",
        "MatchInterPodAffinity",
        "A nominated pod counts on its node for resources, ports and volumes, and its own anti-affinity "
        "acts, but it is no target of the incoming pod's affinity or anti-affinity terms.",
        "A nominated pod counts like a pod on the node.",
        "kubernetes/kubernetes addNominatedPods (the pod added has no nodeName)",
    ),
    Quirk(
        "unknown-predicate-never-run",
        "Policy",
        "A predicate whose key is not in the static order (a custom name, or PodFitsPorts) is registered "
        "but never evaluated.",
        "Evaluate every predicate that the policy names.",
        "kubernetes/kubernetes podFitsOnNode walks predicates.Ordering() only",
    ),
    Quirk(
        "ports-are-a-set",
        "PodFitsHostPorts",
        "Used host ports are a set: removing one of two pods that hold the same triple frees it.",
        "A port is free when no pod of the node holds it.",
        "kubernetes/kubernetes schedulercache.HostPortInfo",
    ),
    Quirk(
        "first-victim-priority",
        "Preemption",
        "Candidates are compared by the priority of the first victim in the list, and victims that violate a "
        "PodDisruptionBudget stand in front.",
        "Compare the highest priority among the victims.",
        "kubernetes/kubernetes pickOneNodeForPreemption",
    ),
    Quirk(
        "disruptions-not-counted-down",
        "Preemption",
        "A PodDisruptionBudget that allows one disruption is not violated by any number of victims.",
        "Each victim uses up one of the disruptions that the budget allows.",
        "kubernetes/kubernetes filterPodsWithPDBViolation",
    ),
    Quirk(
        "volume-limit-without-new-volume",
        "MaxEBSVolumeCount",
        "A node over the limit fails a pod even if all of the pod's volumes are attached there already; "
        "so do MaxGCEPDVolumeCount and MaxAzureDiskVolumeCount.",
        "A pod that adds no volume fits.",
        "kubernetes/kubernetes MaxPDVolumeCountChecker.predicate",
    ),
    Quirk(
        "service-spreading-takes-controllers",
        "ServiceSpreadingPriority",
        "It counts the pods of controllers too, because it takes the selectors computed once for "
        "both priorities.",
        "It spreads by services alone.",
        "kubernetes/kubernetes priorities metadata, getSelectors",
    ),
)

_IDS = frozenset(row.id for row in QUIRKS)
REPRODUCED_BY: dict[str, str] = {}
"""Quirk id to the name of what reproduces it, filled as the code is imported."""


def quirk(name: str) -> Callable[[T], T]:
    """Mark the function or class that reproduces a quirk.

    Raises:
        KeyError: The table has no such row.
    """
    if name not in _IDS:
        raise KeyError(name)

    def mark(code: T) -> T:
        REPRODUCED_BY[name] = f"{code.__module__}.{code.__qualname__}"
        return code

    return mark
