"""Predicates that only a KubeSchedulerConfiguration can enable: rules of plugins that v1.11 does not have."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from scheduler_core.kubernetes.model import NodeSelectorTerm, Taint
from scheduler_core.kubernetes.selectors import tolerates
from scheduler_core.kubernetes.shared_devices import COUNT, SHARE
from scheduler_core.schedulers.columns.nodeaffinity import any_term_mask
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.predicate import FITS, PredicateResult, failing, narrowed
from scheduler_core.schedulers.v1_11.predicates.general import PodFitsResources
from scheduler_core.schedulers.v1_11.predicates.node import CORDON_TAINT, CORDONED, UNSCHEDULABLE
from scheduler_core.schedulers.v1_11.predicates.rule import NO_CHANGE, FilterPlugin, OrderPlace, Reason, Rule

CORDON = Taint(CORDON_TAINT, "", "NoSchedule")


class CheckNodeUnschedulable:
    """``spec.unschedulable``, which a pod can tolerate as if it were a taint (nodeunschedulable.Filter).

    Other than v1.11's CheckNodeCondition it reads no conditions: since 1.17 these keep pods away as taints.
    """

    scope = Scope.OBJECTS
    reads = Reads(pod=("tolerations",), node=("unschedulable",))

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where the node is cordoned."""
        if tolerates(pod.fields.tolerations, CORDON):
            return FITS
        return narrowed(view.memo(("unschedulable",), lambda: self._codes(view)), view)

    def _codes(self, view: View) -> Codes | None:
        column = view.columns.status
        cordoned = np.array([unschedulable for _, unschedulable in column.values], np.bool_)
        if not cordoned.any():
            return None
        code = np.int16(view.reasons.code(UNSCHEDULABLE))
        return np.asarray(np.where(cordoned, code, np.int16(0))[column.ids], np.int16)


class AddedNodeAffinity:
    """NodeAffinityArgs' ``addedAffinity``: nodes that pods are kept on besides their own affinity."""

    scope = Scope.OBJECTS
    reads = Reads(node=("name", "labels"))
    reason = "node(s) didn't match scheduler-enforced node affinity"

    def __init__(self, terms: tuple[NodeSelectorTerm, ...]) -> None:
        self.terms = terms

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where none of the terms matches."""
        return failing(view.take(~any_term_mask(self.terms, view.columns)), view, self.reason)


class PodFitsUnignoredResources(PodFitsResources):
    """PodFitsResources without the extended resources that NodeResourcesFitArgs ignores."""

    def __init__(
        self, names: frozenset[str], groups: frozenset[str], *, unrequested_too: bool = True
    ) -> None:
        super().__init__(unrequested_too=unrequested_too)
        self.names = names
        self.groups = groups

    def under(self, quirks: frozenset[str]) -> PodFitsUnignoredResources:
        """Return the check with these quirks in force."""
        too = "unrequested-resources-checked" in quirks
        return PodFitsUnignoredResources(self.names, self.groups, unrequested_too=too)

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:
        """Fail with one ``Insufficient NAME`` for each resource that is insufficient and not ignored."""
        kept = tuple(
            (name, amount)
            for name, amount in pod.scalar_request
            if name not in self.names and name.partition("/")[0] not in self.groups
        )
        if len(kept) != len(pod.scalar_request):
            nothing = not kept and not pod.request[:3].any()
            kept_names = {name for name, _ in kept}
            demand = pod.demand if SHARE in kept_names or COUNT in kept_names else None
            pod = replace(pod, scalar_request=kept, requests_nothing=nothing, demand=demand)
        return super().__call__(pod, view, state)


RULES = (
    Rule(
        key="CheckNodeUnschedulable",
        check=CheckNodeUnschedulable(),
        registered=False,
        text="The node is not cordoned (spec.unschedulable). In v1.11 CheckNodeCondition checks it.",
        v1_11=OrderPlace(20, "Kept a place; in v1.11 CheckNodeCondition checks for cordons."),
        plugin=FilterPlugin("NodeUnschedulable"),
        reasons=(CORDONED,),
        invalidated_by=("node-update-unschedulable",),
    ),
    Rule(
        key="AddedNodeAffinity",
        made=AddedNodeAffinity,
        registered=False,
        reasons=(Reason(AddedNodeAffinity.reason, finding=NO_CHANGE),),
    ),
)
