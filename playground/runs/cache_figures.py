"""The equivalence cache's figures of a run: totals, the hit rate, and stale hits by cause."""

from __future__ import annotations

from collections import Counter
from typing import Any

from playground.playback.trail import Trail
from scheduler_core.run import Stepper
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper

CAUSES_SHOWN = 50


class StoredCacheFigures:
    """The cache figures stored in a run's row.

    A restarted scheduler starts with an empty cache, whose audit does not include the causes found before
    the restart: they are accumulated here.
    """

    def __init__(self) -> None:
        self._keeper: CacheKeeper | None = None
        self._before: Counter[str] = Counter()

    def look(self, simulation: Stepper) -> None:
        """Check which cache is in use now; to be called after every cycle."""
        cache = simulation.cache
        keeper = cache if isinstance(cache, CacheKeeper) else None
        if keeper is self._keeper:
            return
        if self._keeper is not None:
            self._before += self._keeper.audit.causes
        self._keeper = keeper

    def causes(self) -> Counter[str]:
        """Return the number of stale hits that the audit has found so far, by cause."""
        return self._before + self._keeper.audit.causes if self._keeper is not None else self._before

    def stored(self, trail: Trail) -> dict[str, Any] | None:
        """Return the ``cache`` field of the run's row and the protocol's ``Run``; None without a cache."""
        totals = trail.cache.totals()
        if totals is None:
            return None
        asked = totals["hits"] + totals["evaluations"]
        return {
            **totals,
            "hitRate": round(totals["hits"] / asked, 5) if asked else 0.0,
            "causes": [list(entry) for entry in self.causes().most_common(CAUSES_SHOWN)],
        }
