"""The common changes of a live object's manifest, as a user would type them: cordon, taint, label.

Each is a function that changes a manifest in place; :data:`REVISIONS` lists the kinds it applies to.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.controllers.annotations import FAILS, RECOVERS, seconds
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.manifests import Manifest, part
from scheduler_core.kubernetes.quantity import parse_quantity

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
STATUSES = ("True", "False", "Unknown")
_TAINT = re.compile(r"([^=:\s]+)(?:=([^=:\s]*))?:(\w+)")
RESTARTED = "kubectl.kubernetes.io/restartedAt"
_COUNT = re.compile(r"\d{1,6}")


class RevisionError(ValueError):
    """The change cannot be made; the text explains what is valid."""


class Revision(Struct, frozen=True):
    """One change: its name, the kinds that it applies to, and its function of a key and a value."""

    name: str
    kinds: tuple[str, ...]
    change: Callable[[Manifest, str, str], None]


def revised(manifest: Mapping[str, Any], what: str, key: str, value: str) -> Manifest:
    """Return the manifest with a change applied. Raises RevisionError."""
    row = REVISIONS.get(what)
    if row is None:
        raise RevisionError(f"Unknown change {what[:40]!r}; it is one of {', '.join(REVISIONS)}.")
    kind = str(manifest.get("kind"))
    if kind not in row.kinds:
        raise RevisionError(f"{what} is for {' and '.join(row.kinds)}, not for a {kind[:40]}.")
    made: Manifest = copy.deepcopy(dict(manifest))
    row.change(made, key.strip(), value.strip())
    return made


def _cordon(node: Manifest, key: str, value: str) -> None:
    del key, value
    part(node, "spec")["unschedulable"] = True


def _uncordon(node: Manifest, key: str, value: str) -> None:
    del key, value
    part(node, "spec").pop("unschedulable", None)
    _tidy(node, "spec")


def _taint(node: Manifest, key: str, value: str) -> None:
    del value
    match = _TAINT.fullmatch(key)
    if match is None or match[3] not in EFFECTS:
        raise RevisionError(
            f"{key[:80]!r} is not a taint: write key=value:effect, the effect one of {', '.join(EFFECTS)}."
        )
    taint = {"key": match[1], **({"value": match[2]} if match[2] else {}), "effect": match[3]}
    listed = _taints(node)
    same = [n for n, old in enumerate(listed) if (old.get("key"), old.get("effect")) == (match[1], match[3])]
    if same:
        listed[same[0]] = taint
    else:
        listed.append(taint)
    part(node, "spec")["taints"] = listed


def _untaint(node: Manifest, key: str, value: str) -> None:
    del value
    listed = _taints(node)
    kept = [taint for taint in listed if _shown(taint) != key]
    if len(kept) == len(listed):
        raise RevisionError(f"The node has no taint {key[:80]!r}.")
    if kept:
        part(node, "spec")["taints"] = kept
    else:
        part(node, "spec").pop("taints")
        _tidy(node, "spec")


def _taints(node: Manifest) -> list[Manifest]:
    listed = (node.get("spec") or {}).get("taints") or []
    return [dict(taint) for taint in listed if isinstance(taint, Mapping)]


def _shown(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key')}{value}:{taint.get('effect')}"


def _label(manifest: Manifest, key: str, value: str) -> None:
    if not key:
        raise RevisionError("A label needs a key.")
    part(manifest, "metadata", "labels")[key] = value


def _unlabel(manifest: Manifest, key: str, value: str) -> None:
    del value
    labels = part(manifest, "metadata", "labels")
    if key not in labels:
        raise RevisionError(f"There is no label {key[:80]!r}.")
    del labels[key]
    if not labels:
        del manifest["metadata"]["labels"]


def _allocatable(node: Manifest, key: str, value: str) -> None:
    if not key:
        raise RevisionError("Name a resource, such as cpu or memory.")
    try:
        parse_quantity(value)
    except ValueError as error:
        raise RevisionError(
            f"{value[:40]!r} is not a quantity: write 4, 500m or 8Gi, for example."
        ) from error
    status = part(node, "status")
    if not isinstance(status.get("allocatable"), Mapping):
        status["allocatable"] = dict(status.get("capacity") or {})
    status["allocatable"][key] = value


def _condition(node: Manifest, key: str, value: str) -> None:
    if not key or value not in STATUSES:
        raise RevisionError(
            f"A condition, such as MemoryPressure, is {' or '.join(STATUSES)}, not {value[:40]!r}."
        )
    status = part(node, "status")
    listed = [dict(item) for item in status.get("conditions") or [] if isinstance(item, Mapping)]
    found = next((item for item in listed if item.get("type") == key), None)
    if found is None:
        listed.append({"type": key, "status": value})
    else:
        found["status"] = value
    status["conditions"] = listed


def _annotated(annotation: str) -> Callable[[Manifest, str, str], None]:
    """Return the change that sets an annotation to a time in virtual seconds; an empty value removes it."""

    def change(node: Manifest, key: str, value: str) -> None:
        del key
        if value and seconds(value) is None:
            raise RevisionError(
                f"{value[:40]!r} is not a time in virtual seconds: write 60 or 90.5, for example."
            )
        annotations = part(node, "metadata", "annotations")
        annotations.pop(annotation, None)
        if value:
            annotations[annotation] = value
        _tidy(node["metadata"], "annotations")

    return change


def _replicas(workload: Manifest, key: str, value: str) -> None:
    del key
    if not _COUNT.fullmatch(value):
        raise RevisionError(f"{value[:40]!r} is not a number of replicas: write an integer of at least 0.")
    part(workload, "spec")["parallelism" if workload["kind"] == "Job" else "replicas"] = int(value)


def _tidy(manifest: Manifest, field: str) -> None:
    if not manifest[field]:
        del manifest[field]


_SCALED = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "Job")
REVISIONS: Mapping[str, Revision] = {
    row.name: row
    for row in (
        Revision("cordon", ("Node",), _cordon),
        Revision("uncordon", ("Node",), _uncordon),
        Revision("taint", ("Node",), _taint),
        Revision("untaint", ("Node",), _untaint),
        Revision("label", tuple(KINDS), _label),
        Revision("unlabel", tuple(KINDS), _unlabel),
        Revision("allocatable", ("Node",), _allocatable),
        Revision("condition", ("Node",), _condition),
        Revision("fails", ("Node",), _annotated(FAILS)),
        Revision("recovers", ("Node",), _annotated(RECOVERS)),
        Revision("replicas", _SCALED, _replicas),
    )
}
"""The changes with a control in the user interface; everything else is typed."""
