"""The price of greed of a source: the optimum of a step beside what schedulers place, by the pool."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from playground.comparisons import asking
from playground.playback import sources
from playground.playback.answers import RecentAnswers
from playground.pool import offload
from playground.pool.jobs import pool_job
from playground.pool.reading import reading
from playground.visitors import identity
from playground.wire import Encoded, encode
from scheduler_core.compare.optimum.greed import Greed, price_of_greed
from scheduler_core.compare.optimum.objectives import OBJECTIVES
from scheduler_core.compare.optimum.standing import ShortRunError
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.schedulers.v1_11.policy.profile import PolicyError

MOST_SECONDS = 20
MOST_STEP = 100_000
USUAL = "most-pods"
ANSWERS_KEPT = 64
ANSWER_BYTES = 16 * 2**20
TRUE, FALSE = ("true", "on", "1"), ("false", "", "0")

answers = RecentAnswers(ANSWERS_KEPT, ANSWER_BYTES)


class GreedQuestion(Struct, frozen=True):
    """What is asked: a source, the cycles before, the objectives in order, seconds, and whether pods move."""

    source: sources.Source
    step: int
    objectives: tuple[str, ...]
    seconds: int
    move: bool

    @property
    def key(self) -> Hashable:
        """The key under which the answer is kept; it changes when a draft is saved."""
        return (self.source.key, self.step, self.objectives, self.seconds, self.move)


def question(query: Mapping[str, str], objectives: Sequence[str], owner: str) -> GreedQuestion:
    """Return what a query of ``owner`` asks for. Raises AskedError."""
    found = tuple(dict.fromkeys(one for one in objectives if one)) or (USUAL,)
    for one in found:
        if one not in OBJECTIVES:
            known = ", ".join(OBJECTIVES)
            raise asking.AskedError("objective", f"objective {one[:40]!r} is none: it is one of {known}.")
    move = query.get("move", "").lower()
    if move not in (*TRUE, *FALSE):
        raise asking.AskedError("move", "move must be true or false.")
    if "fewest-moves" in found and move not in TRUE:
        text = "fewest-moves needs move: without it no running pod moves. Let running pods move as well."
        raise asking.AskedError("move", text)
    return GreedQuestion(
        asking.found(query.get("of", ""), "of", "to look at", owner),
        _number(query, "step", 0, 0, MOST_STEP),
        found,
        _number(query, "seconds", 5, 1, MOST_SECONDS),
        move in TRUE,
    )


def _number(query: Mapping[str, str], name: str, usual: int, least: int, most: int) -> int:
    text = query.get(name, "") or str(usual)
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise asking.AskedError(name, f"{name} must be {least} to {most:,}, not {text[:40]!r}.")
    return int(text)


def answered(asked: GreedQuestion) -> Encoded:
    """Return the answer as JSON. Raises AskedError, and the errors of reading and computing."""
    kept = answers.get(asked.key)
    if kept is not None:
        return kept
    given = (asked.source.stored(), asked.step, asked.objectives, asked.seconds, asked.move)
    try:
        if offload.enabled():
            body = offload.compute(identity.asker(), computed, *given, long=True)
        else:
            with reading():
                body = computed(*given)
    except ShortRunError as error:
        raise asking.AskedError("step", f"{str(error).capitalize()}.") from error
    answers.put(asked.key, body)
    return body


@pool_job
def computed(
    stored: sources.Stored, step: int, objectives: tuple[str, ...], seconds: int, move: bool
) -> Encoded:
    """Search and place, without the database.

    Raises ShortRunError, TooMuchWorkError and the errors of reading.
    """
    scenario = stored.load()
    sources.check_work(scenario)
    try:
        found = price_of_greed(scenario, step, objectives, seconds, move=move)
    except PolicyError as error:
        raise BundleError(error.problems) from error
    return Encoded(encode(_wire(found)))


def _wire(found: Greed) -> dict[str, Any]:
    made: dict[str, Any] = plain(found)
    for proof, one in zip(made["optimum"]["proofs"], found.optimum.proofs):
        proof["gap"] = round(one.gap, 6)
    return made
