"""The price of greed of a source: the optimum of a step beside what schedulers place.

Searching takes many seconds, and so is no part of a page's request: the page finds an answer that is kept, or
asks for it over its socket (``optimum.get``), where it sees the progress and stops the search by leaving.
Answers are kept by source, step and parameters, in this process and for a while in the shared cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from msgspec import Meta

from playground.calls.faults import RequestFieldError
from playground.calls.requests import Parameter, Request, Text, Texts, whole_number
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

USUAL_SECONDS, MOST_SECONDS = 5, 20
MOST_STEP = 100_000
USUAL = "most-pods"
PLACING_SECONDS = 5.0


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


_Step = Parameter("step", "After that many cycles of its own schedulers; 0, the default, is the start")
_Objectives = Parameter(
    "objective", "Objectives in order, separated by commas; most-pods by default", separated=True
)
_Seconds = Parameter("seconds", f"To search at most, 1 to {MOST_SECONDS}; {USUAL_SECONDS} by default")
_Move = Parameter("move", "true lets running pods go to other nodes")
_Evict = Parameter("evict", "true lets pending pods take the room of running ones of lower priority")
_Of = Parameter("of", "A scenario, run, link or draft: its id, or kind:id")


class OptimumRequest(Request):
    """After which cycle, by what and how long the optimum is searched."""

    step: Annotated[int, whole_number(0, MOST_STEP), _Step] | None = None
    objectives: Annotated[Texts, _Objectives] | None = None
    seconds: Annotated[int, whole_number(1, MOST_SECONDS), _Seconds] | None = None
    move: Annotated[bool, Meta(description="true or false"), _Move] | None = None
    evict: Annotated[bool, Meta(description="true or false"), _Evict] | None = None


class OptimumQuery(OptimumRequest):
    """The same of a source that is named as in an address."""

    of: Annotated[Text, _Of] | None = None


def question(asked: OptimumQuery, owner: str) -> GreedQuestion:
    """Return what a query of ``owner`` asks for. Raises RequestFieldError and NotFoundError."""
    return question_of(address.found(asked.of or "", "of", "to look at", owner), asked)


def question_of(source: sources.Source, asked: OptimumRequest) -> GreedQuestion:
    """Return what is asked of a source. Raises RequestFieldError."""
    found = tuple(dict.fromkeys(one for one in asked.objectives or () if one)) or (USUAL,)
    for one in found:
        if one not in OBJECTIVES:
            known = ", ".join(OBJECTIVES)
            raise RequestFieldError("objectives", f"objective {one[:40]!r} is unknown: it is one of {known}.")
    move, evict = bool(asked.move), bool(asked.evict)
    if "fewest-moves" in found and not (move or evict):
        text = (
            "fewest-moves needs move or evict: without them no running pod moves. Let running pods move too."
        )
        raise RequestFieldError("move", text)
    return GreedQuestion(source, asked.step or 0, found, asked.seconds or USUAL_SECONDS, move, evict)


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
