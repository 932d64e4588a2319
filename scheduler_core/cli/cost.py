"""``cost``: what the equivalence cache and batching would save on a workload, and what they cost."""

from __future__ import annotations

import argparse
import json

from scheduler_core.cli.reporting import InputError, problem_lines, read_scenario
from scheduler_core.cost import STRATEGIES, Cost, measure_costs
from scheduler_core.policy import PolicyError
from scheduler_core.settings import CACHE_MODES

ROWS = (
    ("cycles", "{0.pods:,}"),
    ("placed", "{0.placed:,}"),
    ("evaluations", "{0.evaluations:,}"),
    ("cache hits", "{0.hits:,}"),
    ("cache writes", "{0.writes:,}"),
    ("entries invalidated", "{0.invalidated:,}"),
    ("cache bytes at most", "{0.bytes:,}"),
    ("µs a cycle", "{0.per_pod:,.0f}"),
    ("pods placed otherwise", "{0.differing:,}"),
)
"""What is printed of each strategy, and how."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="manifests, a dump, a trace; - for standard input"
    )
    parser.add_argument(
        "--config", metavar="FILE", help="a Policy or settings to use instead of the bundle's"
    )
    parser.add_argument(
        "--strategy",
        action="append",
        choices=CACHE_MODES,
        help=f"may be given several times; the first is compared with (default {', '.join(STRATEGIES)})",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure and print."""
    scenario = read_scenario(options.files, options.config)
    try:
        costs = measure_costs(scenario, options.strategy or STRATEGIES)
    except PolicyError as error:
        raise InputError(problem_lines(error.problems)) from error
    print(json.dumps([cost.as_dict() for cost in costs]) if options.json else _table(costs))
    return 0


def _table(costs: list[Cost]) -> str:
    head = f"{'':24}" + "".join(f"{cost.strategy:>16}" for cost in costs)
    rows = [f"{name:24}" + "".join(f"{form.format(cost):>16}" for cost in costs) for name, form in ROWS]
    return "\n".join((head, *rows))
