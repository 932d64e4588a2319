"""The queue's questions to the plugins: PreEnqueue and queueing hints."""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo
from scheduler_core.schedulers.v1_37.interface import ClusterEvent, HintContext
from scheduler_core.schedulers.v1_37.podgroups import group_key, min_count
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.registrations import Registrations
from scheduler_core.schedulers.v1_37.state import ClusterState

PREEMPTION = "DefaultPreemption"
GANG = "GangScheduling"


class PluginRules:
    """PreEnqueue and hints of the plugins of every profile (queue.QueueingRules)."""

    def __init__(
        self,
        cluster: ClusterState,
        configuration: CompiledConfiguration,
        pre_enqueue: Callable[[CompiledPod], str | None],
    ) -> None:
        self.cluster = cluster
        self.configuration = configuration
        self.pre_enqueue = pre_enqueue
        """PreEnqueue of the plugins that look at the pod alone."""

        self.registrations = Registrations(configuration)
        self.preempting: set[str] = set()
        """Pods whose victims are still being deleted."""

    def gate(self, waiting: QueuedPodInfo) -> str | None:
        """Return the plugin that refuses the pod; the one that gated it so far is asked first."""
        points = self.configuration.profiles[waiting.pod.scheduler_name].points.get("preEnqueue", ())
        own = [plugin for plugin in (PREEMPTION, GANG) if plugin in points]
        so_far = waiting.gated_by
        if so_far in own and self._refuses(so_far, waiting):
            return so_far
        found = self.pre_enqueue(waiting.pod)
        if found is not None:
            return found
        return next((plugin for plugin in own if self._refuses(plugin, waiting)), None)

    def _refuses(self, plugin: str | None, waiting: QueuedPodInfo) -> bool:
        """Return whether one of the two plugins that look beyond the pod refuses it."""
        if plugin == PREEMPTION:
            return waiting.key in self.preempting
        return self._lacks_members(waiting)

    def _lacks_members(self, waiting: QueuedPodInfo) -> bool:
        """Return whether the pod's gang has fewer pods than ``minCount``, bound ones included."""
        key = group_key(waiting.pod.manifest)
        group = None if key is None else self.cluster.objects.get("PodGroup", {}).get(key)
        if key is None or group is None:
            return False
        known = (pod for pod in self.cluster.members(key) if pod.node or self._handled(pod))
        return sum(1 for _ in known) < min_count(group)

    def _handled(self, pod: CompiledPod) -> bool:
        return pod.scheduler_name in self.configuration.profiles

    def answers(self, waiting: QueuedPodInfo, event: ClusterEvent) -> dict[str, str]:
        """Return the hints of the plugins that rejected the pod and registered the event."""
        profile = self.configuration.profiles[waiting.pod.scheduler_name]
        context = HintContext(self.cluster, profile, self.configuration)
        out: dict[str, str] = {}
        for plugin in sorted(waiting.rejectors):
            row = self.registrations.find(plugin, event)
            if row is None:
                continue
            if (
                event.resource == "TargetPod"
                and event.new is not None
                and CompiledPod(event.new).key != waiting.key
            ):
                out[plugin] = "QueueSkip"  # another member of its group changed
                continue
            try:
                out[plugin] = "Queue" if row.hint is None else row.hint(waiting.pod, event, context)
            except (ValueError, KeyError, TypeError):
                out[plugin] = "Error"  # an object that the plugin cannot read queues the pod
        return out

    def registered(self, event: ClusterEvent) -> frozenset[str]:
        """Return the plugins that registered the event."""
        return self.registrations.plugins_for(event)
