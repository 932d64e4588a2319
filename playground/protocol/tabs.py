"""The tabs of Inspect, by the key that an address, a room's position and a lesson's stop have for one."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from playground.protocol.declarations import Named

OwnCluster = Literal["ask", "contracts"]
"""Those that play a cluster of their own, which is no step of a lesson."""
StepTab = Literal[
    "story", "predicates", "cache", "priorities", "preemption", "podgroups", "queue", "events", "session",
    "network", "hints", "views", "descheduler", "kueue", "availability",
]  # fmt: skip
TabKey = Annotated[StepTab | OwnCluster, Named("TabKey")]

STEP_TABS: tuple[str, ...] = get_args(StepTab)
TABS: tuple[str, ...] = (*STEP_TABS, *get_args(OwnCluster))
