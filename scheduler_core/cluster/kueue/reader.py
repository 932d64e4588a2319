"""Reads Kueue's manifests of v1beta1 and v1beta2 into its objects; what is absent gets the CRD's default."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler_core.cluster.kueue.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    FlavorFungibility,
    FlavorQuotas,
    LocalQueue,
    PodSet,
    PreemptionPolicy,
    QuotaLimits,
    ResourceFlavor,
    ResourceGroup,
    Topology,
    TopologyRequest,
)
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    is_deleting,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)
from scheduler_core.kubernetes.quantity import exact_quantity, parse_resource

_V1BETA1_FUNGIBILITY = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}


def read_flavor(manifest: Manifest) -> ResourceFlavor:
    """Read a ResourceFlavor."""
    spec = spec_of(manifest)
    return ResourceFlavor(
        name=name_of(manifest),
        node_labels=spec.get("nodeLabels") or {},
        node_taints=tuple(spec.get("nodeTaints") or ()),
        tolerations=tuple(spec.get("tolerations") or ()),
        topology=spec.get("topologyName") or "",
    )


def read_cohort(manifest: Manifest) -> Cohort:
    """Read a Cohort; ``spec.parent`` is v1alpha1's name of ``parentName``."""
    spec = spec_of(manifest)
    return Cohort(
        name=name_of(manifest),
        parent=spec.get("parentName") or spec.get("parent") or "",
        groups=_groups(spec),
        weight=_weight(spec),
    )


def read_cluster_queue(manifest: Manifest) -> ClusterQueue:
    """Read a ClusterQueue."""
    spec = spec_of(manifest)
    return ClusterQueue(
        name=name_of(manifest),
        cohort=spec.get("cohortName") or spec.get("cohort") or "",
        groups=_groups(spec),
        strategy=spec.get("queueingStrategy") or "BestEffortFIFO",
        namespace_selector=spec.get("namespaceSelector"),
        fungibility=_fungibility(spec.get("flavorFungibility") or {}),
        preemption=_preemption(spec.get("preemption") or {}),
        checks=_checks(spec),
        stop_policy=spec.get("stopPolicy") or "None",
        weight=_weight(spec),
        is_terminating=is_deleting(manifest),
    )


def _groups(spec: Mapping[str, Any]) -> tuple[ResourceGroup, ...]:
    return tuple(map(_group, spec.get("resourceGroups") or ()))


def _group(group: Mapping[str, Any]) -> ResourceGroup:
    flavors = tuple(
        FlavorQuotas(
            flavor["name"], {row["name"]: _quota(row["name"], row) for row in flavor.get("resources") or ()}
        )
        for flavor in group.get("flavors") or ()
    )
    return ResourceGroup(tuple(group.get("coveredResources") or ()), flavors)


def _quota(resource: str, row: Mapping[str, Any]) -> QuotaLimits:
    return QuotaLimits(
        nominal=parse_resource(resource, str(row.get("nominalQuota") or 0)),
        borrowing_limit=_limit(resource, row.get("borrowingLimit")),
        lending_limit=_limit(resource, row.get("lendingLimit")),
    )


def _limit(resource: str, text: Any) -> int | None:
    return None if text is None else parse_resource(resource, str(text))


def _weight(spec: Mapping[str, Any]) -> float:
    weight = (spec.get("fairSharing") or {}).get("weight")
    return 1.0 if weight is None else float(exact_quantity(str(weight)))


def _fungibility(part: Mapping[str, Any]) -> FlavorFungibility:
    return FlavorFungibility(
        when_can_borrow=_converted(part.get("whenCanBorrow") or "MayStopSearch"),
        when_can_preempt=_converted(part.get("whenCanPreempt") or "TryNextFlavor"),
        preference=part.get("preference") or "",
    )


def _converted(value: str) -> str:
    return _V1BETA1_FUNGIBILITY.get(value, value)


def _preemption(part: Mapping[str, Any]) -> PreemptionPolicy:
    borrowing = part.get("borrowWithinCohort") or {}
    return PreemptionPolicy(
        within_cluster_queue=part.get("withinClusterQueue") or "Never",
        reclaim_within_cohort=part.get("reclaimWithinCohort") or "Never",
        borrow_within_cohort=borrowing.get("policy") or "Never",
        max_priority_threshold=borrowing.get("maxPriorityThreshold"),
    )


def _checks(spec: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the flavors of each check; v1beta1's ``admissionChecks`` names checks for all flavors."""
    rows = (spec.get("admissionChecksStrategy") or {}).get("admissionChecks") or ()
    plain: Iterable[str] = spec.get("admissionChecks") or ()
    return {**dict.fromkeys(plain, ()), **{row["name"]: tuple(row.get("onFlavors") or ()) for row in rows}}


def read_local_queue(manifest: Manifest) -> LocalQueue:
    """Read a LocalQueue."""
    spec = spec_of(manifest)
    return LocalQueue(
        key=f"{namespace_of(manifest) or 'default'}/{name_of(manifest)}",
        cluster_queue=spec.get("clusterQueue") or "",
        stop_policy=spec.get("stopPolicy") or "None",
    )


def read_admission_check(manifest: Manifest) -> AdmissionCheck:
    """Read an AdmissionCheck, with whether its controller has it active."""
    conditions = status_of(manifest).get("conditions") or ()
    active = any(one.get("type") == "Active" and one.get("status") == "True" for one in conditions)
    return AdmissionCheck(name_of(manifest), spec_of(manifest).get("controllerName") or "", active)


def read_topology(manifest: Manifest) -> Topology:
    """Read a Topology."""
    levels = spec_of(manifest).get("levels") or ()
    return Topology(name_of(manifest), tuple(level["nodeLabel"] for level in levels))


def read_pod_sets(spec: Mapping[str, Any]) -> tuple[PodSet, ...]:
    """Read the pod sets of a Workload's spec."""
    return tuple(map(_pod_set, spec.get("podSets") or ()))


def _pod_set(row: Mapping[str, Any]) -> PodSet:
    return PodSet(
        name=row.get("name") or "main",
        count=1 if row.get("count") is None else int(row["count"]),
        template=row.get("template") or {},
        min_count=row.get("minCount"),
        topology=_topology_request(row.get("topologyRequest")),
    )


def _topology_request(part: Mapping[str, Any] | None) -> TopologyRequest | None:
    if part is None:
        return None
    return TopologyRequest(
        required=part.get("required") or "",
        preferred=part.get("preferred") or "",
        unconstrained=bool(part.get("unconstrained")),
        slice_level=part.get("podSetSliceRequiredTopology") or "",
        slice_size=part.get("podSetSliceSize"),
        group=part.get("podSetGroupName") or "",
    )


_TOPOLOGY_ANNOTATIONS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "podset-required-topology": ("required", str),
    "podset-preferred-topology": ("preferred", str),
    "podset-unconstrained-topology": ("unconstrained", lambda text: text == "true"),
    "podset-slice-required-topology": ("podSetSliceRequiredTopology", str),
    "podset-slice-size": ("podSetSliceSize", int),
    "podset-group-name": ("podSetGroupName", str),
}


def annotated_topology(annotations: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the ``topologyRequest`` that a pod template's annotations ask for.

    Raises:
        ValueError: The slice size is not a number.
    """
    found = {
        name: read(annotations[key])
        for suffix, (name, read) in _TOPOLOGY_ANNOTATIONS.items()
        if (key := f"kueue.x-k8s.io/{suffix}") in annotations
    }
    return found or None


READERS: Mapping[str, Callable[[Manifest], Any]] = {
    "AdmissionCheck": read_admission_check,
    "ClusterQueue": read_cluster_queue,
    "Cohort": read_cohort,
    "LocalQueue": read_local_queue,
    "ResourceFlavor": read_flavor,
    "Topology": read_topology,
}
"""How a manifest of each kind becomes an object; a Workload is more than its spec (``workload.py``)."""
