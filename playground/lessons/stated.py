"""What learners who play alone, or in a course, did in lessons, as xAPI statements; a room has its own.

Without a name: who plays alone is a number derived from the browser's cookie, who comes by a course what the
platform calls them.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from django.utils import timezone
from django.utils.crypto import salted_hmac
from msgspec import Struct

from playground.outbox import statements, xapi
from playground.outbox.xapi import Statement
from scheduler_core.authoring.lessons import Lesson, Stop

SALT = "podstep.lessons.stated"
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
    if who is None or not statements.wanted():
        return
    result: dict[str, Any] = {"success": right}
    if len(text := json.dumps(given, ensure_ascii=False)) <= LONGEST:
        result["response"] = text
    if misconception:
        result["extensions"] = {f"{statements.home()}/learn/misconception": misconception}
    question = at.task.question if at.task is not None else ""
    activity = xapi.interaction(f"{_address(of)}{quote(at.key)}/", question[:1_000])
    statements.put([_statement(who, "answered", activity, result, of)])


def completed(of: Lesson, who: StatedLearner | None, right: int, asked: int) -> None:
    """State that somebody ended a lesson."""
    if who is not None and asked and statements.wanted():
        activity = xapi.lesson(_address(of), of.title)
        statements.put([_statement(who, "completed", activity, xapi.score(right, asked))])


def _statement(
    who: StatedLearner, verb: str, activity: Statement, result: Statement, of: Lesson | None = None
) -> Statement:
    now = timezone.now()
    context = {} if of is None else {"contextActivities": {"parent": [{"id": _address(of)}]}}
    actor = {"account": {"homePage": who.home, "name": who.name}}
    key = f"{activity['id']}{verb}/{who.home}/{who.name}/{now.isoformat()}"
    return xapi.statement(key, actor, verb, activity, result, context, now)


def _address(of: Lesson) -> str:
    return f"{statements.home()}/learn/{quote(of.slug)}/"
