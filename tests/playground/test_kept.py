"""Static files from memory: what is answered again, what is not, and that memory is bounded."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from playground.asgi import application, django_application
from playground.serving import kept
from playground.serving.kept import StaticCache
from tests.playground.conftest import PATIENCE

pytestmark = pytest.mark.django_db

FILE = "/static/css/base.css"


async def get(app: Any, path: str, method: str = "GET", **headers: str) -> dict[str, Any]:
    """Return the answer, its headers as a dictionary with small letters."""
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), *sent],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    request = iter([{"type": "http.request", "body": b"", "more_body": False}])
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if message := next(request, None):
            return message
        return await asyncio.Future()

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await asyncio.wait_for(app(scope, receive, send), PATIENCE)
    first, *rest = messages
    return {
        "status": first["status"],
        "headers": {name.decode().lower(): value.decode() for name, value in first["headers"]},
        "body": b"".join(message.get("body", b"") for message in rest),
    }


async def test_a_file_is_answered_again_as_django_answered_it() -> None:
    """The second answer has the same headers and body, and Django is not asked for it."""
    asked: list[str] = []

    async def django(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["path"])
        await django_application(scope, receive, send)

    app = StaticCache(django)
    first, again = await get(app, FILE), await get(app, FILE)
    assert first == again
    assert first["status"] == 200
    assert first["headers"]["content-security-policy"].startswith("default-src 'self'")
    assert asked == [FILE]
    await get(app, FILE, accept_encoding="gzip")
    assert asked == [FILE, FILE]  # packed it is another answer


async def test_a_file_that_is_known_is_not_sent_again() -> None:
    """With its tag it is 304 without a body, by Django or from memory; another tag brings it whole."""
    app = StaticCache(django_application)
    first = await get(app, FILE)
    tag = first["headers"]["etag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}"):
        answer = await get(app, FILE, if_none_match=known)
        assert (answer["status"], answer["body"], answer["headers"]["etag"]) == (304, b"", tag)
    assert (await get(app, FILE, if_none_match='"other"'))["body"] == first["body"]
    assert (await get(StaticCache(django_application), FILE, if_none_match=tag))["status"] == 304


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        (FILE, "GET", {"range": "bytes=0-3"}, 206),
        (FILE, "HEAD", {}, 200),
        (FILE, "POST", {}, 405),
        ("/static/no.css", "GET", {}, 404),
        ("/healthz", "GET", {}, 200),
        ("/static/plotly/plotly.min.js", "GET", {}, 200),
    ],
)
async def test_all_else_is_djangos(path: str, method: str, headers: dict[str, str], status: int) -> None:
    """Ranges, other methods, what is not there, other pages and large files are answered, and not kept."""
    app = StaticCache(django_application)
    answer = await get(app, path, method, **headers)
    assert answer["status"] == status
    assert not app.answers


async def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound the file that was not asked for the longest goes."""
    app = StaticCache(django_application)
    sizes = {path: len((await get(app, path))["body"]) for path in (FILE, "/static/css/pages.css")}
    monkeypatch.setattr(kept, "ALL_BYTES", sum(sizes.values()))
    await get(app, FILE)
    await get(app, "/static/css/tokens.css")
    assert [path for path, _ in app.answers] == [FILE, "/static/css/tokens.css"]
    assert app.bytes == sum(len(answer.body) for answer in app.answers.values()) <= kept.ALL_BYTES


async def test_files_that_may_change_are_read_anew(settings: Any) -> None:
    """Under DEBUG nothing is kept."""
    settings.DEBUG = True
    app = StaticCache(django_application)
    await get(app, FILE)
    assert not app.answers


async def test_the_application_keeps_files() -> None:
    """The server's own application answers a file twice alike."""
    named = {"x_request_id": "the-same"}
    assert await get(application, FILE, **named) == await get(application, FILE, **named)
