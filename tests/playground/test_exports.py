"""Exports: a step as SVG or PNG, and a range of steps as a slide deck."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest
from django.test import Client

from playground.reports import slides
from playground.storage import store
from tests.playground.conftest import OWNER
from tests.playground.test_comparing import LEAST, bundle, shared
from tests.playground.test_reports import Fetched

pytestmark = pytest.mark.django_db(transaction=True)


def asked(path: str, source: str, **query: str) -> bytes:
    """Return the body of a file."""
    answer = Client().get(path, {"source": source, **query})
    assert answer.status_code == 200, answer.content
    return bytes(answer.content)


def test_a_step_as_svg_and_as_png() -> None:
    """The same picture, well-formed, with every node's name; it is a file of its own."""
    name = shared(bundle(LEAST))
    svg = asked("/picture", name, step="1")
    root = ET.fromstring(svg)
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["a", "b"]
    assert asked("/picture", f"http://x/s/{name}/?step=9", step="1") == svg
    assert svg != asked("/picture", name, step="0")
    assert asked("/picture", name, step="1", format="png").startswith(b"\x89PNG")
    answer = Client().get("/picture", {"source": name, "step": "2", "format": "png"})
    assert answer.headers["Content-Disposition"] == 'attachment; filename="step-2.png"'


def test_a_deck() -> None:
    """A slide a step with what happened; it ends with the run, runs nothing and fetches nothing."""
    page = asked("/deck", shared(bundle(LEAST)), **{"from": "1", "to": "9"}).decode()
    assert page.count("<section") == page.count("<svg") == 2
    assert "Step 1 of 2: default/web-0" in page and "Successfully assigned default/web-1 to a" in page
    seen = Fetched()
    seen.feed(page)
    assert seen.found == [] and "default-src &#x27;none&#x27;" in page


def test_what_people_wrote_is_text() -> None:
    """A title with markup is shown as it is."""
    title = "<script>alert(1)</script>"
    answer = Client().post(
        "/api/scenarios", {"bundle": bundle(LEAST), "title": title}, content_type="application/json"
    )
    for path in ("/deck", "/picture"):
        assert title not in asked(path, answer.json()["id"]).decode()


def test_a_draft_is_its_owners(owner: Client, stranger: Client) -> None:
    """Nobody else has a picture of it."""
    draft = store.create_draft(OWNER, [("", bundle(LEAST))])
    for path in ("/picture", "/deck"):
        query = {"source": f"draft:{draft.pk}", "step": "1"}
        assert owner.get(path, query).status_code == 200
        assert stranger.get(path, query).status_code == 404


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/picture", {"format": "gif"}, 400),
        ("/picture", {"step": "3"}, 404),
        ("/deck", {"from": "3", "to": "3"}, 404),
        ("/deck", {"from": "2", "to": "1"}, 400),
        ("/deck", {"from": "0", "to": str(slides.SLIDES)}, 400),
    ],
)
def test_what_there_is_not(path: str, query: dict[str, str], status: int) -> None:
    """Another format, a step that the run does not have, and more slides than a deck may have."""
    name = shared(bundle(LEAST))
    assert Client().get(path, {"source": name, **query}).status_code == status
    assert Client().get(path, {"source": "AAAAAAAAAAA"}).status_code == 404
    assert Client().get(path).status_code == 400
    assert Client().post(path, {"source": name}).status_code == 405


def test_what_is_too_large_is_not_drawn(limits: Callable[..., None]) -> None:
    """It says what to do instead."""
    name = shared(bundle(LEAST, nodes=("a", "b", "z")))
    limits(INTERACTIVE_WORK=1)
    answer = Client().get("/picture", {"source": name, "step": "1"})
    assert answer.status_code == 422 and re.search("Start a run", answer.content.decode())
