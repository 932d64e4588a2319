"""What a stop shows, computed at once: moments, text and question; and the same for a variant and on paper.

Texts are HTML. Each function is computed where :mod:`playground.lessons.computations` says.
"""

from __future__ import annotations

from django.conf import settings
from django.utils import translation
from msgspec import Struct

from playground.courseware import (
    Lesson,
    LessonError,
    LessonTask,
    Stop,
    answer_of,
    bundle_of,
    in_language,
    task_of,
    text_of,
)
from playground.courseware import variant as variant_of
from playground.lessons import catalogue, computations, forms, stages
from playground.lessons.markdown import encodable, encodable_line
from playground.pool.jobs import pool_job
from playground.pool.shares import BusyError


class StopQuestion(Struct, frozen=True):
    """A task with its facts put in, and what can be answered; ``labels`` are those of ``options`` as HTML."""

    task: LessonTask
    html: str
    options: tuple[forms.Option, ...]
    labels: tuple[str, ...]
    forbidden: tuple[str, ...]


class StopPage(Struct, frozen=True):
    """A stop, or one of its variants, whose scenario is then ``bundle``."""

    moments: stages.StopMoments
    text: str
    asked: StopQuestion | None
    bundle: str = ""


class StopSheet(Struct, frozen=True):
    """A stop on paper; ``answer`` and ``sentence`` are empty on the learners' sheet."""

    title: str
    language: str
    page: StopPage
    answer: str = ""
    sentence: str = ""


@pool_job
def stop_page(of: Lesson, key: str) -> StopPage:
    """Return a stop as the player shows it. Raises LessonError."""
    at = _stop(of, key)
    said, spoken = catalogue.spoken(of, at, _current())
    task = task_of(said, spoken)
    return StopPage(
        stages.moments(of, at),
        encodable(text_of(said, spoken)),
        None if task is None else _asked(task, spoken, bundle_of(said, spoken)),
    )


@pool_job
def _pages(of: Lesson) -> dict[str, StopPage]:
    return {one.key: stop_page(of, one.key) for one in of.stops}


def render(of: Lesson) -> None:
    """Render a visitor's lesson in each language and keep it, so that no view of it has to.

    What cannot be rendered now is when it is viewed, which says why not.
    """
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            try:
                made = computations.computed(of, _pages)
            except (LessonError, BusyError):
                return
            for key, page in made.items():
                computations.keep(of, page, stop_page, key)


def variant_page(of: Lesson, key: str, seed: int) -> StopPage | None:
    """Return a stop's question about other numbers; None where it has no variants. Raises LessonError."""
    at = _stop(of, key)
    said, spoken = catalogue.spoken(of, at, _current())
    drawn = variant_of(said, spoken, seed)
    if drawn is None:
        return None
    moments = stages.moments_of_variant(at, drawn.bundle)
    return StopPage(moments, "", _asked(drawn.task, spoken, drawn.bundle), drawn.bundle)


def sheets(of: Lesson, answers: bool) -> list[StopSheet]:
    """Return all stops on paper, with their answers for the teacher. Raises LessonError."""
    return [_sheet(of, at, answers=answers) for at in of.stops]


def _sheet(of: Lesson, at: Stop, *, answers: bool) -> StopSheet:
    said, spoken = catalogue.spoken(of, at, _current())
    asks = spoken.task is not None and spoken.task.form is not None
    answer, sentence = answer_of(said, spoken) if asks and answers else ("", "")
    page = stop_page(of, at.key)
    return StopSheet(spoken.title, spoken.language, page, encodable_line(answer), encodable_line(sentence))


def notes(of: Lesson) -> str:
    """Return a lesson's notes for the teacher."""
    return encodable(in_language(of, _current()).notes)


def _current() -> str:
    return translation.get_language() or settings.LANGUAGE_CODE


def _stop(of: Lesson, key: str) -> Stop:
    return next(one for one in of.stops if one.key == key)


def _asked(task: LessonTask, stop: Stop, bundle: str) -> StopQuestion:
    options = forms.options(task, stop, bundle)
    labels = tuple(encodable_line(one.label) for one in options)
    return StopQuestion(task, encodable(task.question), tuple(options), labels, tuple(forms.forbidden(stop)))
