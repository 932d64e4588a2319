"""Follows every binding from its decision until somebody refuses it or the kubelet admits the pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.several import OUTCOMES_SHOWN, PODS_SHOWN, Noticed, Outcome
from scheduler_core.schedulers.v1_22.clock import VirtualClock

KEPT = 10_000  # outcomes of a whole run


class Sent(NamedTuple):
    """A decision on its way to the API server."""

    pod: str
    node: str
    decided: float


@dataclass(slots=True)
class _OpenDecision:
    """A decision that nobody has judged yet. ``counted`` are the pods that its scheduler saw on the node."""

    scheduler: str
    node: str
    decided: float
    counted: frozenset[str]
    unseen: tuple[str, ...] = ()
    landed: bool = False


@dataclass(slots=True)
class Tally:
    """Counts of a scheduler's decisions: what became of the pods that it placed."""

    attempts: int = 0
    retries: int = 0  # attempts at pods that it had tried before
    placed: int = 0  # bindings that the API server accepted
    noticed: Counter[Noticed] = field(default_factory=Counter)
    evictions: int = 0
    evictions_of_others: int = 0


class BindingLedger:
    """What became of decisions, by scheduler; ``outcomes`` has those whose node was not what it seemed.

    ``bound_to`` returns the pods that are bound to a node and have not terminated.
    """

    def __init__(self, clock: VirtualClock, bound_to: Callable[[str], Iterable[Pod]]) -> None:
        self.tallies: dict[str, Tally] = {}
        self.outcomes: list[Outcome] = []
        self._clock, self._bound_to = clock, bound_to
        self._open: dict[str, _OpenDecision] = {}
        self._fresh: list[Outcome] = []
        self._tried: set[tuple[str, str]] = set()
        self._names: dict[str, str] = {}

    def introduce(self, label: str, name: str) -> None:
        """Add a scheduler, which serves the pods that have ``name`` in ``spec.schedulerName``."""
        self.tallies[label] = Tally()
        self._names[label] = name

    def tried(self, scheduler: str, pods: Iterable[str]) -> None:
        """Count an attempt at pods."""
        tally = self.tallies[scheduler]
        for pod in pods:
            tally.attempts += 1
            tally.retries += (scheduler, pod) in self._tried
            self._tried.add((scheduler, pod))

    def decided(self, scheduler: str, pod: str, node: str, counted: Iterable[str]) -> None:
        """Note a decision with the pods that its scheduler counted on the node."""
        now = self._clock.now
        previous = self._open.get(pod)
        if previous is not None and previous.scheduler != scheduler:
            return  # two processes decide about one pod: the one whose binding lands first is followed
        self._open[pod] = _OpenDecision(scheduler, node, now, frozenset(counted))

    def landed(self, scheduler: str, sent: Sent, refused: str) -> None:
        """Handle a binding that has reached the API server."""
        if refused:
            by: Noticed = "arbiter" if refused.startswith("arbiter") else "apiServer"
            self._close(scheduler, sent.pod, sent.node, sent.decided, by, (), refused)
            return
        self.tallies[scheduler].placed += 1
        found = self._open.get(sent.pod)
        if found is None or found.scheduler != scheduler:
            found = self._open[sent.pod] = _OpenDecision(scheduler, sent.node, sent.decided, frozenset())
            found.landed = True
            return
        there = (pod.meta.key for pod in self._bound_to(sent.node))
        found.unseen = tuple(key for key in there if key not in found.counted and key != sent.pod)
        found.landed = True

    def abandoned(self, scheduler: str, pod: str, why: str) -> None:
        """Handle an assumed pod that its scheduler gave up before the binding was sent."""
        found = self._open.get(pod)
        at = self._clock.now if found is None else found.decided
        node = "" if found is None else found.node
        self._close(scheduler, pod, node, at, "scheduler", (), why)

    def evicted(self, scheduler: str, pod: Pod) -> None:
        """Handle an eviction that has reached the API server."""
        tally = self.tallies[scheduler]
        tally.evictions += 1
        tally.evictions_of_others += (pod.scheduler_name or "default-scheduler") != self._names[scheduler]

    def admitted(self, pod: str) -> None:
        """Handle a pod that its kubelet has admitted."""
        found = self._open.get(pod)
        if found is not None and found.landed:
            if found.unseen:
                message = "the pod runs beside pods that its scheduler had not counted"
                self._close(found.scheduler, pod, found.node, found.decided, "nobody", found.unseen, message)
            self._open.pop(pod, None)

    def refused(self, pod: str, message: str, reason: str) -> None:
        """Handle a pod that its kubelet has refused; ``reason`` is such as ``OutOfcpu``."""
        found = self._open.get(pod)
        if found is not None and found.landed:
            self._close(
                found.scheduler, pod, found.node, found.decided, "kubelet", found.unseen, message, reason
            )

    def deleted(self, pod: str) -> None:
        """Forget a pod that is gone."""
        self._open.pop(pod, None)

    def in_flight(self, scheduler: str) -> list[tuple[str, str, float]]:
        """Return what a scheduler has decided and not bound yet, as (pod, node, when)."""
        return [
            (pod, one.node, one.decided)
            for pod, one in self._open.items()
            if one.scheduler == scheduler and not one.landed
        ]

    def take(self) -> tuple[Outcome, ...]:
        """Drain the outcomes since the last call, as far as a record shows them."""
        found, self._fresh = tuple(self._fresh[:OUTCOMES_SHOWN]), []
        return found

    def _close(
        self,
        scheduler: str,
        pod: str,
        node: str,
        decided: float,
        by: Noticed,
        unseen: tuple[str, ...],
        message: str,
        reason: str = "",
    ) -> None:
        found = self._open.get(pod)
        if found is not None and found.scheduler == scheduler:
            del self._open[pod]
        outcome = Outcome(
            scheduler, pod, node, decided, self._clock.now, by, unseen[:PODS_SHOWN], message, reason
        )
        self.tallies[scheduler].noticed[by] += 1
        self._fresh.append(outcome)
        if len(self.outcomes) < KEPT:
            self.outcomes.append(outcome)
