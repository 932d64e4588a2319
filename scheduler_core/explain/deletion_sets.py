"""The fewest pods whose deletion frees what a pod lacks on a node."""

from __future__ import annotations

from scheduler_core.explain.resources import amounts
from scheduler_core.explain.rules import PodOnNode
from scheduler_core.kubernetes.shared_devices import ON_ONE_DEVICE
from scheduler_core.schedulers.columns.columns import BASIC_RESOURCES
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.v1_11.predicates.general import INSUFFICIENT
from scheduler_core.schedulers.v1_11.predicates.interpod import GENERAL_REASON

Shortage = dict[str, int]


def fewest(place: PodOnNode, most: int) -> list[PodState]:
    """Return few pods of the node that use all that is missing, low priority before high.

    Empty if the pod fails there for other reasons too, or if more than ``most`` pods would have to be
    deleted.
    """
    missing = _missing(place)
    if not missing:
        return []
    left = list(place.standing.cluster.residents[place.row].values())
    alone = [pod for pod in left if _lacking(missing, pod) == {}]
    if alone:
        return [min(alone, key=lambda pod: (pod.priority, _size(missing, pod), pod.order))]
    chosen: list[PodState] = []
    while missing and left and len(chosen) < most:
        best = max(left, key=lambda pod: (_relief(missing, pod), -pod.priority, pod.order))
        if not _relief(missing, best):
            return []
        left.remove(best)
        chosen.append(best)
        missing = _lacking(missing, best)
    return [] if missing else chosen


def _missing(place: PodOnNode) -> Shortage:
    """Return the shortage of each resource, empty if other reasons exclude the node too."""
    found: Shortage = {}
    for failure in place.standing.failures(place.row):
        for reason in failure.reasons:
            if reason.endswith(ON_ONE_DEVICE):  # which deletion helps depends on the device
                return {}
            if reason.startswith(INSUFFICIENT):
                have = amounts(place, reason.removeprefix(INSUFFICIENT))
                found[have.name] = have.short
            elif reason != GENERAL_REASON:
                return {}
        if failure.error is not None:
            return {}
    return found


def _use(pod: PodState, name: str) -> int:
    if name in BASIC_RESOURCES:
        return int(pod.info.usage[BASIC_RESOURCES.index(name)])
    return dict(pod.info.scalar_usage).get(name, 0)


def _lacking(missing: Shortage, pod: PodState) -> Shortage:
    left = {name: amount - _use(pod, name) for name, amount in missing.items()}
    return {name: amount for name, amount in left.items() if amount > 0}


def _relief(missing: Shortage, pod: PodState) -> float:
    """Return how much of the shortage the pod's deletion covers, each resource up to 1."""
    return sum(min(1.0, _use(pod, name) / amount) for name, amount in missing.items())


def _size(missing: Shortage, pod: PodState) -> float:
    """Return how much the pod uses of the missing resources, also beyond the shortage."""
    return sum(_use(pod, name) / amount for name, amount in missing.items())
