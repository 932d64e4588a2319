"""KubeSchedulerConfiguration v1 → profiles: plugins by extension point, weights, arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from scheduler_core.schedulers.extenders.configuration import (
    CONFIGURATION,
    ignored_resources,
    read_extenders,
)
from scheduler_core.schedulers.v1_37.backoff import DEFAULT as DEFAULT_BACKOFF
from scheduler_core.schedulers.v1_37.backoff import Backoff
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.schedulers.v1_37.plugins.declaration import POINTS, Declared
from scheduler_core.schedulers.v1_37.plugins.node_resources_fit import STRATEGIES
from scheduler_core.schedulers.v1_37.plugins.table import declared
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration, KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.releases.v1_37 import DIALECT


@cache
def multi_point(dialect: Dialect) -> tuple[tuple[str, int, str], ...]:
    """Return the default plugins in order with their weights and gates; those of a gate come last.

    Weight 0: none given, which counts as 1 for a score plugin.
    """
    rows = [row for row in dialect.declared if row.rank]
    return tuple((row.key, row.weight, row.gate) for row in sorted(rows, key=lambda row: bool(row.gate)))


@cache
def implemented(dialect: Dialect) -> Mapping[str, frozenset[str]]:
    """Return which plugins implement each extension point."""
    return {
        point: frozenset(row.key for row in dialect.declared if point in row.points.split())
        for point in POINTS
    }


IMPLEMENTED = implemented(DIALECT)
"""Those of the newest release, whose plugins all the others have."""

WEIGHTED_POINTS = ("score", "placementScore")
"""Extension points whose plugins have weights."""


def read_configuration(
    document: Mapping[str, Any] | None,
    gates: Mapping[str, bool] | None = None,
    dialect: Dialect = DIALECT,
) -> CompiledConfiguration:
    """Compile a KubeSchedulerConfiguration for a release; null is the default one.

    Raises:
        ValueError: The document cannot be used.
    """
    document = document or {}
    version = str(document.get("apiVersion", "kubescheduler.config.k8s.io/v1"))
    if version != "kubescheduler.config.k8s.io/v1":
        raise ValueError(f"apiVersion: {version!r} is not kubescheduler.config.k8s.io/v1")
    extenders, problems, _ = read_extenders(document.get("extenders"), CONFIGURATION)
    if problems:
        raise ValueError("; ".join(f"{problem.path}: {problem.message}" for problem in problems))
    ignored = sorted(ignored_resources(extenders))
    gates = dict(gates or {})
    whole = document.get("percentageOfNodesToScore")
    base = CompiledConfiguration({}, gates, dialect=dialect)
    profiles: dict[str, KubeSchedulerProfile] = {}
    listed: Sequence[Mapping[str, Any]] = document.get("profiles") or ({},)
    for given in listed:
        profile = _profile(given, base, whole, ignored)
        if profile.scheduler_name in profiles:
            raise ValueError(f"profiles: {profile.scheduler_name!r} is given twice")
        profiles[profile.scheduler_name] = profile
    asked = tuple(sorted(extenders, key=lambda one: one.ignorable))
    return CompiledConfiguration(profiles, gates, asked, _backoff(document), dialect)


def _backoff(document: Mapping[str, Any]) -> Backoff:
    initial, maximum = (
        default if (given := document.get(key)) is None else int(given) * SECOND
        for key, default in (
            ("podInitialBackoffSeconds", DEFAULT_BACKOFF.initial),
            ("podMaxBackoffSeconds", DEFAULT_BACKOFF.maximum),
        )
    )
    if not 0 < initial <= maximum:
        raise ValueError("podInitialBackoffSeconds must be positive and at most podMaxBackoffSeconds")
    return Backoff(initial, maximum)


def _profile(
    given: Mapping[str, Any], base: CompiledConfiguration, whole: Any, ignored: Sequence[str]
) -> KubeSchedulerProfile:
    chosen = plugins_by_point(given.get("plugins") or {}, base)
    points = {point: tuple(name for name, _ in rows) for point, rows in chosen.items()}
    weights, placement_weights = ({name: weight or 1 for name, weight in chosen[p]} for p in WEIGHTED_POINTS)
    arguments = {entry["name"]: entry.get("args") or {} for entry in given.get("pluginConfig") or ()}
    if ignored:  # by an extender: it takes the place of the argument (buildExtenders)
        fit = arguments.get("NodeResourcesFit", {})
        arguments["NodeResourcesFit"] = {**fit, "ignoredResources": ignored}
    strategy = arguments.get("NodeResourcesFit", {}).get("scoringStrategy") or {}
    if strategy.get("type", "LeastAllocated") not in STRATEGIES:
        raise ValueError(f"scoringStrategy.type: {strategy['type']!r} is none of {', '.join(STRATEGIES)}")
    percentage = given.get("percentageOfNodesToScore")
    percentage = whole if percentage is None else percentage
    return KubeSchedulerProfile(
        given.get("schedulerName") or "default-scheduler",
        points,
        weights,
        placement_weights,
        _unprepared(points, base.dialect),
        arguments,
        int(percentage or 0),
        base.dialect,
    )


def plugins_by_point(
    plugins: Mapping[str, Any], base: CompiledConfiguration
) -> dict[str, list[tuple[str, int]]]:
    """Return the plugins that run at each point, in order, each with its weight or 0, by a profile's sets.

    ``base`` has the release and its feature gates.

    Raises:
        ValueError: A plugin is unknown, or does not implement a point.
    """
    rows = multi_point(base.dialect)
    default = [(name, weight) for name, weight, gate in rows if not gate or base.gate(gate)]
    extra = frozenset(row.key for row in base.dialect.declared if not row.rank)
    multi = _merged(default, extra, plugins.get("multiPoint") or {})
    return {
        point: _expanded(multi, plugins.get(point) or {}, implementing)
        for point, implementing in implemented(base.dialect).items()
    }


def _unprepared(points: Mapping[str, Sequence[str]], dialect: Dialect) -> dict[str, dict[str, str]]:
    """Return by extension point and plugin the error of each that was not prepared.

    Raises ValueError for plugins of which that is not simulated.
    """
    out: dict[str, dict[str, str]] = {}
    for point in ("filter", "score"):
        for key in points[point]:
            row = declared(key, dialect)
            prepares = _prepares(row, point)
            if key in points[prepares]:
                continue
            if point in row.required:
                raise ValueError(f"plugins.{prepares}: {key} at {point} without it is not simulated")
            if point in row.unprepared:
                out.setdefault(point, {})[key] = row.unprepared[point]
    return out


def _prepares(row: Declared, point: str) -> str:
    return "preScore" if point == "score" and "preScore" in row.points.split() else "preFilter"


def _merged(
    default: list[tuple[str, int]], extra: frozenset[str], given: Mapping[str, Any]
) -> list[tuple[str, int]]:
    """Merge a plugin set with the default one: a plugin enabled again keeps its place (mergePluginSet)."""
    disabled = _names(given.get("disabled"))
    custom = {entry["name"]: int(entry.get("weight") or 0) for entry in given.get("enabled") or ()}
    for name in custom.keys() - {name for name, _ in default} - extra:
        raise ValueError(f"plugins.multiPoint: {name!r} is unknown, or its feature gate is off")
    out = []
    replaced = set()
    if "*" not in disabled:
        for name, weight in default:
            if name in disabled:
                continue
            if name in custom:
                replaced.add(name)
                weight = custom[name]  # noqa: PLW2901
            out.append((name, weight))
    out.extend((name, weight) for name, weight in custom.items() if name not in replaced)
    return out


def _expanded(
    multi: list[tuple[str, int]], given: Mapping[str, Any], implementing: frozenset[str]
) -> list[tuple[str, int]]:
    """Return the plugins of one point: those named there and in MultiPoint, MultiPoint's, then the others."""
    disabled = _names(given.get("disabled"))
    own = {entry["name"]: int(entry.get("weight") or 0) for entry in given.get("enabled") or ()}
    for name in own:
        if name not in implementing:
            raise ValueError(f"plugins: {name!r} does not implement this extension point, or is unknown")
    in_multi = [(name, weight) for name, weight in multi if name in implementing]
    names = {name for name, _ in in_multi}
    first = [(name, weight) for name, weight in own.items() if name in names]
    middle = [(name, weight) for name, weight in in_multi if name not in own and not disabled & {name, "*"}]
    return [*first, *middle, *((name, weight) for name, weight in own.items() if name not in names)]


def _names(entries: Iterable[Mapping[str, Any]] | None) -> set[str]:
    return {entry["name"] for entry in entries or ()}
