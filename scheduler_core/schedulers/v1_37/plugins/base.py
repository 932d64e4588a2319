"""What a plugin is: methods for its extension points, evaluated on rows of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from scheduler_core.schedulers.v1_37.nodes import Ints, Mask, NodeTable, Rows
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments, CompiledConfiguration, KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import ERROR, OK, SKIPPED, UNRESOLVABLE, Status

MAX_SCORE = 100

Codes = NDArray[np.int64]
"""One verdict a row: 0 passes; the plugin's :meth:`Plugin.verdict` decodes the others.

Rows with equal codes have equal statuses, so that one of them is asked for all.
"""


class Context(Struct):
    """One attempt, as the plugins see it: the pod, the cluster, and what each prepared (CycleState)."""

    pod: CompiledPod
    cluster: ClusterState
    profile: KubeSchedulerProfile
    configuration: CompiledConfiguration
    states: dict[str, Any] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    instead: NodeTable | None = None
    """Columns to look at instead of the cluster's."""
    handles: Mapping[str, Any] = field(default_factory=dict)
    """By plugin: what it keeps between the attempts of a running scheduler."""

    @property
    def plugins(self) -> Mapping[str, Any]:
        """The plugins of the release, by name."""
        return self.configuration.dialect.plugins

    @property
    def nodes(self) -> NodeTable:
        """The columns."""
        return self.cluster.nodes if self.instead is None else self.instead

    def arguments(self, plugin: str) -> Arguments:
        """Return the plugin's arguments in this profile."""
        return self.profile.arguments.get(plugin, {})


class Plugin:
    """A plugin that does nothing; each overrides the methods of its extension points."""

    key = ""
    of_class = True
    """Whether PreFilter answers every pod of a class alike, however often it is asked."""

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Prepare, skip or reject; the names are the nodes that Filter is limited to."""
        del ctx
        return OK, None

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Return a verdict for each row, or None if all pass."""
        del ctx, rows
        return None

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return the status of a verdict; ``row`` is any row that has it."""
        raise NotImplementedError

    def copy_state(self, state: Any) -> Any:
        """Return an independent copy of what PreFilter prepared, for a what-if."""
        return state

    def update(self, ctx: Context, state: Any, pod: CompiledPod, row: int, sign: int) -> None:
        """Add a pod to a row (1) or remove it (-1) in a what-if (PreFilterExtensions)."""

    def post_filter(self, ctx: Context) -> Status:
        """Do what the plugin does for a pod that fits on no node."""
        raise NotImplementedError

    def pre_score(self, ctx: Context, rows: Rows) -> Status:
        """Prepare or skip."""
        del ctx, rows
        return OK

    def score(self, ctx: Context, rows: Rows) -> Ints:
        """Return the raw score of each row."""
        raise NotImplementedError

    def normalize(self, ctx: Context, rows: Rows, raw: Ints) -> Ints:
        """Return scores of 0 to 100."""
        del ctx, rows
        return raw


class Unprepared(Plugin):
    """A plugin that did not run at PreFilter and finds no state of its own: an error on every node."""

    def __init__(self, text: str) -> None:
        self.text = text

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Fail every row."""
        del ctx
        return np.ones(len(rows), np.int64)

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return the error."""
        del ctx, row, code
        return Status(ERROR, (self.text,))


def unresolvable(reason: str) -> Status:
    """Return the status of a failure that preemption cannot help."""
    return Status(UNRESOLVABLE, (reason,))


def refused(mask: Mask) -> Codes | None:
    """Turn a mask of failing rows into verdicts."""
    return mask.astype(np.int64) if mask.any() else None


def default_normalize(raw: Ints, *, reverse: bool = False) -> Ints:
    """Scale to the greatest score (helper.DefaultNormalizeScore)."""
    most = int(raw.max()) if len(raw) else 0
    if most == 0:
        return np.full_like(raw, MAX_SCORE if reverse else 0)
    scaled = MAX_SCORE * raw // most
    return MAX_SCORE - scaled if reverse else scaled


__all__ = [
    "MAX_SCORE",
    "OK",
    "SKIPPED",
    "Codes",
    "Context",
    "Ints",
    "Mask",
    "Plugin",
    "Rows",
    "Status",
    "Unprepared",
    "default_normalize",
    "refused",
    "unresolvable",
]
