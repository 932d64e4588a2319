"""Nodes and pods of a scenario, each with one index for the whole history.

A table lists everything that ever exists: first the initial objects in creation order, then those that
operations create, in their order. In virtual time controllers create pods as well: those that exist at the
start come before the operations' pods, later ones are appended as they are met. Frames carry indices into it
instead of names. ``since`` and ``until`` are major steps: 1 is the initial objects, operations of step n act
at n + 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from playground.wire import Encoded, join
from scheduler_core.kubernetes.model import (
    Container,
    KubernetesObject,
    Node,
    ObjectMeta,
    OwnerReference,
    Pod,
    Resources,
)
from scheduler_core.run import is_timed, simulate, usages
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.coscheduling.groups import group_key

PENDING, ABSENT = -1, -2  # in a placement: waits for a node; does not exist (yet or any more)
BASIC = ("cpu", "memory", "pods")
ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
NO_GROUP = {"kind": "Pod", "name": ""}  # pods without a controller


def pod_usage(pod: Pod) -> dict[str, int]:
    """Return a pod's usage of its node as v1.11 and v1.22 count it: its containers' requests, and one pod.

    Millicores, bytes, counts (schedulercache.NodeInfo.AddPod).
    """
    usage: dict[str, int] = {}
    for container in pod.containers:
        for name, amount in container.requests.items():
            usage[name] = usage.get(name, 0) + amount
    usage["pods"] = 1
    return usage


def _extended(amounts: Resources) -> dict[str, int]:
    return {name: amount for name, amount in amounts.items() if name not in BASIC}


def _history(scenario: Scenario, kind: type) -> Iterator[tuple[int, KubernetesObject]]:
    for item in scenario.objects:
        if isinstance(item, kind):
            yield 1, item
    for operation in scenario.operations:
        if operation.object is not None and isinstance(operation.object, kind):
            yield operation.step + 1, operation.object


class Tables:
    """The node and pod tables of one scenario.

    ``start`` is each pod's placement at index 0: a node index, :data:`PENDING` or :data:`ABSENT`.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.nodes: list[Node] = []
        self.node_index: dict[str, int] = {}
        self.since: list[int] = []
        self.until: list[int | None] = []
        self.pods: list[Pod] = []
        self.keys: list[str] = []
        self.pod_index: dict[str, int] = {}
        self.usage: list[dict[str, int]] = []
        self.start: list[int] = []
        self._shared_usage: dict[Any, dict[str, int]] = {}
        self._usage_of: dict[int, dict[str, int]] = {}  # by the identity of containers of ``pods``
        self._counted = usages(scenario)
        self._node_text: Encoded | None = None
        self._pod_text: tuple[int, Encoded] | None = None  # for this number of pods
        self.timed = is_timed(scenario)
        self.known = 0  # pods that are known from the start
        for step, node in _history(scenario, Node):
            assert isinstance(node, Node)
            if node.meta.name not in self.node_index:
                self.node_index[node.meta.name] = len(self.nodes)
                self.nodes.append(node)
                self.since.append(step)
                self.until.append(None)
        self.node_names = [*self.node_index]
        self.updates: list[list[Any]] = []
        for operation in scenario.operations:
            self._note_node_end(operation)
            self._note_node_update(operation)
        initial = [item for item in scenario.objects if isinstance(item, Pod)]
        started = simulate(scenario, trace=False).cluster.pods if self.timed else {}
        for pod in initial:  # those of a Job that Kueue holds exist once it is admitted
            exists = scenario.kueue is None or pod.meta.key in started
            self.add(pod, self.placement_of(pod) if exists else ABSENT)
        for key, state in started.items():
            self.add(state.pod)
            self.start[self.pod_index[key]] = self._placed(state.node_name)
        for operation in scenario.operations:
            if isinstance(operation.object, Pod):
                self.add(operation.object)
        self.known = len(self.pods)
        self.revised = {o.key for o in scenario.operations if isinstance(o.object, Pod)}  # externally

    @property
    def met(self) -> int:
        """The number of pods that were added while the simulation ran."""
        return len(self.pods) - self.known

    def begins_as(self, other: Tables) -> bool:
        """Return whether another scenario's tables have the same nodes and pods until cycles add some."""
        ours, theirs = ([*one.pod_index][: one.known] for one in (self, other))
        return self.node_index == other.node_index and ours == theirs

    def take_over(self, other: Tables, first: int, count: int) -> None:
        """Replace stored pods by the whole ones of tables with the same indices."""
        self.pods[first:count] = other.pods[first:count]

    def add(self, pod: Pod, placement: int = ABSENT) -> None:
        """Add a pod, with its placement at the start, unless it is in the table."""
        key = pod.meta.key
        if key not in self.pod_index:
            self.pod_index[key] = len(self.pods)
            self.keys.append(key)
            self.usage.append(self._interned_usage(key, pod))
            self.start.append(placement)
            self.pods.append(pod)

    def row(self, index: int) -> list[Any]:
        """Return ``[key, usage, priority, owner's kind, owner's name, PodGroup]`` for :meth:`extend`."""
        pod = self.pods[index]
        owner = pod.meta.controller
        found = [owner.kind, owner.name] if owner is not None else ["", ""]
        return [pod.meta.key, self.usage[index], pod.priority, *found, pod.pod_group]

    def extend(self, rows: Iterable[list[Any]]) -> None:
        """Add stored pods, with the fields that the table needs."""
        for key, usage, priority, kind, owner, *group in rows:  # older rows name no PodGroup
            namespace, _, name = key.rpartition("/")
            owners = (OwnerReference(kind, owner, "", controller=True),) if kind else ()
            requests = {name: amount for name, amount in usage.items() if name != "pods"}
            meta = ObjectMeta(name, namespace, owner_references=owners)
            self.add(
                Pod(
                    meta,
                    containers=(Container("", requests=requests),),
                    priority=priority,
                    pod_group="".join(group),
                )
            )

    def _interned_usage(self, key: str, pod: Pod) -> dict[str, int]:
        # Replicas share one dictionary; a trace has tens of thousands of pods of few shapes.
        counted = self._counted.get(key)
        if counted is not None:
            return self._interned({**counted, "pods": 1})
        known = self._usage_of.get(id(pod.containers))
        if known is None:
            known = self._usage_of[id(pod.containers)] = self._interned(pod_usage(pod))
        return known

    def _interned(self, usage: dict[str, int]) -> dict[str, int]:
        return self._shared_usage.setdefault(tuple(sorted(usage.items())), usage)

    def _note_node_end(self, operation: Operation) -> None:
        if operation.kind == "Node" and operation.key in self.node_index:
            gone = operation.action == "delete"
            self.until[self.node_index[operation.key]] = operation.step + 1 if gone else None

    def _note_node_update(self, operation: Operation) -> None:
        node = operation.object
        if isinstance(node, Node) and self.nodes[self.node_index[operation.key]] is not node:
            self.updates.append([operation.step + 1, self.node_index[operation.key], node_state(node)])

    def placement_of(self, pod: Pod) -> int:
        """Return the placement in a pod object."""
        if pod.terminal:
            return ABSENT
        return self._placed(pod.node_name)

    def _placed(self, node: str) -> int:
        return self.node_index.get(node, ABSENT) if node else PENDING

    def node_wire(self) -> dict[str, Any]:
        """Return the protocol's ``Nodes``."""
        resources = sorted({name for node in self.nodes for name in _extended(node.allocatable)})
        return {
            "names": [node.meta.name for node in self.nodes],
            **{name: [node.allocatable.get(name, 0) for node in self.nodes] for name in BASIC},
            "zone": [_zone(node) for node in self.nodes],
            "taints": [
                [_taint(taint.key, taint.value, taint.effect) for taint in node.taints] for node in self.nodes
            ],
            "unschedulable": [node.unschedulable for node in self.nodes],
            "labels": [dict(node.meta.labels) for node in self.nodes],
            "extended": {name: [node.allocatable.get(name, 0) for node in self.nodes] for name in resources},
            "conditions": [_conditions(node) for node in self.nodes],
            "since": self.since,
            "until": self.until,
            "updates": self.updates,
        }

    def node_text(self) -> Encoded:
        """Return :meth:`node_wire` encoded; it does not change, so it is encoded once for all viewers."""
        if self._node_text is None:
            self._node_text = join(self.node_wire())
        return self._node_text

    def pod_text(self) -> Encoded:
        """Return :meth:`pod_wire` encoded, cached for the current number of pods."""
        kept, count = self._pod_text, len(self.pods)
        if kept is None or kept[0] != count:
            kept = self._pod_text = (count, join(self.pod_wire()))
        return kept[1]

    def pod_wire(self, first: int = 0) -> dict[str, Any]:
        """Return the protocol's ``Pods``, from index ``first`` on."""
        groups: list[dict[str, str]] = []
        numbers: dict[tuple[str, str], int] = {}
        group: list[int] = []
        pods = self.pods[first:]  # others may be added meanwhile
        usages = self.usage[first : first + len(pods)]
        for pod in pods:
            entry = _group(pod)
            key = (entry["kind"], entry["name"])
            if key not in numbers:
                numbers[key] = len(groups)
                groups.append(entry)
            group.append(numbers[key])
        resources = sorted({name for usage in usages for name in _extended(usage)})
        gangs = dict.fromkeys(filter(None, map(group_key, pods)))
        numbered = {key: number for number, key in enumerate(gangs)}
        return {
            "keys": [pod.meta.key for pod in pods],
            "cpu": [usage.get("cpu", 0) for usage in usages],
            "memory": [usage.get("memory", 0) for usage in usages],
            "priority": [pod.priority for pod in pods],
            "group": group,
            "groups": groups,
            "podGroup": [numbered.get(group_key(pod), -1) for pod in pods],
            "podGroups": list(gangs),
            "node": self.start[first : first + len(pods)],
            "extended": {name: [usage.get(name, 0) for usage in usages] for name in resources},
        }


def node_state(node: Node) -> dict[str, Any]:
    """Return a node's fields as in ``updates`` of the protocol's ``Nodes``."""
    return {
        **{name: node.allocatable.get(name, 0) for name in BASIC},
        "taints": [_taint(taint.key, taint.value, taint.effect) for taint in node.taints],
        "unschedulable": node.unschedulable,
        "labels": dict(node.meta.labels),
        "extended": _extended(node.allocatable),
        "conditions": _conditions(node),
    }


def _conditions(node: Node) -> list[str]:
    """Return the conditions with abnormal status, ``type=status``; most nodes have none."""
    return [
        f"{condition.type}={condition.status}"
        for condition in node.conditions
        if condition.status != ("True" if condition.type == "Ready" else "False")
    ]


def _zone(node: Node) -> str:
    return next((node.meta.labels[label] for label in ZONE_LABELS if label in node.meta.labels), "")


def _taint(key: str, value: str, effect: str) -> str:
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"


def _group(pod: Pod) -> dict[str, str]:
    owner = pod.meta.controller
    if owner is None:
        return NO_GROUP
    return {"kind": owner.kind, "name": f"{pod.meta.namespace}/{owner.name}"}
