"""Lessons on paper: the learners' sheet keeps the answers back, the teacher's has them all."""

from __future__ import annotations

import re
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from playground.courseware import Lesson, answer_of, lesson, lessons
from playground.courseware.archives import packed
from playground.pictures import card
from playground.pictures.scene import Scene
from playground.pictures.themes import Theme
from playground.views import pictures
from tests.playground.test_visitor_lessons import FIRST, state, upload

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


@EACH
def test_no_picture_tells_what_its_stop_asks(
    client: Client, of: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a cycle in question neither decision nor story is drawn, nor how many cycles follow it."""
    drawn: list[Scene] = []

    def draw(scene: Scene, _theme: Theme) -> str:
        drawn.append(scene)
        return "<svg/>"

    monkeypatch.setattr(card, "card", draw)
    monkeypatch.setattr(card, "png", lambda _: b"")
    monkeypatch.setattr(pictures, "pictures", pictures.Pictures())
    for stop, printed in zip(
        of.stops, client.get(f"/learn/{of.slug}/handout/").context["stops"], strict=True
    ):
        assert client.get(printed.picture).status_code == 200
        scene = drawn[-1]
        if stop.task is not None and stop.task.kind == "predict":
            assert "veil=" in printed.picture and " of " not in scene.where
            assert not stop.phase or not (scene.sentences or any(box.chosen for box in scene.nodes))


def test_where_a_platform_grades_the_answers_are_for_teachers(client: Client, settings: Any) -> None:
    """Who has a signed link of this lesson, which the operator can make; to others the page says so."""
    link = StringIO()
    call_command("answers", "first-cycle", stdout=link)
    signed = link.getvalue().strip()
    settings.LTI_PLATFORMS = (object(),)
    other = signed.replace("first-cycle", "taints-are-not-magnets")
    for refused in ("/learn/first-cycle/handout/?answers=1", f"{signed}x", other):
        answer = client.get(refused)
        assert answer.status_code == 403 and "those who teach" in unescape(answer.content.decode())
    assert "Answer:" in client.get(signed).content.decode()
    sheet = client.get("/learn/first-cycle/handout/").content.decode()
    assert "Answer:" not in sheet and "?answers=" not in sheet
    with pytest.raises(CommandError, match="no lesson 'nowhere'"):
        call_command("answers", "nowhere")


def test_an_author_has_the_answers_of_their_own_lesson(owner: Client, settings: Any) -> None:
    """Whatever platform grades it."""
    settings.LTI_PLATFORMS = (object(),)
    preview = state(owner, upload(owner, packed("01-a", FIRST)))["stops"][0]["preview"].split("/")[2]
    assert owner.get(f"/learn/{preview}/handout/?answers=1").status_code == 200
    assert Client().get(f"/learn/{preview}/handout/?answers=1").status_code == 403


def test_there_is_no_sheet_of_an_unknown_lesson(client: Client) -> None:
    """It is a page that does not exist."""
    assert client.get("/learn/no-such-lesson/handout/").status_code == 404


def test_pictures_on_paper_are_light(client: Client) -> None:
    """A card asked for in the light look differs from the dark one of a link's preview."""
    page = client.get("/learn/first-cycle/handout/").content.decode()
    address = unescape(re.search(r'src="(/s/[^"]+card\.png[^"]*)"', page)[1])  # type: ignore[index]
    assert "theme=light" in address
    assert client.get(address).content != client.get(address.replace("theme=light", "")).content
