"""The configuration of kube-scheduler v1.37 in a bundle: its validation, and what it compiles to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import PolicyError, Problem
from scheduler_core.kubernetes.reading import At, Report, place_of
from scheduler_core.schedulers.coscheduling.editions import CLASSIC, CURRENT
from scheduler_core.schedulers.extenders.configuration import CONFIGURATION, read_extenders
from scheduler_core.schedulers.v1_22.configuration.document import check_configuration
from scheduler_core.schedulers.v1_22.configuration.plugins import MULTI_POINT as EVERYWHERE
from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS
from scheduler_core.schedulers.v1_22.configuration.plugins import POINTS as FRAMEWORK_POINTS
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_22.configuration.result import EnabledPlugins
from scheduler_core.schedulers.v1_37.argument_checks import check_arguments
from scheduler_core.schedulers.v1_37.config import IMPLEMENTED, read_configuration
from scheduler_core.schedulers.v1_37.plugins.coscheduling import NAME as COSCHEDULING
from scheduler_core.schedulers.v1_37.plugins.table import DECLARED
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.settings.feature_gates import FeatureGates
from scheduler_core.settings.release import CONFIGURATION_V1, V1_22, is_framework_document, plugins_named
from scheduler_core.settings.settings import Settings

_DEFAULT: Document = {}
_WITHDRAWN = frozenset(one.name for one in CLASSIC.arguments) - {one.name for one in CURRENT.arguments}
"""Arguments of Coscheduling's classic edition, which a configuration before v1 may have."""
_NEWER = frozenset(row.key for row in DECLARED) - PLUGINS.keys()
"""Plugins of v1.37 that the scheduling framework's tables do not know."""
_LEFT_OUT = (
    f"is an argument of the {CLASSIC.id} edition, for Kubernetes {CLASSIC.kubernetes}: the {CURRENT.id} one, "
    "which runs in v1.37, does without it"
)
_RESOURCES = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
#: The arguments of v1.37 where none are given (pkg/scheduler/apis/config/v1/defaults.go).
ARGUMENT_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "DefaultPreemption": {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100},
    "DynamicResources": {"filterTimeout": "10s"},
    "InterPodAffinity": {"hardPodAffinityWeight": 1, "ignorePreferredTermsOfExistingPods": False},
    "NodeResourcesBalancedAllocation": {"resources": _RESOURCES},
    "NodeResourcesFit": {"scoringStrategy": {"type": "LeastAllocated", "resources": _RESOURCES}},
    "PodTopologySpread": {"defaultingType": "System"},
    "VolumeBinding": {"bindTimeoutSeconds": 600},
}


def compile_v1_37_configuration(policy: Document | None, gates: FeatureGates = ()) -> CompiledConfiguration:
    """Compile the configuration that v1.37 runs with: the document if it is a KubeSchedulerConfiguration.

    Raises:
        ValueError: The document cannot be used.
    """
    document = policy if policy is not None and is_framework_document(policy) else _DEFAULT
    try:
        return read_configuration(_as_v1(document), dict(gates))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it cannot be read: {error}") from error


def usable_v1_37_configuration(policy: Document | None, gates: FeatureGates = ()) -> CompiledConfiguration:
    """Compile the configuration of a run.

    Raises:
        PolicyError: It cannot be used.
    """
    try:
        return compile_v1_37_configuration(policy, gates)
    except ValueError as error:
        raise PolicyError([Problem(str(error))]) from error


def check_v1_37_configuration(policy: Document, settings: Settings, at: At) -> None:
    """Report the errors of a configuration that v1.37 runs with, and what of it v1.37 does not read."""
    if not is_framework_document(policy):
        at.child("kind").warn("kube-scheduler v1.37 reads no Policy: it runs with its default configuration")
        return
    structure = Report(strict=at.report.strict, limit=at.report.limit)
    check_configuration(_known_to_framework(policy), settings, At(structure, None, at.root))
    if not structure.errors:
        check_arguments(policy, dict(settings.feature_gates), At(structure, None, at.root))
    at.report.errors.extend(structure.errors)
    if structure.errors:
        return
    if policy["apiVersion"] != CONFIGURATION_V1:
        _warn_of_earlier(policy, at)
    _, problems, warnings = read_extenders(policy.get("extenders"), CONFIGURATION)
    for problem in problems:
        place_of(at, problem.path).error(problem.message)
    for problem in warnings:
        place_of(at, problem.path).warn(problem.message)
    if problems:
        return
    try:
        compile_v1_37_configuration(policy, settings.feature_gates)
    except ValueError as error:
        at.error(str(error))


def _as_v1(policy: Document) -> Document:
    """Return a KubeSchedulerConfiguration as v1, without the arguments that Coscheduling has no longer."""
    if not policy or policy.get("apiVersion") == CONFIGURATION_V1:
        return policy
    profiles = [
        {**one, "pluginConfig": [_current(config) for config in one.get("pluginConfig") or ()]}
        for one in policy.get("profiles") or ()
    ]
    return {**policy, "apiVersion": CONFIGURATION_V1, "profiles": profiles}


def _current(config: Mapping[str, Any]) -> Mapping[str, Any]:
    args = config.get("args")
    if config["name"] != COSCHEDULING or not args:
        return config
    return {**config, "args": {name: value for name, value in args.items() if name not in _WITHDRAWN}}


def _warn_of_earlier(policy: Document, at: At) -> None:
    """Warn that an earlier version is read as v1, and of the arguments that are left out for it."""
    at.child("apiVersion").warn(f"kube-scheduler v1.37 reads no {policy['apiVersion']}: it is read as v1")
    for first, profile in enumerate(policy.get("profiles") or ()):
        for second, config in enumerate(profile.get("pluginConfig") or ()):
            for name in sorted(_WITHDRAWN & (config.get("args") or {}).keys()):
                place_of(at, f"profiles[{first}].pluginConfig[{second}].args.{name}").warn(_LEFT_OUT)


def v1_37_plugins(configuration: Configuration) -> dict[str, EnabledPlugins]:
    """Return the plugins of each profile that v1.37 runs, by schedulerName, with all arguments."""
    compiled = compile_v1_37_configuration(configuration.policy, configuration.settings.feature_gates)
    return {
        name: EnabledPlugins(one.points, one.weights, _completed(one.arguments), one.percentage)
        for name, one in compiled.profiles.items()
    }


def _completed(given: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return arguments with the defaults of those that are not given."""
    names = dict.fromkeys([*given, *ARGUMENT_DEFAULTS])
    found = {name: {**ARGUMENT_DEFAULTS.get(name, {}), **given.get(name, {})} for name in names}
    strategy = ARGUMENT_DEFAULTS["NodeResourcesFit"]["scoringStrategy"]
    fit = found["NodeResourcesFit"]
    fit["scoringStrategy"] = {**strategy, **(fit["scoringStrategy"] or {})}
    return found


def runs_coscheduling(configuration: Configuration) -> bool:
    """Return whether a profile runs Coscheduling."""
    document = configuration.policy
    if document is None or COSCHEDULING not in plugins_named(document):
        return False
    compiled = compile_v1_37_configuration(document, configuration.settings.feature_gates)
    return any(profile.enabled(COSCHEDULING) for profile in compiled.profiles.values())


def warn_of_readers(configuration: Configuration, at: At) -> None:
    """Say which of several releases side by side reads a configuration; the others have defaults."""
    read_by = configuration.read_by if configuration.is_for_peers else V1_22
    at.child("kind").warn(
        f"the schedulers that run {read_by} read it; those that run another release have their default "
        "configuration"
    )


def _known_to_framework(policy: Mapping[str, Any]) -> Document:
    """Return the document without the plugins and points that only v1.37 has, to check its structure."""
    profiles = policy.get("profiles")
    if not isinstance(profiles, list):
        return {**policy}
    return {**policy, "profiles": [_without_newer(profile) for profile in profiles]}


def _without_newer(profile: Any) -> Any:
    if not isinstance(profile, Mapping):
        return profile
    plugins, configs = profile.get("plugins"), profile.get("pluginConfig")
    made = {**profile}
    if isinstance(plugins, Mapping):
        made["plugins"] = {
            point: _known_at(point, of)
            for point, of in plugins.items()
            if point in FRAMEWORK_POINTS or point not in IMPLEMENTED
        }
    if isinstance(configs, list):
        made["pluginConfig"] = [one for one in configs if _name(one) not in _NEWER]
    return made


def _known_at(point: str, listed: Any) -> Any:
    """Return a plugin set without entries that are right in v1.37 alone."""
    if not isinstance(listed, Mapping):
        return listed
    right = IMPLEMENTED.get(point, frozenset())

    def is_newer(entry: Any) -> bool:
        name = _name(entry)
        known = point == EVERYWHERE or (name in PLUGINS and point in PLUGINS[name].points)
        return name in _NEWER or (name in right and not known)

    return {
        which: [one for one in entries if not is_newer(one)] if isinstance(entries, list) else entries
        for which, entries in listed.items()
    }


def _name(entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return name if isinstance(name, str) else ""
