"""DefaultEvictor: which pods may be evicted, and why not the others (``defaultevictor.go``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scheduler_core.cluster.descheduler.facts import PREFERS_NO_EVICTION, NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.lister import Listing
from scheduler_core.cluster.descheduler.node_fit import fits_any_other
from scheduler_core.cluster.descheduler.protections import (
    BARE,
    CLAIMS,
    CRITICAL,
    DAEMON_SET,
    DEVICES,
    LOCAL_STORAGE,
    NO_BUDGET,
    EvictorArgs,
)
from scheduler_core.cluster.v1_37.objects import second
from scheduler_core.interrupts import look
from scheduler_core.kubernetes.label_query import parse_label_query
from scheduler_core.kubernetes.selectors import matches

EVICT = "descheduler.alpha.kubernetes.io/evict"
MIRROR, SOURCE = "kubernetes.io/config.mirror", "kubernetes.io/config.source"
SYSTEM_CRITICAL = 2_000_000_000
Constraint = Callable[[PodFacts], str]
"""Returns why a pod is protected, "" if it is not."""


class DefaultEvictor:
    """The filters of one profile. ``threshold`` is the priority that protects, from its args or a class."""

    def __init__(self, args: EvictorArgs, threshold: int, listing: Listing) -> None:
        self.args, self.threshold, self.listing = args, threshold, listing
        rows: dict[str, Constraint] = {
            CRITICAL: self._critical,
            BARE: _without_owner,
            LOCAL_STORAGE: _with_local_storage,
            DAEMON_SET: _of_daemon_set,
            CLAIMS: self._with_claims,
            NO_BUDGET: self._without_budget,
            DEVICES: _with_devices,
        }
        self.constraints = [check for name, check in rows.items() if name in args.effective]
        if BARE not in args.effective:
            self.constraints.append(_without_owner_unless_failed)
        self.constraints += [self._unselected, self._too_few, self._too_young]
        self._fitting: list[NodeFacts] | None = None

    def protection(self, pod: PodFacts) -> str:
        """Return why a pod may not be evicted, "" if it may (Filter)."""
        look()
        if EVICT in pod.annotations:
            return ""
        if self.args.no_eviction_policy == "Mandatory" and PREFERS_NO_EVICTION in pod.annotations:
            return f"pod has the annotation {PREFERS_NO_EVICTION}, and noEvictionPolicy is Mandatory"
        return ", ".join(self._protections(pod))

    def _protections(self, pod: PodFacts) -> Iterator[str]:
        if MIRROR in pod.annotations:
            yield "pod is a mirror pod"
        if pod.annotations.get(SOURCE, "api") != "api":
            yield "pod is a static pod"
        if pod.is_terminating:
            yield "pod is terminating"
        yield from filter(None, (check(pod) for check in self.constraints))

    def hindrance(self, pod: PodFacts) -> str:
        """Return what keeps a pod from being evicted now, "" if nothing does (PreEvictionFilter)."""
        if self.args.node_fit and not fits_any_other(self.listing, pod, self._nodes()):
            return "pod does not fit on any other node"
        selector = self.args.namespace_label_selector
        if selector is None or selector.empty:
            return ""
        labels = self.listing.namespace_labels(pod.namespace)
        if labels is None or not matches(selector, labels):
            return "pod namespace does not match the namespaceLabelSelector"
        return ""

    def _nodes(self) -> list[NodeFacts]:
        """Return the ready nodes that the evictor's own selector matches."""
        if self._fitting is None:
            query = parse_label_query(self.args.node_selector)
            nodes = self.listing.nodes
            self._fitting = [node for node in nodes if node.is_ready and matches(query, node.labels)]
        return self._fitting

    def _critical(self, pod: PodFacts) -> str:
        if pod.priority is not None and pod.priority >= SYSTEM_CRITICAL:
            return "pod has system critical priority and is protected against eviction"
        if pod.priority is not None and pod.priority >= self.threshold:
            return "pod has higher priority than specified priority class threshold"
        return ""

    def _with_claims(self, pod: PodFacts) -> str:
        claims = [one["persistentVolumeClaim"] for one in _volumes(pod) if one.get("persistentVolumeClaim")]
        wanted = self.args.protections.storage_classes
        if not wanted:
            return "pod with PVC is protected against eviction" if claims else ""
        for claim in claims:
            name = self.listing.storage_class_of(pod.namespace, claim.get("claimName") or "")
            if name is None:
                return f"failed to resolve the storage class of claim {claim.get('claimName')}"
            if name in wanted:
                return f'pod using protected storage class "{name}"'
        return ""

    def _without_budget(self, pod: PodFacts) -> str:
        if self.listing.has_budget(pod):
            return ""
        return "pod does not have a PodDisruptionBudget and is protected against eviction"

    def _unselected(self, pod: PodFacts) -> str:
        selector = self.args.label_selector
        if selector is None or matches(selector, pod.labels):
            return ""
        return "pod labels do not match the labelSelector filter in the policy parameter"

    def _too_few(self, pod: PodFacts) -> str:
        least = self.args.min_replicas
        if least < 2 or len(pod.owners) != 1:
            return ""
        count = self.listing.owned_by(pod.owners[0].get("uid") or "")
        if count >= least:
            return ""
        return f"owner has {count} replicas which is less than minReplicas of {least}"

    def _too_young(self, pod: PodFacts) -> str:
        least = self.args.min_pod_age
        started = pod.status.get("startTime")
        if least is None or (started and self.listing.now - second(started) >= least):
            return ""
        return f"pod age is not older than minPodAge: {least:g} seconds"


def _volumes(pod: PodFacts) -> list[dict[str, Any]]:
    return pod.spec.get("volumes") or []


def has_local_storage(pod: PodFacts) -> bool:
    """Return whether a pod has a hostPath or emptyDir volume."""
    return any("hostPath" in one or "emptyDir" in one for one in _volumes(pod))


def is_of_daemon_set(pod: PodFacts) -> bool:
    """Return whether an owner is of kind DaemonSet."""
    return any(owner.get("kind") == "DaemonSet" for owner in pod.owners)


def _with_local_storage(pod: PodFacts) -> str:
    return "pod has local storage and is protected against eviction" if has_local_storage(pod) else ""


def _of_daemon_set(pod: PodFacts) -> str:
    return "daemonset pods are protected against eviction" if is_of_daemon_set(pod) else ""


def _without_owner(pod: PodFacts) -> str:
    return "" if pod.owners else "pod does not have any ownerRefs"


def _without_owner_unless_failed(pod: PodFacts) -> str:
    if pod.owners or pod.phase == "Failed":
        return ""
    return "pod does not have any ownerRefs and is not in failed phase"


def _with_devices(pod: PodFacts) -> str:
    if not pod.spec.get("resourceClaims"):
        return ""
    return "pod has ResourceClaims and descheduler is configured to protect ResourceClaims pods"
