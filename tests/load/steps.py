"""Clients that step through shared scenarios over the WebSocket.

One client asks for a step once a second, as somebody who reads does; ``--saturate`` lets every client ask for
the next one at once, and finds the most steps a second. Every step is asked for once before anything is
measured: what is measured are known steps. The client takes a core of its own. The exit status is 1 if
:func:`bounds_of` does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from tests.load.bounds import AtLeast, AtMost, Bound, Ratio, judged
from tests.load.web import Web, serving
from tests.parts import REPOSITORY

#: (nodes, pods) of the scenarios; clients are spread over them, and a pod is a step.
SCENARIOS = ((20, 200), (30, 300), (40, 400), (50, 500), (60, 600))
LIMITS = {
    # All clients have one address here.
    "SOCKETS_PER_ADDRESS": 5_000,
    "API_WRITES_PER_MINUTE": 10_000,
    "API_READS_PER_MINUTE": 10_000,
    "IMPORTS_PER_MINUTE": 10_000,
    # One client asks as fast as it can where the server's most is looked for.
    "FRAMES_PER_SECOND": 10_000,
    "FRAME_BYTES_PER_SECOND": 1 << 30,
}
PARTS = ["predicates", "cache", "priorities", "preemption", "queue", "podgroups", "moments", "cuts"]
SPAN = 50  # cycles of a window of the workbench
SATURATING = (8, 32, 128)  # clients, one after the other
WARMING = 4  # clients at once that ask for every step before the measurement
PATIENCE = 60.0
FIRST = f"every step for the first time, {WARMING} clients"

Ask = tuple[str, dict[str, Any]]


def _plain(source: Mapping[str, str], index: int, last: int) -> list[Ask]:
    return [
        ("cycles.window", {"source": source, "from": index, "count": 2}),
        ("cycle.get", {"source": source, "step": str(index), "parts": ["predicates"]}),
    ]


def _workbench(source: Mapping[str, str], index: int, last: int) -> list[Ask]:
    step = {"source": source, "step": str(index), "parts": PARTS, "pods": last}
    asked: list[Ask] = [("cycle.get", step)]
    if index % SPAN == 1:
        count = min(SPAN, last - index + 1)
        asked.append(("cycles.window", {"source": source, "from": index, "count": count, "pods": last}))
    return asked


#: What one step asks for: a window and the predicates, or what the workbench sends.
STEPS: Mapping[str, Callable[[Mapping[str, str], int, int], list[Ask]]] = {
    "plain": _plain,
    "workbench": _workbench,
}


def bundle(nodes: int, pods: int) -> str:
    """Return a cluster of so many nodes, with so many pods that fit."""
    items: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{i}", "labels": {"zone": f"z{i % 3}"}},
            "status": {"allocatable": {"cpu": "32", "memory": "64Gi", "pods": "110"}},
        }
        for i in range(nodes)
    ]
    requests = {"cpu": "100m", "memory": "64Mi"}
    items += [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{i}", "labels": {"app": f"a{i % 7}"}},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]},
        }
        for i in range(pods)
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


class Socket:
    """A connection that matches answers by their beginning: to decode them would load the client."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[str]] = {}
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            async for text in self._connection:
                assert isinstance(text, str)
                name, number, _ = text.split(",", 2)
                future = self._waiting.pop(number, None)
                if future is not None and not future.done():
                    future.set_result("" if name == '["success"' else text[:200])
        finally:
            for future in self._waiting.values():
                future.cancel()

    async def ask(self, command: str, payload: dict[str, Any]) -> str:
        """Return "" for success, else the beginning of the error's frame."""
        number = str(next(self._numbers))
        self._waiting[number] = future = asyncio.get_running_loop().create_future()
        await self._connection.send(f'["{command}",{number},{json.dumps(payload)}]')
        return await asyncio.wait_for(future, PATIENCE)

    async def close(self) -> None:
        """Close the connection."""
        self._reader.cancel()
        await self._connection.close()


@dataclass(slots=True)
class Measured:
    """How long the steps took, in seconds, what was answered with an error, and what all of them took."""

    times: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    passed: float = 0.0  # seconds of steps, without connecting
    cpu: float = 0.0  # seconds of processor time that the server took for them

    @contextmanager
    def clock(self, web: Web) -> Iterator[None]:
        """Measure the time that passes meanwhile, and the server's processor time."""
        began, cpu = time.monotonic(), web.cpu()
        yield
        self.passed, self.cpu = time.monotonic() - began, web.cpu() - cpu

    def part(self, share: float) -> float:
        """Return the milliseconds that this share of the steps took at most."""
        ordered = sorted(self.times) or [float("nan")]
        return 1_000 * ordered[min(len(ordered) - 1, int(len(ordered) * share))]


@dataclass(frozen=True, slots=True)
class Subject:
    """The server, the scenarios that it plays with their last step, and what a step asks for."""

    web: Web
    scenarios: Sequence[tuple[str, int]]
    step: Callable[[Mapping[str, str], int, int], list[Ask]]

    async def connect(self) -> Socket:
        """Connect as a page of the server does."""
        address = self.web.base_url.replace("http", "ws", 1) + "/ws/"
        return Socket(
            await connect(
                address,
                origin=Origin(self.web.base_url),
                compression=None,
                max_size=2**27,
                open_timeout=PATIENCE,
                ping_interval=None,
                proxy=None,
            )
        )

    async def take(self, socket: Socket, scenario: int, index: int, measured: Measured) -> None:
        """Ask for one step, all that belongs to it at once."""
        name, last = self.scenarios[scenario]
        began = time.monotonic()
        asked = self.step({"scenario": name}, index, last)
        answers = await asyncio.gather(*(socket.ask(command, payload) for command, payload in asked))
        measured.times.append(time.monotonic() - began)
        measured.errors.update(answer for answer in answers if answer)


async def _warm(subject: Subject) -> Measured:
    """Ask for every step of every scenario once."""
    measured = Measured()

    async def client(number: int) -> None:
        socket = await subject.connect()
        for scenario, (name, last) in enumerate(subject.scenarios):
            await socket.ask("scenario.open", {"source": {"scenario": name}})
            for index in range(1 + number * last // WARMING, 1 + (number + 1) * last // WARMING):
                await subject.take(socket, scenario, index, measured)
        await socket.close()

    with measured.clock(subject.web):
        await asyncio.gather(*(client(number) for number in range(WARMING)))
    return measured


async def _walk(subject: Subject, clients: int, seconds: float, pause: float) -> Measured:
    """Let every client step for so many seconds, a step each ``pause``; 0: one right after the other."""
    measured = Measured()
    sockets = [await subject.connect() for _ in range(clients)]

    async def client(number: int) -> None:
        scenario = number % len(subject.scenarios)
        last = subject.scenarios[scenario][1]
        index = random.randrange(last)
        await asyncio.sleep(random.random() * pause)
        while time.monotonic() < until:
            began = time.monotonic()
            index = index % last + 1
            await subject.take(sockets[number], scenario, index, measured)
            await asyncio.sleep(max(0, pause - (time.monotonic() - began)) if pause else 0)

    with measured.clock(subject.web):
        until = time.monotonic() + seconds
        await asyncio.gather(*(client(number) for number in range(clients)))
    for socket in sockets:
        await socket.close()
    return measured


async def _jump(subject: Subject, clients: int) -> Measured:
    """Let all clients ask for one step that nobody has asked for, at once."""
    measured = Measured()
    sockets = [await subject.connect() for _ in range(clients)]
    with measured.clock(subject.web):
        await asyncio.gather(*(subject.take(socket, 0, 40, measured) for socket in sockets))
    for socket in sockets:
        await socket.close()
    return measured


def bounds_of(clients: Sequence[int]) -> list[Bound]:
    """Return what has to hold of walks by so many clients each, and of the steps before them.

    A known step takes no more processor time than one that is asked for the first time; each client is served
    the step a second that it asks for; and more clients wait about as long as few.
    """
    found: list[Bound] = [AtMost("errors"), AtLeast(f"{FIRST}: steps/s")]
    few = min(clients, default=0)
    for many in clients:
        walk = walk_of(many)
        found += [
            AtLeast(f"{walk}: steps/s", 0.8 * many),
            Ratio(f"{walk}: CPU ms a step", f"{FIRST}: CPU ms a step", 1.0, 0.5),
        ]
        if many > few:
            found.append(Ratio(f"{walk}: p95 ms", f"{walk_of(few)}: p95 ms", 2 * many / few, 10.0))
    return found


def walk_of(clients: int) -> str:
    """Return what the row of a walk is called."""
    return f"{clients} clients, a step a second each"


def _figures(what: str, measured: Measured) -> dict[str, float]:
    steps = len(measured.times)
    return {
        f"{what}: steps/s": steps / measured.passed,
        f"{what}: p50 ms": measured.part(0.5),
        f"{what}: p95 ms": measured.part(0.95),
        f"{what}: CPU ms a step": 1_000 * measured.cpu / max(1, steps),
    }


async def _reported(
    subject: Subject, what: str, work: Callable[[], Awaitable[Measured]], figures: dict[str, float]
) -> None:
    measured = await work()
    figures.update(_figures(what, measured))
    figures["errors"] = figures.get("errors", 0.0) + measured.errors.total()
    steps = len(measured.times)
    row = (
        what,
        f"{steps / measured.passed:,.0f}",
        f"{measured.part(0.5):,.1f}",
        f"{measured.part(0.95):,.1f}",
        f"{measured.errors.total()}",
        f"{1_000 * measured.cpu / max(1, steps):.2f}",
        f"{100 * measured.cpu / measured.passed:.0f}",
        f"{subject.web.memory():,.0f}",
    )
    print(f"| {' | '.join(row)} |", flush=True)
    for error, count in measured.errors.most_common(3):
        print(f"  {count} × {error}")


async def _measure(web: Web, wanted: argparse.Namespace) -> dict[str, float]:
    figures: dict[str, float] = {}
    scenarios = [(web.share(bundle(nodes, pods)), pods) for nodes, pods in SCENARIOS]
    subject = Subject(web, scenarios, STEPS[wanted.step])
    print("| what | steps/s | p50 ms | p95 ms | errors | CPU ms a step | CPU % | MiB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    if wanted.jump:
        jump = partial(_jump, subject, wanted.jump)
        await _reported(subject, f"{wanted.jump} clients jump to one new step", jump, figures)
    await _reported(subject, FIRST, partial(_warm, subject), figures)
    for clients in wanted.clients:
        walk = partial(_walk, subject, clients, wanted.seconds, 1.0)
        await _reported(subject, walk_of(clients), walk, figures)
    for clients in SATURATING if wanted.saturate else ():
        walk = partial(_walk, subject, clients, wanted.seconds, 0.0)
        await _reported(subject, f"{clients} clients without a pause", walk, figures)
    return figures


def main(arguments: Sequence[str]) -> int:
    """Run the load that the arguments describe against a server of its own, and print a table.

    Returns 1 if a bound does not hold.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.load steps", description=__doc__)
    parser.add_argument("--clients", type=int, nargs="*", default=[50, 200], metavar="N")
    parser.add_argument("--seconds", type=float, default=15.0, help="of each measurement")
    parser.add_argument("--saturate", action="store_true", help="also find the most steps a second")
    parser.add_argument("--jump", type=int, default=0, metavar="N", help="clients that jump to one new step")
    parser.add_argument("--step", choices=STEPS, default="plain", help="what one step asks for")
    parser.add_argument("--port", type=int, default=8802)
    parser.add_argument("--folder", type=Path, default=REPOSITORY, help="serve the code of another folder")
    wanted = parser.parse_args(arguments)
    with serving(wanted.port, wanted.folder, LIMITS) as web:
        return judged(asyncio.run(_measure(web, wanted)), bounds_of(wanted.clients))
