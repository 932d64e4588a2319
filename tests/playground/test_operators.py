"""What operators do by `manage.py`: taking down, banning, cancelling, listing, and the log of it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from playground.models import AuditEntry, Ban, Draft, Run, Scenario
from playground.runs import service
from playground.storage import audit, bundles, store
from playground.visitors import bans, identity
from tests.playground.conftest import OWNER, communicator, connected

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def bans_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No five seconds between a ban and its effect; none is left for the next test."""
    monkeypatch.setattr(bans, "REFRESH_SECONDS", -1)
    yield
    bans._banned.clear()


def run_command(name: str, *arguments: str) -> str:
    said = io.StringIO()
    call_command(name, *arguments, stdout=said)
    return said.getvalue()


def shared(text: str, title: str = "a link") -> Scenario:
    return store.share(bundles.parse([("", text)], title), OWNER, text=text).scenario


# --- takedown ----------------------------------------------------------------------------------


def test_what_is_taken_down_answers_410_with_the_reason(owner: Client, web: str) -> None:
    """As a page, embedded, over the API and as a run; sharing the same text again does not bring it back."""
    row = shared(web)
    run, _ = service.start(bundles.parse([("", web)], "a link"), OWNER, text=web)
    run_command("takedown", row.short, "--why", "names of real people")
    pages = [f"/s/{row.short}/", f"/e/{row.short}/", f"/runs/{run.pk}/", f"/api/runs/{run.pk}"]
    pages += [f"/api/scenarios/{row.short}", f"/api/scenarios/{row.digest}/bundle"]
    for page in pages:
        answer = owner.get(page)
        assert answer.status_code == 410, page
        assert "names of real people" in answer.content.decode(), page
    again = owner.post("/api/scenarios", {"bundle": web, "title": "a link"}, content_type="application/json")
    assert again.status_code == 410 and "real people" in again.json()["errors"][0]["message"]
    assert owner.get("/").status_code == 200 and owner.get("/runs/").status_code == 200
    run_command("takedown", row.short, "--restore")
    assert [owner.get(page).status_code for page in pages] == [200] * len(pages)


def test_a_run_is_taken_down_by_its_id(owner: Client, web: str) -> None:
    """With the scenario that it is of."""
    run, _ = service.start(bundles.parse([("", web)]), OWNER, text=web)
    run_command("takedown", run.pk, "--why", "spam")
    assert owner.get(f"/runs/{run.pk}/").status_code == 410


def test_a_draft_whose_parent_is_taken_down_still_opens(owner: Client, web: str) -> None:
    """It is its owner's alone."""
    row = shared(web)
    draft = store.create_draft(
        OWNER, [("", web)], origin=store.Origin(f"scenario:{row.short}", f"scenario:{row.short}")
    )
    run_command("takedown", row.short, "--why", "spam")
    assert owner.get(f"/p/{draft.pk}/").status_code == 200


@pytest.mark.django_db(transaction=True)
async def test_the_socket_says_what_is_gone(web: str) -> None:
    """`source.gone` has the reason, also where the source was open before."""
    row = await sync_to_async(shared)(web)
    source = {"source": {"scenario": row.short}}
    async with connected() as socket:
        await socket.success("scenario.open", source)
        await sync_to_async(run_command)("takedown", row.short, "--why", "spam")
        refused = await socket.error("scenario.open", source)
    assert refused["code"] == "source.gone" and "spam" in refused["message"]


def test_a_takedown_needs_a_link_and_a_reason(web: str) -> None:
    """Visitors are reported why, and a mistyped id is reported to the operator."""
    row = shared(web)
    with pytest.raises(CommandError, match="Give a reason"):
        run_command("takedown", row.short)
    with pytest.raises(CommandError, match="no link, run or comparison"):
        run_command("takedown", "AAAAAAAAAAA", "--why", "spam")
    assert not AuditEntry.objects.exists()


# --- bans --------------------------------------------------------------------------------------


def test_a_banned_address_is_refused_everywhere(web: str) -> None:
    """Pages and the API, before anything is stored; others are served, and it ends with the ban."""
    run_command("ban", "192.0.2.7", "--why", "flood")
    there, elsewhere = Client(REMOTE_ADDR="192.0.2.7"), Client(REMOTE_ADDR="192.0.2.8")
    for path in ("/", "/api/openapi.json", "/s/AAAAAAAAAAA/"):
        assert there.get(path).status_code == 403
    body = there.post("/api/scenarios", {"bundle": web}, content_type="application/json")
    assert body.status_code == 403 and body.json()["errors"][0]["message"] == bans.MESSAGE
    assert not Scenario.objects.exists()
    assert elsewhere.get("/").status_code == 200
    run_command("ban", "192.0.2.7", "--lift")
    assert there.get("/").status_code == 200


def test_a_network_of_ipv6_is_banned_as_one() -> None:
    """The /64 that one subscriber has."""
    run_command("ban", "2001:db8:1:2::1")
    assert Client(REMOTE_ADDR="2001:db8:1:2:ffff::9").get("/api/openapi.json").status_code == 403
    assert Client(REMOTE_ADDR="2001:db8:1:3::1").get("/api/openapi.json").status_code == 200


def test_a_banned_owner_is_refused_by_cookie_and_token(owner: Client, stranger: Client) -> None:
    """A new cookie is a new visitor: an address is the stronger ban."""
    run_command("ban", OWNER)
    assert owner.get("/").status_code == 403
    assert stranger.get("/").status_code == 200
    token = {"HTTP_AUTHORIZATION": f"Bearer {identity.sign(OWNER)}"}
    assert Client().get("/api/drafts", **token).status_code == 403  # type: ignore[arg-type]


def test_a_ban_ends_by_itself() -> None:
    """At the moment that it was given."""
    until = timezone.now() + timedelta(hours=1)
    run_command("ban", "192.0.2.7", "--until", until.isoformat())
    there = Client(REMOTE_ADDR="192.0.2.7")
    assert there.get("/api/openapi.json").status_code == 403
    Ban.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert there.get("/api/openapi.json").status_code == 200


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("192.0.2.7", "--until", "yesterday"), "no date"),
        (("192.0.2.7", "--until", "2020-01-01"), "has passed"),
        (("192.0.2.7", "--lift"), "not banned"),
    ],
)
def test_a_ban_that_makes_no_sense(arguments: tuple[str, ...], words: str) -> None:
    """It is refused, and not logged."""
    with pytest.raises(CommandError, match=words):
        run_command("ban", *arguments)
    assert not Ban.objects.exists() and not AuditEntry.objects.exists()


@pytest.mark.django_db(transaction=True)
async def test_a_banned_visitor_has_no_socket(web: str) -> None:
    """None is accepted, and one that is open answers nothing more."""
    async with connected() as socket:
        await socket.success("bundle.open", {"text": web})
        await sync_to_async(run_command)("ban", OWNER)
        assert (await socket.error("bundle.open", {"text": web}))["code"] == "permission.denied"
    raw = communicator(OWNER)
    assert (await raw.connect())[0] is False
    assert await Draft.objects.acount() == 1


def test_health_is_answered_without_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that does not answer must not end the process by its health check."""
    monkeypatch.setattr(bans, "read", lambda: pytest.fail("the database was asked"))
    assert Client().get("/healthz").status_code == 200


def test_a_database_that_is_away_lifts_no_ban(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list as it was read last goes on; nobody else is refused."""
    run_command("ban", "192.0.2.7")
    assert bans.refused("192.0.2.7")

    def away(*_: object) -> None:
        raise OSError("connection refused")

    monkeypatch.setattr(Ban.objects, "order_by", away)
    assert bans.refused("192.0.2.7") and not bans.refused("192.0.2.8")


# --- runs, lists, the log ------------------------------------------------------------------------


def test_anybodys_run_is_cancelled(web: str) -> None:
    """A queued one at once; one that is over or not there is named."""
    run, _ = service.start(bundles.parse([("", web)]), OWNER, text=web)
    assert "cancelled" in run_command("cancel", run.pk, "--why", "too large")
    assert Run.objects.get().state == "cancelled"
    with pytest.raises(CommandError, match="is over"):
        run_command("cancel", run.pk)
    with pytest.raises(CommandError, match="no run"):
        run_command("cancel", "none")


def test_lists_have_owner_size_and_age(web: str) -> None:
    """The largest first; of one owner or address where that is asked for."""
    row = shared(web)
    small = store.create_draft(OWNER, [("", "x")], "small")
    large = store.create_draft("another", [("", web)], "large\tone")
    run, _ = service.start(bundles.parse([("", web)], "a link"), OWNER, "192.0.2.7", text=web)
    lines = [line.split("\t") for line in run_command("list", "drafts").splitlines()]
    assert lines[0][:4] == ["id", "owner", "address", "bytes"]
    assert [line[0] for line in lines[1:]] == [large.pk, small.pk]
    assert {len(line) for line in lines} == {8}
    assert [line.split("\t")[0] for line in run_command("list", "drafts", "--owner", OWNER).splitlines()] == [
        "id",
        small.pk,
    ]
    assert row.short in run_command("list", "links", "--by", "age")
    assert run.pk in run_command("list", "runs", "--owner", "192.0.2.7")
    assert run.pk not in run_command("list", "runs", "--owner", "192.0.2.8")


def test_the_log_says_who_did_what_and_why(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest first; a user who became another by sudo is named as well."""
    row = shared(web)
    run_command("takedown", row.short, "--why", "names of\nreal people")
    monkeypatch.setenv("SUDO_USER", "alice")
    run_command("ban", "192.0.2.7", "--why", "flood")
    newest, oldest = (line.split("\t") for line in run_command("audit").splitlines())
    assert newest[1].startswith("alice as ")
    assert newest[2:] == ["ban", "192.0.2.7", "flood"]
    assert oldest[2:] == ["takedown", row.short, "names of real people"]
    assert len(run_command("audit", "--limit", "1").splitlines()) == 1


def test_the_operating_systems_user_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """By number where the system has no name for it, as in a container."""
    monkeypatch.delenv("SUDO_USER", raising=False)
    monkeypatch.setattr("os.getuid", lambda: 3_999_999)
    assert audit.operator() == "3999999"
