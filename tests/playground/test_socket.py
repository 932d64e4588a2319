"""The socket: frames, limits, and what closing leaves behind. Drives the real ASGI application."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings

from playground.live import consumer, frames
from playground.live.consumer import Connection, Outgoing, Queued
from playground.live.modules import policy
from playground.playback.library import library
from playground.playback.playback import Playback
from tests.playground.conftest import OWNER, PATIENCE, communicator, connected

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


async def test_a_frame_waits_for_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames do not queue for the one thread where Channels closes database connections."""
    passed: list[int] = []

    async def through_the_thread() -> None:
        passed.append(1)

    monkeypatch.setattr("channels.consumer.aclose_old_connections", through_the_thread)
    async with connected() as socket:
        for _ in range(3):
            await socket.success("session.hello", {})
    assert passed == []


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
    # On a slow machine a frame would be allowed again meanwhile.
    monkeypatch.setattr(consumer, "time", SimpleNamespace(monotonic=lambda: 1.0))
    async with connected() as socket:
        for _ in range(consumer.BURST_SECONDS):
            await socket.success("session.hello", {})
        refused = await socket.error("session.hello", {})
        assert refused["code"] == "rate.limited"
        assert 0 < refused["retryAfter"] <= 1.001
        for _ in range(5):
            await socket.send("session.hello", {})
        frames = [await socket.communicator.receive_output() for _ in range(5)]
        assert frames[-1]["type"] == "websocket.close"
        assert frames[-1]["code"] == 1008


async def test_a_client_that_left_while_it_is_closed_gives_back_its_place(
    limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing it raises; its address must not be one connection poorer for that."""

    async def gone(*_: Any, **__: Any) -> None:
        raise ConnectionResetError

    limits(FRAMES_PER_SECOND=1)
    monkeypatch.setattr(consumer, "REFUSALS", 0)
    monkeypatch.setattr(consumer, "time", SimpleNamespace(monotonic=lambda: 1.0))
    monkeypatch.setattr(Connection, "close", gone)
    raw = communicator(OWNER)
    await raw.connect()
    assert Connection.open_by_address
    for _ in range(consumer.BURST_SECONDS + 1):
        await raw.send_to(text_data='["session.hello", 1, {}]')
    with pytest.raises(ConnectionResetError):
        await raw.wait()
    assert not Connection.open_by_address


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
        await asyncio.Event().wait()

    async with connected() as socket:
        monkeypatch.setattr(Connection, "send", stuck)
        for _ in range(8):
            await socket.send("session.hello", {})
        output = await socket.communicator.receive_output()
        assert (output["type"], output["code"]) == ("websocket.close", 1008)


def test_outgoing_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few huge frames are too much as well."""
    monkeypatch.setattr(consumer, "OUTGOING_BYTES", 10)
    outgoing = Outgoing()
    assert outgoing.put("12345")
    assert not outgoing.put("1234567")
    assert outgoing.overflown
    outgoing.drop()


async def test_a_defect_is_answered_and_logged_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected error, or an answer that JSON cannot hold, has no detail, and the connection goes on."""

    async def broken(*_: Any) -> None:
        raise RuntimeError("secret detail")

    async def unencodable(*_: Any) -> object:
        return {"secret": object()}

    async with connected() as socket:
        for defect in (broken, unencodable):
            monkeypatch.setattr(consumer, "dispatch", defect)
            body = await socket.error("session.hello", {})
            assert body["code"] == "server.error"
            assert "secret" not in json.dumps(body)


async def test_closing_leaves_nothing_attended(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that goes away in the middle of computing is forgotten."""
    monkeypatch.setattr(Playback, "advance", lambda _self, _seconds: True)
    async with connected() as socket:
        opened = await socket.success("bundle.open", {"text": web})
        body = await socket.success("scenario.open", {"source": {"draft": opened["draft"]}})
        assert not body["complete"]
        assert len(library.attended()) == 1
    assert library.attended() == []


async def test_small_commands_have_small_frames() -> None:
    """Only a bundle's frame may be large, and the refusal says which request it was."""
    async with connected() as socket:
        await socket.communicator.send_to(text_data='["session.hello", 7, {"x": "' + "x" * 70_000 + '"}]')
        status, request, body = json.loads(await socket.communicator.receive_from())
        assert (status, request, body["code"]) == ("error", 7, "frame.too-large")


@pytest.mark.parametrize(
    "payload", ['{"text": "%s", "x": [[]]}', '{"text": "%s"', '{"text": "%s"}, 1', '["%s"]', "%s"]
)
async def test_large_frames_are_flat(payload: str) -> None:
    """A million nested lists would be read while nobody is served."""
    async with connected() as socket:
        await socket.communicator.send_to(
            text_data=f'["bundle.check", 1, {payload.replace("%s", "x" * 70_000)}]'
        )
        assert json.loads(await socket.communicator.receive_from())[2]["code"] == "frame.malformed"


async def test_a_large_text_is_read_as_json_reads_it() -> None:
    """Escapes, null and whitespace mean in a large frame what they mean in a small one."""
    payload = {"draft": "x", "text": 'é"\\\n\t😀' * 20_000, "title": None}
    for ascii_only in (True, False):
        text = json.dumps(["draft.save", 3, payload], indent=1, ensure_ascii=ascii_only)
        assert frames.parse(text, frames.size(text)) == ("draft.save", 3, payload)
    assert frames.size("é😀x") == 7


async def test_the_bytes_of_a_connection_are_bounded(limits: Callable[..., None]) -> None:
    """Two of the largest frames may come at once; the third is reported how long to wait."""
    limits(FRAME_BYTES=1_000, FRAME_BYTES_PER_SECOND=100)
    async with connected() as socket:
        for _ in range(2):
            await socket.success("bundle.check", {"text": "x" * 900})
        refused = await socket.error("bundle.check", {"text": "x" * 900})
        assert refused["code"] == "rate.limited"
        assert 5 < refused["retryAfter"] <= 10
        assert await socket.success("session.hello", {})


@pytest.mark.parametrize("bad", ["\\ud800", "\\u0000", "a\\udfffb"])
async def test_texts_that_cannot_be_stored(bad: str) -> None:
    """Half a surrogate pair and NUL are refused where they arrive, in texts, lists and sources."""
    async with connected() as socket:
        for frame, field in (
            (f'["bundle.check", 1, {{"text": "{bad}"}}]', "text"),
            (f'["draft.save", 1, {{"draft": "x", "text": "{bad}"}}]', "text"),
            (f'["scenario.open", 1, {{"source": {{"draft": "{bad}"}}}}]', "source"),
            (f'["scenario.open", 1, {{"source": {{"{bad}": [["{bad}"]]}}}}]', "source"),
            (f'["cycle.get", 1, {{"source": {{}}, "step": "1", "parts": ["{bad}"]}}]', "parts"),
        ):
            await socket.communicator.send_to(text_data=frame)
            body = json.loads(await socket.communicator.receive_from())[2]
            assert (body["code"], body["field"]) == ("payload.invalid", field)


@pytest.mark.parametrize("error", [ConnectionResetError, RuntimeError])
async def test_a_client_that_left_while_it_is_sent_something(error: type[Exception]) -> None:
    """Sending ends; an exception that nobody awaits would be logged as an error of ours."""

    async def gone(**_: Any) -> None:
        raise error

    connection = Connection()
    connection.send = gone
    connection.push("run.changed", {})
    await asyncio.wait_for(connection._send_frames(), PATIENCE)


def test_outgoing_bytes_of_the_process_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """When all together is too much, a client that has not taken the last frame goes; others stay."""
    monkeypatch.setattr(Outgoing, "all_bytes", 0)
    monkeypatch.setattr(consumer, "ALL_OUTGOING_BYTES", 10)
    slow, quick = Outgoing(), Outgoing()
    assert slow.put("12345")
    assert quick.put("1234567")
    assert not slow.put("1")
    slow.drop()
    quick.drop()
    assert Outgoing.all_bytes == 0


async def test_computing_ahead_takes_turns_and_ends_with_the_connection(
    web: str, limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks for the end of time keeps neither others waiting nor the engine busy once gone."""
    steps: list[int] = []
    begun = threading.Event()

    def endless(_self: Playback, _seconds: float) -> bool:
        steps.append(1)
        begun.set()
        time.sleep(0.01)
        return True

    async with connected() as other, connected() as greedy:
        source = {"draft": (await other.success("bundle.open", {"text": web}))["draft"]}
        monkeypatch.setattr(Playback, "advance", endless)
        for _ in range(10):
            await greedy.send("timeline.get", {"source": source, "from": 0, "to": 10**8})
            await greedy.send("cycle.get", {"source": source, "step": "99999", "parts": []})
        await greedy.success("session.hello", {})
        assert (await other.success("bundle.check", {"text": web}))["errors"] == []
        assert await asyncio.to_thread(begun.wait, PATIENCE)
    before = len(steps)
    await asyncio.sleep(0.2)
    assert len(steps) <= before + consumer.ENGINE_JOBS


async def test_a_connection_has_its_share_of_the_engine(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty requests of one client are not thirty places before the next client."""
    running: list[int] = []
    most: list[int] = []

    def slow(*_: Any) -> bool:
        running.append(1)
        most.append(len(running))
        time.sleep(0.02)
        running.pop()
        return False

    async with connected() as socket:
        source = {"draft": (await socket.success("bundle.open", {"text": web}))["draft"]}
        monkeypatch.setattr("playground.live.consumer.in_engine", _in_many_threads)
        monkeypatch.setattr(Playback, "advance", slow)
        asked = [
            await socket.send("timeline.get", {"source": source, "from": 1, "to": 99}) for _ in range(10)
        ]
        for request in asked:
            assert (await socket.answer(request))[0] == "success"
    assert len(most) == 10
    assert max(most) <= consumer.ENGINE_JOBS


async def _in_many_threads(_visitor: str, call: Callable[..., Any], *args: Any) -> Any:
    return await asyncio.to_thread(call, *args)


async def test_of_many_openings_the_newest_are_answered(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that opens without end is answered twice."""
    async with connected() as socket:
        source = {"draft": (await socket.success("bundle.open", {"text": web}))["draft"]}
        go = threading.Event()
        monkeypatch.setattr(Playback, "advance", lambda *_: not go.wait(PATIENCE))
        asked = [await socket.send("scenario.open", {"source": source}) for _ in range(8)]
        await socket.success("session.hello", {})
        go.set()
        answers = [await socket.answer(request) for request in asked]
    superseded = [answer[2].get("code") == "request.superseded" for answer in answers]
    assert answers[-1][0] == answers[-2][0] == "success"
    assert sum(superseded) >= 4


async def test_what_a_newer_request_replaced_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many checks of a text that is being typed those that wait are given up, and the newest is made."""
    go, made = threading.Event(), []

    def slow(text: str, _settings: Any) -> dict[str, Any]:
        made.append(text)
        assert go.wait(PATIENCE)
        return {"text": text}

    monkeypatch.setattr(policy, "checked", slow)
    async with connected() as socket:
        asked = [await socket.send("policy.check", {"text": str(at)}) for at in range(8)]
        await socket.success("session.hello", {})
        go.set()
        answers = [await socket.answer(request) for request in asked]
    assert answers[-1][2] == {"text": "7"}
    assert len(made) <= consumer.ENGINE_JOBS + 1
    superseded = [answer[2].get("code") == "request.superseded" for answer in answers]
    assert sum(superseded) >= 7 - consumer.ENGINE_JOBS


async def test_what_a_newer_frame_replaces_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that reads slowly gets the newest position only; its other frames keep their order."""
    monkeypatch.setattr(Outgoing, "all_bytes", 0)
    outgoing = Outgoing()
    for text, slot in (("old", "position"), ("other", ""), ("newest", "position")):
        assert outgoing.put(text, slot)
    assert Outgoing.all_bytes == len("newest" + "other")
    sent: list[str] = []

    async def send(queued: Queued) -> None:
        sent.append(queued.text)
        if len(sent) == 2:
            assert outgoing.put("later", "position")

    sending = asyncio.create_task(outgoing.send_all(send))
    while len(sent) < 3:  # noqa: ASYNC110 - there is no event of it
        await asyncio.sleep(0)
    sending.cancel()
    outgoing.drop()
    assert sent == ["newest", "other", "later"]
    assert Outgoing.all_bytes == 0
