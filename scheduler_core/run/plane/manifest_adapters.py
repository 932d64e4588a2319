"""Manifests of users and the scheduler as the control plane of v1.37 takes them."""

from __future__ import annotations

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    owners_of,
    spec_of,
    status_of,
    with_condition,
    with_meta,
    with_spec,
    with_status,
)
from scheduler_core.kubernetes.keys import Key


def inbound(manifest: Manifest, known: dict[Key, str]) -> Manifest:
    """Return a user's manifest as the API server and the kubelets take it."""
    meta = manifest["metadata"]
    if meta.get("ownerReferences"):
        namespace = meta.get("namespace")
        owners = [
            {"uid": known.get((one["kind"], f"{namespace}/{one['name']}"), ""), **one}
            for one in meta["ownerReferences"]
        ]
        manifest = with_meta(manifest, ownerReferences=owners)
    adapt = _ADAPTED.get(manifest["kind"])
    return manifest if adapt is None else adapt(manifest)


def _ending_job(job: Manifest) -> Manifest:
    """Return a Job whose pods end: the API wants a restartPolicy, which a bundle may lack."""
    template = spec_of(job).get("template") or {}
    spec = {"restartPolicy": "Never", **spec_of(template)}
    return with_spec(job, template={**template, "spec": spec})


def _with_selector(controller: Manifest) -> Manifest:
    """Return a ReplicationController with a ReplicaSet's selector, by default its template's labels."""
    spec = spec_of(controller)
    labels = spec.get("selector") or ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    return with_spec(controller, selector={"matchLabels": labels})


def _as_kubelet_has_it(pod: Manifest) -> Manifest:
    """Return a pod that ends for good if nothing says what follows, and is ready if it runs."""
    spec, status = spec_of(pod), status_of(pod)
    if not spec.get("restartPolicy") and not owners_of(pod):
        pod = with_spec(pod, restartPolicy="Never")
    conditions = status.get("conditions") or []
    if status.get("phase") != "Running" or any(one["type"] == "Ready" for one in conditions):
        return pod
    at = status.get("startTime") or pod["metadata"].get("creationTimestamp")
    row = {"type": "Ready", "status": "True", "lastTransitionTime": at}
    return with_status(pod, {**status, "conditions": with_condition(conditions, row)})


_ADAPTED = {
    "Pod": _as_kubelet_has_it,
    "Job": _ending_job,
    "ReplicationController": _with_selector,
}


def on_stored(stored: Manifest, wanted: Manifest) -> Manifest:
    """Return a user's version of an object with what only the API server sets."""
    kept = ("resourceVersion", "generation", "creationTimestamp", "uid", "finalizers")
    meta = {name: stored["metadata"][name] for name in kept if name in stored["metadata"]}
    return {**wanted, "metadata": {**wanted["metadata"], **meta}}
