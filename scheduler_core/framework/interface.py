"""What a plugin of the framework may do: one method an extension point, each of which it can leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from scheduler_core.framework.queue import QueuedPod
    from scheduler_core.framework.scheduler import Framework

Code = Literal["Success", "Wait", "Unschedulable", "UnschedulableAndUnresolvable", "Error"]


@dataclass(frozen=True, slots=True)
class Status:
    """What a plugin says of a pod. ``detail`` is the plugin's own record of the decision, with its numbers.

    ``seconds`` is how long to wait at Permit, ``nominated`` the node that PostFilter makes room on.
    """

    code: Code = "Success"
    message: str = ""
    detail: object = None
    seconds: float = 0.0
    nominated: str = ""

    @property
    def success(self) -> bool:
        """Tell whether the pod goes on."""
        return self.code == "Success"


SUCCESS = Status()


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
    framework: Framework

    def attach(self, framework: Framework) -> None:
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


class PrioritySort(Plugin):
    """The default QueueSort plugin: higher priority first, then who entered the queue earlier."""

    name = "PrioritySort"
