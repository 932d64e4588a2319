"""Other numbers for a lesson's scenario: values of its parameters, drawn from a seed."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from typing import Any

from playground.courseware import edits
from playground.courseware.model import Lesson, LessonError, Parameter
from scheduler_core.formats.yaml_writer import write_yaml

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def draws(lesson: Lesson, scenario: str, seed: str, count: int) -> Iterator[str]:
    """Yield bundles of a scenario with drawn values, the same for the same seed."""
    chance = random.Random(f"{lesson.slug}/{seed}")  # noqa: S311
    base = edits.documents(lesson.file(scenario))
    for _ in range(count):
        made: dict[str, Any] = copy.deepcopy(dict(base))
        for parameter in lesson.parameters:
            if parameter.scenario == scenario:
                put(made, parameter, chance.choice(parameter.values))
        yield write_yaml(made.values())


def variants_of(lesson: Lesson, scenario: str, count: int) -> tuple[str, ...]:
    """Return some bundles of a scenario with other numbers, none if it has no parameters."""
    if all(parameter.scenario != scenario for parameter in lesson.parameters):
        return ()
    return tuple(dict.fromkeys(draws(lesson, scenario, scenario, count)))


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
