"""KubeSchedulerConfiguration, v1beta1 to v1: each profile's plugins by extension point, and their arguments.

Everything that is wrong is told at once, with its path. A combination that the real scheduler would start
with and then go wrong, such as Coscheduling without its Permit, is an error too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.framework.registry import POINTS, REGISTRY, defaults
from scheduler_core.scenario import Problem

GROUP = "kubescheduler.config.k8s.io"
VERSIONS = ("v1beta1", "v1beta2", "v1beta3", "v1")
MULTI_POINT = ("v1beta3", "v1")  # the versions that have it
DEFAULT_NAME = "default-scheduler"
MOST_PROFILES = 50
NEEDS: Mapping[str, Mapping[str, str]] = {
    "Coscheduling": {
        "queueSort": "the members of a group would be tried apart, and groups block each other",
        "permit": "members would be bound one by one, without waiting for their group",
        "reserve": "when one member's time is up, the others would go on holding their nodes",
    }
}
"""The points that a plugin cannot do without, and what would happen."""


class ConfigurationError(ValueError):
    """A configuration that cannot be used. ``problems`` holds everything wrong with it, at once."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{p.path}: {p.message}" for p in problems[:10]))


@dataclass(frozen=True, slots=True)
class SchedulerProfile:
    """One profile: ``points`` maps each extension point to its plugins in order, with their weights.

    ``arguments`` are the plugins' own, as written, by plugin name.
    """

    name: str
    points: Mapping[str, Mapping[str, int]]
    arguments: Mapping[str, Mapping[str, Any]]

    def enabled(self, plugin: str) -> list[str]:
        """Return the points at which a plugin is enabled."""
        return [point for point, plugins in self.points.items() if plugin in plugins]


@dataclass(slots=True)
class _Reading:
    version: str = "v1"
    problems: list[Problem] = field(default_factory=list)

    def wrong(self, path: str, message: str) -> None:
        if len(self.problems) < 200:
            self.problems.append(Problem(message, path))

    def mapping(self, value: Any, path: str) -> Mapping[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.wrong(path, "must be an object")
            return {}
        return value

    def items(self, value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if value is None:
            return
        if not isinstance(value, list):
            self.wrong(path, "must be a list")
            return
        for number, item in enumerate(value):
            yield f"{path}[{number}]", self.mapping(item, f"{path}[{number}]")

    def name(self, item: Mapping[str, Any], path: str) -> str | None:
        name = item.get("name")
        if not isinstance(name, str) or not name:
            self.wrong(f"{path}.name", "must be a plugin's name")
            return None
        return name


def read_configuration(document: Mapping[str, Any]) -> list[SchedulerProfile]:
    """Read a KubeSchedulerConfiguration; without profiles there is one, the default scheduler's.

    Raises:
        ConfigurationError: With everything that is wrong, each with its path.
    """
    reading = _Reading()
    group, _, version = str(document.get("apiVersion", "")).partition("/")
    if group != GROUP or version not in VERSIONS:
        allowed = ", ".join(f"{GROUP}/{known}" for known in VERSIONS)
        reading.wrong("apiVersion", f"must be one of {allowed}")
    else:
        reading.version = version
    if document.get("kind") != "KubeSchedulerConfiguration":
        reading.wrong("kind", "must be KubeSchedulerConfiguration")
    profiles: list[SchedulerProfile] = []
    listed = list(reading.items(document.get("profiles"), "profiles"))
    if len(listed) > MOST_PROFILES:
        reading.wrong("profiles", f"has {len(listed)} profiles: at most {MOST_PROFILES} are read")
    for path, item in listed[:MOST_PROFILES] or [("profiles[0]", {})]:
        profiles.append(_profile(item, path, reading))
    _compare(profiles, reading)
    if reading.problems:
        raise ConfigurationError(reading.problems)
    return profiles


def _profile(item: Mapping[str, Any], path: str, reading: _Reading) -> SchedulerProfile:
    name = item.get("schedulerName", DEFAULT_NAME)
    if not isinstance(name, str) or not name:
        reading.wrong(f"{path}.schedulerName", "must be a name")
        name = DEFAULT_NAME
    points = defaults()
    plugins = reading.mapping(item.get("plugins"), f"{path}.plugins")
    for point in plugins:
        if point not in (*POINTS, "multiPoint"):
            reading.wrong(f"{path}.plugins.{point}", f"is no extension point: these are {', '.join(POINTS)}")
    if "multiPoint" in plugins:
        _multi_point(points, plugins["multiPoint"], f"{path}.plugins.multiPoint", reading)
    for point in POINTS:
        if point in plugins:
            _change(points[point], point, plugins[point], f"{path}.plugins.{point}", reading)
    _check_points(points, f"{path}.plugins", reading)
    arguments = _arguments(item.get("pluginConfig"), f"{path}.pluginConfig", reading)
    return SchedulerProfile(name, points, arguments)


def _multi_point(points: dict[str, dict[str, int]], value: Any, path: str, reading: _Reading) -> None:
    """Disable and enable plugins at all points they extend; a single point's own lists come after and win."""
    if reading.version not in MULTI_POINT:
        reading.wrong(path, f"{reading.version} has no multiPoint: it came with {MULTI_POINT[0]}")
        return
    change = reading.mapping(value, path)
    for place, item in reading.items(change.get("disabled"), f"{path}.disabled"):
        name = reading.name(item, place)
        for plugins in points.values():
            plugins.clear() if name == "*" else plugins.pop(name or "", None)
    for place, item in reading.items(change.get("enabled"), f"{path}.enabled"):
        name = _registered(item, place, reading)
        for point in REGISTRY[name].points if name is not None else ():
            points[point][name or ""] = _weight(item, place, name or "", reading)


def _change(plugins: dict[str, int], point: str, value: Any, path: str, reading: _Reading) -> None:
    """Disable, then enable plugins at one point; ``*`` disables all that are enabled there by default."""
    change = reading.mapping(value, path)
    for place, item in reading.items(change.get("disabled"), f"{path}.disabled"):
        name = reading.name(item, place)
        if name == "*":
            plugins.clear()
        elif name is not None:
            plugins.pop(name, None)
    seen: set[str] = set()
    for place, item in reading.items(change.get("enabled"), f"{path}.enabled"):
        name = _registered(item, place, reading)
        if name is None:
            continue
        if point not in REGISTRY[name].points:
            extends = ", ".join(REGISTRY[name].points)
            reading.wrong(f"{place}.name", f"{name} does not extend {point}: it extends {extends}")
            continue
        if name in seen:
            reading.wrong(f"{place}.name", f"{name} is enabled twice")
        seen.add(name)
        plugins[name] = _weight(item, place, name, reading)


def _registered(item: Mapping[str, Any], path: str, reading: _Reading) -> str | None:
    name = reading.name(item, path)
    if name is not None and name not in REGISTRY:
        known = ", ".join(REGISTRY)
        reading.wrong(f"{path}.name", f"{name[:80]!r} is no plugin that is known: these are {known}")
        return None
    return name


def _weight(item: Mapping[str, Any], path: str, name: str, reading: _Reading) -> int:
    weight = item.get("weight")
    if weight is None or weight == 0:
        return REGISTRY[name].weight
    if type(weight) is not int or not 0 < weight < 2**31:
        reading.wrong(f"{path}.weight", "must be a number from 1 to 2,147,483,647")
        return 1
    return weight


def _check_points(points: Mapping[str, Mapping[str, int]], path: str, reading: _Reading) -> None:
    sorts = list(points["queueSort"])
    if len(sorts) != 1:
        told = f'are {" and ".join(sorts)}: disable the others, or "*"' if sorts else "is none"
        reading.wrong(f"{path}.queueSort", f"there must be one queue sort plugin, there {told}")
    if not points["bind"]:
        reading.wrong(f"{path}.bind", "there must be a plugin that binds")
    for name, needs in NEEDS.items():
        if any(name in plugins for plugins in points.values()):
            for point, otherwise in needs.items():
                if name not in points[point]:
                    reading.wrong(f"{path}.{point}", f"{name} must be enabled here: without it {otherwise}")


def _arguments(value: Any, path: str, reading: _Reading) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for place, item in reading.items(value, path):
        name = reading.name(item, place)
        if name is None:
            continue
        if name in found:
            reading.wrong(f"{place}.name", f"{name[:80]} is configured twice")
        found[name] = reading.mapping(item.get("args"), f"{place}.args")
    return found


def _compare(profiles: list[SchedulerProfile], reading: _Reading) -> None:
    """Check what profiles must share or must not."""
    names: set[str] = set()
    for number, profile in enumerate(profiles):
        if profile.name in names:
            reading.wrong(f"profiles[{number}].schedulerName", f"{profile.name[:80]!r} stands twice")
        names.add(profile.name)
        if list(profile.points["queueSort"]) != list(profiles[0].points["queueSort"]):
            told = "all profiles must have the same queue sort plugin: there is only one queue"
            reading.wrong(f"profiles[{number}].plugins.queueSort", told)
