"""Recorded lives of a v1.37 cluster: live one and answer in the record's own format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.v1_37.nodelifecycle import NodeOptions
from scheduler_core.kubernetes.times import seconds_of
from scheduler_core.run.living.life import Life
from scheduler_core.schedulers.v1_37.config import read_configuration

MAX_OBJECTS, MAX_STEPS, MAX_SECONDS = 20_000, 10_000, 10_000_000
_OPTIONS = {
    "nodeMonitorGraceSeconds": "grace_seconds",
    "nodeEvictionRate": "eviction_rate",
    "secondaryNodeEvictionRate": "secondary_eviction_rate",
    "largeClusterSizeThreshold": "large_cluster",
    "unhealthyZoneThreshold": "unhealthy_threshold",
}


def answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Live one record to its end and return ``{"id", "expect"}``.

    Raises:
        ValueError: The record or its configuration cannot be used.
    """
    steps = _listed(record, "steps", MAX_STEPS)
    if sum(float(step.get("seconds") or 0) for step in steps) > MAX_SECONDS:
        raise ValueError(f"steps: a life has at most {MAX_SECONDS} seconds")
    life = life_of(record)
    for step in steps:
        life.take(step)
    return {"id": record.get("id"), "expect": life.answer()}


def life_of(record: Mapping[str, Any]) -> Life:
    """Return the life of a record at its start.

    Raises:
        ValueError: The record or its configuration cannot be used.
    """
    objects = _listed(record, "objects", MAX_OBJECTS)
    flags = record.get("controllers") or {}
    options = NodeOptions(**{_OPTIONS[name]: value for name, value in flags.items() if name in _OPTIONS})
    configuration = read_configuration(record.get("config"), record.get("featureGates"))
    if record.get("now"):
        return Life(configuration, options, _second(record["now"]), objects)
    life = Life(configuration, options)
    life.start(objects)
    return life


def _second(now: Any) -> int:
    found = seconds_of(now if isinstance(now, str) else None)
    if found is None:
        raise ValueError("now must be a time of RFC 3339")
    return int(found)


def _listed(record: Mapping[str, Any], name: str, most: int) -> list[dict[str, Any]]:
    found = record.get(name)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError(f"{name} must be a list of objects")
    if len(found) > most:
        raise ValueError(f"{name}: more than {most}")
    for number, one in enumerate(found if name == "objects" else ()):
        if not isinstance(one.get("kind"), str) or not isinstance(
            (one.get("metadata") or {}).get("name"), str
        ):
            raise ValueError(f"objects[{number}] must have kind and metadata.name")
    return found
