"""A v1alpha1 policy with fields of releases after v0.9.0, as v0.28 converted it: a profile per strategy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from scheduler_core.cluster.descheduler.arguments import InvalidArguments, Namespaces, PodScope
from scheduler_core.cluster.descheduler.classic.params import Params
from scheduler_core.cluster.descheduler.plugins import (
    failed_pods,
    high_node_utilization,
    low_node_utilization,
    node_affinity,
    node_taints,
    pod_life_time,
    remove_duplicates,
    too_many_restarts,
    topology_spread,
)
from scheduler_core.cluster.descheduler.policy import (
    ClassicStrategy,
    DeschedulerProfile,
    PluginConfig,
    Policy,
    PolicyRefusedError,
    aggregate,
)
from scheduler_core.cluster.descheduler.protections import DEFAULT_EVICTOR, EvictorArgs, PriorityThreshold
from scheduler_core.cluster.descheduler.strategy import CURRENT
from scheduler_core.cluster.descheduler.table import PLUGINS


def converted(policy: Policy) -> Policy:
    """Return the policy with profiles, in the order of the strategies' names.

    Raises:
        PolicyRefusedError: The parameters of a strategy are not valid.
    """
    enabled = {
        name: one for name, one in sorted(policy.strategies.items()) if one.enabled and name in PLUGINS
    }
    profiles = tuple(_profile(name, one, policy) for name, one in enabled.items())
    return replace(policy, edition=CURRENT, profiles=profiles)


def _profile(name: str, strategy: ClassicStrategy, policy: Policy) -> DeschedulerProfile:
    later, row = strategy.params.later, PLUGINS[name]
    if later.get("thresholdPriority") is not None and later.get("thresholdPriorityClassName"):
        refusal = InvalidArguments(
            f"priority threshold misconfigured for plugin {name}",
            f"strategies.{name}.params.thresholdPriority",
            "remove it, or thresholdPriorityClassName",
        )
        raise PolicyRefusedError([refusal])
    args = _args(name, strategy.params)
    faults = list(row.check(args))
    if faults:
        message = (
            f'failed to get plugin config for strategy {name}: strategy "{name}" param validation failed: '
            f"{aggregate(one.message for one in faults)}"
        )
        remedy = "; ".join(one.remedy for one in faults)
        raise PolicyRefusedError([InvalidArguments(message, f"strategies.{name}", remedy)])
    evictor = EvictorArgs(
        switches=policy.switches,
        node_fit=name != "PodLifeTime" and bool(later.get("nodeFit")),
        priority_threshold=PriorityThreshold(
            later.get("thresholdPriority"), later.get("thresholdPriorityClassName") or ""
        ),
    )
    configs = (PluginConfig(DEFAULT_EVICTOR, evictor), PluginConfig(name, args))
    return DeschedulerProfile(f"strategy-{name}-profile", configs, {row.point: (name,)})


def _args(name: str, params: Params) -> Any:
    """Return a plugin's arguments from a strategy's parameters (StrategyParamsToPluginArgs)."""
    later = params.later
    fields: dict[str, Any] = dict(_scope(later))
    if name in _UTILIZATION:
        return _utilization(name, params)
    build, add = _PLUGIN_ARGS.get(name, (PodScope, None))
    if add is not None:
        fields |= add(params)
    if name == "RemoveDuplicates":
        fields.pop("label_selector", None)
    return build(**fields)


def _scope(later: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if later.get("namespaces") is not None:
        yield "namespaces", later["namespaces"]
    if later.get("labelSelector") is not None:
        yield "label_selector", later["labelSelector"]


def _utilization(name: str, params: Params) -> Any:
    given = params.utilization
    shared: dict[str, Any] = {
        "thresholds": given.thresholds or {},
        "number_of_nodes": given.number_of_nodes,
        "evictable_namespaces": params.later.get("namespaces") or Namespaces(),
    }
    if name == "HighNodeUtilization":
        return high_node_utilization.HighNodeUtilizationArgs(**shared)
    return low_node_utilization.LowNodeUtilizationArgs(
        **shared,
        target_thresholds=given.target_thresholds or {},
        use_deviation_thresholds=given.use_deviation_thresholds,
    )


_UTILIZATION = ("HighNodeUtilization", "LowNodeUtilization")


def _renamed(of: str, names: Mapping[str, str]) -> Any:
    """Return a function that takes fields of one of the parameters' objects under the plugin's names."""

    def take(params: Params) -> dict[str, Any]:
        given = params.later.get(of) or {}
        return {names[name]: value for name, value in given.items() if name in names}

    return take


def _life_time(params: Params) -> dict[str, Any]:
    given = params.later.get("podLifeTime") or {}
    return {
        "most_seconds": given.get("maxPodLifeTimeSeconds"),
        "states": (*given.get("podStatusPhases", ()), *given.get("states", ())),
    }


def _taints(params: Params) -> dict[str, Any]:
    return {
        "include_prefer_no_schedule": bool(params.later.get("includePreferNoSchedule")),
        "excluded_taints": params.later.get("excludedTaints") or (),
    }


def _constraints(params: Params) -> dict[str, Any]:
    soft = bool(params.later.get("includeSoftConstraints"))
    return {"constraints": topology_spread.CONSTRAINTS[: 1 + soft]}


_EXCLUDED = {"excludeOwnerKinds": "exclude_owner_kinds"}
_INIT = {"includingInitContainers": "init_containers"}
_PLUGIN_ARGS: Mapping[str, tuple[Any, Any]] = {
    "RemoveDuplicates": (remove_duplicates.RemoveDuplicatesArgs, _renamed("removeDuplicates", _EXCLUDED)),
    "RemovePodsViolatingNodeAffinity": (
        node_affinity.RemovePodsViolatingNodeAffinityArgs,
        lambda params: {"node_affinity_type": params.node_affinity_type},
    ),
    "RemovePodsViolatingNodeTaints": (node_taints.RemovePodsViolatingNodeTaintsArgs, _taints),
    "RemovePodsViolatingTopologySpreadConstraint": (
        topology_spread.RemovePodsViolatingTopologySpreadConstraintArgs,
        _constraints,
    ),
    "PodLifeTime": (pod_life_time.PodLifeTimeArgs, _life_time),
    "RemovePodsHavingTooManyRestarts": (
        too_many_restarts.RemovePodsHavingTooManyRestartsArgs,
        _renamed("podsHavingTooManyRestarts", {"podRestartThreshold": "threshold", **_INIT}),
    ),
    "RemoveFailedPods": (
        failed_pods.RemoveFailedPodsArgs,
        _renamed(
            "failedPods",
            {**_EXCLUDED, **_INIT, "minPodLifetimeSeconds": "least_seconds", "reasons": "reasons"},
        ),
    ),
}
