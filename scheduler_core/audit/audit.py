"""The audit: every subject in its turn, row by row, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from msgspec import Struct

from scheduler_core.audit import (
    capacity,
    consolidation,
    descheduler,
    drains,
    gaps,
    losses,
    pending_pods,
    policies,
    rollouts,
)
from scheduler_core.audit.allowance import DEFAULT_BOUNDS, Allowance, Bounds
from scheduler_core.audit.cluster import AuditedCluster
from scheduler_core.audit.row import AuditRow
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.progress import Watch, unwatched
from scheduler_core.scenario.scenario import Scenario

Rows = Callable[[AuditedCluster, Allowance], Iterator[AuditRow]]


class AuditSubject(Struct, frozen=True):
    """A subject: its heading, the question that it answers, its rows, and its part of the seconds.

    Of one that ``lives`` nothing is said under a scheduler without controllers.
    """

    title: str
    question: str
    rows: Rows
    weight: float = 1.0
    lives: bool = True


SUBJECTS: Mapping[str, AuditSubject] = {
    pending_pods.SUBJECT: AuditSubject(
        "Pending pods", "What is pending, and which change helps?", pending_pods.rows, 3, lives=False
    ),
    gaps.SUBJECT: AuditSubject("The dump", "What is missing or assumed?", gaps.rows, 1, lives=False),
    drains.SUBJECT: AuditSubject("Drains", "Can every node be drained?", drains.rows, 4),
    losses.SUBJECT: AuditSubject("N+1", "Does it survive a lost node, or zone?", losses.rows, 4),
    rollouts.SUBJECT: AuditSubject("Rollouts", "Does every restart end?", rollouts.rows, 3),
    capacity.SUBJECT: AuditSubject("Capacity", "How many more fit?", capacity.rows, 3),
    policies.SUBJECT: AuditSubject(
        "Policy and release", "What would be decided otherwise?", policies.rows, 2, lives=False
    ),
    descheduler.SUBJECT: AuditSubject("Descheduler", "What would be evicted?", descheduler.rows, 1),
    consolidation.SUBJECT: AuditSubject("Packing", "On how few nodes does it fit?", consolidation.rows, 2),
}
"""The subjects by name, in the order in which they are audited. One more is a row here."""


def audit(
    scenario: Scenario,
    bounds: Bounds = DEFAULT_BOUNDS,
    subjects: Collection[str] = SUBJECTS.keys(),
    watch: Watch = unwatched,
) -> Iterator[AuditRow]:
    """Yield the rows of the subjects, computed one by one.

    ``watch`` hears of each subject, of the cases done and of how many; it ends the audit by raising.

    Raises:
        BundleError: The scenario cannot be read with controllers.
        PolicyError: Its configuration cannot be used.
    """
    cluster, allowance = AuditedCluster(scenario), Allowance(bounds, watch)
    chosen = {name: SUBJECTS[name] for name in SUBJECTS if name in subjects}
    left = sum(one.weight for one in chosen.values())
    for name, subject in chosen.items():
        allowance.begin(name, subject.weight / left)
        left -= subject.weight
        yield from _of_subject(cluster, name, subject, allowance)


def _of_subject(
    cluster: AuditedCluster, name: str, subject: AuditSubject, allowance: Allowance
) -> Iterator[AuditRow]:
    if subject.lives and not cluster.lives:
        yield _without_controllers(name, cluster.scenario.release)
        return
    try:
        yield from subject.rows(cluster, allowance)
    except BundleError as error:
        text = error.problems[0].message if error.problems else str(error)
        yield AuditRow(subject=name, verdict="unknown", sentence=f"It cannot be played: {text}.")


def _without_controllers(subject: str, release: str) -> AuditRow:
    return AuditRow(
        subject=subject,
        verdict="unknown",
        sentence=f"Under {release} no controllers run here, so nothing can be said: choose v1.37.",
    )
