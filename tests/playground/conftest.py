"""An owner and a stranger, a few bundles, and the socket of the real ASGI application."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from channels.testing import WebsocketCommunicator as ChannelsCommunicator
from django.conf import settings
from django.core.cache import cache
from django.core.management.color import no_style
from django.core.management.sql import sql_flush
from django.db import connection
from django.test import Client, TransactionTestCase
from whitenoise.middleware import WhiteNoiseMiddleware

from playground.live.modules import scenarios
from playground.live.sightings import sightings
from playground.playback.library import library
from playground.serving.built import STATIC
from playground.storage import bundles
from playground.visitors import identity
from tests.playground.declarations import assert_declared_answer, assert_declared_push

DATA = Path(__file__).parent / "data"

PATIENCE = 60.0
"""Seconds after which what is waited for does not come any more, on a machine that others keep busy too."""

OWNER, STRANGER = "owner-of-everything-1234", "stranger-passing-by-5678"


BY_V1_11 = "---\napiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.11\n"
"""At the end of a bundle that kube-scheduler v1.11 answers."""


@pytest.fixture(autouse=True)
def clean_slate() -> Iterator[None]:
    """Nothing that one test counted or played is there for the next."""
    cache.clear()
    library.clear()
    sightings.clear()
    bundles.last_read.clear()
    yield
    library.clear()


@pytest.fixture(autouse=True, scope="session")
def files_are_looked_at_once() -> Iterator[None]:
    """Every client loads the middleware; static files that stand as they stood are not read again for it."""
    look = WhiteNoiseMiddleware.add_files_from_finders
    known: dict[frozenset[tuple[str, int]], dict[str, Any]] = {}
    # A file that comes, goes or is replaced changes the time of its folder.
    folders = [STATIC, *(path for path in STATIC.rglob("*") if path.is_dir())]

    def once(self: Any) -> None:
        standing = frozenset((str(path), path.stat().st_mtime_ns) for path in folders)
        if standing not in known:
            look(self)
            known[standing] = dict(self.files)
        self.files.update(known[standing])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", once)
        yield


@pytest.fixture(autouse=True, scope="session")
def tables_are_emptied_directly() -> Iterator[None]:
    """After a test that commits, Django calls a command: finding it took longer than what it does."""

    def empty(self: TransactionTestCase) -> None:
        sql = sql_flush(no_style(), connection, reset_sequences=False, allow_cascade=False)
        connection.ops.execute_sql_flush(sql)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty)
        yield


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing takes too long because the machine is busy; who tests what happens then sets a limit."""
    longer = dict.fromkeys(("WHY_SECONDS", "FIND_SECONDS", "INTERACTIVE_SECONDS", "STEP_SECONDS"), 600)
    monkeypatch.setattr(settings, "PLAYGROUND", {**settings.PLAYGROUND, **longer})
    monkeypatch.setattr(scenarios, "STEP_SECONDS", PATIENCE)
    monkeypatch.setattr(scenarios, "FIRST_SLICE_SECONDS", PATIENCE / 12)


def visitor_client(visitor: str) -> Client:
    client = Client(enforce_csrf_checks=False)
    client.cookies[settings.VISITOR_COOKIE] = identity.sign(visitor)
    return client


@pytest.fixture
def owner() -> Client:
    """The browser of somebody who owns drafts and runs."""
    return visitor_client(OWNER)


@pytest.fixture
def stranger() -> Client:
    """The browser of somebody else."""
    return visitor_client(STRANGER)


@pytest.fixture
def web() -> str:
    """Two nodes and five replicas, of which three fit."""
    return (DATA / "web.yaml").read_text()


@pytest.fixture
def limits(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set limits for one test, within one of the minutes that rates are counted in."""
    monkeypatch.setattr("playground.visitors.throttle._now", lambda: 1_000_000_030.0)

    def change(**values: int) -> None:
        settings.PLAYGROUND = {**settings.PLAYGROUND, **values}

    return change


class WebsocketCommunicator(ChannelsCommunicator):
    """Channels' own, which gives up after a second: nothing is late on a busy machine."""

    async def connect(self, timeout: float = PATIENCE) -> tuple[bool, str | int | None]:
        return cast("tuple[bool, str | int | None]", await super().connect(timeout))

    async def receive_output(self, timeout: float = PATIENCE) -> Any:
        return await super().receive_output(timeout)

    async def receive_from(self, timeout: float = PATIENCE) -> Any:
        return await super().receive_from(timeout)

    async def wait(self, timeout: float = PATIENCE) -> None:
        await super().wait(timeout)

    async def disconnect(self, code: int = 1000, timeout: float = PATIENCE) -> None:
        await super().disconnect(code, timeout)


class Socket:
    """A client of ``/ws/`` that matches answers to what it asked."""

    def __init__(self, communicator: WebsocketCommunicator) -> None:
        self.communicator = communicator
        self.pushed: list[list[Any]] = []
        self._answers: dict[int, list[Any]] = {}
        self._next = 0

    async def send(self, name: str, payload: Any) -> int:
        self._next += 1
        await self.communicator.send_to(text_data=json.dumps([name, self._next, payload]))
        return self._next

    async def answer(self, request: int, timeout: float = PATIENCE) -> list[Any]:
        while request not in self._answers:
            frame = json.loads(await self.communicator.receive_from(timeout=timeout))
            if frame[1] is None and frame[0] != "error":
                self.pushed.append(frame)
            else:
                self._answers[frame[1]] = frame
        return self._answers.pop(request)

    async def ask(self, name: str, payload: Any) -> list[Any]:
        return await self.answer(await self.send(name, payload))

    async def success(self, name: str, payload: Any) -> Any:
        status, _, body = await self.ask(name, payload)
        assert status == "success", body
        assert_declared_answer(name, body)
        return body

    async def error(self, name: str, payload: Any) -> Any:
        status, _, body = await self.ask(name, payload)
        assert status == "error", body
        return body

    async def push(self, name: str, timeout: float = PATIENCE) -> Any:
        """Return the next pushed frame of that name."""
        while True:
            for position, frame in enumerate(self.pushed):
                if frame[0] == name:
                    assert_declared_push(name, frame[2])
                    return self.pushed.pop(position)[2]
            frame = json.loads(await self.communicator.receive_from(timeout=timeout))
            if frame[1] is None:
                self.pushed.append(frame)
            else:
                self._answers[frame[1]] = frame


def communicator(
    visitor: str = "", origin: str = "http://localhost", query: str = "", **headers: str
) -> WebsocketCommunicator:
    from playground.asgi import application

    lines = [(b"host", b"localhost"), *((k.encode(), v.encode()) for k, v in headers.items())]
    if origin:
        lines.append((b"origin", origin.encode()))
    if visitor:
        lines.append((b"cookie", f"{settings.VISITOR_COOKIE}={identity.sign(visitor)}".encode()))
    return WebsocketCommunicator(application, f"/ws/{query}", headers=lines)


@asynccontextmanager
async def connected(visitor: str = OWNER, query: str = "") -> AsyncIterator[Socket]:
    """A socket of ``visitor``, closed at the end."""
    raw = communicator(visitor, query=query)
    accepted, _ = await raw.connect()
    assert accepted
    try:
        yield Socket(raw)
    finally:
        await raw.disconnect()
