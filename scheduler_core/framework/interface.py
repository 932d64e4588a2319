"""What a plugin of the framework may do: one method an extension point, each of which it can leave out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from scheduler_core.cluster.state import Cluster
from scheduler_core.config.policy import Profile
from scheduler_core.framework.clock import Clock
from scheduler_core.framework.queue import QueuedPod, VirtualQueue
from scheduler_core.framework.record import Attempt
from scheduler_core.framework.releases import Release
from scheduler_core.framework.status import SUCCESS, Status
from scheduler_core.framework.waiting import WaitingPods
from scheduler_core.objects.model import Pod, PodGroup, PodGroupStatus
from scheduler_core.scheduling.plugin_record import PluginRecord
from scheduler_core.scheduling.timeline import TimelineEvent


class Handle(Protocol):
    """What a plugin may use of its scheduler (framework.Handle), and of the API server behind it."""

    clock: Clock
    cluster: Cluster
    queue: VirtualQueue
    waiting: WaitingPods
    pods: dict[str, Pod]
    groups: dict[str, PodGroup]
    plugins: tuple[Plugin, ...]
    release: Release
    details: bool

    def profile_of(self, pod: QueuedPod) -> Profile:
        """Return the profile that filters and scores for a pod."""
        ...

    def clear_nomination(self, key: str) -> None:
        """End the nomination of a pod in a queue."""
        ...

    def responsible(self, pod: Pod) -> bool:
        """Tell whether this scheduler is responsible for a pod."""
        ...

    def later(self, action: Callable[[], None]) -> None:
        """Queue what another goroutine does."""
        ...

    def tell(self, what: str, about: str = "", text: str = "", detail: object = None) -> None:
        """Record an event."""
        ...

    def create_binding(self, key: str, node: str) -> str:
        """Bind a pod in the API; return why the API refuses, "" if it does not."""
        ...

    def claims_bound(self, keys: Iterable[str]) -> None:
        """Announce claims whose volumes were written."""
        ...

    def provision(self, key: str, node: str) -> None:
        """Have the volume of a claim made for a node."""
        ...

    def evict(self, key: str, plugin: str) -> str:
        """Evict a pod for a plugin; return why the API refuses, "" if it does not."""
        ...

    def patch_group(self, key: str, status: PodGroupStatus) -> None:
        """Store a PodGroup's status in the API."""
        ...

    def activate(self, keys: Iterable[str]) -> None:
        """Ask for pods to be moved to the active queue (PodsToActivate)."""
        ...


METHODS: Mapping[str, tuple[str, ...]] = {
    "preFilter": ("pre_filter",),
    "postFilter": ("post_filter",),
    "reserve": ("reserve", "unreserve"),
    "permit": ("permit",),
    "preBind": ("pre_bind",),
    "bind": ("bind",),
    "postBind": ("post_bind",),
}
"""The extension points at which plugins are called in turn, with the methods of :class:`Plugin` for each."""

POINTS = tuple(METHODS)
"""Their names, in the order in which a pod passes them; what filters and scores is a profile."""


class Plugin:
    """A plugin that does nothing. ``name`` is its name in a configuration; ``events`` help pods it refused.

    ``framework`` is its handle: set before anything else is called.
    """

    name = ""
    events: frozenset[str] = frozenset()
    framework: Handle

    def attach(self, framework: Handle) -> None:
        """Get the handle to clock, queue, cluster and waiting pods."""
        self.framework = framework

    def works_at(self, point: str) -> bool:
        """Tell whether it does anything at an extension point, so that calling it there means something."""
        return any(getattr(type(self), name) is not getattr(Plugin, name) for name in METHODS[point])

    def sort_key(self, pod: QueuedPod) -> Any:
        """Return what pods are sorted by; the smallest is tried first (QueueSort)."""
        return -pod.state.priority, pod.timestamp

    def pre_filter(self, pod: QueuedPod) -> Status:
        """Look at the pod before any node is (PreFilter)."""
        del pod
        return SUCCESS

    def post_filter(self, pod: QueuedPod, attempt: Any) -> Status | None:
        """Do something about a pod that fits nowhere (PostFilter); ``None`` if it is not asked."""
        del pod, attempt
        return None

    def reserve(self, pod: QueuedPod, node: str) -> Status:
        """Set aside what a pod needs that was just assumed on a node (Reserve)."""
        del pod, node
        return SUCCESS

    def unreserve(self, pod: QueuedPod) -> None:
        """Take back what was reserved for a pod that will not be bound (Unreserve).

        It is called for every plugin of the point, the last one first, whether or not its Reserve ran.
        """
        del pod

    def permit(self, pod: QueuedPod, node: str) -> Status:
        """Let a pod that was assumed on a node go on, wait or fail (Permit)."""
        del pod, node
        return SUCCESS

    def permitted(self, pod: QueuedPod) -> None:
        """Hear that a pod that waited has its verdict, before its binding cycle goes on."""
        del pod

    def pre_bind(self, pod: QueuedPod, node: str) -> Status:
        """Do what has to be done before a pod is bound (PreBind)."""
        del pod, node
        return SUCCESS

    def bind(self, pod: QueuedPod, node: str) -> Status | None:
        """Bind a pod (Bind); ``None`` leaves it to the next plugin."""
        del pod, node
        return None

    def post_bind(self, pod: QueuedPod) -> None:
        """Hear that a pod was bound (PostBind)."""
        del pod

    def pod_changed(self, key: str) -> None:
        """Hear that a pod came, was bound, changed its phase or went: what informers tell."""
        del key

    def group_changed(self, key: str) -> None:
        """Hear that a PodGroup came or changed."""
        del key


class Observer:
    """Records what a plugin's own objects go through in a run. One that records nothing.

    ``fields`` are those that its records add to a trace. In a cycle's order: :meth:`begin`, :meth:`popped`,
    then :meth:`record`; without a trace only :meth:`marked`. It outlives a restart of the scheduler, and is
    copied with the simulation.
    """

    fields: tuple[str, ...] = ()

    def notice(self, event: TimelineEvent, pods: Mapping[str, Pod]) -> None:
        """Take note of an event as it is recorded; ``pods`` are those of the API at that moment."""
        del event, pods

    def begin(self, framework: Handle) -> None:
        """Look at everything before time passes to the next attempt."""
        del framework

    def popped(self, framework: Handle, pod: QueuedPod) -> None:
        """Look at what the attempt of a pod finds."""
        del framework, pod

    def record(
        self, framework: Handle, pod: QueuedPod, attempt: Attempt, events: Iterable[TimelineEvent]
    ) -> PluginRecord:
        """Return the record of a cycle; ``events`` happened since the previous one, and in it."""
        raise NotImplementedError

    def marked(self) -> PluginRecord:
        """Return the marks of a cycle without a trace."""
        raise NotImplementedError

    def final(self, framework: Handle) -> PluginRecord:
        """Return the record of the end of a run."""
        raise NotImplementedError


class PrioritySort(Plugin):
    """The default QueueSort plugin: higher priority first, then who entered the queue earlier."""

    name = "PrioritySort"
