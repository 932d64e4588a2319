"""The settings of a simulation, other than the cluster and the scheduler's own configuration.

A bundle contains at most one ``SimulationSettings`` document; every field is optional::

    apiVersion: podstep/v1
    kind: SimulationSettings
    quirks: fixed
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.kubernetes.readers import At, Field, Outline, boolean, enum, outlined, record, show
from scheduler_core.settings.descheduler import DeschedulerSettings, read_descheduler
from scheduler_core.settings.dump import DumpSettings, read_dump
from scheduler_core.settings.feature_gates import FeatureGates, check_locked, read_gates
from scheduler_core.settings.node_lifecycle import NodeLifecycleSettings, read_node_lifecycle
from scheduler_core.settings.release import RELEASES, TIMED, VIRTUAL, row_of
from scheduler_core.settings.several import (
    DESIGNS,
    SIDE_BY_SIDE,
    SchedulerSettings,
    check_design,
    read_schedulers,
)

SETTINGS_KIND = "SimulationSettings"
QUIRK_MODES = ("v1.11", "fixed")
PREDICATE_ORDERS = ("v1.11", "proposal")
CACHE_MODES = ("off", "designed", "v1.11", "sound", "batching")
EQUIVALENCE_CLASSES = ("controller", "attributes")
TIMES = ("instant", VIRTUAL)
STALE_WRITES = ("none", "isUpToDate", "generations")

ONLY_V1_11 = ("quirks", "predicateOrder", "cache", "equivalenceClass", "audit", "staleWrites")
"""The fields that no other release reads."""


class Settings(Struct, frozen=True):
    """The settings; the defaults reproduce kube-scheduler v1.11.

    ``quirks`` is whether the known deviations (:data:`scheduler_core.schedulers.v1_11.quirks.QUIRKS`) are
    reproduced or fixed, ``predicate_order`` the static order of the predicates without an ``order`` of their
    own. ``cache`` selects the rows of the invalidation table that the equivalence cache applies, or
    ``batching``; ``equivalence_class`` defines which pods are equivalent; ``audit`` compares every cache hit
    with a fresh evaluation; ``stale_writes`` is the protection against writing results that an event has
    invalidated: none, #63040's check or #67308's generation numbers. ``time`` is ``virtual`` to let
    controllers and kubelets act under v1.37, and to use the queue and the clock of the scheduling framework
    with a Policy too; with an older KubeSchedulerConfiguration they are always used. ``until`` ends such a
    run, and one of v1.37, at that second of virtual time. ``dump`` says what its bundle, the dump of a
    running cluster, does not. ``scheduler`` is the kube-scheduler that answers,
    "" for the one that :mod:`scheduler_core.settings.release` chooses; ``feature_gates`` are those that v1.37
    is started with. ``design`` and ``schedulers`` are those of :mod:`scheduler_core.settings.several`.
    ``descheduler`` runs the bundle's DeschedulerPolicy in a living cluster of v1.37, and ``node_lifecycle``
    has the flags of its node controller.
    ``fixed_too`` are ids of single quirks to fix, to determine their effect; no field sets it.
    ``names_v1_11`` is whether one of :data:`ONLY_V1_11` is given, possibly with its default.
    """

    quirks: str = QUIRK_MODES[0]
    predicate_order: str = PREDICATE_ORDERS[0]
    cache: str = "off"
    equivalence_class: str = "controller"
    audit: bool = False
    stale_writes: str = "generations"
    time: str = "instant"
    until: float | None = None
    dump: DumpSettings | None = None
    scheduler: str = ""
    feature_gates: FeatureGates = ()
    design: str = SIDE_BY_SIDE
    schedulers: tuple[SchedulerSettings, ...] = ()
    descheduler: DeschedulerSettings | None = None
    node_lifecycle: NodeLifecycleSettings | None = None
    fixed_too: frozenset[str] = frozenset()
    names_v1_11: bool = False

    @property
    def only_v1_11(self) -> bool:
        """Whether they ask for what no other release has: quirks, an order, or the cache, even to be off."""
        plain = Settings(
            time=self.time,
            until=self.until,
            dump=self.dump,
            scheduler=self.scheduler,
            feature_gates=self.feature_gates,
            design=self.design,
            schedulers=self.schedulers,
            descheduler=self.descheduler,
            node_lifecycle=self.node_lifecycle,
        )
        return self.names_v1_11 or self != plain

    def has(self, gate: str) -> bool:
        """Return whether a feature gate is set to true."""
        return dict(self.feature_gates).get(gate, False)

    @property
    def have_views(self) -> bool:
        """Whether schedulers have views of their own: the list has more than names that run without it."""
        return self.design != SIDE_BY_SIDE or any(not one.is_plain for one in self.schedulers)

    @property
    def asks_framework(self) -> bool:
        """Whether they have what in virtual time only the framework has: v1.11's fields, schedulers."""
        return self.are_several or self.only_v1_11

    @property
    def are_several(self) -> bool:
        """Whether they name schedulers, or a design of several."""
        return bool(self.schedulers) or self.design != SIDE_BY_SIDE

    @property
    def is_virtual(self) -> bool:
        """Whether they let time pass."""
        return self.time == VIRTUAL

    def runs(self, release: str) -> bool:
        """Return whether a scheduler of the list is configured to run a release."""
        return bool(release) and any(one.runs == release for one in self.schedulers)

    @property
    def mixes_releases(self) -> bool:
        """Whether a scheduler of the list runs another kube-scheduler than the framework's."""
        return any(one.runs in RELEASES and not row_of(one.runs).is_timed for one in self.schedulers)


DEFAULT_SETTINGS = Settings()
LONGEST = 3.2e9  # seconds: a hundred years


def _until(value: Any, at: At) -> float | None:
    if type(value) not in (int, float) or not 0 < value <= LONGEST:
        at.error(f"must be seconds of virtual time, more than 0, not {show(value)}")
        return None
    return float(value)


def _cache(value: Any, at: At) -> str | None:
    """Read a mode; an unquoted ``off`` is the boolean false in YAML, and is accepted as ``off``."""
    return "off" if value is False else _CACHE_MODE(value, at)


_CACHE_MODE = enum(*CACHE_MODES)
outlined(_cache, _CACHE_MODE)
outlined(_until, Outline("number"))


SETTINGS = record(
    Settings,
    {
        "quirks": Field("quirks", enum(*QUIRK_MODES)),
        "predicateOrder": Field("predicate_order", enum(*PREDICATE_ORDERS)),
        "cache": Field("cache", _cache),
        "equivalenceClass": Field("equivalence_class", enum(*EQUIVALENCE_CLASSES)),
        "audit": Field("audit", boolean),
        "staleWrites": Field("stale_writes", enum(*STALE_WRITES)),
        "time": Field("time", enum(*TIMES)),
        "until": Field("until", _until),
        "dump": Field("dump", read_dump),
        "scheduler": Field("scheduler", enum(*RELEASES)),
        "featureGates": Field("feature_gates", read_gates),
        "design": Field("design", enum(*DESIGNS)),
        "schedulers": Field("schedulers", read_schedulers),
        "descheduler": Field("descheduler", read_descheduler),
        "nodeLifecycle": Field("node_lifecycle", read_node_lifecycle),
    },
    unread="apiVersion kind metadata",
)


def names_only_v1_11(document: Mapping[str, Any]) -> bool:
    """Return whether a ``SimulationSettings`` document has a field of :data:`ONLY_V1_11`, of any value."""
    return any(document.get(name) is not None for name in ONLY_V1_11)


def _has_no_cache(release: str) -> bool:
    return bool(release) and not row_of(release).has_cache


def read_settings(value: Mapping[str, Any], at: At) -> Settings:
    """Read a ``SimulationSettings`` document. Errors are added to the report of ``at``."""
    read = SETTINGS(value, at)
    if isinstance(read, Settings) and names_only_v1_11(value):
        read = replace(read, names_v1_11=True)
    if isinstance(read, Settings) and read.time == "virtual" and read.cache != "off":
        at.child("cache").error("there is no equivalence cache in virtual time: leave out one of the two")
    if isinstance(read, Settings) and _has_no_cache(read.scheduler) and read.cache != "off":
        at.child("cache").error(
            f"kube-scheduler {read.scheduler} has no equivalence cache: leave out one of the two"
        )
    if isinstance(read, Settings):
        check_locked(read.feature_gates, read.scheduler, at.child("featureGates"))
        check_design(read.design, read.schedulers, at)
        if read.have_views and read.scheduler and not row_of(read.scheduler).is_timed:
            at.child("schedulers").error(
                f"kube-scheduler {read.scheduler} answers alone: write scheduler: {TIMED}, whose clock they "
                "share, or leave out schedulers and design"
            )
    return read if isinstance(read, Settings) else DEFAULT_SETTINGS
