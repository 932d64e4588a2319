"""Wrong answers to the lessons that are shipped: what they are met with keeps the right one back."""

from __future__ import annotations

import re
from typing import Any

import pytest

from playground.courseware import Lesson, Stop, check, lesson, lessons
from playground.courseware.checks import StopQuestion, solution_of
from playground.courseware.edits import merged
from tests.core.lessons.data import wrong_answers


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.,-]){re.escape(word)}(?![\w-]|[.,]\w)", text) is not None


def reported(stop: Stop, truth: Any, given: Any, sentence: str) -> list[str]:
    """Return what of the right answer a sentence tells."""
    assert stop.task is not None
    right, named = (one if isinstance(one, list) else [one] for one in (truth, given))
    match stop.task.form:
        case "node" | "nodes" | "pods":
            return [name for name in right if name and name not in named and _has(sentence, name)]
        case "number":
            return [text for text in (f"{truth:,}", str(truth)) if _has(sentence, text)]
        case "reason" | "choice":
            label = next(one.label for one in stop.task.choices if one.key == truth)
            return [text for text in (truth, label) if _has(sentence, text)]
        case "cell":
            return [one for one in right if all(_has(sentence, part) for part in one.split("/", 1))]
        case "event":
            return [one for one in right if all(_has(sentence, part) for part in one.split(" ", 1))]
        case "order":
            return right if all(_has(sentence, name) for name in right) else []
        case _:
            return []


def _refuse_edits(of: Lesson, stop: Stop) -> None:
    for name in stop.marking.wrong:
        said = check(of, stop, merged(of.file(stop.scenario), of.file(name))).sentence
        assert not [one for one in solution_of(of, stop) if one in said], said
    if stop.marking.flawed:
        assert stop.marking.accept not in check(of, stop, "count(pending()) >= 0").sentence


@pytest.mark.parametrize("of", [pytest.param(one, id=one.slug) for one in lessons()])
def test_a_wrong_answer_keeps_the_right_one_back(of: Lesson) -> None:
    """Neither it, nor what makes it right, nor a solution, is in the sentence, and there is one."""
    for stop in of.stops:
        if stop.task is None or stop.task.form is None:
            continue
        if stop.task.form in ("edit", "claim"):
            _refuse_edits(of, stop)
            continue
        asked = StopQuestion(of, stop)
        truth = asked.truth()
        for given in wrong_answers(asked, truth):
            verdict = check(of, stop, given)
            assert not verdict.right
            assert verdict.sentence, f"{stop.key}: {given!r} is met with silence"
            assert not reported(stop, truth, given, verdict.sentence), (
                f"{stop.key}, {given!r}: {verdict.sentence}"
            )
            if stop.marking.why:
                assert asked.why() not in verdict.sentence, f"{stop.key}, {given!r}: {verdict.sentence}"


def sentence(slug: str, key: str, given: Any) -> str:
    """Return what an answer is met with."""
    of = lesson(slug)
    assert of is not None
    return check(of, next(stop for stop in of.stops if stop.key == key), given).sentence


@pytest.mark.parametrize(
    ("slug", "key", "given", "said"),
    [
        (
            "a-node-fails",
            "noticed",
            60,
            "The record has a larger number. A common misconception, and wrong: *A node that",
        ),
        ("a-node-fails", "noticed", 9000, "The record has a smaller number."),
        ("first-cycle", "feasible", ["n1"], "n1 is refused by NodeResourcesFit"),
        ("first-cycle", "feasible", [], "There is something to name."),
        ("first-cycle", "feasible", ["n2"], "Something is missing."),
        ("permits-and-denials", "denied", "room", "That is true, and it is not what decides here."),
    ],
)
def test_a_wrong_answer_is_met_with_how_it_differs(slug: str, key: str, given: Any, said: str) -> None:
    """What the engine says of it, or which way it is off, or what leads there."""
    assert sentence(slug, key, given).startswith(said)
