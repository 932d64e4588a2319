"""Changes to what kube-scheduler v1.37 runs: plugins, weights, arguments, profiles, nodes to score, gates.

Each takes the document, the place as ``profile/point/plugin`` (or the first parts of it; profiles are
numbered from 0), a value, both text, and the feature gates that are set, and returns a new document that
differs as little as possible. :data:`V1_37_EDITS` lists them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scheduler_core.authoring.edited_profile import EditedProfile, renamed, with_arguments, with_profile
from scheduler_core.authoring.policy_rewrites import MOST_WEIGHT, EditError, read_json, with_field
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import At, Report, path_text
from scheduler_core.schedulers.v1_37.config import IMPLEMENTED, WEIGHTED_POINTS, plugins_by_point
from scheduler_core.schedulers.v1_37.configuration_checks import check_v1_37_configuration
from scheduler_core.schedulers.v1_37.plugins.table import declared
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.releases import dialect_of
from scheduler_core.settings.feature_gates import DEFAULTS as GATES
from scheduler_core.settings.feature_gates import check_locked, read_gates
from scheduler_core.settings.release import CONFIGURATION_KIND, CONFIGURATION_V1, DEFAULT_RELEASE
from scheduler_core.settings.settings import SETTINGS_KIND, Settings

DEFAULT_DOCUMENT: Document = {
    "apiVersion": CONFIGURATION_V1,
    "kind": CONFIGURATION_KIND,
    "profiles": [{"schedulerName": "default-scheduler"}],
}
"""What v1.37 runs without a configuration, as one."""

EVERYWHERE = "multiPoint"
SCORE = "score"
PERCENTAGE = "percentageOfNodesToScore"
_HEAD = {"apiVersion": "podstep/v1", "kind": SETTINGS_KIND}


class GatedProfile(EditedProfile):
    """One profile to be changed in place, and the release of its document with its feature gates."""

    def __init__(self, document: Document, number: str, base: CompiledConfiguration) -> None:
        super().__init__(document, number)
        self.base = base

    @property
    def points(self) -> dict[str, list[tuple[str, int]]]:
        """The plugins that run at each point, with their weights, as it is currently written."""
        try:
            return plugins_by_point(self.written.get("plugins") or {}, self.base)
        except ValueError as error:
            raise EditError(str(error)) from error

    def runs(self, plugin: str, point: str) -> bool:
        """Return whether a plugin runs at a point."""
        return any(name == plugin for name, _ in self.points[point])

    @property
    def weights(self) -> dict[str, int]:
        """The weight of each plugin that scores."""
        return {name: weight or 1 for name, weight in self.points[SCORE]}


def edited(documents: Sequence[Document], what: str, name: str, value: str) -> tuple[Document, ...]:
    """Return the documents of a bundle with one of :data:`V1_37_EDITS`, or the feature gate ``name`` set.

    A KubeSchedulerConfiguration is made where there is none; it takes the place of a Policy, which v1.37 does
    not read.

    Raises:
        EditError: The change cannot be made; ``problems`` have the paths of fields.
    """
    settings = next((one for one in documents if one.get("kind") == SETTINGS_KIND), None)
    if what == "gate":
        return _replaced(documents, settings, with_gate(settings or _HEAD, name, value), _HEAD)
    given = next((one for one in documents if one.get("kind") == CONFIGURATION_KIND), None)
    gates = dict((settings or {}).get("featureGates") or {})
    release = str((settings or {}).get("scheduler") or DEFAULT_RELEASE)
    base = CompiledConfiguration({}, gates, dialect=dialect_of(release))
    document = DEFAULT_DOCUMENT if given is None else given
    made = V1_37_EDITS[what](document, name, value, base)
    if made == document:
        return tuple(documents)
    _check(made, base, _place_of(made, what, name))
    return _replaced([one for one in documents if one.get("kind") != "Policy"], given, made, {})


def _replaced(
    documents: Sequence[Document], given: Document | None, made: Document, empty: Document
) -> tuple[Document, ...]:
    kept = [] if made == empty else [made]
    place = next((n for n, one in enumerate(documents) if one is given), len(documents))
    return (*documents[:place], *kept, *documents[place + 1 :])


def _place_of(document: Document, what: str, name: str) -> str:
    """Return the path of the arguments that were changed, which their form takes for granted."""
    number, _, plugin = name.partition("/")
    if what != "arguments":
        return ""
    configs = document["profiles"][int(number)].get("pluginConfig") or ()
    place = next((n for n, one in enumerate(configs) if one.get("name") == plugin), 0)
    return f"profiles[{number}].pluginConfig[{place}].args."


def _check(document: Document, base: CompiledConfiguration, within: str) -> None:
    """Raise EditError with all that the release refuses, at paths relative to ``within``."""
    report = Report()
    settings = Settings(feature_gates=tuple(sorted(base.gates.items())))
    check_v1_37_configuration(document, settings, At(report, None, CONFIGURATION_KIND), base.dialect.name)
    _raise(report, within)


def _raise(report: Report, within: str = "") -> None:
    problems = [
        Problem(message, path_text(at.steps).removeprefix(within).removesuffix(".args"))
        for at, message in report.errors
    ]
    if problems:
        first = problems[0]
        raise EditError(f"{first.path}: {first.message}" if first.path else first.message, problems)


# --- plugins


def _place(name: str, parts: int) -> list[str]:
    found = name.split("/")
    if len(found) != parts:
        raise EditError(f"{name[:60]!r} is not a path in the configuration.")
    if parts == 3 and found[1] not in (*IMPLEMENTED, EVERYWHERE):
        raise EditError(f"There is no extension point {found[1][:40]!r}.")
    if not declared(found[-1]).points:
        raise EditError(f"There is no plugin {found[-1][:40]!r} in kube-scheduler v1.37.")
    return found


def switch(document: Document, name: str, value: str, base: CompiledConfiguration) -> Document:
    """Switch a plugin on or off at a point, ``0/filter/NodeName``, or at all with ``multiPoint``."""
    number, point, plugin = _place(name, 3)
    if value not in ("on", "off"):
        raise EditError(f"A plugin is switched on or off, not {value[:40]!r}.")
    profile = GatedProfile(document, number, base)
    points = declared(plugin).points.split()
    if point == EVERYWHERE:
        _everywhere(profile, plugin, points, on=value == "on")
    elif point not in points:
        raise EditError(f"{plugin} does not implement {point}: it implements {', '.join(points)}.")
    else:
        _at_point(profile, point, plugin, on=value == "on")
    return profile.tidied()


def _at_point(profile: GatedProfile, point: str, plugin: str, *, on: bool) -> None:
    if on == profile.runs(plugin, point):
        return
    profile.drop(point, "disabled" if on else "enabled", plugin)
    if on != profile.runs(plugin, point):
        weight = {"weight": declared(plugin).default_weight} if on and point == SCORE else {}
        profile.listed(point, "enabled" if on else "disabled").append({"name": plugin, **weight})


def _everywhere(profile: GatedProfile, plugin: str, points: Sequence[str], *, on: bool) -> None:
    for point in (*points, EVERYWHERE):
        for which in ("disabled",) if on else ("enabled", "disabled"):
            profile.drop(point, which, plugin)
    if on and all(profile.runs(plugin, point) for point in points):
        return
    if on or any(profile.runs(plugin, point) for point in points):
        profile.listed(EVERYWHERE, "enabled" if on else "disabled").append({"name": plugin})
    if on:
        for point in points:
            _at_point(profile, point, plugin, on=True)  # where "*" is disabled


def arrange(document: Document, name: str, value: str, base: CompiledConfiguration) -> Document:
    """Set the order of the plugins of a point, ``0/filter``, to ``value``, a list of all names that run."""
    number, _, point = name.partition("/")
    profile = GatedProfile(document, number, base)
    wanted = read_json(value, list, "The order")
    running = _running(profile, point)
    if sorted(map(str, wanted)) != sorted(running):
        raise EditError(f"The order must name each plugin that runs at {point[:40]} once.")
    profile.listed(point, "enabled").clear()
    profile.listed(point, "disabled").clear()
    surplus = [plugin for plugin in _running(profile, point) if plugin not in running]
    profile.listed(point, "disabled").extend({"name": plugin} for plugin in surplus)
    if list(_running(profile, point).items()) != [(plugin, running[plugin]) for plugin in wanted]:
        entries = [{"name": plugin, **_weight(running[plugin])} for plugin in wanted]
        profile.listed(point, "disabled")[:] = [{"name": "*"}]
        profile.listed(point, "enabled")[:] = entries
    return profile.tidied()


def _running(profile: GatedProfile, point: str) -> dict[str, int]:
    """Return the plugins of a point in order, those that score with their weights, the others with 0."""
    return {
        name: (weight or 1) if point in WEIGHTED_POINTS else 0
        for name, weight in profile.points.get(point, ())
    }


def _weight(weight: int) -> dict[str, int]:
    return {"weight": weight} if weight else {}


# --- weights and arguments


def weigh(document: Document, name: str, value: str, base: CompiledConfiguration) -> Document:
    """Set a plugin's weight of score, ``0/NodeAffinity``; 0 disables it there, "" is the default."""
    number, plugin = _place(name, 2)
    default = declared(plugin).default_weight
    if not default:
        raise EditError(f"{plugin} does not score.")
    value = value or str(default)
    if not (value.isascii() and value.isdecimal() and len(value) < 12 and int(value) <= MOST_WEIGHT):
        raise EditError(
            f"The weight of {plugin} must be a whole number from 0 to {MOST_WEIGHT:,}, not {value[:40]!r}."
        )
    profile = GatedProfile(document, number, base)
    if value == "0":
        _at_point(profile, SCORE, plugin, on=False)
    elif profile.weights.get(plugin) != int(value):
        _set_weight(profile, plugin, int(value))
    return profile.tidied()


def _set_weight(profile: GatedProfile, plugin: str, weight: int) -> None:
    own = next((one for one in profile.listed(EVERYWHERE, "enabled") if one.get("name") == plugin), None)
    profile.drop(SCORE, "disabled", plugin)
    profile.drop(SCORE, "enabled", plugin)
    if profile.weights.get(plugin) == weight:
        return
    if own is not None and plugin in profile.weights:
        own["weight"] = weight
    else:
        profile.listed(SCORE, "enabled").append({"name": plugin, "weight": weight})


def weigh_all(document: Document, name: str, value: str, base: CompiledConfiguration) -> Document:
    """Set several weights, ``{plugin: weight}``, of the profile with a schedulerName, or of the first."""
    listed: Sequence[Mapping[str, Any]] = document.get("profiles") or ({},)
    names = [profile.get("schedulerName") for profile in listed]
    number = names.index(name) if name in names else 0
    for plugin, weight in read_json(value, dict, "The weights").items():
        if type(weight) is not int:
            raise EditError(f"The weight of {plugin[:60]} must be a whole number, not {str(weight)[:40]}.")
        document = weigh(document, f"{number}/{plugin}", str(weight), base)
    return document


def argue(document: Document, name: str, value: str, base: CompiledConfiguration) -> Document:
    """Set a plugin's arguments, an object in JSON: ``0/NodeResourcesFit``; empty: the defaults."""
    number, plugin = _place(name, 2)
    profile = GatedProfile(document, number, base)
    with_arguments(profile, plugin, read_json(value, dict, "The arguments") if value.strip() else None)
    return profile.tidied()


# --- profiles, nodes to score, gates


def profile_of(document: Document, name: str, value: str, base: CompiledConfiguration) -> Document:
    """Rename a profile, ``0``; with ``+`` add a copy of the first; an empty name removes the profile."""
    del base
    return with_profile(document, value) if name == "+" else renamed(document, name, value)


def limit_nodes(document: Document, name: str, value: str, base: CompiledConfiguration) -> Document:
    """Set ``percentageOfNodesToScore`` of a profile, ``0``, or without one of all; "" is the default."""
    if value and not (value.isascii() and value.isdecimal() and len(value) < 4 and int(value) <= 100):
        raise EditError(
            f"{PERCENTAGE} must be a whole number from 0 to 100, where 0 is adaptive, not {value[:40]!r}."
        )
    number = int(value) if value else None
    if not name:
        return with_field(document, PERCENTAGE, number, None)
    profile = GatedProfile(document, name, base)
    profile.written = profile.document["profiles"][profile.number] = dict(
        with_field(profile.written, PERCENTAGE, number, None)
    )
    return profile.tidied()


def with_gate(settings: Document, name: str, value: str) -> Document:
    """Set a feature gate in the settings to ``true`` or ``false``; its default, and "", are not written."""
    if name not in GATES or value not in ("", "true", "false"):
        raise EditError(
            f"There is no feature gate {name[:60]!r} of kube-scheduler v1.37 that can be {value[:20]!r}."
        )
    gates = {key: on for key, on in (settings.get("featureGates") or {}).items() if key != name}
    defaults = dialect_of(str(settings.get("scheduler") or DEFAULT_RELEASE)).gates
    if value and (value == "true") != defaults.get(name, False):
        gates[name] = value == "true"
    report = Report()
    at = At(report, None, SETTINGS_KIND)
    check_locked(read_gates(gates, at) or (), str(settings.get("scheduler") or ""), at)
    _raise(report)
    return with_field(settings, "featureGates", gates, {})


Edit = Callable[[Document, str, str, CompiledConfiguration], Document]

V1_37_EDITS: Mapping[str, Edit] = {
    "plugin": switch,
    "plugins": arrange,
    "weight": weigh,
    "weights": weigh_all,
    "arguments": argue,
    "profile": profile_of,
    "percentage": limit_nodes,
}
"""The changes to the configuration of v1.37, by name; ``gate`` changes the settings."""
