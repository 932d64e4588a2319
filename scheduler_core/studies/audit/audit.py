"""The audit: every subject in its turn, row by row, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from msgspec import Struct

from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.progress import Watch, unwatched
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.release import DEFAULT_RELEASE
from scheduler_core.studies.audit import (
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
from scheduler_core.studies.audit.allowance import DEFAULT_BOUNDS, Allowance, AuditBounds
from scheduler_core.studies.audit.cluster import AuditedCluster
from scheduler_core.studies.audit.row import AuditRow

Rows = Callable[[AuditedCluster, Allowance], Iterator[AuditRow]]


class AuditSubject(Struct, frozen=True):
    """A subject: its heading, the question that it answers, its rows, and its part of the seconds.

    One that ``lives`` is answered under the default release where the scenario's own has no controllers.
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
    gaps.SUBJECT: AuditSubject("The dump", "What is missing or assumed?", gaps.rows, 1),
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
    bounds: AuditBounds = DEFAULT_BOUNDS,
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
    try:
        played = cluster.living if subject.lives else cluster
        for row in subject.rows(played, allowance):
            yield played.answered(row, cluster)
    except BundleError as error:
        yield AuditRow(subject=name, verdict="unknown", sentence=_unplayable(cluster, subject, error))


def _unplayable(cluster: AuditedCluster, subject: AuditSubject, error: BundleError) -> str:
    text = error.problems[0].message if error.problems else str(error)
    if cluster.lives or not subject.lives:
        return f"It cannot be played: {text}."
    return f"{cluster.scenario.release} has no controllers here, and under {DEFAULT_RELEASE} {text}."
