"""A lesson as a room goes through it: where each stop is, what it hides, and its question as a vote.

What a room knows of a stop is data of its row: no process needs the lesson to count votes or to hide what
is asked about.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from playground.courseware import Lesson, LessonError, Stop, bundle_of, key_of, task_of, text_of
from playground.lessons import computations, forms, lookup, receipts, stages, stop_pages
from playground.lessons.markdown import encodable, plain
from playground.pool.jobs import pool_job
from playground.pool.read_slots import reading

END = "end"
UNPUBLISHED = "This is the preview of a lesson that is being written: publish it, and teach it from its link."
SOLVED = ("edit", "claim")  # forms that each learner solves on the lesson's own page


class ClassStop(Struct, frozen=True):
    """A stop as a room shows it: its scenario, the position, and what the room keeps of it."""

    scenario: str
    position: dict[str, Any]
    lesson: dict[str, Any]


def stop(slug: str, key: str = "", revealed: Sequence[str] = ()) -> ClassStop | None:
    """Return a stop of a lesson, the first one without a key; None if there is no such one.

    ``revealed`` are the stops whose answers were shown: a question among them hides nothing any more, and an
    edit among them is made: the room shows the cluster with the solution, at its end.
    """
    found = _found(slug, key)
    if found is None:
        return None
    of, at = found
    shown = computations.kept(of, ShownStop, _shown, at.key, list(revealed))
    answered, moments = at.key in revealed, shown.moments
    where, limit = (moments.shown, moments.limit) if answered else (moments.opened, moments.veil)
    position = {"step": END if where == stages.END else str(where.cycle)}
    if where.phase:
        position["phase"] = where.phase
    if at.views:
        position["tab"] = at.views[0]
    solved = answered and bool(at.marking.solution)
    if solved:
        position = {"step": END, **({"tab": at.views[0]} if at.views else {})}
    with reading():
        scenario = stages.scenario_of(of, at, solved=solved)
    return ClassStop(scenario, position, _kept(of, at, limit, shown.text, revealed))


class ShownStop(Struct, frozen=True):
    """What of a stop is computed: its moments, and its text as HTML."""

    moments: stages.StopMoments
    text: str


@pool_job
def _shown(of: Lesson, key: str, revealed: Sequence[str]) -> ShownStop:
    at = next(one for one in of.stops if one.key == key)
    return ShownStop(stages.moments(of, at, revealed), encodable(text_of(of, at)))


def _found(slug: str, key: str) -> tuple[Lesson, Stop] | None:
    """Return a stop, the first one without a key. Raises LessonError for a lesson that is not published."""
    if lookup.is_preview(slug):  # a room tells its learners the address: it is the author's alone
        raise LessonError(UNPUBLISHED)
    of = lookup.lesson_at(slug)
    if of is None:
        return None
    at = next((one for one in of.stops if one.key == key or not key), None)
    return None if at is None else (of, at)


def _kept(
    of: Lesson, at: Stop, limit: stages.StageExtent | None, text: str, revealed: Sequence[str]
) -> dict[str, Any]:
    veil = None
    if limit is not None:
        whole = limit.phases >= stages.WHOLE
        veil = [limit.cycle, None if whole else limit.phase]
    asked = receipts.asked(of)
    return {
        "slug": of.slug,
        "title": of.title,
        "minutes": of.minutes,
        "stop": at.key,
        "stops": [[one.key, one.title, one.key in asked] for one in of.stops],
        "heading": at.title,
        "text": text,
        "revealed": list(revealed),
        "veil": veil,
        "away": False,
    }


def question(slug: str, key: str) -> dict[str, Any] | None:
    """Return the question of a stop as a room asks it, with all that marks answers; None without one."""
    found = _found(slug, key)
    if found is None:
        return None
    of, at = found
    if at.task is None or at.task.form is None:
        return None
    return computations.kept(of, dict[str, Any], _question, at.key)


def _question(of: Lesson, key: str) -> dict[str, Any]:
    at = next(one for one in of.stops if one.key == key)
    task, known = task_of(of, at), key_of(of, at)
    assert task is not None
    options = [] if task.form in SOLVED else forms.options(task, at, bundle_of(of, at))
    return {
        "kind": "lesson",
        "text": plain(task.question),
        "choices": None,
        "form": task.form,
        "stop": at.key,
        "lesson": of.slug,
        "options": [[one.key, plain(one.label), one.group] for one in options],
        "unit": task.unit,
        "truth": None if known.answer is None else _json(known.answer),
        "accepted": [_json(one) for one in known.accepted],
        "tolerance": known.tolerance,
        "leads": [[_json(answer), name] for answer, name in known.leads],
        "why": [plain(known.why)] if known.why else [],
        "hides": None,  # the stop hides what is asked about, from when the room comes to it
        "revealed": False,
    }


def solved(slug: str, key: str, receipt: str) -> bool:
    """Return whether a receipt proves that a stop was solved."""
    return receipts.read(receipt) == (slug, key)


def notes(slug: str) -> str:
    """Return the teacher's notes of a lesson as HTML, "" if it is gone."""
    try:
        of = lookup.lesson_at(slug)
    except LessonError:
        return ""
    return "" if of is None else computations.kept(of, str, stop_pages.notes)


def _json(answer: Any) -> str:
    return json.dumps(answer, separators=(",", ":"))
