"""A visitor as a browser is one: a cookie, HTTP, and the WebSocket; and the figures of many answers."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from tests.services import client

ANSWER_SECONDS = 180.0  # after which an answer does not come any more
COOKIE = "podstep_visitor"


class Socket:
    """A connection that matches answers to what was asked, several at once."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[tuple[str, Any]]] = {}
        self._reading = asyncio.create_task(self._read())

    async def ask(self, command: str, payload: Any) -> tuple[str, Any]:
        """Send a command; return ``success`` or ``error``, and the payload."""
        return await self.ask_encoded(command, json.dumps(payload))

    async def ask_encoded(self, command: str, payload: str) -> tuple[str, Any]:
        """Send a command whose payload is JSON already: megabytes are written once for many frames."""
        number = next(self._numbers)
        answered = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._connection.send(f'["{command}", {number}, {payload}]')
            return await asyncio.wait_for(answered, ANSWER_SECONDS)
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        async for text in self._connection:
            kind, number, payload = json.loads(text)
            answered = self._waiting.get(number)
            if answered is not None and not answered.done():
                answered.set_result((kind, payload))

    async def close(self) -> None:
        """End the connection."""
        self._reading.cancel()
        await self._connection.close()


@asynccontextmanager
async def socket(base: str, cookie: str = "") -> AsyncIterator[Socket]:
    """Connect to ``/ws/`` with a visitor's cookie."""
    headers = {"Cookie": f"{COOKIE}={cookie}"} if cookie else {}
    address = base.replace("http", "ws", 1) + "/ws/"
    async with connect(
        address,
        origin=Origin(base),
        additional_headers=headers,
        compression=None,
        max_size=64 << 20,
        open_timeout=ANSWER_SECONDS,
        ping_interval=None,
        proxy=None,
    ) as connection:
        opened = Socket(connection)
        try:
            yield opened
        finally:
            await opened.close()


def cookie_of(base: str) -> str:
    """Return the cookie that a visitor who comes for the first time is given."""
    for name, value in client.request("GET", base + "/").fields:
        if name.lower() == "set-cookie" and value.startswith(f"{COOKIE}="):
            return value.partition("=")[2].partition(";")[0]
    raise AssertionError("the start page set no cookie")


def shared(base: str, text: str) -> str:
    """Share a bundle; return its id."""
    answer = client.request("POST", f"{base}/api/scenarios", text.encode())
    assert answer.status == 201, answer.body[:500]
    return str(answer.json["id"])


def quantile(times: Sequence[float], part: float) -> float:
    """Return the least of ``times`` that ``part`` of them do not exceed, in seconds; 0 of none."""
    ranked = sorted(times)
    return ranked[max(0, math.ceil(part * len(ranked)) - 1)] if ranked else 0.0


def figures(name: str, times: Sequence[float]) -> dict[str, float]:
    """Return how many answers there were, and p50, p95 and the longest in milliseconds."""
    return {
        f"{name}: answers": len(times),
        f"{name}: p50, ms": quantile(times, 0.5) * 1000,
        f"{name}: p95, ms": quantile(times, 0.95) * 1000,
        f"{name}: longest, ms": max(times, default=0.0) * 1000,
    }


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Return how long ago it was made."""
        return time.perf_counter() - self._began
