"""Build the schedulers of a run from the settings: which processes there are, and what each serves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import ControllerOptions
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.builder import Parts, make_parts, v1_11_parts
from scheduler_core.run.control import Manager
from scheduler_core.run.plane.manifests import StoredManifests
from scheduler_core.run.several.ledger import BindingLedger
from scheduler_core.run.several.living_view import LivingView
from scheduler_core.run.several.peers import BesidePeer, FrameworkPeer, Peer
from scheduler_core.run.several.server import NOBODY, SharedCluster
from scheduler_core.run.several.v1_11_peer import (
    CreationSort,
    V1_11Peer,
    V1_11View,
    v1_11_configuration,
)
from scheduler_core.run.several.v1_37_coscheduling import V1_37Coscheduling, is_enabled
from scheduler_core.run.several.v1_37_peer import V1_37Peer
from scheduler_core.run.several.v1_37_permit import PermitStage
from scheduler_core.run.several.v1_37_view import V1_37View
from scheduler_core.run.several.view import CustomGroupController, GroupWatcher, SchedulerView
from scheduler_core.run.v1_37.claims import ClaimWriter
from scheduler_core.schedulers.coscheduling.editions import CURRENT, Edition
from scheduler_core.schedulers.coscheduling.plugin import PodGroupController
from scheduler_core.schedulers.extenders.answer_sources import Asking
from scheduler_core.schedulers.v1_22.configuration.profiles import DEFAULT_NAMES, Configuration
from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.profile_runtime import ProfileSpec
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.scheduler import Pace
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS
from scheduler_core.schedulers.v1_37.configuration import usable_v1_37_configuration
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.run import SchedulerRun
from scheduler_core.settings.release import BY_PLUGINS, DEFAULT_RELEASE, TIMED
from scheduler_core.settings.settings import Settings
from scheduler_core.settings.several import ARBITRATED, ONE_SCHEDULER, UNLISTED, SchedulerSettings

Process = tuple[SchedulerSettings, tuple[str, ...]]
Keep = Callable[[Attempt | TimelineEvent], None]


def make_server(
    configuration: Configuration,
    objects: Iterable[KubernetesObject],
    *,
    manager: Manager,
    keep: Keep,
    details: bool,
    controlled: bool,
    interrupt: Callable[[], None] | None,
    gangs: bool = False,
    indexes: bool = False,
    native: bool = False,
    pace: Pace | None = None,
) -> SharedCluster:
    """Return the API server with the objects, its controllers and the controller of PodGroups.

    That is Coscheduling's: beside a lone v1.37 without the plugin PodGroups are only indexed (``indexes``).
    ``native``: a scheduler runs v1.37, which writes the conditions of native PodGroups itself.

    Raises:
        PolicyError: The configuration cannot be used.
    """
    parts = make_parts(configuration, manager.options.epoch)
    scheduling = next(iter(parts.profiles.values())).scheduling
    controller = CustomGroupController if native else PodGroupController
    own: list[Plugin] = [
        controller(parts.edition) for one in parts.plugins if isinstance(one, PodGroupController)
    ]
    if gangs:
        own = [controller(CURRENT)]
    elif indexes:
        own = [GroupWatcher(parts.edition)]
    return SharedCluster(
        objects,
        own,
        profiles={NOBODY: ProfileSpec({}, scheduling, ())},
        pace=pace or Pace(),
        release=parts.release,
        keep=keep,
        details=details,
        manager=manager,
        controlled=controlled,
        interrupt=interrupt,
    )


def processes(
    settings: Settings, named: Iterable[str], of_v1_37: Iterable[str] = (), custom: Collection[str] = ()
) -> Iterator[Process]:
    """Yield each process with the schedulerNames that it serves.

    A process for each scheduler that the settings list, as many as it has replicas; one more for the profiles
    of the configuration that they do not list, and one for each custom scheduler. With one scheduler for all
    there is a single process. ``named`` are the names of the framework's profiles, ``of_v1_37`` those of a
    configuration that v1.37 reads, ``custom`` the custom schedulers that pods name: each has a view of the
    whole cluster, so that only kube-batch runs without being named.
    """
    profiles = [name for name in dict.fromkeys(named) if name]
    listed = {one.name: one for one in settings.schedulers}
    rest = tuple(name for name in of_v1_37 if name not in listed)
    if settings.design == ONE_SCHEDULER:
        first = settings.schedulers[0]
        release = next((one.runs for one in settings.schedulers if one.runs and not one.is_batch), TIMED)
        yield replace(first, runs=release), tuple(dict.fromkeys((*listed, *profiles, *of_v1_37)))
        return
    for one in settings.schedulers:
        for _ in range(one.replicas):
            yield one, (one.name,)
    if rest:
        yield SchedulerSettings(rest[0], runs=next(filter(settings.runs, BY_PLUGINS))), rest
    others = tuple(name for name in profiles if name not in listed and name not in rest)
    if others:
        yield SchedulerSettings(others[0]), others
    for name in SCHEDULERS:
        if name not in listed and name not in profiles and (name in custom or name in UNLISTED):
            yield SchedulerSettings(name), (name,)


@dataclass(kw_only=True)
class PeerBuilder:
    """What the schedulers of a run are made of; each row of :data:`PEERS` makes those of a release with it.

    ``texts`` are the configuration files of custom schedulers, by name, ``custom`` those that pods name,
    ``manifests`` those of the objects if
    a scheduler runs v1.37. ``lone``: one v1.37 answers alone, whatever schedulers the settings list;
    ``claims`` is the controller of ResourceClaims, ``asking`` answers for v1.37's extenders, and ``number``
    returns the number of the cycle that is made, from 1.
    """

    configuration: Configuration
    settings: Settings
    objects: Sequence[KubernetesObject]
    texts: Mapping[str, str]
    manifests: StoredManifests | None
    server: SharedCluster
    ledger: BindingLedger
    keep: Keep
    custom: Collection[str] = ()
    lone: bool = False
    claims: ClaimWriter | None = None
    asking: Asking | None = None
    number: Callable[[], int] | None = None

    @property
    def epoch(self) -> float:
        """Virtual time 0 in seconds since 1970."""
        return self.server.manager.options.epoch

    @property
    def lives(self) -> bool:
        """Whether v1.37 is alone at the API server of its control plane."""
        return self.lone and self.server.controlled

    @cached_property
    def v1_37(self) -> CompiledConfiguration:
        """The configuration of the processes for names that no scheduler is listed for."""
        return self.by_plugins(self.configuration.reader)

    def by_plugins(self, release: str) -> CompiledConfiguration:
        """Return the configuration of the processes that run a release of plugins."""
        configuration, gates = self.configuration, self.configuration.settings.feature_gates
        reads = self.lone or release in configuration.readers
        return usable_v1_37_configuration(configuration.policy if reads else None, gates, release)

    def processes(self) -> Iterator[Process]:
        """Yield the processes, each with the schedulerNames that it serves."""
        if self.lone:
            names = tuple(self.v1_37.profiles)
            yield SchedulerSettings(names[0], runs=self.configuration.release or DEFAULT_RELEASE), names
            return
        of_v1_37 = self.v1_37.profiles if self.configuration.is_for_peers else ()
        yield from processes(self.settings, self.parts().profiles, of_v1_37, self.custom)

    def parts(self) -> Parts:
        """Return new plugins and profiles of the configuration, as the framework runs it."""
        return make_parts(self.configuration, self.epoch)

    def plugins(self, parts: Parts, *, edition: Edition | None = None) -> list[Plugin]:
        """Return the plugins of a view; the controller of PodGroups runs beside the API server."""
        own = (one for one in parts.plugins if not isinstance(one, PodGroupController))
        return [GroupWatcher(edition or parts.edition), *own]

    def view(self, process: Process, label: str, parts: Parts, names: Sequence[str] = ()) -> dict[str, Any]:
        """Return the arguments of a view that serves ``names``, profiles of the framework."""
        return {
            "of": process[0],
            "label": label,
            "server": self.server,
            "ledger": self.ledger,
            "arbitrated": self.settings.design == ARBITRATED,
            "queue_sort": parts.queue_sort,
            "profiles": _profiles(parts, names),
            "pace": Pace(creation=0.0),
            "release": parts.release,
            "keep": self.keep,
            "clock": self.server.clock,
            "backoff": parts.backoff,
            "manager": Manager(ControllerOptions(epoch=self.epoch)),
            "interrupt": self.server.interrupt,
        }

    def is_listed(self, process: Process) -> bool:
        """Return whether the settings name a process."""
        return any(process[0].name == one.name for one in self.settings.schedulers)


def _v1_11(make: PeerBuilder, process: Process, label: str) -> Peer:
    parts = v1_11_parts(v1_11_configuration(make.configuration))
    given = make.view(process, label, parts, process[1]) | {"queue_sort": CreationSort()}
    view = V1_11View(make.objects, make.plugins(parts), **given)
    return V1_11Peer(view, listed=make.is_listed(process))


def _v1_22(make: PeerBuilder, process: Process, label: str) -> Peer:
    parts = make.parts()
    view = SchedulerView(make.objects, make.plugins(parts), **make.view(process, label, parts, process[1]))
    return FrameworkPeer(view, listed=make.is_listed(process))


def _v1_37(make: PeerBuilder, process: Process, label: str) -> Peer:
    assert make.manifests is not None
    release = process[0].runs
    parts = make.parts()
    run = SchedulerRun(_named(make.by_plugins(release), process[1]), make.asking, make.number)
    given = make.view(process, label, parts)
    assert make.claims is not None
    given |= {"scheduler_run": run, "manifests": make.manifests, "claims": make.claims}
    profiles = filter(is_enabled, run.configuration.profiles.values())
    gangs = [V1_37Coscheduling(one, make.epoch) for one in profiles]
    plugins = make.plugins(parts, edition=CURRENT if gangs else None)
    kind: Callable[..., V1_37View] = V1_37View
    if make.lives:
        kind = partial(LivingView, apart=bool(gangs))
    view = kind(make.objects, [*plugins, *gangs], **given)
    if gangs:
        view.permits = PermitStage(view, gangs)
    view.begin_scheduling()
    return V1_37Peer(view, listed=make.is_listed(process))


def _custom(make: PeerBuilder, process: Process, label: str) -> Peer:
    parts = make.parts()
    view = SchedulerView(make.objects, make.plugins(parts), **make.view(process, label, parts))
    return BesidePeer(view, process[0].name, make.texts, listed=make.is_listed(process))


PEERS: Mapping[str, Callable[[PeerBuilder, Process, str], Peer]] = {
    V1_11Peer.release: _v1_11,
    FrameworkPeer.release: _v1_22,
    **dict.fromkeys(BY_PLUGINS, _v1_37),
}
"""What makes a process that runs a release."""


def make_peers(make: PeerBuilder) -> list[Peer]:
    """Return the schedulers, each started over what the API server has.

    Raises:
        PolicyError: The configuration cannot be used.
    """
    known = make.parts().profiles
    found = list(make.processes())
    made: list[Peer] = []
    count = Counter[str]()
    several = Counter(of.name for of, _ in found)
    for of, names in found:
        count[of.name] += 1
        label = f"{of.name} #{count[of.name]}" if several[of.name] > 1 else of.name
        custom = of.is_batch or (not of.runs and of.name in SCHEDULERS and of.name not in known)
        peer = (_custom if custom else PEERS[of.runs or TIMED])(make, (of, names), label)
        made.append(peer)
        make.ledger.introduce(label, of.name)
        make.server.watchers.append(peer.view)
    return made


def _named(configured: CompiledConfiguration, names: Sequence[str]) -> CompiledConfiguration:
    """Return a process's own profiles; a name without one has the default scheduler's."""
    profiles = configured.profiles
    main = profiles.get(DEFAULT_NAMES[1]) or next(iter(profiles.values()))
    own = {name: profiles.get(name) or replace(main, scheduler_name=name) for name in names}
    return replace(configured, profiles=own)


def _profiles(parts: Parts, names: Sequence[str]) -> dict[str, ProfileSpec]:
    """Return the profiles of a process; a name without one of its own has the default scheduler's."""
    main = parts.profiles.get(DEFAULT_NAMES[1]) or next(iter(parts.profiles.values()))
    if not names:
        return {NOBODY: ProfileSpec({}, main.scheduling, ())}
    found = {name: parts.profiles.get(name, main) for name in names}
    if DEFAULT_NAMES[1] in found:
        found[""] = found[DEFAULT_NAMES[1]]
    return found
