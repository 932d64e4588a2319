"""Verdicts on answers: small ones in the request's thread, edited clusters in the pool, all within bounds."""

from __future__ import annotations

from typing import Any

from django.utils import translation
from django.utils.translation import gettext

from playground.courseware import AnswerVerdict, Lesson, LessonError, Stop, check
from playground.courseware.language import spoken_by
from playground.lessons import computations, lookup
from playground.pool.jobs import pool_job
from playground.visitors import identity

EDIT_FORMS = ("edit", "claim")  # whose answers are computed each time
EDIT_BYTES = 256 * 1024
TEXT = 600  # characters of any other text: a pod's key
TEXTS = 500  # of a list


def judged(lesson: Lesson, stop: Stop, answer: Any, sure: bool | None, seed: int | None) -> AnswerVerdict:
    """Return the verdict on an answer. Raises LessonError for one of the wrong shape, and BusyError."""
    assert stop.task is not None
    edits = stop.task.form in EDIT_FORMS
    _bounded(answer, EDIT_BYTES if edits else TEXT)
    visitor = _asker(lesson)
    return computations.computed(lesson, _checked, stop, answer, sure, seed, visitor=visitor, apart=edits)


def _asker(lesson: Lesson) -> str:
    """Return whose job an answer is: of a published lesson the learner's, of a preview the author's ("")."""
    return "" if lookup.is_preview(lesson.slug) else identity.asker()


@pool_job
def _checked(lesson: Lesson, stop: Stop, answer: Any, sure: bool | None, seed: int | None) -> AnswerVerdict:
    """Return the verdict, in the stop's language but for what the engine says."""
    with translation.override(stop.language), spoken_by(gettext):
        return check(lesson, stop, answer, sure, seed)


def _bounded(answer: Any, longest: int) -> None:
    """Refuse what no form can send. Raises LessonError."""
    texts = answer if isinstance(answer, list) else [answer]
    if len(texts) > TEXTS:
        raise LessonError(f"A list has at most {TEXTS} items.")
    for one in texts:
        if isinstance(one, str) and len(one.encode(errors="surrogatepass")) > longest:
            raise LessonError(f"A text has at most {longest:,} bytes.")
        if not isinstance(one, str | int | float):
            raise LessonError("An answer is a text, a number, true or false, or a list of texts.")
        if isinstance(one, str) and "\0" in one:
            raise LessonError("A text has no NUL.")
