"""Permit of a kube-scheduler v1.37 that runs Coscheduling: pods that wait, and what becomes of them.

A pod that waits keeps its node in v1.37's cluster. It is bound when the plugin allows it; once it is rejected
or its time is up it goes back to the queue, and so do the others of its group (WaitOnPermit,
handleBindingCycleError).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from scheduler_core.run.several.v1_37_bindings import send_binding
from scheduler_core.run.several.v1_37_coscheduling import V1_37Coscheduling
from scheduler_core.run.several.v1_37_view import Reserved, V1_37View
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.scheduler import timed_out
from scheduler_core.schedulers.v1_22.status import Status
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod
from scheduler_core.schedulers.v1_37.attempt import histogram
from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo
from scheduler_core.schedulers.v1_37.interface import ClusterEvent, PodAttempt
from scheduler_core.schedulers.v1_37.plugins.coscheduling import NAME, POD_GROUPS
from scheduler_core.schedulers.v1_37.status import UNSCHEDULABLE, WAIT
from scheduler_core.schedulers.v1_37.status import Status as NodeStatus

NOMINATES = "NominatedNodeNameForExpectation"
"""The feature gate by which a pod's status names the node on which it will be bound."""
PREEMPTED = "preempted"
_WAITS = NodeStatus(WAIT, ("one or more plugins asked to wait and no plugin rejected pod",))

Statuses = list[tuple[str, str, Status]]


class PermitWait(NamedTuple):
    """A pod that waits at Permit: in the queue's form, its attempt, and as the plugin knows it."""

    waiting: QueuedPodInfo
    tried: PodAttempt
    queued: QueuedPod


class PermitStage:
    """Permit and Unreserve; ``statuses`` are the answers of the plugin since they were drained."""

    def __init__(self, view: V1_37View, plugins: Iterable[V1_37Coscheduling]) -> None:
        self.view = view
        self.plugins = {plugin.profile: plugin for plugin in plugins}
        self.held: dict[str, PermitWait] = {}
        self.statuses: Statuses = []
        scheduling = view.scheduler_run.scheduling
        scheduling.handles = {name: {NAME: plugin} for name, plugin in self.plugins.items()}
        sorting = next((one for one in self.plugins.values() if "queueSort" in one.runs_at), None)
        if sorting is not None:
            view.scheduler_run.queue.sort_by(sorting)

    # What the plugin says

    def note(self, point: str, plugin: str, status: Status) -> None:
        """Note an answer of the plugin."""
        self.statuses.append((point, plugin, status))

    def drain(self) -> Statuses:
        """Return the answers since the last call."""
        found, self.statuses = self.statuses, []
        return found

    def remember(self, tried: PodAttempt) -> None:
        """Take PreFilter's answer about the pod of an attempt into the plugin's memory."""
        plugin = self.plugins.get(tried.profile.scheduler_name)
        found = None if plugin is None or tried.context is None else tried.context.states.get(NAME)
        if plugin is not None and found is not None:
            plugin.remember(found)
            self.note("PreFilter", NAME, Status(found.code, found.message, found))

    def queued(self, key: str) -> QueuedPod:
        """Return a pod as the plugin knows it."""
        since = self.view.clock.now
        return QueuedPod(self.view.cluster.pods[key], since, since)

    def _of(self, key: str, point: str) -> V1_37Coscheduling | None:
        """Return the plugin of a pod that names a PodGroup, if it runs at the point."""
        pod = self.view.scheduler_run.cluster.pods.get(key)
        found = None if pod is None else self.plugins.get(pod.scheduler_name)
        return found if found is not None and point in found.runs_at and found.names_group(key) else None

    # Permit

    def ask(self, waiting: QueuedPodInfo, tried: PodAttempt) -> bool:
        """Return whether an assumed pod may be bound; else it is held, or filed as rejected."""
        plugin = self._of(waiting.key, "permit")
        if plugin is None:
            return True
        queued = self.queued(waiting.key)
        status = plugin.permit(queued, str(tried.node))
        self.note("Permit", NAME, status)
        if status.code == "Wait":
            self._hold(waiting, tried, queued, status.seconds)
        elif not status.success:
            self._refuse(waiting, tried, status.message)
            return False
        self._activate()
        return status.success

    def _hold(self, waiting: QueuedPodInfo, tried: PodAttempt, queued: QueuedPod, seconds: float) -> None:
        view, key, node = self.view, waiting.key, str(tried.node)
        run = view.scheduler_run
        tried.result, tried.points["permit"] = "waiting", _WAITS
        tried.unschedulable_plugins = tried.pending_plugins = frozenset()
        run.queue.flights.hold(key)
        run.nominations.drop(key)
        self.held[key] = PermitWait(waiting, tried, queued)
        view.reserved[key] = Reserved(waiting, node)
        view.waiting.add(key, node, {NAME: seconds}, timed_out)
        if run.configuration.gate(NOMINATES):
            view.write_nomination(key, node)

    def _activate(self) -> None:
        """Make the siblings active that the plugin named (PodsToActivate)."""
        view = self.view
        keys, moved = list(view.to_activate), []
        view.to_activate.clear()
        if keys:
            moved = view.scheduler_run.queue.force_active(keys)
        if moved:
            view.record_event("Activated", "", f"Permit activated {', '.join(moved)}", moved)

    def _refuse(self, waiting: QueuedPodInfo, tried: PodAttempt, message: str) -> None:
        """Take the assumption back, and file the pod as rejected by the plugin."""
        run = self.view.scheduler_run
        self.unreserve(waiting.key)
        run.scheduling.unreserve(tried)
        tried.points["permit"] = NodeStatus(UNSCHEDULABLE, (message,), NAME)
        tried.result, tried.message, tried.nominated = "unschedulable", fit_error(message), ""
        tried.unschedulable_plugins, tried.node = frozenset((NAME,)), None
        waiting.failed(run.clock.now, tried.unschedulable_plugins, frozenset())
        tried.queue = run.queue.requeue(waiting)
        self.view.nominate(waiting.key, "")

    def unreserve(self, key: str) -> None:
        """Reject the group of a pod that will not be bound."""
        plugin = self._of(key, "reserve")
        if plugin is not None:
            plugin.unreserve(self.queued(key))

    # The end of the wait

    def settle(self, verdict: WaitingPod) -> None:
        """Bind a pod that was allowed, or file one that was rejected."""
        view, key = self.view, verdict.key
        if view.waiting.get(key) is not verdict:
            return
        view.waiting.remove(key)
        held = self.held.pop(key, None)
        if held is None:
            return
        plugin = self.plugins[held.tried.profile.scheduler_name]
        plugin.permitted(held.queued)
        view.catch_up()
        if verdict.verdict == "allowed":
            self._bind(held)
        else:
            self._reject(held, verdict)

    def _bind(self, held: PermitWait) -> None:
        run = self.view.scheduler_run
        run.queue.flights.land(held.waiting.key)
        if not send_binding(self.view, held.waiting, held.tried):
            run.queue.requeue(held.waiting)

    def _reject(self, held: PermitWait, verdict: WaitingPod) -> None:
        view, waiting, key = self.view, held.waiting, verdict.key
        run = view.scheduler_run
        self.unreserve(key)
        del view.reserved[key]
        stored = run.cluster.objects["Pod"][key]
        waiting.pod = fresh = run.cluster.compiled(stored)
        run.scheduling.unreserve(replace(held.tried, pod=fresh))
        if verdict.message == PREEMPTED:  # no rejection: it backs off as after an error
            view.freed(stored, verdict.node)
            waiting.failed(run.clock.now, frozenset(), frozenset())
            run.queue.requeue(waiting)
            message = f"waiting on permit for pod: {PREEMPTED}"
        else:
            waiting.failed(run.clock.now, frozenset((verdict.plugin,)), frozenset())
            run.queue.requeue(waiting)
            view.freed(stored, verdict.node, but=key)
            message = fit_error(verdict.message)
        view.nominate(key, "")
        view.record_event("FailedScheduling", key, message, verdict)

    def lose(self, key: str, *, deleted: bool) -> None:
        """End the wait of a pod that was bound by another, or is ``deleted``: its group fails with it."""
        held = self.held.pop(key, None)
        if held is None:
            return
        view = self.view
        view.scheduler_run.queue.flights.land(key)
        view.waiting.reject(key, "", "removed" if deleted else "bound by another")
        plugin = self.plugins[held.tried.profile.scheduler_name]
        plugin.permitted(held.queued)
        if deleted and "reserve" in plugin.runs_at:
            plugin.unreserve(held.queued)

    def heard_of_group(self, *, known: bool) -> None:
        """Tell the queue that a PodGroup was created or, if it is ``known``, changed."""
        event = ClusterEvent(POD_GROUPS, "Update" if known else "Add", None, None)
        self.view.scheduler_run.queue.broadcast(event)


def fit_error(reason: str) -> str:
    """Return the message of a pod whose only node a plugin refused after it was chosen (FitError.Error)."""
    return f"0/1 nodes are available:{histogram([(NodeStatus(UNSCHEDULABLE, (reason,)), 1)])}"
