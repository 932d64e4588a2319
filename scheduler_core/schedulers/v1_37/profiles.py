"""A configuration as it is compiled: profiles with their plugins by extension point, gates and extenders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from scheduler_core.schedulers.extenders.configuration import Extender
from scheduler_core.schedulers.v1_37.backoff import DEFAULT as DEFAULT_BACKOFF
from scheduler_core.schedulers.v1_37.backoff import Backoff
from scheduler_core.schedulers.v1_37.dialect import CURRENT, Dialect

Arguments = Mapping[str, Any]


class KubeSchedulerProfile(Struct, frozen=True):
    """One profile, compiled: plugin keys by extension point in order, weights at Score and at
    PlacementScore, arguments.
    """

    scheduler_name: str = "default-scheduler"
    points: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[str, int] = field(default_factory=dict)
    placement_weights: Mapping[str, int] = field(default_factory=dict)
    unprepared: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By extension point and plugin: the error of one that did not run at the point that prepares it."""

    arguments: Mapping[str, Arguments] = field(default_factory=dict)
    percentage: int = 100
    """percentageOfNodesToScore; 0: adaptive."""

    dialect: Dialect = CURRENT
    """The release that it is one of."""

    def has(self, plugin: str, point: str) -> bool:
        """Return whether the plugin runs at the point."""
        return plugin in self.points.get(point, ())

    def enabled(self, plugin: str) -> bool:
        """Return whether the plugin runs at any point."""
        return any(plugin in names for names in self.points.values())


class CompiledConfiguration(Struct, frozen=True):
    """All profiles by schedulerName, the feature gates that are set, and the extenders."""

    profiles: Mapping[str, KubeSchedulerProfile]
    gates: Mapping[str, bool]
    extenders: tuple[Extender, ...] = ()
    """In the order in which they are asked: those that are ignorable last."""

    backoff: Backoff = DEFAULT_BACKOFF
    dialect: Dialect = CURRENT
    """The release that runs with it."""

    def gate(self, name: str) -> bool:
        """Return whether a feature gate is on: as set, else by the release's default."""
        if name in self.dialect.lacks or name in self.dialect.locked:
            return name in self.dialect.locked
        found = self.gates.get(name)
        return self.dialect.gates.get(name, False) if found is None else found


UNCONFIGURED = CompiledConfiguration({}, {})
"""Of a cluster on its own."""
