"""The template that pods were made of: their spec and metadata, without what the cluster has added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.cluster.v1_37.defaults import NOT_READY, TOLERATION_SECONDS, UNREACHABLE
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    clone,
    labels_of,
    name_of,
    spec_of,
)
from scheduler_core.cluster.v1_37.template_defaults import defaulted

_ADDED = (
    "nodeName",
    "priority",
    "preemptionPolicy",
    "serviceAccount",
    "schedulingGates",
    "ephemeralContainers",
    "enableServiceLinks",
)
"""Fields of a pod's spec that the cluster fills."""
_ACCOUNT = "kube-api-access-"
"""What the names of the volumes begin with that admission adds for the service account."""
_LABELS = frozenset((
    "pod-template-hash", "controller-revision-hash", "pod-template-generation",
    "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "controller-uid", "job-name",
))  # fmt: skip
_LABEL_PREFIX = "batch.kubernetes.io/"
_ANNOTATION_PREFIXES = ("kubernetes.io/config.", "cni.", "batch.kubernetes.io/")


def own_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels without those that controllers add to pods."""
    return {
        key: value
        for key, value in labels.items()
        if key not in _LABELS and not key.startswith(_LABEL_PREFIX)
    }


def template_of(pod: Manifest, **without: Any) -> Manifest:
    """Return the template of a pod, with the API's defaults; ``without`` replaces fields of its spec."""
    spec = {key: value for key, value in clone(spec_of(pod)).items() if key not in _ADDED}
    _strip_account(spec)
    if not spec.get("priorityClassName") and spec_of(pod).get("priority"):
        spec["priority"] = spec_of(pod)["priority"]
    spec["tolerations"] = [one for one in spec.get("tolerations") or () if not _is_default(one)]
    spec |= without
    metadata: dict[str, Any] = {"labels": own_labels(labels_of(pod))}
    if marks := _own_annotations(pod):
        metadata["annotations"] = marks
    kept = {key: value for key, value in spec.items() if value not in (None, [])}
    return defaulted({"metadata": metadata, "spec": kept})


def without_name(pod: Manifest) -> dict[str, Any]:
    """Return the fields that a StatefulSet gave a pod, removed: its name, its domain, its own claims."""
    volumes = [
        one
        for one in spec_of(pod).get("volumes") or ()
        if not one["name"].startswith(_ACCOUNT) and claim_of(pod, one) is None
    ]
    spec: dict[str, Any] = {"volumes": volumes}
    if spec_of(pod).get("hostname") == name_of(pod):
        spec |= {"hostname": None, "subdomain": None}
    return spec


def claim_of(pod: Manifest, volume: Mapping[str, Any]) -> str | None:
    """Return the claim of a volume that a StatefulSet's claim template has given a pod."""
    claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
    return claim if claim == f"{volume['name']}-{name_of(pod)}" else None


def _own_annotations(pod: Manifest) -> dict[str, str]:
    marks = annotations_of(pod)
    return {key: value for key, value in marks.items() if not key.startswith(_ANNOTATION_PREFIXES)}


def _strip_account(spec: dict[str, Any]) -> None:
    """Remove what admission has added for the service account."""
    if spec.get("serviceAccountName") == "default":
        del spec["serviceAccountName"]
    spec["volumes"] = [one for one in spec.get("volumes") or () if not one["name"].startswith(_ACCOUNT)]
    for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
        mounts = [
            one for one in container.pop("volumeMounts", ()) if not str(one["name"]).startswith(_ACCOUNT)
        ]
        if mounts:
            container["volumeMounts"] = mounts


def _is_default(toleration: Mapping[str, Any]) -> bool:
    """Return whether a toleration is one that DefaultTolerationSeconds has added."""
    return (
        toleration.get("key") in (NOT_READY, UNREACHABLE)
        and toleration.get("effect") == "NoExecute"
        and toleration.get("tolerationSeconds") == TOLERATION_SECONDS
    )
