"""``cost``: what the equivalence cache and batching would save on a workload, and what they cost."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from scheduler_core.cli.input_files import FILES, InputError, problem_lines, read_scenario
from scheduler_core.cli.output import add_output_argument, write_answer
from scheduler_core.compare.cost import Cost, measure_costs
from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.settings.settings import CACHE_MODES

ROWS = (
    ("cycles", "{0.cycles:,}"),
    ("placed", "{0.placed:,}"),
    ("evaluations", "{0.evaluations:,}"),
    ("cache operations", "{0.operations:,}"),
    ("  lookups", "{0.lookups:,}"),
    ("  of these hits", "{0.hits:,}"),
    ("  writes", "{0.writes:,}"),
    ("  entries invalidated", "{0.invalidated:,}"),
    ("bytes at most", "{0.bytes:,}"),
    ("µs a cycle", "{0.per_pod:,.0f}"),
    ("pods placed differently", "{0.differing:,}"),
)
"""The rows printed for each strategy, with their formats."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    parser.add_argument(
        "--config", metavar="FILE", help="a Policy or settings to use instead of the bundle's"
    )
    parser.add_argument(
        "--strategy",
        action="append",
        choices=CACHE_MODES,
        help="may be given several times; the first is compared with "
        "(default: off, the bundle's own mode, sound, batching)",
    )
    add_output_argument(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure and print."""
    scenario = read_scenario(options.files, options.config, only_v1_11=True)
    try:
        costs = measure_costs(scenario, options.strategy)
    except PolicyError as error:
        raise InputError(problem_lines(error.problems)) from error
    write_answer(options.output, lambda: _lines(costs), lambda: [cost.as_dict() for cost in costs])
    return 0


def _lines(costs: list[Cost]) -> Iterator[str]:
    yield f"{'':24}" + "".join(f"{cost.strategy:>16}" for cost in costs)
    for name, form in ROWS:
        yield f"{name:24}" + "".join(f"{form.format(cost):>16}" for cost in costs)
    base = costs[0]
    cells = ["" if cost is base else f"{cost.first:,}" if cost.first else "none" for cost in costs]
    yield f"{'first differing cycle':24}" + "".join(f"{cell:>16}" for cell in cells)
    for cost in costs[1:]:
        yield f"{cost.strategy}: {_saved(base, cost)}"


def _saved(base: Cost, cost: Cost) -> str:
    saved = base.evaluations - cost.evaluations
    share = saved / base.evaluations if base.evaluations else 0.0
    text = (
        f"{share:.1%} of the evaluations of {base.strategy} saved"
        if saved >= 0
        else f"{-share:.1%} more evaluations than {base.strategy}"
    )
    return f"{text}, with {cost.operations / saved:.2f} cache operations for each" if saved > 0 else text
