"""Pending pods by reason, each reason with the smallest change that helps its first pod."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from scheduler_core.explain import ExplainError, explain
from scheduler_core.kubernetes.fit_errors import merged_message, parse_fit_error
from scheduler_core.studies.audit.allowance import Allowance
from scheduler_core.studies.audit.cluster import AuditedCluster
from scheduler_core.studies.audit.omissions import unplayed
from scheduler_core.studies.audit.row import AuditRow, Opening
from scheduler_core.studies.audit.words import count, listed

SUBJECT = "pending"
ALTERNATIVES = 2
"""Changes that are shown of a reason."""


def rows(cluster: AuditedCluster, allowance: Allowance) -> Iterator[AuditRow]:
    """Yield a row for each reason, the most frequent first."""
    placement = cluster.plain.run.placement()
    waiting = [pod for pod, node in placement.items() if not node]
    if not waiting:
        yield AuditRow(
            subject=SUBJECT, verdict="ok", sentence=f"No pod is pending: {_all(len(placement))} a node."
        )
        return
    left: list[Sequence[tuple[str, str]]] = []
    for members in allowance.cases(_groups(cluster, waiting), left):
        yield _row(cluster, members)
    if left:
        yield unplayed(SUBJECT, [pod for group in left for pod, _ in group], "pods that were not explained")


def _all(pods: int) -> str:
    return "the only pod has" if pods == 1 else f"all {pods:,} pods have"


def _groups(cluster: AuditedCluster, waiting: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Return pods with their messages; those that differ only in numbers are together."""
    found: dict[Hashable, list[tuple[str, str]]] = {}
    for pod in waiting:
        failure = cluster.plain.failures.get(pod)
        message = failure.message if failure else cluster.plain.run.untried_because(pod)
        error = parse_fit_error(message)
        shape: Hashable = message if error.nodes is None else error.shape()
        found.setdefault(shape, []).append((pod, message))
    return sorted(found.values(), key=len, reverse=True)


def _row(cluster: AuditedCluster, members: Sequence[tuple[str, str]]) -> AuditRow:
    pods = [pod for pod, _ in members]
    verb = "is" if len(pods) == 1 else "are"
    failure = cluster.plain.failures.get(pods[0])
    return AuditRow(
        subject=SUBJECT,
        verdict="risk",
        sentence=f"{count(len(pods), 'pod')} {verb} pending: {merged_message(text for _, text in members)}",
        evidence=(listed(pods), *_remedies(cluster, pods[0])),
        about=tuple(f"Pod {pod}" for pod in pods[:8]),
        opens=Opening(step=failure.step if failure else "end", pod=pods[0]),
    )


def _remedies(cluster: AuditedCluster, pod: str) -> Iterator[str]:
    """Yield the smallest changes with which a pod fits."""
    try:
        answer = explain(cluster.plain.run, pod)
    except ExplainError as error:
        yield str(error)
        return
    for number, change in enumerate(answer.changes[:ALTERNATIVES]):
        words = "; ".join(change.words)
        yield f"{'the smallest change' if not number else 'or'} for {pod}, on {change.node}: {words}"
    if not answer.changes:
        yield f"no change was found with which {pod} fits"
