"""N+1: what becomes of the workloads if a node, or a zone, stops answering; nodes that are alike once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.record.availability import WorkloadAvailability
from scheduler_core.studies.audit.allowance import Allowance
from scheduler_core.studies.audit.cluster import (
    AuditedCluster,
    PlayedRun,
    fewest_since,
    fewest_together,
    ready_at,
)
from scheduler_core.studies.audit.omissions import unplayed
from scheduler_core.studies.audit.row import AuditRow, Opening
from scheduler_core.studies.audit.symmetry import (
    Classes,
    Representative,
    checked,
    node_classes,
    zone_classes,
    zone_key,
    zones_of,
)
from scheduler_core.studies.audit.words import count, lasting, listed

SUBJECT = "n+1"
EVIDENCE = 8
"""Sentences about workloads in a row."""


class Loss(Struct, frozen=True):
    """What is lost: in words, the verb with its target, the nodes, and those that are alike."""

    what: str
    verb: str
    target: str
    nodes: tuple[str, ...]
    alike: tuple[str, ...]

    @property
    def name(self) -> str:
        """The node's name, or the zone's."""
        return self.target.rpartition("=")[2]


class LossOutcome(Struct, frozen=True):
    """What becomes of a loss; all but the last two are what is at risk.

    ``stuck`` are workloads whose pods nobody replaces while the node does not answer, each with how many;
    ``fewest`` what every workload that loses ready pods had at the fewest, and desires.
    """

    homeless: tuple[Pod, ...]
    gone: tuple[Pod, ...]
    stuck: Mapping[Key, int]
    short: tuple[str, ...]
    fewest: Mapping[Key, tuple[int, int]]
    calm: float

    @property
    def is_risk(self) -> bool:
        """Whether anything is lost for good, or below what its budget needs."""
        return bool(self.homeless or self.gone or self.stuck or self.short)

    @property
    def words(self) -> str:
        """What it comes to, "nothing is lost for good" if it is no risk."""
        gone, stuck, short = len(self.gone), sum(self.stuck.values()), len(self.short)
        parts = {
            count(len(self.homeless), "pod finds no place", "pods find no place"): self.homeless,
            count(gone, "pod is gone for good", "pods are gone for good"): gone,
            count(
                stuck, "pod of a StatefulSet is not replaced", "pods of StatefulSets are not replaced"
            ): stuck,
            count(short, "budget is short of healthy pods", "budgets are short of healthy pods"): short,
        }
        return " and ".join(text for text, there in parts.items() if there) or "nothing is lost for good"


def rows(cluster: AuditedCluster, allowance: Allowance) -> Iterator[AuditRow]:
    """Yield a row for each loss that costs something, then one for all others, and what was not played."""
    yield from _rows(cluster, allowance, node_classes(cluster), _node, "node")
    zones = zones_of(cluster.nodes)
    if len(zones) > 1:
        make = partial(_zone, zones, zone_key(cluster.nodes))
        yield from _rows(cluster, allowance, zone_classes(cluster), make, "zone")
    else:
        yield AuditRow(
            subject=SUBJECT,
            verdict="unknown",
            sentence="Nothing can be said of a lost zone: "
            + ("all nodes are in one." if zones else f"no node has the label {zone_key(cluster.nodes)}."),
        )


def _node(names: Sequence[str]) -> Loss:
    return Loss(f"node {names[0]}", "fail", names[0], (names[0],), tuple(names[1:]))


def _zone(zones: Mapping[str, Sequence[Node]], key: str, names: Sequence[str]) -> Loss:
    nodes = tuple(node.meta.name for node in zones[names[0]])
    return Loss(f"zone {names[0]}", "lose", f"{key}={names[0]}", nodes, tuple(names[1:]))


def _rows(
    cluster: AuditedCluster,
    allowance: Allowance,
    classes: Classes,
    make: Callable[[Sequence[str]], Loss],
    kind: str,
) -> Iterator[AuditRow]:
    left: list[Loss] = []
    safe: list[tuple[Loss, LossOutcome]] = []
    done: list[Representative] = []
    for loss in allowance.cases([make(names) for names in classes], left):
        case, outcome = _lost(cluster, loss)
        done.append(Representative(loss.name, outcome.words, loss.alike))
        if outcome.is_risk:
            yield _risk(cluster, loss, case, outcome)
        else:
            safe.append((loss, outcome))
    if safe:
        yield _safe(cluster, safe, kind)
    if left:
        yield unplayed(SUBJECT, [one.what for one in left], "not played")
    yield from checked(allowance, SUBJECT, done, lambda name: _lost(cluster, make((name,)))[1].words)


def _lost(cluster: AuditedCluster, loss: Loss) -> tuple[PlayedRun, LossOutcome]:
    case = cluster.case(loss.verb, [loss.target])
    return case, outcome_of(cluster, loss, case)


def outcome_of(cluster: AuditedCluster, loss: Loss, case: PlayedRun) -> LossOutcome:
    """Return what a loss comes to against the cluster at rest."""
    here = [pod for node in loss.nodes for pod in cluster.pods_on[node]]
    by_key = {(one.kind, one.key): one for one in case.availability.workloads}
    return LossOutcome(
        tuple(cluster.homeless(case)),
        tuple(cluster.vanished(case, here)),
        _stuck(cluster, here, case),
        tuple(_short(cluster, by_key)),
        _fewest(cluster, by_key),
        max(0.0, case.availability.calm_at - cluster.second),
    )


def _stuck(cluster: AuditedCluster, here: Sequence[Pod], case: PlayedRun) -> dict[Key, int]:
    """Return the StatefulSets whose pods are not replaced, since nobody knows that they have ended."""
    ending = {pod.meta.key for pod in case.pods if pod.meta.deletion_timestamp is not None}
    tops = [cluster.top(pod) for pod in here if pod.meta.key in ending]
    return Counter(top for top in tops if top is not None and top[0] == "StatefulSet")


def _short(cluster: AuditedCluster, known: Mapping[Key, WorkloadAvailability]) -> Iterator[str]:
    """Yield a sentence for each budget whose pods were fewer than it needs, and had not been at rest."""
    for budget in cluster.budgets:
        found = [known[top] for top in budget.workloads if top in known]
        if not found or len(found) < len(budget.workloads) or budget.healthy < budget.needed:
            continue
        fewest = fewest_together(found, cluster.second)
        if fewest < budget.needed:
            yield (
                f"PodDisruptionBudget {budget.key} needs {budget.needed:,} healthy, "
                f"and {fewest:,} are ready at the fewest"
            )


def _fewest(cluster: AuditedCluster, known: Mapping[Key, WorkloadAvailability]) -> dict[Key, tuple[int, int]]:
    found = {}
    for key, one in known.items():
        fewest = fewest_since(one, cluster.second)
        if key[0] not in ("", "DaemonSet", "Job") and fewest < ready_at(one, cluster.second):
            found[key] = (fewest, one.last.desired)
    return found


def _risk(cluster: AuditedCluster, loss: Loss, case: PlayedRun, outcome: LossOutcome) -> AuditRow:
    return AuditRow(
        subject=SUBJECT,
        verdict="risk",
        sentence=f"If {loss.what} is lost, {outcome.words}.",
        evidence=(*_evidence(cluster, case, outcome), *_tail(outcome, loss.alike)),
        about=tuple(f"Node {name}" for name in loss.nodes[:EVIDENCE]),
        opens=_opening(cluster, loss, case, outcome),
    )


def _evidence(cluster: AuditedCluster, case: PlayedRun, outcome: LossOutcome) -> Iterator[str]:
    for message, pods in _by_message(case, outcome.homeless).items():
        yield f"{listed(pods)}: {message}"
    if outcome.gone:
        yield f"nobody makes another: {listed(map(cluster.loss_of, outcome.gone))}"
    for (kind, key), number in outcome.stuck.items():
        stay = f"{count(number, 'pod')} {'stays' if number == 1 else 'stay'} Terminating"
        yield f"{kind} {key}: {stay} until the node answers or is deleted"
    yield from outcome.short


def _by_message(case: PlayedRun, pods: Sequence[Pod]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pod in pods:
        failure = case.failures.get(pod.meta.key)
        message = failure.message if failure else case.run.untried_because(pod.meta.key)
        found.setdefault(message, []).append(pod.meta.key)
    return found


def _tail(outcome: LossOutcome, alike: Sequence[str]) -> Iterator[str]:
    worst = sorted(outcome.fewest.items(), key=lambda one: (one[1][0] / max(1, one[1][1]), one[0]))
    for (kind, key), (fewest, desired) in worst[:EVIDENCE]:
        yield f"{kind} {key}: {fewest:,} of {desired:,} ready at the fewest"
    if len(worst) > EVIDENCE:
        yield f"{count(len(worst) - EVIDENCE, 'more workload')} with fewer ready pods for a while"
    yield f"calm after {lasting(outcome.calm)}"
    if alike:
        yield f"the same of {listed(alike)}, which differ in names alone"


def _opening(cluster: AuditedCluster, loss: Loss, case: PlayedRun, outcome: LossOutcome) -> Opening:
    failed = [
        (pod.meta.key, case.failures[pod.meta.key])
        for pod in outcome.homeless
        if pod.meta.key in case.failures
    ]
    pod, step = (failed[0][0], failed[0][1].step) if failed else ("", case.first or "end")
    return cluster.opening(loss.verb, (loss.target,), step, pod)


def _safe(cluster: AuditedCluster, found: Sequence[tuple[Loss, LossOutcome]], kind: str) -> AuditRow:
    """Return the row of all losses that cost nothing for good; the longest one is what it opens."""
    names = [name for loss, _ in found for name in (loss.name, *loss.alike)]
    longest, outcome = max(found, key=lambda one: (len(one[1].fewest), one[1].calm))
    down = sorted({key for _, each in found for key, (fewest, _) in each.fewest.items() if not fewest})
    workloads = listed(f"{kind} {key}" for kind, key in down)
    also = (f"without a ready pod for a while, with at least one of them: {workloads}",) if down else ()
    one = f"{kind} can be lost: every pod finds another place"
    several = f"{kind}s can be lost, one at a time: every pod finds another place"
    return AuditRow(
        subject=SUBJECT,
        verdict="note" if down else "ok",
        sentence=f"{count(len(names), one, several)}.",
        evidence=(
            f"{kind}s: {listed(names, 8)}",
            *also,
            f"with {longest.what}:",
            *_tail(outcome, longest.alike),
        ),
        about=tuple(f"Node {name}" for name in names[:EVIDENCE]) if kind == "node" else (),
        opens=cluster.opening(longest.verb, (longest.target,), "end"),
    )
