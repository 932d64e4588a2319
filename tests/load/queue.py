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
from pathlib import Path
from typing import Any, Protocol

from tests.e2e.bundles import bundle, deployment, node, small
from tests.services import client
from tests.services.processes import free_port, wait_until
from tests.services.stack import embedded_parts, running

NODES, DEPLOYMENTS, REPLICAS = 500, 10, 9_000
VISITORS, RUNS_EACH = 2, 2
PAUSE = 1.0  # seconds between two small runs
PATIENCE = 300.0  # seconds after which a run that has not started counts as never started
LOOK = 0.05  # seconds between two looks at a run


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


def figures(base: str, seconds: float) -> dict[str, float]:
    """Return how long small runs waited, and how far the large ones came, in ``seconds`` of load."""
    cluster = (node(f"n{at:03d}", cpu="32") for at in range(NODES))
    crowd = (deployment(f"crowd-{at}", REPLICAS, cpu="10m") for at in range(DEPLOYMENTS))
    large = share(base, bundle(*cluster, *crowd))
    visitors = [Visitor(base) for _ in range(VISITORS)]
    guest = Visitor(base)
    started: list[float] = []
    ended: list[float] = []
    try:
        runs = [visitor.start(large) for visitor in visitors for _ in range(RUNS_EACH)]
        wait_until(lambda: any(state_of(base, run)["done"] for run in runs), PATIENCE, "large runs compute")
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            run = guest.start(share(base, small(f"small-{len(started)}")))
            started.append(until(base, run, ("running", "done")))
            ended.append(started[-1] + until(base, run, ("done",)))
            time.sleep(PAUSE)
        large_cycles = sum(state_of(base, run)["done"] for run in runs)
    finally:
        for visitor in (*visitors, guest):
            visitor.cancel_all()
    return {
        "small runs": len(started),
        "small run: median until it starts, s": sorted(started)[len(started) // 2],
        "small run: longest until it starts, s": max(started),
        "small run: longest until it is done, s": max(ended),
        "large runs: cycles computed": large_cycles,
    }


async def measure(server: Served, seconds: float) -> Mapping[str, float]:
    """Return the :func:`figures` of a server, as a subject of ``tests.load``."""
    return await asyncio.to_thread(figures, server.base, seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the figures as JSON; return 0."""
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
