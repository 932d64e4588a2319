"""Conversion of a KubeSchedulerConfiguration to a v1 Policy, with what could not be converted.

The converted parts decide the same in this engine: the same predicates in the same order, the same
priorities with the same weights and arguments. ``lost`` is empty only if everything was converted; ``notes``
list what is named differently, or words its reasons differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.schedulers.profiles.profile import DEFAULT_HARD_POD_AFFINITY_WEIGHT
from scheduler_core.schedulers.v1_11.policy.order import V1_11_ORDER
from scheduler_core.schedulers.v1_11.policy.providers import MANDATORY_PREDICATES
from scheduler_core.schedulers.v1_22.configuration.arguments import (
    DEFAULTS,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeLabelArgs,
    NodeResourcesFitArgs,
    ResourcesArgs,
    ServiceAffinityArgs,
    ShapePoints,
)
from scheduler_core.schedulers.v1_22.configuration.compiler import compile_configuration
from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS, POINTS
from scheduler_core.schedulers.v1_22.configuration.result import FrameworkConfiguration, FrameworkProfile
from scheduler_core.schedulers.v1_22.configuration.rules import BY_STRATEGY, TO_RATIO, predicates_of, unread

CONDITION = MANDATORY_PREDICATES[0]
CORDON = "CheckNodeUnschedulable"
CORDON_NOTE = (
    f"NodeUnschedulable and {CONDITION} stand for each other: the predicate reads a node's conditions too, "
    "which later releases turn into taints"
)
WITHOUT_WORDS = ("DefaultPreemption", "VolumeBinding", "DynamicResources", "Coscheduling")
POLICY_HEAD: Document = {"apiVersion": "v1", "kind": "Policy"}


class Conversion(Struct, frozen=True):
    """The converted document, what it lacks, and what is named or worded differently in it."""

    document: Document
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ConversionNotes(Struct):
    """The losses and notes collected during a conversion."""

    lost: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def to_policy(document: Document) -> Conversion:
    """Convert the main profile of a KubeSchedulerConfiguration to a Policy.

    Raises:
        PolicyError: The configuration cannot be used.
    """
    configuration = compile_configuration(document)
    profile = configuration.main
    report = ConversionNotes()
    _report_framework(configuration, profile, document, report)
    policy: dict[str, Any] = {
        **POLICY_HEAD,
        "predicates": _predicates(profile, report),
        "priorities": list(_priorities(profile, report)),
    }
    affinity = profile.arguments.get("InterPodAffinity")
    if isinstance(affinity, InterPodAffinityArgs) and "InterPodAffinity" in profile.weights:
        weight = affinity.hard_pod_affinity_weight
        if not weight:
            report.lost.append("hardPodAffinityWeight 0: a Policy takes it for 1")
        elif weight != DEFAULT_HARD_POD_AFFINITY_WEIGHT:
            policy["hardPodAffinitySymmetricWeight"] = weight
    return Conversion(policy, tuple(report.lost), tuple(report.notes))


def _report_framework(
    configuration: FrameworkConfiguration,
    profile: FrameworkProfile,
    document: Document,
    report: ConversionNotes,
) -> None:
    """Record what a Policy cannot express: other profiles, other extension points, the queue."""
    for name in configuration.names:
        if name != profile.scheduler_name:
            report.lost.append(f"the profile {name}: a Policy is of one scheduler")
    if profile.scheduler_name != "default-scheduler":
        report.lost.append(f"the name {profile.scheduler_name}: a Policy's scheduler is default-scheduler")
    defaults = compile_configuration(
        {"apiVersion": configuration.version.api_version, "kind": document["kind"]}
    ).main
    for point in POINTS:
        if point in ("preFilter", "filter", "preScore", "score"):
            continue
        here, there = profile.names(point), defaults.names(point)
        report.lost += [
            f"{name} at {point}: a Policy has filters and scores alone" for name in here if name not in there
        ]
        report.lost += [
            f"no {name} at {point}: a Policy cannot leave it out" for name in there if name not in here
        ]
    kept = (configuration.percentage_of_nodes_to_score or 100, profile.percentage_of_nodes_to_score or 100)
    if kept != (100, 100):
        report.lost.append("percentageOfNodesToScore: a Policy has none")
    if (configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds) != (1, 10):
        report.lost.append("podInitialBackoffSeconds and podMaxBackoffSeconds: a Policy has none")
    if document.get("extenders"):
        report.lost.append("extenders: a Policy's format differs, so write them again")
    for name, arguments in profile.arguments.items():
        if name in WITHOUT_WORDS and arguments != DEFAULTS.get(name):
            report.lost.append(f"{name}'s arguments: v1.11 has nothing like them")
        for found in unread(name, arguments, scores=name in profile.weights):
            report.lost.append(f"{name}'s {found.path}: v1.11 has nothing like it")


def _predicates(profile: FrameworkProfile, report: ConversionNotes) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for name in profile.names("filter"):
        arguments = profile.arguments.get(name)
        if isinstance(arguments, NodeResourcesFitArgs) and (
            arguments.ignored_resources or arguments.ignored_resource_groups
        ):
            report.lost.append("NodeResourcesFit's ignored resources: a Policy checks every resource")
        if isinstance(arguments, NodeAffinityArgs) and arguments.required is not None:
            report.lost.append("NodeAffinity's addedAffinity: a Policy adds nothing to a pod's own")
        entries += [
            _predicate_entry(key, arguments)
            for key, _ in predicates_of(name, arguments)
            if key != "AddedNodeAffinity"
        ]
    names = [entry["name"] for entry in entries]
    if CONDITION in names:
        report.notes.append(CORDON_NOTE)
    else:
        report.lost.append(f"no NodeUnschedulable at filter: a Policy always runs {CONDITION}")
    if names != [key for key in V1_11_ORDER if key in names]:
        entries = [{**entry, "order": place} for place, entry in enumerate(entries, 1)]
    return entries


def _predicate_entry(key: str, arguments: Any) -> dict[str, Any]:
    if key == CORDON:
        return {"name": CONDITION}
    if isinstance(arguments, NodeLabelArgs):
        presence = key == "CheckNodeLabelPresence" and bool(arguments.present_labels)
        labels = arguments.present_labels if presence else arguments.absent_labels
        return {"name": key, "argument": {"labelsPresence": {"labels": list(labels), "presence": presence}}}
    if isinstance(arguments, ServiceAffinityArgs):
        return {"name": key, "argument": {"serviceAffinity": {"labels": list(arguments.affinity_labels)}}}
    return {"name": key}


def _priorities(profile: FrameworkProfile, report: ConversionNotes) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for plugin in profile.points["score"]:
        for entry in _priority_entries(plugin.name, profile.arguments.get(plugin.name)):
            if entry["name"] in seen:
                report.lost.append(f"{plugin.name} at score: {entry['name']} is there already")
                continue
            seen.add(entry["name"])
            yield {**entry, "weight": plugin.weight}


def _priority_entries(plugin: str, arguments: Any) -> Iterator[dict[str, Any]]:
    if isinstance(arguments, NodeResourcesFitArgs):
        strategy = arguments.scoring_strategy
        name = BY_STRATEGY.get(strategy.type)
        yield {"name": name} if name else _ratio_entry(strategy.shape)
    elif isinstance(arguments, ResourcesArgs) and arguments.shape:
        yield _ratio_entry(arguments.shape)
    elif isinstance(arguments, NodeLabelArgs):
        for labels, presence in (
            (arguments.present_labels_preference, True),
            (arguments.absent_labels_preference, False),
        ):
            for label in labels:
                argument = {"labelPreference": {"label": label, "presence": presence}}
                yield {"name": f"NodeLabel {'' if presence else 'without '}{label}", "argument": argument}
    elif isinstance(arguments, ServiceAffinityArgs):
        for label in arguments.anti_affinity_labels_preference:
            yield {"name": f"ServiceAffinity {label}", "argument": {"serviceAntiAffinity": {"label": label}}}
    elif PLUGINS[plugin].priority:
        yield {"name": PLUGINS[plugin].priority}


def _ratio_entry(shape: ShapePoints) -> dict[str, Any]:
    points = [{"utilization": x, "score": y} for x, y in shape]
    return {"name": TO_RATIO, "argument": {"requestedToCapacityRatioArguments": {"shape": points}}}


def shape_points(argument: Mapping[str, Any]) -> list[dict[str, int]]:
    """Return the points of a Policy's ``requestedToCapacityRatioArguments``, with defaults filled in."""
    points = argument["requestedToCapacityRatioArguments"]["shape"]
    return [{name: point.get(name, 0) for name in ("utilization", "score")} for point in points]
