"""All histories that a contract lets happen: the choices of its nemeses, in any order of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import prod
from typing import NamedTuple

from scheduler_core.kubernetes.keys import Key
from scheduler_core.studies.contracts.choices import Choices, Fixed, OneEvent, SimultaneousEvents
from scheduler_core.studies.contracts.events import VerbEvent

History = tuple[VerbEvent, ...]


def spaced(history: Sequence[VerbEvent], gap: float) -> History:
    """Return events a gap apart."""
    return tuple(event._replace(after=gap if place else 0.0) for place, event in enumerate(history))


class Histories(NamedTuple):
    """The histories by number: ``choices`` of each nemesis, distinct ``orders`` of the nemeses, ``gaps``."""

    choices: Sequence[Choices]
    orders: Sequence[tuple[int, ...]]
    gaps: Sequence[float]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.orders) * len(self.gaps) * self.chosen

    @property
    def chosen(self) -> int:
        """How many there are in one order of the nemeses."""
        return prod(one.size for one in self.choices)

    def at(self, picks: Sequence[int]) -> History:
        """Return one by its picks: the number of its order, its gap, and of each nemesis' choice."""
        order, gap, *own = picks
        events = [event for place in self.orders[order] for event in self.choices[place].at(own[place])]
        return spaced(events, self.gaps[gap])

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many picks there are of each kind, as :meth:`at` takes them."""
        return (len(self.orders), len(self.gaps), *(one.size for one in self.choices))

    @property
    def named(self) -> list[Key]:
        """The objects of events that happen in every history: nothing else is like them."""
        found: list[Key] = []
        for one in self.choices:
            match one:
                case Fixed(events=events):
                    found += (key for event in events for key in event.of)
                case OneEvent(events=events) if all(event.of == events[0].of for event in events):
                    found += events[0].of
        return found

    @property
    def is_loss(self) -> bool:
        """Whether in each of them nodes are lost at one moment, and nothing else happens."""
        match self.choices:
            case [OneEvent(events=events) | SimultaneousEvents(events=events)]:
                return _are_on_nodes("lose", events)
        return False

    @property
    def is_drain(self) -> bool:
        """Whether in each of them one node is drained: pods of the first of several may go to the next."""
        match self.choices:
            case [OneEvent(events=events)]:
                return _are_on_nodes("drain", events)
        return False

    def sequences(self) -> Iterator[list[Choices]]:
        """Yield the choices in each order."""
        for order in self.orders:
            yield [self.choices[place] for place in order]


def _are_on_nodes(verb: str, events: Sequence[VerbEvent]) -> bool:
    """Return whether events are a verb on a node each."""
    return all(one.verb == verb and one.of == one.targets for one in events)


def histories(choices: Sequence[Choices], gaps: Sequence[float]) -> Histories:
    """Return all histories; nemeses that are alike are in one order, and a single event is in one gap."""
    first = [next(place for place, other in enumerate(choices) if other == one) for one in choices]
    orders: dict[tuple[int, ...], tuple[int, ...]] = {}
    for order in permutations(range(len(choices))):
        orders.setdefault(tuple(first[place] for place in order), order)
    several = len(choices) > 1 or any(len(one.at(0)) > 1 for one in choices if one.size)
    return Histories(choices, tuple(orders.values()), gaps if several else gaps[:1])
