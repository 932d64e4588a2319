"""Which pods are equal to the scheduler: what every enabled plugin looks at (SignPlugin)."""

from __future__ import annotations

import json
from functools import cache

from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments, KubeSchedulerProfile

_POINTS = frozenset({"preFilter", "filter", "preScore", "score"})


@cache
def _asked(dialect: Dialect) -> tuple[Declared, ...]:
    """Return the plugins of a release that can affect the placement of pods."""
    return tuple(row for row in dialect.declared if _POINTS & {*row.points.split()})


_NO_ARGUMENTS: Arguments = {}


def _signs(profile: KubeSchedulerProfile, row: Declared) -> bool:
    """Return whether the plugin affects the placement of pods (computeBatchablePlugins)."""
    return any(profile.has(row.key, point) for point in _POINTS)


def _arguments(profile: KubeSchedulerProfile, row: Declared) -> Arguments:
    return profile.arguments.get(row.key) or _NO_ARGUMENTS


def unsigned_because(pod: CompiledPod, profile: KubeSchedulerProfile) -> str:
    """Return what keeps a pod from being compared with others, a clause; "" if nothing does.

    A plugin that looks beyond pod and node signs nothing (SignPlugin), and a pod that one plugin does not
    sign has no signature.
    """
    asked = (row for row in _asked(profile.dialect) if _signs(profile, row))
    return next((reason for row in asked if (reason := _reason(pod, profile, row))), "")


def _reason(pod: CompiledPod, profile: KubeSchedulerProfile, row: Declared) -> str:
    if row.signs is None:
        return f"{row.key} signs no pod"
    return row.unsigned_because(pod, _arguments(profile, row))


def signature(pod: CompiledPod, profile: KubeSchedulerProfile) -> str | None:
    """Return a text that is equal for equal pods; None for a pod that cannot be compared."""
    if unsigned_because(pod, profile):
        return None
    signed = {
        row.key: row.signs(pod, _arguments(profile, row))
        for row in _asked(profile.dialect)
        if row.signs and _signs(profile, row)
    }
    return json.dumps([pod.scheduler_name, signed], sort_keys=True)
