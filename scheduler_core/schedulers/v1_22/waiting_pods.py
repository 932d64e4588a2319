"""Pods that wait at Permit, with a timer per plugin, until every plugin allows or one rejects them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from scheduler_core.schedulers.v1_22.clock import Timer, VirtualClock

PermitVerdict = Literal["", "allowed", "rejected"]


@dataclass(slots=True, eq=False)
class WaitingPod:
    """``pending`` are the plugins it still waits for; the first verdict is final (framework.waitingPod)."""

    key: str
    node: str
    since: float
    pending: dict[str, Timer] = field(default_factory=dict)
    verdict: PermitVerdict = ""
    plugin: str = ""  # the plugin that rejected it
    message: str = ""
    timed_out: bool = False  # it timed out, no plugin rejected it

    @property
    def deadline(self) -> float | None:
        """Return when the first of its timers fires."""
        return min((timer.at for timer in self.pending.values()), default=None)


class WaitingPods:
    """``settled`` is called once per pod, on its verdict; the pod stays listed until removed."""

    def __init__(self, clock: VirtualClock, settled: Callable[[WaitingPod], None]) -> None:
        self._clock = clock
        self._settled = settled
        self._pods: dict[str, WaitingPod] = {}

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._pods.values()))

    def __len__(self) -> int:
        return len(self._pods)

    def get(self, key: str) -> WaitingPod | None:
        """Return a waiting pod by its key."""
        return self._pods.get(key)

    def add(
        self, key: str, node: str, seconds: Mapping[str, float], message: Callable[[str, float], str]
    ) -> None:
        """Make a pod wait this many seconds per plugin; ``message`` returns the text of a timeout."""
        pod = self._pods[key] = WaitingPod(key, node, self._clock.now)
        for plugin, time in seconds.items():
            pod.pending[plugin] = self._clock.after(
                time, _Timeout(self, key, plugin, message(plugin, time)), f"permit of {key}"
            )

    def allow(self, key: str, plugin: str) -> None:
        """Allow a pod on behalf of a plugin; the pod is allowed once no plugin is pending."""
        pod = self._pods.get(key)
        if pod is None or pod.verdict:
            return
        timer = pod.pending.pop(plugin, None)
        if timer is not None:
            timer.cancel()
        if not pod.pending:
            self._settle(pod, "allowed")

    def reject(self, key: str, plugin: str, message: str) -> None:
        """Reject a pod; no effect if it already has a verdict."""
        pod = self._pods.get(key)
        if pod is not None and not pod.verdict:
            pod.plugin, pod.message = plugin, message
            self._settle(pod, "rejected")

    def expire(self, key: str, plugin: str, message: str) -> None:
        """Reject a pod that timed out at a plugin."""
        pod = self._pods.get(key)
        if pod is not None:
            pod.timed_out = not pod.verdict
            self.reject(key, plugin, message)

    def remove(self, key: str) -> None:
        """Remove a pod whose binding cycle has handled its verdict."""
        if pod := self._pods.pop(key, None):
            pod.pending.clear()  # the timeline keeps the pod, and a timer refers to all of its run

    def _settle(self, pod: WaitingPod, verdict: PermitVerdict) -> None:
        for timer in pod.pending.values():
            timer.cancel()
        pod.verdict = verdict
        self._settled(pod)


class _Timeout(Struct, frozen=True):
    pods: WaitingPods
    key: str
    plugin: str
    message: str

    def __call__(self) -> None:
        self.pods.expire(self.key, self.plugin, self.message)
