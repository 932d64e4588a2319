"""A room's answers as xAPI statements: who answered what, and who completed the lesson.

Identifiers are derived from the room, the question and the person: the same statement sent twice is one.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from playground.models import Room
from playground.rooms import results

VERBS = "http://adlnet.gov/expapi/verbs/"
INTERACTION = "http://adlnet.gov/expapi/activities/cmi.interaction"
LESSON = "http://adlnet.gov/expapi/activities/lesson"
SECOND = "second"
LANGUAGE = "en-US"

Statement = dict[str, Any]


def statements_of(room: Room, home: str, *, names: bool = True) -> list[Statement]:
    """Return the statements about a room; ``home`` is the server's address, without a slash at its end."""
    return list(_Statements(room, home, names=names))


class _Statements:
    """The statements about a room."""

    def __init__(self, room: Room, home: str, *, names: bool) -> None:
        self._room, self._home = room, home
        self._found = results.results_of(room)
        self._names = {one.person: one.name if names else "" for one in self._found.people}
        self._lesson = room.lesson["slug"] if room.lesson else ""

    def __iter__(self) -> Iterator[Statement]:
        asked = {number: one for one in self._found.questions for number in (one.first, one.number) if number}
        for answer in self._found.answers:
            if asked[answer.number].revealed:
                yield self._answered(asked[answer.number], answer)
        yield from self._completed()

    def _answered(self, asked: results.AskedQuestion, answer: results.GivenAnswer) -> Statement:
        result: dict[str, Any] = {"response": answer.label}
        if answer.right is not None:
            result["success"] = answer.right
        if answer.misconception:
            result["extensions"] = {f"{self._home}/learn/misconception": answer.misconception}
        definition = {
            "type": INTERACTION,
            "interactionType": "other",
            "description": {LANGUAGE: asked.text},
        }
        return self._statement(
            f"{answer.number}",
            "answered",
            answer,
            {"id": self._activity(asked), "definition": definition},
            result,
        )

    def _completed(self) -> Iterator[Statement]:
        """Yield who answered every question of the lesson."""
        room = self._room
        if room.lesson is None:
            return
        asked = {key for key, _, asks in room.lesson["stops"] if asks}
        stops = {one.number: one.entry.get("stop", "") for one in self._found.questions if one.revealed}
        for row in self._found.people:
            given: dict[str, results.GivenAnswer] = {}
            for number, answer in row.answers.items():
                if stops.get(number):
                    given[stops[number]] = answer  # asked once more, the later answer counts
            if not asked or set(given) < asked:
                continue
            right = sum(one.right is True for one in given.values())
            last = max(given.values(), key=lambda one: one.at)
            definition = {"type": LESSON, "name": {LANGUAGE: room.lesson["title"]}}
            score = {"scaled": round(right / len(asked), 4), "raw": right, "min": 0, "max": len(asked)}
            result = {"completion": True, "success": right == len(asked), "score": score}
            yield self._statement(
                "completed", "completed", last, {"id": self._lesson_address, "definition": definition}, result
            )

    def _statement(
        self,
        key: str,
        verb: str,
        answer: results.GivenAnswer,
        activity: dict[str, Any],
        result: dict[str, Any],
    ) -> Statement:
        person, room = answer.person, f"{self._home}/r/{self._room.pk}/"
        actor = {
            "objectType": "Agent",
            "account": {"homePage": self._home, "name": f"{self._room.pk}.{person}"},
        }
        if name := self._names.get(person):
            actor["name"] = name
        around: dict[str, Any] = {"grouping": [{"id": room}]}
        if self._lesson and verb == "answered":
            around["parent"] = [{"id": self._lesson_address}]
        return {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{room}{key}/{person}/{answer.at.isoformat()}")),
            "actor": actor,
            "verb": {"id": f"{VERBS}{verb}", "display": {LANGUAGE: verb}},
            "object": {"objectType": "Activity", **activity},
            "result": result,
            "context": {
                "registration": str(uuid.uuid5(uuid.NAMESPACE_URL, room)),
                "platform": "podstep",
                "contextActivities": around,
                "extensions": {f"{self._home}/learn/vote": SECOND if answer.second else "first"},
            },
            "timestamp": answer.at.isoformat(timespec="milliseconds"),
        }

    @property
    def _lesson_address(self) -> str:
        return f"{self._home}/learn/{quote(self._lesson)}/"

    def _activity(self, asked: results.AskedQuestion) -> str:
        stop = asked.entry.get("stop")
        if stop:
            return f"{self._home}/learn/{quote(asked.entry.get('lesson') or self._lesson)}/{quote(stop)}/"
        return f"{self._home}/r/{self._room.pk}/#question-{asked.number}"
