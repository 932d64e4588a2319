"""Bodies, addresses, secrets, cleaning: the small things that keep the server standing."""

from __future__ import annotations

import stat
from collections.abc import Callable, MutableMapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from playground.limits import LIMITS
from playground.models import Draft, Run, Scenario
from playground.serving import bodies
from playground.serving.data_folder import secret as embedded_secret
from playground.storage import bundles, store
from playground.visitors import addresses, identity
from tests.playground.conftest import OWNER


async def ask(parts: list[bytes], headers: list[tuple[bytes, bytes]]) -> tuple[int, int]:
    """Send a body in parts; return the status, and how many parts were read."""
    sent: list[MutableMapping[str, Any]] = []
    queue = [
        {"type": "http.request", "body": part, "more_body": i + 1 < len(parts)}
        for i, part in enumerate(parts)
    ]
    read = 0

    async def receive() -> MutableMapping[str, Any]:
        nonlocal read
        read += 1
        return queue.pop(0)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})

    await bodies.bounded(application)({"type": "http", "headers": headers}, receive, send)
    return sent[0]["status"], read


async def test_a_body_that_says_it_is_too_long_is_not_read(limits: Callable[..., None]) -> None:
    """413 before the first byte."""
    limits(BUNDLE_BYTES=100)
    assert await ask([b"x"], [(b"content-length", b"10000000")]) == (413, 0)
    assert await ask([b"x"], [(b"content-length", b"-5")]) == (413, 0)
    assert await ask([b"x" * 100], [(b"content-length", b"100")]) == (200, 1)


async def test_a_body_that_turns_out_too_long(limits: Callable[..., None]) -> None:
    """A chunked body is cut where it exceeds the bound."""
    limits(BUNDLE_BYTES=100)
    assert await ask([b"x" * 50_000] * 5, []) == (413, 2)


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "", "peer"),
        (0, "1.1.1.1", "peer"),
        (1, "6.6.6.6, 1.1.1.1", "1.1.1.1"),
        (2, "6.6.6.6, 1.1.1.1, 2.2.2.2", "1.1.1.1"),
        (2, "1.1.1.1", "peer"),
        (1, " , ", "peer"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (1, "::ffff:192.0.2.7", "192.0.2.7"),
        (1, "x" * 500, "x" * 48),
    ],
)
def test_only_our_own_proxies_are_believed(
    limits: Callable[..., None], proxies: int, forwarded: str, address: str
) -> None:
    """A client cannot choose the address that it is counted by."""
    limits(TRUSTED_PROXIES=proxies)
    assert addresses.client_address("peer", forwarded) == address


@pytest.mark.parametrize("cookie", ["", "x", f"{OWNER}:forged", "a=b; c", "\x00"])
def test_cookies_that_are_not_ours(cookie: str) -> None:
    """They name nobody."""
    assert identity.verify(cookie) == ""
    assert identity.visitor_of_headers([(b"cookie", f"podstep_visitor={cookie}".encode())]) == ""


def test_the_embedded_secret_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    """Two processes that start together share it, and nobody else can read it."""
    path = tmp_path / "secret"
    first = embedded_secret(path)
    assert len(first) > 40
    assert embedded_secret(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_limits_have_names_defaults_and_meanings() -> None:
    """The table is what the documentation shows."""
    assert len({row.name for row in LIMITS}) == len(LIMITS)
    for row in LIMITS:
        assert row.default >= 0 and row.unit and row.meaning


@pytest.mark.django_db
def test_cleaning_removes_what_is_old_and_nothing_else(web: str) -> None:
    """Expired drafts and ended runs go, with scenarios that only they needed."""
    now = timezone.now()
    old = now - timedelta(days=100)
    for title, moment in (("old", old), ("new", now)):
        draft = store.create_draft(OWNER, [("", "x")], title)
        Draft.objects.filter(pk=draft.pk).update(expires=moment + timedelta(days=1))
    shared = store.share(bundles.parse([("", web)], "shared")).scenario
    alone = store.keep_scenario(bundles.parse([("", web)], "alone"))
    Run.objects.create(scenario=shared, owner=OWNER, state="done", expires=old)
    Run.objects.create(scenario=alone, owner=OWNER, state="done", expires=old)
    recent = Run.objects.create(scenario=shared, owner=OWNER, state="failed", finished=now)
    waiting = Run.objects.create(scenario=shared, owner=OWNER, expires=old)
    call_command("cleanup")
    assert list(Draft.objects.values_list("title", flat=True)) == ["new"]
    assert set(Run.objects.all()) == {recent, waiting}
    assert list(Scenario.objects.all()) == [shared]
