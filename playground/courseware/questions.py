"""What a player of lessons asks: texts with their facts, hints, verdicts and variants."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from playground.courseware import edits, sentences
from playground.courseware.checks import StopQuestion, judge, par_of, solution_of
from playground.courseware.expression import FactError
from playground.courseware.model import (
    AnswerKey,
    AnswerVerdict,
    Choice,
    Lesson,
    LessonError,
    LessonTask,
    Stop,
    Variant,
)
from playground.courseware.prose import LANGUAGES, shown
from playground.courseware.variants import drawn


def hides(stop: Stop) -> bool:
    """Return whether a stop's text may tell no more than its moment shows."""
    return stop.task is not None and stop.task.kind == "predict"


@lru_cache(maxsize=512)
def text_of(lesson: Lesson, stop: Stop) -> str:
    """Return a stop's text with its facts put in; it never tells the answer of the stop's own task.

    Raises LessonError if a fact cannot be computed.
    """
    try:
        return StopQuestion(lesson, stop).filled(stop.text, question=hides(stop))
    except FactError as error:
        raise LessonError(f"{lesson.slug}/{stop.key}: {error}") from None


def bundle_of(lesson: Lesson, stop: Stop) -> str:
    """Return the text of a stop's scenario."""
    return lesson.file(stop.scenario)


def task_of(lesson: Lesson, stop: Stop, seed: int | str | None = None) -> LessonTask | None:
    """Return a stop's task with its facts put in, that of a variant for a seed; None without one."""
    if stop.task is None:
        return None
    return _task(lesson, stop, _asked(lesson, stop, seed))


@lru_cache(maxsize=512)
def _own(lesson: Lesson, stop: Stop) -> StopQuestion:
    return StopQuestion(lesson, stop)


def _asked(lesson: Lesson, stop: Stop, seed: int | str | None) -> StopQuestion:
    varied = None if seed is None else drawn(lesson, stop, seed)
    if seed is not None and varied is None:
        raise LessonError(f"{stop.key} has no variants")
    return varied or _own(lesson, stop)


def _task(lesson: Lesson, stop: Stop, asked: StopQuestion) -> LessonTask:
    task = stop.task
    assert task is not None
    try:
        question = asked.filled(task.question, question=True)
        choices = tuple(Choice(one.key, asked.filled(one.label)) for one in task.choices)
    except FactError as error:
        raise LessonError(f"{lesson.slug}/{stop.key}: {error}") from None
    return replace(task, question=question, choices=choices, par=par_of(lesson, stop))


def hint(lesson: Lesson, stop: Stop, number: int, seed: int | str | None = None) -> str:
    """Return hint 1 (where to look), 2 (the rule) or 3 (the computed fact). Raises LessonError."""
    hints = stop.marking.hints
    if not hints or isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 3:
        raise LessonError(f"{stop.key} has {'hints 1 to 3' if hints else 'no hints'}")
    asked = _asked(lesson, stop, seed)
    try:
        if number <= len(hints):
            return asked.filled(hints[number - 1])
        return _computed(asked)
    except FactError as error:
        raise LessonError(f"{lesson.slug}/{stop.key}: {error}") from None


def _computed(asked: StopQuestion) -> str:
    """Return the engine's fact behind an answer: what makes it right, or what an edit has to change."""
    task = asked.stop.task
    assert task is not None
    if task.form == "edit":
        words = LANGUAGES[asked.stop.language]
        return words.solution.format(f" {words.both} ".join(solution_of(asked.lesson, asked.stop)))
    if asked.stop.marking.why:
        return asked.why()
    if task.form == "node":
        return sentences.about_pod(asked.play, asked.pod, asked.index)
    return shown(asked.truth(), asked.stop.language)


def check(
    lesson: Lesson, stop: Stop, answer: Any, sure: bool | None = None, seed: int | str | None = None
) -> AnswerVerdict:
    """Return the verdict on an answer: JSON, or the edited bundle's text.

    ``sure`` is whether the learner was, ``seed`` the variant that was answered. Raises LessonError for an
    answer of the wrong shape.
    """
    try:
        return judge(_asked(lesson, stop, seed), answer, sure)
    except FactError as error:
        raise LessonError(f"{lesson.slug}/{stop.key}: {error}") from None


@lru_cache(maxsize=512)
def answer_of(lesson: Lesson, stop: Stop) -> tuple[str, str]:
    """Return the right answer of a stop's task as a line of Markdown, and the engine's sentence for it.

    Of an edit it is what the solution changes, of a claim the one that the lesson knows. Raises LessonError.
    """
    asked, task = _own(lesson, stop), stop.task
    if task is None or task.form is None:
        raise LessonError(f"{stop.key} asks nothing")
    try:
        if task.form == "edit":
            whole = edits.merged(bundle_of(lesson, stop), lesson.file(stop.marking.solution))
            return "; ".join(solution_of(lesson, stop)), judge(asked, whole, sure=True).sentence
        if task.form == "claim":
            return f"`{stop.marking.accept}`", ""
        truth = asked.truth()
        one = truth[0] if task.kind == "find" and isinstance(truth, list) and task.form != "pods" else truth
        labels = {choice.key: choice.label for choice in _task(lesson, stop, asked).choices}
        words = labels.get(truth, "") if isinstance(truth, str) else ""
        return words or shown(truth, stop.language), judge(asked, one, sure=True).sentence
    except FactError as error:
        raise LessonError(f"{lesson.slug}/{stop.key}: {error}") from None


@lru_cache(maxsize=512)
def key_of(lesson: Lesson, stop: Stop) -> AnswerKey:
    """Return what marks many answers at once, without a sentence for each. Raises LessonError.

    An edit or a claim has no key but its sentence: each is computed.
    """
    asked, task = _own(lesson, stop), stop.task
    if task is None or task.form is None:
        raise LessonError(f"{stop.key} asks nothing")
    if task.form in ("edit", "claim"):
        return AnswerKey(why=answer_of(lesson, stop)[1])
    try:
        truth = asked.truth()
        any_of = task.kind == "find" and task.form != "pods" and isinstance(truth, list)
        return AnswerKey(
            answer=truth[0] if any_of else truth,
            accepted=tuple(truth) if any_of else (truth,),
            tolerance=stop.marking.tolerance,
            leads=tuple(asked.misleading()),
            why=answer_of(lesson, stop)[1],
        )
    except FactError as error:
        raise LessonError(f"{lesson.slug}/{stop.key}: {error}") from None


def variant(lesson: Lesson, stop: Stop, seed: int | str) -> Variant | None:
    """Return a stop's question about other numbers, the same for a seed; None where a stop has none."""
    asked = drawn(lesson, stop, seed)
    return None if asked is None else Variant(asked.bundle, _task(lesson, stop, asked))
