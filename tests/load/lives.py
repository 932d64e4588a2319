"""What a visitor waits for while another one has clusters computed that live for a week of virtual time.

Fifty containers that end every second restart with a growing delay for as long as the run may last: the
moment after the last cycle takes half a minute of computing, of a bundle of a few hundred bytes. Somebody
opens it and asks for its end. Beside them a neighbour takes steps that nobody has asked for yet, and the
process is asked whether it is alive.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

from tests.load.bounds import AtLeast, AtMost, Bound, Ratio
from tests.load.neighbour import STEPS, Neighbour
from tests.load.server import Server
from tests.load.texts import cluster
from tests.load.visitor import Stopwatch, cookie_of, figures, shared, socket
from tests.services import client

LIVES = 4  # that the visitor has open at once, each in a tab
ALONE_SECONDS = 6.0
HEALTH_PAUSE = 0.25  # seconds between two looks at /healthz
ENDLESS = """\
{{apiVersion: podstep/v1, kind: SimulationSettings, scheduler: v1.37, time: virtual}}
---
{{apiVersion: v1, kind: Node, metadata: {{name: n1}}, status: {{allocatable: {{cpu: "64", pods: "250"}}}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web{number}, namespace: default}}
spec:
  replicas: 200
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}, annotations: {{podstep/run-seconds: "1"}}}}
    spec: {{containers: [{{name: c, image: i, resources: {{requests: {{cpu: 100m}}}}}}]}}
"""
#: Milliseconds below which a step, or an answer of /healthz, is as good as at once.
AT_ONCE = 25.0
BOUNDS: Sequence[Bound] = (
    AtLeast("step alone: answers"),
    AtLeast("step beside lives: answers"),
    AtMost("refused to the neighbour"),
    AtMost("step beside lives: p95, ms", 250.0),
    Ratio("step beside lives: p95, ms", "step alone: p95, ms", 10, AT_ONCE),
    Ratio("healthz beside lives: p95, ms", "healthz alone: p95, ms", 10, AT_ONCE),
    # The process computed meanwhile, else there was no load.
    AtLeast("lives: opened"),
)


async def _live(base: str, cookie: str, number: int, answers: Counter[str]) -> None:
    source = {"scenario": await asyncio.to_thread(shared, base, ENDLESS.format(number=number))}
    async with socket(base, cookie) as opened:
        kind, _ = await opened.ask("scenario.open", {"source": source})
        answers["opened" if kind == "success" else kind] += 1
        while True:
            kind, answer = await opened.ask("step.locate", {"source": source, "step": "end"})
            answers["located" if kind == "success" else answer["code"]] += 1
            if kind != "success":
                await asyncio.sleep(answer.get("retryAfter", 1))
            elif number == 0:
                await opened.ask("cycle.get", {"source": source, "step": "end", "parts": ["inspect"]})
            await asyncio.sleep(0.2)


async def _healthz(base: str, seconds: float) -> list[float]:
    """Return the seconds that each answer of /healthz took, asked for that long."""
    times: list[float] = []
    total = Stopwatch()
    while total.seconds < seconds:
        watch = Stopwatch()
        found = await asyncio.to_thread(client.request, "GET", f"{base}/healthz")
        assert found.status == 200, found.status
        times.append(watch.seconds)
        await asyncio.sleep(HEALTH_PAUSE)
    return times


Loads = Callable[[str, Counter[str]], Iterable[Coroutine[Any, Any, None]]]
"""What a visitor does without end, of their cookie and of the answers that they count."""


async def measured(server: Server, seconds: float, name: str, loads: Loads) -> dict[str, float]:
    """Return a neighbour's figures and those of /healthz, alone and beside a load."""
    neighbour = Neighbour(server, shared(server.base, cluster(20, STEPS)), [])
    _, alone = await asyncio.gather(neighbour.take_steps(ALONE_SECONDS), _healthz(server.base, ALONE_SECONDS))
    found = {**figures("step alone", neighbour.steps), **figures("healthz alone", alone)}
    neighbour.begin_anew()
    answers: Counter[str] = Counter()
    cookie = cookie_of(server.base)
    load = [asyncio.create_task(one) for one in loads(cookie, answers)]
    try:
        await asyncio.sleep(1)
        _, beside = await asyncio.gather(neighbour.take_steps(seconds), _healthz(server.base, seconds))
    finally:
        for task in load:
            task.cancel()
        ended = await asyncio.gather(*load, return_exceptions=True)
    failed = [one for one in ended if isinstance(one, Exception)]
    assert not failed, failed
    return {
        **found,
        **figures(f"step beside {name}", neighbour.steps),
        **figures(f"healthz beside {name}", beside),
        "refused to the neighbour": float(sum(neighbour.refused.values())),
        **{f"{name}: {answer}": float(count) for answer, count in sorted(answers.items())},
        "web process, MiB": server.resident_mib(),
    }


async def measure(server: Server, seconds: float) -> Mapping[str, float]:
    """Return the neighbour's figures and those of /healthz, alone and beside the lives."""

    def loads(cookie: str, answers: Counter[str]) -> Iterable[Coroutine[Any, Any, None]]:
        return (_live(server.base, cookie, number, answers) for number in range(LIVES))

    return await measured(server, seconds, "lives", loads)
