"""Measure the engine on all workloads, print tables in Markdown, write ``var/bench/*.json``.

A rate depends on the machine; the ratios (full trace to none, a large cluster to a small one) are taken in
run and say more. Each figure is the best of several: what disturbs only slows. ``pods/s`` is by the clock,
``pods/CPU s`` by the processor time of the one thread. Where nothing else runs they are the same; where
something does, aims and ratios go by the latter.
A full trace is every Cycle with all its matrices and vectors, as the workbench reads it; the text of
``simulate --trace`` is not part of it.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.bench.conform import measure_conform
from tests.bench.first_cycle import measure_first_cycles
from tests.bench.living_clusters import exceeded, measure_living
from tests.bench.measure import growth, measure, row
from tests.bench.scale import measure_scale
from tests.bench.scale import missed as missed_at_scale
from tests.bench.workloads import MATRIX, MOST_FULL_TO_OFF, MOST_GROWTH, MOST_MEMORY_GROWTH, SHAPES
from tests.parts import REPOSITORY

OUTPUT = REPOSITORY / "var" / "bench"

Row = Mapping[str, Any]
Columns = Sequence[tuple[str, Callable[[Row], str]]]


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _placements(row: Row) -> str:
    if not row["same_placements"]:
        return "DIFFER"
    return "v1.11's" if row["upstream"] else "as recorded"


COLUMNS: Columns = (
    ("shape", lambda row: row["shape"]),
    ("nodes", lambda row: _number(row["nodes"])),
    ("pods", lambda row: _number(row["pods"])),
    ("pods/s", lambda row: _number(row["off"]["pods_per_second"])),
    ("pods/CPU s", lambda row: _number(row["off"]["pods_per_cpu_second"])),
    ("aim", lambda row: _number(row["aim"])),
    ("× v1.11", lambda row: _number(row["ratio_to_upstream"], 1)),
    ("µs/pod", lambda row: _number(row["off"]["microseconds_per_pod"])),
    ("MiB", lambda row: _number(row["off"]["peak_mib"])),
    ("full: pods/s", lambda row: _number(row["full"]["pods_per_second"])),
    ("µs/pod", lambda row: _number(row["full"]["microseconds_per_pod"])),
    ("MiB", lambda row: _number(row["full"]["peak_mib"])),
    ("full ÷ off", lambda row: _number(row["full_to_off"], 1)),
    ("placements", _placements),
)
GROWTH_COLUMNS: Columns = (
    ("shape", lambda row: row["shape"]),
    ("time per pod, 20,000 nodes ÷ 1,000", lambda row: _number(row["time"], 1)),
    ("KiB per node", lambda row: _number(row["kib_per_node"], 1)),
    ("KiB per node ÷ that of smaller clusters", lambda row: _number(row["memory"], 2)),
)


CONFORM_COLUMNS: Columns = (
    ("recordings", lambda row: row["file"]),
    ("records", lambda row: _number(row["records"])),
    ("records/s", lambda row: _number(row["records_per_second"])),
    ("records/CPU s", lambda row: _number(row["records_per_cpu_second"])),
    ("errors", lambda row: _number(row["errors"])),
)


FIRST_CYCLE_COLUMNS: Columns = (
    ("pods of", lambda row: row["pods_of"]),
    ("pods", lambda row: _number(row["pods"])),
    ("release", lambda row: row["release"]),
    ("load, CPU s", lambda row: _number(row["load"], 2)),
    ("to the first cycle, CPU s", lambda row: _number(row["load"] + row["first"], 2)),
    ("µs/pod", lambda row: _number(1e6 * (row["load"] + row["first"]) / row["pods"])),
)


LIVING_COLUMNS: Columns = (
    ("work", lambda row: row["work"]),
    ("figure", lambda row: f"{_number(row['value'], 2)} {row['unit']}"),
    ("bound", lambda row: f"{row['bound']:g}"),
    ("goal", lambda row: f"{row['goal']:g}"),
)


SCALE_COLUMNS: Columns = (
    ("release", lambda row: row["release"]),
    ("nodes", lambda row: _number(row["nodes"])),
    ("cycles", lambda row: _number(row["cycles"])),
    ("cycles/CPU s", lambda row: _number(row["cycles_per_cpu_second"])),
    ("aim", lambda row: _number(row["aim"])),
    ("MiB", lambda row: _number(row["peak_mib"])),
    ("placements", lambda row: "as recorded" if row["same_placements"] else "DIFFER"),
)


def table(columns: Columns, rows: Sequence[Row]) -> str:
    """Return rows as a table in Markdown."""
    lines = [tuple(cell(row) for _, cell in columns) for row in rows]
    headings = tuple(heading for heading, _ in columns)
    widths = [max(len(line[i]) for line in (headings, *lines)) for i in range(len(headings))]
    rule = tuple("-" * width for width in widths)
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (headings, rule, *lines)
    )


def shortfalls(rows: Sequence[Row], grown: Sequence[Row]) -> list[str]:
    """Name every aim that was not met, and by how much."""
    found = []
    for one in rows:
        where = f"{one['shape']}, {one['nodes']:,} nodes"
        if one["aim_met"] is False:
            rate = _number(one["off"]["pods_per_cpu_second"])
            found.append(f"{where}: {rate} pods/CPU s, the aim is {_number(one['aim'])}")
        if one["full_to_off"] > MOST_FULL_TO_OFF:
            found.append(f"{where}: a full trace takes {one['full_to_off']:.1f} times as long")
    for one in grown:
        if one["time"] >= MOST_GROWTH.get(one["shape"], float("inf")):
            found.append(f"{one['shape']}: the time per pod grows {one['time']:.1f} times")
        if one["memory"] is None or one["memory"] > MOST_MEMORY_GROWTH:
            found.append(f"{one['shape']}: memory grows faster than the cluster")
    return found


def _write(name: str, found: Row) -> None:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; exit with 1 if a placement differs from the recorded one."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="runs of each workload; the best counts")
    parser.add_argument("--seconds", type=float, default=300, help="begin no round that would end later")
    parser.add_argument("--shape", choices=SHAPES, help="only this shape")
    options = parser.parse_args(arguments)
    chosen = [workload for workload in MATRIX if options.shape in {None, workload.shape}]
    rows = [row(found) for found in measure(chosen, options.times, options.seconds)]
    grown = growth(rows)
    missed = shortfalls(rows, grown)
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    _write("engine", {"machine": machine, "rows": rows, "growth": grown, "missed": missed})
    print(table(COLUMNS, rows), table(GROWTH_COLUMNS, grown), sep="\n\n")
    conform = measure_conform() if options.shape is None else []
    if conform:
        _write("conform", {"machine": machine, "rows": conform})
        print("", table(CONFORM_COLUMNS, conform), sep="\n")
    first_cycles = measure_first_cycles(min(options.times, 2)) if options.shape is None else []
    if first_cycles:
        _write("first-cycle", {"machine": machine, "rows": first_cycles})
        print("", table(FIRST_CYCLE_COLUMNS, first_cycles), sep="\n")
    scale = measure_scale() if options.shape is None else []
    if scale:
        _write("scale", {"machine": machine, "rows": scale})
        print("", table(SCALE_COLUMNS, scale), sep="\n")
        missed += missed_at_scale(scale)
    living = measure_living() if options.shape is None else []
    if living:
        _write("living", {"machine": machine, "rows": living})
        print("", table(LIVING_COLUMNS, living), sep="\n")
        missed += exceeded(living)
    print("\nNot met:\n" + "\n".join(f"- {text}" for text in missed) if missed else "\nEvery aim is met.")
    print(f"\nBest of {rows[0]['times']}. Written to {OUTPUT.relative_to(REPOSITORY)}.")
    return int(not all(found["same_placements"] for found in (*rows, *scale)))


if __name__ == "__main__":
    sys.exit(main())
