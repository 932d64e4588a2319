"""A room's answers as xAPI statements: who answered what, and who completed the lesson.

Identifiers are derived from the room, the question and the person: the same statement sent twice is one.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from playground.models import Room
from playground.outbox import statements, xapi
from playground.outbox.xapi import Statement
from playground.rooms import results

SECOND = "second"


def statements_of(room: Room, home: str, *, names: bool = True) -> list[Statement]:
    """Return the statements about a room; ``home`` is the server's address, without a slash at its end."""
    return list(_Statements(room, home, names=names))


def revealed(room: Room, number: int) -> None:
    """Have the answers to a question that was revealed sent to the operator's record store, if there is one.

    Names are those that people gave in the room. Who has now answered the whole lesson has completed it.
    """
    if statements.wanted():
        statements.put(_Statements(room, statements.home(), names=True).about(number))


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

    def about(self, number: int) -> Iterator[Statement]:
        """Yield the statements that a revealed question adds."""
        asked = next(one for one in self._found.questions if one.number == number)
        for answer in self._found.answers:
            if answer.number in {asked.number, asked.first or asked.number}:
                yield self._answered(asked, answer)
        yield from self._completed()

    def _answered(self, asked: results.AskedQuestion, answer: results.GivenAnswer) -> Statement:
        result: dict[str, Any] = {"response": answer.label}
        if answer.right is not None:
            result["success"] = answer.right
        if answer.misconception:
            result["extensions"] = {f"{self._home}/learn/misconception": answer.misconception}
        activity = xapi.interaction(self._activity(asked), asked.text)
        return self._statement(f"{answer.number}", "answered", answer, activity, result)

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
            activity = xapi.lesson(self._lesson_address, room.lesson["title"])
            yield self._statement("completed", "completed", last, activity, xapi.score(right, len(asked)))

    def _statement(
        self,
        key: str,
        verb: str,
        answer: results.GivenAnswer,
        activity: dict[str, Any],
        result: dict[str, Any],
    ) -> Statement:
        person, room = answer.person, f"{self._home}/r/{self._room.pk}/"
        actor: dict[str, Any] = {"account": {"homePage": self._home, "name": f"{self._room.pk}.{person}"}}
        if name := self._names.get(person):
            actor["name"] = name
        around: dict[str, Any] = {"grouping": [{"id": room}]}
        if self._lesson and verb == "answered":
            around["parent"] = [{"id": self._lesson_address}]
        context = {
            "registration": str(uuid.uuid5(uuid.NAMESPACE_URL, room)),
            "contextActivities": around,
            "extensions": {f"{self._home}/learn/vote": SECOND if answer.second else "first"},
        }
        return xapi.statement(
            f"{room}{key}/{person}/{answer.at.isoformat()}", actor, verb, activity, result, context, answer.at
        )

    @property
    def _lesson_address(self) -> str:
        return f"{self._home}/learn/{quote(self._lesson)}/"

    def _activity(self, asked: results.AskedQuestion) -> str:
        stop = asked.entry.get("stop")
        if stop:
            return f"{self._home}/learn/{quote(asked.entry.get('lesson') or self._lesson)}/{quote(stop)}/"
        return f"{self._home}/r/{self._room.pk}/#question-{asked.number}"
