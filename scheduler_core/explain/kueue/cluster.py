"""Kueue's state over the objects of a cluster: as a dump has it, or as it comes to rest with new objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.kueue.acceptance import WRONG, check_configuration, refusals
from scheduler_core.cluster.kueue.configuration import left_out, read_configuration
from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.job_control import JobControl
from scheduler_core.cluster.kueue.jobs import Priorities
from scheduler_core.cluster.kueue.objects import POD_GROUP_LABEL, QUEUE_LABEL
from scheduler_core.cluster.kueue.pods import pod_workload
from scheduler_core.cluster.kueue.workload import (
    EVICTED,
    FINISHED,
    QUOTA_RESERVED,
    Workload,
    read_workload,
)
from scheduler_core.cluster.kueue.writes import HANDLERS, key_for, put
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    is_finished,
    labels_of,
    name_of,
    namespace_of,
    node_of,
    status_of,
    with_meta,
)
from scheduler_core.explain.explanation import ExplainError
from scheduler_core.explain.kueue.trials import IN_ONE_MOMENT, stopped_at_once
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_documents import read_documents
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.support import part_of
from scheduler_core.kubernetes.times import seconds_of

CONFIGURATION_GROUP = "config.kueue.x-k8s.io/"
MANAGER_CONFIG = "controller_manager_config.yaml"
_LIMITS = Limits(size=200_000, documents=5, values=20_000)
_ORDER = ("PriorityClass", "WorkloadPriorityClass", *HANDLERS, "Workload", "Job")
"""The kinds in the order in which they are read, whatever the order of the documents."""


class KueueCluster(Struct, frozen=True):
    """Kueue over a cluster's objects; ``notes`` name what of them is not simulated."""

    control: Control
    jobs: JobControl
    documents: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]

    def submitted(self, documents: Iterable[Mapping[str, Any]]) -> list[Workload]:
        """Return the Workloads of new objects as they are created, of which the state here knows nothing."""
        return new_workloads(self.control, self.jobs.priorities, documents)

    def workload_of(self, kind: str, key: str) -> str:
        """Return the key of the Workload of an object: itself, or that of a Job or of a pod's owner.

        Raises:
            ExplainError: Kueue has no Workload for it.
        """
        if kind == "Workload" and key in self.control.workloads:
            return key
        namespace, _, name = key.partition("/")
        owner = f"{kind} {name}"
        if kind == "Pod":
            owner = self._owner_of_pod(key) or owner
        for one in self.control.workloads.values():
            if one.namespace == namespace and one.owner == owner:
                return one.key
        known = [
            one.key if kind == "Workload" else f"{one.namespace}/{one.owner.partition(' ')[2]}"
            for one in self.control.workloads.values()
        ]
        raise ExplainError(f"Kueue has no Workload for {kind} {key!r}{did_you_mean(key, known)}", "workload")

    def _owner_of_pod(self, key: str) -> str:
        for pod in self.documents:
            if pod.get("kind") == "Pod" and key_for("Pod", dict(pod)) == key:
                owner = controller_of(dict(pod))
                return f"{owner['kind']} {owner['name']}" if owner else ""
        return ""


def new_workloads(
    control: Control, priorities: Priorities, documents: Iterable[Mapping[str, Any]]
) -> list[Workload]:
    """Return the Workloads of new Jobs and Workloads as they are created, of which the state has none."""
    copy = control.copy(stopped_at_once)
    jobs = JobControl(copy)
    jobs.priorities = priorities
    for manifest in documents:
        if manifest.get("kind") in ("Job", "Workload"):
            for text in refusals(dict(manifest)):
                raise ExplainError(f"the API server refuses this {manifest['kind']}: {text}", "manifest")
            _read(copy, jobs, dict(manifest))
    return [one for key, one in copy.workloads.items() if key not in control.workloads]


def manifests_in(text: str) -> list[Mapping[str, Any]]:
    """Return the documents of a YAML text.

    Raises:
        ExplainError: It cannot be read, or is too large.
    """
    try:
        found = [value for _, value in read_documents(text, _LIMITS, ValueTally(_LIMITS))]
    except FormatError as error:
        raise ExplainError(f"the manifest cannot be read: {error}", "manifest") from error
    listed = [value for value in found if isinstance(value, Mapping) and _is_named(value)]
    if len(listed) != len(found):
        raise ExplainError("each document must have a kind and metadata.name", "manifest")
    return listed


def _is_named(value: Mapping[str, Any]) -> bool:
    meta = value.get("metadata")
    return (
        isinstance(value.get("kind"), str) and isinstance(meta, Mapping) and isinstance(meta.get("name"), str)
    )


def has_kueue(documents: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a cluster has queues of Kueue."""
    return any(one.get("kind") == "ClusterQueue" for one in documents)


def kueue_over(documents: Iterable[Mapping[str, Any]]) -> KueueCluster:
    """Return Kueue over objects, at the latest time that they name, once nothing changes any more.

    Statuses that they have count: a Workload that is evicted and holds quota has not stopped. Jobs and
    Workloads without one are queued in the order of the documents.
    """
    notes = unsimulated_settings(documents)
    listed = _accepted(documents, notes)
    configurations = list(_configurations(documents))
    stopping = {key_for("Workload", one) for one in listed if one["kind"] == "Workload" and _is_stopping(one)}
    control = Control(
        read_configuration(configurations[0] if configurations else None),
        _latest(listed),
        lambda one: None if one.key in stopping else stopped_at_once(one),
    )
    jobs = JobControl(control)
    for manifest in listed:
        _read(control, jobs, manifest)
    _queue_pods(control, listed)
    _rest(control, jobs)
    return KueueCluster(control, jobs, tuple(documents), tuple(notes))


def unsimulated_settings(documents: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what Kueue's Configuration asks for and is not simulated, each named."""
    return [f"not simulated: {text}" for one in _configurations(documents) for text in left_out(one)]


def _queue_pods(control: Control, listed: Iterable[Manifest]) -> None:
    """Queue pods by themselves that have no Workload yet; one of a group has the group's name."""
    for pod in listed:
        if pod["kind"] != "Pod" or QUEUE_LABEL not in labels_of(pod) or node_of(pod) or controller_of(pod):
            continue
        uid = pod["metadata"].get("uid") or f"uid-{key_for('Pod', pod)}"
        made = pod_workload(with_meta(pod, uid=uid), control.now)
        group = f"{made.namespace}/{labels_of(pod).get(POD_GROUP_LABEL)}"
        if not is_finished(pod) and control.workloads.keys().isdisjoint((made.key, group)):
            control.write(made)
    control.settle()


def _configurations(documents: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield Kueue's Configuration, by itself or as its manager's ConfigMap has it."""
    for one in documents:
        if str(one.get("apiVersion")).startswith(CONFIGURATION_GROUP) and one.get("kind") == "Configuration":
            yield from _readable(one)
        text = (one.get("data") or {}).get(MANAGER_CONFIG) if one.get("kind") == "ConfigMap" else None
        yield from _parsed(text) if isinstance(text, str) else ()


def _parsed(text: str) -> Iterator[Mapping[str, Any]]:
    try:
        found = [value for _, value in read_documents(text, _LIMITS, ValueTally(_LIMITS))]
    except FormatError:
        return  # what cannot be read configures nothing
    for value in found:
        yield from _readable(value)


def _readable(configuration: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a Configuration that can be read; of any other the defaults are used."""
    try:
        check_configuration(configuration)
        list(left_out(configuration))
    except WRONG:
        return
    yield configuration


def _accepted(documents: Iterable[Mapping[str, Any]], notes: list[str]) -> list[Manifest]:
    """Return the objects that Kueue reads, in the order of their kinds; ``notes`` get those refused."""
    known = [dict(one) for one in documents if one.get("kind") in _ORDER]
    kept = []
    for one in sorted(known, key=lambda one: _ORDER.index(one["kind"])):
        found = refusals(one)
        if found:
            name = part_of(one, "metadata", "name")
            notes.append(f"{one['kind']} {name} is refused by the API server and left out: {found[0]}")
        else:
            kept.append(one)
    return kept


def _is_stopping(workload: Manifest) -> bool:
    """Return whether a Workload's job was stopping when its status was written."""
    conditions = status_of(workload).get("conditions") or ()
    true = {one.get("type") for one in conditions if one.get("status") == "True"}
    return true >= {EVICTED, QUOTA_RESERVED} and FINISHED not in true


def _latest(documents: Iterable[Manifest]) -> float:
    times = [seconds_of(text) for one in documents for text in _times(one)]
    return max((time for time in times if time is not None), default=0.0)


def _times(manifest: Manifest) -> Iterator[str | None]:
    yield (manifest.get("metadata") or {}).get("creationTimestamp")
    for one in (manifest.get("status") or {}).get("conditions") or ():
        yield one.get("lastTransitionTime")


def _read(control: Control, jobs: JobControl, manifest: Manifest) -> None:
    kind = manifest["kind"]
    key = key_for(kind, manifest)
    namespace = namespace_of(manifest) or "default"
    if kind == "Job":
        owners = {(one.namespace, one.owner) for one in control.workloads.values()}
        if (namespace, f"Job {name_of(manifest)}") not in owners:
            jobs.create(key, manifest)
    elif kind in ("PriorityClass", "WorkloadPriorityClass"):
        jobs.priorities.put(manifest)
    elif kind == "Workload":
        control.write(read_workload(manifest, control.now))
    else:
        put(control, kind, key, manifest)
    control.settle()


def _rest(control: Control, jobs: JobControl) -> None:
    for _ in range(IN_ONE_MOMENT):
        for _ in range(IN_ONE_MOMENT):
            if not _changes(control, jobs):
                break
        due = control.next_time()
        if due is None:
            return
        control.tick(max(due, control.moment))
        jobs.follow()


def _changes(control: Control, jobs: JobControl) -> bool:
    """Run a cycle, and return whether it changed anything."""
    if not control.has_heads():
        return False
    before = control.digest
    control.cycle()
    control.settle()
    jobs.follow()
    return control.digest != before
