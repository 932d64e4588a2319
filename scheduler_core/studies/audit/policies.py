"""What another release, or MostAllocated, decides otherwise of the same pods, scheduled once more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.compare.again import taken_off
from scheduler_core.compare.compare import PolicyComparison, compare
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError, PolicyError
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.release import BY_PLUGINS, DEFAULT_RELEASE
from scheduler_core.studies.audit.allowance import Allowance
from scheduler_core.studies.audit.cluster import AuditedCluster
from scheduler_core.studies.audit.omissions import unplayed
from scheduler_core.studies.audit.row import AuditRow, Opening
from scheduler_core.studies.audit.variation import with_settings
from scheduler_core.studies.audit.words import count, listed

SUBJECT = "policy and release"
MOST_ALLOCATED = "MostAllocated"
SHOWN, RULES = 6, 2

_POLICY: Document = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": MOST_ALLOCATED}}},
            ]
        }
    ],
}


class _SpentError(Exception):
    """The seconds are spent."""


def documents_again(scenario: Scenario, under: str) -> list[Document]:
    """Return a bundle of the pods to be scheduled once more, under a release or :data:`MOST_ALLOCATED`."""
    documents = list(taken_off(scenario.documents))
    if under == MOST_ALLOCATED:
        return [*(one for one in documents if one.get("kind") != _POLICY["kind"]), _POLICY]
    return with_settings(documents, scheduler=under)


def rows(cluster: AuditedCluster, allowance: Allowance) -> Iterator[AuditRow]:
    """Yield a row for each release and for MostAllocated, against what answers now."""
    scenario, left = cluster.scenario, list[str]()
    release = scenario.release
    others = [one for one in BY_PLUGINS if one != release] if release in BY_PLUGINS else [DEFAULT_RELEASE]
    wanted = [*reversed(others), *((MOST_ALLOCATED,) if release in BY_PLUGINS else ())]
    for under in allowance.cases(wanted, left):
        try:
            yield _compared(scenario, under, allowance)
        except _SpentError:
            left.append(under)
        except (BundleError, PolicyError) as error:
            yield AuditRow(
                subject=SUBJECT,
                verdict="unknown",
                sentence=f"{under} cannot read this bundle.",
                evidence=tuple(one.message for one in error.problems[:SHOWN]),
            )
    if left:
        yield unplayed(SUBJECT, left, "comparisons that were not played")


def _compared(scenario: Scenario, under: str, allowance: Allowance) -> AuditRow:
    own = load_documents(
        list(taken_off(scenario.documents)), title=scenario.title, scheduler=scenario.release
    )
    other = load_documents(documents_again(scenario, under), title=scenario.title)

    def watch(_cycles: int) -> None:
        if allowance.seconds <= 0:
            raise _SpentError

    return _row(scenario, under, compare(own, other, watch))


def _row(scenario: Scenario, under: str, found: PolicyComparison) -> AuditRow:
    opens = Opening(kind="again", value=under, step=_step(found), pod=_pod(found))
    if found.decision is None:
        return AuditRow(
            subject=SUBJECT,
            verdict="ok",
            sentence=f"{under} decides nothing otherwise than {scenario.release} of pods scheduled again.",
            opens=opens,
        )
    first = found.decision
    moved = [f"{pod}: {a or 'pending'} → {b or 'pending'}" for pod, (a, b) in found.placements.items()]
    return AuditRow(
        subject=SUBJECT,
        verdict="note",
        sentence=(
            f"{under} places {count(found.differing, 'pod')} otherwise than {scenario.release}; "
            f"first {_pod(found)}, in cycle {first.index:,}."
        ),
        evidence=(
            *first.details[:SHOWN],
            *((f"decided by {first.rule}",) if first.rule else ()),
            *first.history[:RULES],
            *((f"in the end {listed(moved)}",) if moved else ()),
        ),
        opens=opens,
    )


def _side(found: PolicyComparison) -> Mapping[str, Any]:
    first = found.decision
    return (first.b or first.a or {}) if first is not None else {}


def _step(found: PolicyComparison) -> str:
    return str(_side(found).get("step", "end"))


def _pod(found: PolicyComparison) -> str:
    return str(_side(found).get("pod", ""))
