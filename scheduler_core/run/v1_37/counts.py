"""What pods count for on their nodes under v1.37, where that is more than the sum of their containers.

Tables of a page need it before anything runs, for pods of the start and those that operations create.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.model import Pod
from scheduler_core.run.v1_37.manifests import document_of, manifest_of
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_37.pods import CompiledPod

_OWN = ("initContainers", "overhead", "resources")
_REPORTED = ("resources", "allocatedResources")
_STATUSES = ("containerStatuses", "initContainerStatuses")


def unusual_usages(scenario: Scenario) -> dict[str, dict[str, int]]:
    """Return by pod what it holds (NodeInfo.AddPod): millicores of cpu, else base units.

    Pods that hold what their containers request are left out.
    """
    listed = [*scenario.objects, *(one.object for one in scenario.operations)]
    pods = [one for one in listed if isinstance(one, Pod)]
    written = {id(pod.meta.written): document_of(pod) for pod in pods}  # one for all pods of a template
    unusual = {key for key, document in written.items() if _may_count_more(document)}
    if not unusual:
        return {}
    first = {pod.meta.key: pod for pod in reversed(pods)}  # as each is at first
    compiled = (CompiledPod(manifest_of(pod)) for pod in first.values() if id(pod.meta.written) in unusual)
    return {pod.key: dict(pod.held) for pod in compiled if pod.counts_more}


def _may_count_more(document: Mapping[str, Any]) -> bool:
    """Return whether a pod's document sets fields that few have: there may be a hundred thousand pods."""
    spec, status = document.get("spec"), document.get("status")
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
