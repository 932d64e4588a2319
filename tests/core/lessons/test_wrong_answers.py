"""Wrong answers to the lessons that are shipped: what they are met with keeps the right one back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from scheduler_core.authoring.lessons import Lesson, Stop, check, lesson, lessons
from scheduler_core.authoring.lessons.checking import StopQuestion, solution_of
from scheduler_core.authoring.lessons.edits import merged

MOST = 8  # wrong answers of one question


def _names(known: list[str], right: list[str]) -> Iterator[list[str]]:
    """Yield sets of names: none, one too few, one too many, all of the others."""
    others = [name for name in known if name not in right]
    yield from ([], right[1:], [*right, *others[:1]], others, others[:1], right[:1])


def _cells(asked: StopQuestion, right: list[str]) -> Iterator[str]:
    """Yield the cells of a right answer's node, and of its rule on the other nodes."""
    cycle = asked.play.cycles[asked.index - 1]
    node, _, rule = right[0].partition("/")
    order = cycle.matrix.order if cycle.matrix is not None else cycle.order
    yield from (f"{node}/{one}" for one in order)
    yield from (f"{one}/{rule}" for one in cycle.nodes)


def wrong_answers(asked: StopQuestion, truth: Any) -> list[Any]:
    """Return answers that are not right, of the form that the question has."""
    task, play = asked.stop.task, asked.play
    assert task is not None
    right = truth if isinstance(truth, list) else [truth]
    found: list[Any]
    match task.form:
        case "node":
            found = [*play.node_names, ""]
        case "nodes":
            found = [sorted(one) for one in _names(list(play.node_names), right)]
        case "pods":
            known = [pod.removeprefix("default/") for pod in play.pods]
            found = [sorted(one) for one in _names(known, right)]
        case "order":
            found = [right[::-1], [*right[1:], right[0]], [right[0], *right[:0:-1]]]
        case "number":
            far = asked.stop.marking.tolerance + 1
            found = [truth + far, truth - far, truth * 7 + 1000]
        case "yesno":
            found = [not truth]
        case "reason" | "choice":
            found = [choice.key for choice in task.choices]
        case "cell":
            found = list(_cells(asked, right))
        case "event":
            cycles = [asked.play.cycles[asked.index - 1]]
            found = [f"{e.reason} {e.object.rpartition('/')[2]}" for cycle in cycles for e in cycle.events]
        case _:
            found = []
    several = task.kind == "find" and task.form != "pods"
    return [one for one in found if (one not in right if several else one != truth)][:MOST]


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.,-]){re.escape(word)}(?![\w-]|[.,]\w)", text) is not None


def told(stop: Stop, truth: Any, given: Any, sentence: str) -> list[str]:
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
            assert not told(stop, truth, given, verdict.sentence), (
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
        ("a-node-fails", "noticed", 60, "The record has a larger number. A common mistake: *A node that"),
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
