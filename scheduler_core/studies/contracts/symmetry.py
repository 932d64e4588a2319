"""Histories that are alike once: one of each class, how many it stands for, and another member at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, factorial
from random import Random
from typing import NamedTuple

from scheduler_core.compare.refinement import Coloring
from scheduler_core.kubernetes.keys import Key
from scheduler_core.studies.contracts.choices import (
    Choices,
    Fixed,
    OneEvent,
    Sequences,
    SimultaneousEvents,
    joined,
)
from scheduler_core.studies.contracts.events import VerbEvent
from scheduler_core.studies.contracts.histories import Histories, History, spaced

MOST_COMPARED = 2_000
"""Sets of nodes, one fewer than are lost, of which each is compared with all others."""
_Group = list[VerbEvent]
_Color = tuple[object, ...]


class HistoryClass(NamedTuple):
    """Histories that are alike: ``one`` of them, and ``other``, the same one if it is the only one."""

    one: History
    other: History
    size: int


class _Prefix(NamedTuple):
    """Events that were chosen, and the objects that they were on."""

    events: History = ()
    apart: tuple[Key, ...] = ()

    def then(self, event: VerbEvent) -> _Prefix:
        return _Prefix((*self.events, event), (*self.apart, *event.of))


class _Pair(NamedTuple):
    """The beginnings of two histories that are alike, and how many are."""

    one: _Prefix
    other: _Prefix
    size: int


def classes_of(found: Histories, coloring: Coloring, dice: Random, most: int) -> list[HistoryClass] | None:
    """Return a class for all histories that are alike; ``None`` if there are more than ``most`` classes."""
    made: list[HistoryClass] = []
    reader = _NodeClasses(coloring, dice, {}, {})
    for sequence in found.sequences():
        for pair in reader.extended(_Pair(_Prefix(), _Prefix(), 1), sequence):
            one, other = pair.one.events, pair.other.events
            made += (HistoryClass(spaced(one, gap), spaced(other, gap), pair.size) for gap in found.gaps)
            if len(made) > most:
                return None
    return made


def losses_of(found: Histories, coloring: Coloring, dice: Random, most: int) -> list[HistoryClass] | None:
    """Return the classes of nodes lost at one moment, each compared with all others by what they lose alone.

    ``coloring`` is blind, so alike nodes may be beside different others. ``None`` if there are more classes
    than ``most``, or too many to compare.
    """
    (choice,) = found.choices
    assert isinstance(choice, (OneEvent, SimultaneousEvents))
    several = choice.many if isinstance(choice, SimultaneousEvents) else 1
    if comb(len(choice.events), several - 1) > MOST_COMPARED:
        return None
    reader = _NodeClasses(coloring, dice, {}, {})
    events = sorted(choice.events, key=lambda event: reader.color(event, ()))
    made: dict[tuple[_Color, ...], HistoryClass] = {}
    for places in combinations(range(len(events)), several - 1):
        chosen = [events[place] for place in places]
        later = events[places[-1] + 1 if places else 0 :]
        marks = [reader.color(one, _objects(chosen[:place])) for place, one in enumerate(chosen)]
        for color, group in reader.groups(later, _objects(chosen)).items():
            key = (*marks, color)
            made[key] = _grown(made.get(key), chosen, group, dice)
            if len(made) > most:
                return None
    return list(made.values())


def _grown(
    known: HistoryClass | None, chosen: Sequence[VerbEvent], group: _Group, dice: Random
) -> HistoryClass:
    """Return a class with some nodes beside each of a group; any member may be the other one."""
    size = len(group) + (known.size if known else 0)
    if known is not None and dice.random() * size >= len(group):
        return known._replace(size=size)
    other = (joined((*chosen, dice.choice(group))),)
    return HistoryClass(known.one if known else (joined((*chosen, group[0])),), other, size)


class _NodeClasses(NamedTuple):
    coloring: Coloring
    dice: Random
    grouped: dict[tuple[tuple[Key, ...], tuple[VerbEvent, ...]], dict[_Color, _Group]]
    """The events beside some that were chosen, by what tells them apart."""
    chosen_first: dict[VerbEvent, VerbEvent]
    """Another member of the class of a combination's first event: the same for all that begin with it."""

    def extended(self, pair: _Pair, choices: Sequence[Choices]) -> Iterator[_Pair]:
        """Yield the classes that begin like a pair, and go on with choices."""
        if not choices:
            yield pair
            return
        for longer in self.chosen(pair, choices[0]):
            yield from self.extended(longer, choices[1:])

    def chosen(self, pair: _Pair, choice: Choices) -> Iterator[_Pair]:
        match choice:
            case OneEvent(events=events):
                yield from self.one_more(pair, events)
            case Sequences(events=events):
                yield from self.in_turn(pair, list(events), len(events))
            case SimultaneousEvents(events=events, many=count):
                yield from self.together(pair, list(events), count)
            case Fixed(events=events):
                yield _Pair(_then_all(pair.one, events), _then_all(pair.other, events), pair.size)

    def one_more(self, pair: _Pair, events: Sequence[VerbEvent]) -> Iterator[_Pair]:
        """Yield a pair for each class of the next event."""
        groups, others = self.groups(events, pair.one.apart), self.groups(events, pair.other.apart)
        taken = {*pair.other.events}
        for color, group in groups.items():
            alike = [one for one in others.get(color, group) if one not in taken or one in group]
            other = self.dice.choice([one for one in alike if one != group[0]] or alike or group)
            yield _Pair(pair.one.then(group[0]), pair.other.then(other), pair.size * len(group))

    def in_turn(self, pair: _Pair, events: list[VerbEvent], left: int) -> Iterator[_Pair]:
        """Yield the classes of all events in any order."""
        if not left:
            yield pair
            return
        open_ = [one for one in events if one not in pair.one.events]
        open_other = [one for one in events if one not in pair.other.events]
        groups, others = self.groups(open_, pair.one.apart), self.groups(open_other, pair.other.apart)
        for color, group in groups.items():
            alike = others.get(color) or open_other
            longer = _Pair(
                pair.one.then(group[0]), pair.other.then(self.dice.choice(alike)), pair.size * len(group)
            )
            yield from self.in_turn(longer, events, left - 1)

    def together(self, pair: _Pair, events: list[VerbEvent], count: int) -> Iterator[_Pair]:
        """Yield the classes of combinations: classes of the first refinement never go down."""
        ranks = {color: rank for rank, color in enumerate(self.groups(events, pair.one.apart))}
        rank_of = {one: ranks[self.color(one, pair.one.apart)] for one in events}
        for chosen, size in self._combined(pair.one.apart, events, rank_of, (), 1, count):
            other = self._alike(pair, events, chosen)
            one = _Prefix((*pair.one.events, joined(chosen)), (*pair.one.apart, *_objects(chosen)))
            two = _Prefix((*pair.other.events, joined(other)), (*pair.other.apart, *_objects(other)))
            yield _Pair(one, two, pair.size * size)

    def _combined(
        self,
        apart: tuple[Key, ...],
        events: list[VerbEvent],
        rank_of: dict[VerbEvent, int],
        chosen: tuple[VerbEvent, ...],
        size: int,
        left: int,
    ) -> Iterator[tuple[tuple[VerbEvent, ...], int]]:
        if not left:
            runs = [sum(rank_of[one] == rank for one in chosen) for rank in {rank_of[one] for one in chosen}]
            for run in runs:
                size //= factorial(run)
            yield chosen, size
            return
        least = rank_of[chosen[-1]] if chosen else 0
        open_ = [one for one in events if one not in chosen and rank_of[one] >= least]
        for group in self.groups(open_, (*apart, *_objects(chosen))).values():
            longer = (*chosen, group[0])
            yield from self._combined(apart, events, rank_of, longer, size * len(group), left - 1)

    def _alike(
        self, pair: _Pair, events: list[VerbEvent], chosen: tuple[VerbEvent, ...]
    ) -> tuple[VerbEvent, ...]:
        """Return another combination of the same class, as far as one is found."""
        made: tuple[VerbEvent, ...] = ()
        for number, one in enumerate(chosen):
            color = self.color(one, (*pair.one.apart, *_objects(chosen[:number])))
            alike = self._beside(events, (*pair.other.apart, *_objects(made)), made).get(color)
            if alike is None:
                return chosen
            other = self.dice.choice([event for event in alike if event != one] or alike)
            made = (*made, other if made else self.chosen_first.setdefault(one, other))
        return made

    def _beside(
        self, events: list[VerbEvent], apart: tuple[Key, ...], taken: tuple[VerbEvent, ...]
    ) -> dict[_Color, _Group]:
        known = self.grouped.get((apart, taken))
        if known is None:
            known = self.groups([event for event in events if event not in taken], apart)
            self.grouped[apart, taken] = known
        return known

    def groups(self, events: Sequence[VerbEvent], apart: tuple[Key, ...]) -> dict[_Color, _Group]:
        """Return the events by what tells them apart."""
        made: dict[_Color, _Group] = {}
        for one in events:
            made.setdefault(self.color(one, apart), []).append(one)
        return made

    def color(self, event: VerbEvent, apart: tuple[Key, ...]) -> _Color:
        return (event.verb, event.value, *(self.coloring.color(vertex, apart) for vertex in event.of))


def _objects(events: Sequence[VerbEvent]) -> tuple[Key, ...]:
    return tuple(key for one in events for key in one.of)


def _then_all(prefix: _Prefix, events: Sequence[VerbEvent]) -> _Prefix:
    for one in events:
        prefix = prefix.then(one)
    return prefix
