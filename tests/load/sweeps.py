"""A sweep of 60 cells, the same again from the store, and a hundred runs that ten visitors queue.

``python -m tests.load sweeps [--processes N] [--nodes N] [--pods P]`` starts podstep as ``make run`` does,
with N processes for long runs. Each visitor starts runs until one is refused, and tries again until none is.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from typing import Any

from tests.e2e.bundles import bundle, node, small
from tests.load.bounds import AtLeast, AtMost, Bound, Ratio, judged
from tests.load.queue import PATIENCE, Visitor, share, state_of
from tests.load.server import RAISED
from tests.services import client
from tests.services.processes import free_port
from tests.services.stack import Part, embedded_parts, running

GRID = {"scoringStrategy": ["LeastAllocated", "MostAllocated"], "seed": list(range(30))}
CELLS = 60
VISITORS, RUNS_EACH = 10, 10
LOOK = 0.25  # seconds between two looks
BOUNDS: Sequence[Bound] = (
    AtLeast("cells done", CELLS),
    AtMost("cells that differ from the store's"),
    Ratio("sweep again: s", "sweep: s", 0.1),
    AtLeast("runs done", VISITORS * RUNS_EACH),
    AtLeast("runs refused"),
    Ratio("run: longest mean wait of a visitor, s", "run: shortest mean wait of a visitor, s", 3, 1.0),
)


def pod(number: int) -> dict[str, Any]:
    """Return one of ten sizes of pod."""
    size = number % 10 + 1
    requests = {"cpu": f"{100 * size}m", "memory": f"{64 * size}Mi"}
    container = {"name": "main", "image": "app:1", "resources": {"requests": requests}}
    meta = {"name": f"p{number:05d}", "labels": {"app": f"size-{size}"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}


def swept(base: str, scenario: str) -> tuple[float, dict[str, Any]]:
    """Sweep a scenario; return the seconds until the sweep ended, and what the API says of it."""
    began = time.monotonic()
    made = client.request("POST", f"{base}/api/sweeps", {"scenario": scenario, "grid": GRID})
    assert made.status == 201, made.body[:300]
    while True:
        found = client.request("GET", f"{base}/api/sweeps/{made.json['id']}").json
        if found["state"] != "running":
            return time.monotonic() - began, found
        assert time.monotonic() - began < PATIENCE, f"{found['done']} cells in {PATIENCE} s"
        time.sleep(LOOK)


def of_sweeps(base: str, nodes: int, pods: int) -> Iterator[tuple[str, float]]:
    """Yield the figures of a sweep, and of the same one again."""
    cluster = (node(f"n{at:03d}", cpu="32", memory="64Gi") for at in range(nodes))
    scenario = share(base, bundle(*cluster, *map(pod, range(pods))))
    took, first = swept(base, scenario)
    again, second = swept(base, scenario)
    yield "sweep: s", took
    yield "sweep again: s", again
    yield "cells done", sum(cell["state"] == "done" for cell in first["cells"])
    pairs = zip(first["cells"], second["cells"], strict=True)
    yield "cells that differ from the store's", sum(one["run"] != other["run"] for one, other in pairs)


class Guest:
    """A visitor who wants a number of runs, and how it went."""

    def __init__(self, base: str, name: str) -> None:
        self.visitor = Visitor(base)
        self.name = name
        self.refusals: list[str] = []

    def run(self, count: int) -> list[float]:
        """Start runs, each as soon as it is admitted; return the seconds that each waited for a worker."""
        for number in range(count):
            scenario = share(self.visitor.base, small(f"{self.name}-{number}"))
            while not self._admitted(scenario):
                time.sleep(LOOK)
        return [self._waited(run) for run in self.visitor.runs]

    def _admitted(self, scenario: str) -> bool:
        try:
            self.visitor.start(scenario)
        except client.CommandError as error:
            self.refusals.append(str(error))
            return False
        return True

    def _waited(self, run: str) -> float:
        began = time.monotonic()
        while (found := state_of(self.visitor.base, run))["state"] != "done":
            assert time.monotonic() - began < PATIENCE, found
            time.sleep(LOOK)
        return _seconds(found["started"]) - _seconds(found["created"])


def _seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


def of_visitors(base: str) -> Iterator[tuple[str, float]]:
    """Yield the figures of a hundred runs of ten visitors at one address; print what refusals say."""
    guests = [Guest(base, f"guest-{number}") for number in range(VISITORS)]
    began = time.monotonic()
    with ThreadPoolExecutor(VISITORS) as threads:
        waits = list(threads.map(lambda guest: guest.run(RUNS_EACH), guests))
    every = sorted(seconds for listed in waits for seconds in listed)
    refusals = [text for guest in guests for text in guest.refusals]
    for text in sorted(set(refusals)):
        print(f"{refusals.count(text):5,} × {text}")
    yield "runs: s until the last is done", time.monotonic() - began
    yield "runs done", len(every)
    yield "runs refused", len(refusals)
    yield "run: median wait, s", median(every)
    yield "run: longest wait, s", every[-1]
    yield "run: longest mean wait of a visitor, s", max(map(mean, waits))
    yield "run: shortest mean wait of a visitor, s", min(map(mean, waits))


def _with_processes(part: Part, processes: int) -> Part:
    """Return a worker's part with as many processes for long runs."""
    command = list(part.command)
    command[command.index("--concurrency") + 1] = str(processes)
    return replace(part, command=tuple(command))


def figures(processes: int, nodes: int, pods: int) -> Mapping[str, float]:
    """Return the figures of a server of our own."""
    with tempfile.TemporaryDirectory(prefix="podstep-load-") as folder:
        home, port = Path(folder), free_port()
        parts = {
            name: replace(part, env={**part.env, **RAISED})
            for name, part in embedded_parts(home, port).items()
        }
        parts["worker"] = _with_processes(parts["worker"], processes)
        with running("load", parts, home, port) as stack:
            return {**dict(of_sweeps(stack.base_url, nodes, pods)), **dict(of_visitors(stack.base_url))}


def main(arguments: Sequence[str]) -> int:
    """Measure, print the figures; return 1 if a bound does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.load sweeps", description=__doc__)
    parser.add_argument("--processes", type=int, default=1, help="for long runs (default: %(default)s)")
    parser.add_argument("--nodes", type=int, default=200, help="of the sweep (default: %(default)s)")
    parser.add_argument("--pods", type=int, default=2_000, help="of the sweep (default: %(default)s)")
    options = parser.parse_args(arguments)
    found = figures(options.processes, options.nodes, options.pods)
    print(json.dumps(found, indent=1))
    return judged(found, BOUNDS)
