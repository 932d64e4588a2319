"""The validation of a configuration of kube-scheduler v1.37 in a bundle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.readers import At, Report, place_of
from scheduler_core.schedulers.coscheduling.editions import CLASSIC, CURRENT
from scheduler_core.schedulers.extenders.configuration import CONFIGURATION, read_extenders
from scheduler_core.schedulers.v1_22.configuration.document import check_configuration
from scheduler_core.schedulers.v1_22.configuration.plugins import MULTI_POINT as EVERYWHERE
from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS
from scheduler_core.schedulers.v1_22.configuration.plugins import POINTS as FRAMEWORK_POINTS
from scheduler_core.schedulers.v1_37.argument_checks import check_arguments
from scheduler_core.schedulers.v1_37.config import IMPLEMENTED
from scheduler_core.schedulers.v1_37.configuration import WITHDRAWN, compile_v1_37_configuration
from scheduler_core.schedulers.v1_37.plugins.table import DECLARED
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.releases import dialect_of
from scheduler_core.settings.release import CONFIGURATION_V1, V1_37, is_framework_document
from scheduler_core.settings.settings import Settings

_NEWER = frozenset(row.key for row in DECLARED) - PLUGINS.keys()
"""Plugins of v1.37 that the scheduling framework's tables do not know."""
SHAPED, SHAPE = "RequestedToCapacityRatio", "requestedToCapacityRatio"
_LEFT_OUT = (
    f"is an argument of the {CLASSIC.id} edition, for Kubernetes {CLASSIC.kubernetes}: the {CURRENT.id} one, "
    "which runs in v1.37, does without it"
)


def check_v1_37_configuration(policy: Document, settings: Settings, at: At, release: str = V1_37) -> None:
    """Report the errors of a configuration that a release runs with, and what of it that does not read."""
    if not is_framework_document(policy):
        at.child("kind").warn(
            f"kube-scheduler {release} reads no Policy: it runs with its default configuration"
        )
        return
    structure = Report(strict=at.report.strict, limit=at.report.limit)
    known = _known_to_framework(policy)
    if not dialect_of(release).checks_shape:
        known = _without_idle_shapes(known)
    check_configuration(known, settings, At(structure, None, at.root))
    if not structure.errors:
        base = CompiledConfiguration({}, dict(settings.feature_gates), dialect=dialect_of(release))
        check_arguments(policy, base, At(structure, None, at.root))
    at.report.errors.extend(structure.errors)
    if structure.errors:
        return
    if policy["apiVersion"] != CONFIGURATION_V1:
        _warn_of_earlier(policy, at, release)
    _, problems, warnings = read_extenders(policy.get("extenders"), CONFIGURATION)
    for problem in problems:
        place_of(at, problem.path).error(problem.message)
    for problem in warnings:
        place_of(at, problem.path).warn(problem.message)
    if problems:
        return
    try:
        compile_v1_37_configuration(policy, settings.feature_gates, release)
    except ValueError as error:
        at.error(str(error))


def _warn_of_earlier(policy: Document, at: At, release: str) -> None:
    """Warn that an earlier version is read as v1, and of the arguments that are left out for it."""
    at.child("apiVersion").warn(f"kube-scheduler {release} reads no {policy['apiVersion']}: it is read as v1")
    for first, profile in enumerate(policy.get("profiles") or ()):
        for second, config in enumerate(profile.get("pluginConfig") or ()):
            for name in sorted(WITHDRAWN & (config.get("args") or {}).keys()):
                place_of(at, f"profiles[{first}].pluginConfig[{second}].args.{name}").warn(_LEFT_OUT)


def _known_to_framework(policy: Mapping[str, Any]) -> Document:
    """Return the document without the plugins and points that only v1.37 has, to check its structure."""
    profiles = policy.get("profiles")
    if not isinstance(profiles, list):
        return {**policy}
    return {**policy, "profiles": [_without_newer(profile) for profile in profiles]}


def _without_idle_shapes(policy: Document) -> Document:
    """Return a document without shapes of scoring strategies that do not read them."""
    profiles = policy.get("profiles")
    if not isinstance(profiles, list):
        return policy
    return {**policy, "profiles": [_with_args(one, _without_idle_shape) for one in profiles]}


def _with_args(profile: Any, changed: Callable[[Any], Any]) -> Any:
    configs = profile.get("pluginConfig") if isinstance(profile, Mapping) else None
    if not isinstance(configs, list):
        return profile
    return {**profile, "pluginConfig": [changed(one) for one in configs]}


def _without_idle_shape(config: Any) -> Any:
    args = config.get("args") if _name(config) == "NodeResourcesFit" else None
    strategy = args.get("scoringStrategy") if isinstance(args, Mapping) else None
    if args is None or not isinstance(strategy, Mapping) or strategy.get("type") in (None, SHAPED):
        return config
    kept = {name: value for name, value in strategy.items() if name != SHAPE}
    return {**config, "args": {**args, "scoringStrategy": kept}}


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
