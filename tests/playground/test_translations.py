"""The pages of lessons in German: every message has one, and the language is the one that is asked for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from playground.courseware import in_language, lesson, lessons
from playground.courseware.checks import StopQuestion
from playground.courseware.prose import LANGUAGES
from playground.lessons import catalogue, verdicts
from tests import catalogues
from tests.core.lessons.data import wrong_answers
from tests.playground.rooms import post
from tests.playground.test_learn import at

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = (
    "/learn/", "/learn/first-cycle/node/", "/learn/first-cycle/done/", "/learn/first-cycle/handout/",
    "/learn/review/", "/learn/code/no-code/",
    "/learn/first-cycle/teach/",
)  # fmt: skip
SOURCES = [pytest.param(path, id=path.name) for path in catalogues.sources()]
COOKIE = settings.LANGUAGE_COOKIE_NAME


def language_of(client: Client, address: str, **headers: str) -> str:
    """Return the language of a page, which its header and its element agree on."""
    page = client.get(address, headers=headers)
    found = re.search(r'<html lang="(\w+)"', page.content.decode())
    assert found is not None and found[1] == page.headers["Content-Language"]
    assert {"Accept-Language", "Cookie"} <= {part.strip() for part in page.headers["Vary"].split(",")}
    return found[1]


def words_in(text: str) -> dict[str, Any]:
    """Return what a page's scripts are reported."""
    found = re.search(r'<script id="words" type="application/json">(.*?)</script>', text)
    assert found is not None
    words: dict[str, Any] = json.loads(found[1])
    return words


# The catalogues


@pytest.mark.parametrize("path", SOURCES)
def test_the_compiled_catalogue_is_of_its_source(path: Path) -> None:
    """``make translations`` writes it; nothing has to be installed to run with it."""
    assert path.with_suffix(".mo").read_bytes() == catalogues.compiled(path), "run make translations"


@pytest.mark.parametrize("path", SOURCES)
def test_every_message_is_translated(path: Path) -> None:
    """No message is missing, none is left over, and each keeps its placeholders."""
    said = catalogues.of_scripts() if path.name == "djangojs.po" else catalogues.of_templates()
    catalog = catalogues.read(path)
    known = {message.id: message.string for message in catalog if message.id}
    assert set(known) == set(said)
    assert catalog.plural_forms == "nplurals=2; plural=(n != 1);", "as static/js/lesson/words.ts has it"
    for ids, strings in known.items():
        for one, other in zip(
            [ids] if isinstance(ids, str) else ids, [strings] if isinstance(strings, str) else strings or ()
        ):
            assert other, one
            held, kept = (re.findall(r"%\(\w+\)s|\{\w+\}|<[^>]+>|`[^`]+`", text) for text in (one, other))
            assert sorted(held) == sorted(kept), one


def test_languages_are_those_of_lessons() -> None:
    """A language of the pages has a catalogue of each kind, and facts are said in it."""
    assert {code for code, _ in settings.LANGUAGES} == set(LANGUAGES)
    found = {path.parts[-3] for path in catalogues.sources()}
    assert found == set(LANGUAGES) - {"en"}


# Which language


@pytest.mark.parametrize("address", PAGES)
def test_the_language_is_chosen_and_remembered(client: Client, address: str) -> None:
    """By the address, then the cookie, then the browser's header; a language that is not there is none."""
    assert language_of(client, address) == "en"
    assert language_of(client, address, accept_language="fr, de-AT;q=0.9, en;q=0.5") == "de"
    assert language_of(client, address, accept_language="fr") == "en"
    assert language_of(client, f"{address}?lang=xx", accept_language="de") == "de"
    assert COOKIE not in client.cookies
    assert language_of(client, f"{address}?lang=de") == "de"
    assert client.cookies[COOKIE]["httponly"] and client.cookies[COOKIE]["samesite"] == "Lax"
    assert language_of(client, address) == "de"
    assert language_of(client, f"{address}?lang=en") == "en"
    assert language_of(client, address, accept_language="de") == "en"


def test_other_pages_are_english(client: Client) -> None:
    """Whatever the cookie and the header say: nothing of them is translated."""
    client.cookies[COOKIE] = "de"
    for address in ("/", "/reference/cache/", "/runs/", "/learn/no-such-lesson/"):
        text = client.get(address, headers={"accept-language": "de"}).content.decode()
        assert '<html lang="en"' in text and ">Learn<" in text, address
        assert "languages" not in text


def test_a_page_in_german(client: Client) -> None:
    """Text, question, options, terms and scripts; the switch keeps the rest of the address."""
    text = client.get("/learn/first-cycle/node/?lang=de").content.decode()
    for words in ("Welcher Node bekommt", "Der Filter ist durch", "Kein Node", "Scheduling-Zyklus", "Zurück"):
        assert words in text, words
    assert "bleibt englisch" in text and "Insufficient cpu" in text
    assert words_in(text)["Check"] == "Prüfen"
    assert words_in(text)["{number} edit"] == ["{number} Änderung", "{number} Änderungen"]
    assert words_in(client.get("/learn/first-cycle/node/?lang=en").content.decode()) == {}
    paper = client.get("/learn/first-cycle/handout/?answers=1&lang=de").content.decode()
    assert 'href="?answers=1&amp;lang=en" lang="en" hreflang="en"' in paper
    assert "Für die Lehrkraft" in paper and "<b>Lösung:</b>" in paper
    edit = client.get("/learn/first-cycle/other-node/?lang=de").context["player"]["task"]
    assert edit["forbidden"][:3] == [
        "Die Nodes bleiben, wie sie sind.",
        "Kein Pod bekommt einen `nodeName`.",
        "`Pod/cache` bleibt, wie es ist.",
    ]


def test_a_lesson_that_is_not_translated(client: Client) -> None:
    """Its own words are English and marked as such, in a German page that says so."""
    slug = lessons()[3].slug
    text = client.get(f"/learn/{slug}/?lang=de").content.decode()
    assert "noch nicht übersetzt" in text and "Begriffe dieser Lektion" in text
    assert '<h1 tabindex="-1" data-heading lang="en">' in text
    assert '<div class="prose" lang="en">' in text
    gallery = client.get("/learn/").content.decode()
    assert f'<span lang="en">{lessons()[3].title}</span>' in gallery
    assert "Dein erster Scheduling-Zyklus" in gallery and "Der Scheduler in einer Stunde" in gallery


def test_the_stage_is_the_same_in_every_language(client: Client) -> None:
    """Its scenario keeps its English title, whoever opens the lesson first."""
    page = client.get("/learn/first-cycle/node/?lang=de")
    stage = page.context["stage"]
    assert stage == client.get("/learn/first-cycle/node/?lang=en").context["stage"]
    found = lesson("first-cycle")
    assert found is not None
    assert found.title in client.get(f"/s/{stage.scenario}/").content.decode()


# Over HTTP


def test_verdicts_and_hints_are_said_in_the_language_of_the_call(client: Client) -> None:
    """The engine's sentence stays as it is; the cookie and the header of a browser say nothing here."""
    client.cookies[COOKIE] = "de"

    def post(address: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = client.post(
            f"/api/lessons/{address}", json.dumps(body), content_type="application/json",
            headers={"accept-language": "de"},
        )  # fmt: skip
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()
        return found

    one = in_language(lessons()[0], "de")
    hints = next(stop for stop in one.stops if stop.key == "node").marking.hints
    assert post("first-cycle/node/hint?lang=de", {"number": 1})["text"] == hints[0]
    assert post("first-cycle/node/hint", {"number": 1})["text"].startswith("Two nodes are feasible")
    asked = StopQuestion(*at("idle-or-full", "left"))
    right = post("idle-or-full/left/answer?lang=de", {"answer": asked.truth()})
    assert right["why"].startswith("`quiet-1` bietet") and right["sentence"].endswith(right["why"])
    refused = post("first-cycle/node/answer?lang=de", {"answer": "n1"})
    assert refused["sentence"].startswith("n1 is refused by NodeResourcesFit") and refused["why"] == ""


@pytest.mark.parametrize("slug", ["first-cycle", "reading-the-message", "idle-or-full"])
def test_wrong_answers_are_met_in_german(slug: str) -> None:
    """All that is not the engine's own sentence, misconceptions included; the verdict is the same."""
    one = lesson(slug)
    assert one is not None
    reported = 0
    for stop in one.stops:
        if stop.task is None or stop.task.form in (None, "edit"):
            continue
        asked = StopQuestion(one, stop)
        for wrong in wrong_answers(asked, asked.truth()):
            english = verdicts.judged(one, stop, wrong, None, None)
            german = verdicts.judged(*catalogue.spoken(one, stop, "de"), wrong, None, None)
            assert (german.right, german.misconception) == (english.right, english.misconception)
            engine = [one.sentence.removesuffix(one.why) for one in (english, german)]
            assert engine[0] == engine[1]
            assert bool(german.why) == bool(english.why)
            assert not english.why or german.why != english.why
            reported += bool(german.why)
    assert reported


def test_an_edit_is_met_in_german(client: Client) -> None:
    """Over the API: the move that a task forbids, and that it is the learner's edit that breaks it."""
    one = lesson("idle-or-full")
    assert one is not None
    stop = next(stop for stop in one.stops if stop.key == "repair")
    text = one.file(stop.scenario).replace('cpu: "4"', 'cpu: "64"')
    assert text != one.file(stop.scenario)
    address = "/api/lessons/idle-or-full/repair/answer?lang=de"
    found = client.post(address, json.dumps({"answer": text}), content_type="application/json").json()
    assert found["sentence"] == found["why"] == "Die Nodes bleiben, wie sie sind. Diese Änderung ändert das."


def test_the_pages_of_a_class_in_german(client: Client) -> None:
    """That which opens a room, with what each stop asks for, and that of who leads it."""
    page = client.get("/learn/first-cycle/teach/?lang=de").content.decode()
    assert "Den Raum öffnen" in page and '<span class="pill">vorhersagen</span>' in page
    room = post("/api/rooms", {"lesson": "first-cycle"}).json()
    page = client.get(f"/r/{room['id']}/class/").content.decode()  # the cookie remembers
    assert "<title>Klasse: " in page and words_in(page)["Questions"] == "Fragen"
