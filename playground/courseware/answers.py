"""The forms of answers: how a learner's is read, and how it is compared with the engine's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from playground.courseware.expression import LONGEST
from playground.courseware.model import LessonError, LessonTask, Stop
from playground.courseware.playthrough import LIMITS, PlayedScenario

NAME = 600  # characters
NAMES = 200


def _node(answer: Any, _: LessonTask, play: PlayedScenario) -> str:
    if answer is None or answer == "":
        return ""
    return play.node(_name(answer, "a node's name, or an empty text for none"))


def _name(answer: Any, what: str) -> str:
    if not isinstance(answer, str) or len(answer) > NAME:
        raise LessonError(f"the answer is {what}")
    return answer.strip()


def _names(answer: Any, what: str) -> list[str]:
    listed = [answer] if isinstance(answer, str) else answer
    if not isinstance(listed, list) or len(listed) > NAMES:
        raise LessonError(f"the answer is a list of {what}, {NAMES} at most")
    return [_name(name, f"a list of {what}") for name in listed if name != ""]


def _pods(answer: Any, _: LessonTask, play: PlayedScenario) -> list[str]:
    return sorted({play.pod(name).removeprefix("default/") for name in _names(answer, "pods")})


def _nodes(answer: Any, _: LessonTask, play: PlayedScenario) -> list[str]:
    return sorted({play.node(name) for name in _names(answer, "nodes")})


def _order(answer: Any, _: LessonTask, __: PlayedScenario) -> list[str]:
    return [name.removeprefix("default/") for name in _names(answer, "names in order")]


def _number(answer: Any, _: LessonTask, __: PlayedScenario) -> int | float:
    if isinstance(answer, str):
        try:
            answer = float(answer.strip().replace(",", "")[:40])
        except ValueError:
            answer = None
    if isinstance(answer, bool) or not isinstance(answer, (int, float)) or not math.isfinite(answer):
        raise LessonError("the answer is a number")
    return int(answer) if answer == int(answer) else answer


def _yesno(answer: Any, _: LessonTask, __: PlayedScenario) -> bool:
    known = {"yes": True, "no": False, True: True, False: False}
    if not isinstance(answer, (bool, str)) or answer not in known:
        raise LessonError('the answer is "yes" or "no"')
    return known[answer]


def _choice(answer: Any, task: LessonTask, _: PlayedScenario) -> str:
    keys = [choice.key for choice in task.choices]
    if not isinstance(answer, str) or answer not in keys:
        raise LessonError(f"the answer is one of {', '.join(keys)}")
    return answer


def _cell(answer: Any, _: LessonTask, play: PlayedScenario) -> str:
    node, found, rule = _name(answer, 'a cell, such as "n1/NodeAffinity"').partition("/")
    if not found:
        raise LessonError('the answer is a cell, such as "n1/NodeAffinity"')
    return f"{play.node(node)}/{rule}"


def _event(answer: Any, _: LessonTask, __: PlayedScenario) -> str:
    reason, found, pod = _name(answer, 'an event, such as "FailedScheduling web"').partition(" ")
    if not found:
        raise LessonError('the answer is an event, such as "FailedScheduling web"')
    return f"{reason} {pod.removeprefix('default/')}"


def _edit(answer: Any, _: LessonTask, __: PlayedScenario) -> str:
    if not isinstance(answer, str) or len(answer) > LIMITS.size:
        raise LessonError(f"the answer is the text of the bundle, {LIMITS.size // 1024} KiB at most")
    return answer


def _claim(answer: Any, _: LessonTask, __: PlayedScenario) -> str:
    if not isinstance(answer, str) or len(answer) > LONGEST:
        raise LessonError(f"the answer is an expression of at most {LONGEST} characters")
    return answer


READ: Mapping[str, Callable[[Any, LessonTask, PlayedScenario], Any]] = {
    "node": _node, "pods": _pods, "nodes": _nodes, "order": _order, "number": _number, "reason": _choice,
    "yesno": _yesno, "choice": _choice, "cell": _cell, "event": _event, "edit": _edit, "claim": _claim,
}  # fmt: skip
"""By form, the function that reads an answer. Raises LessonError with what is right."""


def read(stop: Stop, answer: Any, play: PlayedScenario) -> Any:
    """Return an answer as it is compared. Raises LessonError."""
    if stop.task is None or stop.task.form is None:
        raise LessonError(f"{stop.key} asks nothing")
    return READ[stop.task.form](answer, stop.task, play)


def same(stop: Stop, given: Any, truth: Any) -> bool:
    """Return whether an answer is right; of a find task any item of a list is."""
    if (
        stop.task is not None
        and stop.task.kind == "find"
        and isinstance(truth, list)
        and not isinstance(given, list)
    ):
        return given in truth
    if stop.task is not None and stop.task.form == "number":
        return bool(abs(given - truth) <= stop.marking.tolerance)
    return bool(given == truth)
