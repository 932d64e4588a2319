"""What many ask for at the same time is computed once, and nobody waits for somebody else's limits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from playground.live.consumer import ENGINE_JOBS, Connection
from playground.live.flights import Flights
from playground.panels import steps
from playground.playback.deadlines import Superseded
from playground.playback.playback import OutOfRangeError, Playback
from tests.playground.conftest import PATIENCE, Socket, connected

pytestmark = pytest.mark.django_db(transaction=True)

LECTURE = 20  # sockets


class Gate:
    """Holds back ``steps.parts``, and counts its calls."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.begun, self.go, self.calls = threading.Event(), threading.Event(), 0
        parts = steps.parts

        def gated(playback: Playback, *args: Any) -> Any:
            self.calls += 1
            self.begun.set()
            assert self.go.wait(PATIENCE)
            return parts(playback, *args)

        patch.setattr(steps, "parts", gated)

    async def until_begun(self) -> None:
        assert await asyncio.to_thread(self.begun.wait, PATIENCE)
        self.begun.clear()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    return Gate(monkeypatch)


@asynccontextmanager
async def hall(text: str, size: int) -> AsyncIterator[tuple[list[Socket], dict[str, Any]]]:
    """So many sockets of one visitor, and a draft that is open."""
    async with AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(connected()) for _ in range(size)]
        made = await sockets[0].success("bundle.open", {"text": text})
        source = {"draft": made["draft"], "revision": 1}
        for socket in sockets:
            await socket.success("scenario.open", {"source": source})
        yield sockets, {"source": source, "step": "2", "parts": ["predicates"]}


async def settle(sockets: list[Socket]) -> None:
    """Have every socket's earlier frames begun: what follows them on the connection is answered."""
    for socket in sockets:
        await socket.success("session.hello", {})


async def test_a_lecture_hall_jumps_to_one_step(web: str, gate: Gate) -> None:
    """One computes it and all are answered, in time and alike."""
    async with hall(web, LECTURE) as (sockets, asked):
        requests = [await socket.send("cycle.get", asked) for socket in sockets]
        await settle(sockets)
        await gate.until_begun()
        gate.go.set()
        answers = [await socket.answer(request) for socket, request in zip(sockets, requests, strict=True)]
    assert gate.calls == 1
    assert {answer[0] for answer in answers} == {"success"}
    assert all(answer[2] == answers[0][2] for answer in answers)
    assert len(Connection.shared) == 0


async def test_who_computes_may_leave(web: str, gate: Gate) -> None:
    """The others are answered all the same, by one of them who goes on."""
    async with hall(web, 3) as (sockets, asked):
        await sockets[0].send("cycle.get", asked)
        await gate.until_begun()
        requests = [await socket.send("cycle.get", asked) for socket in sockets[1:]]
        await settle(sockets[1:])
        await sockets[0].communicator.disconnect()
        gate.go.set()
        for socket, request in zip(sockets[1:], requests, strict=True):
            assert (await socket.answer(request))[0] == "success"
    assert gate.calls == 2, "the one that left, and one for all the others"


async def test_who_waits_for_its_own_limits_holds_nobody_up(
    web: str, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection whose share of the engine is taken does not lead what others ask for."""
    made: list[Connection] = []
    connect = Connection.connect

    async def noted(connection: Connection) -> None:
        made.append(connection)
        await connect(connection)

    monkeypatch.setattr(Connection, "connect", noted)
    async with hall(web, 2) as (sockets, asked):
        busy, other = sockets
        release = asyncio.Event()
        places = [asyncio.create_task(_hold(made[0], release)) for _ in range(ENGINE_JOBS)]
        await asyncio.sleep(0)
        stuck = await busy.send("cycle.get", asked)
        await settle([busy])
        gate.go.set()
        assert (await other.ask("cycle.get", asked))[0] == "success"
        release.set()
        await asyncio.gather(*places)
        assert (await busy.answer(stuck))[0] == "success"
    assert gate.calls == 1


async def _hold(connection: Connection, release: asyncio.Event) -> None:
    async with connection._engine:
        await release.wait()


async def test_an_error_is_everybodys(web: str, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred who ask for what is not there do not try one after the other."""
    calls = 0

    def failing(*_: Any) -> None:
        nonlocal calls
        calls += 1
        gate.begun.set()
        assert gate.go.wait(PATIENCE)
        raise OutOfRangeError("There is none.")

    async with hall(web, LECTURE) as (sockets, asked):
        monkeypatch.setattr(steps, "parts", failing)
        requests = [await socket.send("cycle.get", asked) for socket in sockets]
        await settle(sockets)
        await gate.until_begun()
        gate.go.set()
        for socket, request in zip(sockets, requests, strict=True):
            assert (await socket.answer(request))[2]["code"] == "step.out-of-range"
    assert calls == 1


async def test_one_that_was_superseded_is_asked_again() -> None:
    """Whoever waited for it gets None, and the next to ask starts anew."""
    flights: Flights[str] = Flights()
    go = asyncio.Event()

    async def superseded() -> str:
        await go.wait()
        raise Superseded

    async def answered() -> str:
        return "answer"

    leading = asyncio.create_task(flights.join("k", superseded))
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(flights.join("k", answered)) for _ in range(3)]
    await asyncio.sleep(0)
    go.set()
    with pytest.raises(Superseded):
        await leading
    assert await asyncio.gather(*waiting) == [None] * 3
    assert len(flights) == 0
    assert await flights.join("k", answered) == "answer"
    assert len(flights) == 0


async def test_one_who_leaves_takes_nothing_away() -> None:
    """A caller that is cancelled while it waits does not cancel what the others wait for."""
    flights: Flights[str] = Flights()
    go = asyncio.Event()

    async def answered() -> str:
        await go.wait()
        return "answer"

    callers = [asyncio.create_task(flights.join("k", answered)) for _ in range(3)]
    await asyncio.sleep(0)
    callers[1].cancel()
    await asyncio.sleep(0)
    go.set()
    assert [await callers[0], await callers[2]] == ["answer", "answer"]
    assert callers[1].cancelled()
