"""The choices that a nemesis leaves open: how many there are, and each by its number."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial
from typing import NamedTuple, Protocol

from scheduler_core.studies.contracts.events import VerbEvent


class Choices(Protocol):
    """A finite family of event sequences."""

    @property
    def size(self) -> int:
        """How many there are."""
        ...

    def at(self, index: int) -> tuple[VerbEvent, ...]:
        """Return one of them."""
        ...


class OneEvent(NamedTuple):
    """One of the events."""

    events: Sequence[VerbEvent]

    @property
    def size(self) -> int:
        """How many events."""
        return len(self.events)

    def at(self, index: int) -> tuple[VerbEvent, ...]:
        """Return one event."""
        return (self.events[index],)


class SimultaneousEvents(NamedTuple):
    """``many`` of the events at one moment."""

    events: Sequence[VerbEvent]
    many: int

    @property
    def size(self) -> int:
        """How many combinations."""
        return comb(len(self.events), self.many)

    def at(self, index: int) -> tuple[VerbEvent, ...]:
        """Return a combination by its number in lexicographic order."""
        picked, low, left = [], 0, self.many
        while left:
            below = comb(len(self.events) - low - 1, left - 1)
            if index < below:
                picked.append(self.events[low])
                left -= 1
            else:
                index -= below
            low += 1
        return (joined(picked),)


class Sequences(NamedTuple):
    """All of the events, one after the other, in any order."""

    events: Sequence[VerbEvent]

    @property
    def size(self) -> int:
        """How many orders."""
        return factorial(len(self.events))

    def at(self, index: int) -> tuple[VerbEvent, ...]:
        """Return an order by its number (the factorial number system)."""
        left, made = list(self.events), []
        for place in range(len(left), 0, -1):
            digit, index = divmod(index, factorial(place - 1))
            made.append(left.pop(digit))
        return tuple(made)


class Fixed(NamedTuple):
    """The events, one after the other."""

    events: Sequence[VerbEvent]
    size: int = 1

    def at(self, index: int) -> tuple[VerbEvent, ...]:
        """Return them."""
        del index
        return tuple(self.events)


def joined(events: Sequence[VerbEvent]) -> VerbEvent:
    """Return one event on the objects of several."""
    if len(events) == 1:
        return events[0]
    first = events[0]
    verb, _, _ = first.words.partition(" ")
    names = [one.words.removeprefix(f"{verb} ") for one in events]
    return VerbEvent(
        first.verb,
        tuple(key for one in events for key in one.targets),
        f"{verb} {', '.join(names)} together",
        first.value,
        tuple(key for one in events for key in one.of),
    )
