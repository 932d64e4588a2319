"""Plain pods that Kueue manages: the gate that holds them, their Workloads, and how they are let go."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1
from typing import Any

from scheduler_core.cluster.kueue.jobs import pod_template
from scheduler_core.cluster.kueue.objects import JOB_UID_LABEL, POD_GROUP_LABEL, QUEUE_LABEL, ResourceFlavor
from scheduler_core.cluster.kueue.reader import annotated_topology, read_pod_sets
from scheduler_core.cluster.kueue.workload import PodSetAssignment, Workload
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    node_of,
    spec_of,
    uid_of,
    with_meta,
    with_spec,
)

GATE = "kueue.x-k8s.io/admission"
MANAGED = "kueue.x-k8s.io/managed"
_LONGEST_PREFIX = 247


def is_gated(pod: Manifest) -> bool:
    """Return whether a pod waits for its admission."""
    return any(one.get("name") == GATE for one in spec_of(pod).get("schedulingGates") or ())


def is_managed(pod: Manifest) -> bool:
    """Return whether Kueue made a pod wait when it was created."""
    return labels_of(pod).get(MANAGED) == "true"


def gated(pod: Manifest) -> Manifest:
    """Return a pod as Kueue's webhook lets it be created."""
    if node_of(pod) or is_gated(pod):
        return pod
    gates = [*(spec_of(pod).get("schedulingGates") or ()), {"name": GATE}]
    return with_spec(with_meta(pod, labels={**labels_of(pod), MANAGED: "true"}), schedulingGates=gates)


def let_go(pod: Manifest, assignment: PodSetAssignment, flavors: Mapping[str, ResourceFlavor]) -> Manifest:
    """Return a pod without its gate, bound for the flavors that it was admitted with."""
    made = pod_template({"spec": spec_of(pod)}, assignment, flavors)["spec"]
    gates = [one for one in made.get("schedulingGates") or () if one.get("name") != GATE]
    changes: dict[str, Any] = {"schedulingGates": gates or None}
    changes |= {name: made[name] for name in ("nodeSelector", "tolerations") if made.get(name)}
    return with_spec(pod, **changes)


def _group(pod: Manifest) -> dict[str, str]:
    return {key: value for key, value in labels_of(pod).items() if key == POD_GROUP_LABEL}


def pod_workload(pod: Manifest, now: float) -> Workload:
    """Return the Workload that Kueue makes for a pod by itself."""
    text = f"Pod\n\n{name_of(pod)}\n{uid_of(pod)}"
    digest = sha1(text.encode(), usedforsecurity=False).hexdigest()[:5]
    key = f"{namespace_of(pod) or 'default'}/{f'pod-{name_of(pod)}'[:_LONGEST_PREFIX]}-{digest}"
    spec = {name: part for name, part in spec_of(pod).items() if name != "schedulingGates"}
    request = annotated_topology(annotations_of(pod))
    row = {"name": "main", "count": 1, "template": {"spec": spec}, "topologyRequest": request}
    return Workload(
        key=key,
        uid=f"uid-{key}",
        created=now,
        queue=labels_of(pod)[QUEUE_LABEL],
        priority=int(spec_of(pod).get("priority") or 0),
        pod_sets=read_pod_sets({"podSets": [row]}),
        labels={JOB_UID_LABEL: uid_of(pod), **_group(pod)},
        owner=f"Pod {name_of(pod)}",
    )
