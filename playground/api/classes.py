"""What a room's leader sees of the class: answers by person, question, misconception; notes, timing."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext
from msgspec import Meta, json

from playground.api.answers import ApiError, answer
from playground.api.lookups import room_of
from playground.api.payloads.payload import Payload
from playground.api.payloads.problems import Errors
from playground.api.route import ERRORS, route
from playground.lessons import classes
from playground.models import Room
from playground.rooms import results, rows, statements
from playground.serving.languages import asked_of
from playground.visitors.throttle import token_of

_LEADS = "The room's lead token; for a browser, the cookie podstep_visitor of who opened the room"
_DENIED = {403: ("Neither the room's lead token nor its owner's cookie", Errors), **ERRORS}
_NAMES = (("names", "string", "0 leaves out the names that people gave"),)


class ClassStopTime(Payload):
    """A stop of the lesson, and how long the room was there."""

    key: str
    title: str
    asks: bool
    seconds: float


class ClassLesson(Payload):
    """The lesson that the room teaches."""

    slug: str
    title: str
    at: Annotated[str, Meta(description="The stop that the room is at")]
    minutes: Annotated[int, Meta(description="Planned")]
    stops: list[ClassStopTime]
    notes: Annotated[str, Meta(description="HTML")]


class ClassAnswer(Payload):
    """A person's last answer to a question."""

    question: int
    label: str
    right: bool | None
    misconception: str


class ClassPerson(Payload):
    """Somebody who follows the room, or did."""

    person: str
    name: str
    here: bool
    place: Annotated[str, Meta(description="The step of who looks around alone; empty: with the room")]
    lost: Annotated[str, Meta(description="Why their page cannot follow; empty: it follows")]
    right: int
    answers: list[ClassAnswer]


class ClassCount(Payload):
    """How many gave an answer."""

    label: str
    votes: int
    before: Annotated[int | None, Meta(description="In the first vote, if there were two")]
    right: bool | None
    misconception: str


class ClassQuestion(Payload):
    """A question and its votes; shares are of right answers."""

    number: int
    stop: str
    text: str
    revealed: bool
    votes: int
    share: float | None
    before: float | None
    answers: list[ClassCount]


class ClassMisconception(Payload):
    """What is wrongly believed, and of how many people an answer shows it."""

    key: str
    text: str
    answers: int
    people: int


class ClassReport(Payload):
    """Everything that a room's leader sees of the class."""

    id: str
    title: str
    ended: bool
    watching: int
    elapsed: Annotated[float, Meta(description="Seconds since the room was opened, to its end")]
    lesson: ClassLesson | None
    people: list[ClassPerson]
    questions: list[ClassQuestion]
    misconceptions: list[ClassMisconception]


STATEMENTS = {
    "ClassStatements": {
        "title": "ClassStatements",
        "description": "xAPI statements",
        "type": "array",
        "items": {"type": "object", "additionalProperties": True},
    }
}


@route(
    "GET",
    "/api/rooms/{name}/class",
    "Get the answers of a room by person, question and misconception; for who leads it",
    {200: ("The report", ClassReport), **_DENIED},
    query=(("lang", "string", "Of the misconceptions, such as de"),),
    token=_LEADS,
)
def get_class(request: HttpRequest, name: str) -> HttpResponse:
    """Answer what the leader of a room sees of the class."""
    room = led(request, name)
    with translation.override(asked_of(request)):
        return answer(report(room), Cache_Control="no-store")


@route(
    "GET",
    "/api/rooms/{name}/answers.csv",
    "Get the answers of a room as a table; for who leads it",
    {200: ("A row for each answer of a person", "text/csv"), **_DENIED},
    query=_NAMES,
    token=_LEADS,
)
def get_answers(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a room's answers as CSV."""
    room = led(request, name)
    text = results.table(results.results_of(room), names=request.GET.get("names") != "0")
    return HttpResponse(
        text,
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="answers-{room.pk}.csv"',
            "Cache-Control": "no-store",
        },
    )


@route(
    "GET",
    "/api/rooms/{name}/statements",
    "Get the answers of a room as xAPI statements; for who leads it",
    {
        200: ("Statements, answered and completed, as an LRS takes them", "ClassStatements"),
        **_DENIED,
    },
    query=_NAMES,
    token=_LEADS,
    schemas=STATEMENTS,
)
def get_statements(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a room's xAPI statements."""
    room = led(request, name)
    home = request.build_absolute_uri("/").rstrip("/")
    found = statements.statements_of(room, home, names=request.GET.get("names") != "0")
    return HttpResponse(
        json.encode(found),
        content_type="application/json",
        headers={
            "Content-Disposition": f'attachment; filename="statements-{room.pk}.json"',
            "Cache-Control": "no-store",
        },
    )


def led(request: HttpRequest, name: str) -> Room:
    """Return a room that the request may look into: by its lead token, or its owner's cookie."""
    room = room_of(name)
    visitor: str = request.visitor  # type: ignore[attr-defined]
    if not (visitor and visitor == room.owner) and not rows.holds_token(room, token_of(request)):
        raise ApiError(403, "Send the room's lead token as a bearer token.")
    return room


def report(room: Room) -> ClassReport:
    """Return the report on a room's class."""
    found, over = results.results_of(room), rows.is_over(room)
    until = (room.ended or room.expires) if over else timezone.now()
    return ClassReport(
        id=room.pk,
        title=room.title or room.scenario.title,
        ended=over,
        watching=0 if over else rows.watching(room.pk),
        elapsed=round((until - room.created).total_seconds(), 1),
        lesson=_lesson(room),
        people=[_person(one) for one in found.people],
        questions=[_question(found, one) for one in found.questions],
        misconceptions=[
            ClassMisconception(key, gettext(text), answers, people)
            for key, text, answers, people in found.misconceptions()
        ],
    )


def _lesson(room: Room) -> ClassLesson | None:
    at = room.lesson
    if at is None:
        return None
    seconds = results.spent(room)
    return ClassLesson(
        slug=at["slug"],
        title=at["title"],
        at=at["stop"],
        minutes=at["minutes"],
        stops=[ClassStopTime(key, title, asks, seconds.get(key, 0.0)) for key, title, asks in at["stops"]],
        notes=classes.notes(at["slug"]),
    )


def _person(row: results.PersonRow) -> ClassPerson:
    answers = [
        ClassAnswer(number, one.label, one.right, one.misconception) for number, one in row.answers.items()
    ]
    return ClassPerson(row.person, row.name, row.here, row.place, row.lost, row.right, answers)


def _question(found: results.RoomResults, asked: results.AskedQuestion) -> ClassQuestion:
    last: list[Any] = found.of(asked.number)
    return ClassQuestion(
        number=asked.number,
        stop=asked.entry.get("stop", ""),
        text=asked.text,
        revealed=asked.revealed,
        votes=len(last),
        share=results.share(last),
        before=results.share(found.of(asked.first)) if asked.first else None,
        answers=[ClassCount(**row) for row in results.counted(found, asked)],
    )
