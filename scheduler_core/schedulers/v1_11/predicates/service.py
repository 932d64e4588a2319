"""A policy's ``serviceAffinity``: pods of one service on nodes with equal labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scheduler_core.kubernetes.policy_argument import PolicyArgument
from scheduler_core.schedulers.columns.pod_selectors import compile_map
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodQuery, PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.reasons import FAILED_BY_ERROR
from scheduler_core.schedulers.columns.services import services_of
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.predicate import FITS, PredicateResult, failing
from scheduler_core.schedulers.quirks import quirk
from scheduler_core.schedulers.v1_11.predicates.rule import FilterPlugin, OrderPlace, Reason, Rule

LabelPairs = Mapping[str, str]


class CheckServiceAffinity:
    """Follow the first pod with the same labels (predicates.ServiceAffinity.checkServiceAffinity)."""

    scope = Scope.CLUSTER
    reads = Reads(
        pod=("namespace", "labels", "node_selector"), node=("name", "labels"), objects=("Pod", "Service")
    )
    reason = "node(s) didn't match service affinity"

    def __init__(self, labels: tuple[str, ...], *, asks_for_a_node: bool = True) -> None:
        self.labels = labels
        self.asks_for_a_node = asks_for_a_node

    def under(self, quirks: frozenset[str]) -> CheckServiceAffinity:
        """Return the check with these quirks in force."""
        asks = "nominated-pod-without-node" in quirks
        if asks is self.asks_for_a_node:
            return self
        return CheckServiceAffinity(self.labels, asks_for_a_node=asks)

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:
        """Fail where the node lacks one of the label pairs that the pod requires."""
        selector = pod.fields.node_selector
        pairs = {label: selector[label] for label in self.labels if label in selector}
        if len(pairs) == len(self.labels) or not services_of(pod, view.cluster):
            return failing(~self._mask(pairs, view), view, self.reason)
        return self._follow(pod, view, state, pairs)

    @quirk("nominated-pod-without-node")
    def _follow(self, pod: PodInfo, view: View, state: PodState, pairs: LabelPairs) -> PredicateResult:
        query = PodQuery((((pod.namespace,), compile_map(pod.labels)),))
        members = _assigned(query, view, state)
        first = members[0] if members else None
        wrong = ~self._mask(self._completed(pairs, first.node_name if first else "", view), view)
        codes = np.where(wrong, np.int16(view.reasons.code(self.reason)), np.int16(0))
        errors: dict[int, str] = {}
        for row in {*view.changes.removed, *view.changes.added}:
            own = _first(members, query, view, row)
            on = own.node_name if own is not None else ""
            if own is not None and not on:
                if self.asks_for_a_node:
                    codes[row], errors[row] = FAILED_BY_ERROR, 'node "" not found'
                    continue
                on = view.columns.names[view.node(row)]  # the nominated node
            fits = self._mask(self._completed(pairs, on, view), view)[row]
            codes[row] = 0 if fits else view.reasons.code(self.reason)
        return PredicateResult(codes, errors) if codes.any() else FITS

    def _completed(self, pairs: LabelPairs, node_name: str, view: View) -> LabelPairs:
        """Add the labels of the first pod's node; ``""`` means no node."""
        if node_name not in view.cluster.nodes:
            return pairs
        labels = view.cluster.nodes[node_name].meta.labels
        return {label: labels[label] for label in self.labels if label in labels} | dict(pairs)

    def _mask(self, pairs: LabelPairs, view: View) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        mask = np.ones(view.columns.size, np.bool_)
        for label, value in pairs.items():
            mask &= view.columns.label_mask(label, lambda found, value=value: found == value)  # type: ignore[misc]
        return view.take(mask)


def _assigned(query: PodQuery, view: View, state: PodState) -> list[PodState]:
    """Return the assigned pods that match a query, in creation order."""
    kinds = {
        kind
        for kind in view.cluster.index.kinds.values()
        if kind.nodes and query.matches(kind.namespace, kind.labels, terminating=kind.terminating)
    }
    nodes = sorted({node for kind in kinds for node in kind.nodes})
    found = [pod for node in nodes for pod in view.cluster.residents[node].values() if pod.kind in kinds]
    return sorted((pod for pod in found if pod is not state), key=lambda pod: pod.order)


def _first(members: list[PodState], query: PodQuery, view: View, row: int) -> PodState | None:
    """Return a row's first matching pod: removed pods are skipped, added ones come last."""
    removed = view.changes.removed.get(row, {})
    for pod in members:
        if pod.key not in removed:
            return pod
    for pod, _ in view.changes.added.get(row, {}).values():
        if query.matches(pod.info.namespace, pod.info.labels, terminating=pod.terminating):
            return pod
    return None


RULES = (
    Rule(
        key="CheckServiceAffinity",
        made=CheckServiceAffinity,
        argument=PolicyArgument("serviceAffinity", ("labels",), "{labels: [rack]}", CheckServiceAffinity),
        text=(
            "The node has the same values of the policy's labels as the nodes where pods of the "
            "pod's service run."
        ),
        v1_11=OrderPlace(120, "Has to find the pods of a service; only a policy asks for it."),
        proposal=OrderPlace(100, "", "checkServiceAffinity"),
        plugin=FilterPlugin("ServiceAffinity"),
        reasons=(Reason(CheckServiceAffinity.reason, finding="service_affinity"),),
        invalidated_by=(
            "service",
            "service-update-selector",
            "pod-add-service",
            "pod-update-service",
            "pod-delete-service",
            "node-add",
            "node-update-labels",
            "node-update-labels-service",
            "node-delete-pods",
        ),
    ),
)
