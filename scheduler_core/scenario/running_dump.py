"""Whether a bundle is the dump of a cluster that runs, when it was taken, and what its controllers assume."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from scheduler_core.kubernetes.fields_workload import WORKLOADS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.times import seconds_of
from scheduler_core.scenario.scenario import Scenario

if TYPE_CHECKING:
    from scheduler_core.cluster.reconstruction.completion import Completion

NAMED = 200  # objects a warning
_MAKERS = frozenset((*WORKLOADS, "ReplicaSet", "CronJob"))
STORED = _MAKERS | {
    "Pod", "Node", "ControllerRevision", "PodDisruptionBudget", "PersistentVolume", "PersistentVolumeClaim",
    "StorageClass", "PriorityClass",
}  # fmt: skip
"""The kinds of which a control plane stores what a dump has."""
_KUBELETS = ("startTime", "hostIP", "podIP")
"""What a kubelet writes to the status of each pod that it runs."""


def dumped_objects(documents: Iterable[Document], *, said: bool) -> list[dict[str, Any]] | None:
    """Return the objects of a cluster whose pods run and name their controllers; ``None`` for another bundle.

    A pod with a status that somebody has written does not make it one: an API server gives a pod uid and
    time, and a kubelet says since when and where it runs. Workloads without a uid, and pods without one that
    have no status, are yet to be created. ``said``: the settings call it a dump.
    """
    found = [dict(one) for one in documents if one.get("kind") in STORED and not _is_new(one)]
    nodes = any(one["kind"] == "Node" for one in found)
    return found if nodes and (said or any(map(_runs, found))) else None


def assumptions(objects: Iterable[dict[str, Any]]) -> Iterator[Problem]:
    """Yield a warning of each thing, or of many alike, that controllers assume of a dump.

    At most :data:`NAMED` are named of those that are alike.
    """
    from scheduler_core.cluster.reconstruction.completion import completed  # few scenarios need it
    from scheduler_core.cluster.reconstruction.notes import summed_up

    for text, details, lacks in summed_up(completed(objects).notes):
        left = len(details) - NAMED
        more = (f"and {left:,} more",) if left > 0 else ()
        yield Problem(text, incomplete=lacks, details=(*details[:NAMED], *more))


def running_dump(scenario: Scenario) -> Completion | None:
    """Return the objects of a running cluster that was dumped, completed; ``None`` for another bundle."""
    from scheduler_core.cluster.reconstruction.completion import Completion, completed

    objects, said = _dumped(scenario), scenario.settings.dump
    if objects is None:
        return None
    return Completion(objects, [], frozenset()) if said is not None and said.complete else completed(objects)


def taken_at(scenario: Scenario) -> float | None:
    """Return when a running cluster was dumped, in seconds since 1970; ``None`` for another bundle.

    It is what the settings say, or the latest time in the dump.
    """
    objects = _dumped(scenario)
    if objects is None:
        return None
    given = scenario.settings.dump
    said = None if given is None else seconds_of(given.taken_at or None)
    latest = max(filter(None, map(seconds_of, _times(objects))), default=None)
    return said if said is not None else latest


def _dumped(scenario: Scenario) -> list[dict[str, Any]] | None:
    return dumped_objects(scenario.documents, said=scenario.settings.dump is not None)


def _is_new(one: Mapping[str, Any]) -> bool:
    if _meta(one).get("uid"):
        return False
    return one["kind"] in _MAKERS or (one["kind"] == "Pod" and not _part(one, "status").get("phase"))


def _runs(one: Mapping[str, Any]) -> bool:
    """Return whether it is a pod that a kubelet runs for a controller, as an API server gives it."""
    owners = _meta(one).get("ownerReferences")
    listed = [each for each in owners if isinstance(each, Mapping)] if isinstance(owners, list) else []
    known = any(each.get("controller") and each.get("uid") for each in listed)
    running = _part(one, "status").get("phase") == "Running" and _part(one, "spec").get("nodeName")
    return bool(one["kind"] == "Pod" and known and running and _is_served(one))


def _is_served(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod bears what an API server gives each object, and a kubelet its status."""
    meta, status = _meta(pod), _part(pod, "status")
    stored = meta.get("uid") and (meta.get("creationTimestamp") or meta.get("resourceVersion"))
    return bool(stored and any(status.get(name) for name in _KUBELETS))


def _meta(one: Mapping[str, Any]) -> Mapping[str, Any]:
    return _part(one, "metadata")


def _part(one: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = one.get(name)
    return found if isinstance(found, Mapping) else {}


def _times(value: Any) -> Iterator[str]:
    """Yield the texts of metadata, spec and status that look like times."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _times(part)
    elif isinstance(value, list):
        for part in value:
            yield from _times(part)
    elif isinstance(value, str) and value[10:11] == "T" and value.endswith("Z"):
        yield value
