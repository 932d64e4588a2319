"""What waits for its admission by Kueue in a cluster, and is scheduled here at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.cluster.kueue.objects import POD_GROUP_LABEL
from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import Decoded
from scheduler_core.formats.problems import problems_of
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Pod, Workload
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import At, Report, owner_of
from scheduler_core.kubernetes.support import part_of

QUEUE_NAME = "kueue.x-k8s.io/queue-name"
"""The label that leaves it to Kueue when an object's pods may run."""

GROUP = "kueue.x-k8s.io"
NOT_SIMULATED = "admission by Kueue is not simulated"
DEFAULT_QUEUE = "default"
"""The LocalQueue of a namespace that Jobs without the label go to (LocalQueueDefaulting)."""

OPERATED = frozenset((
    "Topology", "ResourceFlavor", "AdmissionCheck", "Cohort", "ClusterQueue", "LocalQueue",
    "WorkloadPriorityClass", "Workload",
))  # fmt: skip
"""The kinds of Kueue's own."""


WORKLOAD_LISTS = {"conditions": "type", "admissionChecks": "name", "reclaimablePods": "name"}
"""The lists of a Workload's status that operations write, each with the field that names a row.

A patch's rows replace those of their names, as a server-side apply's do.
"""


def is_of_kueue(api_version: object) -> bool:
    """Return whether an apiVersion is of one of Kueue's groups."""
    group = str(api_version).partition("/")[0]
    return group == GROUP or group.endswith(f".{GROUP}")


def is_operated(manifest: Mapping[str, Any]) -> bool:
    """Return whether operations may change an object: it is of a kind of Kueue's own."""
    return manifest.get("kind") in OPERATED and is_of_kueue(manifest.get("apiVersion"))


class KueueSetup(Struct, frozen=True):
    """The manifests that Kueue reads, and its Configuration, if the bundle has one."""

    documents: tuple[Document, ...]
    configuration: Document | None = None


def has_queues(ignored: Iterable[BundleEntry]) -> bool:
    """Return whether a bundle says what Kueue has to give: it has a ClusterQueue."""
    return any(one.kind == "ClusterQueue" and is_of_kueue(one.value.get("apiVersion")) for one in ignored)


def waits_for_kueue(
    decoded: Iterable[Decoded], ignored: Iterable[BundleEntry], report: Report, *, is_simulated: bool = False
) -> Iterator[Problem]:
    """Yield a warning with the number of pods that Kueue would have to admit before they are scheduled.

    Where Kueue ``is_simulated`` it holds Jobs and pods by themselves, and the warning is of the others.
    """
    listed = list(decoded)
    defaults = {
        str(part_of(one.value, "metadata", "namespace") or "default")
        for one in ignored
        if one.kind == "LocalQueue" and part_of(one.value, "metadata", "name") == DEFAULT_QUEUE
    }
    queued = [one for one in listed if _is_queued(one, defaults)]
    if is_simulated:
        yield from _of_groups(queued, report)
        queued = [one for one in queued if not _is_held(one)]
    placed = _placed_by_owner(listed)
    counts = [(one, _waiting(one, placed)) for one in queued]
    pods = sum(count for _, count in counts)
    if not queued:
        return
    first = next((one for one, count in counts if count), queued[0])
    at = At(report, None, first.entry).child("metadata").child("labels")
    what = (
        "this pod would" if pods == 1 else f"these {pods:,} pods would" if pods else "what it suspends would"
    )
    objects = f"{first.object.meta.key}{f' and {len(queued) - 1:,} more' if len(queued) > 1 else ''}"
    whose = "admission by Kueue is simulated of Jobs and single pods alone" if is_simulated else NOT_SIMULATED
    text = f"{whose}; {what} wait for it, for quota in a queue ({first.entry.kind} {objects})"
    (problem,) = problems_of([(at, text)])
    yield replace(problem, about=tuple(owner_of(one.entry.value) for one in queued))


def _of_groups(queued: Iterable[Decoded], report: Report) -> Iterator[Problem]:
    """Yield a warning about pods that Kueue would admit together."""
    grouped = [one for one in queued if one.entry.kind == "Pod" and POD_GROUP_LABEL in one.object.meta.labels]
    if not grouped:
        return
    groups = {(one.object.meta.namespace, one.object.meta.labels[POD_GROUP_LABEL]) for one in grouped}
    space, name = min(groups)
    more = f" and {len(groups) - 1:,} more" if len(groups) > 1 else ""
    text = (
        f"pod groups of Kueue are not simulated: the {len(grouped):,} pods of {space}/{name}{more} are "
        "admitted one by one, where Kueue admits all pods of a group or none"
    )
    (problem,) = problems_of([(At(report, None, grouped[0].entry).child("metadata").child("labels"), text)])
    yield replace(problem, about=tuple(owner_of(one.entry.value) for one in grouped))


def _is_queued(one: Decoded, defaults: set[str]) -> bool:
    if not isinstance(one.object, (Pod, Workload)):
        return False
    by_default = one.entry.kind == "Job" and one.object.meta.namespace in defaults
    owned = any(owner.controller for owner in one.object.meta.owner_references)
    return not owned and (QUEUE_NAME in one.object.meta.labels or by_default or _queues_its_pods(one))


def _is_held(one: Decoded) -> bool:
    """Return whether Kueue holds an object, or each of its pods by itself."""
    return one.entry.kind in ("Job", "Pod") or _queues_its_pods(one)


def _queues_its_pods(one: Decoded) -> bool:
    """Return whether a controller's pods have the label; those of a Job are its own to admit."""
    template = one.object.template if isinstance(one.object, Workload) else None
    return template is not None and one.entry.kind != "Job" and QUEUE_NAME in template.meta.labels


def _placed_by_owner(decoded: Iterable[Decoded]) -> dict[tuple[str, str, str], int]:
    """Count the pods on nodes by their controllers, and by what controls those."""
    above: dict[tuple[str, str, str], tuple[str, str, str]] = {}
    found: dict[tuple[str, str, str], int] = {}
    for one in decoded:
        meta = one.object.meta
        for owner in meta.owner_references:
            if owner.controller:
                above[one.entry.kind, meta.namespace, meta.name] = owner.kind, meta.namespace, owner.name
    for one in decoded:
        if isinstance(one.object, Pod) and (one.object.node_name or one.object.terminal):
            key = above.get(("Pod", one.object.meta.namespace, one.object.meta.name))
            while key is not None:
                found[key] = found.get(key, 0) + 1
                key = above.get(key) if above.get(key) != key else None
    return found


def _waiting(one: Decoded, placed: dict[tuple[str, str, str], int]) -> int:
    obj = one.object
    if isinstance(obj, Workload):
        there = placed.get((one.entry.kind, obj.meta.namespace, obj.meta.name), 0)
        return max(0, obj.replicas - there)
    return int(isinstance(obj, Pod) and not obj.node_name and not obj.terminal)
