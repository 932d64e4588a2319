"""A recorded object reduced to what scheduling reads; heartbeats and bookkeeping are no changes then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.recorded_decisions import RESULT_PREFIXES

_META = ("name", "namespace", "uid", "labels", "annotations", "ownerReferences", "deletionTimestamp")
# The fields of a status that the readers of each kind read; none for other kinds.
_STATUS: Mapping[str, tuple[str, ...]] = {
    "Node": ("capacity", "allocatable", "conditions", "images"),
    "PersistentVolume": ("phase",),
    "PersistentVolumeClaim": ("phase", "capacity"),
    "PodDisruptionBudget": ("disruptionsAllowed",),
}
_WHOLE_STATUS = ("PodGroup",)
_ENDED = ("Succeeded", "Failed")


def tidied(document: Mapping[str, Any], *, bare: bool = False) -> dict[str, Any]:
    """Return the parts of a manifest that scheduling reads; ``bare`` removes what binding wrote to a pod.

    Parts of an unexpected type are not changed, and rejected when they are read.
    """
    kind = str(document.get("kind"))
    out = {key: value for key, value in document.items() if key not in ("metadata", "status")}
    metadata = document.get("metadata")
    out["metadata"] = metadata
    if isinstance(metadata, Mapping):
        out["metadata"] = kept = {key: metadata[key] for key in _META if metadata.get(key) is not None}
        if isinstance(kept.get("annotations"), Mapping):
            annotations = kept["annotations"].items()
            kept["annotations"] = {k: v for k, v in annotations if not str(k).startswith(RESULT_PREFIXES)}
            if not kept["annotations"]:
                del kept["annotations"]
    spec = document.get("spec")
    if isinstance(spec, Mapping):
        out["spec"] = {key: value for key, value in spec.items() if not (bare and key == "nodeName")}
    status = document.get("status")
    if not isinstance(status, Mapping):
        return out if status is None else {**out, "status": status}
    if kind in _WHOLE_STATUS:
        out["status"] = dict(status)
    elif kind == "Pod":
        if status.get("phase") in _ENDED:
            out["status"] = {"phase": status["phase"]}
    else:
        read = {key: status[key] for key in _STATUS.get(kind, ()) if status.get(key) is not None}
        if isinstance(read.get("conditions"), list):
            read["conditions"] = [_condition(item) for item in read["conditions"]]
        if read:
            out["status"] = read
    return out


def _condition(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    return {key: item[key] for key in ("type", "status") if key in item}
