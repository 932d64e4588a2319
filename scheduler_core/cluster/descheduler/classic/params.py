"""The parameters of a strategy of ``descheduler/v1alpha1``: one structure for all strategies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.descheduler.arguments import (
    COUNT,
    NAMESPACES,
    SECONDS,
    TEXTS,
    THRESHOLDS,
    Thresholds,
)
from scheduler_core.kubernetes.fields_common import LABEL_SELECTOR
from scheduler_core.kubernetes.readers import Field, boolean, integer, opaque, record, text


class NodeThresholds(Struct, frozen=True):
    """NodeResourceUtilizationThresholds; ``None`` where thresholds are absent."""

    thresholds: Thresholds | None = None
    target_thresholds: Thresholds | None = None
    number_of_nodes: int = 0
    use_deviation_thresholds: bool = False


class Params(Struct, frozen=True):
    """StrategyParameters. ``later`` are the fields that v0.9.0 does not know, as written."""

    utilization: NodeThresholds = NodeThresholds()
    node_affinity_type: tuple[str, ...] = ()
    later: Mapping[str, Any] = {}


def _thresholds(**fields: Any) -> NodeThresholds:
    return NodeThresholds(**fields)


_LISTS = {"excludeOwnerKinds": Field("excludeOwnerKinds", TEXTS)}
_INIT = {"includingInitContainers": Field("includingInitContainers", boolean)}


def _written(fields: Mapping[str, Field]) -> Any:
    """Create a reader that checks fields and keeps them under their own names."""
    return record(dict, fields)


LATER = {
    "namespaces": Field("namespaces", NAMESPACES),
    "thresholdPriority": Field("thresholdPriority", integer()),
    "thresholdPriorityClassName": Field("thresholdPriorityClassName", text),
    "labelSelector": Field("labelSelector", LABEL_SELECTOR),
    "nodeFit": Field("nodeFit", boolean),
    "removeDuplicates": Field("removeDuplicates", _written(_LISTS)),
    "includeSoftConstraints": Field("includeSoftConstraints", boolean),
    "includePreferNoSchedule": Field("includePreferNoSchedule", boolean),
    "excludedTaints": Field("excludedTaints", TEXTS),
    "podLifeTime": Field(
        "podLifeTime",
        _written(
            {
                "maxPodLifeTimeSeconds": Field("maxPodLifeTimeSeconds", SECONDS),
                "states": Field("states", TEXTS),
                "podStatusPhases": Field("podStatusPhases", TEXTS),
            }
        ),
    ),
    "podsHavingTooManyRestarts": Field(
        "podsHavingTooManyRestarts",
        _written({"podRestartThreshold": Field("podRestartThreshold", integer()), **_INIT}),
    ),
    "failedPods": Field(
        "failedPods",
        _written(
            {
                **_LISTS,
                **_INIT,
                "minPodLifetimeSeconds": Field("minPodLifetimeSeconds", SECONDS),
                "reasons": Field("reasons", TEXTS),
            }
        ),
    ),
}
"""The parameters that releases after v0.9.0 added."""

_KNOWN = frozenset(Params.__struct_fields__)


def _params(**fields: Any) -> Params:
    own = {name: value for name, value in fields.items() if name in _KNOWN}
    return Params(**own, later={name: value for name, value in fields.items() if name not in _KNOWN})


PARAMS = record(
    _params,
    {
        "nodeResourceUtilizationThresholds": Field(
            "utilization",
            record(
                _thresholds,
                {
                    "thresholds": Field("thresholds", THRESHOLDS),
                    "targetThresholds": Field("target_thresholds", THRESHOLDS),
                    "numberOfNodes": Field("number_of_nodes", COUNT),
                    "useDeviationThresholds": Field("use_deviation_thresholds", boolean),
                },
            ),
        ),
        "nodeAffinityType": Field("node_affinity_type", TEXTS),
        **LATER,
    },
)
STRATEGY_FIELDS = {
    "enabled": Field("enabled", boolean),
    "weight": Field("weight", opaque),
    "params": Field("params", PARAMS),
}
