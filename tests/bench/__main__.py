"""Run every workload, print a table, write ``var/bench/engine.json``.

A rate depends on the machine and on who else uses it; the ratios (full trace to none, a large cluster to a
small one) are taken in one run and say more. Each figure is the best of several: what disturbs only slows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tests.bench.workloads import GROWTH, RECORDED, Workload
from tests.parts import REPOSITORY

OUTPUT = REPOSITORY / "var" / "bench" / "engine.json"
SECONDS = 600
HEADINGS = ("shape", "nodes", "pods", "pods/s", "× v1.11", "full trace ÷ none", "peak MiB", "placements")


def measure(workload: Workload, trace: str, times: int) -> dict[str, Any]:
    """Return the best of several runs of ``scheduler_core bench``, each in a process of its own."""
    command = [sys.executable, "-m", "scheduler_core", "bench", "--shape", workload.shape, "--trace", trace]
    command += ["--nodes", str(workload.nodes), "--pods", str(workload.pods)]
    found: list[dict[str, Any]] = []
    for _ in range(times):
        done = subprocess.run(
            command, cwd=REPOSITORY, capture_output=True, text=True, timeout=SECONDS, check=True
        )
        found.append(json.loads(done.stdout.splitlines()[-1]))
    return max(found, key=lambda result: float(result["pods_per_second"]))


def row(workload: Workload, off: dict[str, Any], full: dict[str, Any] | None) -> dict[str, Any]:
    """Return one line of the table: the workload, what was measured, and the ratios."""
    rate = float(off["pods_per_second"])
    digest = off["placements_sha256"][:16]
    return {
        **asdict(workload),
        "off": off,
        "full": full,
        "ratio_to_upstream": rate / workload.upstream if workload.upstream else None,
        "full_to_off": rate / float(full["pods_per_second"]) if full else None,
        "same_placements": digest == workload.placements if workload.placements else None,
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown."""
    lines = [
        (
            *(str(found[key]) for key in ("shape", "nodes", "pods")),
            f"{found['off']['pods_per_second']:,.0f}",
            *(f"{found[key]:.1f}" if found[key] else "–" for key in ("ratio_to_upstream", "full_to_off")),
            f"{found['off']['peak_mib']:,.0f}",
            {True: "v1.11's", False: "DIFFER", None: "–"}[found["same_placements"]],
        )
        for found in rows
    ]
    widths = [max(len(line[i]) for line in (HEADINGS, *lines)) for i in range(len(HEADINGS))]
    rule = tuple("-" * width for width in widths)
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (HEADINGS, rule, *lines)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; exit with 1 if a placement differs from v1.11's."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--times", type=int, default=3, help="runs of each workload; the best counts")
    parser.add_argument("--shape", help="only this shape")
    options = parser.parse_args(arguments)
    rows = []
    for workload in (*RECORDED, *GROWTH):
        if options.shape in {None, workload.shape}:
            print(f"{workload.shape}, {workload.nodes} nodes, {workload.pods} pods …", file=sys.stderr)
            off, full = (measure(workload, trace, options.times) for trace in ("off", "full"))
            rows.append(row(workload, off, full))
    small, large = (
        next((found for found in rows if (found["nodes"], found["pods"]) == (one.nodes, one.pods)), None)
        for one in GROWTH
    )
    growth = small["off"]["pods_per_second"] / large["off"]["pods_per_second"] if small and large else None
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps({"rows": rows, "growth_1000_to_20000_nodes": growth}, indent=1) + "\n")
    print(table(rows))
    if growth:
        print(f"\nFrom 1,000 to 20,000 nodes the time per plain pod grows {growth:.1f} times.")
    print(f"Written to {OUTPUT.relative_to(REPOSITORY)}.")
    return int(any(found["same_placements"] is False for found in rows))


if __name__ == "__main__":
    sys.exit(main())
