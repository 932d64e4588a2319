"""``capacity``: how many more of each workload's pod, or of a given one, fit, and which nodes to add."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from scheduler_core.cli.audit import row_lines
from scheduler_core.cli.input_files import (
    FILES,
    InputError,
    add_gates_argument,
    add_scheduler_argument,
    problem_lines,
    read_scenario,
)
from scheduler_core.cli.output import add_output_argument, write_answer
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import BundleError, PolicyError
from scheduler_core.studies.audit.allowance import SECONDS, Allowance, AuditBounds
from scheduler_core.studies.audit.capacity import SUBJECT, of_pod, rows
from scheduler_core.studies.audit.cluster import AuditedCluster
from scheduler_core.studies.audit.row import AuditRow
from scheduler_core.studies.audit.sample import NoPodError, chosen, sample

MOST_REPLICAS = 2_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    parser.add_argument("--pod", metavar="FILE", help="a Pod, or a workload with a pod template, to count")
    parser.add_argument(
        "--replicas", type=int, default=0, metavar="N", help="of --pod: which nodes to add until N fit"
    )
    add_scheduler_argument(parser)
    add_gates_argument(parser)
    add_output_argument(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Count and print; the exit status is 1 if the given pod, or as many of it as wanted, do not fit."""
    if not 0 <= options.replicas <= MOST_REPLICAS:
        raise InputError(f"--replicas must be 0 to {MOST_REPLICAS:,}")
    if options.replicas and not options.pod:
        raise InputError("--replicas needs --pod: it is how many of that pod are wanted")
    scenario = read_scenario(options.files, scheduler=options.scheduler, gates=options.feature_gates)
    asked = AuditedCluster(scenario)
    try:
        cluster = asked.living
        found = [cluster.answered(row, asked) for row in _rows(cluster, options)]
    except (BundleError, PolicyError) as error:
        raise InputError(problem_lines(error.problems)) from error
    except NoPodError as error:
        raise InputError(f"{options.pod}: {error}") from error
    files = " ".join(options.files)
    write_answer(
        options.output,
        lambda: (line for row in found for line in row_lines(row, files)),
        lambda: {"rows": plain(found)},
    )
    return int(any(row.verdict == "risk" for row in found))


def _rows(cluster: AuditedCluster, options: argparse.Namespace) -> Iterator[AuditRow]:
    if options.pod:
        document = chosen(read_scenario([options.pod]).documents)
        yield of_pod(cluster, sample(cluster, document), options.replicas)
        return
    allowance = Allowance(AuditBounds(SECONDS))
    allowance.begin(SUBJECT, 1.0)
    yield from rows(cluster, allowance)
