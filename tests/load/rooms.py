"""A room with many viewers: how long the leader's step takes to reach them.

The leader moves a few times a second; each viewer notes when a position arrives. Leader and viewers are
clients of this process, so that both ends are read from one clock; it takes a core of its own, and what it
needs to read five hundred frames is part of every figure. Some viewers leave and join again all the time.
With ``--processes`` several web processes serve, with PostgreSQL and Redis as a team has them: processes that
share an SQLite file wait for each other's writes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from tests.load.steps import LIMITS, bundle
from tests.load.visitor import quantile
from tests.load.web import Web, serving
from tests.parts import REPOSITORY
from tests.services import client
from tests.services.servers import postgres_server, redis_server

MORE = {"ROOM_VIEWERS": 5_000, "ROOM_JOINS_PER_MINUTE": 1_000_000}
OPENING = 50  # viewers that connect at once
PATIENCE = 60.0
SETTLE_SECONDS = 2.0  # for frames that are under way when the leader stops
IDLE_SECONDS = 5.0  # in which nothing moves, to subtract what the room costs anyway
POSTGRES = {"POSTGRES_USER": "podstep", "POSTGRES_PASSWORD": "password", "POSTGRES_DB": "podstep"}
REDIS = ["redis-server", "--save", "", "--appendonly", "no"]


@dataclass(slots=True)
class Viewer:
    """A viewer that stays: the seconds that each position took, by its number."""

    took: dict[int, float] = field(default_factory=dict)


@dataclass(slots=True)
class Hall:
    """The room under load."""

    web: Web
    room: dict[str, Any]
    sent: dict[int, float] = field(default_factory=dict)  # seq -> when the leader sent it
    joins: list[float] = field(default_factory=list)  # seconds of those who join again
    behind: int = 0  # of those, who were given another position than the newest

    def connect(self) -> connect:
        """Connect as a page of the server does."""
        return connect(
            self.web.base_url.replace("http", "ws", 1) + "/ws/",
            origin=Origin(self.web.base_url),
            compression=None,
            open_timeout=PATIENCE,
            ping_interval=None,
            proxy=None,
        )

    async def join(self, connection: ClientConnection, **more: str) -> dict[str, Any]:
        """Enter the room; return the answer."""
        await connection.send(json.dumps(["room.join", 1, {"room": self.room["id"], **more}]))
        async for text in connection:
            kind, number, answer = json.loads(text)
            if number == 1:
                assert kind == "success", answer
                return dict(answer)
        raise AssertionError("the server closed the connection")

    async def watch(self, connection: ClientConnection, viewer: Viewer) -> None:
        """Note when positions arrive, until the connection ends."""
        with suppress(ConnectionClosed):
            async for text in connection:
                if text.startswith('["room.position"'):  # type: ignore[arg-type]
                    now = time.perf_counter()
                    seq = json.loads(text)[2]["seq"]
                    viewer.took[seq] = now - self.sent[seq]

    async def come_and_go(self, until: float) -> None:
        """Join, stay for a moment, leave, and again."""
        while time.perf_counter() < until:
            began = time.perf_counter()
            async with self.connect() as connection:
                newest = max(self.sent, default=0)
                answer = await self.join(connection)
                self.joins.append(time.perf_counter() - began)
                self.behind += answer["position"]["seq"] < newest - 1
                await asyncio.sleep(random.uniform(0.2, 2))


async def _measure(web: Web, wanted: argparse.Namespace) -> dict[str, float]:
    scenario = web.share(bundle(20, 200))
    opened = client.request("POST", f"{web.base_url}/api/rooms", {"scenario": scenario})
    assert opened.status == 201, opened.body
    hall = Hall(web, opened.json)
    viewers = [Viewer() for _ in range(wanted.viewers)]
    connections: list[ClientConnection] = []
    idle = web.memory()
    for first in range(0, wanted.viewers, OPENING):
        batch = [hall.connect() for _ in viewers[first : first + OPENING]]
        connections += await asyncio.gather(*batch)
    await asyncio.gather(*(hall.join(connection) for connection in connections))
    watching = [
        asyncio.create_task(hall.watch(connection, viewer))
        for connection, viewer in zip(connections, viewers)
    ]
    async with hall.connect() as leader:
        answer = await hall.join(leader, lead_token=hall.room["lead_token"])
        reading = asyncio.create_task(hall.watch(leader, Viewer()))
        await asyncio.sleep(SETTLE_SECONDS)
        idle_cpu = web.cpu()
        await asyncio.sleep(IDLE_SECONDS)
        idle_cpu = (web.cpu() - idle_cpu) / IDLE_SECONDS
        until, cpu = time.perf_counter() + wanted.seconds, web.cpu()
        restless = [asyncio.create_task(hall.come_and_go(until)) for _ in range(wanted.reconnecting)]
        number = 1
        while time.perf_counter() < until:
            hall.sent[number] = time.perf_counter()
            view = {"step": str(number % 200), "tab": "priorities", "node": "n3", "pod": "default/p7"}
            await leader.send(json.dumps(["room.move", number, view]))
            number += 1
            await asyncio.sleep(1 / wanted.rate)
        cpu = web.cpu() - cpu
        await asyncio.gather(*restless)
        await asyncio.sleep(SETTLE_SECONDS)
        memory = web.memory()
        reading.cancel()
    for connection in connections:
        await connection.close()
    await asyncio.gather(*watching)
    moving = cpu - idle_cpu * wanted.seconds  # with those who join again, unless there are none
    took = [seconds for viewer in viewers for seconds in viewer.took.values()]
    last = [max(some) for seq in hall.sent if (some := [v.took[seq] for v in viewers if seq in v.took])]
    return {
        "viewers": wanted.viewers,
        "viewers counted by the server": answer["watching"],
        "moves": len(hall.sent),
        "positions received": len(took),
        "positions missed": len(hall.sent) * len(viewers) - len(took),
        "viewers without the last position": sum(number - 1 not in viewer.took for viewer in viewers),
        "p50, ms": 1000 * quantile(took, 0.5),
        "p95, ms": 1000 * quantile(took, 0.95),
        "p99, ms": 1000 * quantile(took, 0.99),
        "longest, ms": 1000 * max(took, default=0.0),
        "last viewer of a move, p95, ms": 1000 * quantile(last, 0.95),
        "joined again": len(hall.joins),
        "joined again, p95, ms": 1000 * quantile(hall.joins, 0.95),
        "joined again, behind": hall.behind,
        "server CPU, %": 100 * cpu / wanted.seconds,
        "server CPU while nothing moves, %": 100 * idle_cpu,
        "server CPU of a move, ms": 1000 * moving / len(hall.sent),
        "of these for each viewer, µs": 1_000_000 * moving / len(hall.sent) / len(viewers),
        "server memory, MiB": memory,
        "of these for the viewers, MiB": memory - idle,
    }


def main(arguments: Sequence[str]) -> int:
    """Measure a room; return 1 if a viewer missed a position or p95 is above the bound."""
    parser = argparse.ArgumentParser(prog="python -m tests.load rooms", description=__doc__)
    parser.add_argument("--viewers", type=int, default=500)
    parser.add_argument("--reconnecting", type=int, default=20, help="more, who join again all the time")
    parser.add_argument("--rate", type=float, default=4.0, help="moves a second")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument(
        "--processes", type=int, default=1, help="web processes; several have PostgreSQL, Redis"
    )
    parser.add_argument("--bound", type=float, default=250.0, help="p95 in milliseconds")
    parser.add_argument("--port", type=int, default=8803)
    wanted = parser.parse_args(arguments)
    with ExitStack() as stack:
        env = {}
        if wanted.processes > 1:
            port = stack.enter_context(redis_server(REDIS)).port
            database = stack.enter_context(postgres_server(POSTGRES)).port
            env = {
                "REDIS_URL": f"redis://127.0.0.1:{port}/0",
                "DATABASE_URL": f"postgresql://podstep:password@127.0.0.1:{database}/podstep",
            }
        web = stack.enter_context(serving(wanted.port, REPOSITORY, {**LIMITS, **MORE}, env, wanted.processes))
        figures = asyncio.run(_measure(web, wanted))
    for name, value in figures.items():
        print(f"{name:<40} {value:12,.1f}")
    missed = figures["positions missed"] or figures["viewers without the last position"]
    return int(bool(missed) or figures["p95, ms"] > wanted.bound)
