"""A pod as the scheduler knows it: compiled once from its manifest, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from sys import intern
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.json import encode

from scheduler_core.kubernetes.requests import (
    DEFAULTS,
    Amounts,
    HeldRequests,
    counted,
    held_requests,
    reports_amounts,
    spec_requests,
)
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

_REPORTED = frozenset(("allocatedResources", "resources", "containerStatuses", "initContainerStatuses"))
"""Fields of the status with what a pod holds."""


_SHARED = frozenset(
    ("affinity", "class_key", "demand", "held", "held_nonzero", "host_ports", "requests", "resource_claims")
)
"""What placing a pod asks of it; ``spec_key`` says it all unless the status has any of ``_TELLING``."""

_SHARED_WHERE_PLACED = ("class_key", "demand", "held", "held_nonzero")
"""What other pods' attempts ask of a pod on a node."""

_TELLING = _REPORTED | {"conditions", "resourceClaimStatuses"}


_OWN = frozenset(("spec_key", "balanced"))
"""What pods that hold the same do not share."""


def _equal_but_for_node(spec: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return spec is other or {**spec, "nodeName": ""} == {**other, "nodeName": ""}


def _text(value: Any) -> bytes:
    """Return a text that is equal for equal values with their keys in one order."""
    try:
        return encode(value)
    except TypeError:  # a key that is no text
        return json.dumps(value).encode()


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


def _placed(
    compiled: type[CompiledPod], manifest: Mapping[str, Any], node: str, made: Mapping[str, Any]
) -> CompiledPod:
    """Return a pod on a node, which it may be assumed on, with what was compiled of it."""
    pod = compiled(manifest)
    pod.node = node
    pod.__dict__.update(made)
    return pod


class CompiledPod:
    """A compiled pod. What is needed rarely is compiled at first use.

    ``read_held`` is the rule for what a pod on a node holds.
    """

    read_held: ClassVar[HeldRequests] = staticmethod(held_requests)

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self.manifest = manifest
        meta = manifest["metadata"]
        self.name: str = meta["name"]
        self.namespace: str = meta.get("namespace") or "default"
        self.key = intern(f"{self.namespace}/{self.name}")
        self.uid: str = meta.get("uid") or f"uid-pod-{self.namespace}-{self.name}"
        self.labels: Mapping[str, str] = meta.get("labels") or {}
        self.terminating = bool(meta.get("deletionTimestamp"))
        self.spec: Mapping[str, Any] = manifest.get("spec") or {}
        self.status: Mapping[str, Any] = manifest.get("status") or {}
        self.priority = int(self.spec.get("priority") or 0)
        self.node: str = self.spec.get("nodeName") or ""
        self.scheduler_name: str = self.spec.get("schedulerName") or "default-scheduler"
        self.nominated_node: str = self.status.get("nominatedNodeName") or ""

    def __repr__(self) -> str:
        return f"CompiledPod({self.key})"

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledPod:
        """Return itself: it never changes, so copies of a cluster share it."""
        del memo
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the manifest and the node, and what pods of a class share; the rest is compiled of them."""
        made = self.__dict__
        shared = {name: made[name] for name in _SHARED_WHERE_PLACED if name in made} if self.node else {}
        return _placed, (type(self), self.manifest, self.node, shared)

    @property
    def finished(self) -> bool:
        """Whether its phase is terminal, so that it no longer exists for the scheduler."""
        return self.status.get("phase") in ("Succeeded", "Failed")

    def placed(self, node: str) -> CompiledPod:
        """Return the pod as it is on a node, sharing what was compiled."""
        out = CompiledPod.__new__(type(self))
        out.__dict__.update(self.__dict__)
        out.node = node
        return out

    def rewritten(self, manifest: Mapping[str, Any]) -> CompiledPod:
        """Return the pod of a manifest with another node, nomination or status that holds the same.

        All that was compiled is the same, but for what has the whole specification or the status.
        """
        out = CompiledPod.__new__(type(self))
        out.__dict__.update(self.__dict__)
        for name in _OWN & out.__dict__.keys():
            del out.__dict__[name]
        out.manifest = manifest
        out.uid = manifest["metadata"].get("uid") or f"uid-pod-{self.namespace}-{self.name}"
        out.spec, out.status = manifest.get("spec") or {}, manifest.get("status") or {}
        out.node = out.spec.get("nodeName") or ""
        out.nominated_node = out.status.get("nominatedNodeName") or ""
        return out

    def holds_in(self, manifest: Mapping[str, Any]) -> bool:
        """Return whether a later version of the pod counts on its node, and for other pods, as this one."""
        spec, meta = manifest.get("spec") or {}, manifest["metadata"]
        if spec.get("nodeName") != self.node or bool(meta.get("deletionTimestamp")) != self.terminating:
            return False
        if (meta.get("labels") or {}) != self.labels or not _equal_but_for_node(spec, self.spec):
            return False
        status: Mapping[str, Any] = manifest.get("status") or {}
        if status.get("resourceClaimStatuses") != self.status.get("resourceClaimStatuses"):
            return False
        return not reports_amounts(self.status) and not reports_amounts(status)

    def replica(self, manifest: Mapping[str, Any]) -> CompiledPod:
        """Return the pod of a manifest that shares all objects but its name and uid, and what is compiled."""
        if "class_key" not in self.__dict__:
            self.compile()
        out, meta = CompiledPod.__new__(type(self)), manifest["metadata"]
        out.__dict__.update(self.__dict__)
        out.manifest, out.name, out.uid = manifest, meta["name"], meta["uid"]
        out.key = intern(f"{out.namespace}/{out.name}")
        return out

    def holds_as(self, other: CompiledPod) -> bool:
        """Return whether the pod, rewritten with its node the same, counts there as it did before."""
        return bool(self.node) and self.node == other.node and not self.finished

    def share_compiled(self, other: CompiledPod) -> None:
        """Take over what was compiled of a pod with an equal ``spec_key``."""
        made = other.__dict__
        if self.terminating == other.terminating and not _TELLING & {*self.status, *other.status}:
            self.__dict__.update((name, made[name]) for name in _SHARED & made.keys())

    def compile(self) -> None:
        """Compile now what every placement needs, so that no attempt waits for it."""
        _ = self.spec_key, self.class_key, self.affinity, self.demand
        _ = self.held, self.held_nonzero, self.host_ports

    @cached_property
    def class_key(self) -> tuple[Any, ...]:
        """What other pods' selectors and terms match on, and its own terms."""
        affinity = self.spec.get("affinity") or {}
        own = {key: affinity[key] for key in ("podAffinity", "podAntiAffinity") if affinity.get(key)}
        terms = json.dumps(own, sort_keys=True) if own else ""
        return self.namespace, frozenset(self.labels.items()), self.terminating, terms

    @cached_property
    def spec_key(self) -> tuple[Any, ...]:
        """All that decides where a waiting pod fits best: equal for pods that share a decision."""
        owners = [o for o in self.manifest["metadata"].get("ownerReferences") or () if o.get("controller")]
        reported = [self.status[key] for key in sorted(_REPORTED & self.status.keys())]
        return _text([self.spec, self.labels, owners, reported]), self.namespace

    # Requests.

    @cached_property
    def requests(self) -> Amounts:
        """What it requests as a pod to be scheduled; resources that nodes are held to."""
        return dict(counted(spec_requests(self.spec)))

    @cached_property
    def held(self) -> Amounts:
        """What it holds on a node."""
        return dict(counted(self.read_held(self.spec, self.status)))

    @property
    def counts_more(self) -> bool:
        """Whether it may count for more than the sum of its containers."""
        own = any(self.spec.get(name) for name in ("initContainers", "overhead", "resources"))
        return own or bool(_REPORTED & self.status.keys())

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
    def balanced(self) -> Amounts:
        """What NodeResourcesBalancedAllocation scores it with: its status counts while it waits, too."""
        return self.held if _REPORTED & self.status.keys() else self.requests

    @cached_property
    def scored_nonzero(self) -> Amounts:
        """What NodeResourcesFit scores it with: the containers' requests with defaults."""
        return spec_requests(self.spec, level=False, defaults=DEFAULTS)

    @cached_property
    def scored_plain(self) -> Amounts:
        """The same without defaults."""
        return spec_requests(self.spec, level=False)

    # Nodes.

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

    # Pods.

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

    # The rest.

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

    @cached_property
    def claims(self) -> tuple[tuple[str, bool], ...]:
        """Names of the PersistentVolumeClaims in volume order, and whether each is an ephemeral volume's."""
        found = []
        for volume in self.volumes:
            if volume.get("persistentVolumeClaim"):
                found.append((volume["persistentVolumeClaim"]["claimName"], False))
            elif volume.get("ephemeral") is not None:
                found.append((f"{self.name}-{volume['name']}", True))
        return tuple(found)

    @cached_property
    def resource_claims(self) -> tuple[str, ...]:
        """Names of the ResourceClaims in order; one made from a template is named in the status."""
        generated = {
            entry["name"]: entry.get("resourceClaimName")
            for entry in self.status.get("resourceClaimStatuses") or ()
        }
        names = (
            claim.get("resourceClaimName") or generated.get(claim["name"])
            for claim in self.spec.get("resourceClaims") or ()
        )
        return tuple(name for name in names if name)
