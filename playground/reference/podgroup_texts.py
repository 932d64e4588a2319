"""The texts of the PodGroup reference page that accompany the engine's tables: extension points, timers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.schedulers.coscheduling.editions import Edition
from scheduler_core.schedulers.coscheduling.permit import DEFAULT_WAIT, LONGEST_WAIT
from scheduler_core.schedulers.coscheduling.state import CACHE_DEFAULT
from scheduler_core.schedulers.v1_22.queue import FIRST_BACKOFF, LONGEST_BACKOFF
from scheduler_core.schedulers.v1_22.queue_flushes import BACKOFF_LOOK, UNSCHEDULABLE_LOOK

BOTH, CLASSIC, CURRENT = "both", "classic", "current"

ARGUMENTS: Mapping[str, str] = {
    "permitWaitingTimeSeconds": "How long a member waits at Permit where its PodGroup says nothing.",
    "deniedPGExpirationTimeSeconds": "How long a group that failed is denied.",
    "podGroupBackoffSeconds": "How long a group that failed is backed off; 0: not at all.",
    "podGroupRejectPercentage": "How much of a group may be missing before a failed member rejects it.",
}
"""The effect of each argument of the plugin."""

PODGROUP: tuple[tuple[str, str], ...] = (
    (
        "spec.minMember",
        "How many members are placed together or not at all; asked for while scheduling only.",
    ),
    (
        "spec.minResources",
        "What all members need together. Without it PreFilter checks no resources.",
    ),
    ("spec.scheduleTimeoutSeconds", "How long a member waits at Permit. 0 counts as not given."),
    ("status.phase", "Where the group is in its life; set by the controller, and by PostBind (classic)."),
    ("status.scheduled", "How many were bound, as PostBind counted when the phase last changed (classic)."),
    ("status.running, succeeded, failed", "How many members are in that phase, as the controller counted."),
    ("status.occupiedBy", "The owners of the first member (current)."),
    ("status.scheduleStartTime", "When the first member was bound (classic)."),
)
"""The fields of a PodGroup."""

POINTS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "QueueSort",
        (
            (BOTH, "Higher priority first."),
            (BOTH, "Then the earlier time: the creation of the pod’s PodGroup, to the second."),
            (BOTH, "Without a PodGroup it is when the pod first entered the queue, kept over retries."),
            (CURRENT, "After a group has failed its time is that of the failure, until it succeeds."),
            (BOTH, "Then the smaller namespace/name of the pod: groups of one second interleave."),
        ),
    ),
    (
        "PreFilter",
        (
            (BOTH, "A pod without a group, or whose PodGroup does not exist, passes."),
            (CLASSIC, "The group is denied: it fails."),
            (CURRENT, "The group is backed off: it fails."),
            (BOTH, "Fewer members than minMember, of those that are not finished: it fails."),
            (CURRENT, "Fewer members without scheduling gates than minMember: it fails."),
            (BOTH, "No minResources, or the group is permitted: it passes."),
            (
                BOTH,
                (
                    "The resource check: minResources, and minMember pods, less what every node in turn has "
                    "left without the group’s own members. A sum over nodes: fragmentation, taints and "
                    "affinity are not considered; a node with less than nothing left adds to the need."
                ),
            ),
            (CLASSIC, "A gap denies the group."),
            (
                BOTH,
                "Enough: the group is permitted, and the check skipped for as long as a member may wait.",
            ),
        ),
    ),
    (
        "PostFilter",
        (
            (BOTH, "Runs after a PreFilter or a Filter that failed, unless preemption has nominated a node."),
            (BOTH, "minMember members hold a node: the pod is an extra, nothing happens."),
            (
                BOTH,
                (
                    "(minMember − those that hold a node) / minMember is no more than 10 % (current: "
                    "podGroupRejectPercentage): the group goes on waiting. Below 10 members any miss is more."
                ),
            ),
            (BOTH, "Otherwise all waiting members are rejected, and the group is no longer permitted."),
            (CLASSIC, "The group is denied."),
            (
                CURRENT,
                "With podGroupBackoffSeconds, a group of at least minMember members is backed off.",
            ),
        ),
    ),
    (
        "Permit",
        (
            (BOTH, "A pod without a group is allowed."),
            (BOTH, "A pod whose PodGroup does not exist is unschedulable."),
            (BOTH, "With this pod minMember hold a node: it and all waiting members are bound."),
            (BOTH, "Otherwise it waits, holding the room on its node; each member has a timer of its own."),
            (CLASSIC, "Every member that begins to wait moves its siblings to the active queue."),
            (CURRENT, "The first member that begins to wait moves its siblings to the active queue."),
        ),
    ),
    (
        "Unreserve",
        (
            (
                BOTH,
                "A member timed out, was rejected, or could not be bound: all that wait are rejected.",
            ),
            (BOTH, "The group is no longer permitted. Members that are bound stay bound."),
            (CLASSIC, "The group is denied."),
        ),
    ),
    (
        "PostBind",
        (
            (CLASSIC, "Counts the member; the phase becomes Scheduling, with minMember of them Scheduled."),
            (CLASSIC, "The PodGroup is only patched when its phase changes: status.scheduled lags behind."),
        ),
    ),
)
"""The plugin's behavior at each extension point, in order, and the edition it applies to."""

TIMERS: tuple[tuple[str, str, str], ...] = (
    (
        "waiting at Permit",
        f"scheduleTimeoutSeconds, else permitWaitingTimeSeconds, else {DEFAULT_WAIT:g}s",
        f"0 falls through to the next; {LONGEST_WAIT / 60:g} minutes at most. Counted for each member.",
    ),
    (
        "denied (classic)",
        "deniedPGExpirationTimeSeconds",
        (
            f"0 means {CACHE_DEFAULT:g}s, less is for ever. A denial that is alive is not lengthened. "
            "The message says 3s whatever it is."
        ),
    ),
    (
        "backed off (current)",
        "podGroupBackoffSeconds",
        "0 is off. One that is alive is not lengthened.",
    ),
    ("permitted", "permitWaitingTimeSeconds", "Ends early when the group fails."),
    (
        "backoff of a pod",
        f"{FIRST_BACKOFF:g}s, doubled by every failed attempt, {LONGEST_BACKOFF:g}s at most",
        f"The queue looks every {BACKOFF_LOOK:g}s for those whose backoff is over.",
    ),
)
"""The timers: name, duration, and surprising details."""

FLUSH = f"The queue looks every {UNSCHEDULABLE_LOOK:g}s for pods that have stayed longer."


def differences(edition: Edition) -> dict[str, Any]:
    """Return an edition's entry of the comparison table: what it reads, and its arguments with defaults."""
    return {
        "id": edition.id,
        "implementation": edition.implementation,
        "kubernetes": edition.kubernetes,
        "api": f"{edition.api_group}/v1alpha1",
        "label": edition.pod_label,
        "arguments": [
            (argument.name, argument.default, ARGUMENTS[argument.name]) for argument in edition.arguments
        ],
        "code": edition.pre_filter_code,
    }
