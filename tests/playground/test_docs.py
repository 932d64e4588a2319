"""The documents as pages, and drafts folded with their branches on the start page."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from playground.storage import store
from tests.parts import REPOSITORY
from tests.playground.conftest import OWNER
from tests.playground.test_triage import NODE

DOCUMENTS = sorted(path.relative_to(REPOSITORY / "docs").as_posix() for path in REPOSITORY.glob("docs/*.md"))


def test_every_document_is_a_page(client: Client) -> None:
    """The list leads to each, by the addresses that the documents link each other by."""
    listed = client.get("/docs/").content.decode()
    assert set(re.findall(r'href="([a-z0-9.-]+\.md)"', listed, re.IGNORECASE)) <= set(DOCUMENTS)
    for name in DOCUMENTS:
        assert client.get(f"/docs/{name}").status_code == 200, name
    assert client.get("/docs/../README.md").status_code == client.get("/docs/nothing.md").status_code == 404


@pytest.mark.django_db
def test_branches_are_folded_below_their_draft(owner: Client) -> None:
    """The start page has one card for a draft and what was made of it."""
    root = store.create_draft(OWNER, [("", NODE)], "Root")
    origin = store.Origin(f"draft:{root.pk}", f"draft:{root.pk}", "0", (), "")
    for title in ("One", "Two"):
        store.create_draft(OWNER, [("", NODE)], title, "", origin)
    [card] = owner.get("/").context["drafts"]
    assert card["title"] == "Root" and {one["title"] for one in card["branches"]} == {"One", "Two"}
