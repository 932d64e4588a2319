"""DefaultBinder, the Bind plugin that writes a pod's node to the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.status import SUCCESS, Status

if TYPE_CHECKING:
    from scheduler_core.schedulers.v1_22.queue import QueuedPod


class DefaultBinder(Plugin):
    """Binds every pod."""

    name = "DefaultBinder"

    def bind(self, pod: QueuedPod, node: str) -> Status:
        """Create the pod's Binding, which the API rejects if the pod is deleted or already has a node."""
        refused = self.framework.create_binding(pod.key, node)
        return Status("Error", refused) if refused else SUCCESS
