"""The equivalence cache's counts for each cycle, four numbers per cycle."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from scheduler_core.record.cache_record import CacheRecord
from scheduler_core.scenario.scenario import Scenario

NAMES = ("hits", "evaluations", "invalidated", "stale")
NONE = (0, 0, 0, 0)


def may_cache(scenario: Scenario) -> bool:
    """Return whether a cache, or batching, is on at any time of a scenario."""
    changed = [operation.configuration for operation in scenario.operations]
    return any(
        settings.cache != "off"
        for settings in (scenario.settings, *(found.settings for found in changed if found is not None))
    )


def counts_of(record: CacheRecord | None) -> list[int] | None:
    """Return ``[hits, evaluations, invalidated, stale]`` of a cycle, ``None`` if the cache is off."""
    if record is None:
        return None
    counts = record.counts
    return [counts.hits, counts.evaluations, counts.invalidated, counts.stale]


class CycleCounts:
    """The counts of one simulation's cycles, in order; nothing is stored if no cache is ever on."""

    def __init__(self, scenario: Scenario) -> None:
        self._wanted = may_cache(scenario)
        self._columns = {name: array("q") for name in NAMES}
        self._totals = list(NONE)

    @property
    def known(self) -> bool:
        """Whether there are counts."""
        return self._wanted

    def append(self, counts: Sequence[int] | None) -> None:
        """Append a cycle's counts, ``None`` for a cycle without a cache."""
        if self._wanted:
            for place, column in enumerate(self._columns.values()):
                value = counts[place] if counts is not None else 0
                column.append(value)
                self._totals[place] += value

    def forget(self) -> None:
        """Drop all counts: a stored cycle was not counted, so the totals would be too low."""
        self._wanted = False
        self._columns = {name: array("q") for name in NAMES}

    def at(self, place: int) -> list[int] | None:
        """Return the counts of a cycle, by its position from 0."""
        return [column[place] for column in self._columns.values()] if self._wanted else None

    def marks(self, rows: slice) -> dict[str, list[int]] | None:
        """Return the protocol's ``cache`` of ``Marks``."""
        if not self._wanted:
            return None
        return {name: column[rows].tolist() for name, column in self._columns.items()}

    def totals(self) -> dict[str, int] | None:
        """Return the sums over all cycles."""
        return dict(zip(NAMES, self._totals)) if self._wanted else None
