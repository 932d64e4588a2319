"""States of containers in a pod's status, which several plugins look for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.cluster.descheduler.facts import PodFacts

CONTAINERS, INIT, EPHEMERAL = "containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"


def statuses(pod: PodFacts, fields: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the statuses of containers under some fields of the status."""
    for field in fields:
        yield from pod.status.get(field) or ()


def reasons(
    pod: PodFacts, fields: Iterable[str], states: Iterable[str] = ("waiting", "terminated")
) -> set[str]:
    """Return the reasons for which containers wait or have terminated."""
    found = (
        ((one.get("state") or {}).get(state) or {}).get("reason")
        for one in statuses(pod, fields)
        for state in states
    )
    return {reason for reason in found if reason}


def exit_codes(pod: PodFacts, fields: Iterable[str]) -> set[int]:
    """Return the exit codes of terminated containers."""
    ended = ((one.get("state") or {}).get("terminated") for one in statuses(pod, fields))
    return {int(one.get("exitCode") or 0) for one in ended if one is not None}


def restarts(pod: PodFacts, fields: Iterable[str]) -> int:
    """Return the restarts of containers, in sum."""
    return sum(int(one.get("restartCount") or 0) for one in statuses(pod, fields))
