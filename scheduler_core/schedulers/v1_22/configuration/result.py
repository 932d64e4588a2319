"""The compiled form of a KubeSchedulerConfiguration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.problems import Problem
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_22.configuration.plugins import COSCHEDULING, POINTS
from scheduler_core.schedulers.v1_22.configuration.versions import Version
from scheduler_core.settings.release import DEFAULT_SCHEDULER


class Enabled(Struct, frozen=True):
    """A plugin at an extension point; ``weight`` is 0 except at score."""

    name: str
    weight: int = 0


class FrameworkProfile(Struct, frozen=True):
    """One scheduler by name: its plugins by extension point, and its predicates and priorities.

    ``points`` maps each extension point to its plugins, in call order. ``arguments`` holds the arguments of
    each enabled plugin that has any, with defaults, as the types of
    :mod:`scheduler_core.schedulers.v1_22.configuration.arguments`, and Coscheduling's own. ``rules``
    lists those that evaluate the plugins: (plugin, point, predicate or priority, how today's rule
    differs).
    """

    scheduler_name: str
    points: Mapping[str, tuple[Enabled, ...]]
    arguments: Mapping[str, Any]
    profile: Profile
    percentage_of_nodes_to_score: int | None = None
    rules: tuple[tuple[str, str, str, str], ...] = ()

    def names(self, point: str) -> tuple[str, ...]:
        """Return the names of the plugins at an extension point, in call order."""
        return tuple(plugin.name for plugin in self.points[point])

    def has(self, plugin: str) -> bool:
        """Return whether a plugin is enabled at any extension point."""
        return any(plugin in self.names(point) for point in POINTS)

    @property
    def weights(self) -> dict[str, int]:
        """Return the weight of each plugin that scores."""
        return {plugin.name: plugin.weight for plugin in self.points["score"]}

    @property
    def queue_sort(self) -> str:
        """Return the plugin that sorts the queue, which is the same in all profiles."""
        return self.points["queueSort"][0].name

    @property
    def coscheduling(self) -> bool:
        """Return whether Coscheduling is enabled, so that pods may wait at Permit."""
        return self.has(COSCHEDULING)


class FrameworkConfiguration(Struct, frozen=True):
    """A scheduler process: its profiles in document order. Backoff is in seconds of virtual time.

    ``percentage_of_nodes_to_score`` 0 means that it depends on the cluster size, as in kube-scheduler.
    """

    version: Version
    profiles: tuple[FrameworkProfile, ...]
    percentage_of_nodes_to_score: int = 0
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    warnings: tuple[Problem, ...] = ()

    @property
    def main(self) -> FrameworkProfile:
        """Return the profile of ``default-scheduler``, or the first if it does not exist."""
        return self.of(DEFAULT_SCHEDULER) or self.profiles[0]

    @property
    def coscheduling(self) -> bool:
        """Return whether every profile enables Coscheduling."""
        return all(profile.coscheduling for profile in self.profiles)

    def of(self, scheduler_name: str) -> FrameworkProfile | None:
        """Return the profile responsible for pods of a ``spec.schedulerName``, if there is one."""
        name = scheduler_name or DEFAULT_SCHEDULER
        return next((profile for profile in self.profiles if profile.scheduler_name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all profiles."""
        return tuple(profile.scheduler_name for profile in self.profiles)


class EnabledPlugins(Struct, frozen=True):
    """A profile as any release of the framework runs it: plugins by point, weights, arguments by plugin."""

    points: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, int]
    arguments: Mapping[str, Any]
    percentage: int | None
