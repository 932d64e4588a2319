"""What schedules the pods of one ``spec.schedulerName``: a profile's plugins, predicates and priorities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from scheduler_core.cluster.state import Cluster
from scheduler_core.framework.plugins import POINTS, Plugin
from scheduler_core.framework.profile import Scheduling
from scheduler_core.vectors import VectorStore


class Scheduler(NamedTuple):
    """A profile as a framework is given it: plugins by extension point, and what filters and scores.

    Plugins are named; without ``points`` every plugin runs wherever it does something. ``plugins`` are its
    own, if not all of the framework are.
    """

    points: Mapping[str, Iterable[str]] | None
    scheduling: Scheduling
    plugins: Sequence[Plugin] | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """A profile that runs. ``at`` has the plugins by extension point, in the order of their calls."""

    at: Mapping[str, tuple[Plugin, ...]]
    scheduling: Scheduling
    vectors: VectorStore


def make_lane(given: Scheduler, plugins: Sequence[Plugin], cluster: Cluster) -> Lane:
    """Return the lane of a profile; a plugin that is named and not there does nothing."""
    plugins = plugins if given.plugins is None else given.plugins
    named = {plugin.name: plugin for plugin in plugins}
    at = {
        point: tuple(plugins)
        if given.points is None
        else tuple(named[name] for name in given.points.get(point, ()) if name in named)
        for point in POINTS
    }
    scheduling = replace(given.scheduling, profile=given.scheduling.others)
    return Lane(at, scheduling, VectorStore(cluster, scheduling.profile))
