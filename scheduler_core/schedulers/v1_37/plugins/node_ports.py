"""NodePorts: host ports that other pods of the node use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.plugins.base import OK, SKIPPED, Codes, Context, Plugin, Rows, Status
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared
from scheduler_core.schedulers.v1_37.plugins.hints import always, answer, listed
from scheduler_core.schedulers.v1_37.pod_spec import Port
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments
from scheduler_core.schedulers.v1_37.status import UNSCHEDULABLE

_ANY = ("", "0.0.0.0")  # noqa: S104
_TAKEN = Status(UNSCHEDULABLE, ("node(s) didn't have free ports for the requested pod ports",))


def conflict(wanted: Iterable[Port], used: Iterable[Port]) -> bool:
    """Return whether a wanted port is among those in use (HostPortInfo.CheckConflict)."""
    return any(
        protocol == taken_protocol and port == taken and (ip == taken_ip or ip in _ANY or taken_ip in _ANY)
        for ip, protocol, port in wanted
        for taken_ip, taken_protocol, taken in used
    )


class NodePorts(Plugin):
    """Host ports of containers and sidecars."""

    key = "NodePorts"

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Skip without host ports."""
        return (OK if ctx.pod.host_ports else SKIPPED), None

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse nodes whose ports are taken."""
        nodes, wanted = ctx.nodes, ctx.pod.host_ports
        taken = [
            row
            for row in nodes.with_ports
            if nodes.nodes[row].ports and conflict(wanted, nodes.nodes[row].ports)
        ]
        return np.isin(rows, taken).astype(np.int64) if taken else None

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return the one reason."""
        del ctx, row, code
        return _TAKEN


def _after_pod_deleted(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    assert event.old is not None  # only registered for Delete
    return answer(conflict(pod.host_ports, CompiledPod(event.old).host_ports))


def _until(pod: CompiledPod) -> str:
    ports = listed([f"{port}/{protocol}" for _, protocol, port in pod.host_ports])
    return f"a pod that uses the host port {ports} leaves its node, or a node is added"


def _signed(pod: CompiledPod, arguments: Arguments) -> Any:
    """Return the numbers alone, those of init containers too."""
    del arguments
    containers = (*pod.containers, *pod.init_containers)
    ports = (int(port.get("hostPort") or 0) for one in containers for port in one.get("ports") or ())
    return sorted({port for port in ports if port})


PLUGIN = Declared(
    "NodePorts",
    "preFilter filter",
    rank=70,
    unprepared={"filter": 'reading "PreFilterNodePorts" from cycleState: not found'},
    filters="no host port of the pod is in use on the node",
    events=(
        ClusterEventWithHint("AssignedPod", frozenset({"Delete"}), _after_pod_deleted),
        ClusterEventWithHint("Node", frozenset({"Add"}), always),
    ),
    until=_until,
    signs=_signed,
    code=NodePorts(),
)
