"""The engine's rules that evaluate a profile's plugins at filter and at score.

Most plugins have one predicate and one priority, which :mod:`.plugins` names; those that depend on the
plugin's arguments have a separate row here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.schedulers.profiles.predicate import Predicate
from scheduler_core.schedulers.profiles.priority import Mapped, Priority
from scheduler_core.schedulers.v1_11.predicates import (
    PREDICATES,
    RULES,
    CheckNodeLabelPresence,
    CheckServiceAffinity,
)
from scheduler_core.schedulers.v1_11.predicates.framework_rules import (
    AddedNodeAffinity,
    PodFitsUnignoredResources,
)
from scheduler_core.schedulers.v1_11.predicates.storage import CheckVolumeBinding
from scheduler_core.schedulers.v1_11.priorities import (
    PRIORITIES,
    FunctionShape,
    InterPodAffinityPriority,
    LabelPreference,
    ResourceAllocation,
    ServiceAntiAffinity,
)
from scheduler_core.schedulers.v1_22.configuration.arguments import (
    CPU_AND_MEMORY,
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeLabelArgs,
    NodeResourcesFitArgs,
    ResourcesArgs,
    ServiceAffinityArgs,
)
from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS

Keyed = tuple[str, Predicate]

SIMPLE: Mapping[str, Predicate] = {rule.key: rule.check for rule in RULES if rule.check is not None}
"""The predicates that need no arguments, by key."""

BY_STRATEGY = {LEAST_ALLOCATED: "LeastRequestedPriority", MOST_ALLOCATED: "MostRequestedPriority"}
TO_RATIO = "RequestedToCapacityRatioPriority"


class Unread(Struct, frozen=True):
    """An argument that the engine does not evaluate: its ``path`` inside the arguments, and the reason."""

    path: str
    message: str


def predicates_of(plugin: str, arguments: Any) -> list[Keyed]:
    """Return the predicates of a plugin at filter, in order; empty if every node passes."""
    make = FILTERS.get(plugin)
    if make is not None:
        return list(make(arguments))
    return [(key, SIMPLE[key]) for key in PLUGINS[plugin].predicates]


def _fit(arguments: NodeResourcesFitArgs) -> Iterator[Keyed]:
    names, groups = arguments.ignored_resources, arguments.ignored_resource_groups
    if names or groups:
        yield "PodFitsResources", PodFitsUnignoredResources(frozenset(names), frozenset(groups))
    else:
        yield "PodFitsResources", PREDICATES["PodFitsResources"]


def _volume_binding(arguments: Any) -> Iterator[Keyed]:
    del arguments
    yield "CheckVolumeBinding", CheckVolumeBinding(provisions=True)


def _node_affinity(arguments: NodeAffinityArgs) -> Iterator[Keyed]:
    if arguments.required is not None:
        yield "AddedNodeAffinity", AddedNodeAffinity(arguments.required)
    yield "MatchNodeSelector", PREDICATES["MatchNodeSelector"]


def _node_label(arguments: NodeLabelArgs) -> Iterator[Keyed]:
    both = arguments.present_labels and arguments.absent_labels
    for labels, presence in ((arguments.present_labels, True), (arguments.absent_labels, False)):
        if labels:
            key = "CheckNodeLabelAbsence" if both and not presence else "CheckNodeLabelPresence"
            yield key, CheckNodeLabelPresence(labels, presence=presence)


def _service_affinity(arguments: ServiceAffinityArgs) -> Iterator[Keyed]:
    if arguments.affinity_labels:
        yield "CheckServiceAffinity", CheckServiceAffinity(arguments.affinity_labels)


FILTERS: Mapping[str, Callable[[Any], Iterator[Keyed]]] = {
    "NodeResourcesFit": _fit,
    "VolumeBinding": _volume_binding,
    "NodeAffinity": _node_affinity,
    "NodeLabel": _node_label,
    "ServiceAffinity": _service_affinity,
}
"""The functions that create the predicates of a plugin with arguments."""


def priorities_of(plugin: str, arguments: Any) -> list[tuple[str, Priority]]:
    """Return the priorities of a plugin at score; empty if every node scores the same."""
    make = SCORERS.get(plugin)
    if make is not None:
        return list(make(arguments))
    name = PLUGINS[plugin].priority
    return [(name, PRIORITIES[name])] if name else []


def _by_strategy(arguments: NodeResourcesFitArgs) -> Iterator[tuple[str, Priority]]:
    strategy = arguments.scoring_strategy
    name = BY_STRATEGY.get(strategy.type)
    if name is not None:
        yield name, PRIORITIES[name]
    else:
        yield TO_RATIO, Mapped(ResourceAllocation(FunctionShape(strategy.shape)))


def _to_ratio(arguments: ResourcesArgs) -> Iterator[tuple[str, Priority]]:
    yield TO_RATIO, Mapped(ResourceAllocation(FunctionShape(arguments.shape)))


def _inter_pod(arguments: InterPodAffinityArgs) -> Iterator[tuple[str, Priority]]:
    yield "InterPodAffinityPriority", InterPodAffinityPriority(arguments.hard_pod_affinity_weight)


def _preferred_labels(arguments: NodeLabelArgs) -> Iterator[tuple[str, Priority]]:
    for labels, presence in (
        (arguments.present_labels_preference, True),
        (arguments.absent_labels_preference, False),
    ):
        for label in labels:
            yield (
                f"NodeLabel {'' if presence else 'without '}{label}",
                Mapped(LabelPreference(label, presence=presence)),
            )


def _service_anti_affinity(arguments: ServiceAffinityArgs) -> Iterator[tuple[str, Priority]]:
    for label in arguments.anti_affinity_labels_preference:
        yield f"ServiceAffinity {label}", Mapped(ServiceAntiAffinity(label))


SCORERS: Mapping[str, Callable[[Any], Iterator[tuple[str, Priority]]]] = {
    "NodeResourcesFit": _by_strategy,
    "RequestedToCapacityRatio": _to_ratio,
    "InterPodAffinity": _inter_pod,
    "NodeLabel": _preferred_labels,
    "ServiceAffinity": _service_anti_affinity,
}
"""The functions that create the priorities of a plugin with arguments."""


def unread(plugin: str, arguments: Any, *, scores: bool) -> Iterator[Unread]:
    """Yield the arguments of a plugin that no rule of the engine evaluates."""
    if plugin == "NodeResourcesFit" and scores:
        yield from _weighed(arguments.scoring_strategy.resources, "scoringStrategy.resources")
    elif isinstance(arguments, ResourcesArgs) and scores:
        yield from _weighed(arguments.resources, "resources")
    elif plugin == "NodeAffinity" and arguments.preferred:
        yield Unread(
            "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution",
            "is not evaluated: the pods' own preferred terms alone score",
        )
    elif plugin == "InterPodAffinity" and arguments.ignore_preferred_terms_of_existing_pods:
        yield Unread(
            "ignorePreferredTermsOfExistingPods",
            "has no effect: preferred terms of existing pods count, as in v1.11",
        )
    elif plugin == "PodTopologySpread" and arguments.default_constraints:
        yield Unread(
            "defaultConstraints",
            "is not evaluated: pods of one Service or controller are spread over nodes and zones by v1.11's "
            "SelectorSpreadPriority",
        )


def _weighed(resources: tuple[Any, ...], path: str) -> Iterator[Unread]:
    if {(spec.name, spec.weight) for spec in resources} != {(s.name, s.weight) for s in CPU_AND_MEMORY}:
        yield Unread(path, "is not evaluated: cpu and memory count alike and nothing else does, as in v1.11")
