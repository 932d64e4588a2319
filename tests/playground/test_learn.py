"""Lessons on the web: what the pages show and keep back, and what the API answers to whom."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.cache import cache
from django.test import Client

from playground.courseware import Lesson, Stop, bundle_of, lesson, lessons
from playground.lessons import catalogue, lookup, receipts, reviews, stages
from playground.lessons.markdown import html, line
from playground.models import Draft, Scenario, Share
from tests.core.lessons.data import right_answer

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = "first-cycle"
ASKED = {of.slug: [stop.key for stop in of.stops if stop.task and stop.task.form] for of in lessons()}


@pytest.fixture(autouse=True)
def uncounted() -> Iterator[None]:
    """No test is counted with the one before."""
    cache.clear()
    yield
    cache.clear()


def at(slug: str, key: str) -> tuple[Lesson, Stop]:
    found = lookup.stop_at(slug, key)
    assert found is not None
    return found


def stage_of(of: Lesson, stop: Stop) -> stages.Stage:
    return stages.stage(of, stop, stages.moments(of, stop))


def truth(slug: str, key: str) -> Any:
    """Return the right answer to a question, as JSON."""
    of, stop = at(slug, key)
    return right_answer(of, stop)


def post(client: Client, address: str, body: Any, status: int = 200) -> Any:
    text = body if isinstance(body, str) else json.dumps(body)
    answer = client.post(f"/api/lessons/{address}", text, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def problem(client: Client, address: str, body: Any, status: int = 400) -> str:
    return str(post(client, address, body, status)["errors"][0]["message"])


# The pages


def test_the_gallery_has_every_lesson_in_its_tracks(client: Client) -> None:
    """With question, level, minutes, outcomes and the scheduler that answers, and without a script."""
    page = client.get("/learn/").content.decode()
    for one in lessons():
        assert len(one.tracks) == page.count(f'data-lesson="{one.slug}"')
        assert line(one.question) in page and f"{one.minutes} min" in page
        assert catalogue.scheduler_of(one) in page
        assert all(line(outcome) in page for outcome in one.outcomes)
    assert all(track.title in page for track in catalogue.tracks())
    assert {one.slug for track in catalogue.tracks() for one in track.lessons} == {
        one.slug for one in lessons()
    }


def test_learn_is_where_one_looks_for_it(client: Client) -> None:
    """The start page's first button, and every page's head and foot lead to it."""
    page = client.get("/").content.decode()
    assert re.search(r'class="hero-acts"><a class="btn primary big" href="/learn/">Learn</a>', page)
    assert client.get("/lessons/").headers["Location"] == "/learn/"
    for address in ("/api/", "/learn/"):
        assert client.get(address).content.decode().count('href="/learn/"') >= 2


@pytest.mark.parametrize("slug", [one.slug for one in lessons()])
def test_every_stop_has_a_page(client: Client, slug: str) -> None:
    """With its text, its question without the answer, the way on, and a stage that opens."""
    of = lesson(slug)
    assert of is not None
    for place, stop in enumerate(of.stops):
        page = client.get(f"/learn/{slug}/{stop.key}/")
        assert page.status_code == 200
        text = page.content.decode()
        assert stop.title in text and f"{place + 1} of {len(of.stops)}" in text
        assert "{{" not in text and "}}" not in text
        if stop.task and stop.task.form:
            keeps_its_answer(page, stop)
        onward = "done" if place + 1 == len(of.stops) else of.stops[place + 1].key
        assert f'href="/learn/{slug}/{onward}/" rel="next"' in text
        assert client.get(page.context["stage"].open).status_code == 200
        assert client.get(page.context["stage"].shown).status_code == 200
    assert client.get(f"/learn/{slug}/").context["stop"] == of.stops[0]
    assert client.get(f"/learn/{slug}/done/").status_code == 200


def keeps_its_answer(page: Any, stop: Stop) -> None:
    """Assert that a page offers every option alike, veils a prediction's stage, and has no receipt."""
    assert stop.task is not None
    player, text = page.context["player"], page.content.decode()
    assert set(player["task"]) == {
        *("kind", "form", "question", "options", "unit", "hints", "par", "forbidden"),
    }
    assert {*map(frozenset, player["task"]["options"])} <= {frozenset(("key", "label", "group"))}
    stage = page.context["stage"]
    if stop.task.kind == "predict":
        assert re.search(r"[?&]veil=\d+", stage.open) and stage.open != stage.shown
        assert "hidden until you answer" in text
    assert stop.marking.why == "" or stop.marking.why not in text
    assert all(hint not in text for hint in stop.marking.hints)


def test_no_stage_runs_ahead_of_a_question(client: Client) -> None:
    """One may step as far as the next prediction of the lesson begins, and further once none follows."""
    found = {key: stage_of(*at(FIRST, key)) for key in ("cluster", "feasible", "node", "why")}
    queries = {key: parse_qs(urlsplit(stage.shown).query) for key, stage in found.items()}
    assert queries["cluster"]["upto"] == ["queue"] and queries["cluster"]["step"] == ["0"]
    assert (queries["feasible"]["phase"], queries["feasible"]["upto"]) == (["predicates"], ["predicates"])
    assert "veil" not in queries["node"] and "veil" not in queries["why"]
    assert "Open in the workbench" in client.get(f"/learn/{FIRST}/why/").content.decode()
    assert re.search(r"data-open hidden", client.get(f"/learn/{FIRST}/cluster/").content.decode())


def test_the_stage_is_an_ordinary_scenario_that_nobody_owns(client: Client) -> None:
    """The same text has the same link; it counts against no visitor and does not expire."""
    for _ in range(2):
        client.get(f"/learn/{FIRST}/node/")
        client.get(f"/learn/{FIRST}/why/")
    row = Scenario.objects.get()
    assert (row.expires, Share.objects.get().owner, Draft.objects.count()) == (None, "", 0)
    of, stop = at(FIRST, "node")
    text = client.get(f"/api/scenarios/{row.short}/bundle").content.decode()
    assert text == bundle_of(of, stop)


@pytest.mark.parametrize(
    "address",
    [
        "/learn/none/",
        "/learn/none/done/",
        f"/learn/{FIRST}/none/",
        "/learn/code/none/",
        f"/learn/review/{FIRST}/none/1/",
        f"/learn/review/{FIRST}/cluster/1/",
        f"/learn/review/{FIRST}/node/0/",
        f"/learn/review/{FIRST}/node/{reviews.SEEDS + 1}/",
    ],
)
def test_what_is_not_there(client: Client, address: str) -> None:
    """A lesson, a stop, a code, a variant."""
    assert client.get(address).status_code == 404


def test_markdown_has_no_html_of_its_own() -> None:
    """Nor addresses of scripts; its headings are below those of the page."""
    shown = html(
        "# One\n\n<script>alert(1)</script> [x](javascript:alert(1)) `a` | b\n\n| h |\n|---|\n| c |\n"
    )
    assert (
        "<script" not in shown and "href" not in shown and "<h3>One</h3>" in shown and "<td>c</td>" in shown
    )
    assert line("*a* <b>`c`") == "<em>a</em> &lt;b&gt;<code>c</code>"


# Answers


@pytest.mark.parametrize("slug", ASKED)
def test_the_right_answer(client: Client, slug: str) -> None:
    """It has a receipt, and a prediction with variants a day on which it comes back."""
    for key in ASKED[slug]:
        verdict = post(client, f"{slug}/{key}/answer", {"answer": truth(slug, key), "sure": True})
        assert verdict["right"] is True and verdict["sentence"], key
        assert verdict["receipt"], key
        if "card" in verdict:
            assert datetime.fromisoformat(verdict["card"]["due"]) > datetime.now(UTC) + timedelta(hours=20)


def test_a_wrong_answer_keeps_the_right_one_back(client: Client) -> None:
    """The engine's sentence, the misconception, and neither answer nor receipt."""
    verdict = post(client, f"{FIRST}/node/answer", {"answer": "n1"})
    assert (verdict["right"], verdict["answer"]) == (False, None) and "receipt" not in verdict
    assert "n1 is refused" in verdict["sentence"]
    taken = post(client, f"{FIRST}/node/answer", {"answer": "n2"})
    assert taken["misconception"] == "first-that-fits"
    assert datetime.fromisoformat(verdict["card"]["due"]) < datetime.now(UTC) + timedelta(days=2)


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ("{", "not valid JSON"),
        ("[]", "must be a JSON object"),
        ({}, "answer"),
        ({"answer": "n1", "other": 1}, "Unknown fields"),
        ({"answer": {"a": 1}}, "An answer is"),
        ({"answer": ["n1"] * 501}, "at most 500 items"),
        ({"answer": "n" * 601}, "at most 600 bytes"),
        ({"answer": "n\0"}, "NUL"),
        ({"answer": "n9"}, "There is no node"),
        ({"answer": "n1", "sure": 3}, "sure"),
        ({"answer": "n1", "seed": 0}, "seed"),
        ({"answer": "n1", "seed": reviews.SEEDS + 1}, "seed"),
        ({"answer": "n1", "card": {"state": 9}}, "card"),
    ],
    ids=lambda value: str(value)[:30] if not isinstance(value, str) else "",
)
def test_an_answer_of_another_form(client: Client, body: Any, reported: str) -> None:
    """Is refused in words."""
    assert reported in problem(client, f"{FIRST}/node/answer", body)


def test_a_card_that_nobody_was_given(client: Client) -> None:
    """It is refused, or makes a date like any other: nothing of it is believed beyond its bounds."""
    now = datetime.now(UTC)
    card = {"state": 2, "step": None, "stability": 36_500, "difficulty": 10, "due": now.isoformat()}
    body = {"answer": "n3", "sure": True, "seed": 1}
    assert "time zone" in problem(
        client, f"{FIRST}/node/answer", {**body, "card": {**card, "due": "2026-01-01T00:00:00"}}
    )
    assert "card" in problem(client, f"{FIRST}/node/answer", {**body, "card": {**card, "stability": 1e9}})
    found = post(client, f"{FIRST}/node/answer", {**body, "card": {**card, "last_review": now.isoformat()}})
    assert datetime.fromisoformat(found["card"]["due"]) < now + timedelta(days=40_000)


def test_an_edit_is_bounded(client: Client) -> None:
    """In bytes; what cannot be read is a wrong answer in words, with its line."""
    assert "at most" in problem(client, f"{FIRST}/other-node/answer", {"answer": "#" * (256 * 1024 + 1)})
    assert "Line 2" in problem(client, f"{FIRST}/other-node/answer", {"answer": "a: ["})
    unchanged = {"answer": bundle_of(*at(FIRST, "other-node"))}
    assert post(client, f"{FIRST}/other-node/answer", unchanged)["right"] is False


def test_who_asks_too_often_waits(client: Client, settings: Any) -> None:
    """Answers and hints of an address have a limit of their own, which a lecture hall does not reach."""
    settings.PLAYGROUND = {**settings.PLAYGROUND, "LESSON_ANSWERS_PER_MINUTE": 2, "API_WRITES_PER_MINUTE": 1}
    for _ in range(2):
        post(client, f"{FIRST}/node/hint", {"number": 1})
    answer = client.post(
        f"/api/lessons/{FIRST}/node/answer", json.dumps({"answer": "n1"}), content_type="application/json"
    )
    assert answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0


def test_hints_come_one_by_one(client: Client) -> None:
    """Three of them; none where nothing is asked."""
    texts = [post(client, f"{FIRST}/node/hint", {"number": number})["text"] for number in (1, 2, 3)]
    assert len(set(texts)) == 3 and all(texts)
    for body in ({"number": 0}, {"number": 4}, {"number": "1"}, {}):
        problem(client, f"{FIRST}/node/hint", body)
    problem(client, f"{FIRST}/cluster/hint", {"number": 1}, 404)


@pytest.mark.parametrize("address", ["none/node", f"{FIRST}/none", f"{FIRST}/cluster"])
def test_a_question_that_is_not_there(client: Client, address: str) -> None:
    """No such lesson, no such stop, or one that asks nothing."""
    problem(client, f"{address}/answer", {"answer": "n1"}, 404)


def test_the_list(client: Client) -> None:
    """Every lesson, with its stops and what they ask; no answer."""
    listed = client.get("/api/lessons").json()
    assert [one["slug"] for one in listed["lessons"]] == [one.slug for one in lessons()]
    stop = listed["lessons"][0]["stops"][2]
    assert stop == {
        "key": "node",
        "title": "Who gets it",
        "url": f"/learn/{FIRST}/node/",
        "task": "predict",
        "form": "node",
    }


# Codes


def test_a_completion_code(client: Client) -> None:
    """It takes the receipts of all questions of that lesson, and verifies with the name that was given."""
    keys = ASKED[FIRST]
    given = [post(client, f"{FIRST}/{key}/answer", {"answer": truth(FIRST, key)})["receipt"] for key in keys]
    reported = problem(client, f"{FIRST}/code", {"receipts": given[1:]}, 409)
    assert keys[0] in reported
    other = next(slug for slug in ASKED if slug != FIRST)
    problem(client, f"{other}/code", {"receipts": given}, 409)
    problem(client, f"{FIRST}/code", {"receipts": [*given[1:], given[0][:-1] + "x"]}, 409)
    problem(client, f"{FIRST}/code", {"receipts": given, "name": "x" * 61})
    code = post(client, f"{FIRST}/code", {"receipts": given, "name": " <b>Ada\n"}, 201)
    assert code["url"].endswith(f"/learn/code/{code['code']}/")
    page = client.get(f"/learn/code/{code['code']}/")
    assert page.status_code == 200 and "&lt;b&gt;Ada completed" in page.content.decode()
    assert client.get(f"/learn/code/{code['code'][:-1]}x/").status_code == 404
    assert client.get(f"/learn/code/{given[0]}/").status_code == 404  # a receipt is no code


def test_a_code_of_a_lesson_that_is_gone() -> None:
    """It certifies nothing any more."""
    from django.core import signing

    assert receipts.certified(signing.dumps(["gone", "", 1], salt=receipts.CODE)) is None


# Reviews


def test_a_variant_is_another_question(client: Client) -> None:
    """Its scenario has other numbers, its answer is computed of these, and it gives no receipt."""
    own = stages.scenario_of(*at(FIRST, "node"))
    seen = set()
    for seed in range(1, 5):
        page = client.get(f"/learn/review/{FIRST}/node/{seed}/")
        assert page.status_code == 200 and page.context["player"]["seed"] == seed
        seen.add(page.context["stage"].scenario)
        verdicts = [
            post(client, f"{FIRST}/node/answer", {"answer": name, "seed": seed, "sure": True})
            for name in ("n1", "n2", "n3", "")
        ]
        assert sum(verdict["right"] for verdict in verdicts) == 1
        assert not any("receipt" in verdict for verdict in verdicts)
        assert post(client, f"{FIRST}/node/hint", {"number": 3, "seed": seed})["text"]
    assert len(seen) > 1 and seen != {own}


def test_what_was_known_comes_back_later() -> None:
    """A guess comes back sooner than what one was sure of, and a mistake counts least."""
    sure, guess, wrong = (reviews.reviewed(None, rating) for rating in (3, 2, 1))
    assert wrong.due.date() <= guess.due.date() < sure.due.date()
    assert wrong.stability and guess.stability and sure.stability
    assert wrong.stability < guess.stability < sure.stability
