"""Run the custom schedulers beside the framework: their pending pods, and the timers of their attempts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from scheduler_core.framework.clock import Timer
from scheduler_core.framework.record import Attempt
from scheduler_core.framework.schedulers import SCHEDULERS
from scheduler_core.objects.model import Pod
from scheduler_core.scheduling.cycle import QueueState
from scheduler_core.scheduling.queue import QUEUE_SHOWN
from scheduler_core.simulation.virtual.control import ControlledFramework


class CustomSchedulers:
    """The custom schedulers of a run, each with its pending pods and the timer of its next attempt."""

    def __init__(self) -> None:
        self._schedulers = {name: make() for name, make in SCHEDULERS.items()}
        self._pending: dict[str, dict[str, None]] = {name: {} for name in self._schedulers}
        self._timers: dict[str, Timer] = {}
        self._ready: dict[str, None] = {}  # schedulers whose timer has fired, in that order

    def notice(self, framework: ControlledFramework, changed: Iterable[str]) -> None:
        """Update the pending pods after these pods have changed."""
        if not self._schedulers:
            return
        for key in changed:
            pod = framework.pods.get(key)
            for name, keys in self._pending.items():
                if pod is not None and pod.scheduler_name == name and _is_pending(framework, pod):
                    keys[key] = None
                else:
                    keys.pop(key, None)

    def set_timers(self, framework: ControlledFramework) -> None:
        """Set the timer of each scheduler that has pending pods and does not wait for a timer yet."""
        for name, scheduler in self._schedulers.items():
            if not self._pending[name]:
                self._ready.pop(name, None)
                continue
            timer = self._timers.get(name)
            if name not in self._ready and not (timer is not None and timer.alive):
                at = scheduler.next_time(framework.clock.now)
                self._timers[name] = framework.clock.schedule(at, partial(self._wake, name), name)

    def _wake(self, name: str) -> None:
        self._ready[name] = None

    def restarted(self) -> None:
        """Forget the timers: their clock ended with the former framework."""
        self._timers.clear()

    @property
    def due(self) -> str:
        """The name of the scheduler whose attempt is next, "" if none is due."""
        return next((name for name in self._ready if self._pending[name]), "")

    def attempt(self, framework: ControlledFramework, name: str) -> Attempt:
        """Run an attempt of a scheduler that is due; its placements are not bound yet."""
        del self._ready[name]
        pending = [framework.pods[key] for key in self._pending[name]]
        return self._schedulers[name].attempt(framework, pending)

    def queue_state(
        self, framework: ControlledFramework, name: str, attempt: Attempt, *, whole: bool
    ) -> QueueState:
        """Return a scheduler's pending pods without those of its attempt, which was just made."""
        tried = {attempt.pod, *(key for key, _ in attempt.further)}
        left = [framework.cluster.pods[key] for key in self._pending[name] if key not in tried]
        listed = [(pod.key, pod.priority, pod.order) for pod in left[: QUEUE_SHOWN if whole else 0]]
        return QueueState(listed, len(left), [], 0)


def _is_pending(framework: ControlledFramework, pod: Pod) -> bool:
    """Return whether a pod waits for a custom scheduler; a profile of the same name takes precedence."""
    gated = framework.release.gates and bool(pod.scheduling_gates)
    return not (pod.node_name or pod.terminal or gated or framework.responsible(pod))
