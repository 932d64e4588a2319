"""Counting and comparing what other facts give."""

from __future__ import annotations

from typing import Any

from playground.courseware.expression import FactError
from playground.courseware.facts.moment import ShownMoment


def count(moment: ShownMoment, items: list[Any]) -> int:
    """How many items a list has."""
    del moment
    if not isinstance(items, list):
        raise FactError("count takes a list")
    return len(items)


def distinct(moment: ShownMoment, items: list[Any]) -> list[Any]:
    """The items of a list, each once."""
    del moment
    return list(dict.fromkeys(items))


def largest(moment: ShownMoment, *numbers: Any) -> Any:
    """The largest of some numbers, or of a list of them."""
    del moment
    return max(_numbers(numbers))


def smallest(moment: ShownMoment, *numbers: Any) -> Any:
    """The smallest of some numbers, or of a list of them."""
    del moment
    return min(_numbers(numbers))


def absolute(moment: ShownMoment, number: float) -> float:
    """A number without its sign."""
    del moment
    return abs(number)


def _numbers(given: tuple[Any, ...]) -> list[Any]:
    numbers = list(given[0]) if len(given) == 1 and isinstance(given[0], list) else list(given)
    if not numbers or any(isinstance(one, bool) or not isinstance(one, (int, float)) for one in numbers):
        raise FactError("only numbers have a largest and a smallest")
    return numbers


FACTS = (
    count,
    distinct,
    largest,
    smallest,
    absolute,
)
