"""The longest time that a scheduler can wait for anything, over all configurations of a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_22.configuration.result import FrameworkConfiguration
from scheduler_core.schedulers.v1_22.plugins.table import FRAMEWORK_PLUGINS
from scheduler_core.schedulers.v1_22.queue import LONGEST_BACKOFF
from scheduler_core.schedulers.v1_22.queue_flushes import UNSCHEDULABLE_LOOK
from scheduler_core.schedulers.v1_22.releases import FrameworkRelease


def longest_wait(scenario: Scenario) -> float:
    """Return the longest time that a pod waits because of a plugin, and then in its own backoff.

    In seconds, over every configuration that takes effect, with all of its profiles. The flush of the
    unschedulable queue is not included (:func:`patience`).
    """
    frameworks = (configuration.framework for configuration in scenario.configurations)
    operated = (operation.object for operation in scenario.operations)
    objects = (*scenario.objects, *(obj for obj in operated if obj is not None))
    return max(_longest(framework, objects) for framework in (None, *frameworks))


def _longest(configuration: FrameworkConfiguration | None, objects: Iterable[KubernetesObject]) -> float:
    waits = max(_waits(configuration, objects), default=0.0)
    if configuration is None:
        return waits
    backoff = float(max(configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds))
    return waits + max(backoff, LONGEST_BACKOFF)


def _waits(
    configuration: FrameworkConfiguration | None, objects: Iterable[KubernetesObject]
) -> Iterator[float]:
    """Yield how long each plugin makes a pod wait, in each profile that enables it."""
    for entry in FRAMEWORK_PLUGINS:
        if entry.longest_wait is None:
            continue
        if configuration is None:
            yield entry.longest_wait(None, None, objects)
            continue
        for profile in configuration.profiles:
            if profile.has(entry.name):
                arguments = profile.arguments.get(entry.name)
                yield entry.longest_wait(arguments, configuration.version.edition, objects)


def patience(release: FrameworkRelease, longest: float) -> float:
    """Return the seconds without a change after which all waits and the retries that follow are over."""
    return release.unschedulable_stay + UNSCHEDULABLE_LOOK + longest


def latest(moments: Iterable[float | None]) -> float:
    """Return the latest of some moments, 0 if there is none."""
    return max((moment for moment in moments if moment is not None), default=0.0)
