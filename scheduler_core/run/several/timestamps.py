"""Timestamps of manifests, moved between the years in which a scenario and its control plane take place."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from scheduler_core.kubernetes.times import rfc3339, seconds_of

_IN_METADATA = ("creationTimestamp", "deletionTimestamp")
_TIMES = ("Time", "timeAdded", "startedAt", "finishedAt")
"""What names of fields end with that have a time."""

_NESTED = (dict, list)


def shifted(manifest: Mapping[str, Any], seconds: int) -> dict[str, Any]:
    """Return a manifest with the times of its metadata, its status and its taints so many seconds later."""
    meta = manifest["metadata"]
    made = {
        **manifest,
        "metadata": {
            **meta,
            **{name: _later(meta[name], seconds) for name in _IN_METADATA if meta.get(name)},
        },
    }
    if manifest.get("status"):
        made["status"] = _moved(manifest["status"], seconds)
    taints = (manifest.get("spec") or {}).get("taints")
    if taints:
        made["spec"] = {**manifest["spec"], "taints": _moved(taints, seconds)}
    return made


def _moved(value: Any, seconds: int) -> Any:
    """Return a dict or a list with the times in it so many seconds later."""
    if type(value) is list:
        return [_moved(part, seconds) if type(part) in _NESTED else part for part in value]
    made = dict(value)
    for name, part in value.items():
        if type(part) is str:
            if name.endswith(_TIMES):
                made[name] = _later(part, seconds)
        elif type(part) in _NESTED:
            made[name] = _moved(part, seconds)
    return made


@lru_cache(maxsize=65536)
def _later(text: str, seconds: int) -> str:
    at = seconds_of(text)
    return text if at is None else rfc3339(int(at) + seconds)
