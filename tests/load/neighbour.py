"""What a visitor waits for while others have the server read and compute what is large.

Four sockets of one visitor check bundles of 4.4 MiB, each the next as soon as one is answered. Two more
visitors ask for the costs of v1.11 for 150 nodes × 3,000 pods. Beside them a neighbour takes a step twice a
second that nobody has asked for yet, opens links that nobody has opened yet, and starts a small run.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

from tests.load.bounds import AtLeast, AtMost, Bound, Ratio
from tests.load.server import Server
from tests.load.texts import cluster, pods_of
from tests.load.visitor import Stopwatch, cookie_of, figures, shared, socket
from tests.services import client

CHECKERS = 4
COSTS = 2
CHECKED_BYTES = 4_600_000
STEP_PAUSE = 0.5  # seconds between two steps
OPEN_PAUSE = 3.0  # seconds between two links
LINKS = 12
ALONE_SECONDS = 6.0
STEPS = 200  # of the scenario that is stepped through, each of which is asked for once
RUN_SECONDS = 240.0  # after which a small run has not ended
SERVED_LOOKS = 600  # a fifth of a second apart, after which the others were not served
#: Milliseconds below which a step, or a link, is as good as at once: no ratio is taken of less.
AT_ONCE = 50.0
BOUNDS: Sequence[Bound] = (
    AtLeast("step alone: answers"),
    AtLeast("step beside others: answers"),
    AtLeast("link alone: answers"),
    AtLeast("link beside others: answers"),
    AtMost("refused to the neighbour"),
    Ratio("step beside others: p95, ms", "step alone: p95, ms", 8, AT_ONCE),
    Ratio("link beside others: p50, ms", "link alone: p50, ms", 10, AT_ONCE),
    Ratio("run beside others: done after, ms", "run alone: done after, ms", 10, 1_000.0),
    # The others were served meanwhile, else there was no load.
    AtLeast("others: checked"),
    AtLeast("others: costs 200"),
)


class Neighbour:
    """Who is measured: the seconds of what was answered, and the codes of what was not."""

    def __init__(self, server: Server, step: str, links: list[str]) -> None:
        self.base = server.base
        self.cookie = cookie_of(server.base)
        self.step = step
        self.links = links
        self.steps: list[float] = []
        self.openings: list[float] = []
        self.refused: Counter[str] = Counter()
        self._next = cycle(range(1, STEPS + 1))

    def begin_anew(self) -> None:
        """Forget what was measured so far."""
        self.steps, self.openings = [], []
        self.refused.clear()

    async def take_steps(self, seconds: float) -> None:
        """Look at one cycle after another, none of them twice: no answer is kept from before."""
        source = {"scenario": self.step}
        async with socket(self.base, self.cookie) as opened:
            await opened.ask("scenario.open", {"source": source})
            total = Stopwatch()
            while total.seconds < seconds:
                watch = Stopwatch()
                answer = await opened.ask(
                    "cycle.get", {"source": source, "step": str(next(self._next)), "parts": ["predicates"]}
                )
                self._note(self.steps, watch, answer)
                await asyncio.sleep(STEP_PAUSE)

    async def open_links(self, seconds: float) -> None:
        """Open one link after another, each on a connection of its own as a page does."""
        total = Stopwatch()
        while self.links and total.seconds < seconds:
            source = {"scenario": self.links.pop()}
            watch = Stopwatch()
            async with socket(self.base, self.cookie) as opened:
                answer = await opened.ask("scenario.open", {"source": source})
            self._note(self.openings, watch, answer)
            await asyncio.sleep(OPEN_PAUSE)

    async def run(self, scenario: str) -> tuple[float, float]:
        """Start a run of 20 nodes × 60 pods; return the seconds until it is queued, and until it is done."""
        watch = Stopwatch()
        async with socket(self.base, self.cookie) as opened:
            kind, answer = await opened.ask("run.start", {"source": {"scenario": scenario}})
        started = watch.seconds
        if kind != "success":
            self.refused[f"run.start {answer['code']}"] += 1
            return started, 0.0
        while watch.seconds < RUN_SECONDS:
            found = await asyncio.to_thread(client.request, "GET", f"{self.base}/api/runs/{answer['run']}")
            if found.status == 200 and found.json["state"] == "done":
                return started, watch.seconds
            await asyncio.sleep(0.5)
        return started, RUN_SECONDS

    def _note(self, times: list[float], watch: Stopwatch, answer: tuple[str, Any]) -> None:
        times.append(watch.seconds)
        if answer[0] != "success":
            self.refused[answer[1]["code"]] += 1


async def _check(base: str, cookie: str, payload: str, answers: Counter[str]) -> None:
    async with socket(base, cookie) as opened:
        while True:
            kind, answer = await opened.ask_encoded("bundle.check", payload)
            answers["checked" if kind == "success" else answer["code"]] += 1
            if kind != "success":
                await asyncio.sleep(answer.get("retryAfter", 1))


async def _cost(base: str, name: str, answers: Counter[str]) -> None:
    while True:
        try:
            answer = await asyncio.to_thread(client.request, "GET", f"{base}/api/scenarios/{name}/costs")
            answers[f"costs {answer.status}"] += 1
        except TimeoutError:
            answers["costs not answered in time"] += 1
        await asyncio.sleep(1)


async def _served(answers: Counter[str]) -> None:
    """Wait until each kind of load was answered once: what began meanwhile may end later."""
    for _ in range(SERVED_LOOKS):
        if answers["checked"] and answers["costs 200"]:
            return
        await asyncio.sleep(0.2)


def _of_run(name: str, started: float, done: float) -> dict[str, float]:
    return {f"{name}: queued after, ms": started * 1000, f"{name}: done after, ms": done * 1000}


async def measure(server: Server, seconds: float) -> Mapping[str, float]:
    """Return the neighbour's figures alone and beside the others, and how often the others were served."""
    step = shared(server.base, cluster(20, STEPS))
    links = [shared(server.base, cluster(20, 60 + at, prefix="link")) for at in range(LINKS)]
    small = [shared(server.base, cluster(20, 60, prefix=f"run{at}-")) for at in range(2)]
    large = [
        shared(server.base, cluster(150, 3_000, prefix=f"x{at}-", scheduler="v1.11")) for at in range(COSTS)
    ]
    neighbour = Neighbour(server, step, links)
    await asyncio.gather(neighbour.take_steps(ALONE_SECONDS), neighbour.open_links(ALONE_SECONDS))
    found = {**figures("step alone", neighbour.steps), **figures("link alone", neighbour.openings)}
    found |= _of_run("run alone", *(await neighbour.run(small[0])))
    neighbour.begin_anew()

    answers: Counter[str] = Counter()
    payload = json.dumps({"text": pods_of(CHECKED_BYTES)})
    cookie = cookie_of(server.base)
    load = [asyncio.create_task(_check(server.base, cookie, payload, answers)) for _ in range(CHECKERS)]
    load += [asyncio.create_task(_cost(server.base, name, answers)) for name in large]
    try:
        await asyncio.sleep(1)
        _, _, (started, done) = await asyncio.gather(
            neighbour.take_steps(seconds), neighbour.open_links(seconds), neighbour.run(small[1])
        )
        await _served(answers)
    finally:
        for task in load:
            task.cancel()
        ended = await asyncio.gather(*load, return_exceptions=True)
    failed = [one for one in ended if isinstance(one, Exception)]
    assert not failed, failed
    return {
        **found,
        **figures("step beside others", neighbour.steps),
        **figures("link beside others", neighbour.openings),
        **_of_run("run beside others", started, done),
        "refused to the neighbour": float(sum(neighbour.refused.values())),
        **{f"others: {name}": float(count) for name, count in sorted(answers.items())},
        "web process, MiB": server.resident_mib(),
    }
