"""Extended resources that a DeviceClass backs: devices serve them on nodes that do not report them.

Source: ``plugins/dynamicresources/extendeddynamicresources.go``, ``deviceclass/extendedresourcecache`` and
``shouldDelegateResourceToDRA`` of ``plugins/noderesources`` (KEP-5004).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.controllers.resource_claims import EXTENDED as MARK
from scheduler_core.formats.decode import short_hash
from scheduler_core.kubernetes.admission import uid_for
from scheduler_core.kubernetes.kinds import is_manifest_kind
from scheduler_core.kubernetes.quantity import parse_resource
from scheduler_core.kubernetes.requests import Amounts, amounts, is_extended
from scheduler_core.kubernetes.support import part_of
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.device_pools import slices_of
from scheduler_core.schedulers.v1_37.device_selectors import selects
from scheduler_core.schedulers.v1_37.device_use import DevicesInUse
from scheduler_core.schedulers.v1_37.devices import DeviceRequest
from scheduler_core.schedulers.v1_37.interface import PluginError
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.state import ClusterState, uid_of

EXTENDED_GATE = "DRAExtendedResource"

IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""With a DeviceClass' name behind it, the extended resource that every class backs."""

SPECIAL_STATUS = "extendedResourceClaimStatus"
"""The field of a pod's status that names such a claim."""

LONGEST_BASE = 58
"""Characters before the suffix of a generated name."""


def may_be_backed(name: str) -> bool:
    """Return whether devices may serve a resource (IsDRAExtendedResourceName)."""
    return is_extended(name) or name.startswith(IMPLICIT)


def backing_classes(cluster: ClusterState) -> Mapping[str, str]:
    """Return the DeviceClass of each extended resource that one backs.

    Of classes with the same ``extendedResourceName`` the newest counts, then the first by name.
    """
    if not cluster.objects.get("DeviceClass") or not cluster.configuration.gate(EXTENDED_GATE):
        return {}
    found: Mapping[str, str] = cluster.derived(
        ("DeviceClass",), "extended resources", lambda: _classes(cluster.list("DeviceClass"))
    )
    return found


def _classes(classes: Iterable[Manifest]) -> Mapping[str, str]:
    out: dict[str, str] = {}
    by_name = sorted(classes, key=lambda one: str(one["metadata"]["name"]))
    for one in sorted(by_name, key=_created, reverse=True):
        name = str(one["metadata"]["name"])
        explicit = (one.get("spec") or {}).get("extendedResourceName")
        if explicit:
            out.setdefault(str(explicit), name)
        out[IMPLICIT + name] = name
    return out


def _created(manifest: Manifest) -> str:
    return str(manifest["metadata"].get("creationTimestamp") or "")


def backed(cluster: ClusterState, requests: Mapping[str, int]) -> frozenset[str]:
    """Return the resources of which more than 0 is requested and that a DeviceClass backs."""
    classes = backing_classes(cluster)
    if not classes:
        return frozenset()
    return frozenset(name for name, amount in requests.items() if amount > 0 and name in classes)


class ExtendedResources(Struct, frozen=True):
    """The extended resources of a pod of which a DeviceClass backs at least one.

    ``stale`` is the claim of an attempt whose binding failed, which is deleted before another is made.
    """

    pod: CompiledPod
    classes: Mapping[str, str]
    requests: Amounts
    """Of all that devices may serve, backed or not."""
    stale: Manifest | None

    def fits(self, node: Manifest) -> bool:
        """Return whether the node reports, or a class backs, each of them."""
        known = (node.get("status") or {}).get("allocatable") or {}
        return all(name in self.classes or name in known for name in self.requests)

    def claim_on(self, node: Manifest) -> Manifest | None:
        """Return the claim for what the node does not report, None if it reports all of it."""
        reported = amounts((node.get("status") or {}).get("allocatable"))
        names = sorted(n for n in self.requests if n in self.classes and reported.get(n, 0) == 0)
        return special_claim(self.pod, {name: self.classes[name] for name in names}) if names else None


def extended_resources(cluster: ClusterState, pod: CompiledPod) -> ExtendedResources | None:
    """Return a pod's extended resources, None if no DeviceClass backs any (preFilterExtendedResources)."""
    if not backed(cluster, pod.requests):
        return None
    asked = {name: amount for name, amount in pod.requests.items() if amount > 0 and may_be_backed(name)}
    stale = next((claim for claim in cluster.list("ResourceClaim") if is_special_claim(claim, pod)), None)
    return ExtendedResources(pod, backing_classes(cluster), asked, stale)


def is_special_claim(claim: Manifest, pod: CompiledPod) -> bool:
    """Return whether a claim was made for the pod's extended resources (findExtendedResourceClaim)."""
    meta = claim["metadata"]
    if (meta.get("annotations") or {}).get(MARK) != "true":
        return False
    owners = meta.get("ownerReferences") or ()
    uid = _pod_uid(pod)
    return any(o.get("name") == pod.name and o.get("controller") and o.get("uid") == uid for o in owners)


def _pod_uid(pod: CompiledPod) -> str:
    return uid_of({**pod.manifest, "kind": "Pod"})


def pods_without_claims(objects: Sequence[Manifest]) -> list[str]:
    """Return the pods on nodes whose devices for extended resources no claim of the objects names."""
    objects = [one for one in objects if part_of(one, "metadata", "name")]
    read = [one for one in objects if is_manifest_kind(one)]
    classes = _classes(one for one in read if one["kind"] == "DeviceClass")
    if not classes:
        return []
    core = [one for one in objects if one.get("apiVersion") == "v1"]
    nodes = {one["metadata"]["name"]: one for one in core if one.get("kind") == "Node"}
    claims = [one for one in read if one["kind"] == "ResourceClaim"]
    pods = (CompiledPod(one) for one in core if one.get("kind") == "Pod")
    return [
        pod.key
        for pod in pods
        if pod.node in nodes
        and not pod.finished
        and _is_served(pod.spec, classes, nodes[pod.node])
        and not any(is_special_claim(claim, pod) for claim in claims)
    ]


def _is_served(spec: Mapping[str, Any], classes: Mapping[str, str], node: Manifest) -> bool:
    """Return whether a container names a resource that devices serve on the node."""
    reported = amounts((node.get("status") or {}).get("allocatable"))
    resources = [container.get("resources") or {} for container in _containers(spec)]
    named = {name for one in resources for part in ("requests", "limits") for name in one.get(part) or ()}
    return any(name in classes and reported.get(name, 0) == 0 for name in named)


def special_claim(pod: CompiledPod, classes: Mapping[str, str]) -> Manifest:
    """Return the claim for a pod's extended resources of these classes, by resource."""
    uid, base = _pod_uid(pod), f"{pod.name}-extended-resources-"[:LONGEST_BASE]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": uid, "controller": True}
    requests = [entry for entry, _ in _device_requests(pod.spec, classes)]
    name = base + short_hash(uid, MARK)
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "name": name,
            "namespace": pod.namespace,
            "uid": uid_for("ResourceClaim", pod.namespace, name),
            "generateName": base,
            "annotations": {MARK: "true"},
            "ownerReferences": [owner],
        },
        "spec": {"devices": {"requests": sorted(requests, key=lambda entry: str(entry["name"]))}},
    }


def claim_status(pod: CompiledPod, claim: Manifest) -> Manifest:
    """Return ``status.extendedResourceClaimStatus`` of a pod whose special claim this is.

    ``requestMappings`` say which request of the claim serves which container.
    """
    requests = claim["spec"]["devices"]["requests"]
    classes = {_resource_of(pod.spec, r["name"]): r["exactly"]["deviceClassName"] for r in requests}
    mappings = [one for _, served in _device_requests(pod.spec, classes) for one in served]
    return {"resourceClaimName": claim["metadata"]["name"], "requestMappings": mappings}


def _containers(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def _asked_by(container: Mapping[str, Any]) -> Mapping[str, Any]:
    return (container.get("resources") or {}).get("requests") or {}


def _resource_of(spec: Mapping[str, Any], request: str) -> str:
    """Return the resource that a request of the special claim is for, by its name."""
    _, container, _, place = request.split("-")
    return sorted(_asked_by(_containers(spec)[int(container)]))[int(place)]


class _Ask(Struct):
    """What one container asks for, of one resource: a request of the special claim."""

    name: str
    count: int


def _device_requests(
    spec: Mapping[str, Any], classes: Mapping[str, str]
) -> Iterator[tuple[Manifest, list[Manifest]]]:
    """Yield each request of the special claim with the containers that it serves (createRequestsAndMappings).

    A container that ends before the others start takes the devices of those that start later, and what it
    asks for beyond them: the most that any such container does.
    """
    containers = _containers(spec)
    started = len(spec.get("initContainers") or ())
    for resource, class_name in sorted(classes.items()):
        own = [_ask(number, each, resource) for number, each in enumerate(containers)]
        brief = [n < started and c.get("restartPolicy") != "Always" for n, c in enumerate(containers)]
        lasting = [None if short else ask for short, ask in zip(brief, own, strict=True)]
        served: dict[str, list[Manifest]] = {}
        most: _Ask | None = None
        passing: list[tuple[int, str]] = []
        for number, ask in enumerate(own):
            if ask is None:
                continue
            if not brief[number]:
                served.setdefault(ask.name, []).append(_mapping(containers[number], resource, ask.name))
                continue
            more = ask.count
            for later in lasting[number:]:
                if later is not None and more > 0:
                    served.setdefault(later.name, []).append(
                        _mapping(containers[number], resource, later.name)
                    )
                    more -= later.count
            if more > 0:
                passing.append((number, ask.name))
                most = _Ask(ask.name, more) if most is None or most.count < more else most
        asks = [one for one in (most, *lasting) if one is not None]
        if most is not None:
            served[most.name] = [_mapping(containers[number], resource, most.name) for number, _ in passing]
        for one in asks:
            exactly = {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": one.count}
            yield {"name": one.name, "exactly": exactly}, served.get(one.name, [])


def _ask(number: int, container: Mapping[str, Any], resource: str) -> _Ask | None:
    requests = _asked_by(container)
    if resource not in requests:
        return None
    count = parse_resource(resource, str(requests[resource]))
    place = sorted(requests).index(resource)
    return _Ask(f"container-{number}-request-{place}", count) if count > 0 else None


def _mapping(container: Mapping[str, Any], resource: str, request: str) -> Manifest:
    return {"containerName": container["name"], "resourceName": resource, "requestName": request}


def device_totals(
    cluster: ClusterState, in_use: DevicesInUse, resource: str, node: str, labels: Mapping[str, str]
) -> tuple[int, int]:
    """Return how many devices of the resource's class the node has, and how many are allocated.

    It is what scores count for a resource that the node does not report (calculateDRAResourceTotals): whole
    slices, whether or not their pool is complete; 0 of both where a selector fails.
    """
    name = backing_classes(cluster)[resource]
    request = DeviceRequest({"metadata": {"name": ""}}, "", "", {"deviceClassName": name})
    devices = [d for piece in slices_of(cluster) for d in piece.reached_from(node, labels)]
    try:
        matching = [device for device in devices if selects(cluster, request, device)]
    except PluginError:
        return 0, 0
    return len(matching), sum(in_use.has(device.id) for device in matching)
