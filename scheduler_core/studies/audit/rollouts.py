"""Rollouts: each Deployment, StatefulSet and DaemonSet restarted: its end, its time, its pods' spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.authoring.revisions import RESTARTED
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.model import Pod, Workload
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.kubernetes.support import part_of
from scheduler_core.studies.audit.allowance import Allowance
from scheduler_core.studies.audit.cluster import AuditedCluster, PlayedRun, fewest_since
from scheduler_core.studies.audit.omissions import unplayed, unread
from scheduler_core.studies.audit.operations import written
from scheduler_core.studies.audit.row import AuditRow, Opening
from scheduler_core.studies.audit.symmetry import ZONES, zones_of
from scheduler_core.studies.audit.words import count, lasting, listed

SUBJECT = "rollouts"
ROLLED = ("Deployment", "StatefulSet", "DaemonSet")
SPREAD = "topologySpreadConstraints"


class RolloutOutcome(Struct, frozen=True):
    """What a restart comes to: old pods that are left, pods not ready, the fewest ready, the seconds.

    ``worse`` says by topology key how many pods each domain had and has, where they are further apart.
    ``beyond`` are those of a constraint's key with more than its maxSkew.
    """

    old: int
    unready: int
    homeless: tuple[Pod, ...]
    fewest: int
    desired: int
    seconds: float
    worse: tuple[str, ...]
    beyond: tuple[str, ...]
    step: str

    @property
    def ends(self) -> bool:
        """Whether all pods are new and ready."""
        return not self.old and not self.unready


def rows(cluster: AuditedCluster, allowance: Allowance) -> Iterator[AuditRow]:
    """Yield a row for each rollout that does not end or spreads worse, and one for all others."""
    left: list[Key] = []
    well: list[tuple[Key, RolloutOutcome]] = []
    for key in allowance.cases(list(_rolled(cluster)), left):
        outside = _unplayable(cluster, key)
        if outside:
            yield AuditRow(subject=SUBJECT, verdict="note", sentence=outside, about=(f"{key[0]} {key[1]}",))
            continue
        try:
            outcome = _restarted(cluster, key)
        except BundleError as error:
            yield unread(SUBJECT, key, error)
            continue
        if outcome.ends and not outcome.worse and not outcome.beyond:
            well.append((key, outcome))
        else:
            yield _bad(cluster, key, outcome)
    if well:
        yield _well(cluster, well)
    if left:
        yield unplayed(SUBJECT, [f"{kind} {key}" for kind, key in left], "rollouts that were not played")


def _rolled(cluster: AuditedCluster) -> Iterator[Key]:
    """Yield the workloads with pods, and the paused ones, which may have made none."""
    for key, obj in cluster.objects.items():
        if key[0] in ROLLED and isinstance(obj, Workload) and (obj.paused or key in cluster.workloads):
            yield key


def _unplayable(cluster: AuditedCluster, key: Key) -> str:
    """Return why a restart replaces no pod, "" if it does."""
    obj = cluster.objects.get(key)
    if isinstance(obj, Workload) and obj.paused:
        return f"{key[0]} {key[1]} is paused: a restart replaces nothing until it is resumed."
    if isinstance(obj, Workload) and obj.strategy.type == "OnDelete":
        return f"{key[0]} {key[1]} is updated OnDelete: a restart replaces a pod once somebody deletes it."
    return ""


def _restarted(cluster: AuditedCluster, key: Key) -> RolloutOutcome:
    case = cluster.case("restart", [written(key)])
    pods = [pod for pod in case.pods if _top(cluster, case, pod) == key and not pod.meta.deletion_timestamp]
    known = next((one for one in case.availability.workloads if (one.kind, one.key) == key), None)
    mark = f"{cluster.second:g}"
    old = [pod for pod in pods if pod.meta.annotations.get(RESTARTED) != mark]
    ready = sum(pod.phase == "Running" and pod.ready for pod in pods)
    desired = known.last.desired if known is not None else len(pods)
    homeless = tuple(pod for pod in pods if not pod.node_name)
    before = cluster.workloads[key]
    failed = next((case.failures[one.meta.key].step for one in homeless if one.meta.key in case.failures), "")
    partition = _partition(cluster, key)
    return RolloutOutcome(
        old=max(0, len(old) - partition),
        unready=max(0, desired - ready),
        homeless=homeless,
        fewest=fewest_since(known, cluster.second) if known is not None else 0,
        desired=desired,
        seconds=max(0.0, (known.last.at if known is not None else cluster.second) - cluster.second),
        worse=tuple(_worse(cluster, before, pods)),
        beyond=tuple(_beyond(cluster, before, pods)),
        step=failed or case.first or "end",
    )


def _partition(cluster: AuditedCluster, key: Key) -> int:
    """Return how many pods of a StatefulSet its partition keeps as they are."""
    obj = cluster.objects.get(key)
    return obj.strategy.partition if isinstance(obj, Workload) and key[0] == "StatefulSet" else 0


def _top(cluster: AuditedCluster, case: PlayedRun, pod: Pod) -> Key | None:
    """Return a pod's workload, also of a ReplicaSet that the case has created."""
    owner = pod.meta.controller
    above = case.objects.get((owner.kind, f"{pod.meta.namespace}/{owner.name}")) if owner else None
    parent = above.meta.controller if isinstance(above, Workload) else None
    if parent is not None and parent.kind == "Deployment":
        return parent.kind, f"{pod.meta.namespace}/{parent.name}"
    return cluster.top(pod)


# --- spread


def _worse(cluster: AuditedCluster, before: Sequence[Pod], after: Sequence[Pod]) -> Iterator[str]:
    """Yield the zones' pods before and after, where most and fewest are further apart."""
    zones = zones_of(cluster.nodes)
    if len(zones) < 2 or not after:
        return
    where = {node.meta.name: zone for zone, nodes in zones.items() for node in nodes}
    own = [_counts(where, pods) for pods in (before, after)]
    if len(after) == len(before) and _skew(own[1]) > max(1, _skew(own[0])):
        yield f"zones: {_shown(own[0])} → {_shown(own[1])}"


def _beyond(cluster: AuditedCluster, before: Sequence[Pod], after: Sequence[Pod]) -> Iterator[str]:
    """Yield the constraints whose maxSkew is exceeded in the end, and was not before."""
    for constraint in _constraints(before):
        key, most = str(constraint.get("topologyKey")), int(constraint.get("maxSkew") or 1)
        where = {n.meta.name: n.meta.labels[key] for n in cluster.nodes if key in n.meta.labels}
        counts = [_counts(where, pods) for pods in (before, after)]
        skews = [_skew(one) for one in counts]
        if key not in ZONES and len(where) > len(before):
            continue  # more domains than pods: some have none in any case
        if skews[1] > most >= skews[0]:
            yield f"{key}: {_shown(counts[0])} → {_shown(counts[1])}, more apart than maxSkew {most}"


def _constraints(pods: Sequence[Pod]) -> Sequence[Mapping[str, Any]]:
    document = pods[0].meta.written.document if pods and pods[0].meta.written is not None else {}
    return [one for one in (part_of(document, "spec") or {}).get(SPREAD) or () if isinstance(one, Mapping)]


def _counts(where: Mapping[str, str], pods: Sequence[Pod]) -> Mapping[str, int]:
    found = Counter(dict.fromkeys(where.values(), 0))
    found.update(where[pod.node_name] for pod in pods if pod.node_name in where)
    return dict(sorted(found.items()))


def _skew(counts: Mapping[str, int]) -> int:
    return max(counts.values(), default=0) - min(counts.values(), default=0)


def _shown(counts: Mapping[str, int]) -> str:
    return listed((f"{domain} {number}" for domain, number in counts.items()), 6)


# --- rows


def _bad(cluster: AuditedCluster, key: Key, outcome: RolloutOutcome) -> AuditRow:
    name = f"{key[0]} {key[1]}"
    if not outcome.ends:
        sentence = f"A restart of {name} does not end."
    else:
        sentence = f"A restart of {name} ends with its pods spread worse than before."
    parts = {
        count(outcome.old, "pod of before is left", "pods of before are left"): outcome.old,
        f"{count(outcome.unready, 'pod')} of {outcome.desired:,} not ready": outcome.unready,
        f"no place for {listed(pod.meta.key for pod in outcome.homeless)}": outcome.homeless,
    }
    return AuditRow(
        subject=SUBJECT,
        verdict="risk" if not outcome.ends or outcome.beyond else "note",
        sentence=sentence,
        evidence=(
            *(text for text, there in parts.items() if there),
            *(outcome.beyond or outcome.worse),
            *_failures(outcome),
        ),
        about=(name,),
        opens=_opening(cluster, key, outcome),
    )


def _failures(outcome: RolloutOutcome) -> Iterator[str]:
    yield f"{outcome.fewest:,} of {outcome.desired:,} ready at the fewest"
    yield f"calm after {lasting(outcome.seconds)}"


def _opening(cluster: AuditedCluster, key: Key, outcome: RolloutOutcome) -> Opening:
    pod = outcome.homeless[0].meta.key if outcome.homeless else ""
    step = outcome.step if outcome.homeless else "end"
    return cluster.opening("restart", (written(key),), step, pod)


def _well(cluster: AuditedCluster, found: Sequence[tuple[Key, RolloutOutcome]]) -> AuditRow:
    key, longest = max(found, key=lambda one: one[1].seconds)
    below = [f"{k} {n} ({o.fewest:,} of {o.desired:,})" for (k, n), o in found if o.fewest < o.desired]
    return AuditRow(
        subject=SUBJECT,
        verdict="ok",
        sentence=f"{count(len(found), 'rollout ends', 'rollouts end')}, spread no worse than before.",
        evidence=(
            f"the longest, {key[0]} {key[1]}: calm after {lasting(longest.seconds)}",
            *((f"fewer ready meanwhile: {listed(below)}",) if below else ()),
        ),
        about=tuple(f"{kind} {name}" for (kind, name), _ in found[:8]),
        opens=_opening(cluster, key, longest),
    )
