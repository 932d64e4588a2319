"""Clients that send or read slowly, or not at all, against Uvicorn with podstep's protocols."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import pytest
import uvicorn
from websockets.sync.client import connect

from playground.serving import connections as registry
from playground.serving import protocols
from tests.playground.conftest import PATIENCE
from tests.services.processes import free_port, wait_until

LARGE = 64 * 2**20  # more than the kernel's buffers of both ends hold


class Server:
    """Uvicorn in a thread, with an application that answers what its path asks for."""

    def __init__(self) -> None:
        self.port = free_port()
        self.under_way = 0
        self.server = uvicorn.Server(
            uvicorn.Config(
                self.application,
                port=self.port,
                interface="asgi3",
                log_level="critical",
                http=protocols.Http,
                ws=protocols.WebSocket,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=1,
            )
        )
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await self.echo(receive, send)
        elif scope["type"] == "http":
            self.under_way += 1
            try:
                await self.page(scope["path"], receive, send)
            finally:
                self.under_way -= 1

    async def page(self, path: str, receive: Any, send: Any) -> None:
        length = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            length += len(message["body"])
            if not message["more_body"]:
                break
        if path == "/slow":
            await asyncio.sleep(4)
        body = b"x" * LARGE if path == "/large" else json.dumps(length).encode()
        start = {"type": "http.response.start", "status": 200}
        await send({**start, "headers": [(b"content-length", str(len(body)).encode())]})
        for i in range(0, len(body), 2**20):
            part = body[i : i + 2**20]
            await send({"type": "http.response.body", "body": part, "more_body": i + len(part) < len(body)})

    async def echo(self, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        self.under_way += 1
        try:
            while (message := await receive())["type"] == "websocket.receive":
                text = "x" * LARGE if message["text"] == "large" else message["text"]
                once = {protocols.ENCODED: protocols.encoded(text)} if text.startswith("once") else {}
                await send({"type": "websocket.send", "text": text, **once})
        finally:
            self.under_way -= 1

    def client(self, source: str = "127.0.0.1") -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE, (source, 0))

    def get(self, path: str = "/", source: str = "127.0.0.1") -> int:
        """Return the status of a GET."""
        with self.client(source) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            return status(everything(client))


def everything(client: socket.socket) -> bytes:
    """Return what comes until the server closes; a reset is an end, too."""
    parts = []
    try:
        while part := client.recv(65_536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def status(answer: bytes) -> int:
    return int(answer.split()[1]) if answer else 0


@pytest.fixture
def bounds(limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Seconds instead of tens of seconds."""
    monkeypatch.setattr(registry, "LOOK_SECONDS", 0.1)
    limits(HEAD_SECONDS=1, STALL_SECONDS=1, TRANSFER_RATE=1_000_000)
    return limits


@pytest.fixture
def server(bounds: Callable[..., None]) -> Iterator[Server]:
    """A running server."""
    with running() as server:
        yield server


@contextmanager
def running() -> Iterator[Server]:
    server = Server()
    server.thread.start()
    try:
        wait_until(lambda: server.server.started, PATIENCE, "the server starts", pause=0.01)
        yield server
    finally:
        server.server.should_exit = True
        server.thread.join(PATIENCE)
        assert not server.thread.is_alive()
    assert not registry.connections.all
    assert not registry.connections.by_address


HALVES = {
    "nothing": (b"", 0),
    "half a line": (b"GET / HT", 408),
    "half the headers": (b"GET / HTTP/1.1\r\nHost: x\r\n", 408),
    "half a body": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf", 408),
    "half a chunk": (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf", 408),
    "headers without end": (b"GET / HTTP/1.1\r\n" + b"Name: value\r\n" * 20_000, 431),
    "a line without end": (b"GET /" + b"x" * 300_000, 431),
}


@pytest.mark.parametrize(("sent", "expected"), HALVES.values(), ids=HALVES)
def test_half_a_request_is_given_up(server: Server, sent: bytes, expected: int) -> None:
    """The connection is closed in time, with a status where a request had begun."""
    with server.client() as client:
        client.settimeout(PATIENCE)
        try:
            client.sendall(sent)
        except ConnectionError:
            expected = 0  # reset while sending
        assert status(everything(client)) in {expected, 0 if expected == 431 else expected}
    wait_until(lambda: server.under_way == 0, PATIENCE, "the application hears of it")


BEGINNINGS = {
    "head": b"GET / HTTP/1.1\r\nX: ",
    "body": b"POST / HTTP/1.1\r\nContent-Length: 999\r\n\r\n",
}


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_a_request_byte_by_byte_is_given_up(server: Server, kind: str) -> None:
    """To send something now and then is not enough."""
    with server.client() as client:
        client.settimeout(PATIENCE)
        client.sendall(BEGINNINGS[kind])
        for _ in range(400):
            try:
                client.sendall(b"x")
            except ConnectionError:
                return
            time.sleep(0.05)
    pytest.fail("it may send for ever")


def test_a_slow_application_is_not_the_clients_fault(server: Server) -> None:
    """What the application takes its time for is not cut off."""
    assert server.get("/slow") == 200


def test_a_body_of_a_fast_client_may_take_long(server: Server, bounds: Callable[..., None]) -> None:
    """Who keeps sending is waited for."""
    bounds(TRANSFER_RATE=100)
    with server.client() as client:
        client.settimeout(PATIENCE)
        client.sendall(b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 3000\r\n\r\n")
        for _ in range(30):
            client.sendall(b"x" * 100)
            time.sleep(0.1)
        assert everything(client).endswith(b"3000")


def test_kept_connections_serve_several_requests(server: Server, bounds: Callable[..., None]) -> None:
    """Each request has its own time, and half of a second one is given up, too."""
    bounds(HEAD_SECONDS=3)
    with server.client() as client:
        client.settimeout(PATIENCE)
        for _ in range(8):
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while not answer.endswith(b"\r\n\r\n0"):  # head and body may come by themselves
                part = client.recv(65_536)
                assert part, answer
                answer += part
            time.sleep(0.5)
        client.sendall(b"GET / HTTP/1.1\r\n")
        assert status(everything(client)) == 408


def test_a_client_that_does_not_read_is_cut_off(server: Server) -> None:
    """An answer that nobody takes does not stay in memory."""
    with server.client() as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        wait_until(lambda: server.under_way == 1, PATIENCE, "the answer begins", pause=0.01)
        wait_until(lambda: not registry.connections.all, PATIENCE, "the connection is closed")
        wait_until(lambda: server.under_way == 0, PATIENCE, "the application hears of it")


def test_a_large_answer_is_sent_whole(server: Server) -> None:
    """A client that reads is not mistaken for one that does not."""
    with server.client() as client:
        client.sendall(b"GET /large HTTP/1.1\r\nConnection: close\r\n\r\n")
        client.settimeout(PATIENCE)
        received = 0
        while part := client.recv(2**20):
            received += len(part)
            time.sleep(0.01)
        assert received > LARGE


def test_sockets_are_served_and_cut_off_when_nobody_reads(server: Server) -> None:
    """A WebSocket stays open while nothing is said, and ends when its client stops to read."""
    with connect(f"ws://127.0.0.1:{server.port}/", ping_interval=None, proxy=None) as client:
        time.sleep(2.5)
        client.send("hello")
        assert client.recv(timeout=PATIENCE) == "hello"
    with upgraded(server) as raw:
        raw.sendall(frame(b"large"))
        wait_until(lambda: not registry.connections.all, PATIENCE, "the connection is closed")
        wait_until(lambda: server.under_way == 0, PATIENCE, "the application hears of it")


@pytest.mark.parametrize("length", [5, 125, 126, 65_535, 65_536])
def test_messages_encoded_for_many(server: Server, length: int) -> None:
    """They arrive as any other message does, in order, whatever their length."""
    with connect(f"ws://127.0.0.1:{server.port}/", ping_interval=None, proxy=None) as client:
        sent = [first + "ü" * (length - len(first) - 5) for first in ("once", "text", "once")]
        for text in sent:
            client.send(text)
        assert [client.recv(timeout=PATIENCE) for _ in sent] == sent


def test_half_a_message_is_given_up(server: Server) -> None:
    """A frame that is begun has to be ended."""
    with upgraded(server) as raw:
        raw.settimeout(PATIENCE)
        raw.sendall(frame(b"hello"))
        assert raw.recv(100).endswith(b"hello")
        raw.sendall(frame(b"hello")[:-2])
        assert everything(raw)[:2] == b"\x88\x12"  # close, 18 bytes: the code and its reason
        wait_until(lambda: server.under_way == 0, PATIENCE, "the application hears of it")


@contextmanager
def upgraded(server: Server) -> Iterator[socket.socket]:
    """A WebSocket without a library that would read for itself."""
    with server.client() as raw:
        raw.sendall(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += raw.recv(1)
        yield raw


def frame(text: bytes) -> bytes:
    """Return a masked text frame."""
    return bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text


def test_five_hundred_half_open_connections_keep_nobody_out(
    server: Server, bounds: Callable[..., None]
) -> None:
    """They are closed in time, and in the meantime others are answered as ever."""
    bounds(HEAD_SECONDS=600)
    with ExitStack() as held:
        for number in range(500):
            client = held.enter_context(server.client("127.0.0.2"))
            client.sendall(b"" if number % 2 else b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert [server.get() for _ in range(20)] == [200] * 20
        assert [server.get(source="127.0.0.2") for _ in range(5)] == [200] * 5
        assert len(registry.connections.all) >= 500
        bounds(HEAD_SECONDS=1)
        wait_until(lambda: not registry.connections.all, PATIENCE, "all are closed")


POST = b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 3\r\n\r\n"
KEEPING = {
    "nothing": (b"", b""),
    "half a body": (POST + b"x", b"xx"),
    "an answer unread": (b"GET /large HTTP/1.1\r\nConnection: close\r\n\r\n", b""),
}


BOUNDS = [{"CONNECTIONS": 3, "TRUSTED_PROXIES": 1}, {"CONNECTIONS_PER_ADDRESS": 3}]


@pytest.mark.parametrize("most", BOUNDS, ids=["of all", "of an address"])
@pytest.mark.parametrize(("sent", "rest"), KEEPING.values(), ids=KEEPING)
def test_who_keeps_the_server_waiting_longest_makes_room(
    server: Server, bounds: Callable[..., None], most: dict[str, int], sent: bytes, rest: bytes
) -> None:
    """Beyond the bound a new connection is served at the expense of another, and the younger ones stay."""
    bounds(HEAD_SECONDS=60, STALL_SECONDS=60, **most)
    with ExitStack() as held:
        waiting = []
        for number in range(1, 4):
            waiting.append(held.enter_context(server.client()))
            waiting[-1].sendall(sent)
            wait_until(partial(settled, number, sent), 10, "it keeps the server waiting", pause=0.01)
        assert server.get() == 200
        waiting[0].settimeout(PATIENCE)
        assert len(everything(waiting[0])) < LARGE
        assert len(registry.connections.all) == 2
        if rest:
            waiting[2].sendall(rest)
            assert status(everything(waiting[2])) == 200


def settled(number: int, sent: bytes) -> bool:
    """Tell whether so many connections are in the phase that these bytes lead to."""
    phase = registry.Phase.BODY if sent.startswith(b"POST") else registry.Phase.READER
    phases = list(registry.connections.all.values())
    return phases.count(phase if sent else registry.Phase.REQUEST) == number


def test_who_works_is_not_sent_away(server: Server, bounds: Callable[..., None]) -> None:
    """With only requests under way, it is the new connection that is refused."""
    bounds(CONNECTIONS_PER_ADDRESS=2)
    with ExitStack() as held:
        busy = [held.enter_context(server.client()) for _ in range(2)]
        for client in busy:
            client.sendall(b"GET /slow HTTP/1.1\r\nConnection: close\r\n\r\n")
        wait_until(lambda: server.under_way == 2, 10, "both are under way", pause=0.01)
        assert server.get() in {503, 0}
        assert server.get(source="127.0.0.2") == 200
        for client in busy:
            client.settimeout(PATIENCE)
            assert status(everything(client)) == 200


def test_behind_a_proxy_addresses_are_its_own_business(server: Server, bounds: Callable[..., None]) -> None:
    """All connections come from the proxy's address then."""
    bounds(CONNECTIONS_PER_ADDRESS=1, TRUSTED_PROXIES=1, HEAD_SECONDS=60)
    with server.client() as one, server.client() as other:
        for client in (one, other):
            client.settimeout(PATIENCE)
            client.sendall(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
            assert status(everything(client)) == 200
