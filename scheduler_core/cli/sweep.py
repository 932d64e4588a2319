"""``sweep``: run a scenario under every combination of a grid's values, and compare the figures."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.cli.input_files import FILES, InputError, in_columns, problem_lines, read_scenario
from scheduler_core.cli.output import add_output_argument, counted_on_terminal, write_answer
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import BundleError, PolicyError
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.studies.sweep import (
    AXES,
    Grid,
    cell_distance,
    cell_run,
    pareto_front,
    read_sweep,
    scenario_of_cell,
)
from scheduler_core.studies.sweep.text import in_text, sweep_body

COLUMNS = (
    *("placed", "pending", "preemptions", "nodesUsed", "cpu", "memory", "fragmentation", "cpuDeviation"),
    *("meanWait", "meanGangWait", "pricePerHour", "nodesUnpriced"),
)
MOST_SECONDS = 60  # of a search for the optimum
Row = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE", help=FILES)
    parser.add_argument(
        "grid", metavar="GRID", help="a YAML or JSON file with the grid; - for standard input"
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="how many run cells at once (default: one for each processor)",
    )
    parser.add_argument(
        "--optimum",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="search so long for the best placement of each cell's pods, and say how far the cell is from it",
    )
    add_output_argument(parser)
    parser.epilog = "Axes: " + "; ".join(f"{row.title}: {row.about}" for row in AXES.values())
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the cells and print a row for each; return 1 if a cell could not be run."""
    if options.processes < 1:
        raise InputError("--processes must be 1 or more")
    if not 0 <= options.optimum <= MOST_SECONDS:
        raise InputError(f"--optimum must be 0 to {MOST_SECONDS} seconds")
    scenario = read_scenario([options.file])
    sweep = _read(options.grid, scenario)
    rows = list(
        counted_on_terminal(_rungs(_Job(scenario, sweep, 0, options.optimum), options.processes), "cells")
    )
    write_answer(options.output, lambda: _lines(sweep, rows), lambda: {"cells": rows, "whole": sweep.whole})
    return int(any("error" in row for row in rows))


def _read(name: str, scenario: Scenario) -> Grid:
    """Read the grid's file; each error has its line."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{name}: {getattr(error, 'strerror', None) or error}") from error
    try:
        body = sweep_body(text, name)
    except BundleError as error:
        raise InputError(problem_lines(error.problems)) from error
    try:
        return read_sweep(body, scenario)
    except BundleError as error:
        raise InputError(problem_lines(in_text(error.problems, text, body, name))) from error


class _Job(Struct, frozen=True):
    """What the processes that run cells share; ``optimum`` is how many seconds to search for it."""

    scenario: Scenario
    sweep: Grid
    rung: int
    optimum: float


_shared: _Job | None = None


def _rungs(job: _Job, processes: int) -> Iterator[Row]:
    """Yield a row for each cell of each rung, in order."""
    sweep = job.sweep
    numbers = list(range(len(sweep.cells)))
    for rung in range(len(sweep.budgets)):
        rows = list(_rows(replace(job, rung=rung), numbers, processes))
        yield from rows
        if sweep.halving:
            numbers = [numbers[at] for at in sweep.halving.survivors([row.get("metrics") for row in rows])]


def _rows(job: _Job, numbers: Sequence[int], processes: int) -> Iterator[Row]:
    """Yield the rows of a rung; cells run in forked processes, which share what was read."""
    global _shared  # noqa: PLW0603 - forked processes inherit it
    _shared = job
    if processes == 1 or len(numbers) == 1:
        yield from map(_row, numbers)
        return
    with ProcessPoolExecutor(min(processes, len(numbers)), get_context("fork")) as pool:
        yield from pool.map(_row, numbers)


def _row(number: int) -> Row:
    assert _shared is not None
    sweep, rung = _shared.sweep, _shared.rung
    values = sweep.cells[number]
    row: Row = {"values": values, **({"rung": rung + 1} if sweep.halving else {})}
    try:
        budget = sweep.budgets[rung]
        made = scenario_of_cell(_shared.scenario, sweep.axes, sweep.named, values, budget=budget)
        row["metrics"] = cell_run(made, sweep.prices)
        return {**row, "optimum": plain(cell_distance(made, _shared.optimum))} if _shared.optimum else row
    except (BundleError, PolicyError) as error:
        return {**row, "error": problem_lines(error.problems[:3])}


def _lines(sweep: Grid, rows: list[Row]) -> Iterator[str]:
    for rung, budget in enumerate(sweep.budgets, 1):
        own = [row for row in rows if row.get("rung", 1) == rung]
        if budget is not None:
            yield f"Rung {rung}, {budget[0]} {budget[1]:g}: {len(own):,} cells"
        yield from _table(sweep, own)
        yield ""


def _table(sweep: Grid, rows: list[Row]) -> Iterator[str]:
    best = pareto_front([row.get("metrics") for row in rows])
    alike = len(best) == len(rows) > 1
    shown = [name for name in COLUMNS if any(_figure(row, name) is not None for row in rows)]
    searched = any("optimum" in row for row in rows)
    table = [[*sweep.axes, *shown, *(["optimum"] if searched else []), ""]]
    for number, row in enumerate(rows):
        values = [_words(row["values"][name]) for name in sweep.axes]
        if "error" in row:
            table.append([*values, row["error"].replace("\n", "; "), *[""] * (len(shown) + searched)])
            continue
        figures = (_words(_figure(row, name)) for name in shown)
        distance = [_distance(row["optimum"])] if searched else []
        table.append([*values, *figures, *distance, _mark(number in best and not alike)])
    yield from in_columns(table)
    yield ""
    if len(sweep.cells) < sweep.whole:
        yield f"{len(sweep.cells):,} of {sweep.whole:,} cells, drawn by the seed."
    yield (
        "No cell is better than another in pods placed, nodes used and fragmentation together."
        if alike
        else "* no other cell places as many pods on as few nodes at as little fragmentation."
    )


def _distance(found: dict[str, Any]) -> str:
    """Return the verdict with the best that was found, or why there is none."""
    if not found["verdict"]:
        return str(found["why"])
    return f"{found['verdict']}: {found['bestPlaced']:,} on {found['bestNodes']:,} nodes"


def _mark(best: bool) -> str:
    return "*" if best else ""


def _figure(row: Row, name: str) -> Any:
    metrics = row.get("metrics") or {}
    return metrics.get("utilisation", {}).get(name) if name in ("cpu", "memory") else metrics.get(name)


def _words(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "–"}[value]
    return f"{value:,}" if isinstance(value, int) else str(value)
