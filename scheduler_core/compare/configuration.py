"""What two scenarios configure differently, each change by its name.

Lines name A and B; an argument's changes from A to B are written with an arrow, as in
``NodeResourcesFit scoringStrategy LeastAllocated → MostAllocated``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.table import SUPPORT
from scheduler_core.schedulers.v1_22.configuration.result import EnabledPlugins
from scheduler_core.settings.feature_gates import DEFAULTS as GATES
from scheduler_core.settings.settings import QUIRK_MODES, Settings

VALUE = 120  # characters of an argument that are shown
#: Settings by their field in SimulationSettings; releases, gates and quirks are described otherwise.
SETTINGS: tuple[tuple[str, str], ...] = (
    ("predicateOrder", "predicate_order"),
    ("cache", "cache"),
    ("equivalenceClass", "equivalence_class"),
    ("audit", "audit"),
    ("staleWrites", "stale_writes"),
    ("until", "until"),
    ("design", "design"),
)
UNORDERED = ("preScore", "score", "placementScore")
"""Extension points at which the order changes nothing: scores are summed."""
_HUMP = re.compile(r"_([a-z])")


def differences(a: Scenario, b: Scenario) -> tuple[str, ...]:
    """Return what differs between the configurations that two scenarios begin with.

    Raises:
        PolicyError, ValueError: One of them cannot be used.
    """
    return (*_planes(a, b), *_gates(a, b), *_schedulers(a, b), *_settings(a.settings, b.settings))


def _planes(a: Scenario, b: Scenario) -> Iterator[str]:
    """Tell that controllers run on one side alone: it has another clock, other orders and other names."""
    if a.release == b.release and a.lives != b.lives:
        side = "A" if a.lives else "B"
        yield f"controllers run under {side} alone, so pods have other names and times there"


def _schedulers(a: Scenario, b: Scenario) -> Iterator[str]:
    """Describe the differences between the schedulers: their releases, or else their configurations."""
    yield from _extenders(a, b)
    if a.release != b.release:
        yield f"kube-scheduler {a.release} under A, {b.release} under B"
        return
    one, two = (SUPPORT[side.release].plugins(side.configuration) for side in (a, b))
    if one is not None and two is not None:
        yield from _by_name(one, two)
    else:
        yield from _policies(a.configuration.profile, b.configuration.profile)


def _extenders(a: Scenario, b: Scenario) -> Iterator[str]:
    """Describe the difference between the extenders that are asked from the start."""
    one, two = (scenario.configuration.extenders for scenario in (a, b))
    if one == two:
        return
    mine, theirs = (", ".join(extender.url for extender in found) or "none" for found in (one, two))
    if mine != theirs:
        yield f"extenders: {mine} under A, {theirs} under B"
        return
    for left, right in zip(one, two):
        yield from _arguments(f"extender {left.url}", _plain(left), _plain(right))


# --- the scheduling framework --------------------------------------------------------------------


def _by_name(a: Mapping[str, EnabledPlugins], b: Mapping[str, EnabledPlugins]) -> Iterator[str]:
    several = len(a) > 1 or len(b) > 1
    for name in dict.fromkeys([*a, *b]):
        left, right = a.get(name), b.get(name)
        if left is None or right is None:
            yield f"profile {name} of {'B' if left is None else 'A'} alone"
            continue
        where = f"profile {name}: " if several else ""
        yield from (where + text for text in _plugins(left, right))


def _plugins(a: EnabledPlugins, b: EnabledPlugins) -> Iterator[str]:
    for plugin in _names(a, b):
        mine, theirs = ([point for point in side.points if plugin in side.points[point]] for side in (a, b))
        yield from _enabled(plugin, mine, theirs)
        if plugin in a.weights and plugin in b.weights and a.weights[plugin] != b.weights[plugin]:
            yield f"plugin {plugin}: weight {a.weights[plugin]} under A, {b.weights[plugin]} under B"
        if mine and theirs:
            yield from _arguments(plugin, *(_plain(side.arguments.get(plugin)) for side in (a, b)))
    yield from _orders(a, b)
    if a.percentage != b.percentage:
        one, two = (side.percentage or "adaptive" for side in (a, b))
        yield f"percentageOfNodesToScore: {one} under A, {two} under B"


def _names(a: EnabledPlugins, b: EnabledPlugins) -> list[str]:
    """Return the plugins that run at any point of either, in the order of their first point."""
    return list(dict.fromkeys(name for side in (a, b) for names in side.points.values() for name in names))


def _enabled(plugin: str, mine: list[str], theirs: list[str]) -> Iterator[str]:
    """Describe the points at which a plugin runs under one side alone."""
    if mine == theirs:
        return
    if not mine or not theirs:
        one, two = ("enabled" if points else "disabled" for points in (mine, theirs))
        yield f"plugin {plugin}: {one} under A, {two} under B"
        return
    for name, points, others in (("A", mine, theirs), ("B", theirs, mine)):
        if only := [point for point in points if point not in others]:
            yield f"plugin {plugin}: {', '.join(only)} under {name} alone"


def _orders(a: EnabledPlugins, b: EnabledPlugins) -> Iterator[str]:
    for point in dict.fromkeys([*a.points, *b.points]):
        if point in UNORDERED:
            continue
        mine, theirs = (side.points.get(point, ()) for side in (a, b))
        common = [name for name in mine if name in theirs]
        if common != [name for name in theirs if name in mine]:
            yield f"order at {point}: {', '.join(mine)} under A, {', '.join(theirs)} under B"


def _plain(value: Any) -> Any:
    """Return arguments as JSON writes them, a compiled type by the names of its document."""
    if isinstance(value, msgspec.Struct):
        fields = {_camel(name): getattr(value, name) for name in value.__struct_fields__}
        return {name: _plain(one) for name, one in fields.items()}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _camel(name: str) -> str:
    return _HUMP.sub(lambda hump: hump[1].upper(), name)


def _arguments(name: str, a: Any, b: Any, path: str = "") -> Iterator[str]:
    """Describe each argument that differs; ``type`` of a strategy is the strategy."""
    if a == b:
        return
    left, right = (one or {} for one in (a, b))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in dict.fromkeys([*left, *right]):
            inner = path if path and key == "type" else f"{path}.{key}" if path else key
            yield from _arguments(name, left.get(key), right.get(key), inner)
        return
    yield f"{f'{name} {path}'.strip()} {_value(a)} → {_value(b)}"


def _value(value: Any) -> str:
    """Return an argument in a few words."""
    if value is None or value in ([], {}, ""):
        return "none"
    if isinstance(value, list) and all(_is_weighted(one) for one in value):
        return ", ".join(f"{one['name']} {one.get('weight', 1)}" for one in value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE else f"{text[:VALUE]}…"


def _is_weighted(value: Any) -> bool:
    return isinstance(value, Mapping) and "name" in value and set(value) <= {"name", "weight"}


# --- a Policy ------------------------------------------------------------------------------------


def _policies(a: Profile, b: Profile) -> Iterator[str]:
    """Describe the differences between the policies themselves."""
    for name, mine, theirs in (("A", a.order, b.order), ("B", b.order, a.order)):
        only = [key for key in mine if key not in theirs]
        if only:
            yield f"predicates of {name} alone: {', '.join(only)}"
    common = [key for key in a.order if key in b.order]
    if common != [key for key in b.order if key in a.order]:
        yield "the order of the predicates differs"
    weights_a = {p.name: p.weight for p in a.priorities}
    weights_b = {p.name: p.weight for p in b.priorities}
    for key in dict.fromkeys([*weights_a, *weights_b]):
        one, two = weights_a.get(key, 0), weights_b.get(key, 0)
        if one != two:
            yield f"priority {key}: weight {one or 'none'} under A, {two or 'none'} under B"
    for key in dict.fromkeys([*a.arguments, *b.arguments]):
        yield from _arguments(key, *(_plain(side.arguments.get(key)) for side in (a, b)))
    for quirk in sorted(a.quirks ^ b.quirks):
        yield f"quirk {quirk}: {QUIRK_MODES[quirk not in a.quirks]} under A, the other under B"
    if a.hard_weight != b.hard_weight:
        yield f"hardPodAffinitySymmetricWeight: {a.hard_weight} under A, {b.hard_weight} under B"
    if a.always_check_all != b.always_check_all:
        yield f"alwaysCheckAllPredicates: {a.always_check_all} under A, {b.always_check_all} under B"


# --- settings ------------------------------------------------------------------------------------


def _settings(a: Settings, b: Settings) -> Iterator[str]:
    """Describe the differences between the settings of the simulation."""
    for name, field in SETTINGS:
        one, two = getattr(a, field), getattr(b, field)
        if one != two:
            yield f"{name}: {_value(one)} under A, {_value(two)} under B"
    if a.schedulers != b.schedulers:
        before, after = (", ".join(one.name for one in side.schedulers) or "none" for side in (a, b))
        if before != after:
            yield f"schedulers: {before} under A, {after} under B"
        else:
            for left, right in zip(a.schedulers, b.schedulers):
                yield from _arguments(f"scheduler {left.name}", _plain(left), _plain(right))


def _gates(a: Scenario, b: Scenario) -> Iterator[str]:
    """Describe the feature gates that differ where both sides have gates."""
    if a.release != b.release or not a.row.has_gates:
        return
    one, two = ({**GATES, **dict(side.settings.feature_gates)} for side in (a, b))
    for gate in sorted({**one, **two}):
        if one.get(gate) != two.get(gate):
            mine, theirs = ("on" if gates.get(gate) else "off" for gates in (one, two))
            yield f"feature gate {gate}: {mine} under A, {theirs} under B"
