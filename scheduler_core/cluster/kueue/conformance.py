"""Recorded decisions of Kueue: play one record in virtual time, and answer in the records' format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from scheduler_core.cluster.kueue.configuration import read_configuration
from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.job_control import JobControl, job_view
from scheduler_core.cluster.kueue.validation import refusals_of
from scheduler_core.cluster.kueue.views import (
    changed,
    cluster_queue_views,
    cohort_views,
    cycle_view,
    queue_views,
    workload_view,
)
from scheduler_core.cluster.kueue.workload import EVICTED, FINISHED, CheckState, Workload, read_workload
from scheduler_core.cluster.kueue.writes import key_for, put
from scheduler_core.cluster.v1_37.objects import Manifest
from scheduler_core.kubernetes.times import seconds_of

START = seconds_of("2000-01-01T00:00:00Z") or 0.0
MOST_CYCLES = 25  # in one moment
MOST_SECONDS = 12  # without rest


def answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one record: ``{"id", "expect"}``.

    Raises:
        ValueError: The record does not have the format of ``kueue.jsonl.gz``.
    """
    objects, steps = record.get("objects"), record.get("steps", [])
    if not isinstance(objects, list) or not all(isinstance(one, Mapping) for one in objects):
        raise ValueError("objects must be a list of manifests")
    if not isinstance(steps, list) or not all(isinstance(one, Mapping) for one in steps):
        raise ValueError("steps must be a list of objects")
    play = _Play(record.get("config"), float(record.get("stopSeconds") or 0))
    results = [play.result([{"create": objects}])]
    for step in steps:
        if results[-1].get("restless"):
            break
        results.append(play.result([step]))
    return {"id": record.get("id"), "expect": {"steps": results}}


class _Play:
    """Kueue in virtual time."""

    def __init__(self, configuration: Mapping[str, Any] | None, stop_seconds: float) -> None:
        self._control = Control(
            read_configuration(configuration), START, lambda workload: _stop_time(workload, stop_seconds)
        )
        self._jobs = JobControl(self._control)
        self._job_views: dict[str, Any] = {}
        self._fruitless: object = None
        self._cycles: list[dict[str, Any]] = []
        self._rejected: list[str] = []
        self._views: dict[str, Any] = {}
        self._restless = False

    def result(self, parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Play a step, let everything come to rest, and return what became of it."""
        control = self._control
        before = set(control.workloads)
        self._cycles, self._rejected, control.events = [], [], []
        for part in parts:
            self._play(part)
        self._rest()
        views = {key: workload_view(one, START) for key, one in control.workloads.items()}
        out: dict[str, Any] = {
            "t": int(control.now - START),
            "cycles": self._cycles,
            "queues": queue_views(control),
            "clusterQueues": cluster_queue_views(control),
        }
        jobs = {key: job_view(one) for key, one in self._jobs.jobs.items()}
        parts_ = {
            "jobs": changed(jobs, self._job_views),
            "cohorts": cohort_views(control),
            "events": [[one.about, one.kind, one.reason, one.message] for one in control.events],
            "rejected": self._rejected,
            "workloads": changed(views, self._views),
            "gone": sorted(before - set(control.workloads)),
            "restless": self._restless,
        }
        self._views, self._job_views = views, jobs
        return {**out, **{name: part for name, part in parts_.items() if part}}

    def _play(self, step: Mapping[str, Any]) -> None:
        for name, act in _ACTS.items():
            for one in step.get(name) or ():
                act(self, one)
                self.settle()
        for _ in range(int(step.get("advance") or 0)):
            self._second()

    def settle(self) -> None:
        """React to writes, Jobs included."""
        self._control.settle()
        self._jobs.follow()

    def _second(self) -> None:
        self._control.tick(self._control.now + 1)
        self._jobs.follow()
        self._run_cycles()

    def _run_cycles(self) -> None:
        control = self._control
        for _ in range(MOST_CYCLES):
            before = control.digest
            if before == self._fruitless or not control.has_heads():
                return
            record = control.cycle()
            self.settle()
            self._cycles.append(cycle_view(record, START))
            if control.digest == before:
                self._fruitless = before
                return
        self._restless = True

    def _rest(self) -> None:
        self._run_cycles()
        for _ in range(MOST_SECONDS):
            before = self._control.digest
            if self._restless:
                self._control.tick(self._control.now + 1)
                return
            self._second()
            if self._control.digest == before:
                return
        self._restless = True

    # --- the parts of a step

    def create(self, manifest: Manifest) -> None:
        """Create an object, or write the spec of one that exists."""
        control, kind = self._control, manifest["kind"]
        key = key_for(kind, manifest)
        refusals = refusals_of(manifest)
        if refusals:
            self._rejected.append(f"{kind} {key}: {'; '.join(refusals)}")
            return
        namespace = manifest["metadata"].get("namespace") or ""
        if namespace and namespace not in control.cache.namespaces:
            put(control, "Namespace", namespace, {"metadata": {"name": namespace}})
        if kind == "Job":
            self._jobs.create(key, manifest)
        elif kind in ("PriorityClass", "WorkloadPriorityClass"):
            self._jobs.priorities.put(manifest)
        elif kind != "Workload":
            put(control, kind, key, manifest)
        elif key not in control.workloads:
            control.write(read_workload(manifest, control.now))

    def delete(self, part: Mapping[str, Any]) -> None:
        """Delete an object."""
        key = f"{part['namespace']}/{part['name']}" if part.get("namespace") else part["name"]
        if part["kind"] == "Workload":
            self._control.forget(key)
        elif part["kind"] == "Job":
            self._jobs.delete(key)
        else:
            put(self._control, part["kind"], key, None)

    def finish(self, part: Mapping[str, Any]) -> None:
        """Let a Job or the job of a Workload end well."""
        key = f"{part.get('namespace') or 'default'}/{part['name']}"
        workload = self._control.workloads.get(key)
        if part["kind"] == "Job":
            self._jobs.finish(key)
        elif workload is not None and not workload.has(FINISHED):
            done = "Job finished successfully"
            self._control.write(workload.set(FINISHED, True, "Succeeded", done, self._control.now))

    def check(self, part: Mapping[str, Any]) -> None:
        """Let a controller say what its admission check of a Workload came to."""
        workload = self._control.workloads.get(part["workload"])
        if workload is not None:
            state = CheckState(part["state"], part.get("message") or "")
            self._control.write(replace(workload, checks={**workload.checks, part["name"]: state}))

    def set_active(self, key: str, *, active: bool) -> None:
        """Write ``spec.active`` of a Workload."""
        workload = self._control.workloads.get(key)
        if workload is not None:
            self._control.write(replace(workload, active=active))


_ACTS: Mapping[str, Callable[[_Play, Any], None]] = {
    "create": _Play.create,
    "update": _Play.create,
    "delete": _Play.delete,
    "finish": _Play.finish,
    "check": _Play.check,
    "activate": lambda play, key: play.set_active(key, active=True),
    "deactivate": lambda play, key: play.set_active(key, active=False),
}
"""The parts of a step but ``advance``, in their order."""


def _stop_time(workload: Workload, stop_seconds: float) -> float:
    """Return when the job of an evicted Workload has stopped."""
    return workload.conditions[EVICTED].at + (0 if workload.owner else stop_seconds)
