"""How long anything that a scheduler waits for can take, over all that a scenario configures."""

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
    """Return the longest way of a pod through Permit, its group's denial or back-off, and its own backoff.

    Every configuration that comes into force counts, with all of its profiles. In seconds; the flush of the
    unschedulable queue comes on top (:func:`patience`).
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
    """Yield for each profile how long a group may wait and then be denied or backed off."""
    edition = configuration.version.edition
    for profile in configuration.profiles:
        if not profile.coscheduling:
            continue
        arguments = profile.arguments.get(COSCHEDULING)
        known = arguments if isinstance(arguments, Arguments) else Arguments()
        permit = min(float(known.permit_waiting_seconds or DEFAULT_WAIT), LONGEST_WAIT)
        denied = float(known.denied_seconds or CACHE_DEFAULT) if edition.denies else 0.0
        backed_off = float(known.backoff_seconds) if edition.backs_off else 0.0
        yield max(groups, permit) + max(0.0, denied) + max(0.0, backed_off)  # below 0 is for ever


def patience(release: Release, longest: float) -> float:
    """Return after how many seconds without a change all waits are over, and the retries that follow."""
    return release.unschedulable_stay + UNSCHEDULABLE_LOOK + longest


def latest(moments: Iterable[float | None]) -> float:
    """Return the last of some moments, 0 if there is none."""
    return max((moment for moment in moments if moment is not None), default=0.0)
