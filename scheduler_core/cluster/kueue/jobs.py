"""Jobs of batch/v1 that Kueue manages: their Workloads, how they start and how they stop."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1
from typing import Any

from msgspec import Struct, field

from scheduler_core.cluster.kueue.objects import (
    JOB_UID_LABEL,
    PRIORITY_LABEL,
    QUEUE_LABEL,
    PodSet,
    ResourceFlavor,
)
from scheduler_core.cluster.kueue.reader import annotated_topology, read_pod_sets
from scheduler_core.cluster.kueue.workload import PodSetAssignment, Workload
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    uid_of,
    with_spec,
)

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
COMPLETIONS_EQUAL = "kueue.x-k8s.io/job-completions-equal-parallelism"
TOPOLOGY_GATE = "kueue.x-k8s.io/topology"
UNCONSTRAINED = "kueue.x-k8s.io/podset-unconstrained-topology"
DEFAULT_QUEUE = "default"
_LONGEST_PREFIX = 247


class Priorities(Struct):
    """Values by class name; ``default`` is that of the global default PriorityClass."""

    workload: dict[str, int] = field(default_factory=dict)
    pod: dict[str, int] = field(default_factory=dict)
    default: int = 0

    def put(self, manifest: Manifest) -> None:
        """Read a PriorityClass or WorkloadPriorityClass."""
        value = int(manifest.get("value") or 0)
        is_of_pods = manifest.get("kind") == "PriorityClass"
        (self.pod if is_of_pods else self.workload)[name_of(manifest)] = value
        if is_of_pods and manifest.get("globalDefault"):
            self.default = value


class UnknownPriorityClassError(Exception):
    """A Job names a WorkloadPriorityClass that does not exist: Kueue makes no Workload for it."""


def workload_name(job: Manifest) -> str:
    """Return the name of a Job's Workload (jobframework.GetWorkloadNameForOwnerWithGVK)."""
    text = f"Job\nbatch\n{name_of(job)}\n{uid_of(job)}"
    digest = sha1(text.encode(), usedforsecurity=False).hexdigest()[:5]
    return f"{f'job-{name_of(job)}'[:_LONGEST_PREFIX]}-{digest}"


def workload_of(job: Manifest, queue: str, priorities: Priorities, now: float) -> Workload:
    """Return the Workload that Kueue makes for a Job.

    Raises:
        UnknownPriorityClassError: The Job names a WorkloadPriorityClass that does not exist.
        ValueError: An annotation is not a number.
    """
    namespace = namespace_of(job) or "default"
    key = f"{namespace}/{workload_name(job)}"
    wanted = labels_of(job).get(PRIORITY_LABEL, "")
    return Workload(
        key=key,
        uid=f"uid-{key}",
        created=now,
        queue=queue,
        priority=_priority(job, wanted, priorities),
        priority_class=wanted or _pod_spec(job).get("priorityClassName") or "",
        pod_sets=read_pod_sets({"podSets": [_pod_set(job)]}),
        labels={JOB_UID_LABEL: uid_of(job)},
        owner=f"Job {name_of(job)}",
    )


def _pod_spec(job: Manifest) -> Mapping[str, Any]:
    return spec_of(spec_of(job).get("template") or {})


def _priority(job: Manifest, wanted: str, priorities: Priorities) -> int:
    if wanted:
        if wanted not in priorities.workload:
            raise UnknownPriorityClassError(wanted)
        return priorities.workload[wanted]
    named = _pod_spec(job).get("priorityClassName")
    return priorities.pod.get(named, 0) if named else priorities.default


def _pod_set(job: Manifest) -> dict[str, Any]:
    spec = spec_of(job)
    template = spec.get("template") or {}
    parallelism = 1 if spec.get("parallelism") is None else int(spec["parallelism"])
    completions = parallelism if spec.get("completions") is None else int(spec["completions"])
    least = annotations_of(job).get(MIN_PARALLELISM)
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    return {
        "name": "main",
        "count": min(parallelism, completions),
        "template": template,
        "minCount": int(least) if least else None,
        "topologyRequest": annotated_topology(annotations),
    }


def queue_name(job: Manifest, *, has_default: bool) -> str | None:
    """Return the LocalQueue that a Job names, or the default one; ``None`` if it is not queued."""
    return labels_of(job).get(QUEUE_LABEL) or (DEFAULT_QUEUE if has_default else None)


def suspended(job: Manifest) -> Manifest:
    """Return a Job as Kueue's webhook lets it be created."""
    return with_spec(job, suspend=True)


def started(job: Manifest, assignment: PodSetAssignment, flavors: Mapping[str, ResourceFlavor]) -> Manifest:
    """Return a Job unsuspended, its pods bound for the flavors that it was admitted with."""
    spec = spec_of(job)
    template = pod_template(spec.get("template") or {}, assignment, flavors)
    changes: dict[str, Any] = {"suspend": False, "template": template}
    if annotations_of(job).get(MIN_PARALLELISM):
        changes |= _counts(job, assignment.count)
    return with_spec(job, **changes)


def _counts(job: Manifest, count: int) -> dict[str, int]:
    whole = {"parallelism": count}
    return {**whole, "completions": count} if annotations_of(job).get(COMPLETIONS_EQUAL) == "true" else whole


def pod_template(
    template: Mapping[str, Any], assignment: PodSetAssignment, flavors: Mapping[str, ResourceFlavor]
) -> dict[str, Any]:
    """Return a pod template with the node labels and tolerations of the assigned flavors (podset.Merge)."""
    spec = dict(template.get("spec") or {})
    used = [flavors[name] for name in sorted(set(assignment.flavors.values())) if name in flavors]
    selector = dict(spec.get("nodeSelector") or {})
    tolerations = list(spec.get("tolerations") or ())
    for flavor in used:
        selector |= flavor.node_labels
        tolerations += [dict(one) for one in flavor.tolerations if one not in tolerations]
    if selector:
        spec["nodeSelector"] = selector
    if tolerations:
        spec["tolerations"] = tolerations
    if assignment.topology is None:
        return {**template, "spec": spec}
    spec["schedulingGates"] = [*(spec.get("schedulingGates") or ()), {"name": TOPOLOGY_GATE}]
    return {**_annotated(template), "spec": spec}


def _annotated(template: Mapping[str, Any]) -> dict[str, Any]:
    meta = template.get("metadata") or {}
    annotations = meta.get("annotations") or {}
    if annotated_topology(annotations):
        return dict(template)
    return {**template, "metadata": {**meta, "annotations": {**annotations, UNCONSTRAINED: "true"}}}


def stopped(job: Manifest, pod_set: PodSet) -> Manifest:
    """Return a Job suspended, as it was before it started."""
    changes: dict[str, Any] = {"suspend": True, "template": dict(pod_set.template)}
    if annotations_of(job).get(MIN_PARALLELISM):
        changes |= _counts(job, pod_set.count)
    return with_spec(job, **changes)
