"""A KubeSchedulerConfiguration parsed field by field, each with its place; compilation is separate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Reader,
    boolean,
    integer,
    kind_of,
    list_of,
    opaque,
    outlined,
    record,
    show,
    text,
)
from scheduler_core.schedulers.v1_22.configuration.plugins import MULTI_POINT, POINTS, base_name
from scheduler_core.schedulers.v1_22.configuration.versions import VERSIONS, Version
from scheduler_core.settings.release import CONFIGURATION_GROUP, CONFIGURATION_KIND, DEFAULT_SCHEDULER

MOST_PROFILES = 50
MOST_PLUGINS = 200  # in one list

OLD = {
    "v1alpha1": "of kube-scheduler up to 1.18, has no profiles",
    "v1alpha2": "of kube-scheduler 1.18 and 1.19, names other extension points",
    "componentconfig/v1alpha1": "of kube-scheduler up to 1.11, has no plugins: write a v1 Policy",
}


class NamedPlugin(Struct, frozen=True):
    """A plugin named in a list; ``weight`` is ``None`` if it is not given."""

    at: At
    name: str
    weight: int | None = None


class Set(Struct, frozen=True):
    """The enabled and disabled plugins of one extension point."""

    at: At
    enabled: tuple[NamedPlugin, ...] = ()
    disabled: tuple[NamedPlugin, ...] = ()


class Config(Struct, frozen=True):
    """The arguments of a plugin, as written."""

    at: At
    name: str
    args: Any = None


class WrittenProfile(Struct, frozen=True):
    """One entry of ``profiles``; ``sets`` by extension point."""

    at: At
    scheduler_name: str | None = None
    sets: Mapping[str, Set] | None = None
    configs: tuple[Config, ...] = ()
    percentage: int | None = None


class WrittenConfiguration(Struct, frozen=True):
    """The parsed document."""

    at: At
    version: Version
    profiles: tuple[WrittenProfile, ...] = ()
    percentage: int = 0
    initial_backoff: int = 1
    max_backoff: int = 10
    extenders: Any = None


def placed(
    build: Callable[..., Any], fields: Mapping[str, Field], unread: str = "", optional: str = ""
) -> Reader:
    """Return a reader of objects that keep their place; ``optional`` fields are not read, like ``unread``."""
    inner = record(dict, fields, unread=f"{unread} {optional}")

    def read(value: Any, at: At) -> Any:
        out = inner(value, at)
        return None if out is None else build(at=at, **out)

    return outlined(read, inner)


def _bounded(read_item: Reader, most: int) -> Reader:
    """Return a reader of lists with a maximum length, as every item costs work that aliases can multiply."""
    inner = list_of(read_item)

    def read(value: Any, at: At) -> Any:
        if type(value) is list and len(value) > most:
            at.error(f"has {len(value):,} entries: at most {most} are read")
            return None
        return inner(value, at)

    return outlined(read, inner)


def _name(value: Any, at: At) -> str | None:
    name = text(value, at)
    if name == "":
        at.error("must be a plugin's name, not empty")
        return None
    return None if name is None else base_name(name)


outlined(_name, text)


_PLUGIN = placed(
    NamedPlugin,
    {"name": Field("name", _name, required=True), "weight": Field("weight", integer(0))},
)
_SET = placed(
    Set,
    {
        "enabled": Field("enabled", _bounded(_PLUGIN, MOST_PLUGINS)),
        "disabled": Field("disabled", _bounded(_PLUGIN, MOST_PLUGINS)),
    },
)
_POINTS_READ = record(dict, {point: Field(point, _SET) for point in (*POINTS, MULTI_POINT)})


def _config_args(value: Any, at: At) -> Any:
    if type(value) is not dict:
        at.error(f"must be an object of arguments, not {kind_of(value)}")
        return None
    return value


_CONFIG = placed(Config, {"name": Field("name", _name, required=True), "args": Field("args", _config_args)})


def _scheduler_name(value: Any, at: At) -> str | None:
    name = text(value, at)
    if name == "":
        at.error("must be the name that pods ask for with spec.schedulerName, not empty")
        return None
    return name


outlined(_scheduler_name, text)


_PROFILE = placed(
    WrittenProfile,
    {
        "schedulerName": Field("scheduler_name", _scheduler_name),
        "plugins": Field("sets", _POINTS_READ),
        "pluginConfig": Field("configs", _bounded(_CONFIG, MOST_PLUGINS)),
        "percentageOfNodesToScore": Field("percentage", integer(0, 100)),
    },
)
CONFIGURATION = placed(
    dict,
    {
        "profiles": Field("profiles", _bounded(_PROFILE, MOST_PROFILES)),
        "percentageOfNodesToScore": Field("percentage", integer(0, 100)),
        "podInitialBackoffSeconds": Field("initial_backoff", integer(1, 2**63 - 1)),
        "podMaxBackoffSeconds": Field("max_backoff", integer(1, 2**63 - 1)),
        "parallelism": Field("parallelism", integer(1)),
        "extenders": Field("extenders", list_of(opaque)),
        "delayCacheUntilActive": Field("delay", boolean),
    },
    unread="apiVersion kind metadata leaderElection clientConnection healthzBindAddress metricsBindAddress "
    "enableProfiling enableContentionProfiling",
)


def read_configuration(value: Mapping[str, Any], at: At) -> WrittenConfiguration | None:
    """Parse a document; report problems to ``at``; return ``None`` if it cannot be parsed."""
    version = version_of(value, at)
    out = CONFIGURATION(dict(value), at)
    if version is None or out is None:
        return None
    written = WrittenConfiguration(
        at,
        version,
        out.get("profiles") or (WrittenProfile(at),),
        out.get("percentage", 0),
        out.get("initial_backoff", 1),
        out.get("max_backoff", 10),
        out.get("extenders"),
    )
    if written.max_backoff < written.initial_backoff:
        at.child("podMaxBackoffSeconds" if "max_backoff" in out else "podInitialBackoffSeconds").error(
            f"podMaxBackoffSeconds, {written.max_backoff}, must be at least podInitialBackoffSeconds, "
            f"{written.initial_backoff}"
        )
    _check_names(written)
    for profile in written.profiles:
        _check_points(profile, version)
    return written


def version_of(value: Mapping[str, Any], at: At) -> Version | None:
    """Return the version of a document's apiVersion; report an unknown one and return ``None``."""
    given = value.get("apiVersion")
    group, _, name = given.rpartition("/") if isinstance(given, str) else ("", "", "")
    if group == CONFIGURATION_GROUP and name in VERSIONS:
        return VERSIONS[name]
    known = ", ".join(f"{CONFIGURATION_GROUP}/{version}" for version in VERSIONS)
    place = at.child("apiVersion")
    if given is None:
        place.error(f"apiVersion is missing: write one of {known}")
    elif isinstance(given, str) and (given in OLD or (group == CONFIGURATION_GROUP and name in OLD)):
        place.error(f"{show(given)}, {OLD[given if given in OLD else name]}: known are {known}")
    else:
        hint = did_you_mean(str(given), known.split(", ")) or f": known are {known}"
        place.error(f"{show(given)} is not a version of {CONFIGURATION_KIND}{hint}")
    return None


def _check_names(written: WrittenConfiguration) -> None:
    """Report profiles whose names are missing or not unique."""
    first: dict[str, At] = {}
    for number, profile in enumerate(written.profiles):
        name = profile.scheduler_name
        if name is None and len(written.profiles) > 1:
            profile.at.child("schedulerName").error(
                "schedulerName is missing: with several profiles each needs a name of its own, which pods "
                "ask for with spec.schedulerName"
            )
        elif name is not None and name in first:
            profile.at.child("schedulerName").error(
                f"{show(name)} is the name of an earlier profile: give profile {number} one of its own"
            )
        first.setdefault(name or DEFAULT_SCHEDULER, profile.at)


def _check_points(profile: WrittenProfile, version: Version) -> None:
    for point, of in (profile.sets or {}).items():
        if point not in version.points:
            since = next(name for name, later in VERSIONS.items() if point in later.points)
            of.at.error(
                f"{point} came with {since}; the document is of {version.name}, for {version.releases}"
            )
