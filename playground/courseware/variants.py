"""The same question about other numbers: parameters of a lesson's scenario, drawn from a seed."""

from __future__ import annotations

from playground.courseware.checks import StopQuestion
from playground.courseware.draws import draws
from playground.courseware.expression import FactError
from playground.courseware.model import Lesson, LessonError, Stop

DRAWS = 12
"""Draws of a seed until the question has an answer: with other numbers a cycle may be missing."""


def has_variants(lesson: Lesson, stop: Stop) -> bool:
    """Return whether a stop asks for a prediction, or to find something, in a scenario with parameters."""
    asks = stop.task is not None and stop.task.kind in ("predict", "find")
    return asks and any(parameter.scenario == stop.scenario for parameter in lesson.parameters)


def drawn(lesson: Lesson, stop: Stop, seed: int | str) -> StopQuestion | None:
    """Return the question with other numbers; the same for the same seed. None without variants."""
    if not has_variants(lesson, stop):
        return None
    for bundle in draws(lesson, stop.scenario, f"{stop.key}/{seed}", DRAWS):
        asked = StopQuestion(lesson, stop, bundle)
        try:
            asked.filled(stop.task.question if stop.task else "", question=True)
            if asked.truth() in ("", []) and stop.task and stop.task.kind == "find":
                continue  # with these numbers there is nothing to be found
            asked.why()
            if stop.task and stop.task.form == "node" and len(asked.play.cycles[asked.index - 1].ties) > 1:
                continue  # which of several equal nodes is taken teaches nothing
        except (FactError, LessonError):
            continue
        return asked
    return None
