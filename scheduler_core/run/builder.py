"""Build a running framework from a configuration: plugins, profiles, release, control plane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import ControllerOptions
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.kubernetes.times import seconds_of
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.control import ControlledFramework, Manager
from scheduler_core.run.plane.control_plane import ControlPlaneManager
from scheduler_core.scenario.running_dump import taken_at
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.coscheduling.editions import CLASSIC, Edition
from scheduler_core.schedulers.coscheduling.plugin import PodGroupController
from scheduler_core.schedulers.v1_22.clock import VirtualClock
from scheduler_core.schedulers.v1_22.configuration.profiles import DEFAULT_NAMES, Configuration
from scheduler_core.schedulers.v1_22.configuration.result import FrameworkConfiguration, FrameworkProfile
from scheduler_core.schedulers.v1_22.interface import POINTS, Plugin
from scheduler_core.schedulers.v1_22.plugins.default_preemption import DefaultPreemption
from scheduler_core.schedulers.v1_22.plugins.table import FRAMEWORK_PLUGINS
from scheduler_core.schedulers.v1_22.profile import OWN, Scheduling, in_framework
from scheduler_core.schedulers.v1_22.profile_runtime import ProfileSpec
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.releases import RELEASES, UNDER_POLICY, FrameworkRelease
from scheduler_core.schedulers.v1_22.scheduler import Pace

LIFE = 60.0  # seconds from the creation of the newest object to virtual time 0


def epoch_of(objects: Iterable[KubernetesObject]) -> float:
    """Return virtual time 0 in seconds since 1970: after every object's creation and every pod's start."""
    listed = list(objects)
    created = _latest(obj.meta.creation_timestamp for obj in listed)
    started = _latest(obj.start_time for obj in listed if isinstance(obj, Pod))
    times = [at for at in (None if created is None else created + LIFE, started) if at is not None]
    return max(times, default=ControllerOptions().epoch)


def _latest(timestamps: Iterable[str | None]) -> float | None:
    return max((at for text in timestamps if (at := seconds_of(text)) is not None), default=None)


def make_manager(scenario: Scenario) -> Manager:
    """Return the control plane of a scenario; in a recording there is none."""
    options = options_for(scenario)
    if not scenario.controllers:
        return Manager(options, scenario.objects)
    return ControlPlaneManager(scenario, options)


def options_for(scenario: Scenario) -> ControllerOptions:
    """Return the options of a scenario's control plane.

    Controllers create pods up to the scenario's bound; in addition, there may be as many terminated pods as
    the pod garbage collector keeps.
    """
    options, taken = ControllerOptions(), taken_at(scenario) if scenario.controllers else None
    epoch = epoch_of(scenario.objects) if taken is None else taken
    return replace(options, epoch=epoch, most_pods=scenario.most_pods + options.terminated_pods)


class Parts(Struct, frozen=True):
    """The parts of a framework that a configuration determines.

    ``profiles`` are by schedulerName, ``edition`` is that of coscheduling, ``release`` that of Kubernetes,
    and ``backoff`` the initial and the maximum backoff in seconds.
    """

    plugins: tuple[Plugin, ...]
    queue_sort: Plugin | None
    profiles: Mapping[str, ProfileSpec]
    edition: Edition
    release: FrameworkRelease
    backoff: tuple[float, float]


def make_parts(configuration: Configuration, epoch: float) -> Parts:
    """Return the plugins and profiles of a configuration; every plugin is new and without state.

    Raises:
        PolicyError: The configuration cannot be used.
    """
    framework = configuration.framework
    if framework is None:
        return _policy_parts(configuration)
    return _framework_parts(framework, epoch)


def _policy_parts(configuration: Configuration) -> Parts:
    """Return the parts that run a Policy's predicates and priorities, as in v1.11, in the framework."""
    profile = in_framework(configuration.profile)
    scheduling = Scheduling(profile, 0, 0, own=(), round_robin=True)
    one = ProfileSpec(None, scheduling)
    plugins = (DefaultPreemption(), PodGroupController(CLASSIC))
    release = RELEASES[CLASSIC.kubernetes]
    return Parts(plugins, None, dict.fromkeys(DEFAULT_NAMES, one), CLASSIC, release, (1.0, 10.0))


def v1_11_parts(configuration: Configuration) -> Parts:
    """Return the parts of v1.11: a Policy's predicates, priorities and preemption without any of 1.22's."""
    one = ProfileSpec(None, Scheduling(configuration.profile, 0, 0, own=(), round_robin=True))
    plugins = (DefaultPreemption(), PodGroupController(CLASSIC))
    return Parts(plugins, None, dict.fromkeys(DEFAULT_NAMES, one), CLASSIC, UNDER_POLICY, (0.0, 0.0))


def _framework_parts(framework: FrameworkConfiguration, epoch: float) -> Parts:
    edition = framework.version.edition
    controller = PodGroupController(edition)
    plugins: list[Plugin] = []
    profiles: dict[str, ProfileSpec] = {}
    sort: Plugin | None = None
    for profile in framework.profiles:
        own: list[Plugin] = [DefaultPreemption()]
        own += (
            entry.create(profile.arguments.get(entry.name), edition, epoch)
            for entry in FRAMEWORK_PLUGINS
            if profile.has(entry.name)
        )
        if profile is framework.main:
            sort = next((plugin for plugin in own if plugin.name == profile.queue_sort), None)
        plugins += own
        profiles[profile.scheduler_name] = ProfileSpec(
            {point: profile.names(point) for point in POINTS}, _scheduling(profile), own
        )
    named = profiles.get(DEFAULT_NAMES[1])
    if named is not None:
        profiles[""] = named
    backoff = (float(framework.pod_initial_backoff_seconds), float(framework.pod_max_backoff_seconds))
    return Parts((*plugins, controller), sort, profiles, edition, RELEASES[edition.kubernetes], backoff)


def _scheduling(profile: FrameworkProfile) -> Scheduling:
    weights = {priority.name: priority.weight for priority in profile.profile.priorities}
    fit, balanced = (weights.get(name, 0) for name in OWN)
    return Scheduling(profile.profile, fit, balanced)


def build(
    configuration: Configuration,
    objects: Iterable[KubernetesObject],
    *,
    manager: Manager,
    keep: Callable[[Attempt | TimelineEvent], None],
    details: bool,
    controlled: bool = True,
    clock: VirtualClock | None = None,
    interrupt: Callable[[], None] | None = None,
) -> ControlledFramework:
    """Start a scheduler over existing objects, which the controllers already have in their store.

    Raises:
        PolicyError: The configuration cannot be used.
    """
    parts = make_parts(configuration, manager.options.epoch)
    pace = Pace() if clock is None else Pace(creation=0.0)
    return ControlledFramework(
        objects,
        parts.plugins,
        queue_sort=parts.queue_sort,
        profiles=parts.profiles,
        pace=pace,
        release=parts.release,
        keep=keep,
        clock=clock,
        backoff=parts.backoff,
        details=details,
        manager=manager,
        controlled=controlled,
        interrupt=interrupt,
    )
