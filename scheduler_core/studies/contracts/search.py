"""Search the histories of a contract for one in which its claim does not hold.

While few histories are unlike, one of each class is played, and another member at random. Beyond that
Hypothesis draws seeded ones, steered towards the least margin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from time import monotonic
from typing import TYPE_CHECKING

from msgspec import Struct, field

from scheduler_core.studies.contracts.case import CaseOutcome
from scheduler_core.studies.contracts.histories import Histories, History
from scheduler_core.studies.contracts.symmetry import HistoryClass

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Player = Callable[[History], CaseOutcome]
MOST_DRAWS_EACH = 10
"""Draws for each case to be played: Hypothesis repeats some."""


class CheckBounds(Struct, frozen=True):
    """Bounds of a check: cases that are played, and seconds, of each contract, and those of ``shrinking``.

    ``seed`` is of what is chosen at random.
    """

    cases: int = 2_000
    seconds: float = 60.0
    seed: int = 0
    processes: int = 1
    shrinking: float = 30.0


class Searched(Struct):
    """What a search came to: cases that were played, whether all, and the first that breaks the claim.

    ``margins`` are those of the cases, in their order.
    """

    played: int = 0
    whole: bool = False
    broken: tuple[History, CaseOutcome] | None = None
    seeded: bool = False
    margins: list[float] = field(default_factory=list)

    def add(self, history: History, played: CaseOutcome) -> bool:
        """Take a case that was played; return whether it breaks the claim."""
        self.played += 1
        self.margins.append(played.margin)
        if played.breach is not None:
            self.broken = history, played
        return played.breach is not None


class Over(BaseException):
    """No case is to be played any more: Hypothesis would take an Exception for one that fails."""


class Countdown:
    """The time that is left."""

    def __init__(self, seconds: float) -> None:
        self.began = monotonic()
        self.end = self.began + seconds

    @property
    def over(self) -> bool:
        """Whether no time is left."""
        return monotonic() >= self.end

    @property
    def seconds(self) -> float:
        """The seconds that have passed."""
        return monotonic() - self.began

    def check(self) -> None:
        """Raise Over if no time is left."""
        if self.over:
            raise Over


def representatives(classes: Sequence[HistoryClass]) -> Iterator[History]:
    """Yield one history of each class, then another one of each that has more."""
    yield from (one.one for one in classes)
    yield from (one.other for one in classes if one.other != one.one)


def unlike(classes: Sequence[HistoryClass], margins: Sequence[float]) -> tuple[History, History] | None:
    """Return two alike histories that end differently, by the margins of :func:`representatives`."""
    several = [
        (one, margins[place]) for place, one in enumerate(classes[: len(margins)]) if one.other != one.one
    ]
    pairs = zip(several, margins[len(classes) :], strict=False)
    return next(((one.one, one.other) for (one, margin), found in pairs if found != margin), None)


def exhaust(found: Sequence[History], play: Player, time: Countdown, note: Callable[[int], None]) -> Searched:
    """Play histories until one breaks the claim, or the time is over."""
    result = Searched()
    for one in found:
        try:
            time.check()
            broken = result.add(one, play(one))
        except Over:
            return result
        note(result.played)
        if broken:
            return result
    result.whole = True
    return result


def numbers(size: int) -> SearchStrategy[int]:
    """Return how Hypothesis draws a number below ``size``: bit by bit.

    Among the integers that it draws itself are constants of the modules that the process has imported: a seed
    would name other histories in a web server than on the command line.
    """
    from hypothesis import strategies

    bits = (size - 1).bit_length()
    drawn = strategies.tuples(*[strategies.booleans()] * bits)
    return drawn.map(lambda picks: sum(one << place for place, one in enumerate(picks)) * size >> bits)


def sample(
    found: Histories, play: Player, budget: CheckBounds, time: Countdown, note: Callable[[int], None]
) -> Searched:
    """Play seeded random histories, steered by the margin, until one breaks the claim."""
    from hypothesis import HealthCheck, Phase, find, settings, strategies, target
    from hypothesis.errors import NoSuchExample

    result = Searched(seeded=True)
    known: dict[tuple[int, ...], CaseOutcome] = {}

    def breaks(picks: tuple[int, ...]) -> bool:
        played = known.get(picks)
        if played is None:
            if time.over or result.played >= budget.cases:
                raise Over
            played = known[picks] = play(found.at(picks))
            result.add(found.at(picks), played)
            note(result.played)
        target(-played.margin, label="margin")
        return played.breach is not None

    ways = strategies.tuples(*map(numbers, found.sizes))
    bounds = settings(
        max_examples=budget.cases * MOST_DRAWS_EACH if found.size > budget.cases else budget.cases,
        phases=(Phase.generate, Phase.target, Phase.shrink),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    try:
        picks = find(ways, breaks, settings=bounds, random=Random(budget.seed))  # noqa: S311 -- seeded on purpose
        result.broken = found.at(picks), known[picks]
    except (NoSuchExample, Over):
        pass
    return result
