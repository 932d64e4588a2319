"""The price of greed of a source: the optimum of a step beside what schedulers place.

Searching takes many seconds, and so is no part of a page's request: the page finds an answer that is kept, or
asks for it over its socket (``optimum.get``), where it sees the progress and stops the search by leaving.
Answers are kept by source, step and parameters, in this process and for a while in the shared cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from playground.calls.faults import RequestFieldError
from playground.comparisons import address, questions
from playground.comparisons.questions import SourceQuestion
from playground.playback import sources
from playground.pool.jobs import pool_job
from playground.storage import bundles
from playground.wire import Encoded, encode
from scheduler_core.compare.optimum.greed import VERDICTS, Greed, price_of_greed
from scheduler_core.compare.optimum.objectives import OBJECTIVES
from scheduler_core.compare.optimum.snapshot import ShortRunError
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import BundleError, PolicyError

MOST_SECONDS = 20
MOST_STEP = 100_000
USUAL = "most-pods"
PLACING_SECONDS = 5.0
TRUE, FALSE = ("true", "on", "1"), ("false", "", "0")


class GreedQuestion(SourceQuestion, frozen=True):
    """What is asked: a source, the cycles before, the objectives in order, and the seconds.

    Running pods ``move`` to other nodes, or are evicted for pending ones of higher priority, if it says so.
    """

    step: int
    objectives: tuple[str, ...]
    seconds: int
    move: bool
    evict: bool

    @property
    def wire(self) -> dict[str, Any]:
        """The payload of ``optimum.get`` that asks the same."""
        return {
            "source": self.source.asked,
            "step": self.step,
            "objectives": list(self.objectives),
            "seconds": self.seconds,
            "move": self.move,
            "evict": self.evict,
        }

    @property
    def expects(self) -> float:
        """The seconds that an answer takes, with what schedulers place."""
        return self.seconds + PLACING_SECONDS


def question(query: Mapping[str, str], objectives: Sequence[str], owner: str) -> GreedQuestion:
    """Return what a query of ``owner`` asks for. Raises RequestFieldError."""
    return question_of(address.found(query.get("of", ""), "of", "to look at", owner), query, objectives)


def question_of(source: sources.Source, query: Mapping[str, str], objectives: Sequence[str]) -> GreedQuestion:
    """Return what a query asks of a source. Raises RequestFieldError."""
    found = tuple(dict.fromkeys(one for one in objectives if one)) or (USUAL,)
    for one in found:
        if one not in OBJECTIVES:
            known = ", ".join(OBJECTIVES)
            raise RequestFieldError("objective", f"objective {one[:40]!r} is unknown: it is one of {known}.")
    move, evict = _flag(query, "move"), _flag(query, "evict")
    if "fewest-moves" in found and not (move or evict):
        text = (
            "fewest-moves needs move or evict: without them no running pod moves. Let running pods move too."
        )
        raise RequestFieldError("move", text)
    return GreedQuestion(
        source,
        _number(query, "step", 0, 0, MOST_STEP),
        found,
        _number(query, "seconds", 5, 1, MOST_SECONDS),
        move,
        evict,
    )


def _flag(query: Mapping[str, str], name: str) -> bool:
    text = query.get(name, "").lower()
    if text not in (*TRUE, *FALSE):
        raise RequestFieldError(name, f"{name} must be true or false.")
    return text in TRUE


def _number(query: Mapping[str, str], name: str, usual: int, least: int, most: int) -> int:
    text = query.get(name, "") or str(usual)
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise RequestFieldError(name, f"{name} must be {least} to {most:,}, not {text[:40]!r}.")
    return int(text)


def answered(asked: GreedQuestion) -> Encoded:
    """Return the answer as JSON, to a request of the API, which waits for it.

    Raises RequestFieldError, BusyError, and the errors of reading and computing.
    """
    with refused():
        return questions.answered(asked, computed)


@contextmanager
def refused() -> Iterator[None]:
    """Raise RequestFieldError for a step that the run turns out not to have."""
    try:
        yield
    except ShortRunError as error:
        raise RequestFieldError("step", f"{str(error).capitalize()}.") from error


@pool_job
def computed(
    stored: sources.Stored, step: int, objectives: tuple[str, ...], seconds: int, move: bool, evict: bool
) -> Encoded:
    """Search and place, without the database.

    Raises ShortRunError, TooMuchWorkError and the errors of reading.
    """
    scenario = stored.load()
    sources.check_work(scenario)
    try:
        watch = bundles.watching()
        found = price_of_greed(scenario, step, objectives, seconds, move=move, evict=evict, watch=watch)
    except PolicyError as error:
        raise BundleError(error.problems) from error
    return Encoded(encode(_wire(found)))


def _wire(found: Greed) -> dict[str, Any]:
    made: dict[str, Any] = plain(found)
    for row in made["rows"]:
        row["means"] = VERDICTS.get(row["verdict"], "")
    for proof, one in zip(made["optimum"]["proofs"], found.optimum.proofs):
        proof["gap"] = round(one.gap, 6)
    return made
