"""Questions about Kueue at a moment of a recorded run, as generators that pause while the run is replayed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from scheduler_core.cluster.kueue.actor import Kueue
from scheduler_core.cluster.kueue.job_control import JobControl
from scheduler_core.explain import replayed
from scheduler_core.explain.explanation import ExplainError
from scheduler_core.explain.kueue.answer import KueueAnswer, answer
from scheduler_core.explain.kueue.cluster import (
    KueueCluster,
    manifests_in,
    new_workloads,
    unsimulated_settings,
)
from scheduler_core.explain.kueue.submission import Submission, submit
from scheduler_core.record.cycle import Decision
from scheduler_core.run import simulate
from scheduler_core.scenario.scenario import Scenario

MOST_WORKLOADS = 2_000
"""Workloads of a run that is asked about beside others; the command line has no such bound."""

Answering = Generator[None, None, KueueAnswer]
Submitting = Generator[None, None, Submission]


def kueue_at(scenario: Scenario, second: float) -> KueueCluster:
    """Return Kueue as it is at a second of a scenario's run, with all that was created until then.

    Raises:
        ExplainError: Kueue does not run.
    """
    simulation = simulate(scenario, trace=False)
    simulation.stop_after(second)
    while simulation.step() is not None:
        pass
    kueue = _running(simulation.kueue)
    jobs = JobControl(kueue.control)
    jobs.priorities = kueue.priorities
    notes = (*unsimulated_settings(scenario.documents), *kueue.left_out)
    return KueueCluster(kueue.control, jobs, tuple(kueue.server.of_kind("Pod")), notes)


def asking(scenario: Scenario, decisions: Sequence[Decision], index: int, key: str) -> Answering:
    """Explain a Workload, or that of a Job or pod (``Job default/a``), after cycle ``index`` of a run.

    Raises:
        ExplainError: Kueue does not run, or has no such Workload.
    """
    kueue = yield from _at(scenario, decisions, index)
    kind, _, name = key.strip().rpartition(" ")
    named = name if "/" in name else f"default/{name}"
    found = kueue.workload_of(f"{kind} {named}") if kind else named
    return answer(kueue.control, found or f"{kind} {named}")


def submitting(scenario: Scenario, decisions: Sequence[Decision], index: int, text: str) -> Submitting:
    """Submit the one Job or Workload of a YAML text after cycle ``index`` of a run.

    Raises:
        ExplainError: Kueue does not run, or the text does not have one new Job or Workload that is queued.
    """
    kueue = yield from _at(scenario, decisions, index)
    made = new_workloads(kueue.control, kueue.priorities, manifests_in(text))
    if len(made) != 1:
        raise ExplainError(
            f"the text has {len(made):,} new Jobs or Workloads with a LocalQueue: submit one", "manifest"
        )
    return submit(kueue.control, made[0])


def _at(scenario: Scenario, decisions: Sequence[Decision], index: int) -> Generator[None, None, Kueue]:
    simulation = yield from replayed(simulate(scenario, trace=False), decisions, index)
    if index == len(decisions):
        yield
        simulation.peek()
    kueue = _running(simulation.kueue)
    if len(kueue.control.workloads) > MOST_WORKLOADS:
        raise ExplainError(
            f"there are more than {MOST_WORKLOADS:,} Workloads: ask on the command line (explain --workload)",
            "kueue",
        )
    yield
    return kueue


def _running(kueue: Kueue | None) -> Kueue:
    if kueue is None:
        raise ExplainError("Kueue does not run here: it needs a ClusterQueue", "kueue")
    return kueue


Question = Callable[[Scenario, Sequence[Decision], int, str], Answering | Submitting]
"""What is asked of a moment of a run: about a Workload by its name, or with a manifest."""
