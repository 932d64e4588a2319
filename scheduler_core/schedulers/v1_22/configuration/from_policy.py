"""Conversion of a v1 Policy to a KubeSchedulerConfiguration, in the newest version that loses least."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.schedulers.profiles.profile import (
    DEFAULT_HARD_POD_AFFINITY_WEIGHT,
    Profile,
    WeightedPriority,
)
from scheduler_core.schedulers.v1_11.policy.compiler import compile_policy
from scheduler_core.schedulers.v1_11.policy.order import BUNDLES
from scheduler_core.schedulers.v1_11.predicates import RULES
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES
from scheduler_core.schedulers.v1_22.configuration.compiler import compile_configuration
from scheduler_core.schedulers.v1_22.configuration.conversion import (
    CONDITION,
    CORDON_NOTE,
    Conversion,
    ConversionNotes,
    shape_points,
)
from scheduler_core.schedulers.v1_22.configuration.plugins import PLUGINS, SCORES_ALONE
from scheduler_core.schedulers.v1_22.configuration.result import FrameworkProfile
from scheduler_core.schedulers.v1_22.configuration.rules import BY_STRATEGY, TO_RATIO
from scheduler_core.schedulers.v1_22.configuration.versions import VERSIONS, Version, has_plugin
from scheduler_core.settings.release import CONFIGURATION_KIND, DEFAULT_SCHEDULER
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings

PLUGIN_OF: Mapping[str, str] = {
    name: rule.plugin.name if rule.plugin is not None else rule.converted_to
    for rule in RULES
    if rule.plugin is not None or rule.converted_to
    for name in (rule.key, *rule.other_names)
}
"""The plugin that replaced each predicate."""

BY_RESOURCES: Mapping[str, str] = {PLUGINS[name].priority: name for name in SCORES_ALONE}
"""The plugin of v1beta1 that replaced each priority that scores by resources."""

SCORER_OF: Mapping[str, str] = {
    row.priority: row.name
    for row in sorted(PLUGINS.values(), key=lambda row: not row.until)
    if row.priority in PRIORITIES and row.name not in SCORES_ALONE
}
"""The plugin that replaced each priority; of two, the one that is still there."""

DEFAULT_SHAPE = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
NOT_CONVERTED = {rule.key: rule.not_converted for rule in RULES if rule.not_converted}


class _Draft(Struct):
    """A draft configuration: the plugins at filter and score, and the arguments by plugin."""

    version: Version
    report: ConversionNotes = field(default_factory=ConversionNotes)
    filters: list[str] = field(default_factory=list)
    scorers: dict[str, int] = field(default_factory=dict)
    arguments: dict[str, dict[str, Any]] = field(default_factory=dict)

    def has(self, plugin: str, what: str) -> bool:
        """Return whether the version has a plugin; otherwise record what needs it as lost."""
        if has_plugin(self.version, plugin):
            return True
        row = PLUGINS[plugin]
        self.report.lost.append(f"{what}: {plugin} was removed after {row.until}, use {row.instead}")
        return False


def from_policy(
    policy: Document | None, version: str = "", settings: Settings = DEFAULT_SETTINGS
) -> Conversion:
    """Convert a Policy, ``None`` for the DefaultProvider, to a KubeSchedulerConfiguration.

    Without a ``version`` the newest of those that lose least is used.

    Raises:
        PolicyError: The policy cannot be used.
        KeyError: The version does not exist.
    """
    profile = compile_policy(policy, settings)
    versions = [VERSIONS[version]] if version else list(reversed(VERSIONS.values()))
    conversions = [_written(profile, policy or {}, of) for of in versions]
    return min(conversions, key=lambda conversion: len(conversion.lost))


def _written(profile: Profile, policy: Document, version: Version) -> Conversion:
    draft = _Draft(version)
    for key in profile.order:
        _add_predicate(draft, key, profile.arguments.get(key))
    for priority in profile.priorities:
        _add_priority(draft, priority, profile.arguments.get(priority.name))
    if profile.hard_weight != DEFAULT_HARD_POD_AFFINITY_WEIGHT:
        draft.arguments["InterPodAffinity"] = {"hardPodAffinityWeight": profile.hard_weight}
    if profile.always_check_all:
        draft.report.lost.append("alwaysCheckAllPredicates: evaluation stops at a node's first failure")
    if policy.get("extenders"):
        draft.report.lost.append("extenders: their format differs, so write them again")
    if not profile.priorities:
        draft.report.notes.append("without score plugins all nodes rank equally")
    document = _document(draft)
    return Conversion(document, tuple(draft.report.lost), tuple(draft.report.notes))


def _add_predicate(draft: _Draft, key: str, argument: Any) -> None:
    report = draft.report
    if key in BUNDLES:
        report.notes.append(
            f"{key} is split into its members: a node reports the first reason, not all of them"
        )
        for member in BUNDLES[key]:
            _add_predicate(draft, member, None)
        return
    if key in NOT_CONVERTED:
        report.lost.append(f"{key}: {NOT_CONVERTED[key]}")
        return
    if isinstance(argument, Mapping) and "labelsPresence" in argument:
        body = argument["labelsPresence"]
        name = "presentLabels" if body.get("presence") else "absentLabels"
        if draft.has("NodeLabel", key):
            _extend(draft, "NodeLabel", name, body["labels"])
            _enable_filter(draft, "NodeLabel")
        return
    if isinstance(argument, Mapping) and "serviceAffinity" in argument:
        if draft.has("ServiceAffinity", key):
            _extend(draft, "ServiceAffinity", "affinityLabels", argument["serviceAffinity"]["labels"])
            _enable_filter(draft, "ServiceAffinity")
        return
    if key == CONDITION:
        report.notes.append(CORDON_NOTE)
    plugin = PLUGIN_OF.get(key)
    if plugin is None:
        report.lost.append(f"{key}: no plugin does the same")
        return
    _enable_filter(draft, plugin)


def _enable_filter(draft: _Draft, plugin: str) -> None:
    if plugin not in draft.filters:
        draft.filters.append(plugin)


def _extend(draft: _Draft, plugin: str, name: str, labels: list[str]) -> None:
    listed = draft.arguments.setdefault(plugin, {}).setdefault(name, [])
    listed.extend(label for label in labels if label not in listed)


def _add_priority(draft: _Draft, priority: WeightedPriority, argument: Any) -> None:
    name, report = priority.name, draft.report
    kind, body = next(iter(argument.items())) if isinstance(argument, Mapping) else ("", {})
    if kind == "labelPreference":
        if draft.has("NodeLabel", name):
            place = "presentLabelsPreference" if body.get("presence") else "absentLabelsPreference"
            if _enable_scorer(draft, "NodeLabel", priority, shared=True):
                _extend(draft, "NodeLabel", place, [body["label"]])
    elif kind == "serviceAntiAffinity":
        if draft.has("ServiceAffinity", name) and _enable_scorer(
            draft, "ServiceAffinity", priority, shared=True
        ):
            _extend(draft, "ServiceAffinity", "antiAffinityLabelsPreference", [body["label"]])
    elif kind or name in BY_RESOURCES:
        rule = TO_RATIO if kind else name
        points = shape_points(argument) if kind else DEFAULT_SHAPE
        _add_by_resources(draft, rule, points, priority)
    elif name in SCORER_OF:
        if draft.has(SCORER_OF[name], name):
            _enable_scorer(draft, SCORER_OF[name], priority)
    elif name == "EqualPriority":
        report.notes.append("EqualPriority adds the same to every node, and is left out")
    else:
        report.lost.append(f"{name}: no plugin does it")


def _enable_scorer(draft: _Draft, plugin: str, priority: WeightedPriority, *, shared: bool = False) -> bool:
    """Enable a plugin at score; its one weight is shared only by priorities of the same weight."""
    weight = draft.scorers.get(plugin)
    if weight is not None and (not shared or weight != priority.weight):
        draft.report.lost.append(f"{priority.name}: {plugin} scores already, with one weight")
        return False
    if priority.weight >= 2**31:
        draft.report.lost.append(f"{priority.name}: a plugin's weight is at most {2**31 - 1:,}")
        return False
    draft.scorers[plugin] = priority.weight
    return True


def _add_by_resources(
    draft: _Draft, rule: str, points: list[dict[str, int]], priority: WeightedPriority
) -> None:
    if draft.version.name == "v1beta1":
        plugin = BY_RESOURCES[rule]
        if _enable_scorer(draft, plugin, priority) and rule == TO_RATIO:
            draft.arguments[plugin] = {"shape": points}
        return
    if not _enable_scorer(draft, "NodeResourcesFit", priority):
        return
    types = {name: kind for kind, name in BY_STRATEGY.items()}
    if rule != "LeastRequestedPriority":
        strategy: dict[str, Any] = {"type": types.get(rule, "RequestedToCapacityRatio")}
        strategy["resources"] = [{"name": name, "weight": 1} for name in ("cpu", "memory")]
        if rule == TO_RATIO:
            strategy["requestedToCapacityRatio"] = {"shape": points}
        draft.arguments["NodeResourcesFit"] = {"scoringStrategy": strategy}


def _document(draft: _Draft) -> Document:
    """Return a document with only the differences from the version's defaults."""
    version = draft.version
    head = {"apiVersion": version.api_version, "kind": CONFIGURATION_KIND}
    plugins = dict(_sets(draft, compile_configuration(head).main))
    profile: dict[str, Any] = {"schedulerName": DEFAULT_SCHEDULER}
    if plugins:
        profile["plugins"] = plugins
    if draft.arguments:
        profile["pluginConfig"] = [
            {"name": name, "args": {"apiVersion": version.api_version, "kind": f"{name}Args", **arguments}}
            for name, arguments in draft.arguments.items()
        ]
    return {**head, "profiles": [profile]}


def _sets(draft: _Draft, default: FrameworkProfile) -> Iterator[tuple[str, dict[str, Any]]]:
    everything = {"disabled": [{"name": "*"}]}
    if "ServiceAffinity" in draft.filters:
        yield "preFilter", {"enabled": [{"name": "ServiceAffinity"}]}
    evaluated = list(dict.fromkeys(plugin for plugin, point, _, _ in default.rules if point == "filter"))
    if draft.filters != evaluated:
        yield "filter", {"enabled": [{"name": name} for name in draft.filters], **everything}
    scorers = [plugin for plugin, point, _, _ in default.rules if point == "score"]
    scoring = {plugin: default.weights[plugin] for plugin in scorers}
    if list(draft.scorers.items()) != list(scoring.items()):
        enabled = [{"name": name, "weight": weight} for name, weight in draft.scorers.items()]
        yield "score", {"enabled": enabled, **everything}
