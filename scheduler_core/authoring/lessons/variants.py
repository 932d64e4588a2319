"""The same question about other numbers: parameters of a lesson's scenario, drawn from a seed."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from typing import Any

from scheduler_core.authoring.lessons import edits
from scheduler_core.authoring.lessons.checking import StopQuestion
from scheduler_core.authoring.lessons.expression import FactError
from scheduler_core.authoring.lessons.model import Lesson, LessonError, Parameter, Stop
from scheduler_core.formats.yaml_writer import write_yaml

DRAWS = 12
"""Draws of a seed until the question has an answer: with other numbers a cycle may be missing."""
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def has_variants(lesson: Lesson, stop: Stop) -> bool:
    """Return whether a stop asks for a prediction, or to find something, in a scenario with parameters."""
    asks = stop.task is not None and stop.task.kind in ("predict", "find")
    return asks and any(parameter.scenario == stop.scenario for parameter in lesson.parameters)


def drawn(lesson: Lesson, stop: Stop, seed: int | str) -> StopQuestion | None:
    """Return the question with other numbers; the same for the same seed. None without variants."""
    if not has_variants(lesson, stop):
        return None
    for bundle in _bundles(lesson, stop, seed):
        asked = StopQuestion(lesson, stop, bundle)
        try:
            asked.filled(stop.task.question if stop.task else "", question=True)
            asked.truth()
            asked.why()
            if stop.task and stop.task.form == "node" and len(asked.play.cycles[asked.index - 1].ties) > 1:
                continue  # which of several equal nodes is taken teaches nothing
        except (FactError, LessonError):
            continue
        return asked
    return None


def _bundles(lesson: Lesson, stop: Stop, seed: int | str) -> Iterator[str]:
    chance = random.Random(f"{lesson.slug}/{stop.key}/{seed}")  # noqa: S311
    base = edits.documents(lesson.file(stop.scenario))
    for _ in range(DRAWS):
        made: dict[str, Any] = copy.deepcopy(dict(base))
        for parameter in lesson.parameters:
            if parameter.scenario == stop.scenario:
                put(made, parameter, chance.choice(parameter.values))
        yield write_yaml(made.values())


def put(documents: dict[str, Any], parameter: Parameter, value: Any) -> None:
    """Set a parameter's field. Raises LessonError if the scenario has no such field."""
    found = documents.get(parameter.object)
    path = [name or int(index) for name, index in _STEP.findall(parameter.field)]
    for step in path[:-1]:
        found = _inside(found, step)
    if not path or _inside(found, path[-1]) is None:
        raise LessonError(f"{parameter.object} has no {parameter.field}")
    assert found is not None
    found[path[-1]] = value


def _inside(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else None
    return value.get(step) if isinstance(value, dict) else None
