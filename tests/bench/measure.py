"""Run the workloads, each in a process of its own, and work out the ratios.

The engine is one thread that never waits, so on a machine that does nothing else its processor time is what
the clock shows. Where others use the machine, only the processor time is the engine's own; ratios and aims go
by it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from tests.bench.workloads import AIMS, GROWTH, SHAPES, Workload
from tests.parts import REPOSITORY

TRACES = ("off", "full")
SECONDS = 600  # for one process

Figures = Mapping[str, Any]  # what ``scheduler_core bench`` printed


def run(workload: Workload, trace: str, scheduler: str = "v1.11") -> Figures:
    """Run ``scheduler_core bench`` once in a fresh process, so that its peak memory is its own."""
    command = [sys.executable, "-m", "scheduler_core", "bench", "--shape", workload.shape, "--trace", trace]
    command += ["--nodes", str(workload.nodes), "--pods", str(workload.pods), "--scheduler", scheduler]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=SECONDS, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@dataclass(slots=True)
class Measured:
    """One workload with its best figures, by trace, and how often it was run."""

    workload: Workload
    best: dict[str, Figures]
    times: int = 0

    def add(self, trace: str, figures: Figures) -> None:
        """Keep the best of each figure; what disturbs a machine only slows."""
        known = self.best.setdefault(trace, figures)
        by_clock = max(known, figures, key=lambda one: one["pods_per_second"])
        by_processor = min(known, figures, key=lambda one: one["cpu_seconds"])
        self.best[trace] = {**by_clock, "cpu_seconds": by_processor["cpu_seconds"]}


def measure(
    workloads: Iterable[Workload],
    times: int,
    seconds: float,
    runner: Callable[[Workload, str], Figures] = run,
) -> list[Measured]:
    """Run every workload with and without a trace, ``times`` times in turn.

    The rounds are interleaved, so that a quiet minute of the machine helps all alike. After
    ``seconds`` no further round begins.
    """
    found = [Measured(workload, {}) for workload in workloads]
    began = time.perf_counter()
    for number in range(times):
        for entry in found:
            for trace in TRACES:
                entry.add(trace, runner(entry.workload, trace))
            entry.times += 1
        spent = time.perf_counter() - began
        print(f"round {number + 1} of {times}: {spent:.0f} s", file=sys.stderr)
        if spent * (number + 2) / (number + 1) > seconds:
            break
    return found


def row(measured: Measured) -> dict[str, Any]:
    """Return one line of the table: the workload, what was measured, and the ratios."""
    workload = measured.workload
    off, full = (_with_rates(measured.best[trace]) for trace in TRACES)
    rate = off["pods_per_cpu_second"]
    aim = AIMS.get((workload.shape, workload.nodes))
    return {
        **asdict(workload),
        "times": measured.times,
        "off": off,
        "full": full,
        "aim": aim,
        "aim_met": rate >= aim if aim else None,
        "ratio_to_upstream": rate / workload.upstream if workload.upstream else None,
        "full_to_off": rate / full["pods_per_cpu_second"],
        "same_placements": all(
            figures["placements_sha256"].startswith(workload.placements) for figures in (off, full)
        ),
    }


def _with_rates(figures: Figures) -> dict[str, Any]:
    """Add the rate by processor time; every pod of the workloads is tried once."""
    rate = figures["cycles"] / figures["cpu_seconds"]
    return {**figures, "pods_per_cpu_second": round(rate, 1), "microseconds_per_pod": round(1e6 / rate, 1)}


def growth(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return by shape how time per pod and memory grow from the smaller to the larger cluster of ``GROWTH``.

    ``memory`` compares what a node more takes: KiB for each node between the two largest sizes,
    over that between the two sizes before them. 1 is linear; what the interpreter needs for its own
    imports hides a part of the smaller clusters, so that somewhat more than 1 is too.
    """
    found = []
    for shape in SHAPES:
        by_nodes = {entry["nodes"]: entry for entry in rows if entry["shape"] == shape}
        if not by_nodes.keys() >= set(GROWTH):
            continue
        small, large = (by_nodes[nodes] for nodes in GROWTH)
        sizes = sorted(by_nodes)[-3:]
        slopes = [
            1024 * (by_nodes[more]["off"]["peak_mib"] - by_nodes[fewer]["off"]["peak_mib"]) / (more - fewer)
            for fewer, more in pairwise(sizes)
        ]
        found.append(
            {
                "shape": shape,
                "time": small["off"]["pods_per_cpu_second"] / large["off"]["pods_per_cpu_second"],
                "kib_per_node": slopes[-1],
                "memory": slopes[-1] / slopes[0] if slopes[0] > 0 else None,
            }
        )
    return found
