"""GangScheduling: minCount of a PodGroup; ``queue_gates.py`` and ``groups/`` evaluate it."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared
from scheduler_core.schedulers.v1_37.plugins.hints import answer, metadata
from scheduler_core.schedulers.v1_37.podgroups import group_key, min_count
from scheduler_core.schedulers.v1_37.pods import CompiledPod


def _after_pod_added(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    own = group_key(pod.manifest)
    return answer(own is not None and event.new is not None and group_key(event.new) == own)


def _after_group_added(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    return answer(_is_group_of(pod, event.new))


def _after_group_updated(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    if not _is_group_of(pod, event.new) or event.old is None or event.new is None:
        return "QueueSkip"
    return answer(min_count(event.new) < min_count(event.old))


def _is_group_of(pod: CompiledPod, group: Manifest | None) -> bool:
    meta = metadata(group)
    return group_key(pod.manifest) == f"{meta.get('namespace') or 'default'}/{meta.get('name')}"


PLUGIN = Declared(
    "GangScheduling",
    "preEnqueue permit",
    rank=210,
    gate="GenericWorkload",
    otherwise="PreEnqueue and Permit hold a PodGroup's pods until minCount are there",
    events=(
        ClusterEventWithHint("UnscheduledPod", frozenset({"Add"}), _after_pod_added),
        ClusterEventWithHint("AssignedPod", frozenset({"Add"}), _after_pod_added),
        ClusterEventWithHint("scheduling.k8s.io/PodGroup", frozenset({"Add"}), _after_group_added),
        ClusterEventWithHint("scheduling.k8s.io/PodGroup", frozenset({"Update"}), _after_group_updated),
    ),
    until="another member of its PodGroup is created or bound, or the group's minCount changes",
)
