"""Who may do what with a stored comparison of a draft: the table of docs/permissions.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.core.cache import cache
from django.test import Client

from playground.models import Comparison, Scenario
from playground.storage import comparisons, store
from tests.parts import REPOSITORY
from tests.playground.conftest import visitor_client
from tests.playground.test_permissions import rendered
from tests.playground.test_two_sources import LEAST, MOST, bundle, shared

pytestmark = pytest.mark.django_db(transaction=True)

ROLES = ("owner", "visitor", "stranger")


@dataclass(frozen=True, slots=True)
class Scene:
    """A comparison of the owner's draft with a shared scenario, and the browser of somebody with its link."""

    client: Client
    name: str
    draft: str
    copy: str  # the scenario that the draft was copied to

    def opens(self, address: str) -> bool:
        """Return whether an address shows something."""
        path = address.format(comparison=self.name, draft=self.draft, copy=self.copy)
        return self.client.get(path).status_code == 200


def page(address: str) -> tuple[str, Callable[[Scene], bool]]:
    """Return a row: whether a page opens."""
    return f"GET {address}", lambda scene: scene.opens(address)


def posted(address: str, fields: Callable[[Scene], dict[str, str]], done: int) -> Callable[[Scene], bool]:
    """Return whether a form is taken."""
    return lambda scene: (
        scene.client.post(address.format(comparison=scene.name), fields(scene)).status_code == done
    )


TRIED: dict[str, Callable[[Scene], bool]] = dict(
    [
        page("/compare/{comparison}/"),
        page("/compare/{comparison}/left/"),
        page("/compare/{comparison}/left/bundle"),
        page("/api/comparisons/{comparison}"),
        ("POST /report", posted("/report", lambda scene: {"comparison": scene.name}, 200)),
        page("/p/{draft}/"),
        page("/s/{copy}/"),
        (
            "POST /compare/share of the draft",
            posted("/compare/share", lambda scene: {"left": scene.draft, "right": scene.draft}, 302),
        ),
        (
            "POST /stored/comparison/{comparison}/delete",
            posted("/stored/comparison/{comparison}/delete", lambda _: {}, 302),
        ),
        (
            "DELETE /api/comparisons/{comparison} without its token",
            lambda scene: scene.client.delete(f"/api/comparisons/{scene.name}").status_code == 204,
        ),
    ]
)


def staged(role: str) -> Scene:
    """Let the owner share a comparison; return it as a role sees it."""
    cache.clear()
    Comparison.objects.all().delete()
    Scenario.objects.all().delete()
    owner = visitor_client("owner-of-the-comparison")
    draft = store.create_draft("owner-of-the-comparison", [("", bundle(LEAST))]).pk
    fields = {"left": draft, "right": shared(bundle(MOST))}
    name = owner.post("/compare/share", fields).headers["Location"].split("/")[2]
    copy = comparisons.sides_of(Comparison.objects.get(short=name))[0].scenario.short
    clients = {"owner": owner, "visitor": visitor_client("another-visitor-12345"), "stranger": Client()}
    return Scene(clients[role], name, draft, copy)


def test_the_document_says_who_may_do_what_with_a_comparison() -> None:
    """Everything is tried by its owner, another visitor, and somebody without a cookie."""
    found = {name: {role for role in ROLES if tried(staged(role))} for name, tried in TRIED.items()}
    made = rendered(found, ROLES)
    document = (REPOSITORY / "docs" / "permissions.md").read_text()
    if made not in document:
        (REPOSITORY / "var").mkdir(exist_ok=True)
        (REPOSITORY / "var" / "permissions-comparisons.md").write_text(f"{made}\n")
    assert f"{made}\n" in document
