"""What a pod asks of a node, compiled once for all pods that differ in name, node and conditions alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.requests import DEFAULTS, Amounts, HeldRequests, counted, spec_requests
from scheduler_core.kubernetes.shared_devices import DeviceDemand, demand_of
from scheduler_core.schedulers.v1_37.selectors import (
    NOTHING,
    NodeTerm,
    PreferredTerm,
    Selector,
    label_selector,
    node_terms,
    preferred_terms,
)

Port = tuple[str, str, int]
"""Host IP, protocol, port."""

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

_STORED = frozenset((
    "read_held", "spec", "status", "namespace", "labels", "terminating", "priority", "scheduler_name",
    "class_key", "demand", "held", "held_nonzero",
))  # fmt: skip
"""What it is compiled from, and what other pods' attempts ask of a pod on a node."""


class AffinityTerm(Struct, frozen=True):
    """A pod (anti-)affinity term: which pods, of which namespaces, in which topology."""

    topology_key: str
    selector: Selector
    namespaces: frozenset[str]
    namespace_selector: Selector
    weight: int = 0

    def selects(self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]) -> bool:
        """Return whether a pod of the namespace with the labels is selected."""
        return (
            namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)
        ) and self.selector.matches(labels)


class PodAffinityTerms(Struct, frozen=True):
    """The four lists of pod affinity terms."""

    required: tuple[AffinityTerm, ...] = ()
    preferred: tuple[AffinityTerm, ...] = ()
    required_anti: tuple[AffinityTerm, ...] = ()
    preferred_anti: tuple[AffinityTerm, ...] = ()


NO_AFFINITY = PodAffinityTerms()


class PodSpec:
    """A pod's specification with its labels, and what its status says that it holds. Nothing changes it.

    What is needed rarely is compiled at first use. ``read_held`` is the rule for what it holds on a node.
    """

    def __init__(self, manifest: Mapping[str, Any], read_held: HeldRequests) -> None:
        meta = manifest["metadata"]
        self.read_held = read_held
        self.spec: Mapping[str, Any] = manifest.get("spec") or {}
        self.status: Mapping[str, Any] = manifest.get("status") or {}
        self.namespace: str = meta.get("namespace") or "default"
        self.labels: Mapping[str, str] = meta.get("labels") or {}
        self.terminating = bool(meta.get("deletionTimestamp"))
        self.priority = int(self.spec.get("priority") or 0)
        self.scheduler_name: str = self.spec.get("schedulerName") or "default-scheduler"

    def __deepcopy__(self, memo: dict[int, Any]) -> PodSpec:
        """Return itself: copies of a cluster share it."""
        del memo
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be compiled again."""
        return {name: value for name, value in self.__dict__.items() if name in _STORED}

    @cached_property
    def ending(self) -> PodSpec:
        """The same of pods that are being deleted."""
        made = copy(self)
        made.__dict__.pop("class_key", None)
        made.terminating = True
        return made

    def compile(self) -> None:
        """Compile now what every placement needs, so that no attempt waits for it."""
        _ = self.class_key, self.affinity, self.demand, self.held, self.held_nonzero, self.host_ports

    @cached_property
    def class_key(self) -> tuple[Any, ...]:
        """What other pods' selectors and terms match on, and its own terms."""
        affinity = self.spec.get("affinity") or {}
        own = {key: affinity[key] for key in ("podAffinity", "podAntiAffinity") if affinity.get(key)}
        terms = json.dumps(own, sort_keys=True) if own else ""
        return self.namespace, frozenset(self.labels.items()), self.terminating, terms

    @cached_property
    def requests(self) -> Amounts:
        """What it requests as a pod to be scheduled; resources that nodes are held to."""
        return dict(counted(spec_requests(self.spec)))

    @cached_property
    def held(self) -> Amounts:
        """What it holds on a node."""
        return dict(counted(self.read_held(self.spec, self.status)))

    @cached_property
    def demand(self) -> DeviceDemand | None:
        """What it wants of GPUs that pods share; None for nothing."""
        return demand_of(self.requests)

    @cached_property
    def held_nonzero(self) -> tuple[int, int]:
        """Cpu and memory that it counts for in scores on a node, with defaults."""
        total = self.read_held(self.spec, self.status, nonzero=True)
        return total.get("cpu", 0), total.get("memory", 0)

    @cached_property
    def scored_nonzero(self) -> Amounts:
        """What NodeResourcesFit scores it with: the containers' requests with defaults."""
        return spec_requests(self.spec, level=False, defaults=DEFAULTS)

    @cached_property
    def scored_plain(self) -> Amounts:
        """The same without defaults."""
        return spec_requests(self.spec, level=False)

    @cached_property
    def node_selector(self) -> Mapping[str, str]:
        """The node selector's pairs."""
        return self.spec.get("nodeSelector") or {}

    @cached_property
    def node_affinity(self) -> Mapping[str, Any]:
        """The node affinity as written."""
        return (self.spec.get("affinity") or {}).get("nodeAffinity") or {}

    @cached_property
    def node_required(self) -> tuple[NodeTerm, ...] | None:
        """Terms of the required node affinity; None if there is none."""
        return node_terms(self.node_affinity.get(REQUIRED))

    @cached_property
    def node_preferred(self) -> tuple[PreferredTerm, ...]:
        """Terms of the preferred node affinity."""
        return preferred_terms(self.node_affinity)

    @cached_property
    def tolerations(self) -> tuple[Mapping[str, Any], ...]:
        """The tolerations as written."""
        return tuple(self.spec.get("tolerations") or ())

    @cached_property
    def tolerations_key(self) -> str:
        """Equal for pods with equal tolerations."""
        return json.dumps(self.tolerations, sort_keys=True) if self.tolerations else ""

    @cached_property
    def affinity(self) -> PodAffinityTerms:
        """Its pod (anti-)affinity terms."""
        affinity = self.spec.get("affinity") or {}
        pod, anti = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
        if not pod and not anti:
            return NO_AFFINITY
        return PodAffinityTerms(
            self._required(pod.get(REQUIRED)),
            self._preferred(pod.get(PREFERRED)),
            self._required(anti.get(REQUIRED)),
            self._preferred(anti.get(PREFERRED)),
        )

    def _required(self, terms: Sequence[Mapping[str, Any]] | None) -> tuple[AffinityTerm, ...]:
        return tuple(self._term(term, 0) for term in terms or ())

    def _preferred(self, terms: Sequence[Mapping[str, Any]] | None) -> tuple[AffinityTerm, ...]:
        return tuple(
            self._term(term.get("podAffinityTerm") or {}, int(term["weight"])) for term in terms or ()
        )

    def _term(self, term: Mapping[str, Any], weight: int) -> AffinityTerm:
        selector = term.get("namespaceSelector")
        namespaces = frozenset(term.get("namespaces") or ())
        if not namespaces and selector is None:
            namespaces = frozenset((self.namespace,))
        return AffinityTerm(
            term.get("topologyKey") or "",
            label_selector(term.get("labelSelector")),
            namespaces,
            NOTHING if selector is None else label_selector(selector),
            weight,
        )

    @cached_property
    def containers(self) -> tuple[Mapping[str, Any], ...]:
        """The containers."""
        return tuple(self.spec.get("containers") or ())

    @cached_property
    def init_containers(self) -> tuple[Mapping[str, Any], ...]:
        """The init containers, sidecars among them."""
        return tuple(self.spec.get("initContainers") or ())

    @cached_property
    def host_ports(self) -> tuple[Port, ...]:
        """Host ports of containers and sidecars (schedutil.GetHostPorts)."""
        sidecars = (c for c in self.init_containers if c.get("restartPolicy") == "Always")
        return tuple(
            (port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", int(port["hostPort"]))  # noqa: S104
            for container in (*self.containers, *sidecars)
            for port in container.get("ports") or ()
            if int(port.get("hostPort") or 0) > 0
        )

    @cached_property
    def volumes(self) -> tuple[Mapping[str, Any], ...]:
        """The volumes."""
        return tuple(self.spec.get("volumes") or ())
