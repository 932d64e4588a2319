"""Behind TLS, and with a new secret key: cookies and what browsers are reported about them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from playground.celery import app
from playground.models import Draft
from playground.runs import service
from playground.storage import bundles, store
from playground.visitors import identity
from tests.playground.conftest import OWNER, connected

pytestmark = pytest.mark.django_db(transaction=True)

FORMER = "the-key-of-before-which-is-more-than-fifty-characters-long-0123456789"
CURRENT = "the-key-of-today-which-is-more-than-fifty-characters-long-0123456789x"


@pytest.fixture
def proxied(settings: Any) -> None:
    """A proxy in front that ends TLS."""
    settings.PLAYGROUND = {**settings.PLAYGROUND, "TRUSTED_PROXIES": 1}
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


def test_over_tls_every_cookie_is_secure(proxied: None) -> None:
    """The browser never sends them over plain http, and uses TLS from now on."""
    page = Client().get("/", headers={"X-Forwarded-Proto": "https"})
    assert {name: bool(cookie["secure"]) for name, cookie in page.cookies.items()} == {
        "podstep_visitor": True,
        "csrftoken": True,
    }
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.parametrize("forwarded", ["http", ""])
def test_over_plain_http_cookies_work_as_before(proxied: None, forwarded: str) -> None:
    """A Secure cookie would be dropped there."""
    page = Client().get("/", headers={"X-Forwarded-Proto": forwarded} if forwarded else {})
    assert not any(cookie["secure"] for cookie in page.cookies.values())
    assert len(page.cookies) == 2
    assert "Strict-Transport-Security" not in page.headers


def test_nobody_claims_tls_where_no_proxy_is_trusted() -> None:
    """The header of a visitor says nothing."""
    page = Client().get("/", headers={"X-Forwarded-Proto": "https"})
    assert not any(cookie["secure"] for cookie in page.cookies.values())
    assert "Strict-Transport-Security" not in page.headers


@pytest.fixture
def signed_before(settings: Any) -> str:
    """A cookie of the owner, signed with the key of before; the key of today accepts it."""
    settings.SECRET_KEY = FORMER
    cookie = identity.sign(OWNER)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = CURRENT, [FORMER]
    return cookie


def named(cookie: str) -> Client:
    client = Client()
    client.cookies["podstep_visitor"] = cookie
    return client


def test_a_cookie_of_the_former_key_is_accepted_and_signed_anew(
    signed_before: str, settings: Any, web: str
) -> None:
    """Its visitor keeps all drafts, also once the former key is gone; the cookie is written once."""
    draft = store.create_draft(OWNER, [("", web)])
    browser = named(signed_before)
    page = browser.get(f"/p/{draft.pk}/")
    assert page.status_code == 200
    assert page.cookies["podstep_visitor"].value == identity.sign(OWNER) != signed_before
    assert "podstep_visitor" not in browser.get(f"/p/{draft.pk}/").cookies
    settings.SECRET_KEY_FALLBACKS = []
    assert browser.get(f"/p/{draft.pk}/").status_code == 200
    assert named(signed_before).get(f"/p/{draft.pk}/").status_code == 404


async def test_a_connection_with_a_cookie_of_the_former_key_is_its_owners(
    signed_before: str, web: str, settings: Any
) -> None:
    """The page's WebSocket comes with the cookie that the page was asked with."""
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = FORMER, []
    async with connected(OWNER) as socket:
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = CURRENT, [FORMER]
        assert (await socket.success("bundle.open", {"text": web}))["draft"]


def test_tokens_of_before_are_as_good_as_ever(
    settings: Any, web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delete and cancel tokens are random, kept by their digest: no key has a part in them."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    settings.SECRET_KEY = FORMER
    scenario = bundles.parse([("", web)])
    shared = store.share(scenario)
    run, cancel_token = service.start(scenario, "address:127.0.0.1", "127.0.0.1", text=web)
    settings.SECRET_KEY = CURRENT
    client = Client()
    cancelled = client.post(f"/api/runs/{run.pk}/cancel", headers={"Authorization": f"Bearer {cancel_token}"})
    assert cancelled.status_code == 200, cancelled.content
    deleted = client.delete(
        f"/api/scenarios/{shared.scenario.short}", headers={"Authorization": f"Bearer {shared.delete_token}"}
    )
    assert deleted.status_code == 204, deleted.content


def test_a_draft_token_of_the_former_key_works_while_it_is_accepted(
    signed_before: str, settings: Any
) -> None:
    """It is the cookie's value; without the former key it names nobody."""
    headers = {"Authorization": f"Bearer {signed_before}"}
    assert Client().get("/api/drafts", headers=headers).status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert Client().get("/api/drafts", headers=headers).status_code == 401
    assert not Draft.objects.exists()
