"""The framework of Kubernetes 1.22 in virtual time: scheduling cycles, binding cycles, and their events.

A scheduling cycle runs from the queue to Permit. What the real scheduler does in goroutines (binding,
informer events, controllers) is queued as *turns*, first in, first out: see :data:`Turns`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np
from msgspec import Struct

from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.v1_11.filters import error_message, filter_nodes, fit_error_message
from scheduler_core.schedulers.v1_11.policy.declared_fields import declared_fields
from scheduler_core.schedulers.v1_22.api import Api
from scheduler_core.schedulers.v1_22.clock import VirtualClock, go_duration
from scheduler_core.schedulers.v1_22.events import PLUGIN_EVENTS, plugin_of
from scheduler_core.schedulers.v1_22.interface import Plugin, PrioritySort
from scheduler_core.schedulers.v1_22.plugins.default_binder import DefaultBinder
from scheduler_core.schedulers.v1_22.plugins.volume_binding import VolumeBinding
from scheduler_core.schedulers.v1_22.profile import Scheduling, default_scheduling
from scheduler_core.schedulers.v1_22.profile_runtime import ProfileSpec, make_runtime
from scheduler_core.schedulers.v1_22.queue import FIRST_BACKOFF, LONGEST_BACKOFF, QueuedPod, VirtualQueue
from scheduler_core.schedulers.v1_22.record import Attempt, AttemptResult, BindingCycle
from scheduler_core.schedulers.v1_22.releases import V1_22, FrameworkRelease
from scheduler_core.schedulers.v1_22.scores import score_nodes
from scheduler_core.schedulers.v1_22.status import SUCCESS, Status
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod, WaitingPods

Turns = Literal["between-cycles", "when-idle"]
"""When goroutines run: before the next cycle begins, or only when no pod is active.

Both occur in practice: a scheduler with a spare CPU does the first, one without does the second.
"""

NO_NODES = "no nodes available to schedule pods"
Statuses = list[tuple[str, str, Status]]


class Pace(Struct, frozen=True):
    """Durations in virtual seconds, and when goroutines run."""

    cycle: float = 0.001
    creation: float = 0.001  # between the creations of the initial pods
    turns: Turns = "between-cycles"


class Framework(Api):
    """Schedules objects with ``plugins``, in the order in which each extension point calls them.

    ``queue_sort`` sorts the queue, by default PrioritySort. ``points`` names the plugins of each extension
    point, in order; without it every plugin runs at each extension point that it implements. VolumeBinding
    and DefaultBinder are always present; they are called before and after ``plugins``.
    ``scheduling`` filters and scores, by default as the default plugins do. ``profiles`` sets both per
    ``spec.schedulerName``; pods of other schedulers are then ignored. ``backoff`` is the initial and the
    maximum backoff in seconds; ``details`` keeps matrices, scores and dry runs with each attempt.
    """

    queue_type: type[VirtualQueue] = VirtualQueue

    def __init__(
        self,
        objects: Iterable[KubernetesObject],
        plugins: Sequence[Plugin],
        *,
        queue_sort: Plugin | None = None,
        points: Mapping[str, Iterable[str]] | None = None,
        scheduling: Scheduling | None = None,
        pace: Pace | None = None,
        release: FrameworkRelease = V1_22,
        keep: Callable[[Attempt | TimelineEvent], None] | None = None,
        profiles: Mapping[str, ProfileSpec] | None = None,
        clock: VirtualClock | None = None,
        backoff: tuple[float, float] = (FIRST_BACKOFF, LONGEST_BACKOFF),
        details: bool = False,
        interrupt: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(keep, interrupt)
        self.details = details
        self.pace = pace or Pace()
        self.clock = clock or VirtualClock()
        self.cluster = Cluster(declared_fields())
        first, last = VolumeBinding(), DefaultBinder()
        self.plugins = (*plugins, first, last)
        given = profiles or {"": ProfileSpec(points, scheduling or default_scheduling())}
        runtimes = {
            id(one): make_runtime(
                one, (first, *(plugins if one.plugins is None else one.plugins), last), self.cluster
            )
            for one in given.values()
        }
        made = {name: runtimes[id(one)] for name, one in given.items()}
        self.runtimes = made if profiles else {}
        self.runtime = next(iter(made.values()))
        self.taken = 0  # choices among several nodes so far: the round-robin counter
        self.release = release
        self.binding = {}
        self.waiting = WaitingPods(self.clock, self._verdict)
        events = {**PLUGIN_EVENTS, **{plugin.name: plugin.events for plugin in self.plugins}}
        self.queue_sort = queue_sort or PrioritySort()
        self.queue = self.queue_type(
            self.clock,
            self.queue_sort.sort_key,
            events,
            release.unschedulable_stay,
            backoff=backoff,
        )
        for plugin in self.plugins:
            plugin.attach(self)
        self.begin(list(objects), self.pace.creation)

    # Running

    def run(self, until: float, attempts: int | None = None) -> bool:
        """Run until a virtual time, inclusive.

        Returns false if more than ``attempts`` scheduling cycles would be needed: a group whose first waiting
        member activates all others keeps a scheduler busy indefinitely.
        """
        while True:
            if self.turns and (self.pace.turns == "between-cycles" or not self.queue.has_active):
                self.turns.popleft()()
            elif self.clock.now > until:
                return True
            elif (next_time := self.clock.next_time()) is not None and next_time <= self.clock.now:
                self.clock.fire()
            elif self.queue.has_active:
                if attempts is not None and attempts <= 0:
                    return False
                attempts = None if attempts is None else attempts - 1
                self.attempt()
            elif next_time is not None and next_time <= until:
                self.clock.fire()
            else:
                self.clock.wait_until(until)
                return True

    def next_time(self) -> float | None:
        """Return the time of the next action: now, the next timer's time, or ``None`` for never."""
        return self.clock.now if self.turns or self.queue.has_active else self.clock.next_time()

    # The scheduling cycle

    def attempt(self) -> Attempt:
        """Run one scheduling cycle (Scheduler.scheduleOne)."""
        pod, attempt = self.start_attempt()
        self.clock.spend(self.pace.cycle)
        return self.finish_attempt(pod, attempt)

    def start_attempt(self) -> tuple[QueuedPod, Attempt]:
        """Pop the pod of the next scheduling cycle; :meth:`finish_attempt` decides about it."""
        pod = self.queue.pop()
        return pod, Attempt(self.queue.cycle, self.clock.now, pod.key)

    def finish_attempt(self, pod: QueuedPod, attempt: Attempt) -> Attempt:
        """Decide about a pod that was popped, with the cluster as it is by now."""
        node = self._find_node(pod, attempt)
        if node is None:
            if not attempt.result:
                attempt.result = "unschedulable"
                self._post_filter(pod, attempt)
            self._give_back(pod, attempt, attempt.refused_by)
        else:
            attempt.node = node
            self.cluster.assume(pod.state, node)
            if not self.release.keeps_nomination:
                pod.state.nominated = ""
            self.binding[pod.key] = pod
            self.to_activate.clear()
            if self._reserve(pod, attempt) and self._permit(pod, attempt) and self.to_activate:
                self._activate()
        self.keep(attempt)
        return attempt

    def _find_node(self, pod: QueuedPod, attempt: Attempt) -> str | None:
        cluster = self.cluster
        if not cluster.columns.size:  # no plugin is called, not even PostFilter (ErrNoNodesAvailable)
            attempt.result, attempt.message = "unschedulable", NO_NODES
            return None
        for plugin in self.runtime_of(pod).at["preFilter"]:
            status = plugin.pre_filter(pod)
            attempt.statuses.append(("PreFilter", plugin.name, status))
            if status.success:
                continue
            if status.code == "Error":
                attempt.result, attempt.message = "error", _running("PreFilter", plugin, status)
                return None
            attempt.refused_by = (plugin.name,)
            attempt.unresolvable = status.code == "UnschedulableAndUnresolvable"
            code = cluster.reasons.code(status.message)
            attempt.failed = np.full(cluster.columns.size, code, np.int16)
            attempt.message = fit_error_message(attempt.failed, cluster.reasons)
            if self.release.pre_filter_once:
                attempt.message = f"0/{cluster.columns.size} nodes are available: {status.message}."
            return None
        return self._filter(pod, attempt)

    def _filter(self, pod: QueuedPod, attempt: Attempt) -> str | None:
        cluster = self.cluster
        runtime = self.runtime_of(pod)
        vectors = runtime.vectors.of(pod.state)
        filtered = attempt.filtered = filter_nodes(
            pod.state,
            cluster,
            self.queue.nominator,
            runtime.scheduling.profile,
            vectors,
            matrix=self.details,
        )
        if filtered.errors:
            attempt.result, attempt.message = "error", error_message(filtered.errors.values())
            return None
        failed = filtered.failed
        feasible = cluster.columns.everything if failed is None else np.flatnonzero(failed == 0)
        if failed is not None and not feasible.size:
            attempt.failed = failed
            attempt.message = fit_error_message(failed, cluster.reasons)
            reasons = {text for code in set(failed.tolist()) for text in cluster.reasons.texts[code]}
            attempt.refused_by = tuple(sorted(filter(None, map(plugin_of, reasons))))
            return None
        nominated = cluster.columns.index.get(pod.state.nominated)
        if self.release.prefers_nominated and nominated is not None and nominated in feasible:
            return cluster.columns.names[nominated]  # evaluated before all others (PreferNominatedNode)
        if feasible.size == 1:
            return cluster.columns.names[int(feasible[0])]
        attempt.scored = scored = score_nodes(
            pod.state,
            cluster,
            failed,
            feasible.astype(np.int64),
            vectors,
            runtime.scheduling,
            record=self.details,
        )
        chosen = scored.choice(self.taken if runtime.scheduling.round_robin else None)
        self.taken += 1
        return cluster.columns.names[chosen]

    def _post_filter(self, pod: QueuedPod, attempt: Attempt) -> None:
        """Run PostFilter plugins until one succeeds or returns an error."""
        for plugin in self.runtime_of(pod).at["postFilter"]:
            status = plugin.post_filter(pod, attempt)
            attempt.statuses.append(("PostFilter", plugin.name, status))
            if status.success:
                attempt.nominated = pod.state.nominated = status.nominated
            if status.success or status.code == "Error":
                return

    def _reserve(self, pod: QueuedPod, attempt: Attempt) -> bool:
        """Run Reserve; if a plugin fails, run Unreserve in all of them."""
        for plugin in self.runtime_of(pod).at["reserve"]:
            status = plugin.reserve(pod, attempt.node)
            attempt.statuses.append(("Reserve", plugin.name, status))
            if not status.success:
                rejected = self.release.reserve_rejects and status.code != "Error"
                self._refuse(
                    pod, attempt, plugin, status, "unschedulable" if rejected else "error", "Reserve"
                )
                return False
        return True

    def _permit(self, pod: QueuedPod, attempt: Attempt) -> bool:
        waits: dict[str, float] = {}
        for plugin in self.runtime_of(pod).at["permit"]:
            status = plugin.permit(pod, attempt.node)
            attempt.statuses.append(("Permit", plugin.name, status))
            if status.code == "Wait":
                waits[plugin.name] = status.seconds
            elif not status.success:
                result: AttemptResult = "error" if status.code == "Error" else "unschedulable"
                self._refuse(pod, attempt, plugin, status, result, "Permit")
                return False
        if waits:
            attempt.result = "waiting"
            self.waiting.add(pod.key, attempt.node, waits, timed_out)
        else:
            attempt.result = "scheduled"
            self.later(partial(self._after_permit, pod, attempt.statuses))
        return True

    def _refuse(
        self,
        pod: QueuedPod,
        attempt: Attempt,
        plugin: Plugin,
        status: Status,
        result: AttemptResult,
        point: str,
    ) -> None:
        """Unreserve and requeue a pod that a plugin rejected after it was assumed."""
        attempt.result = result
        attempt.message = _running(point, plugin, status) if result == "error" else status.message
        self._unreserve(pod)
        if result == "error":
            self._give_back(pod, attempt, None)
            return
        attempt.refused_by = (plugin.name,)
        self._give_back(pod, attempt, attempt.refused_by if self.release.permit_refuses else None)

    def _give_back(self, pod: QueuedPod, attempt: Attempt, refused_by: Iterable[str] | None) -> None:
        attempt.placed = self._requeue(pod, refused_by, error=attempt.result == "error")
        self.record_event("FailedScheduling", pod.key, attempt.message)

    def _requeue(self, pod: QueuedPod, refused_by: Iterable[str] | None, *, error: bool = False) -> str:
        """Requeue a pod in its API version, unless deleted, finished, bound or another scheduler's."""
        stored = self.pods.get(pod.key)
        if stored is None or stored.node_name or stored.terminal:
            return ""
        if stored is not pod.state.pod:
            previous, state = pod.state, self.cluster.put(stored)
            assert state is not None
            state.nominated = previous.nominated
            pod.state = state
            if not self.responsible(stored):
                return ""
        return self.queue.fail(pod, refused_by, backs_off=error and self.release.errors_back_off)

    # The binding cycle

    def _verdict(self, waiting: WaitingPod) -> None:
        self.later(partial(self._after_wait, waiting))

    def _after_wait(self, waiting: WaitingPod) -> None:
        if self.waiting.get(waiting.key) is not waiting:  # another pod with its name waits by now
            return
        self.waiting.remove(waiting.key)
        pod = self.binding.get(waiting.key)
        if pod is None:  # deleted while it waited
            return
        for plugin in self.plugins:
            plugin.permitted(pod)
        if waiting.verdict == "allowed":
            self._bind(pod, [])
            return
        self._unreserve(pod)
        self._requeue(pod, [waiting.plugin] if self.release.permit_refuses and waiting.plugin else None)
        name = pod.state.pod.meta.name
        self.record_event(
            "FailedScheduling",
            pod.key,
            f'pod "{name}" rejected while waiting on permit: {waiting.message}',
            waiting,
        )
        if self.release.forget_wakes:
            self.move("AssignedPodDelete", pod.key)

    def _unreserve(self, pod: QueuedPod) -> None:
        """Run Unreserve in all plugins, in reverse order, and forget the assumed pod."""
        self.let_unreserve(pod)
        self.binding.pop(pod.key, None)
        self.cluster.forget(pod.state)

    def _after_permit(self, pod: QueuedPod, statuses: Statuses) -> None:
        self._bind(pod, statuses)

    def _bind(self, pod: QueuedPod, statuses: Statuses) -> bool:
        """Run PreBind, Bind and PostBind; return whether the pod is bound."""
        if self.binding.get(pod.key) is not pod:  # deleted in the meantime
            return False
        before, node = len(statuses), pod.state.node_name
        stored = self.pods.get(pod.key)
        refused = self._before_bind(pod, statuses) or self._call_bind(pod, statuses)
        if refused:
            cycle = BindingCycle(node, tuple(statuses[before:]))
            self._unreserve(pod)
            if self.release.forget_wakes:
                self.move("AssignedPodDelete")
            self._requeue(pod, None, error=True)
            self.record_event("FailedScheduling", pod.key, refused, cycle)
            return False
        del self.binding[pod.key]
        pod.state.nominated = ""
        for plugin in self.runtime_of(pod).at["postBind"]:
            statuses.append(("PostBind", plugin.name, SUCCESS))
        cycle = BindingCycle(node, tuple(statuses[before:]))
        self.record_event("Scheduled", pod.key, f"Successfully assigned {pod.key} to {node}", cycle)
        for plugin in self.runtime_of(pod).at["postBind"]:
            plugin.post_bind(pod)
        self.later(partial(self._heard_of_bound, pod.state, patched=stored is not pod.state.pod))
        return True

    def _before_bind(self, pod: QueuedPod, statuses: Statuses) -> str:
        """Run PreBind; return the failure message, "" on success."""
        for plugin in self.runtime_of(pod).at["preBind"]:
            status = plugin.pre_bind(pod, pod.state.node_name)
            statuses.append(("PreBind", plugin.name, status))
            if not status.success:
                return _running("PreBind", plugin, status)
        return ""

    def _call_bind(self, pod: QueuedPod, statuses: Statuses) -> str:
        """Run Bind until a plugin handles the pod; return the failure message, "" if the pod is bound."""
        for plugin in self.runtime_of(pod).at["bind"]:
            status = plugin.bind(pod, pod.state.node_name)
            if status is not None:
                statuses.append(("Bind", plugin.name, status))
                return "" if status.success else f"binding rejected: {_running('Bind', plugin, status)}"
        return "binding rejected: bind status: Skip, "

    def _heard_of_bound(self, state: PodState, *, patched: bool = False) -> None:
        """Handle the informer event of a bound pod; until then the cache has the assumed version."""
        pod = self.pods.get(state.key)
        if pod is None or pod.terminal or not pod.node_name:
            return
        if patched:
            state = self.cluster.put(pod) or state
        self.queue.move_matching(state, "AssignedPodAdd")
        self._pod_changed(state.key)


def _running(point: str, plugin: Plugin, status: Status) -> str:
    """Return the error message of a plugin's failure."""
    return f'running {point} plugin "{plugin.name}": {status.message}'


def timed_out(plugin: str, seconds: float) -> str:
    """Return the rejection message of a pod that timed out at Permit."""
    return f"rejected due to timeout after waiting {go_duration(seconds)} at plugin {plugin}"
