"""A kube-scheduler v1.11 with other schedulers: a Policy's rules and v1.11's queue, on a view of its own.

Its PriorityQueue has no backoff and no flush: an unschedulable pod waits until an event moves all of them, or
those whose affinity a bound pod matches (core.PriorityQueue, factory.MakeDefaultErrorFunc).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.run.instant import MOVES_UNSCHEDULABLE
from scheduler_core.run.several.peers import FrameworkPeer
from scheduler_core.run.several.view import SchedulerView
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.v1_11 import RELEASE
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_22.events import EventName
from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.queue import QueuedPod, QueueName, VirtualQueue
from scheduler_core.settings.settings import Settings

_KINDS = {"Node": "Node", "PersistentVolume": "Pv", "PersistentVolumeClaim": "Pvc", "Service": "Service"}
_ACTIONS = {"create": "Add", "update": "Update", "delete": "Delete"}
WAKES = frozenset(
    (
        "AssignedPodDelete",
        *(_KINDS[kind] + _ACTIONS[action] for (kind, action), moves in MOVES_UNSCHEDULABLE.items() if moves),
    )
)
"""The events that move all unschedulable pods."""


class CreationSort(Plugin):
    """The order of the active queue: higher priority, then the pod that was created first."""

    name = "PriorityQueue"

    def sort_key(self, pod: QueuedPod) -> Any:
        """Return the sort key of a pod; the smallest is scheduled first."""
        return -pod.state.priority, pod.state.order


class V1_11Queue(VirtualQueue):
    """The active and the unschedulable pods of v1.11; no pod backs off, and time moves none."""

    def fail(self, pod: QueuedPod, refused_by: Iterable[str] | None, *, backs_off: bool = False) -> QueueName:
        """Requeue a pod: as unschedulable, unless a move was requested since the last pop.

        Without ``refused_by`` it failed after its node was chosen: then it is not marked unschedulable, so
        that it is active again (AddUnschedulableIfNotPresent).
        """
        del backs_off
        pod.refused_by = frozenset()
        pod.timestamp = self.clock.now
        active = refused_by is None or self.move_cycle >= self.cycle
        place: QueueName = "active" if active else "unschedulable"
        self._put(pod, place, "failed")
        self.nominate(pod.state)
        return place

    def move_all(self, event: EventName, but: str = "") -> list[str]:
        """Move all unschedulable pods at an event that v1.11 moves them at (MoveAllToActiveQueue)."""
        return super().move_all(event, but) if event in WAKES else []

    def update(self, state: PodState) -> None:
        """Update a queued pod; an unschedulable one is tried again if more than its status changed."""
        known = self.pods.get(state.key)
        if known is None or known.place != "unschedulable" or _differ(known.state.pod, state.pod):
            super().update(state)
            return
        known.state = state
        self.nominate(state)

    def retry_at(self, pod: QueuedPod) -> float | None:
        """Return ``None``: no flush moves a pod."""
        del pod
        return None

    def helped_by(self, pod: QueuedPod) -> tuple[str, ...]:
        """Return the events that move an unschedulable pod: the same for all."""
        del pod
        return tuple(sorted(WAKES))

    def _look(self, queue: str, at: float, action: Callable[[], None]) -> None:
        """Set no timer."""


def _differ(one: Pod, other: Pod) -> bool:
    """Return whether two versions of a pod differ in more than their status (isPodUpdated)."""
    return replace(one, nominated_node_name="", phase="") != replace(other, nominated_node_name="", phase="")


class V1_11View(SchedulerView):
    """The view of a scheduler that runs v1.11."""

    queue_type = V1_11Queue

    def _receive(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Hear of a write; services move pods at every change, which later releases ignore."""
        known = kind == "Service" and key in self.cluster.services
        super()._receive(kind, key, obj)
        if known:
            event: EventName = "ServiceDelete" if obj is None else "ServiceUpdate"
            self._later_event(event)

    def _requeue(self, pod: QueuedPod, refused_by: Iterable[str] | None, *, error: bool = False) -> str:
        """Requeue a pod unless it is gone or bound at the API server: v1.11 asks it again."""
        there = self.server.pods.get(pod.key)
        if there is None or there.node_name:
            return ""
        return super()._requeue(pod, refused_by, error=error)


class V1_11Peer(FrameworkPeer):
    """A kube-scheduler v1.11."""

    release = RELEASE


def v1_11_configuration(configuration: Configuration) -> Configuration:
    """Return the configuration of a v1.11 peer: a Policy of the bundle, else the default provider."""
    given: Settings = configuration.settings
    settings = replace(given, scheduler="", time="virtual", schedulers=())
    return Configuration(
        configuration.policy if configuration.read_by == V1_11Peer.release else None, settings
    )
