"""NodeName: only pods without a node are scheduled, so it never refuses one."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.plugins.base import Plugin


class NodeName(Plugin):
    """Accepts every node."""

    key = "NodeName"


PLUGIN = NodeName()
