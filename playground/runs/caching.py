"""What the equivalence cache did in a run: totals, the hit rate, and stale hits by cause."""

from __future__ import annotations

from collections import Counter
from typing import Any

from playground.playback.trail import Trail
from scheduler_core.equivalence.keeper import CacheKeeper
from scheduler_core.simulation.virtual import Stepper

CAUSES_SHOWN = 50


class CacheReport:
    """What a run's row tells of its cache.

    A restarted scheduler begins with a cache of its own, which knows nothing of the causes that the one
    before it found: they are put together here.
    """

    def __init__(self) -> None:
        self._keeper: CacheKeeper | None = None
        self._before: Counter[str] = Counter()

    def look(self, simulation: Stepper) -> None:
        """Look which cache is in use now; to be called after every cycle."""
        keeper = simulation.cache if isinstance(simulation.cache, CacheKeeper) else None
        if keeper is self._keeper:
            return
        if self._keeper is not None:
            self._before += self._keeper.audit.causes
        self._keeper = keeper

    def causes(self) -> Counter[str]:
        """Return the stale hits that the audit found so far, by cause."""
        return self._before + self._keeper.audit.causes if self._keeper is not None else self._before

    def stored(self, trail: Trail) -> dict[str, Any] | None:
        """Return what the run's row keeps and the protocol's ``Run`` shows; ``None`` without a cache."""
        totals = trail.cache.totals()
        if totals is None:
            return None
        asked = totals["hits"] + totals["evaluations"]
        return {
            **totals,
            "hitRate": round(totals["hits"] / asked, 5) if asked else 0.0,
            "causes": [list(entry) for entry in self.causes().most_common(CAUSES_SHOWN)],
        }
