"""Run the custom schedulers beside the framework: their pending pods, and the timers of their attempts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Protocol

import scheduler_core.schedulers.firmament.scheduler
import scheduler_core.schedulers.kube_batch.scheduler  # noqa: F401 - adds its row to SCHEDULERS
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.record.cycle import QUEUE_SHOWN, QueueState
from scheduler_core.run.control import ControlledFramework
from scheduler_core.schedulers.v1_22.clock import Timer
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS, Configurable, GroupWriter

State = tuple[int, int, tuple[KubernetesObject, ...]]


class Beside(Protocol):
    """Schedulers beside the framework, as a run drives them."""

    def notice(self, framework: ControlledFramework, changed: Iterable[str]) -> None:
        """Handle the changes of pods."""
        ...

    def set_timers(self, framework: ControlledFramework) -> None:
        """Set the timer of each scheduler that has work to do."""
        ...

    def restarted(self) -> None:
        """Handle a restart of the framework."""
        ...

    @property
    def due(self) -> str:
        """The name of the scheduler whose attempt is next, "" if none is due."""


class CustomSchedulers:
    """The custom schedulers of a run, each with its pending pods and the timer of its next attempt.

    ``configurations`` are the texts of their configuration files, by name. A scheduler that is settled is
    not called until an object has changed. ``names`` are those that run, by default all.
    """

    def __init__(self, configurations: Mapping[str, str], names: Collection[str] | None = None) -> None:
        made = {name: make for name, make in SCHEDULERS.items() if names is None or name in names}
        self._schedulers = {name: make() for name, make in made.items()}
        for name, text in configurations.items():
            scheduler: object = self._schedulers.get(name)
            if isinstance(scheduler, Configurable):
                scheduler.configure(text)
        self._pending: dict[str, dict[str, None]] = {name: {} for name in self._schedulers}
        self._named: dict[str, set[str]] = {name: set() for name in self._schedulers}  # pods that name it
        self._own: Counter[str] = Counter()  # changes of the pods that name each scheduler
        self._timers: dict[str, Timer] = {}
        self._ready: dict[str, None] = {}  # schedulers whose timer has fired, in that order
        self._changes = 0  # of pods
        self._settled: dict[str, State] = {}

    def notice(self, framework: ControlledFramework, changed: Iterable[str]) -> None:
        """Update the pending pods after these pods have changed."""
        if not self._schedulers:
            return
        for key in changed:
            self._changes += 1
            pod = framework.pods.get(key)
            for name, keys in self._pending.items():
                named = pod is not None and pod.scheduler_name == name
                if named or key in self._named[name]:
                    self._own[name] += 1
                if named:
                    self._named[name].add(key)
                else:
                    self._named[name].discard(key)
                if pod is not None and named and _is_pending(framework, pod):
                    keys[key] = None
                else:
                    keys.pop(key, None)

    def set_timers(self, framework: ControlledFramework) -> None:
        """Set the timer of each scheduler that has work to do and does not wait for a timer yet."""
        for name, scheduler in self._schedulers.items():
            if not self._own[name]:
                continue
            if not self._pending[name]:
                self._ready.pop(name, None)
                if not isinstance(scheduler, GroupWriter):
                    continue
            if name in self._settled:
                if _same(self._settled[name], self._state(framework, name)):
                    continue
                del self._settled[name]
            timer = self._timers.get(name)
            if name not in self._ready and not (timer is not None and timer.alive):
                at = scheduler.next_time(framework.clock.now)
                self._timers[name] = framework.clock.schedule(at, partial(self._wake, framework, name), name)

    def _wake(self, framework: ControlledFramework, name: str) -> None:
        if self._pending[name]:
            self._ready[name] = None
            return
        scheduler = self._schedulers[name]
        if isinstance(scheduler, GroupWriter):
            framework.patch_groups(tuple(scheduler.statuses(framework).items()))
            self._settled[name] = self._state(framework, name)

    def _state(self, framework: ControlledFramework, name: str) -> State:
        """Return what differs after a change of an object that matters to a scheduler.

        While pods are pending for it any object does; otherwise only its own pods and the PodGroups.
        """
        objects = (*framework.groups.values(), *framework.others.values())
        if self._pending[name]:
            return self._changes, framework.cluster.generation, objects
        return self._own[name], -1, objects

    def restarted(self) -> None:
        """Forget the timers: their clock ended with the previous framework."""
        self._timers.clear()
        self._settled.clear()

    @property
    def due(self) -> str:
        """The name of the scheduler whose attempt is next, "" if none is due."""
        return next((name for name in self._ready if self._pending[name]), "")

    def pending(self, name: str) -> int:
        """Return how many pods wait for a scheduler."""
        return len(self._pending[name])

    def attempt(self, framework: ControlledFramework, name: str) -> Attempt:
        """Run an attempt of a scheduler that is due; its placements are not bound yet."""
        del self._ready[name]
        pending = [framework.pods[key] for key in self._pending[name]]
        return self._schedulers[name].attempt(framework, pending)

    def applied(self, framework: ControlledFramework, name: str, attempt: Attempt) -> None:
        """Note that an attempt's effects are done; a settled scheduler rests from here on."""
        if attempt.settled:
            self._settled[name] = self._state(framework, name)

    def queue_state(
        self, framework: ControlledFramework, name: str, attempt: Attempt, *, whole: bool
    ) -> QueueState:
        """Return a scheduler's pending pods without those of its attempt, which was just made."""
        tried = {attempt.pod, *(key for key, _ in attempt.further)}
        left = [framework.cluster.pods[key] for key in self._pending[name] if key not in tried]
        listed = [(pod.key, pod.priority, pod.order) for pod in left[: QUEUE_SHOWN if whole else 0]]
        return QueueState(listed, len(left), [], 0)


def _same(one: State, other: State) -> bool:
    """Return whether no object has changed between two states; objects are compared by identity."""
    return (
        one[:2] == other[:2]
        and len(one[2]) == len(other[2])
        and all(a is b for a, b in zip(one[2], other[2], strict=True))
    )


def _is_pending(framework: ControlledFramework, pod: Pod) -> bool:
    """Return whether a pod waits for a custom scheduler; a profile of the same name takes precedence."""
    gated = framework.release.gates and bool(pod.scheduling_gates)
    return not (pod.node_name or pod.terminal or gated or framework.responsible(pod))
