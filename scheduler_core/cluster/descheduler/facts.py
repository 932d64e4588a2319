"""Nodes and pods as strategies read them, each compiled once from its manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    condition_of,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    node_of,
    owners_of,
    phase_of,
    second,
    spec_of,
    status_of,
    taints_of,
    term_matches,
    tolerates,
)
from scheduler_core.kubernetes.requests import Amounts, amounts, spec_requests

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
BEST_EFFORT, BURSTABLE, GUARANTEED = "BestEffort", "Burstable", "Guaranteed"
QOS_ORDER = {BEST_EFFORT: 0, BURSTABLE: 1, GUARANTEED: 2}
HARD_EFFECTS = ("NoSchedule", "NoExecute")
Taint = dict[str, Any]


class NodeFacts:
    """A node. ``capacity`` is what percentages are of: allocatable, or capacity where that is absent."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.name = name_of(manifest)
        self.labels: Mapping[str, str] = labels_of(manifest)
        self.taints: list[Taint] = taints_of(manifest)
        self.cordoned = bool(spec_of(manifest).get("unschedulable"))
        status = status_of(manifest)
        self.allocatable: Amounts = amounts(status.get("allocatable"))
        self.capacity: Amounts = self.allocatable or amounts(status.get("capacity"))

    @property
    def is_ready(self) -> bool:
        """Whether no condition Ready says otherwise (nodeutil.IsReady)."""
        found = condition_of(self.manifest, "Ready")
        return found is None or found.get("status") == "True"

    @cached_property
    def hard_taints(self) -> list[Taint]:
        """The taints with the effect NoSchedule or NoExecute."""
        return [taint for taint in self.taints if taint.get("effect") in HARD_EFFECTS]


class PodFacts:
    """A pod. ``priority`` is ``None`` where the manifest has none."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.key = key_of(manifest)
        self.name = name_of(manifest)
        self.namespace = namespace_of(manifest) or "default"
        self.node = node_of(manifest)
        self.labels: Mapping[str, str] = labels_of(manifest)
        self.annotations: Mapping[str, str] = annotations_of(manifest)
        self.owners: list[dict[str, Any]] = owners_of(manifest)
        self.phase = phase_of(manifest)
        self.is_terminating = bool(manifest["metadata"].get("deletionTimestamp"))
        self.spec: Mapping[str, Any] = spec_of(manifest)
        self.status: Mapping[str, Any] = status_of(manifest)
        self.priority: int | None = self.spec.get("priority")
        self.tolerations: list[dict[str, Any]] = self.spec.get("tolerations") or []

    @property
    def uid(self) -> str:
        """``metadata.uid``, "" for a pod that was never stored."""
        return str(self.manifest["metadata"].get("uid") or "")

    @property
    def is_finished(self) -> bool:
        """Whether it has succeeded or failed."""
        return self.phase in ("Succeeded", "Failed")

    @cached_property
    def requests(self) -> Amounts:
        """What it requests: millicores of cpu, base units of everything else."""
        return spec_requests(self.spec)

    @cached_property
    def qos(self) -> str:
        """The QoS class that the status has, or that follows from all containers (utils.GetPodQOS)."""
        given = self.status.get("qosClass")
        containers = [*(self.spec.get("containers") or ()), *(self.spec.get("initContainers") or ())]
        return str(given) if given else qos_class(containers)

    @property
    def container_qos(self) -> str:
        """The QoS class that follows from the containers alone, as v0.9.0 computes it (qos.GetPodQOS)."""
        return qos_class(self.spec.get("containers") or ())

    @cached_property
    def created(self) -> float:
        """Its creation in virtual seconds."""
        return second(self.manifest["metadata"].get("creationTimestamp"))

    @cached_property
    def affinity(self) -> Mapping[str, Any]:
        """``spec.affinity``."""
        return self.spec.get("affinity") or {}

    @property
    def node_affinity(self) -> Mapping[str, Any]:
        """``spec.affinity.nodeAffinity``."""
        return self.affinity.get("nodeAffinity") or {}

    @cached_property
    def anti_affinity(self) -> list[dict[str, Any]]:
        """The required terms of its anti-affinity."""
        return (self.affinity.get("podAntiAffinity") or {}).get(REQUIRED) or []

    @cached_property
    def placement_key(self) -> str:
        """A text that is equal for pods with equal tolerations, node selectors and required node affinity."""
        required = self.node_affinity.get(REQUIRED)
        return json.dumps([self.tolerations, self.spec.get("nodeSelector"), required], sort_keys=True)

    def tolerates(self, taints: list[Taint]) -> bool:
        """Return whether it tolerates every one of the taints."""
        return all(any(tolerates(one, taint) for one in self.tolerations) for taint in taints)

    def selects(self, node: NodeFacts) -> bool:
        """Return whether ``nodeSelector`` and required node affinity match a node."""
        wanted = self.spec.get("nodeSelector") or {}
        if any(node.labels.get(key) != value for key, value in wanted.items()):
            return False
        required = self.node_affinity.get(REQUIRED)
        if required is None:
            return True
        return any(term_matches(term, node.manifest) for term in required.get("nodeSelectorTerms") or ())

    def term_namespaces(self, term: Mapping[str, Any]) -> list[str]:
        """Return the namespaces of an affinity term; ``namespaceSelector`` is not looked at."""
        return term.get("namespaces") or [self.namespace]

    def eviction_rank(self) -> tuple[int, int, bool]:
        """Return the key that sorts pods by who goes first (SortPodsBasedOnPriorityLowToHigh)."""
        nil_first = -(2**31) - 1 if self.priority is None else self.priority
        return nil_first, QOS_ORDER.get(self.qos, 0), PREFERS_NO_EVICTION in self.annotations


PREFERS_NO_EVICTION = "descheduler.alpha.kubernetes.io/prefer-no-eviction"


def qos_class(containers: Any) -> str:
    """Return the QoS class of a pod with these containers, from cpu and memory alone."""
    requests, limits, all_limited = Amounts(), Amounts(), True
    for container in containers:
        resources = container.get("resources") or {}
        _sum(requests, resources.get("requests"))
        all_limited &= _sum(limits, resources.get("limits")) == 2
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if all_limited and requests == limits else BURSTABLE


def _sum(total: Amounts, resources: Mapping[str, Any] | None) -> int:
    """Add the amounts of cpu and memory that are more than zero; return how many were."""
    wanted = {name: text for name, text in (resources or {}).items() if name in ("cpu", "memory")}
    found = {name: amount for name, amount in amounts(wanted).items() if amount > 0}
    for name, amount in found.items():
        total[name] = total.get(name, 0) + amount
    return len(found)
