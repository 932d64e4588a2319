"""What schedules the pods of one ``spec.schedulerName``: a profile's plugins, predicates and priorities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from scheduler_core.cluster.state import Cluster
from scheduler_core.framework.interface import POINTS, Plugin
from scheduler_core.framework.profile import Scheduling
from scheduler_core.scheduling.vectors import VectorStore


class ProfileSpec(NamedTuple):
    """A profile as a framework is given it: plugins by extension point, and what filters and scores.

    Plugins are named; without ``points`` every plugin runs wherever it does something. ``plugins`` are its
    own, if not all of the framework are.
    """

    points: Mapping[str, Iterable[str]] | None
    scheduling: Scheduling
    plugins: Sequence[Plugin] | None = None


@dataclass(frozen=True, slots=True)
class ProfileRuntime:
    """A profile that runs. ``at`` has the plugins by extension point, in the order of their calls."""

    at: Mapping[str, tuple[Plugin, ...]]
    scheduling: Scheduling
    vectors: VectorStore


def make_runtime(given: ProfileSpec, plugins: Sequence[Plugin], cluster: Cluster) -> ProfileRuntime:
    """Return the runtime of a profile that has ``plugins``; one that is named and not there does nothing."""
    named = {plugin.name: plugin for plugin in plugins}
    at: dict[str, tuple[Plugin, ...]] = {}
    for point in POINTS:
        names = named if given.points is None else given.points.get(point, ())
        found = (named[name] for name in names if name in named)
        at[point] = tuple(plugin for plugin in found if plugin.works_at(point))
    scheduling = replace(given.scheduling, profile=given.scheduling.others)
    return ProfileRuntime(at, scheduling, VectorStore(cluster, scheduling.profile))
