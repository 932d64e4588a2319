"""kube-batch alongside the scheduling framework in virtual time: a session every second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.kubernetes.model import Pod, PodGroupStatus, PriorityClass, Queue
from scheduler_core.schedulers.kube_batch.configuration import parse_configuration
from scheduler_core.schedulers.kube_batch.plugins.gang import message_of
from scheduler_core.schedulers.kube_batch.recorder import Recorder
from scheduler_core.schedulers.kube_batch.resources import InsufficientError
from scheduler_core.schedulers.kube_batch.session_run import Finished, run_session
from scheduler_core.schedulers.kube_batch.snapshot import (
    ServerOption,
    SnapshotCache,
    WatchedObjects,
    group_of,
    shadow_job_of,
    take_snapshot,
)
from scheduler_core.schedulers.v1_22.interface import Handle
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS

NAME = "kube-batch"
MOST_FAILED = 1_000  # events about pods in one session
PERIOD = 1.0  # seconds, --schedule-period


class KubeBatch:
    """A session is one attempt: its placements are all pods it dispatched, its victims those it evicted.

    The attempt is that of the first pod it bound, or else of the first pending one, which then is
    unschedulable. A session that sends nothing would be the same until an object changes; those that would
    follow it are left out of the run.
    """

    def __init__(self) -> None:
        self._configuration = parse_configuration(None)
        self._options = ServerOption(NAME)
        self._sessions = 0
        self._kept = SnapshotCache()

    def __deepcopy__(self, memo: dict[int, Any]) -> KubeBatch:
        """Return a scheduler that continues from here; what is kept between snapshots is computed again."""
        other = KubeBatch()
        other._configuration, other._sessions = self._configuration, self._sessions
        memo[id(self)] = other
        return other

    def configure(self, text: str) -> None:
        """Use a configuration file instead of the default."""
        self._configuration = parse_configuration(text)

    def next_time(self, now: float) -> float:
        """Return the next full second."""
        return (now // PERIOD + 1) * PERIOD

    def attempt(self, framework: Handle, pending: Sequence[Pod]) -> Attempt:
        """Run a session."""
        self._sessions += 1
        now, first = framework.clock.now, pending[0].meta.key
        recorder = Recorder() if framework.details else None
        try:
            finished = self._run(framework, recorder)
        except InsufficientError as error:
            message = f"kube-batch's process ends: {error}"
            return Attempt(self._sessions, now, first, "unschedulable", message=message, settled=True)
        outcome = finished.session.outcome
        groups = tuple(finished.closing.groups.items())
        victims = tuple(outcome.evicted)
        in_vain = tuple(
            (event.object.removeprefix("Pod "), event.message)
            for event in finished.closing.events
            if event.reason == "FailedScheduling" and event.object != f"Pod {first}"
        )[:MOST_FAILED]
        session = (
            None if recorder is None else recorder.result(self._sessions, now, outcome.bound, outcome.evicted)
        )
        if outcome.bound:
            (pod, node), *further = outcome.bound.items()
            return Attempt(
                self._sessions,
                now,
                pod,
                "scheduled",
                node,
                victims=victims,
                further=tuple(further),
                groups=groups,
                in_vain=in_vain,
                session=session,
            )
        return Attempt(
            self._sessions,
            now,
            first,
            "unschedulable",
            message=_why(finished, pending[0]),
            victims=victims,
            groups=groups,
            in_vain=in_vain,
            settled=not victims,
            session=session,
        )

    def statuses(self, framework: Handle) -> Mapping[str, PodGroupStatus]:
        """Return what a session without pending pods writes."""
        try:
            return self._run(framework, None).closing.groups
        except InsufficientError:
            return {}

    def _run(self, framework: Handle, recorder: Recorder | None) -> Finished:
        pods = list(framework.pods.values())
        foreign = _coscheduled(pods)
        objects = WatchedObjects(
            list(framework.cluster.nodes.values()),
            pods,
            [group for key, group in framework.groups.items() if key not in foreign],
            [obj for obj in framework.others.values() if isinstance(obj, Queue)],
            [obj for obj in framework.others.values() if isinstance(obj, PriorityClass)],
            list(framework.cluster.budgets.values()),
        )
        snapshot = take_snapshot(objects, self._options, self._kept)
        return run_session(snapshot, self._configuration, recorder)


def _coscheduled(pods: Sequence[Pod]) -> set[str]:
    """Return the PodGroups whose pods name them by Coscheduling's label: they are of another API group, which
    kube-batch does not watch.
    """
    own = {group_of(pod) for pod in pods if pod.scheduler_name == NAME}
    return {f"{pod.meta.namespace}/{pod.pod_group}" for pod in pods if pod.pod_group} - own


def _why(finished: Finished, pod: Pod) -> str:
    """Return why a pod is still pending."""
    session = finished.session
    key = pod.meta.key
    for job in session.jobs.values():
        for task in job.tasks.values():
            if task.key == key:
                held = {"Allocated": "is held on", "Pipelined": "waits for what is being released on"}
                where = held.get(task.status)
                prefix = f"the task {where} node {task.node_name}; " if where else ""
                if not job.ready:
                    return prefix + message_of(job)
                return prefix + "no node fits the task, or its queue is overused"
    left_out = {one.name: one.why for one in session.left_out if one.kind == "Job"}
    name = group_of(pod) or shadow_job_of(pod)
    return f"job {name} is ignored: {left_out.get(name, 'it is not in the snapshot')}"


SCHEDULERS[NAME] = KubeBatch
