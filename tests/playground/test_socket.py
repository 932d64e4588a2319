"""The socket: frames, limits, and what closing leaves behind. Drives the real ASGI application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings

from playground.live import consumer
from playground.live.consumer import Connection, Outgoing
from playground.playback.library import library

from .conftest import OWNER, communicator, connected

pytestmark = pytest.mark.django_db(transaction=True)


async def test_hello() -> None:
    """A client learns the version and the limits it should keep."""
    async with connected() as socket:
        answer = await socket.ask("session.hello", {})
    assert answer[:2] == ["success", 1]
    assert answer[2]["version"] == settings.VERSION
    assert answer[2]["limits"]["WINDOW_CYCLES"] == 100


@pytest.mark.parametrize(
    ("frame", "code", "request_id"),
    [
        ("{", "frame.malformed", None),
        pytest.param("[" * 100_000, "frame.malformed", None, id="very deep"),
        ('{"a": 1}', "frame.malformed", None),
        ("[]", "frame.malformed", None),
        ('["session.hello"]', "frame.malformed", None),
        ('["session.hello", "1", {}]', "frame.malformed", None),
        ('["session.hello", true, {}]', "frame.malformed", None),
        ('["session.hello", 1e400, {}]', "frame.malformed", None),
        (f'["session.hello", {2**60}, {{}}]', "frame.malformed", None),
        ('[["session.hello"], 1, {}]', "frame.malformed", None),
        ('["session.goodbye", 1, {}]', "command.unknown", 1),
        ('["__class__", 1, {}]', "command.unknown", 1),
        ('["session.hello", 1, []]', "payload.invalid", 1),
        ('["scenario.open", 1, {}]', "payload.invalid", 1),
        ('["scenario.open", 1, {"source": "x"}]', "payload.invalid", 1),
        ('["scenario.open", 1, {"source": {}}]', "source.not-found", 1),
        ('["scenario.open", 1, {"source": {"scenario": ["x"]}}]', "source.not-found", 1),
        ('["scenario.open", 1, {"source": {"file": "/etc/passwd"}}]', "source.not-found", 1),
        ('["run.cancel", 1, {"run": "x"}]', "source.not-found", 1),
        ('["run.cancel", 1, {"run": {"a": 1}}]', "payload.invalid", 1),
        ('["cycles.window", 1, {"source": {"run": "x"}, "from": -1, "count": 3}]', "payload.invalid", 1),
        ('["cycles.window", 1, {"source": {"run": "x"}, "from": 1.5, "count": 3}]', "payload.invalid", 1),
        ('["bundle.check", 1, {"text": null}]', "payload.invalid", 1),
    ],
)
async def test_hostile_frames(frame: str, code: str, request_id: int | None) -> None:
    """Each is answered with what is wrong, and the connection goes on."""
    async with connected() as socket:
        await socket.communicator.send_to(text_data=frame)
        status, request, body = json.loads(await socket.communicator.receive_from())
        assert (status, request, body["code"]) == ("error", request_id, code)
        assert body["message"]
        assert await socket.success("session.hello", {})


async def test_binary_frames_are_refused() -> None:
    """Frames are text."""
    async with connected() as socket:
        await socket.communicator.send_to(bytes_data=b"\x00")
        assert json.loads(await socket.communicator.receive_from())[2]["code"] == "frame.malformed"


async def test_a_frame_that_is_too_large(limits: Callable[..., None]) -> None:
    """It is refused unread."""
    limits(FRAME_BYTES=100)
    async with connected() as socket:
        await socket.communicator.send_to(text_data=json.dumps(["bundle.check", 1, {"text": "x" * 100}]))
        assert json.loads(await socket.communicator.receive_from())[2]["code"] == "frame.too-large"


async def test_the_rate_is_bounded_and_then_the_connection(
    limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many frames are refused with a time to wait; who goes on is closed with 1008."""
    limits(FRAMES_PER_SECOND=1)
    monkeypatch.setattr(consumer, "REFUSALS", 5)
    async with connected() as socket:
        for _ in range(consumer.BURST_SECONDS):
            await socket.success("session.hello", {})
        refused = await socket.error("session.hello", {})
        assert refused["code"] == "rate.limited"
        assert 0 < refused["retryAfter"] <= 1
        for _ in range(5):
            await socket.send("session.hello", {})
        frames = [await socket.communicator.receive_output(timeout=5) for _ in range(5)]
        assert frames[-1]["type"] == "websocket.close"
        assert frames[-1]["code"] == 1008


async def test_connections_of_one_address_are_bounded(limits: Callable[..., None]) -> None:
    """One too many is not accepted; a place that is left can be taken."""
    limits(SOCKETS_PER_ADDRESS=1)
    async with connected():
        accepted, _ = await communicator(OWNER).connect()
        assert not accepted
    async with connected() as socket:
        assert await socket.success("session.hello", {})
    assert not Connection.open_by_address


async def test_other_sites_cannot_connect() -> None:
    """A page of another origin would bring the visitor's cookie."""
    for origin in ("https://evil.example", ""):
        accepted, _ = await communicator(OWNER, origin=origin).connect()
        assert not accepted


async def test_a_forged_cookie_names_nobody(web: str) -> None:
    """Only a cookie that we signed counts."""
    raw = communicator("", cookie=f"{settings.VISITOR_COOKIE}={OWNER}")
    await raw.connect()
    await raw.send_to(text_data=json.dumps(["bundle.open", 1, {"text": web}]))
    assert json.loads(await raw.receive_from())[2]["code"] == "permission.denied"
    await raw.disconnect()


async def test_a_client_that_does_not_read_is_disconnected(
    limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits for it is bounded."""
    limits(OUTGOING_FRAMES=3)

    async def stuck(*_: Any, **__: Any) -> None:
        await asyncio.sleep(60)

    async with connected() as socket:
        monkeypatch.setattr(Connection, "send", stuck)
        for _ in range(8):
            await socket.send("session.hello", {})
        output = await socket.communicator.receive_output(timeout=5)
        assert (output["type"], output["code"]) == ("websocket.close", 1008)


def test_outgoing_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few huge frames are too much as well."""
    monkeypatch.setattr(consumer, "OUTGOING_BYTES", 10)
    outgoing = Outgoing()
    assert outgoing.put("12345")
    assert not outgoing.put("1234567")
    assert outgoing.overflown


async def test_a_defect_is_answered_and_logged_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected error tells the client no detail, and the connection goes on."""

    async def broken(*_: Any) -> None:
        raise RuntimeError("secret detail")

    async with connected() as socket:
        monkeypatch.setattr(consumer, "dispatch", broken)
        body = await socket.error("session.hello", {})
        assert body["code"] == "server.error"
        assert "secret" not in json.dumps(body)


async def test_closing_leaves_nothing_attended(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that goes away in the middle of computing is forgotten."""
    from playground.playback.playback import Playback

    monkeypatch.setattr(Playback, "advance", lambda _self, _seconds: True)
    async with connected() as socket:
        opened = await socket.success("bundle.open", {"text": web})
        body = await socket.success("scenario.open", {"source": {"draft": opened["draft"]}})
        assert not body["complete"]
        assert len(library.attended()) == 1
    assert library.attended() == []
