"""What a neighbour waits for while a visitor opens one large link after another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from tests.load.bounds import AtLeast, AtMost, Bound, Ratio
from tests.load.neighbour import ALONE_SECONDS, AT_ONCE, LINKS, STEPS, Neighbour
from tests.load.server import Server
from tests.load.texts import cluster
from tests.load.visitor import Stopwatch, cookie_of, figures, shared, socket

OPENERS = 2
LARGE_LINKS = 8
BOUNDS: Sequence[Bound] = (
    AtLeast("step alone: answers"),
    AtLeast("step beside others: answers"),
    AtLeast("link beside others: answers"),
    AtMost("refused to the neighbour"),
    Ratio("step beside others: p95, ms", "step alone: p95, ms", 8, AT_ONCE),
    Ratio("link beside others: p50, ms", "link alone: p50, ms", 10, AT_ONCE),
    AtLeast("large link: answers"),  # else there was no load
)


async def _open(base: str, cookie: str, names: list[str], times: list[float]) -> None:
    while names:
        watch = Stopwatch()
        async with socket(base, cookie) as opened:
            kind, answer = await opened.ask("scenario.open", {"source": {"scenario": names.pop()}})
        assert kind == "success", answer
        times.append(watch.seconds)


async def measure(server: Server, seconds: float) -> Mapping[str, float]:
    """Return the neighbour's figures alone and beside the openings, and how long these took."""
    step = shared(server.base, cluster(20, STEPS))
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
