"""Recorded decisions of kube-scheduler v1.37: run one record and answer in its own format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.schedulers.v1_37.releases.v1_37 import DIALECT
from scheduler_core.schedulers.v1_37.run import SchedulerRun
from scheduler_core.schedulers.v1_37.unsupported_features import unsupported, unsupported_selectors

MAX_OBJECTS = 200_000
MAX_STEPS = 100_000
MAX_NAMED = 20
"""How many features that are not implemented are named."""


def answer(record: Mapping[str, Any], dialect: Dialect = DIALECT) -> dict[str, Any]:
    """Run one record of a release to its end and return ``{"id", "expect"}``.

    Raises:
        ValueError: The record or its configuration cannot be used, or asks for what is not implemented.
    """
    objects, steps = record.get("objects"), record.get("steps", [])
    if not isinstance(objects, list) or not all(isinstance(each, Mapping) for each in objects):
        raise ValueError("objects must be a list of manifests")
    for number, manifest in enumerate(objects):
        named = isinstance(manifest.get("metadata"), Mapping) and isinstance(
            manifest["metadata"].get("name"), str
        )
        if not named or not isinstance(manifest.get("kind"), str):
            raise ValueError(f"objects[{number}] must have kind and metadata.name")
    if not isinstance(steps, list) or not all(isinstance(each, Mapping) for each in steps):
        raise ValueError("steps must be a list of steps")
    if len(objects) > MAX_OBJECTS or len(steps) > MAX_STEPS:
        raise ValueError(f"more than {MAX_OBJECTS} objects or {MAX_STEPS} steps")
    created = [step["object"] for step in steps if isinstance(step.get("object"), Mapping)]
    missing = list(unsupported([*objects, *created], record.get("featureGates") or {}, dialect))
    missing += unsupported_selectors([*objects, *created])
    if missing:
        raise ValueError("; ".join(missing[:MAX_NAMED]))
    if (record.get("config") or {}).get("extenders"):
        raise ValueError("config.extenders: a record has no answers of extenders, so none can be asked")
    run = SchedulerRun(read_configuration(record.get("config"), record.get("featureGates"), dialect))
    run.start(objects)
    for step in steps:
        run.take(step)
    return {
        "id": record.get("id"),
        "expect": {"cycles": run.cycles, "steps": run.steps, "final": run.final()},
    }
