"""Plain pods on 20,000 equal nodes, where a cycle scores one node of those that are alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tests.bench.measure import Figures, run
from tests.bench.workloads import Workload

NODES, PODS = 20_000, 20_000


class Scale(NamedTuple):
    """A release with its placements, and the cycles a CPU second that it is to reach."""

    release: str
    placements: str
    aim: float


SCALES = (Scale("v1.11", "e3a04558a5360396", 15_000), Scale("v1.37", "38086f8637a51a3c", 8_000))


def measure_scale(
    runner: Callable[[Workload, str, str], Figures] = run, scales: Sequence[Scale] = SCALES
) -> list[dict[str, Any]]:
    """Return a row for each release; its placements are those of an engine that scores all nodes."""
    return [_row(scale, runner) for scale in scales]


def _row(scale: Scale, runner: Callable[[Workload, str, str], Figures]) -> dict[str, Any]:
    found = runner(Workload("plain", NODES, PODS, scale.placements), "off", scale.release)
    return {
        "release": scale.release,
        "nodes": NODES,
        "cycles": found["cycles"],
        "cycles_per_cpu_second": round(found["cycles"] / found["cpu_seconds"], 1),
        "aim": scale.aim,
        "peak_mib": found["peak_mib"],
        "same_placements": found["placements_sha256"].startswith(scale.placements),
    }


def missed(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name every aim that was not met."""
    return [
        f"{row['release']}, {row['nodes']:,} nodes: {row['cycles_per_cpu_second']:,.0f} cycles/CPU s, "
        f"the aim is {row['aim']:,.0f}"
        for row in rows
        if row["cycles_per_cpu_second"] < row["aim"]
    ]
