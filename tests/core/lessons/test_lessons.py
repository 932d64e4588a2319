"""The lessons that are shipped: each is validated, played and answered."""

from __future__ import annotations

import json
import re
import time
from importlib.resources import files
from pathlib import Path

import pytest

from playground.courseware import (
    Lesson,
    check,
    glossary,
    lesson,
    lessons,
    misconceptions,
    tracks,
    variant,
)
from playground.courseware.checks import StopQuestion
from playground.courseware.validation import SEEDS, problems_of
from playground.courseware.variants import drawn

SECONDS = 20.0  # of processor time for one lesson
ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text())
LESSONS = [pytest.param(one, id=one.slug) for one in lessons()]


@pytest.mark.parametrize("one", LESSONS)
def test_a_lesson_keeps_its_promises(one: Lesson) -> None:
    """Facts are computed, right answers accepted, wrong edits refused, nothing shown early, in time."""
    began = time.process_time()
    assert [f"{problem.file}: {problem.message}" for problem in problems_of(one)] == []
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("one", LESSONS)
def test_the_engine_answers_as_the_text_says(one: Lesson) -> None:
    """The right answers, which are computed, are those for which the lesson was written."""
    asked = [stop for stop in one.stops if stop.task is not None and stop.key in ANSWERS[one.slug]]
    assert {stop.key: StopQuestion(one, stop).truth() for stop in asked} == ANSWERS[one.slug]


@pytest.mark.parametrize("one", LESSONS)
def test_a_lesson_looks_predicts_and_asks_why(one: Lesson) -> None:
    """Three to six stops, at least one of them with a prediction, and a question in every task."""
    assert 3 <= len(one.stops) <= 6
    kinds = [stop.task.kind for stop in one.stops if stop.task is not None]
    assert {"predict", "find"} & set(kinds)
    assert all(stop.task.question for stop in one.stops if stop.task is not None and stop.task.kind != "look")


@pytest.mark.parametrize("one", LESSONS)
def test_variants_are_answered_again(one: Lesson) -> None:
    """A seed always gives the same numbers, and the right answer is computed from them."""
    for stop in one.stops:
        for seed in SEEDS:
            made = variant(one, stop, seed)
            if made is None:
                continue
            assert made == variant(one, stop, seed)
            asked = drawn(one, stop, seed)
            assert asked is not None
            truth = asked.truth()
            answer = truth[0] if made.task.kind == "find" and isinstance(truth, list) else truth
            assert check(one, stop, answer, seed=seed).right


def test_lessons_are_in_order_and_lead_back() -> None:
    """Each number and slug is there once; prerequisites come before."""
    assert [one.number for one in lessons()] == sorted({one.number for one in lessons()})
    place = {one.slug: one.number for one in lessons()}
    assert len(place) == len(lessons())
    for one in lessons():
        assert all(place[slug] < one.number for slug in one.prerequisites), one.slug
        assert lesson(one.slug) is one


def test_shared_words_are_used_and_few() -> None:
    """Every track, term and misconception belongs to some lesson: what none uses is not kept."""
    folder = files("playground.courseware")
    assert {name for one in lessons() for name in one.tracks} <= set(tracks())
    assert {name for one in lessons() for name in one.terms} == set(glossary())
    used = {row.misconception for one in lessons() for stop in one.stops for row in stop.marking.distractors}
    assert used == set(misconceptions())
    for name in ("terms", "misconceptions"):
        keys = re.findall(r"^([^#\s][^:]*):", folder.joinpath(f"{name}.yaml").read_text(), re.MULTILINE)
        assert keys == sorted(keys), f"{name}.yaml is in alphabetical order"


def test_answers_are_rated_for_review() -> None:
    """A right guess is to be asked again sooner than what was known; a wrong answer at once."""
    first = lesson("first-cycle")
    assert first is not None
    stop = next(stop for stop in first.stops if stop.key == "node")
    truth = StopQuestion(first, stop).truth()
    assert [check(first, stop, truth, sure).rating for sure in (True, None, False)] == [3, 3, 2]
    wrong = check(first, stop, "n1", sure=True)
    assert (wrong.right, wrong.rating, wrong.answer) == (False, 1, truth)
    assert (
        "n1 is refused by NodeResourcesFit: cpu: requested 500m, free 250m, short by 250m." in wrong.sentence
    )
    assert check(first, stop, "n2").misconception == "first-that-fits"


def test_a_wrong_node_is_not_met_with_the_right_one() -> None:
    """A feasible node is met with its total, and no node with how many are feasible."""
    first = lesson("first-cycle")
    assert first is not None
    stop = next(stop for stop in first.stops if stop.key == "node")
    feasible, none = check(first, stop, "n2").sentence, check(first, stop, "").sentence
    assert feasible == "n2 is feasible with a total of 438, and the scheduler chose another node."
    assert none == "2 of 3 nodes are feasible, so the pod gets one."
