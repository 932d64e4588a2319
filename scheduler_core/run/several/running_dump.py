"""Whether a bundle is the dump of a cluster that runs, and when it was taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.cluster.reconstruction.completion import Completion, completed
from scheduler_core.cluster.v1_37.objects import Manifest
from scheduler_core.kubernetes.times import seconds_of
from scheduler_core.scenario.running_dump import dumped_objects
from scheduler_core.scenario.scenario import Scenario


def running_dump(scenario: Scenario) -> Completion | None:
    """Return the objects of a running cluster that was dumped, completed; ``None`` for another bundle."""
    objects, said = _dumped(scenario), scenario.settings.dump
    if objects is None:
        return None
    return Completion(objects, [], frozenset()) if said is not None and said.complete else completed(objects)


def taken_at(scenario: Scenario) -> float | None:
    """Return when a running cluster was dumped, in seconds since 1970; ``None`` for another bundle.

    It is what the settings say, or the latest time in the dump.
    """
    objects = _dumped(scenario)
    if objects is None:
        return None
    given = scenario.settings.dump
    said = None if given is None else seconds_of(given.taken_at or None)
    latest = max(filter(None, map(seconds_of, _times(objects))), default=None)
    return said if said is not None else latest


def _dumped(scenario: Scenario) -> list[Manifest] | None:
    return dumped_objects(scenario.documents, said=scenario.settings.dump is not None)


def _times(value: Any) -> Iterator[str]:
    """Yield the texts of metadata, spec and status that look like times."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _times(part)
    elif isinstance(value, list):
        for part in value:
            yield from _times(part)
    elif isinstance(value, str) and value[10:11] == "T" and value.endswith("Z"):
        yield value
