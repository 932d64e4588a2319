"""How long a small run waits while two visitors have two runs of 90,000 pods each.

``python -m tests.load.queue [--base URL] [--seconds S]`` starts podstep as ``make run`` does, or measures a
server that runs already.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from tests.e2e.bundles import bundle, deployment, node, small
from tests.load.bounds import AtLeast, Bound, Ratio, judged
from tests.services import client
from tests.services.processes import free_port, wait_until
from tests.services.stack import embedded_parts, running

NODES, DEPLOYMENTS, REPLICAS = 500, 10, 9_000
VISITORS, RUNS_EACH = 2, 2
PAUSE = 1.0  # seconds between two small runs
PATIENCE = 300.0  # seconds after which a run that has not started counts as never started
LOOK = 0.05  # seconds between two looks at a run
ALONE = 3  # small runs before the large ones
BOUNDS: Sequence[Bound] = (
    AtLeast("small runs alone", ALONE),
    AtLeast("small runs"),
    AtLeast("large runs: cycles computed"),  # else there was no load
    AtLeast("large runs: still running", VISITORS),  # there was load until the end
    Ratio("small run: median until it starts, s", "small run alone: median until it starts, s", 8, 0.5),
    Ratio("small run: longest until it is done, s", "small run alone: longest until it is done, s", 12, 1.0),
)


class Served(Protocol):
    """A server that answers at ``base``, an address without a slash at its end."""

    @property
    def base(self) -> str:
        """Return the address."""


class Visitor:
    """Somebody with a cookie, who starts runs and cancels them."""

    def __init__(self, base: str) -> None:
        self.base = base
        made = client.request("POST", f"{base}/api/drafts", {"bundle": small("cookie")})
        assert made.status == 201, made.body[:300]
        self.cookie = {"Cookie": f"podstep_visitor={made.json['token']}"}
        self.runs: list[str] = []

    def start(self, scenario: str) -> str:
        """Start a run of a shared scenario; return its id."""
        with client.open_socket(self.base, self.cookie) as socket:
            run: str = socket.call("run.start", {"source": {"scenario": scenario}}, timeout=PATIENCE)["run"]
        self.runs.append(run)
        return run

    def cancel_all(self) -> None:
        """Cancel every run that was started."""
        with client.open_socket(self.base, self.cookie) as socket:
            for run in self.runs:
                socket.call("run.cancel", {"run": run}, timeout=PATIENCE)


def share(base: str, text: str) -> str:
    """Store a bundle; return the scenario's id."""
    answer = client.request("POST", f"{base}/api/scenarios", {"bundle": text})
    assert answer.status == 201, answer.body[:300]
    return str(answer.json["id"])


def state_of(base: str, run: str) -> dict[str, Any]:
    """Return what the API says of a run."""
    found: dict[str, Any] = client.request("GET", f"{base}/api/runs/{run}").json
    return found


def until(base: str, run: str, states: Sequence[str]) -> float:
    """Return the seconds from now until the run is in one of the states."""
    began = time.monotonic()
    while state_of(base, run)["state"] not in states:
        assert time.monotonic() - began < PATIENCE, f"run {run} was never {' or '.join(states)}"
        time.sleep(LOOK)
    return time.monotonic() - began


@dataclass
class Waits:
    """Seconds until small runs started, and until they were done."""

    started: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)

    def take(self, guest: Visitor, name: str) -> None:
        """Start a small run and wait for it."""
        run = guest.start(share(guest.base, small(name)))
        self.started.append(until(guest.base, run, ("running", "done")))
        self.ended.append(self.started[-1] + until(guest.base, run, ("done",)))


def figures(base: str, seconds: float) -> dict[str, float]:
    """Return how long small runs waited, and how far the large ones came, in ``seconds`` of load."""
    cluster = (node(f"n{at:03d}", cpu="32") for at in range(NODES))
    crowd = (deployment(f"crowd-{at}", REPLICAS, cpu="10m") for at in range(DEPLOYMENTS))
    large = share(base, bundle(*cluster, *crowd))
    visitors = [Visitor(base) for _ in range(VISITORS)]
    guest = Visitor(base)
    alone = Waits()
    beside = Waits()
    try:
        for number in range(ALONE):
            alone.take(guest, f"alone-{number}")
        runs = [visitor.start(large) for visitor in visitors for _ in range(RUNS_EACH)]
        wait_until(lambda: any(state_of(base, run)["done"] for run in runs), PATIENCE, "large runs compute")
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            beside.take(guest, f"small-{len(beside.started)}")
            time.sleep(PAUSE)
        found = [state_of(base, run) for run in runs]
    finally:
        for visitor in (*visitors, guest):
            visitor.cancel_all()
    return {
        "small runs alone": len(alone.started),
        "small run alone: median until it starts, s": median(alone.started),
        "small run alone: longest until it is done, s": max(alone.ended),
        "small runs": len(beside.started),
        "small run: median until it starts, s": median(beside.started),
        "small run: longest until it starts, s": max(beside.started),
        "small run: longest until it is done, s": max(beside.ended),
        "large runs: cycles computed": sum(one["done"] for one in found),
        "large runs: still running": sum(one["state"] in {"queued", "running"} for one in found),
    }


async def measure(server: Served, seconds: float) -> Mapping[str, float]:
    """Return the :func:`figures` of a server, as a subject of ``tests.load``."""
    return await asyncio.to_thread(figures, server.base, seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the figures as JSON; return 1 if a bound does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.load.queue", description=__doc__)
    parser.add_argument("--base", help="the address of a server that runs already")
    parser.add_argument("--seconds", type=float, default=30.0, help="of load (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.base:
        found = figures(options.base.rstrip("/"), options.seconds)
    else:
        with tempfile.TemporaryDirectory(prefix="podstep-load-") as folder:
            home, port = Path(folder), free_port()
            with running("load", embedded_parts(home, port), home, port) as stack:
                found = figures(stack.base_url, options.seconds)
    print(json.dumps(found, indent=1))
    return judged(found, BOUNDS)


if __name__ == "__main__":
    sys.exit(main())
