"""The words of xAPI statements that are shared by all who make them."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

VERBS = "http://adlnet.gov/expapi/verbs/"
INTERACTION = "http://adlnet.gov/expapi/activities/cmi.interaction"
LESSON = "http://adlnet.gov/expapi/activities/lesson"
LANGUAGE = "en-US"

Statement = dict[str, Any]


def statement(
    key: str,
    actor: Statement,
    verb: str,
    activity: Statement,
    result: Statement,
    context: Statement,
    at: datetime,
) -> Statement:
    """Return a statement, whose id is derived from ``key``: sent twice it is one."""
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, key)),
        "actor": {"objectType": "Agent", **actor},
        "verb": {"id": f"{VERBS}{verb}", "display": {LANGUAGE: verb}},
        "object": {"objectType": "Activity", **activity},
        "result": result,
        "context": {"platform": "podstep", **context},
        "timestamp": at.isoformat(timespec="milliseconds"),
    }


def interaction(address: str, question: str) -> Statement:
    """Return a question as an activity."""
    definition = {"type": INTERACTION, "interactionType": "other", "description": {LANGUAGE: question}}
    return {"id": address, "definition": definition}


def lesson(address: str, title: str) -> Statement:
    """Return a lesson as an activity."""
    return {"id": address, "definition": {"type": LESSON, "name": {LANGUAGE: title}}}


def score(right: int, asked: int) -> Statement:
    """Return the result of who completed a lesson."""
    scaled = {"scaled": round(right / asked, 4), "raw": right, "min": 0, "max": asked}
    return {"completion": True, "success": right == asked, "score": scaled}
