"""What pods count for on their nodes under v1.37, where that is more than the sum of their containers.

Tables of a page need it before anything runs, for pods of the start and those that operations create.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.kinds import KINDS, is_custom
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.model import Pod, Workload
from scheduler_core.run.v1_37.manifests import ScenarioManifests
from scheduler_core.scenario.history_entries import entries_of
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_37.pods import CompiledPod

_OWN = ("initContainers", "overhead", "resources")
_REPORTED = ("resources", "allocatedResources")
_NOTHING: Mapping[str, Any] = {}
_STATUSES = ("containerStatuses", "initContainerStatuses")


class _Workloads:
    """The workloads of a scenario's start, in whose templates pods are looked up."""

    def __init__(self) -> None:
        self._stored: dict[tuple[str, str, str], Manifest] = {}

    def put(self, manifest: Manifest) -> None:
        """Store a workload."""
        meta = manifest["metadata"]
        self._stored[manifest["kind"], str(meta.get("namespace") or "default"), meta["name"]] = manifest

    def get(self, kind: str, namespace: str | None, name: str) -> Manifest | None:
        """Return a workload."""
        return self._stored.get((kind, namespace or "default", name))

    def list(self, kind: str) -> Iterator[Manifest]:
        """Iterate over the workloads of a kind."""
        return (one for (of, _, _), one in self._stored.items() if of == kind)


def usages(scenario: Scenario) -> dict[str, dict[str, int]]:
    """Return by pod what it holds (NodeInfo.AddPod): millicores of cpu, else base units.

    Pods that hold what their containers request are left out.
    """
    given = chain(scenario.documents, _created(scenario))
    if not any(_may_count_more(_pod_of(one)) for one in given if _is_read(one)):
        return {}
    return {pod.key: dict(pod.held) for pod in _pods(scenario) if pod.counts_more}


def _is_read(document: Mapping[str, Any]) -> bool:
    return document.get("kind") in KINDS and not is_custom(document.get("apiVersion"))


def _created(scenario: Scenario) -> Iterator[Mapping[str, Any]]:
    for entry in entries_of(scenario.documents):
        made = (entry.get("createOperation") or {}).get("object")
        if isinstance(made, Mapping):
            yield made


def _pod_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a pod's document or the template of a workload's; empty for anything else."""
    spec = document.get("spec")
    if not isinstance(spec, Mapping):
        return _NOTHING
    if "containers" in spec:
        return document
    template = spec.get("template")
    return template if isinstance(template, Mapping) else _NOTHING


def _may_count_more(pod: Mapping[str, Any]) -> bool:
    """Return whether fields are set that few pods have: there may be a hundred thousand pods."""
    spec, status = pod.get("spec"), pod.get("status")
    if not spec:
        return False
    for name in _OWN:
        if spec.get(name):
            return True
    return _reports_more(spec, status) if status else False


def _reports_more(spec: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Return whether a status has more or less allocated or in use than is requested."""
    if any(status.get(name) for name in _REPORTED):
        return True
    entries = [entry for name in _STATUSES for entry in status.get(name) or ()]
    if not entries:
        return False
    containers = spec.get("containers") or ()
    asked = {one["name"]: (one.get("resources") or {}).get("requests") for one in containers}
    return any(
        found is not None and found != asked.get(entry.get("name"))
        for entry in entries
        for found in (entry.get("allocatedResources"), (entry.get("resources") or {}).get("requests"))
    )


def _pods(scenario: Scenario) -> Iterator[CompiledPod]:
    """Yield the pods of the start and of operations that may count for more."""
    manifests, workloads = ScenarioManifests(scenario), _Workloads()
    for obj in scenario.objects:
        if isinstance(obj, Workload):
            workloads.put(manifests.created(obj, manifests.written(obj), workloads))
        elif isinstance(obj, Pod):
            given = manifests.written(obj)
            if _may_count_more(given or _template(obj, workloads)):
                yield CompiledPod(manifests.created(obj, given, workloads))
    known = {key_of(obj) for obj in scenario.objects}
    for operation in scenario.operations:
        if isinstance(operation.object, Pod) and key_of(operation.object) not in known:
            made = manifests.changed(operation, workloads)
            if made is not None:
                yield CompiledPod(made)


def _template(pod: Pod, workloads: _Workloads) -> Mapping[str, Any]:
    owner = pod.meta.controller
    found = None if owner is None else workloads.get(owner.kind, pod.meta.namespace, owner.name)
    return _pod_of(found or {})
