"""``explain`` of what Kueue holds: a Workload, a Job or a pod, and what a submission would do."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import chain
from math import inf

from scheduler_core.cli.input_files import InputError, problem_lines, read_scenario
from scheduler_core.cli.output import write_answer
from scheduler_core.cluster.kueue.workload import ADMITTED
from scheduler_core.explain import ExplainError
from scheduler_core.explain.kueue.answer import KueueAnswer, answer
from scheduler_core.explain.kueue.cluster import KueueCluster, has_kueue, kueue_over
from scheduler_core.explain.kueue.moment import kueue_at
from scheduler_core.explain.kueue.submission import Submission, submit
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.scenario.scenario import Scenario

NOTES_SHOWN = 10


def full_name(name: str) -> str:
    """Return a name with its namespace."""
    return name if "/" in name else f"default/{name}"


def holds(scenario: Scenario, pod: str) -> bool:
    """Return whether Kueue has the Workload of what controls a pod, and has not admitted it."""
    cluster = kueue_over(scenario.documents)
    try:
        key = cluster.workload_of("Pod", pod)
    except ExplainError:
        return False
    workload = cluster.control.workloads[key]
    return not workload.has(ADMITTED) and not workload.owner.startswith("Pod ")


def run(scenario: Scenario, options: argparse.Namespace) -> int:
    """Explain what the options name, and print the answer."""
    if not has_kueue(scenario.documents):
        raise InputError("the files have no ClusterQueue: Kueue holds nothing here")
    if options.step:
        raise InputError("--step is a cycle of the scheduler, for --pod: ask Kueue with --at SECONDS")
    try:
        cluster = _cluster(scenario, options.at)
        found = _submitted(cluster, options.submit) if options.submit else _explained(cluster, options)
    except ExplainError as error:
        raise InputError(str(error)) from error
    warnings = scenario.warnings[:NOTES_SHOWN]
    write_answer(
        options.output,
        lambda: chain(_warned(warnings), _lines(found, cluster)),
        lambda: {**found.as_dict(), "warnings": [one.as_dict() for one in warnings]},
    )
    return 0


def _warned(warnings: Sequence[Problem]) -> Iterator[str]:
    yield from (f"warning: {line}" for line in problem_lines(warnings).splitlines())


def _cluster(scenario: Scenario, at: float | None) -> KueueCluster:
    """Return Kueue over the objects of the files, or in their run: at a second, or after all operations."""
    if at is None and not scenario.operations:
        return kueue_over(scenario.documents)
    return kueue_at(scenario, inf if at is None else at)


def _explained(cluster: KueueCluster, options: argparse.Namespace) -> KueueAnswer:
    kinds = {"Workload": options.workload, "Job": options.job, "Pod": options.pod}
    kind, name = next((kind, name) for kind, name in kinds.items() if name)
    return answer(cluster.control, cluster.workload_of(kind, full_name(name)))


def _submitted(cluster: KueueCluster, file: str) -> Submission:
    """Submit the one Workload, or the Workload of the one Job, of a file."""
    new = cluster.submitted(read_scenario([file]).documents)
    if len(new) != 1:
        raise InputError(f"{file} has {len(new):,} new Workloads or Jobs that Kueue queues: submit one")
    return submit(cluster.control, new[0])


def _lines(found: KueueAnswer | Submission, cluster: KueueCluster) -> Iterator[str]:
    yield from (f"note: {text}" for text in cluster.notes[:NOTES_SHOWN])
    yield from found.head
    for section in found.sections:
        yield ""
        yield f"{section.title}:"
        yield from (f"  {text}" for text in section.sentences)
