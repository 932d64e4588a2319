"""``authoring.…``: stops of a visitor's lesson, made of what the workbench shows."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import to_builtins

from playground.calls.requests import Fields, OfSource, Request, Text
from playground.courseware import LessonError, folder
from playground.courseware.playthrough import LIMITS
from playground.courseware.proposals import AskedPlace
from playground.lessons import amendments
from playground.lessons.proposals import proposed
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.models import AuthoredLesson
from playground.playback import releases, sources
from playground.playback.executor import in_storage
from playground.protocol.lessons import AddedStopWire, AuthoredLessonListWire, ProposalListWire
from playground.storage import texts, visitor_lessons
from scheduler_core.kubernetes.conversion import converted
from scheduler_core.settings.settings import SETTINGS_KIND

TITLE = 120  # characters
TASK_BYTES = 16_000
FOLDER = "01-"


@command("authoring.lessons", Request, answers=AuthoredLessonListWire, visitor=True)
async def lessons(call: Call[Request]) -> Answer:
    """Return the visitor's lessons, last changed first."""
    rows = await in_storage(visitor_lessons.lessons_of, call.visitor)
    return {"lessons": [visitor_lessons.wire(row) for row in rows]}


class AuthoringPropose(OfSource):
    place: Fields
    step: Text | None = None


@command(
    "authoring.propose",
    AuthoringPropose,
    answers=ProposalListWire,
    latest=1,
    throttle="LESSON_ANSWERS_PER_MINUTE",
)
async def propose(call: Call[AuthoringPropose]) -> Answer:
    """Return what may be asked about a place of a step, each as a stop with a task."""
    place = _place(call.payload.place)
    text = await call.in_engine(_text, call.found())
    step = call.payload.step or ""
    try:
        found = await call.in_pool(proposed, text, step, place, large=True)
    except LessonError as error:
        raise CommandError("lesson.invalid", str(error)) from error
    return {"proposals": found}


def _place(given: Any) -> AskedPlace:
    try:
        return converted(given, AskedPlace)
    except msgspec.ValidationError as error:
        raise CommandError("payload.invalid", f"place: {error}", field="place") from error


class AuthoringAdd(OfSource):
    stop: Fields
    lesson: Text | None = None


@command(
    "authoring.add", AuthoringAdd, answers=AddedStopWire, visitor=True, throttle="LESSON_CHANGES_PER_MINUTE"
)
async def add(call: Call[AuthoringAdd]) -> Answer:
    """Add a stop to one of the visitor's lessons, or to a new one: the scenario and the view as they are."""
    stop = _stop(call.payload.stop)
    try:
        row, key = await call.in_engine(_added, call.found(), call.visitor, call.payload.lesson or "", stop)
    except (LessonError, visitor_lessons.TooManyLessonsError) as error:
        raise CommandError("lesson.invalid", str(error)) from error
    return {**visitor_lessons.wire(row), "stop": key}


DEFAULT_TEXT = "Look at the cluster before you go on."


class _Stop(msgspec.Struct, forbid_unknown_fields=True):
    title: str = ""
    step: str = ""
    phase: str = ""
    views: list[str] = []
    text: str = ""
    task: dict[str, Any] | None = None


def _stop(given: Any) -> _Stop:
    try:
        stop = converted(given, _Stop)
    except msgspec.ValidationError as error:
        raise CommandError("payload.invalid", f"stop: {error}", field="stop") from error
    if len(msgspec.json.encode(stop)) > TASK_BYTES:
        raise CommandError("payload.invalid", f"stop may have {TASK_BYTES:,} bytes.", field="stop")
    return stop


def _added(source: sources.Source, visitor: str, name: str, stop: _Stop) -> tuple[AuthoredLesson, str]:
    scenario, title = _text(source), source.title or "A lesson"
    head = {**to_builtins(stop), "title": " ".join(stop.title.split())[:TITLE] or "A stop"}
    text = stop.text.strip() or DEFAULT_TEXT
    if not name:
        files, key = amendments.added(folder.blank(title), scenario, head, text)
        return visitor_lessons.create(visitor, files, f"{FOLDER}{folder.slug(title)}", title), key
    row = visitor_lessons.find(name, visitor)
    if row is None:
        raise LessonError("That lesson is no longer there, or it is not yours.")
    made = ""

    def alter(files: dict[str, str]) -> folder.Files:
        nonlocal made
        after, made = amendments.added(files, scenario, head, text)
        return after

    return visitor_lessons.change(row, alter), made


def _text(source: sources.Source) -> str:
    """Return a source's text with its release, as a lesson's scenario names it. Raises LessonError."""
    text, scenario = source.text(), source.load()
    if source.scheduler:
        scenario, text = releases.written_under(scenario, text, source.scheduler)
    if len(text) > LIMITS.size:
        raise LessonError(
            f"A lesson's scenario has at most {LIMITS.size // 1024} KiB; this has {len(text) // 1024:,}."
        )
    published = texts.publishable(text, scenario)
    named = any(
        document.get("kind") == SETTINGS_KIND and document.get("scheduler") for document in scenario.documents
    )
    return published if named else texts.answered_by(published, scenario.documents, scenario.release)
