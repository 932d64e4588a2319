"""The configuration of kube-scheduler v1.37 in a bundle: what it compiles to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import PolicyError, Problem
from scheduler_core.kubernetes.readers import At
from scheduler_core.schedulers.coscheduling.editions import CLASSIC, CURRENT
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.schedulers.v1_37.plugins.coscheduling import NAME as COSCHEDULING
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.releases import dialect_of
from scheduler_core.settings.feature_gates import FeatureGates
from scheduler_core.settings.release import (
    CONFIGURATION_V1,
    V1_22,
    V1_37,
    is_framework_document,
    plugins_named,
)

if TYPE_CHECKING:
    from scheduler_core.schedulers.v1_22.configuration.result import EnabledPlugins

_DEFAULT: Document = {}
WITHDRAWN = frozenset(one.name for one in CLASSIC.arguments) - {one.name for one in CURRENT.arguments}
"""Arguments of Coscheduling's classic edition, which a configuration before v1 may have."""
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


def compile_v1_37_configuration(
    policy: Document | None, gates: FeatureGates = (), release: str = V1_37
) -> CompiledConfiguration:
    """Compile the configuration that a release runs with: the document if it is a KubeSchedulerConfiguration.

    Raises:
        ValueError: The document cannot be used.
    """
    return compiled_for(policy, gates, dialect_of(release))


def compiled_for(policy: Document | None, gates: FeatureGates, dialect: Dialect) -> CompiledConfiguration:
    """Compile the same for any dialect."""
    document = policy if policy is not None and is_framework_document(policy) else _DEFAULT
    try:
        return read_configuration(_as_v1(document), dict(gates), dialect)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it cannot be read: {error}") from error


def usable_v1_37_configuration(
    policy: Document | None, gates: FeatureGates = (), release: str = V1_37
) -> CompiledConfiguration:
    """Compile the configuration of a run.

    Raises:
        PolicyError: It cannot be used.
    """
    try:
        return compile_v1_37_configuration(policy, gates, release)
    except ValueError as error:
        raise PolicyError([Problem(str(error))]) from error


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
    return {**config, "args": {name: value for name, value in args.items() if name not in WITHDRAWN}}


def v1_37_plugins(configuration: Configuration) -> dict[str, EnabledPlugins]:
    """Return the plugins of each profile that the release runs, by schedulerName, with all arguments."""
    from scheduler_core.schedulers.v1_22.configuration.result import EnabledPlugins

    gates, release = configuration.settings.feature_gates, configuration.reader
    compiled = compile_v1_37_configuration(configuration.policy, gates, release)
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
    gates, release = configuration.settings.feature_gates, configuration.reader
    compiled = compile_v1_37_configuration(document, gates, release)
    return any(profile.enabled(COSCHEDULING) for profile in compiled.profiles.values())


def warn_of_readers(configuration: Configuration, at: At) -> None:
    """Say which of several releases side by side reads a configuration; the others have defaults."""
    read_by = " and ".join(configuration.readers) if configuration.is_for_peers else V1_22
    at.child("kind").warn(
        f"the schedulers that run {read_by} read it; those that run another release have their default "
        "configuration"
    )
