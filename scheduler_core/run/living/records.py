"""Recorded lives of a v1.37 cluster: play one as a user's scenario and answer in the record's own format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.run import simulate
from scheduler_core.run.living.final import final
from scheduler_core.run.living.timeline import Timeline
from scheduler_core.run.living.translation import documents_of, seconds_of
from scheduler_core.run.several.lone import LoneSimulation
from scheduler_core.scenario.load import load_documents

MAX_OBJECTS, MAX_STEPS, MAX_SECONDS = 20_000, 10_000, 10_000_000


def answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Live one record to its end and return ``{"id", "expect"}``.

    Raises:
        ValueError: The record or its configuration cannot be used.
    """
    simulation, timeline = begun(record)
    for _ in simulation:
        pass
    return {"id": record.get("id"), "expect": outcome(simulation, timeline, seconds_of(record["steps"]))}


def begun(record: Mapping[str, Any]) -> tuple[LoneSimulation, Timeline]:
    """Return the run of a record before its first step, with its timeline.

    Raises:
        ValueError: The record or its configuration cannot be used.
    """
    _listed(record, "objects", MAX_OBJECTS)
    if seconds_of(_listed(record, "steps", MAX_STEPS)) > MAX_SECONDS:
        raise ValueError(f"steps: a life has at most {MAX_SECONDS} seconds")
    simulation = simulate(load_documents(documents_of(record)), trace=False)
    assert isinstance(simulation, LoneSimulation)
    timeline = Timeline(simulation.plane.server)
    simulation.plane.observers.append(timeline.observe)
    return simulation, timeline


def outcome(simulation: LoneSimulation, timeline: Timeline, time: float) -> dict[str, Any]:
    """Return the record's ``expect`` of a life that ends at a time."""
    drains = [drain.facts for drain in simulation.plane.drains]
    return {"timeline": timeline.document(), "final": final(simulation.plane.server, timeline, drains, time)}


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
