"""What pages of other origins may not do: open a WebSocket, or change anything by HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings as in_use
from django.test import Client

from playground.celery import app
from playground.models import Run
from playground.serving.origins import is_own
from playground.storage import bundles, store
from tests.playground.conftest import OWNER, communicator

pytestmark = pytest.mark.django_db(transaction=True)

#: Origin, Host, scheme of the browser (None: not known), whether they are the same.
ORIGINS = (
    ("http://localhost", "localhost", None, True),
    ("http://localhost:80", "localhost", None, True),
    ("http://localhost:8000", "localhost:8000", None, True),
    ("http://LOCALHOST:8000", "localhost:8000", None, True),
    ("http://[::1]:8000", "[::1]:8000", None, True),
    ("http://localhost:9000", "localhost:8000", None, False),
    ("http://localhost", "localhost:8000", None, False),
    ("http://localhost:8000", "localhost", None, False),
    ("http://127.0.0.1:8000", "localhost:8000", None, False),
    ("http://[::1]:8001", "[::1]:8000", None, False),
    ("https://localhost", "localhost", None, True),  # behind a proxy that was not announced
    ("https://localhost", "localhost:8000", None, False),
    ("https://localhost", "localhost", "https", True),
    ("https://localhost:443", "localhost", "https", True),
    ("https://localhost:8443", "localhost:8443", "https", True),
    ("https://localhost:8443", "localhost", "https", False),
    ("http://localhost", "localhost", "https", False),
    ("https://localhost", "localhost", "http", False),
    ("http://evil.example", "evil.example", None, False),  # a name that was rebound to this server
    ("null", "localhost", None, False),
    ("", "localhost", None, False),
    ("file://", "", None, False),
    ("http://localhost:http", "localhost", None, False),
    ("http://localhost:99999", "localhost", None, False),
    ("http://[::1", "[::1", None, False),
    ("http://localhost, http://localhost", "localhost", None, False),
    ("chrome-extension://localhost", "localhost", None, False),
)


@pytest.mark.parametrize(("origin", "host", "scheme", "same"), ORIGINS)
def test_an_origin_is_scheme_host_and_port(
    origin: str, host: str, scheme: str | None, same: bool, settings: Any
) -> None:
    """Only a page at the address that was asked is a page of this server."""
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
    assert is_own(origin, host, scheme) is same


@pytest.mark.parametrize(
    ("origin", "host", "accepted"),
    [
        ("http://localhost:8000", "localhost:8000", True),
        ("http://localhost:9000", "localhost:8000", False),
        ("http://localhost", "localhost:8000", False),
        ("https://localhost", "localhost:8000", False),
        ("http://evil.example", "evil.example", False),
    ],
)
async def test_a_websocket_is_opened_by_a_page_of_this_server_only(
    origin: str, host: str, accepted: bool
) -> None:
    """Another port of the same machine is another site: it would bring the visitor's cookie."""
    raw = communicator(OWNER, origin=origin)
    raw.scope["headers"] = [(b"host", host.encode()), *raw.scope["headers"][1:]]
    assert (await raw.connect())[0] is accepted
    await raw.disconnect()


@pytest.mark.parametrize(
    ("proxies", "forwarded", "origin", "accepted"),
    [
        (1, "https", "https://localhost", True),
        (1, "https", "http://localhost", False),
        (1, "http", "https://localhost", False),
        (1, "", "https://localhost", True),  # the proxy does not say
        (0, "http", "https://localhost", True),  # anybody may have said so
    ],
)
async def test_a_trusted_proxy_tells_the_scheme(
    settings: Any, proxies: int, forwarded: str, origin: str, accepted: bool
) -> None:
    """Behind TLS the page is https, and a page of plain http is another one."""
    settings.PLAYGROUND = {**settings.PLAYGROUND, "TRUSTED_PROXIES": proxies}
    raw = communicator(OWNER, origin=origin, **({"x-forwarded-proto": forwarded} if forwarded else {}))
    assert (await raw.connect())[0] is accepted
    await raw.disconnect()


#: What marks a request as another site's: each is sent by some browser.
FOREIGN = (
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://testserver:9000"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://testserver:9000"},
    {"Origin": "null"},
)
#: What marks it as ours, or as that of no browser.
OURS: tuple[dict[str, str], ...] = (
    {},
    {"Sec-Fetch-Site": "same-origin", "Origin": "http://testserver"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": "http://testserver"},
)
#: Content types that a page may send anywhere without asking, and one that it may not.
SIMPLE = (
    "text/plain",
    "text/plain; charset=utf-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "",
)


@pytest.fixture
def caller(monkeypatch: pytest.MonkeyPatch) -> Client:
    """A caller with forgery checks as in production; runs wait."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    return Client(enforce_csrf_checks=True)


def send(caller: Client, method: str, address: str, body: str, kind: str, headers: dict[str, str]) -> Any:
    return caller.generic(method, address, body, content_type=kind, headers=headers)


@pytest.mark.parametrize("kind", [*SIMPLE, "application/json"])
@pytest.mark.parametrize("headers", FOREIGN)
def test_pages_of_other_sites_start_no_runs(
    caller: Client, web: str, headers: dict[str, str], kind: str
) -> None:
    """Whatever the content type: nothing is computed for them, and the answer says why in JSON."""
    short = store.share(bundles.parse([("", web)])).scenario.short
    body = json.dumps({"scenario": short})
    answer = send(caller, "POST", "/api/runs", body, kind, headers)
    assert answer.status_code == 403
    assert "another site" in answer.json()["errors"][0]["message"]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("POST", "/api/scenarios"),
        ("POST", "/api/drafts"),
        ("POST", "/api/generate"),
        ("PATCH", "/api/drafts/AAAAAAAAAAA"),
        ("DELETE", "/api/scenarios/AAAAAAAAAAA"),
        ("POST", "/api/runs/AAAAAAAAAAA/cancel"),
        ("POST", "/import/"),
        ("DELETE", "/import/AAAAAAAAAAA/"),
        ("POST", "/runs/AAAAAAAAAAA/cancel"),
    ],
)
@pytest.mark.parametrize("headers", FOREIGN)
def test_pages_of_other_sites_change_nothing(
    caller: Client, method: str, address: str, headers: dict[str, str]
) -> None:
    """Every address that changes something refuses them, before it looks at what was sent."""
    assert send(caller, method, address, "", "text/plain", headers).status_code == 403


@pytest.mark.parametrize("kind", [*SIMPLE[:3], "", "application/yaml", "application/json"])
@pytest.mark.parametrize("headers", OURS)
def test_programs_and_own_pages_send_as_before(
    caller: Client, web: str, headers: dict[str, str], kind: str
) -> None:
    """A call by curl has no Origin: YAML as text/plain, or as its default form type, is stored."""
    answer = send(caller, "POST", "/api/scenarios", web, kind, headers)
    assert answer.status_code == 201, answer.content
    body = json.dumps({"scenario": answer.json()["id"]})
    assert send(caller, "POST", "/api/runs", body, kind, headers).status_code == 201


def test_links_from_other_sites_lead_here(caller: Client, web: str) -> None:
    """Reading is no change: a link on another page opens, and so does the API."""
    short = store.share(bundles.parse([("", web)])).scenario.short
    for address in ("/", f"/s/{short}/", f"/api/scenarios/{short}"):
        for headers in FOREIGN:
            assert caller.get(address, headers=headers).status_code == 200


def test_an_untrusted_https_origin_of_another_port_sends_no_form(web: str) -> None:
    """That https://localhost is a trusted origin of forms does not let it send them to localhost:8000."""
    browser = Client(enforce_csrf_checks=True, headers={"Host": "localhost:8000"})
    browser.get("/")
    assert "https://localhost" in in_use.CSRF_TRUSTED_ORIGINS
    form = {"text": web, "csrfmiddlewaretoken": browser.cookies["csrftoken"].value}
    for origin, status in (("https://localhost", 403), ("http://localhost:8000", 302)):
        assert browser.post("/import/", form, headers={"Origin": origin}).status_code == status
