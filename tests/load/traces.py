"""What a long run costs on PostgreSQL and Redis: seconds, memory, bytes a cycle, and opening any cycle.

By default the GPU trace of the shared folder, under v1.11 and v1.37; with ``--nodes`` and ``--pods`` the pods
of Jobs instead, of which one is a cycle. The web server is restarted before 50 random cycles are opened in
full, one after the other; they are opened once more when all are there.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tests.e2e.test_gpu_trace import NODES, PODS, upload
from tests.faults.__main__ import scene
from tests.faults.database import rows
from tests.load.server import RAISED
from tests.load.texts import batch
from tests.load.visitor import quantile
from tests.parts import SHARED
from tests.services.stack import Stack

OPENED = 50
MEDIAN, LONGEST = 0.3, 1.0  # seconds to open a cycle: at the median, and at p95
PATIENCE = 3_600.0
COLUMNS = "{:<22} {:>9} {:>7} {:>6} {:>8} {:>11} {:>7} {:>14} {:>14}"
HEAD = ("run", "cycles", "s", "MiB", "B/cycle", "checkpoints", "open s", "cold p50/p95", "warm p50/p95")

Start = Callable[[Stack], str]


def _trace(release: str, home: Path) -> Start:
    settings = home / f"{release}.yaml"
    settings.write_text(f"apiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: {release}\n")
    return lambda stack: upload(stack, [SHARED / NODES, SHARED / PODS, settings])


def _jobs(release: str, nodes: int, pods: int) -> Start:
    def start(stack: Stack) -> str:
        shared = stack.post("/api/scenarios", {"bundle": batch(nodes, pods, release)})
        assert shared.status == 201, shared.body[:500]
        return str(stack.post("/api/runs", {"scenario": shared.json["id"]}).json["id"])

    return start


def _opened(stack: Stack, run: str, cycle: int) -> float:
    began = time.perf_counter()
    answer = stack.get(f"/api/runs/{run}/cycles/{cycle}")
    assert answer.status == 200, answer.body[:500]
    return time.perf_counter() - began


def measured(stack: Stack, name: str, start: Start) -> bool:
    """Compute a run, open its cycles, and print a row; return whether they opened in time."""
    run = start(stack)
    row = stack.wait_for_run(run, ("done", "failed"), PATIENCE)
    assert row["state"] == "done", row
    chunk = "sum(length(data) + coalesce(length(messages), 0))"
    [(stored,)] = rows(stack, f"SELECT {chunk} FROM playground_runchunk WHERE run_id = {{}}", run)
    [(packed,)] = rows(stack, "SELECT count(*) FROM playground_runcheckpoint WHERE run_id = {}", run)
    cycles = row["done"]
    stack.stop("web")
    stack.start("web")
    stack.wait_until_ready()
    first = _opened(stack, run, 1)
    asked = random.Random(cycles).sample(range(2, cycles + 1), OPENED)
    cold = [_opened(stack, run, cycle) for cycle in asked]
    warm = [_opened(stack, run, cycle) for cycle in asked]
    shown = (
        "{:.0f}/{:.0f} ms".format(*(quantile(one, at) * 1000 for at in (0.5, 0.95))) for one in (cold, warm)
    )
    figures = f"{cycles:,}", f"{row['seconds']:.1f}", f"{row['peakMib']:.0f}", f"{stored / cycles:.1f}"
    print(COLUMNS.format(name, *figures, packed, f"{first:.1f}", *shown), flush=True)
    return quantile(cold, 0.5) <= MEDIAN and quantile(cold, 0.95) <= LONGEST


def main(arguments: Sequence[str]) -> int:
    """Print a row for each release; return 1 if cycles opened too slowly."""
    parser = argparse.ArgumentParser(prog="python -m tests.load traces")
    parser.add_argument("--nodes", type=int, default=0, help="of a cluster with Jobs, not the GPU trace")
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--releases", default="v1.11,v1.37", help="default: %(default)s")
    options = parser.parse_args(arguments)
    print(COLUMNS.format(*HEAD))
    with (
        tempfile.TemporaryDirectory(prefix="podstep-traces-") as folder,
        scene("compose", Path(folder)) as found,
    ):
        limits = {
            **RAISED,
            "PLAYGROUND_PODS": str(2 * max(100_000, options.pods)),
            "WEB_CONCURRENCY": "1",  # as for a page, whose socket stays with one process
        }
        parts = {name: replace(part, env={**part.env, **limits}) for name, part in found.stack.parts.items()}
        stack = replace(found.stack, parts=parts)
        for name in list(stack.processes):  # with these limits
            stack.stop(name)
            stack.start(name)
        stack.wait_until_ready()
        held = True
        for release in options.releases.split(","):
            made = (
                _jobs(release, options.nodes, options.pods)
                if options.nodes
                else _trace(release, Path(folder))
            )
            size = f" {options.nodes}×{options.pods}" if options.nodes else " GPU trace"
            held &= measured(stack, release + size, made)
    return 0 if held else 1
