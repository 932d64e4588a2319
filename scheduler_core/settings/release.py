"""Which kube-scheduler answers a scenario: a row per release, and what chooses one. The only place that does.

``SimulationSettings.scheduler`` is decisive. Without it the configuration is: a Policy is v1.11's, a
KubeSchedulerConfiguration v1 is v1.37's unless it enables a plugin that v1.37 is not built with, and older
versions are the scheduling framework's. Without a configuration it is the kubelets of the nodes, unless the
settings name what only v1.11 reads or, in virtual time, several schedulers. The default is
:data:`DEFAULT_RELEASE`. What is v1.11's runs in the framework if time passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.settings.terms import PLUGINS, PREDICATES, Terms

POLICY_KIND = "Policy"
CONFIGURATION_KIND = "KubeSchedulerConfiguration"
CONFIGURATION_GROUP = "kubescheduler.config.k8s.io"
DEFAULT_SCHEDULER = "default-scheduler"


class Release(Struct, frozen=True, kw_only=True):
    """What other modules ask of a release. ``reads`` is the kind of its configuration.

    ``clock`` passes time: ``instant`` does not advance between cycles, ``events`` is the clock that several
    schedulers and the controllers share, ``own`` that of v1.37's queue. ``form`` is the one in which its
    configuration is edited. ``title`` begins the summary of a run.
    """

    name: str = ""
    about: str = ""  # what the workbench says of it
    terms: Terms = PREDICATES
    reads: str = ""
    clock: Literal["", "instant", "events", "own"] = ""
    form: Literal["policy", "plugins"] = "policy"
    title: str = ""
    asks_extenders: bool = False
    asks_beside: bool = False  # also with other schedulers
    has_cache: bool = False  # the equivalence cache, quirks and an order of predicates
    has_gates: bool = False  # feature gates
    has_hints: bool = False  # queueing hints, and records of them
    answers_alone: bool = False  # any scenario can be put under it, without other schedulers
    daemons_pending: bool = False  # a DaemonSet's pod is created even if no node has room, and waits

    @property
    def is_timed(self) -> bool:
        """Whether it runs in the virtual time that several schedulers share."""
        return self.clock == "events"

    @property
    def has_controllers(self) -> bool:
        """Whether controllers and kubelets run, at least where a scenario gives them something to do."""
        return self.clock in ("events", "own")

    @property
    def replays_by_deciding(self) -> bool:
        """Whether a replay decides again, because the queue depends on how a cycle was decided."""
        return self.clock != "instant"


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.removeprefix("v").split("."))


_MODULES = Path(__file__).parents[1] / "schedulers" / "v1_37" / "releases"
BY_PLUGINS = tuple(
    sorted((file.stem.replace("_", ".") for file in _MODULES.glob("v[0-9]*_*.py")), key=_number)
)
"""The releases that are one set of plugins with differences: a module each, found by its name alone."""

ROWS = (
    Release(
        name="v1.11",
        about="kube-scheduler v1.11: predicates, priorities, and the equivalence cache",
        reads=POLICY_KIND,
        clock="instant",
        asks_extenders=True,
        has_cache=True,
        answers_alone=True,
    ),
    Release(
        name="v1.22",
        about="the scheduling framework in virtual time, with controllers and Coscheduling",
        reads=CONFIGURATION_KIND,
        clock="events",
    ),
    *(
        Release(
            name=name,
            about=f"kube-scheduler {name}: its plugins, queueing hints and preemption",
            terms=PLUGINS,
            reads=CONFIGURATION_KIND,
            clock="own",
            form="plugins",
            title=f"kube-scheduler {name}: ",
            asks_extenders=True,
            asks_beside=True,
            has_gates=True,
            has_hints=True,
            answers_alone=True,
            daemons_pending=True,
        )
        for name in BY_PLUGINS
    ),
)
"""Oldest first. v1.22 is the scheduling framework in virtual time."""

RELEASES = tuple(row.name for row in ROWS)
V1_11, V1_22, V1_37 = "v1.11", "v1.22", "v1.37"
"""For the packages of these schedulers; others ask a row."""
ALONE = tuple(row for row in ROWS if row.answers_alone)
TIMED = next(row.name for row in ROWS if row.is_timed)
"""The release whose clock several schedulers share."""
CACHING = next(row.name for row in ROWS if row.has_cache)
"""The release with an equivalence cache."""
GATED = V1_37
"""The release that is started with feature gates where none is chosen."""
CONTROL_PLANE = V1_37
"""The release of the controllers and kubelets."""

_BY_NAME = {row.name: row for row in ROWS}
_UNCHOSEN = Release()
_WITH_CONTROLLERS = {row.name: replace(row, clock="events") for row in ROWS if row.clock == "own"}


def row_of(release: str) -> Release:
    """Return the row of a release; for "" and what is no kube-scheduler, one without features."""
    return _BY_NAME.get(release, _UNCHOSEN)


def row_with_controllers(release: str) -> Release:
    """Return the row of a release whose run has controllers: those that have a clock of their own share it.

    v1.22 always has controllers, v1.11 never.
    """
    return _WITH_CONTROLLERS.get(release, row_of(release))


def release_by_time(*, timed: bool) -> str:
    """Return the release that answers a bundle of v1.11 or of the framework, by its time alone."""
    return TIMED if timed else CACHING


def release_of_settings(chosen: str, *, only_v1_11: bool, timed: bool) -> str:
    """Return what an operation on the settings chooses: a release, PASSING_TIME, or "" for neither.

    ``only_v1_11``: the operation writes a field that only that release reads; ``timed``: it lets time pass.
    """
    if chosen or not only_v1_11:
        return chosen or (PASSING_TIME if timed else "")
    return release_by_time(timed=timed)


def release_of_patch(written: str, only_v1_11: Iterable[str]) -> str:
    """Return what the text of a patch of the settings chooses: a release, PASSING_TIME, or "" for neither."""
    if VIRTUAL in written:
        return PASSING_TIME
    return CACHING if any(one in written for one in only_v1_11) else ""


CONFIGURATION_V1 = f"{CONFIGURATION_GROUP}/v1"
DEFAULT_RELEASE = V1_37
"""Of a bundle that chooses none; :func:`default_release` returns it."""

VIRTUAL = "virtual"
"""What ``time`` of the settings is where it passes."""
PASSING_TIME = "time"
"""What an operation chooses that lets time pass, and no release."""
HOLDING = "holding"
"""What a configuration of v1.37 chooses whose plugins make pods wait: GATED, but TIMED after a Policy."""

_VERSION = re.compile(r"v?1\.([0-9]{1,4})(?![0-9])")
_FIRST_LATER = 12  # kubelets from 1.12 on belong to clusters that v1.11 does not schedule


def default_release() -> str:
    """Return the release of a bundle that chooses none."""
    return DEFAULT_RELEASE


def is_framework_document(policy: Mapping[str, Any] | None) -> bool:
    """Return whether a scheduler's configuration is a KubeSchedulerConfiguration."""
    return policy is not None and policy.get("kind") == CONFIGURATION_KIND


def can_read(release: str, policy: Mapping[str, Any] | None) -> bool:
    """Return whether a release reads a scheduler's configuration at all; "" means any release."""
    row = row_of(release)
    if policy is None or not row.name or row.is_timed:
        return True
    return is_framework_document(policy) == (row.reads == CONFIGURATION_KIND)


def configured_release(
    policy: Mapping[str, Any] | None,
    scheduler: str,
    time: str,
    foreign: Callable[[], Collection[str]],
    *,
    asks_framework: bool = False,
) -> str:
    """Return the release that a configuration and the settings choose, "" if they choose none.

    ``foreign`` returns the plugins of the scheduling framework that kube-scheduler v1.37 is not built with.
    ``asks_framework``: the settings have what in virtual time only the framework has.
    """
    if scheduler:
        return scheduler
    if policy is None:
        return TIMED if asks_framework and time == VIRTUAL else ""
    if not is_framework_document(policy):
        return release_by_time(timed=time == VIRTUAL)
    modern = policy.get("apiVersion") == CONFIGURATION_V1
    foreigners = any(name in foreign() for name in plugins_named(policy))
    return GATED if modern and not foreigners else TIMED


def plugins_named(policy: Mapping[str, Any]) -> Iterator[str]:
    """Yield the plugins that the profiles of a KubeSchedulerConfiguration enable or configure."""
    profiles = policy.get("profiles")
    for profile in profiles if isinstance(profiles, list) else ():
        if not isinstance(profile, Mapping):
            continue
        points = profile.get("plugins")
        sets = points.values() if isinstance(points, Mapping) else ()
        listed = [one.get("enabled") for one in sets if isinstance(one, Mapping)]
        for entries in (*listed, profile.get("pluginConfig")):
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
                    yield entry["name"]


def release_of_kubelets(versions: Iterable[str]) -> str:
    """Return the release that schedules nodes with these kubelets, "" if none can be parsed.

    The newest kubelet counts: a control plane is never older than its nodes.
    """
    minors = [int(found[1]) for found in map(_VERSION.match, versions) if found]
    if not minors:
        return ""
    return GATED if max(minors) >= _FIRST_LATER else CACHING


def release_of_nodes(versions: Iterable[str]) -> str:
    """Return the release of plugins that the newest kubelet is of, "" if it is of none."""
    minors = [int(found[1]) for found in map(_VERSION.match, versions) if found]
    newest = f"v1.{max(minors)}" if minors else ""
    return newest if newest in BY_PLUGINS else ""


def chosen_release(
    configured: Sequence[str], kubelets: str, *, only_v1_11: bool, timed: bool, batch: bool
) -> str:
    """Return the release that a scenario chooses, "" if it chooses none.

    ``configured`` are the choices of its configurations, the initial one first, "" for those that choose
    none; ``kubelets`` is that of :func:`release_of_kubelets`; ``only_v1_11``: settings, those that an
    operation writes among them, ask for what no other release has; ``timed``: they let time pass;
    ``batch``: there are pods for kube-batch or a scheduler like it, which runs beside the framework alone.
    """
    initial, *later = configured
    holding = TIMED if initial in (CACHING, TIMED) else GATED
    later = [holding if release == HOLDING else release for release in later]
    timed = timed or PASSING_TIME in later
    if initial:
        return TIMED if initial == CACHING and (TIMED in later or PASSING_TIME in later) else initial
    found = next((release for release in (TIMED, GATED, CACHING) if release in later), "")
    if not found:
        found = TIMED if timed and batch else CACHING if only_v1_11 else kubelets
    return in_time(found, timed=timed)


def in_time(release: str, *, timed: bool) -> str:
    """Return the release that answers where time passes: v1.11's rules are the framework's there."""
    return TIMED if timed and release == CACHING else release
