"""Small objects and a queue with plugins made of tables, for the tests of the v1.37 queue."""

from __future__ import annotations

from typing import Any

from scheduler_core.schedulers.v1_37.clock import MillisecondClock
from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo
from scheduler_core.schedulers.v1_37.interface import ClusterEvent
from scheduler_core.schedulers.v1_37.moves import Moves
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.queue import SchedulingQueue, new_pod
from scheduler_core.schedulers.v1_37.run import SchedulerRun

SECOND = 1000

UPSTREAM = frozenset(
    "SchedulingGates PrioritySort NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts "
    "NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread "
    "InterPodAffinity DynamicResources DefaultPreemption NodeResourcesBalancedAllocation ImageLocality "
    "DefaultBinder NodeDeclaredFeatures GangScheduling TopologyPlacementGenerator PodGroupPodsCount".split()
)
"""The plugins of v1.37 itself that are simulated (plugins/registry.go)."""


def pod(name: str, *, priority: int = 0, node: str = "", **more: Any) -> dict[str, Any]:
    """Return a pod's manifest; ``more`` are ``labels``, ``status`` or fields of its specification."""
    metadata = {"name": name, "namespace": "default", "labels": more.pop("labels", {})}
    status = more.pop("status", {})
    cpu = more.pop("cpu", None)
    container: dict[str, Any] = {"name": "c", "image": "app"}
    if cpu is not None:
        container["resources"] = {"requests": {"cpu": cpu}}
    spec = {"containers": [container], "priority": priority, **more}
    if node:
        spec["nodeName"] = node
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def node(name: str, *, cpu: str = "4", pods: str = "10", **more: Any) -> dict[str, Any]:
    """Return a node's manifest; ``more`` are ``labels`` or fields of its specification."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": more.pop("labels", {})},
        "spec": more,
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": pods}},
    }


class TableRules:
    """Plugins that answer from tables: who gates which pod, and what each plugin says to an event."""

    def __init__(self) -> None:
        self.gates: dict[str, str] = {}
        self.hints: dict[tuple[str, str], str] = {}

    def gate(self, waiting: QueuedPodInfo) -> str | None:
        """Return the plugin that gates the pod."""
        return self.gates.get(waiting.key)

    def answers(self, waiting: QueuedPodInfo, event: ClusterEvent) -> dict[str, str]:
        """Return the answers in the table."""
        asked = ((plugin, self.hints.get((plugin, event.name))) for plugin in sorted(waiting.rejectors))
        return {plugin: answer for plugin, answer in asked if answer is not None}

    def registered(self, event: ClusterEvent) -> frozenset[str]:
        """Return the plugins of which the table has an answer."""
        return frozenset(plugin for plugin, name in self.hints if name == event.name)


class Bench:
    """A queue on a clock, with plugins made of tables."""

    def __init__(self) -> None:
        self.clock, self.moves, self.rules = MillisecondClock(), Moves(), TableRules()
        self.queue = SchedulingQueue(self.clock, self.rules, self.moves)

    def enter(self, name: str, *, priority: int = 0) -> QueuedPodInfo:
        """Let a pod arrive, and a millisecond pass."""
        waiting = new_pod(self.queue, CompiledPod(pod(name, priority=priority)))
        self.queue.enter(waiting)
        self.queue.pass_to(self.clock.now + 1)
        return waiting

    def fail(self, *plugins: str) -> str:
        """Pop the head and let it fail by the plugins; return its queue."""
        waiting = self.queue.pop()
        assert isinstance(waiting, QueuedPodInfo)
        waiting.failed(self.clock.now, frozenset(plugins), frozenset())
        return self.queue.requeue(waiting)

    def pass_seconds(self, seconds: float) -> None:
        """Let time pass."""
        self.queue.pass_to(self.clock.now + round(seconds * SECOND))

    def names(self) -> list[str]:
        """Pop everything and return the names."""
        out = []
        while (entity := self.queue.pop()) is not None:
            out.append(entity.key.removeprefix("default/"))
        return out

    def where(self) -> dict[str, str]:
        """Return each waiting pod's queue by name."""
        return {waiting.pod.name: queue for waiting, queue in self.queue.waiting()}


def event(resource: str, action: str) -> ClusterEvent:
    """Return an event without objects."""
    return ClusterEvent(resource, action, None, None)


def started(
    *objects: dict[str, Any], gates: dict[str, bool] | None = None, config: Any = None
) -> SchedulerRun:
    """Return a run after its step 0."""
    from scheduler_core.schedulers.v1_37.config import read_configuration

    run = SchedulerRun(read_configuration(config, gates))
    run.start(objects)
    return run


def entities(run: SchedulerRun) -> list[str]:
    """Return what each cycle was about."""
    return [cycle["entity"].removeprefix("default/") for cycle in run.cycles]


GANG = (
    """
apiVersion: podstep/v1
kind: SimulationSettings
scheduler: v1.37
featureGates: {GenericWorkload: true}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: train}
spec: {schedulingPolicy: {gang: {minCount: 3}}}
---
apiVersion: v1
kind: Pod
metadata: {name: lost}
spec: {schedulingGroup: {podGroupName: none}, containers: [{name: c, image: i}]}
"""
    + "".join(
        f"""---
apiVersion: v1
kind: Pod
metadata: {{name: w-{number}}}
spec:
  schedulingGroup: {{podGroupName: train}}
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: "2"}}}}}}]
"""
        for number in range(3)
    )
    + """---
kind: Scenario
spec:
  operations:
  - time: 30
    createOperation:
      object:
        apiVersion: v1
        kind: Node
        metadata: {name: n2}
        status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""
)
"""A native gang that waits for room: the second node comes after half a minute."""


NODE_AND_GPU_CLASS = """
apiVersion: podstep/v1
kind: SimulationSettings
scheduler: v1.37
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", pods: "9"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}
"""
"""The start of a bundle for v1.37: a node of four cores, and the class of its driver's devices."""
