"""Build the schedulers of a run from the settings: which processes there are, and what each serves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from scheduler_core.cluster.controllers import ControllerManager, Options
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.building import Parts, make_parts, v1_11_parts
from scheduler_core.run.several.ledger import BindingLedger
from scheduler_core.run.several.manifests import StoredManifests
from scheduler_core.run.several.peers import BesidePeer, FrameworkPeer, Peer
from scheduler_core.run.several.server import NOBODY, ApiServer
from scheduler_core.run.several.v1_11_peer import (
    CreationSort,
    V1_11Peer,
    V1_11View,
    v1_11_configuration,
)
from scheduler_core.run.several.v1_37_peer import V1_37Peer
from scheduler_core.run.several.v1_37_view import V1_37View
from scheduler_core.run.several.view import GroupWatcher, View
from scheduler_core.schedulers.coscheduling.plugin import PodGroupController
from scheduler_core.schedulers.v1_11.policy import PolicyError
from scheduler_core.schedulers.v1_22.configuration.profiles import DEFAULT_NAMES, Configuration
from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.profile_runtime import ProfileSpec
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.scheduler import Pace
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS
from scheduler_core.schedulers.v1_37.configuration import compile_v1_37_configuration
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.run import SchedulerRun
from scheduler_core.settings.release import TIMED, row_of
from scheduler_core.settings.settings import Settings
from scheduler_core.settings.several import ARBITRATED, ONE_SCHEDULER, SchedulerSettings

Process = tuple[SchedulerSettings, tuple[str, ...]]
Keep = Callable[[Attempt | TimelineEvent], None]


def make_server(
    configuration: Configuration,
    objects: Iterable[KubernetesObject],
    *,
    manager: ControllerManager,
    keep: Keep,
    details: bool,
    controlled: bool,
    interrupt: Callable[[], None] | None,
) -> ApiServer:
    """Return the API server with the objects, its controllers and the controller of PodGroups.

    Raises:
        PolicyError: The configuration cannot be used.
    """
    parts = make_parts(configuration, manager.options.epoch)
    scheduling = next(iter(parts.profiles.values())).scheduling
    return ApiServer(
        objects,
        [one for one in parts.plugins if isinstance(one, PodGroupController)],
        profiles={NOBODY: ProfileSpec({}, scheduling, ())},
        pace=Pace(),
        release=parts.release,
        keep=keep,
        details=details,
        manager=manager,
        controlled=controlled,
        interrupt=interrupt,
    )


def processes(settings: Settings, named: Iterable[str], current: Iterable[str] = ()) -> Iterator[Process]:
    """Yield each process with the schedulerNames that it serves.

    A process for each scheduler that the settings list, as many as it has replicas; one more for the profiles
    of the configuration that they do not list, and one for each custom scheduler. With one scheduler for all
    there is a single process. ``named`` are the names of the framework's profiles, ``current`` those of a
    configuration that v1.37 reads.
    """
    profiles = [name for name in dict.fromkeys(named) if name]
    listed = {one.name: one for one in settings.schedulers}
    rest = tuple(name for name in current if name not in listed)
    if settings.design == ONE_SCHEDULER:
        first = settings.schedulers[0]
        release = next((one.runs for one in settings.schedulers if one.runs and not one.is_batch), TIMED)
        yield replace(first, runs=release), tuple(dict.fromkeys((*listed, *profiles, *current)))
        return
    for one in settings.schedulers:
        for _ in range(one.replicas):
            yield one, (one.name,)
    if rest:
        yield SchedulerSettings(rest[0], runs=V1_37Peer.release), rest
    others = tuple(name for name in profiles if name not in listed and name not in rest)
    if others:
        yield SchedulerSettings(others[0]), others
    for name in SCHEDULERS:
        if name not in listed and name not in profiles:
            yield SchedulerSettings(name), (name,)


def make_peers(
    configuration: Configuration,
    settings: Settings,
    objects: Sequence[KubernetesObject],
    texts: Mapping[str, str],
    *,
    manifests: StoredManifests | None,
    server: ApiServer,
    ledger: BindingLedger,
    keep: Keep,
) -> list[Peer]:
    """Return the schedulers, each started over what the API server has.

    ``texts`` are the configuration files of custom schedulers, by name, ``manifests`` those of the objects if
    a scheduler runs v1.37.

    Raises:
        PolicyError: The configuration cannot be used.
    """
    epoch = server.manager.options.epoch
    known = make_parts(configuration, epoch).profiles
    made: list[Peer] = []
    current = _current(configuration)
    found = list(processes(settings, known, current.profiles if configuration.is_for_peers else ()))
    count: dict[str, int] = {}
    for of, names in found:
        count[of.name] = count.get(of.name, 0) + 1
        several = sum(other.name == of.name for other, _ in found) > 1
        label = f"{of.name} #{count[of.name]}" if several else of.name
        old = of.runs == V1_11Peer.release
        parts = v1_11_parts(v1_11_configuration(configuration)) if old else make_parts(configuration, epoch)
        beside = of.is_batch or (not of.runs and of.name in SCHEDULERS and of.name not in known)
        modern = row_of(of.runs).reads_manifests
        given: dict[str, Any] = {
            "of": of,
            "label": label,
            "server": server,
            "ledger": ledger,
            "arbitrated": settings.design == ARBITRATED,
            "queue_sort": CreationSort() if old else parts.queue_sort,
            "profiles": _profiles(parts, () if beside or modern else names),
            "pace": Pace(creation=0.0),
            "release": parts.release,
            "keep": keep,
            "clock": server.clock,
            "backoff": parts.backoff,
            "manager": ControllerManager(Options(epoch=epoch)),
            "interrupt": server.interrupt,
        }
        plugins = [GroupWatcher(parts.edition), *_plugins(parts)]
        listed = any(of.name == one.name for one in settings.schedulers)
        peer: Peer
        if modern:
            assert manifests is not None
            run = SchedulerRun(_named(current, names))
            peer = V1_37Peer(
                V1_37View(objects, plugins, current=run, manifests=manifests, **given), listed=listed
            )
        elif beside:
            peer = BesidePeer(View(objects, plugins, **given), of.name, texts, listed=listed)
        elif old:
            peer = V1_11Peer(V1_11View(objects, plugins, **given), listed=listed)
        else:
            peer = FrameworkPeer(View(objects, plugins, **given), listed=listed)
        made.append(peer)
        ledger.introduce(label, of.name)
        server.watchers.append(peer.view)
    return made


def _current(configuration: Configuration) -> CompiledConfiguration:
    """Return the configuration of the schedulers that run v1.37."""
    given = (configuration.policy or {}) if row_of(configuration.read_by).reads_manifests else {}
    document = {key: value for key, value in given.items() if key != "extenders"}  # a warning names them
    try:
        return compile_v1_37_configuration(document or None, configuration.settings.feature_gates)
    except ValueError as error:
        raise PolicyError([Problem(str(error))]) from error


def _named(current: CompiledConfiguration, names: Sequence[str]) -> CompiledConfiguration:
    """Return a process's own profiles; a name without one has the default scheduler's."""
    profiles = current.profiles
    main = profiles.get(DEFAULT_NAMES[1]) or next(iter(profiles.values()))
    own = {name: profiles.get(name) or dataclasses.replace(main, scheduler_name=name) for name in names}
    return dataclasses.replace(current, profiles=own)


def _plugins(parts: Parts) -> list[Plugin]:
    return [one for one in parts.plugins if not isinstance(one, PodGroupController)]


def _profiles(parts: Parts, names: Sequence[str]) -> dict[str, ProfileSpec]:
    """Return the profiles of a process; a name without one of its own has the default scheduler's."""
    main = parts.profiles.get(DEFAULT_NAMES[1]) or next(iter(parts.profiles.values()))
    if not names:
        return {NOBODY: ProfileSpec({}, main.scheduling, ())}
    found = {name: parts.profiles.get(name, main) for name in names}
    if DEFAULT_NAMES[1] in found:
        found[""] = found[DEFAULT_NAMES[1]]
    return found
