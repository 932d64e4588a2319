"""What a room's answers come to, for who leads it: by person, by question and by misconception."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.utils import timezone
from msgspec import Struct

from playground.courseware import misconceptions
from playground.models import Room, RoomPerson, RoomVote
from playground.rooms import questions, rows

HERE_SECONDS = 15.0  # after which who was not counted again has left
ROWS = 20  # distinct answers of a question
FORMULA = frozenset("=+-@")  # with which a spreadsheet begins what it computes
BREAKS = ("\t", "\r", "\n")
COLUMNS = ("person", "name", "question", "stop", "asked", "vote", "answer", "right", "misconception", "at")


class GivenAnswer(Struct, frozen=True):
    """A person's answer to one vote of a question."""

    person: str
    number: int
    second: bool
    label: str
    right: bool | None
    misconception: str
    at: datetime


class AskedQuestion(Struct, frozen=True):
    """A question with its votes: ``first`` is the number of the vote before a discussion, 0 without one."""

    entry: Mapping[str, Any]
    number: int
    first: int
    revealed: bool

    @property
    def text(self) -> str:
        """What was asked."""
        return self.entry["text"] or questions.TITLES[self.entry["kind"]]


class PersonRow(Struct, frozen=True):
    """Somebody who followed: where they are, and their last answers by the number of the question."""

    person: str
    name: str
    here: bool
    place: str
    lost: str  # why their page cannot follow
    answers: dict[int, GivenAnswer]

    @property
    def right(self) -> int:
        """How many of the last answers are right."""
        return sum(one.right is True for one in self.answers.values())


class RoomResults(Struct, frozen=True):
    """The answers of a room."""

    questions: tuple[AskedQuestion, ...]
    answers: tuple[GivenAnswer, ...]
    people: tuple[PersonRow, ...]

    def of(self, number: int) -> list[GivenAnswer]:
        """Return the answers of one vote."""
        return [one for one in self.answers if one.number == number]

    def misconceptions(self) -> list[tuple[str, str, int, int]]:
        """Return by misconception its sentence, the answers it led to, and of how many people."""
        led: defaultdict[str, list[str]] = defaultdict(list)
        for one in self.answers:
            if one.misconception:
                led[one.misconception].append(one.person)
        known = misconceptions()
        found = [(key, known.get(key, key), len(who), len(set(who))) for key, who in led.items()]
        return sorted(found, key=lambda row: (-row[3], -row[2], row[0]))


def results_of(room: Room, person: str = "") -> RoomResults:
    """Return what was answered in a room so far, by everybody or by one person."""
    asked = tuple(_asked(room))
    by_number = {number: one for one in asked for number in (one.number, one.first) if number}
    given = [
        _given(vote, by_number[vote.question])
        for vote in rows.votes_in(room.pk, person)
        if vote.question in by_number
    ]
    return RoomResults(asked, tuple(given), tuple(_people(room, asked, given)))


def _asked(room: Room) -> Iterator[AskedQuestion]:
    numbers = set()
    for entry in room.history:
        numbers.add(entry["number"])
        yield AskedQuestion(entry, entry["number"], entry.get("first") or 0, revealed=True)
    question = room.question
    if question is not None and question["number"] not in numbers:
        first = (question.get("before") or {}).get("number") or 0
        yield AskedQuestion(question, question["number"], first, revealed=False)


def _given(vote: RoomVote, asked: AskedQuestion) -> GivenAnswer:
    entry = asked.entry
    return GivenAnswer(
        person=vote.voter,
        number=vote.question,
        second=bool(asked.first) and vote.question == asked.number,
        label=questions.worded(entry, json.loads(vote.answer)),
        right=_right(entry, vote.answer),
        misconception=questions.misconception(entry, vote.answer) if entry["kind"] == "lesson" else "",
        at=vote.at,
    )


def _right(entry: Mapping[str, Any], answer: str) -> bool | None:
    """Return whether an answer is right; of a question that the leader asked it is known once revealed."""
    if entry["kind"] == "lesson" or "truth" in entry:
        return questions.is_right(entry, answer)
    truth = entry.get("answer")
    return None if truth is None else json.loads(answer) == truth


def _people(room: Room, asked: Sequence[AskedQuestion], given: Sequence[GivenAnswer]) -> Iterator[PersonRow]:
    """Yield who followed, and who voted without being counted."""
    known = {one.person: one for one in rows.people_of(room.pk)}
    answers: defaultdict[str, dict[int, GivenAnswer]] = defaultdict(dict)
    last = {number: one.number for one in asked for number in (one.first, one.number) if number}
    for one in given:  # in the order of the votes: the second replaces the first
        answers[one.person][last[one.number]] = one
    since = timezone.now() - timedelta(seconds=HERE_SECONDS)
    for person in [*known, *(one for one in answers if one not in known)]:
        row = known.get(person) or RoomPerson(person=person, seen=room.created)
        here = not rows.is_over(room) and row.seen >= since
        yield PersonRow(person, row.name, here, row.place, row.lost, answers[person])


def counted(results: RoomResults, asked: AskedQuestion) -> list[dict[str, Any]]:
    """Return the answers to a question with how many gave each, first and last, the most first."""
    votes = Counter(one.label for one in results.of(asked.number))
    before = Counter(one.label for one in results.of(asked.first)) if asked.first else Counter()
    known = {one.label: one for number in (asked.first, asked.number) for one in results.of(number)}
    order = sorted(known, key=lambda label: (-votes[label], -before[label], label))[:ROWS]
    return [
        {
            "label": label,
            "votes": votes[label],
            "before": before[label] if asked.first else None,
            "right": known[label].right,
            "misconception": known[label].misconception,
        }
        for label in order
    ]


def share(answers: Sequence[GivenAnswer]) -> float | None:
    """Return the share of right answers, None where none is marked."""
    marked = [one.right for one in answers if one.right is not None]
    return round(sum(marked) / len(marked), 4) if marked else None


def table(results: RoomResults, *, names: bool) -> str:
    """Return all answers as CSV. What people wrote is text, to a spreadsheet too."""
    called = {one.person: one.name if names else "" for one in results.people}
    asked = {number: one for one in results.questions for number in (one.first, one.number) if number}
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for one in results.answers:
        question = asked[one.number]
        writer.writerow(
            _as_text(value)
            for value in (
                one.person,
                called.get(one.person, ""),
                question.number,
                question.entry.get("stop", ""),
                question.text,
                "second" if one.second else "first",
                one.label,
                {True: "yes", False: "no", None: ""}[one.right],
                one.misconception,
                one.at.isoformat(),
            )
        )
    return out.getvalue()


def _as_text(value: object) -> str:
    """Return a value as a text that no spreadsheet computes: spaces of any kind and width hide no sign."""
    text = str(value)
    first = next((character for character in text if unicodedata.category(character)[0] not in "CZ"), "")
    sign = unicodedata.normalize("NFKC", first)[:1]
    return f"'{text}" if sign in FORMULA or text.startswith(BREAKS) else text


def spent(room: Room) -> dict[str, float]:
    """Return the seconds that the room was at each stop of its lesson."""
    ends = room.ended or min(timezone.now(), room.expires)
    times = [(stop, datetime.fromisoformat(at)) for stop, at in room.visits]
    found: defaultdict[str, float] = defaultdict(float)
    for (stop, came), (_, went) in pairwise([*times, ("", ends)]):
        found[stop] += max(0.0, (went - came).total_seconds())
    return {stop: round(seconds, 1) for stop, seconds in found.items()}
