"""``bench``: measure scheduling on standard workloads; the last line is one JSON object."""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import sys
import time
from functools import partial

from scheduler_core.cli.cache_options import add_cache_arguments, with_cache
from scheduler_core.cli.day import SHAPE, day
from scheduler_core.cli.input_files import InputError
from scheduler_core.cli.workloads import SHAPES, manifest_workload, workload
from scheduler_core.run import simulate
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.table import SUPPORT
from scheduler_core.settings.release import ALONE, CACHING, row_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--nodes", type=_positive, required=True, metavar="N")
    parser.add_argument("--pods", type=_positive, required=True, metavar="P")
    parser.add_argument("--shape", choices=(*SHAPES, SHAPE, "spread"), required=True)
    parser.add_argument(
        "--scheduler", choices=[row.name for row in ALONE], default=CACHING, help=f"default: {CACHING}"
    )
    parser.add_argument(
        "--trace", choices=("off", "full"), default="off", help="full: record every matrix of every cycle"
    )
    add_cache_arguments(parser)
    parser.set_defaults(run=run)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def run(options: argparse.Namespace) -> int:
    """Schedule the workload as ``simulate`` does, time the cycles alone, and print the figures."""
    scenario = _scenario(options)
    simulation = simulate(scenario, trace=options.trace == "full")
    began, began_cpu = time.perf_counter(), time.process_time()
    for _ in simulation:
        pass
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
    placement = simulation.placement()
    lines = "".join(f"{pod.partition('/')[2]} {node}\n" for pod, node in placement.items())
    row = row_of(options.scheduler)
    result = {
        **({} if row.has_cache else {"scheduler": row.name}),
        "shape": options.shape,
        "nodes": options.nodes,
        "pods": options.pods,
        "trace": options.trace,
        **({"cache": scenario.settings.cache} if row.has_cache else {}),
        "placed": sum(bool(node) for node in placement.values()),
        "pods_per_second": round(options.pods / seconds, 1),
        "cycles": simulation.index,
        "seconds": round(seconds, 4),
        "cpu_seconds": round(cpu_seconds, 6),
        "peak_mib": round(_peak_mib(), 1),
        "placements_sha256": hashlib.sha256(lines.encode()).hexdigest(),
    }
    print(json.dumps(result | simulation.counts()))
    return 0


def _scenario(options: argparse.Namespace) -> Scenario:
    """Return the workload of the options. Raises InputError for one that the scheduler is not measured on."""
    shapes = SUPPORT[options.scheduler].shapes
    if shapes:
        if options.shape not in shapes:
            raise InputError(f"--shape {options.shape} is not measured with --scheduler v1.37")
        if options.cache not in (None, "off"):
            raise InputError("--cache: the equivalence cache belongs to v1.11")
        return manifest_workload(options.shape, options.nodes, options.pods)
    if options.shape == "spread":
        raise InputError("--shape spread is for --scheduler v1.37: v1.11 has no topology spread constraints")
    make = day if options.shape == SHAPE else partial(workload, options.shape)
    scenario = make(options.nodes, options.pods)
    return scenario.under(scenario.policy, with_cache(scenario.settings, options))


def _peak_mib() -> float:
    """Return the largest resident set so far, in MiB; Linux counts KiB, macOS bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
