"""Accounts: an owner, their second browser and a stranger; what each has before and after signing in."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import MD5PasswordHasher, make_password
from django.core.management import call_command
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from playground.accounts import ownership, passwords, recalls
from playground.accounts import sign_up as signing
from playground.celery import app
from playground.limits import LIMITS
from playground.live import closures
from playground.models import (
    Account,
    AuditEntry,
    Ban,
    Comment,
    Draft,
    EndedSession,
    Link,
    Recall,
    Room,
    RoomVote,
    Run,
    Share,
)
from playground.rooms import people, rows
from playground.runs import sweeps
from playground.storage import bundles, comments, comparisons, quotas, retention, store, visitor_lessons
from playground.tasks import expiry
from playground.visitors import bans, caller, identity, sessions
from tests.playground.conftest import OWNER, STRANGER, communicator, connected, visitor_client
from tests.playground.rooms import post

pytestmark = pytest.mark.django_db(transaction=True)

NAME, PASSWORD, OTHER = "ada.l", "four words of mine", "four other words"


@pytest.fixture(autouse=True)
def quick(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing takes no time, nor does a broker; bans are read anew."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    monkeypatch.setattr(bans, "_banned", {})
    monkeypatch.setattr(sessions, "_ended", frozenset())


def form(client: Client, what: str, **fields: str) -> Any:
    return client.post(f"/account/{what}", fields)


def sign_up(client: Client, name: str = NAME, password: str = PASSWORD, **more: str) -> Any:
    return form(client, "sign-up", username=name, password=password, **more)


def sign_in(client: Client, name: str = NAME, password: str = PASSWORD, **more: str) -> Any:
    return form(client, "sign-in", username=name, password=password, **more)


def named(client: Client) -> str:
    """Return the visitor that a browser's cookie names."""
    return identity.verify(client.cookies[settings.VISITOR_COOKIE].value)


def one_of_each(text: str, owner: str, address: str = "192.0.2.1") -> dict[type[Model], Any]:
    """Store one row of every kind; return their keys."""
    caller.called_from(address)
    scenario = bundles.parse([("", text)])
    shared = store.share(scenario, owner, text=text)
    draft = store.create_draft(owner, [("", text)], "Mine")
    sweep, _ = sweeps.start(shared.scenario, scenario, {"grid": {"seed": [1]}}, owner, address)
    run = sweep.runs.get()
    link = Link.objects.create(scenario=shared.scenario, owner=owner, decisions=b"", packed=1)
    room = rows.create(shared.scenario, owner, address, {"step": "0"}).room
    comment = Comment.objects.create(scenario=shared.scenario, owner=owner, step="1", text="Why?")
    share = Share.objects.get(owner=owner)
    side = comparisons.KeptSide(shared.scenario, scenario.release)
    compared = comparisons.share((side, side), b"{}", owner).comparison.shares.get(owner=owner)
    lesson = visitor_lessons.create(owner, {"notes.md": "Say little."}, "01-lesson", "A lesson")
    rows_ = (share, draft, run, sweep, link, room, comment, compared, lesson)
    return {type(row): row.pk for row in rows_}


def counted(owner: str) -> dict[str, int]:
    return {kind.one: count for kind, count in ownership.held(owner)}


KINDS = ("draft", "lesson", "link", "private link", "comparison", "run", "sweep", "room", "comment")
NONE = dict.fromkeys(KINDS, 0)
ONE = dict.fromkeys(NONE, 1)


# --- what is claimed -----------------------------------------------------------------------------


def test_every_model_with_an_owner_is_claimed() -> None:
    """A new kind of rows with an owner has to be in the table, or says here why it is not."""
    owned = {
        model
        for model in apps.get_app_config("playground").get_models()
        if any(field.name == "owner" for field in model._meta.get_fields())
    }
    assert owned - {kind.model for kind in ownership.KINDS} == {Account, Recall}


def test_signing_up_claims_what_the_cookie_owns(owner: Client, stranger: Client, web: str) -> None:
    """All of it, under a name that no cookie had; the former one owns nothing, and a stranger's stays."""
    one_of_each(web, OWNER)
    one_of_each(web, STRANGER)
    answer = sign_up(owner)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/account/?done=signed-up")
    account = Account.objects.get()
    assert named(owner) == account.owner not in {OWNER, STRANGER}
    assert counted(account.owner) == ONE
    assert counted(OWNER) == NONE
    assert counted(STRANGER) == ONE
    assert named(stranger) == STRANGER
    entries = list(AuditEntry.objects.order_by("pk").values_list("what", "subject", "why"))
    claimed = "1 draft, 1 lesson, 1 link, 1 private link, 1 comparison, 1 run, 1 sweep, 1 room, 1 comment"
    assert entries == [("sign up", NAME, ""), ("claim for account", NAME, claimed)]
    page = owner.get("/account/")
    assert [row["words"] for row in page.context["held"]] == claimed.split(", ")
    assert NAME in page.content.decode()


def test_another_device_has_the_same(owner: Client, stranger: Client, web: str) -> None:
    """It sees and changes what the first one made, brings its own along, and signed out has neither."""
    made = one_of_each(web, OWNER)
    sign_up(owner)
    assert stranger.get(f"/p/{made[Draft]}/").status_code == 404
    other = one_of_each(web, STRANGER)
    assert sign_in(stranger).headers["Location"] == "/account/?done=signed-in"
    assert named(stranger) == named(owner)
    assert counted(named(owner)) == {**ONE, **dict.fromkeys(ONE, 2)}
    for client in (owner, stranger):
        assert all(client.get(f"/p/{key}/").status_code == 200 for key in (made[Draft], other[Draft]))
    listed = [row["id"] for row in stranger.get("/stored/").context["rows"]]
    assert {made[Draft], made[Run], made[Link]} <= set(listed)
    assert stranger.post(f"/stored/draft/{made[Draft]}/delete").status_code == 302
    assert owner.get(f"/p/{made[Draft]}/").status_code == 404

    form(stranger, "sign-out")
    assert named(stranger) not in {STRANGER, named(owner)}
    assert counted(named(stranger)) == NONE
    assert stranger.get(f"/p/{other[Draft]}/").status_code == 404
    assert owner.get(f"/p/{other[Draft]}/").status_code == 200


def test_it_claims_nothing_of_another_account(owner: Client, web: str) -> None:
    """Who signs in to a second account without leaving the first one takes nothing along."""
    made = one_of_each(web, OWNER)
    sign_up(owner)
    first = named(owner)
    sign_up(owner, "second")
    assert named(owner) != first
    assert (counted(first), counted(named(owner))) == (ONE, NONE)
    sign_in(owner)
    assert (named(owner), owner.get(f"/p/{made[Draft]}/").status_code) == (first, 200)


def test_it_claims_all_or_nothing(owner: Client, web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure half-way leaves everything with the cookie, and no account."""
    one_of_each(web, OWNER)

    def failing(old: str, new: str) -> None:
        raise RuntimeError("half-way")

    monkeypatch.setattr(ownership, "_move_in_rooms", failing)
    with pytest.raises(RuntimeError, match="half-way"):
        sign_up(owner)
    assert counted(OWNER) == ONE
    assert not Account.objects.exists()


def test_quotas_neither_fail_a_claim_nor_lose_anything(
    owner: Client, stranger: Client, web: str, limits: Any
) -> None:
    """Above every quota nothing is deleted; another draft takes the place of one, other rows wait."""
    limits(DRAFTS_PER_OWNER=3, STORAGE_PER_OWNER=30_000)
    for visitor in (OWNER, STRANGER):
        for number in range(3):
            store.create_draft(visitor, [("", web)], f"{visitor[:5]} {number}")
    sign_up(owner)
    sign_in(stranger)
    mine = Draft.objects.filter(owner=named(owner))
    assert mine.count() == 6
    store.create_draft(named(owner), [("", web)], "newest")
    titles = set(mine.values_list("title", flat=True))
    assert titles == {"owner 1", "owner 2", "stran 0", "stran 1", "stran 2", "newest"}
    limits(STORAGE_PER_OWNER=1)
    with pytest.raises(quotas.StorageFullError):
        store.create_draft(named(owner), [("", web)])
    assert mine.count() == 6
    assert owner.get(f"/p/{mine.first().pk}/").status_code == 200


def test_who_somebody_is_in_a_room(owner: Client, web: str) -> None:
    """A lead that was handed over stays theirs, and their vote counts once."""
    room = rows.create(store.share(bundles.parse([("", web)]), STRANGER, text=web).scenario, STRANGER, "", {})
    before = people.person_of(room.room.pk, OWNER)
    rows.lead(room.room.pk, before, STRANGER)
    rows.vote(room.room.pk, 1, before, "a")
    sign_up(owner)
    after = people.person_of(room.room.pk, named(owner))
    assert Room.objects.get().leader == after != before
    assert list(RoomVote.objects.values_list("voter", "answer")) == [(after, "a")]


def test_a_room_is_led_from_another_device(owner: Client, stranger: Client, web: str) -> None:
    """By a token of the owner's, which the page links; not by one of a former owner."""
    shared = post("/api/scenarios", {"bundle": web}).json()["id"]
    made = owner.post("/api/rooms", {"scenario": shared}, content_type="application/json").json()
    former = rows.owner_token(Room.objects.get())
    sign_up(owner)
    sign_in(stranger)
    (row,) = stranger.get("/account/").context["rooms"]
    address, _, token = row["lead_url"].partition("#lead=")
    assert address == f"/r/{made['id']}/"
    room = Room.objects.get()
    assert [rows.holds_token(room, one) for one in (made["lead_token"], token)] == [True, True]
    assert [rows.holds_token(room, one) for one in ("", "guess", former)] == [False] * 3


# --- passwords -----------------------------------------------------------------------------------


def test_a_wrong_name_and_a_wrong_password_look_the_same(owner: Client, stranger: Client) -> None:
    """Status and text: nobody learns from signing in whether there is an account."""
    sign_up(owner)
    answers = [sign_in(stranger, password="not this one"), sign_in(stranger, "nobody", PASSWORD)]
    assert [answer.status_code for answer in answers] == [403, 403]
    assert len({answer.context["trouble"].text for answer in answers}) == 1
    assert named(stranger) == STRANGER
    assert sign_in(stranger, NAME.upper()).status_code == 302


def test_an_unknown_name_takes_a_hash_too(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as a known one's wrong password does."""
    hashed: list[str] = []
    Account.objects.create(username=NAME, password=make_password(PASSWORD), owner="x")
    encode = MD5PasswordHasher.encode

    def noted(self: MD5PasswordHasher, text: str, salt: str) -> str:
        hashed.append(text)
        return encode(self, text, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", noted)
    assert authenticate(None, username="nobody", password="wrong") is None
    assert authenticate(None, username=NAME, password="wrong") is None
    assert hashed == ["wrong", "wrong"]


@pytest.mark.parametrize(
    ("name", "password", "said"),
    [
        ("ab", PASSWORD, "This name is not allowed"),
        ("with space", PASSWORD, "This name is not allowed"),
        ("аda", PASSWORD, "This name is not allowed"),
        ("-dash", PASSWORD, "This name is not allowed"),
        ("", PASSWORD, "Enter a name"),
        (NAME, "", "Enter a password"),
        (NAME, "short", "too short"),
        (NAME, "1234509876543", "entirely numeric"),
        (NAME, "password123", "too common"),
        ("adalovelace", "adalovelace1", "too similar"),
        (NAME, "x" * 257, "at most 256"),
    ],
)
def test_what_cannot_be_a_name_or_a_password(owner: Client, name: str, password: str, said: str) -> None:
    """It is reported at its form, and nothing is made."""
    answer = sign_up(owner, name, password)
    assert (answer.status_code, answer.context["trouble"].form) == (422, "sign-up")
    assert said in answer.context["trouble"].text
    assert not Account.objects.exists()
    assert named(owner) == OWNER


def test_a_name_that_is_taken(owner: Client, stranger: Client) -> None:
    """In any letters, and whatever the password."""
    sign_up(owner)
    answer = sign_up(stranger, NAME.upper(), OTHER)
    assert (answer.status_code, answer.context["trouble"].field) == (409, "username")
    assert named(stranger) == STRANGER


def test_another_password_signs_out_elsewhere(owner: Client, stranger: Client, web: str) -> None:
    """The browser that changed it goes on; the other one has nothing until it signs in again."""
    made = one_of_each(web, OWNER)
    sign_up(owner)
    sign_in(stranger)
    former = named(stranger)
    assert form(owner, "password", password="wrong one", new=OTHER).status_code == 403
    assert named(owner) == former
    weak = form(owner, "password", password=PASSWORD, new="short")
    assert (weak.status_code, weak.context["trouble"].field) == (422, "new")
    answer = form(owner, "password", password=PASSWORD, new=OTHER)
    assert answer.headers["Location"] == "/account/?done=password"
    assert named(owner) != former
    assert (counted(named(owner)), counted(former)) == (ONE, NONE)
    assert owner.get(f"/p/{made[Draft]}/").status_code == 200
    assert stranger.get(f"/p/{made[Draft]}/").status_code == 404
    assert stranger.get("/account/").context["account"] is None
    assert sign_in(stranger).status_code == 403
    assert sign_in(stranger, password=OTHER).status_code == 302


def test_the_operator_sets_another_password(owner: Client, web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """``manage.py changepassword`` is Django's; it signs out every browser too."""
    one_of_each(web, OWNER)
    sign_up(owner)
    monkeypatch.setattr("getpass.getpass", lambda **_: OTHER)
    call_command("changepassword", NAME, verbosity=0)
    assert owner.get("/account/").context["account"] is None
    assert sign_in(owner, password=OTHER).status_code == 302
    assert counted(named(owner)) == ONE


def test_a_better_hash_signs_nobody_out(owner: Client, stranger: Client, settings: Any) -> None:
    """Django hashes a password anew when its hashers change; nobody has changed the password."""
    sign_up(owner)
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
        *settings.PASSWORD_HASHERS,
    ]
    former = named(owner)
    assert sign_in(stranger).status_code == 302
    assert Account.objects.get().password.startswith("pbkdf2")
    assert named(owner) == named(stranger) == former


def test_signing_out_elsewhere(owner: Client, stranger: Client, web: str) -> None:
    """All but the browser that asks; what is stored stays with the account."""
    one_of_each(web, OWNER)
    sign_up(owner)
    sign_in(stranger)
    form(owner, "sign-out-elsewhere")
    assert stranger.get("/account/").context["account"] is None
    assert owner.get("/account/").context["account"] is not None
    assert counted(named(owner)) == ONE


def test_deleting_an_account(owner: Client, stranger: Client, web: str) -> None:
    """The name goes and may be taken again; what it held is the browser's, and of no other one."""
    made = one_of_each(web, OWNER)
    sign_up(owner)
    sign_in(stranger)
    former = named(owner)
    assert form(owner, "delete", password="wrong one").status_code == 403
    assert Account.objects.exists()
    form(owner, "delete", password=PASSWORD)
    assert not Account.objects.exists()
    assert named(owner) not in {former, OWNER}
    assert counted(named(owner)) == ONE
    assert owner.get(f"/p/{made[Draft]}/").status_code == 200
    assert stranger.get(f"/p/{made[Draft]}/").status_code == 404
    assert sign_in(stranger).status_code == 403
    assert sign_up(stranger, password=OTHER).status_code == 302
    assert counted(named(stranger)) == NONE


# --- limits, bans, and other sites ---------------------------------------------------------------


def test_attempts_are_limited_by_address_and_by_account(stranger: Client, limits: Any) -> None:
    """By account from anywhere, and whether there is one or not; the right password has to wait, too."""
    limits(SIGN_INS_PER_ACCOUNT=2, SIGN_INS_PER_MINUTE=5)
    Account.objects.create(username=NAME, password=make_password(PASSWORD), owner="x")
    for name in (NAME, "nobody"):
        answers = [sign_in(stranger, name, "wrong one") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [403, 403, 429]
        assert int(answers[-1].headers["Retry-After"]) > 0
    elsewhere = Client(REMOTE_ADDR="192.0.2.77")
    assert sign_in(elsewhere).status_code == 429
    assert sign_in(stranger, "third", "wrong one").status_code == 429
    assert sign_in(elsewhere, "third", "wrong one").status_code == 403


def test_the_password_is_not_guessed_on_the_other_forms(owner: Client, limits: Any) -> None:
    """Whoever sits at a browser that is signed in has as few attempts."""
    limits(SIGN_INS_PER_ACCOUNT=2)
    sign_up(owner)
    answers = [form(owner, "delete", password="wrong one") for _ in range(2)]
    answers.append(form(owner, "password", password="wrong one", new=OTHER))
    assert [answer.status_code for answer in answers] == [403, 403, 429]


def test_accounts_are_limited(owner: Client, stranger: Client, limits: Any) -> None:
    """A minute's, of one address; and all there may be. Who has one signs in all the same."""
    limits(SIGN_UPS_PER_MINUTE=2, ACCOUNTS=1)
    assert sign_up(owner).status_code == 302
    assert sign_up(stranger, "second").status_code == 403
    assert sign_up(stranger, "second").status_code == 429
    assert sign_in(stranger).status_code == 302


def test_one_address_does_not_take_every_account(owner: Client, stranger: Client, limits: Any) -> None:
    """A day's accounts of one address; the form says in how many hours there are more."""
    limits(SIGN_UPS_PER_DAY=1)
    assert sign_up(owner).status_code == 302
    refused = sign_up(stranger, "second")
    assert refused.status_code == 429
    assert re.search(rb"try again in \d+ h", refused.content)
    default = {one.name: one.default for one in LIMITS}
    assert default["ACCOUNT_DAYS"] * default["SIGN_UPS_PER_DAY"] < default["ACCOUNTS"]


def test_passwords_are_hashed_few_at_a_time(owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who would wait too long is reported to come again."""
    monkeypatch.setattr(passwords, "WAIT_SECONDS", 0.01)
    with passwords.hashing(), passwords.hashing():
        assert sign_up(owner).status_code == 503
        assert sign_in(owner).headers["Retry-After"]
    assert sign_up(owner).status_code == 302


def test_a_server_without_accounts(owner: Client, limits: Any) -> None:
    """No page, no form, and no link to either; a cookie of before keeps what it owns."""
    sign_up(owner)
    assert b'href="/account/"' in owner.get("/runs/").content
    limits(ACCOUNTS=0)
    assert owner.get("/account/").status_code == 404
    for what in ("sign-in", "sign-up", "sign-out", "sign-out-elsewhere", "password", "delete"):
        assert form(owner, what, username=NAME, password=PASSWORD).status_code == 404
    assert b'href="/account/"' not in owner.get("/runs/").content


def test_a_banned_account(owner: Client, stranger: Client) -> None:
    """A ban of the owner refuses every browser that is signed in, and every further one."""
    sign_up(owner)
    Ban.objects.create(subject=Account.objects.get().owner)
    bans.read()
    assert owner.get("/account/").status_code == 403
    answer = sign_in(stranger)
    assert (answer.status_code, named(stranger)) == (403, STRANGER)
    assert "blocked" in answer.context["trouble"].text


def test_another_password_lifts_no_ban(owner: Client, stranger: Client) -> None:
    """The account's new owner is banned as the former one was."""
    sign_up(owner)
    account = Account.objects.get()
    Ban.objects.create(subject=account.owner)
    account.set_password(OTHER)
    account.save()
    bans.read()
    assert sign_in(stranger, password=OTHER).status_code == 403


def test_what_comes_late_goes_to_the_new_owner(owner: Client, web: str) -> None:
    """A draft that was stored under the cookie of before, although the password changed meanwhile."""
    sign_up(owner)
    account = Account.objects.get()
    late = store.create_draft(OWNER, [("", web)])
    ownership.rotate(account)
    ownership.claim_rest()
    assert Draft.objects.get(pk=late.pk).owner == account.owner


def test_a_banned_visitor_cannot_sign_in(owner: Client) -> None:
    """Nor make an account: a ban is no way to a new name."""
    Ban.objects.create(subject=OWNER)
    bans.read()
    assert sign_up(owner).status_code == 403
    assert not Account.objects.exists()


@pytest.mark.parametrize(
    "what", ["sign-in", "sign-up", "sign-out", "sign-out-elsewhere", "password", "delete"]
)
def test_forms_need_the_token_of_the_page(what: str) -> None:
    """A form of another site signs nobody in or out; a link does not either."""
    client = Client(enforce_csrf_checks=True)
    fields = {"username": NAME, "password": PASSWORD, "new": OTHER}
    assert client.post(f"/account/{what}", fields).status_code == 403
    assert client.get(f"/account/{what}").status_code == 405
    foreign = Client().post(f"/account/{what}", fields, headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403
    assert not Account.objects.exists()


def test_the_token_is_another_one_afterwards(owner: Client) -> None:
    """One that was known before signing in is worth nothing."""
    owner.get("/account/")
    before = owner.cookies["csrftoken"].value
    sign_up(owner)
    assert owner.cookies["csrftoken"].value != before


@pytest.mark.parametrize(
    ("asked", "led"),
    [
        ("/runs/", "/runs/"),
        ("/s/abc/?step=3", "/s/abc/?step=3"),
        ("https://evil.example/", "/account/?done=signed-in"),
        ("//evil.example/", "/account/?done=signed-in"),
        ("/\\evil.example/", "/account/?done=signed-in"),
        ("\\/evil.example", "/account/?done=signed-in"),
        ("javascript:alert(1)", "/account/?done=signed-in"),
        ("http://testserver/runs/", "/account/?done=signed-in"),
        ("/" + "x" * 3000, "/account/?done=signed-in"),
        ("", "/account/?done=signed-in"),
    ],
)
def test_where_signing_in_leads(owner: Client, stranger: Client, asked: str, led: str) -> None:
    """To the page that one came from, on this server; to no other."""
    sign_up(owner)
    assert sign_in(stranger, next=asked).headers["Location"] == led
    page = Client().get("/account/", {"next": asked})
    assert page.context["next"] == ("" if "done" in led else led)


def copied(client: Client) -> Client:
    """Return another browser with a copy of the cookie."""
    other = Client()
    other.cookies[settings.VISITOR_COOKIE] = client.cookies[settings.VISITOR_COOKIE].value
    return other


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").context["account"] is not None


def test_signing_out_ends_the_session_of_copied_cookies(owner: Client, stranger: Client, web: str) -> None:
    """On the server, for pages and for the API; another browser of the account stays signed in."""
    sign_up(owner)
    sign_in(stranger)
    copy, token = copied(owner), owner.cookies[settings.VISITOR_COOKIE].value
    drafts = {"bundle": web}
    bearer = {"Authorization": f"Bearer {token}"}
    made = Client().post("/api/drafts", drafts, "application/json", headers=bearer).json()
    assert is_signed_in(copied(owner)) and made["token"] == token
    form(owner, "sign-out")
    assert [is_signed_in(one) for one in (owner, copy, stranger)] == [False, False, True]
    assert Client().post("/api/drafts", drafts, "application/json", headers=bearer).status_code == 401
    # Another process has the list a moment later.
    sessions.read()
    assert identity.verify(token) == ""
    assert identity.verify(stranger.cookies[settings.VISITOR_COOKIE].value) == Account.objects.get().owner


def test_a_session_that_ends_during_a_reload_stays_ended(
    owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list was read before the session ended, and is put in place afterwards."""
    sign_up(owner)
    account, listed = Account.objects.get(), EndedSession.objects.values_list

    def read(*fields: str, flat: bool) -> list[str]:
        found = list(listed(*fields, flat=flat))
        assert sessions.end(account, "meanwhile")
        return found

    monkeypatch.setattr(EndedSession.objects, "values_list", read)
    sessions.read()
    assert sessions.is_ended("meanwhile")


async def test_a_copied_cookie_opens_no_socket_of_the_account(owner: Client) -> None:
    """It is connected as nobody."""
    await sync_to_async(sign_up)(owner)
    token = owner.cookies[settings.VISITOR_COOKIE].value
    await sync_to_async(form)(owner, "sign-out")
    raw = communicator("", cookie=f"{settings.VISITOR_COOKIE}={token}")
    assert (await raw.connect())[0]
    await raw.send_to(text_data=json.dumps(["bundle.open", 1, {"text": "kind: Node", "title": ""}]))
    assert json.loads(await raw.receive_from())[2]["code"] == "permission.denied"
    await raw.disconnect()


def test_a_cookie_without_a_session_takes_all_browsers_along(owner: Client) -> None:
    """One from before sessions had names: what was copied of it cannot be distinguished."""
    sign_up(owner)
    before = visitor_client(Account.objects.get().owner)
    form(before, "sign-out")
    assert not is_signed_in(owner)


def test_the_list_of_ended_sessions_stays_short(
    owner: Client, stranger: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An account with too many gets another owner, which ends all of its sessions at once."""
    monkeypatch.setattr(sessions, "MOST", 2)
    sign_up(owner)
    first = Account.objects.get().owner
    for _ in range(3):
        sign_in(stranger)
        form(stranger, "sign-out")
    assert not EndedSession.objects.exists()
    assert Account.objects.get().owner != first
    assert not is_signed_in(owner)


def test_the_cookie_of_an_account(owner: Client) -> None:
    """As long, as hidden and as bound to this site as the visitor's; nothing of it is on the page."""
    answer = sign_up(owner)
    cookie = answer.cookies[settings.VISITOR_COOKIE]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert cookie["max-age"] == settings.VISITOR_COOKIE_AGE
    page = owner.get("/account/")
    assert Account.objects.get().owner not in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    secure = sign_in(Client(), NAME)
    assert not secure.cookies[settings.VISITOR_COOKIE]["secure"]
    assert (
        Client()
        .post("/account/sign-in", {"username": NAME, "password": PASSWORD}, secure=True)
        .cookies[settings.VISITOR_COOKIE]["secure"]
    )


def test_what_was_typed_is_text(owner: Client) -> None:
    """A name with markup comes back as it was typed; a password never does."""
    answer = sign_in(owner, "<script>alert(1)</script>", "secret<b>words")
    assert b"<script>alert" not in answer.content
    assert b"secret" not in answer.content


# --- open pages ----------------------------------------------------------------------------------


async def test_open_pages_connect_anew(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket of the former name is closed; one of somebody else is not."""
    monkeypatch.setattr(closures.Recaller, "seconds", 0.05)
    draft = await sync_to_async(store.create_draft)(OWNER, [("", web)])
    async with connected(OWNER) as mine, connected(STRANGER) as other:
        await mine.success("draft.watch", {"draft": draft.pk})
        await sync_to_async(sign_up)(await sync_to_async(visitor_client)(OWNER))
        closed = await mine.communicator.receive_output()
        while closed["type"] != "websocket.close":
            closed = await mine.communicator.receive_output()
        assert closed["code"] == closures.CLOSED
        await asyncio.sleep(0.2)
        assert await other.success("session.hello", {})
    account = await Account.objects.aget()
    async with connected(account.owner) as again:
        assert await again.success("draft.watch", {"draft": draft.pk})


async def test_a_save_in_between_is_not_refused(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not answered, so that the page sends it again; a stranger's is refused as ever."""
    monkeypatch.setattr(closures.Recaller, "seconds", 60.0)
    draft = await sync_to_async(store.create_draft)(OWNER, [("", web)])
    async with connected(OWNER) as mine, connected(STRANGER) as other:
        await sync_to_async(sign_up)(await sync_to_async(visitor_client)(OWNER))
        save = {"draft": draft.pk, "title": "Later", "base": 1}
        assert (await other.error("draft.save", save))["code"] == "source.not-found"
        await mine.send("draft.save", save)
        assert await mine.communicator.receive_output() == {
            "type": "websocket.close",
            "code": closures.CLOSED,
        }
    account = await Account.objects.aget()
    async with connected(account.owner) as again:
        await again.success("draft.save", save)
    assert (await Draft.objects.aget()).title == "Later"


async def test_what_is_stored_in_between_is_claimed(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command of an open page that was under way: its row goes where the others went, a moment later."""
    monkeypatch.setattr(recalls, "GRACE", timedelta(0))
    await sync_to_async(sign_up)(await sync_to_async(visitor_client)(OWNER))
    late = await sync_to_async(store.create_draft)(OWNER, [("", web)])
    await closures.Recaller().look()
    account = await Account.objects.aget()
    assert (await Draft.objects.aget(pk=late.pk)).owner == account.owner


def test_what_took_long_is_claimed_all_the_same(owner: Client, web: str) -> None:
    """An import that began before: when the page is opened, or when expired rows are removed."""
    sign_up(owner)
    for looked in (lambda: owner.get("/account/"), expiry):
        late = store.create_draft(OWNER, [("", web)])
        looked()
        assert Draft.objects.get(pk=late.pk).owner == named(owner)


def test_a_form_that_is_sent_often_writes_one_row(owner: Client) -> None:
    """A copy of a cookie that signs out again and again fills no table."""
    sign_up(owner)
    former = named(owner)
    for _ in range(5):
        form(visitor_client(former), "sign-out")
    assert Recall.objects.filter(visitor=former).count() == 1


async def test_what_a_signed_out_browser_stores_is_its_own(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is claimed for an account that others were signed out of."""
    monkeypatch.setattr(recalls, "GRACE", timedelta(0))
    client = await sync_to_async(visitor_client)(OWNER)
    await sync_to_async(sign_up)(client)
    former = await sync_to_async(named)(client)
    await sync_to_async(form)(client, "password", password=PASSWORD, new=OTHER)
    late = await sync_to_async(store.create_draft)(former, [("", web)])
    await closures.Recaller().look()
    assert (await Draft.objects.aget(pk=late.pk)).owner == former


async def test_a_page_that_stays_is_closed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that keeps the former name, on another device, connects again and stays connected."""
    monkeypatch.setattr(closures.Recaller, "seconds", 0.05)
    await Recall.objects.acreate(visitor=OWNER, created=timezone.now() - timedelta(seconds=10))
    raw = communicator(OWNER)
    assert (await raw.connect())[0]
    assert await raw.receive_nothing(timeout=0.4)
    await raw.disconnect()


# --- what is kept --------------------------------------------------------------------------------


def test_accounts_that_hold_nothing_expire(web: str) -> None:
    """Long after the last sign-in, and not while anything is theirs; recalls go within hours."""
    long_ago = timezone.now() - timedelta(days=731)
    for name, seen in (("idle", long_ago), ("holds", long_ago), ("new", timezone.now())):
        Account.objects.create(username=name, owner=name, password="x", last_login=seen)
    store.create_draft("holds", [("", web)])
    Recall.objects.create(visitor="x", created=timezone.now() - timedelta(hours=2))
    Recall.objects.create(visitor="y")
    removed = retention.remove_expired()
    assert (removed["accounts"], removed["recalls"]) == (1, 1)
    assert set(Account.objects.values_list("username", flat=True)) == {"holds", "new"}


def test_a_comment_is_edited_on_another_device(owner: Client, stranger: Client, web: str) -> None:
    """By who wrote it, on either device."""
    made = one_of_each(web, OWNER)
    sign_up(owner)
    sign_in(stranger)
    row = Comment.objects.get(pk=made[Comment])
    assert [comments.may_edit(row, comments.Author(one)) for one in (named(stranger), OWNER)] == [True, False]
    assert stranger.get("/account/").context["commented"][0]["url"].endswith("/review/")


def test_no_permissions_of_django_are_stored() -> None:
    """Its tables are there for the accounts; nobody has permissions, so none is written."""
    from django.contrib.auth.models import Permission
    from django.contrib.contenttypes.models import ContentType

    assert "playground_account" in connection.introspection.table_names()
    call_command("migrate", verbosity=0)
    assert (Permission.objects.count(), ContentType.objects.count()) == (0, 0)


def test_signing_up_twice_at_once(owner: Client) -> None:
    """Two forms with one name: the second is reported that it is taken, though it looked free."""
    sign_up(owner)
    with pytest.raises(signing.NameTakenError):
        signing.sign_up(NAME, OTHER, STRANGER)
    assert Account.objects.count() == 1
