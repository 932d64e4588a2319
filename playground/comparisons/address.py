"""A comparison as the query of an address asks for it: of the API, and of its page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress

from playground.calls.faults import RequestFieldError
from playground.comparisons import differences
from playground.playback import sources
from playground.pool import offload
from playground.pool.read_slots import reading
from playground.visitors import identity
from playground.wire import Encoded, join

KINDS = ("scenario", "run", "link", "draft", "side")  # in which an id is looked for
LONGEST = 2_000  # characters of an address that is pasted
#: Pages of a source, by the first part of their path.
PAGES = {"s": "scenario", "e": "scenario", "p": "draft", "l": "link", "runs": "run"}
_SIDE = re.compile(r"(?:https?://[^/?#\s]+)?/compare/([A-Za-z0-9_-]{11,43})/(left|right)/(?:[?#]\S*)?")
_ADDRESS = re.compile(r"(?:https?://[^/?#\s]+)?/(s|e|p|l|runs)/([A-Za-z0-9_-]{1,43})(?:[/?#]\S*)?")


def answered(query: Mapping[str, str], owner: str) -> Encoded:
    """Return the answer to a query of ``owner``, who may compare their own drafts.

    Raises RequestFieldError, NotFoundError, UnfinishedError, and the errors of reading and computing.
    """
    asked = question(query, owner)
    return with_sides(asked, answer(asked))


def question(query: Mapping[str, str], owner: str) -> differences.ComparisonQuestion:
    """Return what a query of ``owner`` asks for. Raises RequestFieldError and NotFoundError."""
    return differences.ComparisonQuestion(_side(query, "left", owner), _side(query, "right", owner))


def answer(asked: differences.ComparisonQuestion) -> Encoded:
    """Return what comparing comes to, without the sides.

    Raises RequestFieldError, NotFoundError, UnfinishedError, and the errors of reading and computing.
    """
    return asked.kept() or asked.answered(_compared(asked))


def named(text: str) -> str:
    """Return what a side names as ``kind:id``: an address of one of our pages, whatever its host and query.

    An id alone and what is no address are returned as they are.
    """
    side = _SIDE.fullmatch(text.strip()[:LONGEST])
    if side is not None:
        return f"side:{side[1]}-{side[2]}"
    found = _ADDRESS.fullmatch(text.strip()[:LONGEST])
    return f"{PAGES[found[1]]}:{found[2]}" if found else text.strip()


def with_sides(question: differences.ComparisonQuestion, body: Encoded) -> Encoded:
    """Return an answer with what was asked."""
    sides = join({"left": question.left.wire(), "right": question.right.wire()})
    return Encoded(f"{sides[:-1]},{body[1:]}")


def _compared(question: differences.ComparisonQuestion) -> Encoded:
    if question.stored:
        with reading():
            return differences.from_decisions(question)
    left, right = (side.source.stored() for side in question.sides)
    schedulers = (question.left.scheduler, question.right.scheduler)
    if question.large:
        return offload.compute(identity.asker(), differences.computed, left, right, schedulers, long=True)
    with reading():
        return differences.computed(left, right, schedulers)


def _side(query: Mapping[str, str], name: str, owner: str) -> differences.Side:
    """Return a side. Raises RequestFieldError and NotFoundError."""
    source = found(query.get(name, ""), name, f"on the {name}", owner)
    return differences.Side(source, query.get(f"{name}Scheduler", ""))


def found(text: str, name: str, where: str, owner: str) -> sources.Source:
    """Return what an address, ``kind:id``, or an id alone names; that is looked for in all kinds.

    ``name`` is the parameter's, ``where`` names it in messages. Raises RequestFieldError and NotFoundError.
    """
    kind, _, bare = named(text).rpartition(":")
    if not bare or (kind and kind not in KINDS):
        raise RequestFieldError(name, f"Say what is {where}: the id of a scenario, a run, a link or a draft.")
    for one in (kind,) if kind else KINDS:
        with suppress(sources.NotFoundError):
            return sources.find({one: bare}, owner)
    raise sources.NotFoundError(f"There is no scenario, run, link or draft of yours with the id {where}.")
