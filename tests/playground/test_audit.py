"""The audit log of visitors: what they deleted, revoked or handed over, and for how long that is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from playground.models import AuditEntry, Run
from playground.storage import audit, bundles, retention, store
from tests.playground.conftest import OWNER, STRANGER, connected
from tests.playground.rooms import inside, open_room, post

pytestmark = pytest.mark.django_db(transaction=True)


def entries() -> list[tuple[str, str, str, str]]:
    """Return who did what to whom, and why, oldest first."""
    return list(AuditEntry.objects.order_by("pk").values_list("who", "what", "subject", "why"))


def test_what_is_deleted_over_http(web: str, owner: Client) -> None:
    """A link by its token, and everything of the list of what is stored; what was refused is not there."""
    shared = post("/api/scenarios", {"bundle": web}).json()
    for token in ("guess", shared["delete_token"]):
        Client().delete(f"/api/scenarios/{shared['id']}", headers={"Authorization": f"Bearer {token}"})
    draft = store.create_draft(OWNER, [("", web)])
    link = store.share(bundles.parse([("", web)]), OWNER, text=web).scenario
    run = Run.objects.create(scenario=link, owner=OWNER, state="done")
    for kind, name in (("draft", draft.pk), ("run", run.pk), ("link", link.short), ("link", link.short)):
        owner.post(f"/stored/{kind}/{name}/delete")
    by_address, by_visitor = "visitor without a cookie at 127.0.0.1", f"visitor {OWNER} at 127.0.0.1"
    assert entries() == [
        (by_address, "delete link", shared["id"], "by its delete token"),
        (by_visitor, "delete draft", draft.pk, ""),
        (by_visitor, "delete run", run.pk, ""),
        (by_visitor, "delete link", link.short, ""),
    ]


def test_a_removed_comment(web: str) -> None:
    """With whether it was its author, or who shared the scenario; its text is gone here as well."""
    shared = post("/api/scenarios", {"bundle": web}).json()
    comments = f"/api/scenarios/{shared['id']}/comments"
    written = [post(comments, {"step": "1", "text": text}).json() for text in ("one secret", "two")]
    tokens = (written[0]["edit_token"], shared["delete_token"])
    for comment, token in zip(written, tokens):
        answer = Client().delete(f"{comments}/{comment['id']}", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 204
    assert [row[1:] for row in entries()] == [
        ("remove comment", written[0]["id"], "by who wrote it"),
        ("remove comment", written[1]["id"], "by who shared the scenario"),
    ]
    assert "secret" not in json.dumps(entries())


async def test_a_room_handed_over_taken_back_and_ended(web: str) -> None:
    """Each once, by whom, and to which person."""
    room = await sync_to_async(open_room)(web)
    async with inside(room, lead=True, visitor=OWNER) as leader, connected(STRANGER) as other:
        person = (await other.success("room.join", {"room": room["id"], "name": "Bo"}))["person"]
        await leader.error("room.hand", {"to": "nobody"})
        await other.error("room.take", {})
        await leader.success("room.hand", {"to": person})
        await leader.success("room.take", {})
    for _ in range(2):
        await sync_to_async(post)(f"/api/rooms/{room['id']}/end", {"lead_token": room["lead_token"]})
    assert await sync_to_async(entries)() == [
        (f"visitor {OWNER}", "hand over room", room["id"], f"to person {person}"),
        (f"visitor {OWNER}", "take room back", room["id"], "by its token"),
        (
            "visitor without a cookie at 127.0.0.1",
            "end room",
            room["id"],
            "by the token that leads it",
        ),
    ]


async def test_a_revoked_link(web: str) -> None:
    """Only what was there to revoke."""
    async with connected(OWNER) as owner, connected(STRANGER) as stranger:
        draft = (await owner.success("bundle.open", {"text": web}))["draft"]
        link = (await owner.success("link.create", {"source": {"draft": draft}}))["link"]
        await stranger.error("link.revoke", {"link": link})
        await owner.success("link.revoke", {"link": link})
        await owner.error("link.revoke", {"link": link})
    assert await sync_to_async(entries)() == [(f"visitor {OWNER}", "revoke private link", link, "")]


def test_visitors_entries_expire_and_operators_do_not(
    limits: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Operators list their own alone."""
    limits(AUDIT_DAYS=10)
    audit.record("ban", "192.0.2.7")
    for _ in range(2):
        audit.record_visitor("delete link", "abc", OWNER)
    old = AuditEntry.objects.filter(pk__lt=AuditEntry.objects.latest("pk").pk)
    old.update(created=timezone.now() - timedelta(days=11))
    call_command("audit")
    assert len(capsys.readouterr().out.splitlines()) == 3
    call_command("audit", "--operators")
    [line] = capsys.readouterr().out.splitlines()
    assert line.split("\t")[2:4] == ["ban", "192.0.2.7"]
    assert retention.remove_expired()["visitors' audit entries"] == 1
    assert [row[1] for row in entries()] == ["ban", "delete link"]


def test_a_long_visitor_fits(settings: Any) -> None:
    """Neither an address nor a subject is ever too long for its column."""
    made = audit.record_visitor("delete link", "x" * 500, "y" * 500, "z" * 500)
    made.refresh_from_db()
    assert (len(made.who), len(made.subject), len(made.why)) == (100, 100, 500)
