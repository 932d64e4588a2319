"""Changes to a KubeSchedulerConfiguration: plugins on and off at a point, their order, weights, arguments.

Each takes a document, the place as ``profile/point/plugin`` (or the first parts of it; profiles are numbered
from 0) and a value, all text, and returns a new document that differs as little as possible.
:data:`CONFIGURATION_EDITS` lists them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_core.authoring.edited_profile import EditedProfile, renamed, with_arguments, with_profile
from scheduler_core.authoring.policy_rewrites import MOST_WEIGHT, EditError, read_json
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.schedulers.v1_22.configuration.compiler import compile_configuration
from scheduler_core.schedulers.v1_22.configuration.plugin_merge import EVERYTHING
from scheduler_core.schedulers.v1_22.configuration.plugins import MULTI_POINT, PLUGINS, POINTS, base_name
from scheduler_core.schedulers.v1_22.configuration.result import FrameworkConfiguration, FrameworkProfile
from scheduler_core.schedulers.v1_22.configuration.rules import priorities_of

SCORE = "score"
OWN_ROWS = {"NodeResourcesFit": "LeastRequestedPriority"}  # in v1beta1 another plugin scores by it


def _compiled(document: Document) -> FrameworkConfiguration:
    try:
        return compile_configuration(document)
    except PolicyError as error:
        first = error.problems[0]
        raise EditError(f"{first.path}: {first.message}" if first.path else first.message) from error


class _Profile(EditedProfile):
    @property
    def runs(self) -> FrameworkProfile:
        """The compiled profile as it is currently written."""
        return _compiled(self.tidied()).profiles[self.number]


def _place(name: str, parts: int) -> list[str]:
    found = name.split("/")
    if len(found) != parts:
        raise EditError(f"{name[:60]!r} is not a path in the configuration.")
    if parts > 1 and found[1] not in (*POINTS, MULTI_POINT):
        raise EditError(f"There is no extension point {found[1][:40]!r}.")
    if parts > 2 and found[2] not in PLUGINS:
        raise EditError(f"There is no plugin {found[2][:40]!r}.")
    return found


def switch(document: Document, name: str, value: str) -> Document:
    """Switch a plugin on or off at a point: ``0/filter/NodeName``."""
    number, point, plugin = _place(name, 3)
    if value not in ("on", "off"):
        raise EditError(f"A plugin is switched on or off, not {value[:40]!r}.")
    profile = _Profile(document, number)
    if point == MULTI_POINT:
        return _everywhere(profile, plugin, on=value == "on")
    if point not in PLUGINS[plugin].points:
        raise EditError(
            f"{plugin} has nothing to do at {point}: it works at {', '.join(PLUGINS[plugin].points)}."
        )
    if value == "on":
        profile.drop(point, "disabled", plugin)
        if not _has(profile, point, plugin):
            weight = {"weight": 1} if point == SCORE else {}
            profile.listed(point, "enabled").append({"name": plugin, **weight})
    else:
        profile.drop(point, "enabled", plugin)
        if _has(profile, point, plugin):
            profile.listed(point, "disabled").append({"name": plugin})
    return _checked(profile)


def _everywhere(profile: _Profile, plugin: str, *, on: bool) -> Document:
    for which in ("enabled", "disabled"):
        profile.drop(MULTI_POINT, which, plugin)
    points = PLUGINS[plugin].points
    if on != all(_has(profile, point, plugin) for point in points):
        profile.listed(MULTI_POINT, "enabled" if on else "disabled").append({"name": plugin})
    return _checked(profile)


def _has(profile: _Profile, point: str, plugin: str) -> bool:
    """Return whether a plugin runs at a point; an intermediate document that does not compile has none."""
    try:
        return plugin in profile.runs.names(point)
    except EditError:
        return False


def _checked(profile: _Profile) -> Document:
    made = profile.tidied()
    _compiled(made)
    return made


def arrange(document: Document, name: str, value: str) -> Document:
    """Set the order of the plugins of a point, ``0/filter``, to ``value``, a list of all names that run."""
    number, point = _place(name, 2)
    wanted = read_json(value, list, "The order")
    profile = _Profile(document, number)
    running = {plugin.name: plugin.weight for plugin in profile.runs.points[point]} if point in POINTS else {}
    if sorted(map(str, wanted)) != sorted(running):
        raise EditError(f"The order must name each plugin that runs at {point} once.")
    profile.listed(point, "disabled")[:] = [{"name": EVERYTHING}]
    profile.listed(point, "enabled")[:] = [
        {"name": plugin, **({"weight": running[plugin]} if point == SCORE else {})} for plugin in wanted
    ]
    return _checked(profile)


def weigh(document: Document, name: str, value: str) -> Document:
    """Set a plugin's scoring weight: ``0/NodeAffinity``; 0 removes it."""
    number, _, plugin = name.partition("/")
    if plugin not in PLUGINS or SCORE not in PLUGINS[plugin].points:
        raise EditError(f"There is no plugin {plugin[:40]!r} that scores.")
    if not (value.isascii() and value.isdecimal() and len(value) < 12 and int(value) <= MOST_WEIGHT):
        raise EditError(f"The weight of {plugin} must be a whole number from 0 to {MOST_WEIGHT:,}.")
    if int(value) == 0:
        return switch(document, f"{number}/{SCORE}/{plugin}", "off")
    profile = _Profile(document, number)
    default = _compiled({key: document[key] for key in ("apiVersion", "kind") if key in document})
    twice = plugin in default.main.names(SCORE) and not default.version.replaces
    profile.drop(SCORE, "disabled", plugin)
    everything = any(entry.get("name") == EVERYTHING for entry in profile.listed(SCORE, "disabled"))
    if twice and not everything:  # it must be disabled as well, or it would run twice
        profile.listed(SCORE, "disabled").append({"name": plugin})
    for point in (SCORE, MULTI_POINT):
        for entry in profile.listed(point, "enabled"):
            if base_name(str(entry.get("name"))) == plugin:
                entry["weight"] = int(value)
                return _checked(profile)
    profile.listed(SCORE, "enabled").append({"name": plugin, "weight": int(value)})
    return _checked(profile)


def weigh_priorities(document: Document, name: str, value: str) -> Document:
    """Set the weights of several priorities to ``value``, ``{name: weight}``.

    A name is a priority's or a plugin's; ``name`` is the schedulerName, empty for the main profile.
    """
    weights = read_json(value, dict, "The weights")
    compiled = _compiled(document)
    profile = (compiled.of(name) if name else None) or compiled.main
    number = compiled.profiles.index(profile)
    for priority, weight in weights.items():
        if type(weight) is not int:
            raise EditError(f"The weight of {priority[:60]} must be a whole number, not {str(weight)[:40]}.")
        plugin = priority if priority in profile.weights else _scoring(profile, priority)
        if plugin is None and SCORE in _points(priority):
            document = _weigh_newer(document, number, priority, weight)
            continue
        if plugin is None:
            raise EditError(f"No plugin of the profile {profile.scheduler_name} scores by {priority[:60]}.")
        document = weigh(document, f"{number}/{plugin}", str(weight))
    return document


def _points(plugin: str) -> tuple[str, ...]:
    return PLUGINS[plugin].points if plugin in PLUGINS else ()


def _weigh_newer(document: Document, number: int, plugin: str, weight: int) -> Document:
    """Set the weight of a plugin that runs by default in v1.37 alone; 0 disables it."""
    if not 0 <= weight <= MOST_WEIGHT:
        raise EditError(f"The weight of {plugin} must be a whole number from 0 to {MOST_WEIGHT:,}.")
    profile = _Profile(document, str(number))
    for which in ("enabled", "disabled"):
        profile.drop(SCORE, which, plugin)
    entry = {"name": plugin, "weight": weight} if weight else {"name": plugin}
    profile.listed(SCORE, "enabled" if weight else "disabled").append(entry)
    return _checked(profile)


def _scoring(profile: FrameworkProfile, priority: str) -> str | None:
    """Return the plugin of a profile for a priority, by the name in a cycle's row."""
    priority = OWN_ROWS.get(priority, priority)
    for plugin in profile.names(SCORE):
        if any(name == priority for name, _ in priorities_of(plugin, profile.arguments.get(plugin))):
            return plugin
    return None


def argue(document: Document, name: str, value: str) -> Document:
    """Set a plugin's arguments, an object in JSON: ``0/NodeResourcesFit``; empty removes them."""
    number, _, plugin = name.partition("/")
    if plugin not in PLUGINS:
        raise EditError(f"There is no plugin {plugin[:40]!r}.")
    profile = _Profile(document, number)
    with_arguments(profile, plugin, read_json(value, dict, "The arguments") if value.strip() else None)
    return _checked(profile)


def profile_of(document: Document, name: str, value: str) -> Document:
    """Rename a profile, ``0``; with ``+`` add a copy of the first; an empty name removes the profile."""
    made = with_profile(document, value) if name == "+" else renamed(document, name, value)
    _compiled(made)
    return made


CONFIGURATION_EDITS: Mapping[str, Callable[[Document, str, str], Document]] = {
    "plugin": switch,
    "plugins": arrange,
    "weight": weigh,
    "arguments": argue,
    "profile": profile_of,
}
"""The changes to a KubeSchedulerConfiguration, by name."""
