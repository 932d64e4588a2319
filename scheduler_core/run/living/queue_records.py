"""Recorded decisions of Kueue, answered by a cluster that lives: a record is played as a user's scenario.

Four conventions of the recorder's are not a cluster's, and are laid on the run: its API server keeps the
times of creation that manifests name, Kueue's scheduler sleeps until the first second of a step with
``advance``, jobs of Workloads take ``stopSeconds`` to stop, and Jobs are complete when a step says so. When a
step comes to rest is the recorder's too; it is found by :mod:`scheduler_core.cluster.kueue.conformance`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from scheduler_core.cluster.kueue import conformance
from scheduler_core.cluster.kueue.actor import BURST
from scheduler_core.cluster.kueue.conformance import START
from scheduler_core.cluster.kueue.issue import KueueEvent
from scheduler_core.cluster.kueue.job_control import job_view
from scheduler_core.cluster.kueue.job_status import end_of
from scheduler_core.cluster.kueue.jobs import workload_name
from scheduler_core.cluster.kueue.nomination import CycleRecord
from scheduler_core.cluster.kueue.views import (
    changed,
    cluster_queue_views,
    cohort_views,
    cycle_view,
    queue_views,
    workload_view,
)
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    key_of,
    ready_status,
    status_of,
    with_meta,
    with_status,
)
from scheduler_core.run import simulate
from scheduler_core.run.living.queue_translation import DONE, documents_of
from scheduler_core.run.several.lone import LoneSimulation
from scheduler_core.scenario.load import load_documents

LAST = 0.002
"""Seconds before a step in which its predecessor is looked at."""


def answer(record: Mapping[str, Any]) -> dict[str, Any]:
    """Live one record to its end and return ``{"id", "expect"}``; one that cannot be lived is only played.

    Raises:
        ValueError: The record does not have the format of ``kueue.jsonl.gz``.
    """
    played = conformance.answer(record)
    steps = played["expect"]["steps"]
    return played if why_played(record, steps) else {**played, "expect": {"steps": _lived(record, steps)}}


def why_played(record: Mapping[str, Any], plan: Sequence[Mapping[str, Any]]) -> str:
    """Return why a record is not lived, "" if it is: what it would meet that the recorder does not have."""
    if plan[-1].get("restless"):
        return "the recorder broke off a run without rest"
    steps = record.get("steps", ())
    made = [one for step in steps for name in ("create", "update") for one in step.get(name) or ()]
    nodes = [one for one in chain(record["objects"], made) if one["kind"] == "Node"]
    if any(ready_status(one) != "True" for one in nodes):
        return "the node controller taints a node that is not ready"
    if not any(one["kind"] == "ClusterQueue" for one in record["objects"]):
        return "there is no ClusterQueue at the start"
    return ""


def _lived(record: Mapping[str, Any], plan: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    life = _Life(record, plan)
    for _ in life.simulation:
        pass
    return life.results


_OF_JOBS = ("create", "delete", "finish")
"""The parts of a step that write Jobs."""


class _Life:
    """A record's run; ``plan`` has what is the recorder's: the times of rest, and what was refused."""

    def __init__(self, record: Mapping[str, Any], plan: Sequence[Mapping[str, Any]]) -> None:
        steps = record.get("steps", ())
        self._ends = [one["t"] + BURST / 2 for one in plan]
        documents = documents_of(record, self._ends)
        simulation = simulate(load_documents(documents), trace=False)
        assert isinstance(simulation, LoneSimulation)
        assert simulation.kueue is not None
        self.simulation, self._kueue, self._plan = simulation, simulation.kueue, plan
        self.results: list[dict[str, Any]] = []
        self._cycles: list[dict[str, Any]] = []
        self._events: list[KueueEvent] = []
        self._seen: dict[str, dict[str, Any]] = {"workloads": {}, "jobs": {}}
        self._known: set[str] = set()
        self._kueue.observers.append(self._observe)
        self._kueue.stop_seconds = float(record.get("stopSeconds") or 0)
        self._keep_times(steps)
        self._set_timers(steps)

    def _keep_times(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Have the API server keep the times of creation that manifests name."""
        server = self._kueue.server
        server.mutate = partial(_with_time, server.mutate, _times(steps))

    def _set_timers(self, steps: Sequence[Mapping[str, Any]]) -> None:
        loop = self._kueue.loop
        for end in self._ends:
            loop.at(end - LAST, self._look)
        for step, begin in zip(steps, self._ends):
            if step.get("advance"):
                loop.at(begin - LAST, self._kueue.sleep, begin + 1)
            if any(one["kind"] == "Job" for name in _OF_JOBS for one in step.get(name) or ()):
                loop.at(begin - LAST / 2, self._change)
            for one in step.get("finish") or ():
                if one["kind"] == "Job":
                    loop.at(begin, self._complete, f"{one.get('namespace') or 'default'}/{one['name']}")

    def _change(self) -> None:
        """Count the write of a Job as a change, after which a cycle is tried that decided nothing before."""
        self._kueue.control.writes += 1

    def _complete(self, key: str) -> None:
        """Let a Job be complete; one that is already makes the original say so again."""
        kueue = self._kueue
        job = kueue.server.get("Job", key)
        if job is not None and end_of(job) is not None:
            message = f"Workload '{key.partition('/')[0]}/{workload_name(job)}' is declared finished"
            kueue.control.tell(f"Job {key}", "Normal", "FinishedWorkload", message)
        elif job is not None:
            kueue.server.change("Job", key, _completed, "job")

    def _observe(self, cycle: CycleRecord) -> None:
        self._cycles.append(cycle_view(cycle, START))
        self._events += self._kueue.control.events

    def _look(self) -> None:
        """Take what became of a step."""
        control, plan = self._kueue.control, self._plan[len(self.results)]
        views = {
            "workloads": {key: workload_view(one, START) for key, one in control.workloads.items()},
            "jobs": {key_of(one): job_view(one) for one in self._kueue.server.of_kind("Job")},
        }
        events = [*self._events, *control.events]
        parts = {
            "cohorts": cohort_views(control),
            "events": [[one.about, one.kind, one.reason, one.message] for one in events],
            "rejected": plan.get("rejected"),
            "gone": sorted(self._known - set(control.workloads)),
            "restless": plan.get("restless"),
            **{name: changed(view, self._seen[name]) for name, view in views.items()},
        }
        out = {"t": plan["t"], "cycles": self._cycles, "queues": queue_views(control)}
        out["clusterQueues"] = cluster_queue_views(control)
        self.results.append({**out, **{name: part for name, part in parts.items() if part}})
        self._seen, self._known = views, set(control.workloads)
        self._cycles, self._events = [], []
        control.events.clear()


def _times(steps: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the times of creation that the Workloads of steps name, by key."""
    return {
        f"{one['metadata'].get('namespace') or 'default'}/{one['metadata']['name']}": one["metadata"][_TIME]
        for step in steps
        for one in step.get("create") or ()
        if one["kind"] == "Workload" and _TIME in one["metadata"]
    }


_TIME = "creationTimestamp"


def _with_time(mutate: Any, times: Mapping[str, str], obj: Manifest) -> Manifest:
    made: Manifest = mutate(obj)
    time = times.get(key_of(made)) if made["kind"] == "Workload" else None
    return made if time is None else with_meta(made, creationTimestamp=time)


def _completed(job: Manifest) -> Manifest:
    row = {"type": "Complete", "status": "True", "message": DONE}
    return with_status(job, {**status_of(job), "conditions": [row]})
