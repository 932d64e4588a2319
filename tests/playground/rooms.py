"""Rooms as the tests enter them: over a WebSocket, or as a hub sees its connections."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from django.test import Client

from playground.live.hub import Hub
from playground.live.notifications import Watching
from tests.playground.conftest import PATIENCE, Socket, connected


def post(address: str, body: Any) -> Any:
    return Client(enforce_csrf_checks=True).post(address, json.dumps(body), content_type="application/json")


def open_room(text: str, **more: str) -> dict[str, Any]:
    scenario = post("/api/scenarios", {"bundle": text}).json()["id"]
    answer = post("/api/rooms", {"scenario": scenario, **more})
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


@asynccontextmanager
async def inside(
    room: dict[str, Any], *, lead: bool = False, visitor: str = "", **more: str
) -> AsyncIterator[Socket]:
    async with connected(visitor) as socket:
        token = {"lead_token": room["lead_token"]} if lead else {}
        await socket.success("room.join", {"room": room["id"], **token, **more})
        yield socket


async def shows(socket: Socket, number: int) -> Any:
    """Wait for the state of a room that asks the question of this number; return the question."""
    while (question := (await socket.push("room.state"))["question"]) is None or question["number"] != number:
        pass
    return question


class Page:
    """A connection as a hub sees it."""

    def __init__(self, visitor: str = "") -> None:
        self.visitor = visitor
        self.watching = Watching(self)
        self.frames: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()

    def push(self, name: str, payload: Any, *, latest: bool = False) -> None:
        self.frames.put_nowait((name, payload))

    def push_text(self, text: str, slot: str = "", sent: bytes | None = None) -> None:
        name, _, payload = json.loads(text)
        self.frames.put_nowait((name, payload))

    async def next(self, name: str) -> Any:
        while True:
            found, payload = await asyncio.wait_for(self.frames.get(), PATIENCE)
            if found == name:
                return payload


async def listening(*processes: Hub) -> None:
    """Wait until each has its channel in the group of its rooms."""
    for process in processes:
        while not process._channel:  # noqa: ASYNC110 - there is no event of it
            await asyncio.sleep(0.01)
    await asyncio.sleep(1.0)  # the rooms are added to their groups right after
