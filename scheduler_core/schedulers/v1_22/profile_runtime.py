"""The runtime of one ``spec.schedulerName``: a profile's plugins, predicates and priorities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.v1_11.vectors import VectorStore
from scheduler_core.schedulers.v1_22.interface import POINTS, Plugin
from scheduler_core.schedulers.v1_22.profile import Scheduling


class ProfileSpec(NamedTuple):
    """A profile as it is passed to a framework: plugins by extension point, predicates and priorities.

    ``points`` refers to plugins by name; without it every plugin runs at each extension point that it
    implements. ``plugins`` are the profile's own plugins; ``None`` means all plugins of the framework.
    """

    points: Mapping[str, Iterable[str]] | None
    scheduling: Scheduling
    plugins: Sequence[Plugin] | None = None


class ProfileRuntime(Struct, frozen=True):
    """A profile at run time. ``at`` maps each extension point to its plugins, in call order."""

    at: Mapping[str, tuple[Plugin, ...]]
    scheduling: Scheduling
    vectors: VectorStore


def make_runtime(given: ProfileSpec, plugins: Sequence[Plugin], cluster: Cluster) -> ProfileRuntime:
    """Create the runtime of a profile from ``plugins``; a name without a plugin is ignored."""
    named = {plugin.name: plugin for plugin in plugins}
    at: dict[str, tuple[Plugin, ...]] = {}
    for point in POINTS:
        names = named if given.points is None else given.points.get(point, ())
        found = (named[name] for name in names if name in named)
        at[point] = tuple(plugin for plugin in found if plugin.works_at(point))
    scheduling = replace(given.scheduling, profile=given.scheduling.others)
    return ProfileRuntime(at, scheduling, VectorStore(cluster, scheduling.profile))
