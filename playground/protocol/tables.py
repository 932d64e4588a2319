"""The types of what is sent: tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from playground.protocol.declarations import Named, Raw, row

NodeIndex = Annotated[int, Named("NodeIndex")]
"""An index into the table of nodes or pods."""
PodIndex = Annotated[int, Named("PodIndex")]


class NodeStateWire(TypedDict):
    """The fields of a node that operations and controllers change; `null` for a node that is not there."""

    cpu: NotRequired[int]
    memory: NotRequired[int]
    pods: NotRequired[int]
    taints: NotRequired[Sequence[str]]
    unschedulable: NotRequired[bool]
    labels: NotRequired[Mapping[str, str]]
    conditions: NotRequired[Sequence[str]]
    extended: NotRequired[Mapping[str, int]]


_NodesUpdate = Annotated[Sequence[Any], row(major=int, node=NodeIndex, state=NodeStateWire)]


class NodesWire(TypedDict):
    """The table of nodes; every list has an entry a node."""

    names: Sequence[str]
    cpu: Sequence[int]
    memory: Sequence[int]
    pods: Sequence[int]
    zone: Sequence[str]
    taints: Sequence[Sequence[str]]
    unschedulable: Sequence[bool]
    labels: Sequence[Mapping[str, str]]
    extended: Mapping[str, Sequence[int]]
    conditions: Sequence[Sequence[str]]
    since: NotRequired[Sequence[float]]
    until: NotRequired[Sequence[float | None]]
    updates: NotRequired[Sequence[_NodesUpdate]]
    # Grows whenever the page writes another state into the table.
    version: NotRequired[int]


class OwnerWire(TypedDict):
    kind: str
    name: str


class PodsWire(TypedDict):
    """The table of pods; every list but `groups` and `podGroups` has an entry a pod."""

    keys: Sequence[str]
    cpu: Sequence[int]
    memory: Sequence[int]
    priority: Sequence[int]
    group: Sequence[int]
    groups: Sequence[OwnerWire]
    podGroup: Sequence[int]
    podGroups: Sequence[str]
    node: Sequence[int]
    extended: Mapping[str, Sequence[int]]


LaterPods = Annotated[Any, Raw("Pods & { from: number }"), Named("LaterPods")]
"""Pods that came since the table was sent; it begins at the pod `from`."""
Change = Annotated[Sequence[Any], row(pod=PodIndex, node=int), Named("Change")]
"""A pod and the node that it goes to; -1: none, -2: it is gone."""
NodeChange = Annotated[Sequence[Any], row(node=NodeIndex, state=NodeStateWire | None), Named("NodeChange")]
"""What is otherwise of a node; `null`: it is not there."""
TerminatingChange = Annotated[Sequence[Any], row(pod=PodIndex, is_=Literal[0, 1]), Named("TerminatingChange")]
"""A pod that is Terminating from a cycle on (1), or no more (0)."""
ClusterEvent = Annotated[
    Sequence[Any], row(type=str, reason=str, object=str, message=str), Named("ClusterEvent")
]
