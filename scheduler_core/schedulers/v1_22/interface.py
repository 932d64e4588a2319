"""The plugin interface of the framework: one optional method per extension point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Protocol

from scheduler_core.kubernetes.model import KubernetesObject, Pod, PodGroup, PodGroupStatus
from scheduler_core.kubernetes.readers import Reader
from scheduler_core.record.plugin_record import PluginRecord
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_22.clock import VirtualClock
from scheduler_core.schedulers.v1_22.queue import QueuedPod, VirtualQueue
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.releases import FrameworkRelease
from scheduler_core.schedulers.v1_22.status import SUCCESS, Status
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPods


class Handle(Protocol):
    """The parts of its scheduler (framework.Handle) and of the API server that a plugin may use.

    ``others``, by kind and key, are objects that only custom schedulers read: queues and priority classes.
    """

    clock: VirtualClock
    cluster: Cluster
    queue: VirtualQueue
    waiting: WaitingPods
    pods: dict[str, Pod]
    groups: dict[str, PodGroup]
    others: dict[tuple[str, str], KubernetesObject]
    plugins: tuple[Plugin, ...]
    release: FrameworkRelease
    details: bool
    post_filter_phases: tuple[str, ...]

    def profile_of(self, pod: QueuedPod) -> Profile:
        """Return the profile that filters and scores for a pod."""
        ...

    def queued(self, key: str) -> QueuedPod | None:
        """Return a pod as it waits in a queue, ``None`` if it does not."""
        ...

    def retry_at(self, pod: QueuedPod) -> float | None:
        """Return when its queue tries a pod again whatever happens, in virtual seconds."""
        ...

    def clear_nomination(self, key: str) -> None:
        """End the nomination of a pod in a queue."""
        ...

    def responsible(self, pod: Pod) -> bool:
        """Return whether this scheduler is responsible for a pod."""
        ...

    def later(self, action: Callable[[], None]) -> None:
        """Queue an action of another goroutine."""
        ...

    def record_event(self, what: str, about: str = "", text: str = "", detail: object = None) -> None:
        """Record an event."""
        ...

    def create_binding(self, key: str, node: str) -> str:
        """Bind a pod in the API; return why the API rejects it, "" on success."""
        ...

    def claims_bound(self, keys: Iterable[str]) -> None:
        """Announce claims whose volumes were written."""
        ...

    def provision(self, key: str, node: str) -> None:
        """Have the volume of a claim provisioned for a node."""
        ...

    def evict(self, key: str, plugin: str) -> str:
        """Evict a pod for a plugin; return why the API rejects it, "" on success."""
        ...

    def patch_group(self, key: str, status: PodGroupStatus) -> None:
        """Store a PodGroup's status in the API."""
        ...

    def activate(self, keys: Iterable[str]) -> None:
        """Request that pods be moved to the active queue (PodsToActivate)."""
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
"""The extension points at which plugins are called in turn, with their :class:`Plugin` methods."""

POINTS = tuple(METHODS)
"""Their names, in the order in which a pod passes them; Filter and Score belong to the profile."""


class Plugin:
    """A plugin that does nothing. ``name`` is its name in a configuration.

    ``events`` are the cluster events that may help the pods it rejected. ``arguments_reader`` validates its
    arguments in ``pluginConfig`` and returns what its constructor takes; ``None`` if it takes none.
    ``framework`` is its handle, set before anything else is called.
    """

    name = ""
    events: frozenset[str] = frozenset()
    arguments_reader: Reader | None = None
    framework: Handle

    @classmethod
    def points(cls) -> tuple[str, ...]:
        """Return the extension points that the class implements, queueSort included."""
        sorts = ("queueSort",) if cls.sort_key is not Plugin.sort_key else ()
        return (*sorts, *(point for point in METHODS if _overridden(cls, point)))

    def attach(self, framework: Handle) -> None:
        """Set the handle to clock, queue, cluster and waiting pods."""
        self.framework = framework

    def works_at(self, point: str) -> bool:
        """Return whether the plugin implements an extension point, so that calling it there has an effect."""
        return _overridden(type(self), point)

    def sort_key(self, pod: QueuedPod) -> Any:
        """Return the sort key of a pod; the smallest is scheduled first (QueueSort)."""
        return -pod.state.priority, pod.timestamp

    def shown_sort_key(self, pod: QueuedPod) -> tuple[tuple[float | str, ...], str]:
        """Return the sort key as it is shown, and the object whose time it holds.

        The key is priority, seconds of virtual time and whatever else the plugin compares.
        """
        return (pod.state.priority, pod.timestamp), "pod"

    def holds_until(self, now: float) -> Iterator[float]:
        """Yield the times at which the plugin no longer holds some pods back, as far as they are known."""
        del now
        yield from ()

    def pre_filter(self, pod: QueuedPod) -> Status:
        """Check the pod before any node is filtered (PreFilter)."""
        del pod
        return SUCCESS

    def post_filter(self, pod: QueuedPod, attempt: Any) -> Status:
        """Handle a pod without a feasible node (PostFilter)."""
        del pod, attempt
        return Status("Unschedulable")

    def reserve(self, pod: QueuedPod, node: str) -> Status:
        """Reserve the resources of a pod that was just assumed on a node (Reserve)."""
        del pod, node
        return SUCCESS

    def unreserve(self, pod: QueuedPod) -> None:
        """Release what was reserved for a pod that will not be bound (Unreserve).

        It is called for every plugin of the extension point, in reverse order, whether or not its Reserve
        ran.
        """
        del pod

    def permit(self, pod: QueuedPod, node: str) -> Status:
        """Allow, delay or reject a pod that was assumed on a node (Permit)."""
        del pod, node
        return SUCCESS

    def permitted(self, pod: QueuedPod) -> None:
        """Handle the verdict on a pod that waited at Permit, before its binding cycle continues."""
        del pod

    def pre_bind(self, pod: QueuedPod, node: str) -> Status:
        """Do the work required before a pod is bound (PreBind)."""
        del pod, node
        return SUCCESS

    def bind(self, pod: QueuedPod, node: str) -> Status | None:
        """Bind a pod (Bind); ``None`` leaves it to the next plugin."""
        del pod, node
        return None

    def post_bind(self, pod: QueuedPod) -> None:
        """Handle a pod that was bound (PostBind)."""
        del pod

    def pod_changed(self, key: str) -> None:
        """Handle the informer event of a pod that was created, bound or deleted, or changed its phase."""
        del key

    def group_changed(self, key: str) -> None:
        """Handle the informer event of a PodGroup that was created or changed."""
        del key


def _overridden(plugin: type[Plugin], point: str) -> bool:
    """Return whether a class implements a method of an extension point."""
    return any(getattr(plugin, name) is not getattr(Plugin, name) for name in METHODS[point])


class Observer:
    """Records the history of a plugin's own objects in a run. This base class records nothing.

    ``fields`` are the fields that its records add to a trace, each with its type; ``entries`` names the
    timeline entries about the status of its objects, which are no Kubernetes events and may recur while
    nothing else changes. A cycle calls :meth:`begin`, :meth:`popped`, then :meth:`record`; without a trace
    only :meth:`marked`. An observer survives a restart of the scheduler, and is copied with the simulation.
    """

    fields: ClassVar[Mapping[str, Any]] = {}
    entries: tuple[str, ...] = ()

    def notice(self, event: TimelineEvent, pods: Mapping[str, Pod]) -> None:
        """Handle an event as it is recorded; ``pods`` are the pods in the API at that moment."""
        del event, pods

    def begin(self, framework: Handle) -> None:
        """Observe the state before the time advances to the next attempt."""
        del framework

    def popped(self, framework: Handle, pod: QueuedPod | None) -> None:
        """Observe the state that the attempt of a pod finds; ``None`` for that of a custom scheduler."""
        del framework, pod

    def record(
        self, framework: Handle, pod: QueuedPod | None, attempt: Attempt, events: Iterable[TimelineEvent]
    ) -> PluginRecord:
        """Return the record of a cycle; ``events`` are those since the previous cycle and in this one."""
        raise NotImplementedError

    def marked(self) -> PluginRecord:
        """Return the marks of a cycle without a trace."""
        raise NotImplementedError

    def final(self, framework: Handle) -> PluginRecord:
        """Return the record of the end of a run."""
        raise NotImplementedError


class PrioritySort(Plugin):
    """The default QueueSort plugin: higher priority first, then earlier entry into the queue."""

    name = "PrioritySort"
