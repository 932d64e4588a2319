"""A cycle's position in its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from scheduler_core.scenario.scenario import Operation
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings


class CycleIndices(Struct, frozen=True):
    """A cycle's pod, nodes, changes and configuration, in the indices of the wire."""

    pod: int
    priority: int
    node: int | None
    node_at: Sequence[int]  # position in the cycle -> index on the wire
    changes: list[list[int]]
    operations: Sequence[Operation]
    policy: int = 0  # how many operations have changed the configuration
    profile: Callable[[], Profile] | None = None  # the one in force, compiled on demand
    settings: Settings = DEFAULT_SETTINGS  # the ones in force
    node_index: Mapping[str, int] = field(default_factory=dict)  # of every node that ever exists
    pod_index: Mapping[str, int] = field(default_factory=dict)  # of every pod met so far
    nodes: list[list[Any]] = field(default_factory=list)  # NodeStates that the cycle changed
    terminating: list[list[int]] = field(default_factory=list)  # pods that became Terminating, or no more are
    waiting: list[list[Any]] = field(default_factory=list)  # at Permit after the cycle: pod, node, deadline
    tried_by: str = ""  # the schedulerName of the profile, if there are several, or of a custom scheduler
    in_turn: bool = True  # equal nodes are taken round-robin, as in v1.11; else the first of them
