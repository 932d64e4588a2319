"""A scheduler from a profile of a KubeSchedulerConfiguration."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scheduler_core.coscheduling.arguments import ArgumentsError, read_arguments
from scheduler_core.coscheduling.editions import Edition
from scheduler_core.coscheduling.plugin import NAME, Coscheduling, PodGroupController
from scheduler_core.framework.configuration import ConfigurationError, SchedulerProfile
from scheduler_core.framework.default_preemption import DefaultPreemption
from scheduler_core.framework.plugins import Plugin, PrioritySort
from scheduler_core.framework.record import Attempt, Happening
from scheduler_core.framework.releases import RELEASES
from scheduler_core.framework.scheduler import Framework, Pace
from scheduler_core.objects.model import KubernetesObject
from scheduler_core.scenario import Problem


def build(
    profile: SchedulerProfile,
    objects: Iterable[KubernetesObject],
    edition: Edition,
    *,
    epoch: float = 0.0,
    pace: Pace | None = None,
    keep: Callable[[Attempt | Happening], None] | None = None,
) -> Framework:
    """Make the scheduler that a profile describes, on the release that the edition is built with.

    The PodGroup controller runs beside it wherever Coscheduling does. ``epoch`` is virtual time 0 in seconds
    since 1970.

    Raises:
        ConfigurationError: Coscheduling would not start with its arguments.
    """
    plugins: list[Plugin] = [PrioritySort(), DefaultPreemption()]
    if profile.enabled(NAME):
        try:
            arguments = read_arguments(edition, profile.arguments.get(NAME, {}))
        except ArgumentsError as error:
            path = f"pluginConfig.{NAME}.args"
            raise ConfigurationError([Problem(text, path) for text in error.problems]) from error
        plugins += [Coscheduling(edition, arguments, epoch), PodGroupController(edition)]
    named = {plugin.name: plugin for plugin in plugins}
    (queue_sort,) = profile.points["queueSort"]
    return Framework(
        objects,
        plugins,
        queue_sort=named[queue_sort],
        points=profile.points,
        pace=pace,
        release=RELEASES[edition.kubernetes],
        keep=keep,
    )
