"""The arguments of plugins: their types with defaults, and readers that validate them.

The rules are those of kube-scheduler's validation of plugin arguments; each type is named after its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.fields_pod import NODE_AFFINITY
from scheduler_core.kubernetes.model import NodeSelectorTerm, PreferredNodeTerm
from scheduler_core.kubernetes.names import check_key, nearest
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Reader,
    boolean,
    checked,
    enum,
    integer,
    list_of,
    opaque,
    outlined,
    record,
    show,
    text,
)
from scheduler_core.schedulers.coscheduling.arguments import FIELDS, ArgumentsError, read_arguments
from scheduler_core.schedulers.coscheduling.editions import EDITIONS, Edition

LEAST_ALLOCATED = "LeastAllocated"
MOST_ALLOCATED = "MostAllocated"
TO_CAPACITY_RATIO = "RequestedToCapacityRatio"
STRATEGIES = (LEAST_ALLOCATED, MOST_ALLOCATED, TO_CAPACITY_RATIO)


class ResourceSpec(Struct, frozen=True):
    """A resource and its weight in the average, 1 to 100."""

    name: str
    weight: int = 1


CPU_AND_MEMORY = (ResourceSpec("cpu"), ResourceSpec("memory"))
ShapePoints = tuple[tuple[int, int], ...]  # utilization in percent, score from 0 to 10


class ScoringStrategy(Struct, frozen=True):
    """The scoring strategy of NodeResourcesFit; ``shape`` is for RequestedToCapacityRatio."""

    type: str = LEAST_ALLOCATED
    resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY
    shape: ShapePoints = ()


class NodeResourcesFitArgs(Struct, frozen=True):
    """The ignored resources, by name and by the prefix before the slash, and the scoring strategy."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy()


class ResourcesArgs(Struct, frozen=True):
    """The arguments of the plugins that only score by resources."""

    resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY
    shape: ShapePoints = ()


class InterPodAffinityArgs(Struct, frozen=True):
    """The weight of a required term of an existing pod, 0 to 100, and whether its preferred terms count."""

    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class NodeAffinityArgs(Struct, frozen=True):
    """The node affinity added to that of every pod. ``required`` is ``None`` if there is none."""

    required: tuple[NodeSelectorTerm, ...] | None = None
    preferred: tuple[PreferredNodeTerm, ...] = ()


class SpreadConstraint(Struct, frozen=True):
    """A topology spread constraint for pods that define none."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str


class PodTopologySpreadArgs(Struct, frozen=True):
    """The default constraints for pods that define none."""

    default_constraints: tuple[SpreadConstraint, ...] = ()
    defaulting_type: str = "System"


class VolumeBindingArgs(Struct, frozen=True):
    """How long PreBind waits for volumes, in seconds."""

    bind_timeout_seconds: int = 600


class DefaultPreemptionArgs(Struct, frozen=True):
    """The minimum number of candidate nodes that a dry run inspects."""

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100


class NodeLabelArgs(Struct, frozen=True):
    """Labels that nodes must have or lack, or that are preferred to be present or absent."""

    present_labels: tuple[str, ...] = ()
    absent_labels: tuple[str, ...] = ()
    present_labels_preference: tuple[str, ...] = ()
    absent_labels_preference: tuple[str, ...] = ()


class ServiceAffinityArgs(Struct, frozen=True):
    """Labels by which the pods of a Service are kept together or spread."""

    affinity_labels: tuple[str, ...] = ()
    anti_affinity_labels_preference: tuple[str, ...] = ()


# --- readers


def _points(value: Any, at: At) -> ShapePoints | None:
    listed = _POINTS(value, at)
    if listed is None:
        return None
    if not listed:
        at.error("must hold at least one point, such as {utilization: 0, score: 10}")
    for place, (before, after) in enumerate(pairwise(listed), 1):
        if after[0] <= before[0]:
            at.child(place).child("utilization").error(
                f"must be greater than the one before, {before[0]}, not {after[0]}"
            )
    return tuple(listed)


def _unique(name: str, what: Callable[[Any], object], read: Reader) -> Reader:
    """Return a reader of a list that reports duplicates."""

    def look(value: Any, at: At) -> Any:
        listed = read(value, at)
        first: dict[object, int] = {}
        for place, item in enumerate(listed or ()):
            key = what(item)
            if key in first:
                at.child(place).child(name).error(f"{key} is named twice: the first is [{first[key]}]")
            first.setdefault(key, place)
        return listed

    return outlined(look, read)


_POINTS = list_of(
    record(
        lambda utilization=0, score=0: (utilization, score),
        {"utilization": Field("utilization", integer(0, 100)), "score": Field("score", integer(0, 10))},
    )
)


outlined(_points, _POINTS)


def _resource(weight: int) -> Reader:
    """Return a reader of a resource with a maximum weight."""
    return record(
        ResourceSpec,
        {"name": Field("name", text, required=True), "weight": Field("weight", integer(1, weight))},
    )


def _resources(weight: int = 100) -> Reader:
    listed = _unique("name", lambda spec: spec.name, list_of(_resource(weight)))

    def read(value: Any, at: At) -> Any:
        return listed(value, at) or None  # an empty list is the default

    return outlined(read, listed)


def _check_strategy(out: dict[str, Any], at: At) -> None:
    by_shape = out.get("type", LEAST_ALLOCATED) == TO_CAPACITY_RATIO
    if by_shape and "shape" not in out:
        at.child("requestedToCapacityRatio").error(
            f"is missing: the type {TO_CAPACITY_RATIO} needs {{shape: [{{utilization: 0, score: 10}}, …]}}"
        )
    elif "shape" in out and not by_shape:
        at.child("requestedToCapacityRatio").error(
            f"goes with the type {TO_CAPACITY_RATIO} alone, not with {out.get('type', LEAST_ALLOCATED)}"
        )


def _shape_of(value: Any, at: At) -> Any:
    read = record(lambda shape=None: shape, {"shape": Field("shape", _points, required=True)})
    return read(value, at)


_STRATEGY = record(
    ScoringStrategy,
    {
        "type": Field("type", enum(*STRATEGIES)),
        "resources": Field("resources", _resources()),
        "requestedToCapacityRatio": Field("shape", _shape_of),
    },
    check=_check_strategy,
)


def _check_group(name: str) -> str | None:
    return "must not have a '/': it is what stands before it" if "/" in name else check_key(name)


def _node_affinity(value: Any, at: At) -> NodeAffinityArgs | None:
    found = NODE_AFFINITY(value, at)
    if found is None:
        return None
    return NodeAffinityArgs(found.get("node_required"), found.get("node_preferred", ()))


def _check_spread(out: dict[str, Any], at: At) -> None:
    constraints = out.get("default_constraints", ())
    if constraints and out.get("defaulting_type", "System") == "System":
        at.child("defaultingType").error("must be List where defaultConstraints are given")
    seen: dict[tuple[str, str], int] = {}
    for place, constraint in enumerate(constraints):
        key = (constraint.topology_key, constraint.when_unsatisfiable)
        if key in seen:
            at.child("defaultConstraints").child(place).error(
                f"{key[0]} with {key[1]} is there already: defaultConstraints[{seen[key]}]"
            )
        seen.setdefault(key, place)


def _no_selector(value: Any, at: At) -> None:
    del value
    at.error("must be left out: the selector follows from the Services and controllers of each pod")


_CONSTRAINT = record(
    SpreadConstraint,
    {
        "maxSkew": Field("max_skew", integer(1), required=True),
        "topologyKey": Field("topology_key", checked(check_key), required=True),
        "whenUnsatisfiable": Field(
            "when_unsatisfiable", enum("DoNotSchedule", "ScheduleAnyway"), required=True
        ),
        "labelSelector": Field("label_selector", _no_selector),
    },
)


def _check_preemption(out: dict[str, Any], at: At) -> None:
    if out.get("min_candidate_nodes_percentage", 10) == out.get("min_candidate_nodes_absolute", 100) == 0:
        at.child("minCandidateNodesPercentage").error(
            "must not be 0 together with minCandidateNodesAbsolute: no node would be tried"
        )


_LABELS = list_of(checked(check_key))


def _row(build: Callable[..., Any], check: Any = None, **fields: Field) -> Reader:
    return record(build, fields, unread="apiVersion kind metadata", check=check)


READERS: Mapping[str, Reader] = {
    "NodeResourcesFit": _row(
        NodeResourcesFitArgs,
        ignoredResources=Field("ignored_resources", list_of(checked(check_key))),
        ignoredResourceGroups=Field("ignored_resource_groups", list_of(checked(_check_group))),
        scoringStrategy=Field("scoring_strategy", _STRATEGY),
    ),
    "NodeResourcesLeastAllocated": _row(ResourcesArgs, resources=Field("resources", _resources())),
    "NodeResourcesMostAllocated": _row(ResourcesArgs, resources=Field("resources", _resources())),
    "RequestedToCapacityRatio": _row(
        ResourcesArgs,
        shape=Field("shape", _points, required=True),
        resources=Field("resources", _resources()),
    ),
    "NodeResourcesBalancedAllocation": _row(ResourcesArgs, resources=Field("resources", _resources(1))),
    "InterPodAffinity": _row(
        InterPodAffinityArgs,
        hardPodAffinityWeight=Field("hard_pod_affinity_weight", integer(0, 100)),
        ignorePreferredTermsOfExistingPods=Field("ignore_preferred_terms_of_existing_pods", boolean),
    ),
    "NodeAffinity": _row(
        lambda added=None: added or NodeAffinityArgs(), addedAffinity=Field("added", _node_affinity)
    ),
    "PodTopologySpread": _row(
        PodTopologySpreadArgs,
        defaultConstraints=Field("default_constraints", list_of(_CONSTRAINT)),
        defaultingType=Field("defaulting_type", enum("System", "List")),
        check=_check_spread,
    ),
    "VolumeBinding": _row(
        lambda bind_timeout_seconds=600, shape=None: VolumeBindingArgs(bind_timeout_seconds),  # noqa: ARG005
        bindTimeoutSeconds=Field("bind_timeout_seconds", integer(0, 2**63 - 1)),
        shape=Field("shape", _points),
    ),
    "DefaultPreemption": _row(
        DefaultPreemptionArgs,
        minCandidateNodesPercentage=Field("min_candidate_nodes_percentage", integer(0, 100)),
        minCandidateNodesAbsolute=Field("min_candidate_nodes_absolute", integer(0)),
        check=_check_preemption,
    ),
    "NodeLabel": _row(
        NodeLabelArgs,
        presentLabels=Field("present_labels", _LABELS),
        absentLabels=Field("absent_labels", _LABELS),
        presentLabelsPreference=Field("present_labels_preference", _LABELS),
        absentLabelsPreference=Field("absent_labels_preference", _LABELS),
    ),
    "ServiceAffinity": _row(
        ServiceAffinityArgs,
        affinityLabels=Field("affinity_labels", _LABELS),
        antiAffinityLabelsPreference=Field("anti_affinity_labels_preference", _LABELS),
    ),
    "DynamicResources": opaque,
}
"""The argument readers of the plugins that take arguments; Coscheduling's depend on the edition."""

DEFAULTS: Mapping[str, Any] = {
    "NodeResourcesFit": NodeResourcesFitArgs(),
    "NodeResourcesLeastAllocated": ResourcesArgs(),
    "NodeResourcesMostAllocated": ResourcesArgs(),
    "NodeResourcesBalancedAllocation": ResourcesArgs(),
    "InterPodAffinity": InterPodAffinityArgs(),
    "NodeAffinity": NodeAffinityArgs(),
    "PodTopologySpread": PodTopologySpreadArgs(),
    "VolumeBinding": VolumeBindingArgs(),
    "DefaultPreemption": DefaultPreemptionArgs(),
    "NodeLabel": NodeLabelArgs(),
    "ServiceAffinity": ServiceAffinityArgs(),
}
"""The default arguments of plugins; RequestedToCapacityRatio has none and does not run without arguments."""


def read_coscheduling(edition: Edition, value: Any, at: At) -> Any:
    """Read and validate Coscheduling's arguments as its edition does."""
    if type(value) is not dict:
        at.error(f"must be an object such as {{permitWaitingTimeSeconds: 60}}, not {show(value)}")
        return None
    try:
        return read_arguments(edition, value)
    except ArgumentsError as error:
        for problem in error.problems:
            _report(edition, problem, value, at)
    return None


def _report(edition: Edition, problem: str, value: Mapping[str, Any], at: At) -> None:
    """Report the plugin's own error at the field it concerns, with a suggestion."""
    named = next((name for name in value if problem.startswith((f"{name}:", f'unknown field "{name}"'))), "")
    place = at.child(named) if named else at
    if not problem.startswith("unknown field"):
        place.error(problem.removeprefix(f"{named}: "))
        return
    known = [argument.name for argument in edition.arguments]
    other = next((e for e in EDITIONS.values() if named in {a.name for a in e.arguments}), None)
    if other is not None:
        message = f"is an argument of the {other.id} edition, for Kubernetes {other.kubernetes}: "
        message += f"here {', '.join(known)} are known"
    else:
        suggestion = nearest(named, known)
        message = (
            f"unknown argument: did you mean {suggestion!r}?"
            if suggestion
            else f"unknown: {', '.join(FIELDS)} exist"
        )
    place.error(message)
