"""Lessons on paper: the learners' sheet keeps the answers back, the teacher's has them all."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from scheduler_core.authoring.lessons import Lesson, answer_of, lesson, lessons

pytestmark = pytest.mark.django_db(transaction=True)

EACH = pytest.mark.parametrize("of", lessons(), ids=lambda of: of.slug)


def printed(client: Client, of: Lesson, query: str = "") -> str:
    """Return what a sheet says, without its markup."""
    response = client.get(f"/learn/{of.slug}/handout/{query}")
    assert response.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]*>", "", response.content.decode())).split())


@EACH
def test_every_question_has_an_answer_in_the_engine_s_words(of: Lesson) -> None:
    """The answer is one that a check accepts, as its sentence shows; both can be printed."""
    asked = [stop for stop in of.stops if stop.task and stop.task.form]
    assert asked
    for stop in asked:
        answer, sentence = answer_of(of, stop)
        assert answer
        assert sentence or stop.task is None or stop.task.form == "claim"


def test_the_learners_sheet_has_no_answers(client: Client) -> None:
    """It has the questions, their options and a line for the name; the teacher's also answers and notes."""
    of = lesson("first-cycle")
    assert of is not None
    sheet, teacher = printed(client, of), printed(client, of, "?answers=1")
    assert "Which node gets web?" in sheet
    assert "Name:" in sheet
    assert "Answer:" not in sheet
    assert teacher.count("Answer:") == sum(bool(stop.task and stop.task.form) for stop in of.stops)
    assert "For the teacher" in teacher
    assert "For the teacher" not in sheet


@EACH
def test_every_lesson_can_be_printed(client: Client, of: Lesson) -> None:
    """Each stop is on the sheet, with a picture of what its open stage shows."""
    sheet = printed(client, of)
    assert all(stop.title in sheet.replace("’", "'") for stop in of.stops)


def test_there_is_no_sheet_of_an_unknown_lesson(client: Client) -> None:
    """It is a page that does not exist."""
    assert client.get("/learn/no-such-lesson/handout/").status_code == 404
