"""What a neighbour waits for while a visitor opens one large link after another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from tests.load.neighbour import ALONE_SECONDS, LINKS, Neighbour
from tests.load.server import Server
from tests.load.texts import cluster
from tests.load.visiting import Stopwatch, cookie_of, figures, shared, socket

OPENERS = 2
LARGE_LINKS = 8


async def _open(base: str, cookie: str, names: list[str], times: list[float]) -> None:
    while names:
        watch = Stopwatch()
        async with socket(base, cookie) as opened:
            kind, answer = await opened.ask("scenario.open", {"source": {"scenario": names.pop()}})
        assert kind == "success", answer
        times.append(watch.seconds)


async def measure(server: Server, seconds: float) -> Mapping[str, float]:
    """Return the neighbour's figures alone and beside the openings, and how long these took."""
    step = shared(server.base, cluster(20, 60))
    links = [shared(server.base, cluster(20, 60 + at, prefix="link")) for at in range(LINKS)]
    large = [shared(server.base, cluster(450, 12_000, prefix=f"x{at}-")) for at in range(LARGE_LINKS)]
    neighbour = Neighbour(server, step, links)
    await asyncio.gather(neighbour.take_steps(ALONE_SECONDS), neighbour.open_links(ALONE_SECONDS))
    found = {**figures("step alone", neighbour.steps), **figures("link alone", neighbour.openings)}
    neighbour.begin_anew()
    cookie, times = cookie_of(server.base), list[float]()
    load = [asyncio.create_task(_open(server.base, cookie, large, times)) for _ in range(OPENERS)]
    await asyncio.gather(neighbour.take_steps(seconds), neighbour.open_links(seconds))
    for task in load:
        task.cancel()
    await asyncio.gather(*load, return_exceptions=True)
    return {
        **found,
        **figures("step beside others", neighbour.steps),
        **figures("link beside others", neighbour.openings),
        **figures("large link", times),
        "refused to the neighbour": float(sum(neighbour.refused.values())),
        "web process, MiB": server.resident_mib(),
    }
