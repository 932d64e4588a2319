"""A pod as the scheduler knows it. Nothing changes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import attrgetter
from sys import intern
from typing import Any, ClassVar, Self

from msgspec.json import encode

from scheduler_core.kubernetes.requests import Amounts, HeldRequests, held_requests, reports_amounts
from scheduler_core.kubernetes.shared_devices import DeviceDemand
from scheduler_core.schedulers.v1_37.pod_spec import PodAffinityTerms, PodSpec, Port
from scheduler_core.schedulers.v1_37.selectors import NodeTerm, PreferredTerm

_REPORTED = frozenset(("allocatedResources", "resources", "containerStatuses", "initContainerStatuses"))
"""Fields of the status with what a pod holds."""

_TELLING = _REPORTED | {"conditions", "resourceClaimStatuses"}
"""Fields of the status that pods which share a specification lack."""


def _equal_but_for_node(spec: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return spec is other or {**spec, "nodeName": ""} == {**other, "nodeName": ""}


def _text(value: Any) -> bytes:
    """Return a text that is equal for equal values with their keys in one order."""
    try:
        return encode(value)
    except TypeError:  # a key that is no text
        return json.dumps(value).encode()


def _placed(
    compiled: type[CompiledPod], manifest: Mapping[str, Any], node: str, shared: PodSpec
) -> CompiledPod:
    """Return a pod on a node, which it may be assumed on, with what is compiled of it."""
    pod = compiled(manifest, shared)
    pod.node = node
    return pod


def _shared(name: str) -> Any:
    """Return the property of a pod that its specification has."""
    return property(attrgetter(f"shared.{name}"))


class CompiledPod:
    """A pod: its manifest, its node, and its specification, which replicas share.

    ``read_held`` is the rule for what a pod on a node holds.
    """

    __slots__ = ("_spec_key", "key", "manifest", "node", "nominated_node", "shared")

    read_held: ClassVar[HeldRequests] = staticmethod(held_requests)

    def __init__(self, manifest: Mapping[str, Any], shared: PodSpec | None = None) -> None:
        """Compile a manifest; ``shared`` is known of a pod that asks for the same."""
        meta = manifest["metadata"]
        self.manifest = manifest
        self.shared = PodSpec(manifest, type(self).read_held) if shared is None else shared
        self.key = intern(f"{self.shared.namespace}/{meta['name']}")
        self.node: str = self.spec.get("nodeName") or ""
        self.nominated_node: str = self.status.get("nominatedNodeName") or ""
        self._spec_key: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        return f"CompiledPod({self.key})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: it never changes, so copies of a cluster share it."""
        del memo
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the manifest and the node, and what pods share."""
        return _placed, (type(self), self.manifest, self.node, self.shared)

    # Its own.

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.manifest["metadata"]["name"])

    @property
    def uid(self) -> str:
        """Its uid; without one it is made from namespace and name."""
        return self.manifest["metadata"].get("uid") or f"uid-pod-{self.namespace}-{self.name}"

    @property
    def spec(self) -> Mapping[str, Any]:
        """Its specification as written."""
        return self.manifest.get("spec") or {}

    @property
    def status(self) -> Mapping[str, Any]:
        """Its status as written."""
        return self.manifest.get("status") or {}

    @property
    def finished(self) -> bool:
        """Whether its phase is terminal, so that it no longer exists for the scheduler."""
        return self.status.get("phase") in ("Succeeded", "Failed")

    @property
    def spec_key(self) -> tuple[Any, ...]:
        """All that decides where a waiting pod fits best: equal for pods that share a decision."""
        found = self._spec_key
        if found is None:
            owners = [
                o for o in self.manifest["metadata"].get("ownerReferences") or () if o.get("controller")
            ]
            reported = [self.status[key] for key in sorted(_REPORTED & self.status.keys())]
            found = _text([self.spec, self.labels, owners, reported]), self.namespace
            self._spec_key = found
        return found

    @property
    def counts_more(self) -> bool:
        """Whether it may count for more than the sum of its containers."""
        own = any(self.spec.get(name) for name in ("initContainers", "overhead", "resources"))
        return own or bool(_REPORTED & self.status.keys())

    @property
    def balanced(self) -> Amounts:
        """What NodeResourcesBalancedAllocation scores it with: its status counts while it waits, too."""
        return self.held if _REPORTED & self.status.keys() else self.requests

    @property
    def claims(self) -> tuple[tuple[str, bool], ...]:
        """Names of the PersistentVolumeClaims in volume order, and whether each is an ephemeral volume's."""
        found = []
        for volume in self.volumes:
            if volume.get("persistentVolumeClaim"):
                found.append((volume["persistentVolumeClaim"]["claimName"], False))
            elif volume.get("ephemeral") is not None:
                found.append((f"{self.name}-{volume['name']}", True))
        return tuple(found)

    @property
    def resource_claims(self) -> tuple[str, ...]:
        """Names of the ResourceClaims in order; one made from a template is named in the status."""
        claims = self.spec.get("resourceClaims")
        if not claims:
            return ()
        generated = {
            entry["name"]: entry.get("resourceClaimName")
            for entry in self.status.get("resourceClaimStatuses") or ()
        }
        names = (claim.get("resourceClaimName") or generated.get(claim["name"]) for claim in claims)
        return tuple(name for name in names if name)

    # What it shares.

    namespace: str = _shared("namespace")
    labels: Mapping[str, str] = _shared("labels")
    terminating: bool = _shared("terminating")
    priority: int = _shared("priority")
    scheduler_name: str = _shared("scheduler_name")
    class_key: tuple[Any, ...] = _shared("class_key")
    requests: Amounts = _shared("requests")
    held: Amounts = _shared("held")
    held_nonzero: tuple[int, int] = _shared("held_nonzero")
    demand: DeviceDemand | None = _shared("demand")
    scored_nonzero: Amounts = _shared("scored_nonzero")
    scored_plain: Amounts = _shared("scored_plain")
    node_selector: Mapping[str, str] = _shared("node_selector")
    node_affinity: Mapping[str, Any] = _shared("node_affinity")
    node_required: tuple[NodeTerm, ...] | None = _shared("node_required")
    node_preferred: tuple[PreferredTerm, ...] = _shared("node_preferred")
    tolerations: tuple[Mapping[str, Any], ...] = _shared("tolerations")
    tolerations_key: str = _shared("tolerations_key")
    affinity: PodAffinityTerms = _shared("affinity")
    containers: tuple[Mapping[str, Any], ...] = _shared("containers")
    init_containers: tuple[Mapping[str, Any], ...] = _shared("init_containers")
    host_ports: tuple[Port, ...] = _shared("host_ports")
    volumes: tuple[Mapping[str, Any], ...] = _shared("volumes")

    def compile(self) -> None:
        """Compile now what every placement needs, so that no attempt waits for it."""
        _ = self.spec_key
        self.shared.compile()

    def share_compiled(self, other: CompiledPod) -> None:
        """Take over what was compiled of a pod with an equal ``spec_key``."""
        self._spec_key = other.spec_key
        if self.terminating == other.terminating and not _TELLING & {*self.status, *other.status}:
            self.shared = other.shared

    # Other versions.

    def _copy(
        self, manifest: Mapping[str, Any], node: str, nominated: str, spec_key: tuple[Any, ...] | None = None
    ) -> Self:
        """Return a pod of the same namespace that asks for the same."""
        out = object.__new__(type(self))
        out.manifest, out.shared, out.key = manifest, self.shared, self.key
        out.node, out.nominated_node, out._spec_key = node, nominated, spec_key
        return out

    def placed(self, node: str) -> Self:
        """Return the pod as it is on a node, sharing what was compiled."""
        return self._copy(self.manifest, node, self.nominated_node, self._spec_key)

    def rewritten(self, manifest: Mapping[str, Any]) -> Self:
        """Return the pod of a manifest with another node, nomination or status that holds the same."""
        spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
        out = self._copy(manifest, spec.get("nodeName") or "", status.get("nominatedNodeName") or "")
        if manifest["metadata"].get("deletionTimestamp") and not self.terminating:
            out.shared = self.shared.ending
        return out

    def is_like(self, manifest: Mapping[str, Any]) -> bool:
        """Return whether a manifest has all objects of a pod that waits, but for its name and uid."""
        own, meta = self.manifest["metadata"], manifest["metadata"]
        return (
            self.manifest.get("spec") is manifest.get("spec")
            and self.manifest.get("status") is manifest.get("status")
            and own.get("labels") is meta.get("labels")
            and own.get("ownerReferences") is meta.get("ownerReferences")
            and own.get("namespace") == meta.get("namespace")
            and own.get("deletionTimestamp") is None is meta.get("deletionTimestamp")
        )

    def replica(self, manifest: Mapping[str, Any]) -> Self:
        """Return the pod of a manifest that shares all objects but its name and uid, and what is compiled."""
        out = self._copy(manifest, self.node, self.nominated_node, self.spec_key)
        out.key = intern(f"{self.namespace}/{manifest['metadata']['name']}")
        return out

    def holds_in(self, manifest: Mapping[str, Any]) -> bool:
        """Return whether a later version of the pod, which may end by now, asks for the same on its node."""
        spec, meta = manifest.get("spec") or {}, manifest["metadata"]
        if spec.get("nodeName") != self.node or (self.terminating and not meta.get("deletionTimestamp")):
            return False
        if (meta.get("labels") or {}) != self.labels or not _equal_but_for_node(spec, self.spec):
            return False
        status, own = manifest.get("status") or {}, self.status
        if status.get("resourceClaimStatuses") != own.get("resourceClaimStatuses"):
            return False
        return not reports_amounts(own) and not reports_amounts(status)

    def holds_as(self, other: CompiledPod) -> bool:
        """Return whether the pod, rewritten with its node the same, counts there as it did before."""
        stays = bool(self.node) and self.node == other.node and not self.finished
        return stays and self.terminating == other.terminating
