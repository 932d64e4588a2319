"""What a plugin of the framework may do: one method an extension point, each of which it can leave out."""

from __future__ import annotations

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


POINTS = ("preFilter", "postFilter", "reserve", "permit", "postBind")
"""The extension points at which plugins are called in turn; what filters and scores is a profile."""


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

    def permit(self, pod: QueuedPod, node: str) -> Status:
        """Let a pod that was assumed on a node go on, wait or fail (Permit)."""
        del pod, node
        return SUCCESS

    def permitted(self, pod: QueuedPod) -> None:
        """Hear that a pod that waited has its verdict, before its binding cycle goes on."""
        del pod

    def unreserve(self, pod: QueuedPod) -> None:
        """Take back what was reserved for a pod that will not be bound (Unreserve)."""
        del pod

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
