"""A KubeSchedulerConfiguration compiled to plugins, predicates and priorities by profile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import PolicyError, Problem
from scheduler_core.kubernetes.readers import At, DocumentRoot, Report, path_text, place_of
from scheduler_core.schedulers.profiles.profile import Profile, WeightedPriority
from scheduler_core.schedulers.quirks import in_variant
from scheduler_core.schedulers.v1_11.policy.compiler import quirks_in_force
from scheduler_core.schedulers.v1_22.configuration.arguments import DEFAULTS, READERS, read_coscheduling
from scheduler_core.schedulers.v1_22.configuration.checks import (
    check_combination,
    check_common_queue_sort,
    check_configs,
    check_kind,
    check_names,
)
from scheduler_core.schedulers.v1_22.configuration.plugin_merge import Listed, enabled
from scheduler_core.schedulers.v1_22.configuration.plugins import COSCHEDULING, PLUGINS, POINTS
from scheduler_core.schedulers.v1_22.configuration.reader import (
    Config,
    WrittenConfiguration,
    WrittenProfile,
    read_configuration,
)
from scheduler_core.schedulers.v1_22.configuration.result import (
    Enabled,
    FrameworkConfiguration,
    FrameworkProfile,
)
from scheduler_core.schedulers.v1_22.configuration.rules import predicates_of, priorities_of, unread
from scheduler_core.schedulers.v1_22.configuration.versions import Version
from scheduler_core.schedulers.v1_22.plugins.table import FRAMEWORK_PLUGINS
from scheduler_core.schedulers.v1_22.profile import OWN
from scheduler_core.settings.release import DEFAULT_SCHEDULER
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings

PLUGIN_READERS = {
    entry.name: entry.plugin.arguments_reader
    for entry in FRAMEWORK_PLUGINS
    if entry.plugin.arguments_reader is not None
}
"""The readers of arguments that the classes of plugins bring along."""

ALIKE = {"filter": "every node passes", "score": "all nodes score alike"}
NOTHING_TO_SCORE = ("VolumeBinding", "score")  # its feature gate is off: kube-scheduler scores 0 everywhere


class _Checked(Struct, frozen=True):
    """A checked profile: the enabled plugins by extension point, and their arguments."""

    written: WrittenProfile
    listed: Listed
    arguments: Mapping[str, Any]


def compile_configuration(
    document: Document, settings: Settings = DEFAULT_SETTINGS
) -> FrameworkConfiguration:
    """Compile a KubeSchedulerConfiguration document.

    Raises:
        PolicyError: With every problem and its path.
    """
    report = Report()
    compiled = read_and_compile(
        document, settings, At(report, None, DocumentRoot(str(document.get("kind")), document))
    )
    if compiled is None or report.errors:
        raise PolicyError([Problem(message, path_text(at.steps)) for at, message in report.errors])
    return replace(
        compiled, warnings=tuple(Problem(message, path_text(at.steps)) for at, message in report.warnings)
    )


def read_and_compile(value: Document, settings: Settings, at: At) -> FrameworkConfiguration | None:
    """Compile a document; report errors and warnings to ``at``; return ``None`` if it cannot be used."""
    wrong = len(at.report.errors)
    written = read_configuration(value, at)
    if written is None:
        return None
    checked = [_checked(profile, written.version) for profile in written.profiles]
    check_common_queue_sort([(c.written, c.listed, c.arguments) for c in checked])
    _check_settings(written, settings)
    if len(at.report.errors) > wrong:
        return None
    profiles = tuple(_compiled(profile, settings) for profile in checked)
    _warn_of_effects(written, checked, profiles, settings)
    return FrameworkConfiguration(
        written.version, profiles, written.percentage, written.initial_backoff, written.max_backoff
    )


def _check_settings(written: WrittenConfiguration, settings: Settings) -> None:
    if settings.cache != "off":
        written.at.child("kind").error(
            f"the equivalence cache was removed before this configuration existed: write cache: off in the "
            f"SimulationSettings, not {settings.cache}, or a v1 Policy"
        )


def _checked(profile: WrittenProfile, version: Version) -> _Checked:
    check_names(profile, version)
    listed = enabled(profile, version)
    check_combination(profile, listed, version)
    check_configs(profile, listed, version)
    return _Checked(profile, listed, _arguments(profile, listed, version))


def _arguments(profile: WrittenProfile, listed: Listed, version: Version) -> dict[str, Any]:
    """Read the arguments of all plugins; return those of the enabled ones, with defaults."""
    given: dict[str, Any] = {}
    for config in profile.configs:
        if config.name not in given and config.name in PLUGINS:
            given[config.name] = _read_arguments(config, version)
    running = list(dict.fromkeys(plugin.name for point in POINTS for plugin in listed[point]))
    for name in running:
        if name in given:
            continue
        if name == COSCHEDULING:
            given[name] = read_coscheduling(version.edition, {}, profile.at)
        elif name in DEFAULTS:
            given[name] = DEFAULTS[name]
        elif name in PLUGIN_READERS:
            given[name] = PLUGIN_READERS[name]({}, profile.at)
        elif name in READERS and name == "RequestedToCapacityRatio":
            profile.at.child("pluginConfig").error(
                f"{name} has no arguments: give it {{shape: [{{utilization: 0, score: 10}}, …]}}"
            )
    return {name: arguments for name, arguments in given.items() if name in running and arguments is not None}


def _read_arguments(config: Config, version: Version) -> Any:
    at = config.at.child("args")
    if config.args is None:
        return DEFAULTS.get(config.name)
    if not check_kind(config.name, config.args, at, version):
        return None
    if version.name == "v1beta1" and config.name == "NodeResourcesFit" and "scoringStrategy" in config.args:
        at.child("scoringStrategy").error(
            "came with v1beta2: in v1beta1 enable NodeResourcesLeastAllocated, NodeResourcesMostAllocated or "
            "RequestedToCapacityRatio under score"
        )
    if config.name == COSCHEDULING:
        return read_coscheduling(version.edition, config.args, at)
    read = READERS.get(config.name) or PLUGIN_READERS.get(config.name)
    if read is None:
        if set(config.args) - {"apiVersion", "kind", "metadata"}:
            at.error(f"{config.name} takes no arguments: leave them out")
        return None
    return read(config.args, at)


def _compiled(checked: _Checked, settings: Settings) -> FrameworkProfile:
    arguments, listed = checked.arguments, checked.listed
    points = {
        point: tuple(
            Enabled(plugin.name, (plugin.weight or 1) if point == "score" else 0) for plugin in listed[point]
        )
        for point in POINTS
    }
    rules: list[tuple[str, str, str, str]] = []
    quirks = quirks_in_force(settings)
    predicates: dict[str, Any] = {}
    for plugin in points["filter"]:
        for key, predicate in predicates_of(plugin.name, arguments.get(plugin.name)):
            predicates[key] = in_variant(predicate, quirks)
            rules.append((plugin.name, "filter", key, PLUGINS[plugin.name].filter_differs))
    priorities: dict[str, WeightedPriority] = {}
    for plugin in points["score"]:
        for name, priority in priorities_of(plugin.name, arguments.get(plugin.name)):
            # two plugins that map to one rule are distinguished by their own names
            own = name if name not in priorities else plugin.name
            priorities[own] = WeightedPriority(own, plugin.weight, in_variant(priority, quirks))
            differs = "" if name in OWN else PLUGINS[plugin.name].score_differs
            rules.append((plugin.name, "score", name, differs))
    affinity = arguments.get("InterPodAffinity") if "InterPodAffinityPriority" in priorities else None
    profile = Profile(
        tuple(predicates),
        tuple(predicates.values()),
        tuple(priorities.values()),
        quirks=quirks,
        hard_weight=affinity.hard_pod_affinity_weight if affinity is not None else 1,
        settings=settings,
        preempts=any(plugin.name == "DefaultPreemption" for plugin in points["postFilter"]),
        framework_preemption=True,
    )
    written = checked.written
    name = written.scheduler_name or DEFAULT_SCHEDULER
    return FrameworkProfile(name, points, arguments, profile, written.percentage, tuple(rules))


# --- warnings


def _warn_of_effects(
    written: WrittenConfiguration,
    checked: Iterable[_Checked],
    profiles: Iterable[FrameworkProfile],
    settings: Settings,
) -> None:
    """Warn of everything that the run does not do, or does as v1.11 did."""
    at = written.at
    if written.percentage and written.percentage < 100:
        at.child("percentageOfNodesToScore").warn("has no effect: every node is evaluated, as in v1.11")
    if written.extenders:
        at.child("extenders").warn(
            "extenders are not called: only kube-scheduler v1.11 and v1.37 ask them here"
        )
    if quirks_in_force(settings):
        at.child("kind").warn(
            "the known deviations of v1.11 are in force; quirks: fixed in SimulationSettings ends them, as "
            "later releases did"
        )
    warned: set[str] = set()
    for one, profile in zip(checked, profiles):
        _warn_of_arguments(one, profile)
        for warning in _rules(profile):
            if warning not in warned:  # most profiles run the same rules: warn once
                one.written.at.warn(warning)
            warned.add(warning)


def _warn_of_arguments(checked: _Checked, profile: FrameworkProfile) -> None:
    at = checked.written.at
    if checked.written.percentage and checked.written.percentage < 100:
        at.child("percentageOfNodesToScore").warn("has no effect: every node is evaluated, as in v1.11")
    configs = {config.name: config.at.child("args") for config in checked.written.configs}
    for name, arguments in checked.arguments.items():
        scores = any(plugin.name == name for plugin in profile.points["score"])
        for found in unread(name, arguments, scores=scores):
            place_of(configs[name], found.path).warn(found.message)


def _rules(profile: FrameworkProfile) -> Iterator[str]:
    """Yield warnings for plugins that a differing rule of v1.11 evaluates, and for those not evaluated."""
    for point in ALIKE:
        differing = {p: rule for p, of, rule, differs in profile.rules if differs and of == point}
        if differing:
            listed = ", ".join(f"{plugin} by {rule}" for plugin, rule in differing.items())
            yield (
                f"at {point} evaluated by v1.11's rules, which differ from today's (docs/policy.md): {listed}"
            )
    evaluated = {(plugin, point) for plugin, point, _, _ in profile.rules}
    for point, alike in ALIKE.items():
        called = [(plugin.name, point) for plugin in profile.points[point]]
        idle = [name for name, _ in called if (name, point) not in evaluated | {NOTHING_TO_SCORE}]
        if idle:
            yield f"not evaluated at {point}, where {alike}: {', '.join(idle)}"
