"""A playback that ends before a cycle whose outcome is still to be predicted."""

from __future__ import annotations

import copy
import threading
from typing import Any

from playground.playback.answers import AnswerCache
from playground.playback.playback import Playback
from playground.playback.tables import Tables
from playground.playback.trail import Placement, Trail

VEILS_KEPT = 4  # of a playback: rooms on one scenario ask about few cycles at a time
KEPT = "_veils"


class VeiledTrail(Trail):
    """The first ``last`` rows of a trail, and the pods that were met by then."""

    def __init__(self, trail: Trail, last: int) -> None:
        self.__dict__.update(trail.__dict__)
        self._last = last
        self.tables = _tables(trail.tables, trail.met(last))
        self.placement = self.placement_before(last + 1)

    def __len__(self) -> int:
        return self._last

    def placement_before(self, index: int) -> Placement:
        """Return every known pod's node before cycle ``index``."""
        return super().placement_before(index)[: len(self.tables.pods)]


class VeiledPlayback(Playback):
    """The cycles of a playback up to ``last``, as if it had been computed no further."""

    def __init__(self, playback: Playback, last: int) -> None:
        self.__dict__.update(playback.__dict__)
        self.trail = VeiledTrail(playback.trail, last)
        self.tables = self.trail.tables
        self.answers = AnswerCache()
        self._grow_lock = threading.Lock()
        self.complete = True  # nothing more is computed, nor waited for
        self.ended = False
        self.stopped = None
        self._rest = None
        self._forward = None


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


def veiled(playback: Playback, last: int) -> VeiledPlayback:
    """Return the playback as it is after ``last`` cycles, which are computed; the same one on every call."""
    kept: dict[int, VeiledPlayback] = playback.__dict__.setdefault(KEPT, {})
    found = kept.get(last)
    if found is None:
        while len(kept) >= VEILS_KEPT:
            kept.pop(next(iter(kept)), None)
        found = kept[last] = VeiledPlayback(playback, last)
    return found
