"""NodeName: only pods without a node are scheduled, so it never refuses one."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.interface import ClusterEventWithHint
from scheduler_core.schedulers.v1_37.plugins.base import Plugin
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared, Reused


class NodeName(Plugin):
    """Accepts every node."""

    key = "NodeName"


PLUGIN = Declared(
    "NodeName",
    "preFilter filter",
    rank=30,
    filters="spec.nodeName is empty or the node's name",
    events=(ClusterEventWithHint("Node", frozenset({"Add"})),),
    until="a node is added",
    signs=lambda pod, _: pod.node,
    reuse=Reused(filter="nodes"),
    code=NodeName(),
)
