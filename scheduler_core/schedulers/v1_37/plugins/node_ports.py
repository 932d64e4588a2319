"""NodePorts: host ports that other pods of the node use."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scheduler_core.schedulers.v1_37.plugins.base import OK, SKIPPED, Codes, Context, Plugin, Rows, Status
from scheduler_core.schedulers.v1_37.pods import Port
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


PLUGIN = NodePorts()
