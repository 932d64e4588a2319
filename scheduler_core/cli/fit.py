"""``fit``: fit a workload to a trace, compare the two, and draw another one of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from scheduler_core.authoring.fit_report import Likeness, likeness
from scheduler_core.authoring.fitted_workload import (
    KIND,
    MOST_BYTES,
    FittedWorkload,
    WorkloadFitError,
    drawn,
    fitted,
    nodes_of,
    read_fit,
    scenario_of,
)
from scheduler_core.authoring.recipes import MOST_PODS
from scheduler_core.authoring.trace_pods import pods_of
from scheduler_core.cli.input_files import FILES, InputError, in_columns, read_scenario
from scheduler_core.cli.output import add_output_argument, write_answer
from scheduler_core.formats.yaml_writer import write_yaml


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"{FILES}; or one {KIND} of --save")
    parser.add_argument("--save", metavar="FIT", help="write the distributions as JSON, which names nothing")
    parser.add_argument("--bundle", metavar="FILE", help="write a cluster with a workload drawn of them")
    parser.add_argument("--pods", type=int, metavar="N", help="how many to draw (default: as in the trace)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what is drawn by (default: 1)")
    add_output_argument(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Fit, write what was asked for, and print the distributions beside those of the trace."""
    if options.pods is not None and not 0 < options.pods <= MOST_PODS:
        raise InputError(f"--pods must be 1 to {MOST_PODS:,}")
    saved = _saved(options.files)
    try:
        fit, rows = (read_fit(saved), []) if saved else _of_trace(options.files, options.seed)
    except WorkloadFitError as error:
        raise InputError(f"{options.files[0]}: {error}") from error
    if options.save:
        Path(options.save).write_bytes(msgspec.json.encode(fit) + b"\n")
    if options.bundle:
        pods = drawn(fit, options.pods or min(fit.pods, MOST_PODS), options.seed)
        Path(options.bundle).write_text(
            write_yaml([*nodes_of(fit.nodes), scenario_of(pods)]), encoding="utf-8"
        )
    write_answer(
        options.output,
        lambda: _lines(fit, rows),
        lambda: {"pods": fit.pods, "leftOut": fit.left_out, "distributions": msgspec.to_builtins(rows)},
    )
    return 0


def _saved(files: Sequence[str]) -> bytes:
    """Return the content of a fit that was saved, nothing if the files are a trace."""
    file = Path(files[0])
    if len(files) > 1 or not file.is_file() or file.stat().st_size > MOST_BYTES:
        return b""
    content = file.read_bytes()
    return content if content.lstrip().startswith(b"{") and f'"{KIND}"'.encode() in content else b""


def _of_trace(files: Sequence[str], seed: int) -> tuple[FittedWorkload, list[Likeness]]:
    scenario = read_scenario(files)
    fit = fitted(scenario)
    trace, _ = pods_of(scenario)
    return fit, likeness(trace, drawn(fit, len(trace), seed))


def _lines(fit: FittedWorkload, rows: Sequence[Likeness]) -> Iterator[str]:
    nodes = sum(shape.count for shape in fit.nodes)
    yield f"{fit.pods:,} pods of {len(fit.sizes):,} sizes; {nodes:,} nodes of {len(fit.nodes):,} shapes"
    if rows:
        yield ""
        heads = ["", "trace: median", "95 %", "drawn: median", "95 %", "distance", "5 % level"]
        table = [
            [row.name, *map(_short, (*row.trace, *row.drawn)), f"{row.distance:.4f}", f"{row.bound:.4f}"]
            for row in rows
        ]
        yield from in_columns([heads, *table])
        yield ""
        yield "distance: Kolmogorov-Smirnov; of samples of one distribution 5 % are above the level"
    for name, count in fit.left_out.items():
        yield f"left out: {name} ({count:,})"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:g}"
