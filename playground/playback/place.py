"""Where a cycle stands in its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.config.policy import Profile
from scheduler_core.config.settings import DEFAULT_SETTINGS, Settings
from scheduler_core.scenario.scenario import Operation


@dataclass(frozen=True, slots=True)
class Place:
    """A cycle's pod, nodes, changes and configuration, in the indices of the wire."""

    pod: int
    priority: int
    node: int | None
    node_at: Sequence[int]  # position in the cycle -> index on the wire
    changes: list[list[int]]
    operations: Sequence[Operation]
    policy: int = 0  # how many operations have changed the configuration
    profile: Callable[[], Profile] | None = None  # what is in force, compiled when it is asked for
    settings: Settings = DEFAULT_SETTINGS  # those in force
    node_index: Mapping[str, int] = field(default_factory=dict)  # of every node there ever is
    pod_index: Mapping[str, int] = field(default_factory=dict)  # of every pod met so far
    nodes: list[list[Any]] = field(default_factory=list)  # NodeStates that the cycle changed
    waiting: list[list[Any]] = field(default_factory=list)  # at Permit after the cycle: pod, node, deadline
    tried_by: str = ""  # the schedulerName of the profile, where there is more than one
    in_turn: bool = True  # equally good nodes are taken in turn, as v1.11 does; else the first of them
