"""What learners who play alone, or in a course, did in lessons, as xAPI statements; a room has its own.

Nothing of previews, and everything once: an answer of somebody to a question, however often it is given, and
the completion of a lesson, but for another score of a course. So nobody fills the operator's store by
repetition, nor by new cookies beyond ``LRS_PER_MINUTE`` of an address.

Without a name: who plays alone is a number derived from the browser's cookie, who comes by a course what the
platform calls them.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from django.core.cache import cache
from django.utils import timezone
from django.utils.crypto import salted_hmac
from msgspec import Struct

from playground.courseware import Lesson, Stop
from playground.lessons import lookup
from playground.outbox import statements, xapi
from playground.outbox.xapi import Statement
from playground.visitors import caller
from playground.visitors.throttle import wait_seconds

SALT = "podstep.lessons.stated"
ONCE_SECONDS = 30 * 24 * 3600  # for which the same statement is not sent again; the store knows its id
LONGEST = 300  # characters of an answer: an edited cluster is not sent


class StatedLearner(Struct, frozen=True):
    """Who answered: a name at a home, as xAPI has accounts."""

    home: str
    name: str


def visitor(name: str) -> StatedLearner | None:
    """Return a visitor, by a name that does not lead back to the cookie; None for a caller without one."""
    if not name or not statements.wanted():
        return None
    digest = salted_hmac(SALT, name, algorithm="sha256").hexdigest()[:32]
    return StatedLearner(statements.home(), f"learner.{digest}")


def answered(
    of: Lesson, at: Stop, who: StatedLearner | None, given: Any, *, right: bool, misconception: str
) -> None:
    """State an answer to a stop's question."""
    if who is None or not _is_stated(of):
        return
    result: dict[str, Any] = {"success": right}
    if len(text := json.dumps(given, ensure_ascii=False)) <= LONGEST:
        result["response"] = text
    if misconception:
        result["extensions"] = {f"{statements.home()}/learn/misconception": misconception}
    question = at.task.question if at.task is not None else ""
    activity = xapi.interaction(f"{_address(of)}{quote(at.key)}/", question[:1_000])
    _put(_statement(who, "answered", activity, result, json.dumps(given, sort_keys=True), of), who)


def completed(of: Lesson, who: StatedLearner | None, right: int, asked: int) -> None:
    """State that somebody ended a lesson."""
    if who is not None and asked and _is_stated(of):
        activity = xapi.lesson(_address(of), of.title)
        _put(_statement(who, "completed", activity, xapi.score(right, asked), f"{right}/{asked}"), who)


def _is_stated(of: Lesson) -> bool:
    return statements.wanted() and not lookup.is_preview(of.slug)


def _put(made: Statement, who: StatedLearner) -> None:
    """Have a statement sent once; of visitors no more than an address may have."""
    if not cache.add(f"stated:{made['id']}", 1, ONCE_SECONDS):
        return
    if who.home == statements.home() and wait_seconds("LRS_PER_MINUTE", caller.address()):
        return
    statements.put([made])


def _statement(
    who: StatedLearner, verb: str, activity: Statement, result: Statement, what: str, of: Lesson | None = None
) -> Statement:
    """Return a statement, the same one for the same ``what``."""
    context = {} if of is None else {"contextActivities": {"parent": [{"id": _address(of)}]}}
    actor = {"account": {"homePage": who.home, "name": who.name}}
    key = f"{activity['id']}{verb}/{who.home}/{who.name}/{what}"
    return xapi.statement(key, actor, verb, activity, result, context, timezone.now())


def _address(of: Lesson) -> str:
    return f"{statements.home()}/learn/{quote(of.slug)}/"
