"""Whether a lesson keeps its promises: facts are computed, answers checked, nothing shown too early."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.courseware import answers, edits
from playground.courseware.checks import StopQuestion
from playground.courseware.draws import put
from playground.courseware.expression import FactError, NotYetKnownError, called
from playground.courseware.facts import WORKED_OUT, at_question, value
from playground.courseware.model import Lesson, LessonError, Stop
from playground.courseware.playthrough import PAGE_SECONDS, in_time
from playground.courseware.prose import facts_in, shown
from playground.courseware.questions import check, hides, hint, task_of, text_of, variant
from playground.courseware.variants import has_variants
from scheduler_core.kubernetes.problems import Problem

SEEDS = (1, 2, 3)


def problems_of(lesson: Lesson) -> list[Problem]:
    """Return what is wrong with a lesson that was read, by playing its scenarios and answering its tasks."""
    found = [
        Problem(message, path, file=_file(lesson, stop))
        for stop in lesson.stops
        for path, message in _findings(lesson, stop)
    ]
    head = f"{lesson.number:02}-{lesson.slug}/lesson.yaml"
    return found + [Problem(message, file=head) for message in _of_the_lesson(lesson)]


def _file(lesson: Lesson, stop: Stop) -> str:
    return f"{lesson.number:02}-{lesson.slug}/stops/{lesson.stops.index(stop) + 1:02}-{stop.key}.md"


def _of_the_lesson(lesson: Lesson) -> Iterator[str]:
    used = {
        name
        for stop in lesson.stops
        for name in (stop.scenario, stop.marking.solution, *stop.marking.wrong, *stop.marking.flawed)
    }
    bound = " ".join(_everything(lesson))
    for name, _ in lesson.files:
        if name not in used and f'"{name}"' not in bound:
            yield f"no stop uses {name}"
    for parameter in lesson.parameters:
        try:
            put(dict(edits.documents(lesson.file(parameter.scenario))), parameter, parameter.values[0])
        except LessonError as error:
            yield str(error)


def _everything(lesson: Lesson) -> Iterator[str]:
    for stop in lesson.stops:
        yield from (
            stop.text,
            stop.marking.answer,
            stop.marking.accept,
            stop.marking.why,
            *stop.marking.hints,
        )
        yield from (one.label for one in (stop.task.choices if stop.task else ()))


def _findings(lesson: Lesson, stop: Stop) -> Iterator[tuple[str, str]]:
    """Yield the field, as ``task.answer``, and what is wrong with it."""
    asked = StopQuestion(lesson, stop)
    try:
        if stop.step:
            at_question(asked.moment).cycle(stop.step)
    except (FactError, LessonError) as error:
        yield "step", str(error)
        return
    try:
        with in_time(PAGE_SECONDS / 2):
            text_of(lesson, stop)
    except (FactError, LessonError) as error:
        yield "", _of_the_text(asked) or str(error)
        return
    if stop.task is None or stop.task.form is None:
        return
    for part, path in _PARTS:
        try:
            for message in part(asked):
                yield path, message
        except (FactError, LessonError) as error:
            yield path, str(error)


def _of_the_text(asked: StopQuestion) -> str:
    """Return the first fact of a text that cannot be computed, and why."""
    moment = at_question(asked.moment) if hides(asked.stop) else asked.moment
    with in_time(PAGE_SECONDS / 2):
        for text in facts_in(asked.stop.text):
            try:
                shown(value(text, moment))
            except FactError as error:
                return f"{{{{ {text} }}}}: {error}"
    return ""


def _of_the_question(asked: StopQuestion) -> Iterator[str]:
    """Check question, choices and hints; a prediction's answer is not shown where it is asked."""
    lesson, stop = asked.lesson, asked.stop
    assert stop.task is not None
    with in_time(PAGE_SECONDS / 2):
        task_of(lesson, stop)
    for number in range(1, stop.task.hints + 1):
        if not hint(lesson, stop, number).strip():
            yield f"hint {number} is empty"
    if not hides(stop):
        return
    answer = stop.marking.answer
    if not set(called(answer)) <= WORKED_OUT:
        try:
            value(answer, at_question(asked.moment))
        except NotYetKnownError:
            pass
        else:
            yield "the stop shows the answer of its own question: choose an earlier phase or step"
    visible = {
        text: value(text, at_question(asked.moment)) for text in facts_in(f"{stop.text} {stop.task.question}")
    }
    truth = asked.truth()
    for text, fact in visible.items():
        if text == answer or (not isinstance(fact, bool) and fact == truth and truth not in ("", 0, [])):
            yield f"{{{{ {text} }}}} tells the answer"


def _of_the_answer(asked: StopQuestion) -> Iterator[str]:
    lesson, stop = asked.lesson, asked.stop
    assert stop.task is not None
    if stop.task.form == "edit":
        yield from _of_the_edits(asked)
    elif stop.task.form == "claim":
        verdict = check(lesson, stop, stop.marking.accept)
        if not verdict.right:
            yield f"accept is no contract: {verdict.sentence}"
    else:
        for one, holds in zip(stop.task.choices, stop.marking.holds):
            if holds and asked.fact(holds) is not True:
                yield f"choice {one.key} is not true: {holds}"
        verdict = check(lesson, stop, first(asked.truth(), stop))
        if not verdict.right:
            yield "its own answer is refused"
        if not verdict.sentence:
            yield "the right answer is met with no sentence: write why"


def first(truth: Any, stop: Stop) -> Any:
    """Return an answer that is right: of a find task's several the first."""
    assert stop.task is not None
    return (
        truth[0]
        if stop.task.kind == "find"
        and stop.task.form in ("cell", "node", "event")
        and isinstance(truth, list)
        else truth
    )


def _of_the_edits(asked: StopQuestion) -> Iterator[str]:
    lesson, stop = asked.lesson, asked.stop
    base = lesson.file(stop.scenario)
    if check(lesson, stop, base).right:
        yield "the scenario is accepted as it is: there is nothing to do"
    solved = check(lesson, stop, edits.merged(base, lesson.file(stop.marking.solution)))
    if not solved.right:
        yield f"the solution is refused: {solved.sentence}"
    for name in stop.marking.wrong:
        verdict = check(lesson, stop, edits.merged(base, lesson.file(name)))
        if verdict.right:
            yield f"{name} is accepted"
        if not verdict.sentence:
            yield f"{name} is refused without a sentence"


def _of_the_distractors(asked: StopQuestion) -> Iterator[str]:
    truth = None
    for distractor in asked.stop.marking.distractors:
        truth = asked.truth() if truth is None else truth
        wrong = answers.read(asked.stop, asked.fact(distractor.answer), asked.play)
        if answers.same(asked.stop, wrong, truth):
            if asked.stop.task and asked.stop.task.choices:
                continue  # each choice but the right one leads somewhere; in a variant another is right
            yield f"the distractor {distractor.answer} is the answer"


def _of_the_variants(asked: StopQuestion) -> Iterator[str]:
    lesson, stop = asked.lesson, asked.stop
    if not has_variants(lesson, stop):
        return
    made = [variant(lesson, stop, seed) for seed in SEEDS]
    if None in made:
        yield "a variant has no answer: choose values that leave the question one"


_PARTS = (
    (_of_the_question, "task.question"),
    (_of_the_answer, "task.answer"),
    (_of_the_distractors, "task.distractors"),
    (_of_the_variants, "task.answer"),
)
"""What is checked of a task, with the field that a finding is about."""
