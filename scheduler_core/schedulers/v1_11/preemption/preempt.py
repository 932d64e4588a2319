"""Preemption: find the victims on each potential node, and choose a node (core.genericScheduler.Preempt).

All potential nodes are tried at once: a view has one row per node, and in each row only that node's
pods are removed and put back. The attempts are recorded in
:class:`scheduler_core.record.preemption.Preemption`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct, field

from scheduler_core.record.preemption import Hopeless, Indices, NodeGroup, Preemption
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reasons import Codes, Reasons
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.extenders.calls import ExtenderCalls, ExtenderError
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.extender_calls import extended_candidates
from scheduler_core.schedulers.v1_11.filters import FitCheck
from scheduler_core.schedulers.v1_11.predicates import RULES
from scheduler_core.schedulers.v1_11.preemption.criteria import pick_node
from scheduler_core.schedulers.v1_11.preemption.dry_run import NodeVictims, dry_run

UNRESOLVABLE_REASONS = frozenset(
    reason.text for rule in RULES for reason in rule.reasons if not reason.resolvable
)
"""Failures that deleting pods cannot resolve (core.nodesWherePreemptionMightHelp)."""


class Preempting(Struct):
    """A preemption's result; ``cleared`` are pods that lose their nomination, ``record`` what was tried."""

    candidates: list[NodeVictims] = field(default_factory=list)
    chosen: NodeVictims | None = None
    cleared: list[str] = field(default_factory=list)
    record: Preemption | None = None


def preempt(
    pod: PodState,
    failed: Codes,
    cluster: Cluster,
    queue: Nominations,
    profile: Profile,
    *,
    exact: bool = True,
    record: bool = False,
    asking: ExtenderCalls | None = None,
) -> Preempting:
    """Find pods of lower priority to delete so that the pod fits; change nothing.

    ``failed`` is ``(N,) int16``, the codes of why the pod fits nowhere; ``exact`` means that a fresh
    evaluation would find the same. A dry run never uses the equivalence cache (podFitsOnNode is passed none),
    so that after stale cache hits a node may be nominated that needs no victims; with
    ``profile.framework_preemption`` such a node cannot be chosen. The attempts are recorded only with
    ``record``. ``asking`` lets extenders change the victims. The result is empty for a profile that does not
    preempt, and for a pod with preemptionPolicy Never.
    """
    result = Preempting()
    if not profile.preempts:
        return result
    preemption = result.record = Preemption(cluster.columns.names) if record else None
    if not pod.pod.preempts:
        if preemption is not None:
            preemption.eligible, preemption.never = False, True
        return result
    leaving = _leaving(pod, cluster)
    if leaving:
        if preemption is not None:
            preemption.eligible = False
            preemption.leaving, preemption.leaving_from = tuple(leaving), pod.nominated
        return result
    mendable = _mendable(failed, cluster)
    potential = np.flatnonzero(mendable)
    # on a node without pods of lower priority nothing is removed: the pod fits there only after a stale hit
    tried = cluster.lowest_priority[potential] < pod.priority
    if not (exact or tried.all()):
        tried[~tried] = FitCheck(pod, View(cluster, potential[~tried]), queue, profile)()
    rows = potential[tried]
    if preemption is not None:
        preemption.potential = potential
        preemption.hopeless = _unresolvable(failed, ~mendable, cluster)
        preemption.hopeless += _failing("nothing-lower", failed, potential[~tried], cluster)
    if not potential.size:
        result.cleared = [pod.key] if pod.nominated else []
    elif rows.size:
        _choose(pod, View(cluster, rows), queue, profile, result, asking)
    if preemption is not None:
        preemption.cleared = tuple(result.cleared)
    return result


def _choose(
    pod: PodState,
    view: View,
    queue: Nominations,
    profile: Profile,
    result: Preempting,
    asking: ExtenderCalls | None,
) -> None:
    """Dry-run preemption on the rows of a view, and choose a node among those where deletions help.

    After an error of an extender nothing is chosen, and no nomination is cleared.
    """
    preemption = result.record
    runs = dry_run(pod, view, queue, profile, explain=preemption is not None)
    result.candidates = [run for run in runs.candidates if run.victims or not profile.framework_preemption]
    if preemption is not None:
        preemption.hopeless += _grouped("still-unfit", runs.unfit.items())
        preemption.candidates = [candidate.record() for candidate in runs.candidates]
    if asking is not None and result.candidates:
        try:
            result.candidates = extended_candidates(asking, view.cluster, result.candidates)
        except ExtenderError:  # the record of the call has it
            result.candidates = []
        if preemption is not None:
            preemption.candidates = [candidate.record() for candidate in result.candidates]
    if not result.candidates:
        return
    pick = pick_node(result.candidates, profile, explain=preemption is not None)
    result.chosen = chosen = pick.chosen
    nominated = queue.nominated_to(chosen.node)
    result.cleared = [other.key for other in nominated if other.priority < pod.priority]
    if preemption is not None:
        preemption.chosen = next(run for run in preemption.candidates if run.node == chosen.index)
        preemption.comparisons, preemption.ties = pick.comparisons, tuple(pick.ties)


def _leaving(pod: PodState, cluster: Cluster) -> list[str]:
    """Return the victims of an earlier preemption that are still terminating (podEligibleToPreemptOthers)."""
    node = cluster.columns.index.get(pod.nominated) if pod.nominated else None
    if node is None:
        return []
    residents = cluster.residents[node].values()
    return [other.key for other in residents if other.terminating and other.priority < pod.priority]


def _mendable(failed: Codes, cluster: Cluster) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return the mask of nodes where deleting pods might help, ``(N,) bool``."""
    helpless = [not UNRESOLVABLE_REASONS.isdisjoint(texts) for texts in cluster.reasons.texts]
    return ~np.array(helpless, np.bool_)[failed]


def _unresolvable(
    failed: Codes, where: np.ndarray[tuple[int], np.dtype[np.bool_]], cluster: Cluster
) -> list[NodeGroup]:
    """Group the nodes that no deletion helps by those of their reasons that deletions cannot resolve."""
    texts = [tuple(t for t in texts if t in UNRESOLVABLE_REASONS) for texts in cluster.reasons.texts]
    nodes = np.flatnonzero(where)
    return _grouped("unresolvable", ((node, texts[failed[node]]) for node in nodes.tolist()))


def _failing(why: Hopeless, failed: Codes, nodes: Indices, cluster: Cluster) -> list[NodeGroup]:
    texts = cluster.reasons.texts
    return _grouped(why, ((node, texts[failed[node]]) for node in nodes.tolist()))


def _grouped(why: Hopeless, nodes: Iterable[tuple[int, Reasons]]) -> list[NodeGroup]:
    """Group nodes by their reasons, the largest group first."""
    groups: dict[Reasons, list[int]] = {}
    for node, reasons in nodes:
        groups.setdefault(reasons, []).append(node)
    listed = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return [NodeGroup(why, reasons, np.array(found, np.int64)) for reasons, found in listed]
