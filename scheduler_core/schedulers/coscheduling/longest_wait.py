"""The longest time that coscheduling makes a pod wait, under its arguments."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_core.kubernetes.model import KubernetesObject, PodGroup
from scheduler_core.schedulers.coscheduling.arguments import Arguments
from scheduler_core.schedulers.coscheduling.editions import Edition
from scheduler_core.schedulers.coscheduling.permit import DEFAULT_WAIT, LONGEST_WAIT
from scheduler_core.schedulers.coscheduling.state import CACHE_DEFAULT


def longest_wait(arguments: object, edition: Edition | None, objects: Iterable[KubernetesObject]) -> float:
    """Return the longest time of a pod at Permit, then in its group's denial and backoff, in seconds.

    ``edition`` is ``None`` for a Policy; ``objects`` are all that ever exist, with their PodGroups.
    """
    timeouts = [obj.schedule_timeout_seconds or 0 for obj in objects if isinstance(obj, PodGroup)]
    groups = min(float(max(timeouts, default=0)), LONGEST_WAIT)
    if edition is None:
        return max(DEFAULT_WAIT, groups)
    known = arguments if isinstance(arguments, Arguments) else Arguments()
    permit = min(float(known.permit_waiting_seconds or DEFAULT_WAIT), LONGEST_WAIT)
    denied = float(known.denied_seconds or CACHE_DEFAULT) if edition.denies else 0.0
    backed_off = float(known.backoff_seconds) if edition.backs_off else 0.0
    return max(groups, permit) + max(0.0, denied) + max(0.0, backed_off)  # a negative value means forever
