"""A playback that ends before a cycle whose outcome is still to be predicted, or at a phase of that cycle."""

from __future__ import annotations

import copy
import re
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from msgspec.structs import replace

from playground.playback.answers import AnswerCache
from playground.playback.ballots import early_changes
from playground.playback.changes import Placement, PlacementChanges
from playground.playback.deadlines import never
from playground.playback.place import CycleIndices
from playground.playback.playback import Playback
from playground.playback.tables import Tables
from playground.playback.trail import Trail
from playground.pool.gate import GivingLock
from scheduler_core.record.cycle import Cycle
from scheduler_core.run import Stepper
from scheduler_core.run.moment_record import UNTRIED, upto

CYCLE = re.compile(r"[0-9]{1,9}")  # the last cycle that is shown, as an address names it
VEILS_KEPT = 12  # of a playback: rooms and lessons on one scenario ask about few cycles at a time
KEPT = "_veils"


class VeiledTrail(Trail):
    """The first ``last`` rows of a trail, and the pods that were met by then.

    ``early`` are the changes of the last one, if they are not all of them.
    """

    def __init__(self, trail: Trail, last: int, early: PlacementChanges | None = None) -> None:
        self.__dict__.update(trail.__dict__)
        self._last = last
        if early is not None:
            self.changes = trail.changes.until(early, last - 1)
        self.tables = _tables(trail.tables, trail.met(last))
        self.placement = self.placement_before(last + 1)

    def __len__(self) -> int:
        return self._last

    def placement_before(self, index: int) -> Placement:
        """Return every known pod's node before cycle ``index``."""
        known = max(1, min(index, self._last))  # a placement that is kept may have all of the last cycle
        placement = super().placement_before(known)
        self.changes.apply(placement, known - 1, index - 1)
        return placement[: len(self.tables.pods)]


class VeiledPlayback(Playback):
    """The cycles of a playback up to ``last``, as if it had been computed no further."""

    def __init__(self, playback: Playback, last: int) -> None:
        self.__dict__.update(playback.__dict__)
        self.trail = VeiledTrail(playback.trail, last)
        self.tables = self.trail.tables
        self.answers = AnswerCache()
        self._grow_lock = GivingLock()
        self.complete = True  # nothing more is computed, nor waited for
        self.ended = False
        self.stopped = None
        self._rest = None
        self._forward = None


class CutTrail(VeiledTrail):
    """A veiled trail whose last cycle has moved no pod yet, and has no mark."""

    def marks(self, first: int, last: int) -> dict[str, Any]:
        """Return the marks of cycles ``first`` to ``last`` that are over."""
        return super().marks(first, min(last, len(self) - 1))


class CutPlayback(VeiledPlayback):
    """A veiled playback whose last cycle has come as far as ``phase``; "" is before its attempt."""

    def __init__(self, playback: Playback, last: int, phase: str) -> None:
        super().__init__(playback, last)
        whole = playback.cycle(last)
        self._cut = upto(whole, phase if phase in whole.phases else UNTRIED)
        self.trail = CutTrail(playback.trail, last, early_changes(playback, whole))
        self.tables = self.trail.tables
        self._light = OrderedDict()

    def cycle(self, index: int, unwanted: Callable[[], bool] = never) -> Cycle:
        """Return cycle ``index``, the last one as far as it has come."""
        return self._cut if index == len(self) else super().cycle(index, unwanted)

    def place(self, cycle: Cycle) -> CycleIndices:
        """Return the position of ``cycle``; that of the last one has no victims yet."""
        found = super().place(cycle)
        return replace(found, terminating=[]) if cycle.index == len(self) else found

    def after(self, index: int, unwanted: Callable[[], bool] = never) -> AbstractContextManager[Stepper]:
        """Yield a simulation in the state after cycle ``index``; after the last one, that before it."""
        return super().after(min(index, len(self) - 1), unwanted)


def _tables(tables: Tables, pods: int) -> Tables:
    """Return the tables with their first ``pods`` pods."""
    known = copy.copy(tables)
    fields: dict[str, Any] = {
        "pods": tables.pods[:pods],
        "usage": tables.usage[:pods],
        "start": tables.start[:pods],
        "pod_index": {key: index for key, index in list(tables.pod_index.items()) if index < pods},
        "_pod_text": None,
    }
    known.__dict__.update(fields)
    return known


def veiled(playback: Playback, last: int, phase: str | None = None) -> VeiledPlayback:
    """Return the playback as it is after ``last`` cycles, which are computed; the same one on every call.

    With a ``phase`` the last of them has come no further than that.
    """
    kept: dict[tuple[int, str | None], VeiledPlayback] = playback.__dict__.setdefault(KEPT, {})
    found = kept.get((last, phase))
    if found is None:
        while len(kept) >= VEILS_KEPT:
            kept.pop(next(iter(kept)), None)
        cut = phase is not None and last > 0
        found = CutPlayback(playback, last, phase or "") if cut else VeiledPlayback(playback, last)
        kept[last, phase] = found
    return found
