"""Record the timeline events since the last cycle and during it, each with the pod moves it caused.

Moves are not reported: the nodes of the pods that may have moved are looked up whenever an event is recorded
and before time passes. A move belongs to the event about its pod at that time, otherwise to the last event.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.forks import Copier, Forkable, flat
from scheduler_core.kubernetes.times import RESOLUTION
from scheduler_core.record.timeline import TimelineEvent

Move = tuple[str, str | None]
SAME = 2 * 10.0**-RESOLUTION  # seconds: times closer together than this are the same


class StepEvents(Struct, frozen=True):
    """The events before the start of an attempt, the events since its start, and all moves in order."""

    before: tuple[TimelineEvent, ...]
    after: tuple[TimelineEvent, ...]
    moves: tuple[Move, ...]


@dataclass
class EventRecording(Forkable):
    """Events and moves since the last cycle.

    ``places`` holds the node of every pod at the last lookup, "" for a pending one.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {
        "places": flat,
        "_happenings": flat,
        "_entries": flat,
        "_moves": flat,
    }

    places: dict[str, str]
    _happenings: list[TimelineEvent] = field(default_factory=list)
    _entries: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)  # moments: time and objects
    _attempt: int | None = None  # the attempt's index in _entries
    _moves: list[tuple[int, float, Move]] = field(default_factory=list)  # moments so far, time, move

    def look(self, pods: Iterable[str], place_of: Callable[[str], str | None], now: float) -> None:
        """Record which of these pods have moved; ``place_of`` returns ``None`` for a deleted one."""
        places = self.places
        for key in pods:
            place = place_of(key)
            if places.get(key) != place:
                self._moves.append((len(self._entries), now, (key, place)))
                if place is None:
                    del places[key]
                else:
                    places[key] = place

    def add(self, event: TimelineEvent) -> None:
        """Add a timeline event."""
        self._happenings.append(event)
        self._entries.append((event.time, (event.about,)))

    def begin(self, pods: tuple[str, ...], ends: float) -> None:
        """Begin an attempt whose decision about some pods falls at time ``ends``."""
        self._attempt = len(self._entries)
        self._entries.append((ends, pods))

    @property
    def happenings(self) -> list[TimelineEvent]:
        """The timeline events since the last cycle."""
        return self._happenings

    def take(self, *, whole: bool = True) -> StepEvents:
        """Drain the recorded events and moves; return only the moves unless ``whole``."""
        found = self._whole() if whole else StepEvents((), (), self._all_moves())
        self._happenings, self._entries, self._moves, self._attempt = [], [], [], None
        return found

    def _all_moves(self) -> tuple[Move, ...]:
        if len(self._moves) < 2:
            return tuple(move for _, _, move in self._moves)
        return tuple(move for own in self._by_moment() for move in own)

    def _whole(self) -> StepEvents:
        events = self._happenings
        split = len(events) if self._attempt is None else self._attempt
        moves: tuple[Move, ...] = ()
        if self._moves:
            by_moment = self._by_moment()
            moves = tuple(move for own in by_moment for move in own)
            if self._attempt is not None:
                del by_moment[self._attempt]
            if self._entries:
                events = [_moving(one, own) for one, own in zip(events, by_moment, strict=True)]
        return StepEvents(tuple(events[:split]), tuple(events[split:]), moves)

    def _by_moment(self) -> list[list[Move]]:
        """Return the moves of each moment; the moves of one pod stay in order."""
        entries = self._entries
        found: list[list[Move]] = [[] for _ in range(max(1, len(entries)))]
        about: dict[str, list[int]] = {}
        for place, (_, keys) in enumerate(entries):
            for key in keys:
                about.setdefault(key, []).append(place)
        latest: dict[str, int] = {}
        for count, time, move in self._moves:
            place = max(self._moment(about.get(move[0], ()), count, time), latest.get(move[0], 0))
            latest[move[0]] = place
            found[place].append(move)
        return found

    def _moment(self, own: list[int] | tuple[()], count: int, time: float) -> int:
        """Return the index of the moment to which a move belongs that was found after ``count`` moments."""
        entries = self._entries
        after = bisect_right(own, count - 1)
        if after and self._at(own[after - 1], time):
            return own[after - 1]
        if after < len(own) and self._at(own[after], time):
            return own[after]
        if count and (self._at(count - 1, time) or count >= len(entries) or not self._at(count, time)):
            return count - 1
        return min(count, len(entries) - 1) if entries else 0

    def _at(self, place: int, time: float) -> bool:
        return abs(self._entries[place][0] - time) < SAME


class Unrecorded(EventRecording):
    """A recording of nothing."""

    def look(self, pods: Iterable[str], place_of: Callable[[str], str | None], now: float) -> None:
        """Leave out which pods have moved."""

    def add(self, event: TimelineEvent) -> None:
        """Leave out an event."""

    def begin(self, pods: tuple[str, ...], ends: float) -> None:
        """Leave out an attempt."""


def _moving(happening: TimelineEvent, moves: list[Move]) -> TimelineEvent:
    return replace(happening, moves=tuple(moves)) if moves else happening
