"""What a KubeSchedulerConfiguration is compiled to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.config.policy.profile import Profile
from scheduler_core.framework.configuration.plugins import COSCHEDULING, POINTS
from scheduler_core.framework.configuration.versions import DEFAULT_SCHEDULER, Version
from scheduler_core.objects.problems import Problem


@dataclass(frozen=True, slots=True)
class Enabled:
    """A plugin at an extension point; ``weight`` is 0 but for those that score."""

    name: str
    weight: int = 0


@dataclass(frozen=True, slots=True)
class FrameworkProfile:
    """One scheduler by name: what a framework calls, and what filters and scores for it.

    ``points`` has an entry for each extension point, its plugins in the order in which they are called.
    ``arguments`` holds the arguments of each enabled plugin that has any, defaults filled in, as the types of
    :mod:`scheduler_core.framework.configuration.arguments`, and Coscheduling's own. ``stands_for`` tells
    which rule evaluates a plugin: (plugin, point, predicate or priority, in what today's rule differs).
    """

    scheduler_name: str
    points: Mapping[str, tuple[Enabled, ...]]
    arguments: Mapping[str, Any]
    profile: Profile
    percentage_of_nodes_to_score: int | None = None
    stands_for: tuple[tuple[str, str, str, str], ...] = ()

    def names(self, point: str) -> tuple[str, ...]:
        """Return the plugins at a point, in order."""
        return tuple(plugin.name for plugin in self.points[point])

    def has(self, plugin: str) -> bool:
        """Tell whether a plugin is enabled anywhere."""
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
        """Tell whether groups of pods are scheduled together, which takes waiting at Permit."""
        return self.has(COSCHEDULING)


@dataclass(frozen=True, slots=True)
class FrameworkConfiguration:
    """A scheduler process: its profiles by order of the document. Backoff is in seconds of virtual time.

    ``percentage_of_nodes_to_score`` 0 leaves it to the size of the cluster, as kube-scheduler does.
    """

    version: Version
    profiles: tuple[FrameworkProfile, ...]
    percentage_of_nodes_to_score: int = 0
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    warnings: tuple[Problem, ...] = ()

    @property
    def main(self) -> FrameworkProfile:
        """Return the profile of ``default-scheduler``, or the first where there is none."""
        return self.of(DEFAULT_SCHEDULER) or self.profiles[0]

    def of(self, scheduler_name: str) -> FrameworkProfile | None:
        """Return the profile that is responsible for pods of a ``spec.schedulerName``, if one is."""
        name = scheduler_name or DEFAULT_SCHEDULER
        return next((profile for profile in self.profiles if profile.scheduler_name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all profiles."""
        return tuple(profile.scheduler_name for profile in self.profiles)
