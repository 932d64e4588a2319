"""What a visitor waits for while another one asks what-ifs of a large living cluster without a pause.

Eight sockets of one visitor each try a drain of a cluster of 500 nodes and 3,000 pods of Deployments, and ask
what came of it. Beside them a neighbour takes steps that nobody has asked for yet, and the process is asked
whether it is alive.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any

from tests.load.bounds import AtLeast, AtMost, Bound, Ratio
from tests.load.lives import AT_ONCE, measured
from tests.load.server import Server
from tests.load.texts import ALLOCATABLE
from tests.load.visitor import shared, socket

SOCKETS = 8
NODES, DEPLOYMENTS, REPLICAS = 500, 100, 30
BOUNDS: Sequence[Bound] = (
    AtLeast("step alone: answers"),
    AtLeast("step beside what-ifs: answers"),
    AtMost("refused to the neighbour"),
    AtMost("step beside what-ifs: p95, ms", 250.0),
    Ratio("step beside what-ifs: p95, ms", "step alone: p95, ms", 10, AT_ONCE),
    Ratio("healthz beside what-ifs: p95, ms", "healthz alone: p95, ms", 10, AT_ONCE),
    # Branches were made meanwhile, else there was no load.
    AtLeast("what-ifs: branch.try"),
)


def _parent() -> str:
    settings = {
        "apiVersion": "podstep/v1",
        "kind": "SimulationSettings",
        "scheduler": "v1.37",
        "time": "virtual",
    }
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{at}", "labels": {"topology.kubernetes.io/zone": f"z{at % 3}"}},
            "status": {"allocatable": ALLOCATABLE},
        }
        for at in range(NODES)
    ]
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [settings, *nodes, *map(_deployment, range(DEPLOYMENTS))],
        }
    )


def _deployment(at: int) -> dict[str, object]:
    labels = {"app": f"web{at}"}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"web{at}", "namespace": "default"},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


async def _ask(base: str, cookie: str, scenario: str, number: int, answers: Counter[str]) -> None:
    """Try one drain after the other, and ask what came of each."""
    source = {"scenario": scenario}
    async with socket(base, cookie) as opened:
        for node in range(number, NODES, SOCKETS):
            command, payload = (
                "branch.try",
                {"source": source, "verb": "drain", "targets": f"n{node}", "seconds": "600"},
            )
            kind, answer = await opened.ask(command, payload)
            answers[command if kind == "success" else answer["code"]] += 1
            if kind == "success":
                command = "branch.outcome"
                kind, answer = await opened.ask(command, {"draft": answer["draft"]})
                answers[command if kind == "success" else answer["code"]] += 1
            if kind != "success":
                await asyncio.sleep(answer.get("retryAfter", 1))


async def measure(server: Server, seconds: float) -> Mapping[str, float]:
    """Return the neighbour's figures and those of /healthz, alone and beside the what-ifs."""
    scenario = await asyncio.to_thread(shared, server.base, _parent())

    def loads(cookie: str, answers: Counter[str]) -> Iterable[Coroutine[Any, Any, None]]:
        return (_ask(server.base, cookie, scenario, number, answers) for number in range(SOCKETS))

    return await measured(server, seconds, "what-ifs", loads)
