"""What a pending Workload waits for, in the reasons that Kueue gives from 0.18 on (KEP-10852).

v0.17 writes the reason Pending for all of them, and the cause into the message alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.cluster.kueue.assignment import Assignment, PodSetResult

DEACTIVATED, MISCONFIGURED, SUSPENDED = "Deactivated", "Misconfigured", "Suspended"
NO_MATCHING_FLAVOR, EXCEEDS_MAX_QUOTA = "NoMatchingFlavor", "ExceedsMaxQuota"
WAITING_FOR_QUOTA, TOPOLOGY_PLACEMENT_FAILED = "WaitingForQuota", "TopologyPlacementFailed"
WAITING_FOR_PREEMPTED, PENDING_EVALUATION = "WaitingForPreemptedWorkloads", "PendingEvaluation"

MEANINGS: Mapping[str, str] = {
    DEACTIVATED: "spec.active is false",
    MISCONFIGURED: "a queue on its way does not exist, or does not take it",
    SUSPENDED: "a queue on its way is stopped",
    NO_MATCHING_FLAVOR: "no flavor of the queue suits its pods, whatever is free",
    EXCEEDS_MAX_QUOTA: "it asks for more than the queue could ever have, borrowing included",
    WAITING_FOR_QUOTA: "others use the quota that it needs",
    TOPOLOGY_PLACEMENT_FAILED: "the quota is free, but no domains of the topology hold its pods",
    WAITING_FOR_PREEMPTED: "preemptions are issued, and it waits until their quota is free",
    PENDING_EVALUATION: "no cycle has tried it since something changed",
}
"""The reasons from the most severe to the least, with what each means."""

_ORDER = list(MEANINGS)
_SIGNS: Mapping[str, str] = {
    "insufficient quota for ": EXCEEDS_MAX_QUOTA,
    "insufficient unused quota for ": WAITING_FOR_QUOTA,
    'topology "': TOPOLOGY_PLACEMENT_FAILED,
    "no topology domains at level": TOPOLOGY_PLACEMENT_FAILED,
}
"""How the messages of v0.17 begin, by what they are about; what is not here is about the flavor."""


def reason_of(assignment: Assignment) -> str:
    """Return the reason of an assignment that does not fit: the most severe of its pod sets."""
    return _most_severe(map(_reason_of, (one for one in assignment.pod_sets if one.reasons or one.error)))


def _reason_of(pod_set: PodSetResult) -> str:
    """Return a pod set's reason: that of the flavor that is nearest to suit it."""
    if pod_set.choices:
        return _most_severe(map(classified, _of_choice(pod_set)))
    tried = [_most_severe(map(classified, one.reasons)) for one in pod_set.attempts if one.reasons]
    return max(tried or map(classified, pod_set.reasons), key=_ORDER.index, default=NO_MATCHING_FLAVOR)


def _of_choice(pod_set: PodSetResult) -> list[str]:
    """Return the reasons that concern the flavors that were chosen, and those of the topology."""
    chosen = {one.flavor for one in pod_set.choices.values()}
    attempts = [one for one in pod_set.attempts if one.flavor in chosen]
    tried = {text for one in pod_set.attempts for text in one.reasons}
    return [text for one in attempts for text in one.reasons] + [
        text for text in pod_set.reasons if text not in tried
    ]


def classified(text: str) -> str:
    """Return the reason that a message of v0.17 stands for."""
    return next((reason for sign, reason in _SIGNS.items() if text.startswith(sign)), NO_MATCHING_FLAVOR)


def _most_severe(reasons: Iterable[str]) -> str:
    return min(reasons, key=_ORDER.index, default=PENDING_EVALUATION)
