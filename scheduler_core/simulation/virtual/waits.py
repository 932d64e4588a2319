"""The longest time that a scheduler can wait for anything, over all configurations of a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_core.framework.configuration.plugins import COSCHEDULING
from scheduler_core.framework.configuration.profiles import Configuration
from scheduler_core.framework.configuration.result import FrameworkConfiguration
from scheduler_core.framework.plugins.coscheduling.arguments import Arguments
from scheduler_core.framework.plugins.coscheduling.permit import DEFAULT_WAIT, LONGEST_WAIT
from scheduler_core.framework.plugins.coscheduling.state import CACHE_DEFAULT
from scheduler_core.framework.queue import LONGEST_BACKOFF
from scheduler_core.framework.queue_flushes import UNSCHEDULABLE_LOOK
from scheduler_core.framework.releases import Release
from scheduler_core.objects.model import PodGroup
from scheduler_core.scenario.scenario import Scenario


def longest_wait(scenario: Scenario) -> float:
    """Return the longest time of a pod at Permit, in its group's denial or backoff, and in its own backoff.

    In seconds, over every configuration that takes effect, with all of its profiles. The flush of the
    unschedulable queue is not included (:func:`patience`).
    """
    changed = (operation.configuration for operation in scenario.operations)
    given = (Configuration(scenario.policy, scenario.settings), *changed)
    everything = (*scenario.objects, *(operation.object for operation in scenario.operations))
    told = [obj.schedule_timeout_seconds or 0 for obj in everything if isinstance(obj, PodGroup)]
    groups = min(float(max(told, default=0)), LONGEST_WAIT)
    return max(
        DEFAULT_WAIT,
        *(_longest(one.framework, groups) for one in given if one is not None and one.framework is not None),
        groups,
    )


def _longest(configuration: FrameworkConfiguration, groups: float) -> float:
    backoff = float(max(configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds))
    return max(_of_groups(configuration, groups), default=0.0) + max(backoff, LONGEST_BACKOFF)


def _of_groups(configuration: FrameworkConfiguration, groups: float) -> Iterator[float]:
    """Yield, per profile with coscheduling, how long a group may wait and then be denied or backed off."""
    edition = configuration.version.edition
    for profile in configuration.profiles:
        if not profile.coscheduling:
            continue
        arguments = profile.arguments.get(COSCHEDULING)
        known = arguments if isinstance(arguments, Arguments) else Arguments()
        permit = min(float(known.permit_waiting_seconds or DEFAULT_WAIT), LONGEST_WAIT)
        denied = float(known.denied_seconds or CACHE_DEFAULT) if edition.denies else 0.0
        backed_off = float(known.backoff_seconds) if edition.backs_off else 0.0
        yield max(groups, permit) + max(0.0, denied) + max(0.0, backed_off)  # a negative value means forever


def patience(release: Release, longest: float) -> float:
    """Return the seconds without a change after which all waits and the retries that follow are over."""
    return release.unschedulable_stay + UNSCHEDULABLE_LOOK + longest


def latest(moments: Iterable[float | None]) -> float:
    """Return the latest of some moments, 0 if there is none."""
    return max((moment for moment in moments if moment is not None), default=0.0)
