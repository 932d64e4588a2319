"""Gangs: how many tasks of a job must be mapped before any of them is placed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import trunc

from msgspec import Struct

GANG_ANNOTATION = "firmament-gang-scheduling"
COUNTED_KINDS = ("Job", "ReplicaSet", "Deployment")
_NUMBER = re.compile(r"[+-]?\d{1,10}\Z", re.ASCII)


class Owner(Struct, frozen=True):
    """What a gang's minimum depends on: the controller's kind and count of pods, and the annotation of its
    template, ``None`` without. ``count``: a Job's parallelism or the replicas, ``None`` if there is none.
    """

    kind: str
    count: int | None
    percent: str | None


def gang_minimum(owner: Owner) -> int:
    """Return how many tasks are needed, 0 if it is not a gang (GetGangSchedulingReferenceCount)."""
    text = owner.percent or ""
    if owner.kind not in COUNTED_KINDS or owner.count is None or not _NUMBER.match(text):
        return 0
    percent = int(text)
    if percent > 100 or (owner.count <= 1 and percent < 100):
        return 0
    return max(trunc(owner.count * (percent / 100)), 0) if owner.count > 1 else 1


class JobMinimum(Struct, frozen=True):
    """A job's minimum, and how many of its tasks were placed in earlier rounds, finished ones included."""

    minimum: int
    placed: int = 0


Gangs = Mapping[str, JobMinimum]  # by job
