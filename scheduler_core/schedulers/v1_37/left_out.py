"""What a scenario asks for that the simulation of kube-scheduler v1.37 does not do: named, never silent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.fields_pod import NOT_COMPARED
from scheduler_core.kubernetes.kinds import is_manifest_kind
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.schedulers.coscheduling.editions import CURRENT
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_37.configuration import runs_coscheduling
from scheduler_core.schedulers.v1_37.device_taints import RULE
from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.schedulers.v1_37.extended_resources import pods_without_claims
from scheduler_core.schedulers.v1_37.podgroups import NATIVE, group_of
from scheduler_core.schedulers.v1_37.unsupported_features import GATES as NOT_IMPLEMENTED
from scheduler_core.schedulers.v1_37.unsupported_features import unsupported
from scheduler_core.settings.feature_gates import COMPARISON, GROUPS, is_unsimulated
from scheduler_core.settings.release import BY_PLUGINS, V1_37
from scheduler_core.settings.settings import ONLY_V1_11, Settings

MOST = 20
_HEADS = tuple(f"kube-scheduler {release}: " for release in BY_PLUGINS)

NOT_OBJECTS = frozenset({"Scenario", "SimulationSettings", "Policy", "KubeSchedulerConfiguration", "List"})

GATE_MISSING = (
    f"the operators Gt and Lt need the feature gate {COMPARISON}, which is off by default: write "
    f"featureGates: {{{COMPARISON}: true}} into the SimulationSettings"
)
"""For tolerations that compare, in addition to the warning at each of them."""

Landing = tuple[str, str, bool]
"""An operation: its id, the release that it asks for or "", and whether it lands during a cycle."""


class ScenarioParts(Struct, frozen=True):
    """What a scenario asks of a scheduler: documents, and all configurations, the initial one first.

    ``warnings`` are those of reading it.
    """

    documents: Sequence[Document]
    configurations: Sequence[Configuration]
    operations: Sequence[Landing]
    warnings: Sequence[Problem]


def left_out(dialect: Dialect, parts: ScenarioParts) -> tuple[Problem, ...]:
    """Return a warning for each part of a scenario that has no effect under a release, or another one."""
    configurations = parts.configurations
    objects = [one for one in parts.documents if one.get("kind") not in NOT_OBJECTS]
    missing = dict.fromkeys(unsupported(objects, {}, dialect))
    settings = [configuration.settings for configuration in configurations]
    binders = any("bind" in one.verbs for configuration in configurations for one in configuration.extenders)
    texts = (
        *_without_effect(dialect.name, settings[0], parts.operations),
        *_gated(dialect, parts.documents, settings, binders=binders),
        *_unread_groups(parts.documents, coscheduled=any(map(runs_coscheduling, configurations))),
        *_devices(objects),
    )
    compared = any(map(_is_of_comparison, parts.warnings)) and not _compares(configurations)
    return _problems(dialect.name, (*texts, *((GATE_MISSING,) if compared else ())), missing)


def is_settled(problem: Problem, configurations: Iterable[Configuration]) -> bool:
    """Return whether a warning of reading does not apply to v1.37 with these configurations."""
    return _is_of_comparison(problem) and _compares(configurations)


def _is_of_comparison(problem: Problem) -> bool:
    return problem.message.startswith(NOT_COMPARED)


def _compares(configurations: Iterable[Configuration]) -> bool:
    """Return whether tolerations may compare under each configuration."""
    return all(one.settings.has(COMPARISON) for one in configurations)


def left_out_beside(
    dialect: Dialect, documents: Sequence[Document], configuration: Configuration
) -> tuple[Problem, ...]:
    """Return a warning for each part of a scenario that a release leaves out with other schedulers."""
    objects = [one for one in documents if one.get("kind") not in NOT_OBJECTS]
    missing = dict.fromkeys(unsupported(objects, {}, dialect))
    groups = [one for one in objects if one.get("kind") == "PodGroup"]
    others = [one for one in documents if one not in groups]
    texts = [*_gated(dialect, others, [configuration.settings], binders=False), *_devices(objects)]
    if any(group_of(one) == NATIVE for one in groups) and not configuration.settings.has(GROUPS):
        texts.append(
            f"PodGroups are not scheduled as groups, because the feature gate {GROUPS} is off: their pods "
            "are, one by one"
        )
    if any(map(_requests_more, documents)):
        texts.append(
            "sidecars, overhead and requests of the pod as a whole count in v1.37's decisions alone: the "
            "kubelet, an arbiter and the other schedulers count what containers request"
        )
    return _problems(dialect.name, texts, missing)


def beside_controllers(texts: Iterable[str], release: str = V1_37) -> tuple[Problem, ...]:
    """Return a warning for each part of a scenario that v1.37's controllers and kubelets leave out."""
    return tuple(Problem(f"kube-scheduler {release}: {text}") for text in texts)


def offer(of_nodes: str, release: str) -> Problem:
    """Return the warning that the nodes' kubelets are of another release than the one that answers."""
    return Problem(
        f"kube-scheduler {release}: it answers, while the nodes' kubelets are {of_nodes}; choose that "
        f"release, by scheduler: {of_nodes} in the SimulationSettings, for what it decides"
    )


def _problems(release: str, texts: Iterable[str], missing: Iterable[str]) -> tuple[Problem, ...]:
    head = f"kube-scheduler {release}: "
    problems = [Problem(head + text) for text in dict.fromkeys(texts)]
    problems += [Problem(head + text, unhonored=text.split()[0]) for text in missing]
    more = len(problems) - MOST
    return (*problems[:MOST], *([Problem(f"{head}and {more:,} more like these")] if more > 0 else []))


def is_left_out(problem: Problem) -> bool:
    """Return whether a warning is one of these."""
    return problem.message.startswith(_HEADS)


def _without_effect(own: str, settings: Settings, operations: Iterable[Landing]) -> Iterator[str]:
    if settings.only_v1_11:
        yield (f"{', '.join(ONLY_V1_11[:-1])} and {ONLY_V1_11[-1]} are settings of v1.11 and have no effect")
    for name, release, during in operations:
        if release not in ("", own, V1_37):
            yield f"operation {name} asks for {release}: {own} restarts with its default configuration"
        if during:
            yield f"operation {name} lands after its cycle: {own} evaluates a snapshot"


def _gated(
    dialect: Dialect, documents: Sequence[Document], settings: Sequence[Settings], *, binders: bool
) -> Iterator[str]:
    """Yield what the feature gates leave out, or ask for in vain."""
    for name, on in dict.fromkeys(gate for one in settings for gate in one.feature_gates):
        if name not in dialect.gates:
            yield f"featureGates.{name} is none of its feature gates and has no effect"
        elif on and name in dialect.lacks:
            yield f"featureGates.{name}: true is not implemented: decisions are those with it off"
        elif not on and name in dialect.locked:
            yield f"featureGates.{name}: false has no effect: it is locked to true"
        elif is_unsimulated(name, on, dialect.gates) or (on and name in NOT_IMPLEMENTED):
            word, other = ("true", "off") if on else ("false", "on")
            yield f"featureGates.{name}: {word} is not implemented: decisions are those with it {other}"
    groups = {group_of(one) for one in documents if one.get("kind") == "PodGroup"}
    if NATIVE in groups and any(one.has(GROUPS) for one in settings) and binders:
        yield (
            "a member of a PodGroup that an extender refuses to bind backs off with its group, which is "
            "presumed: no record has it"
        )
    if NATIVE in groups and any(one.has(GROUPS) for one in settings) and any(map(_names_claim, documents)):
        yield (
            "members of a PodGroup do not share a ResourceClaim that is allocated in their cycle: the second "
            "of them waits until it is allocated"
        )
    if NATIVE in groups and not any(one.has(GROUPS) for one in settings):
        yield (
            f"PodGroups are not scheduled as groups, because the feature gate {GROUPS} is off by default: "
            f"write featureGates: {{{GROUPS}: true}} into the SimulationSettings"
        )


def _devices(objects: Sequence[Document]) -> Iterator[str]:
    """Yield what is not known of devices in use, and which taints evict nobody."""
    unknown = pods_without_claims(objects)
    if unknown:
        more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        yield (
            f"pod {unknown[0]}{more} on a node holds devices for extended resources, but the bundle has no "
            "ResourceClaim that says which: they count as free. Add the output of `kubectl get "
            "resourceclaims -A -o yaml`"
        )
    given = (one for one in objects if one.get("kind") == RULE and is_manifest_kind(one))
    rules = [one for one in given if _effect(one) == "NoExecute"]
    if rules:
        name = (rules[0].get("metadata") or {}).get("name")
        yield (
            f"DeviceTaintRule {name}: NoExecute keeps its devices from new claims, but pods that hold them "
            "are not evicted"
        )


def _effect(rule: Document) -> object:
    spec = rule.get("spec")
    taint = spec.get("taint") if isinstance(spec, Mapping) else None
    return taint.get("effect") if isinstance(taint, Mapping) else None


def _unread_groups(documents: Sequence[Document], *, coscheduled: bool) -> Iterator[str]:
    """Yield which PodGroups count for nothing, and what Coscheduling leaves out."""
    groups = {group_of(one) for one in documents if one.get("kind") == "PodGroup"}
    known = f"{NATIVE} alone"
    if coscheduled:
        known = f"{NATIVE}, Coscheduling those of {CURRENT.api_group}"
    for group in sorted(groups - {NATIVE} - ({CURRENT.api_group} if coscheduled else set())):
        yield f"PodGroups of {group} are not read: kube-scheduler knows those of {known}"
    if coscheduled and NATIVE in groups:
        yield f"Coscheduling is not asked at Permit about the pods of PodGroups of {NATIVE}"


def _pod_spec(document: Document) -> Mapping[str, Any]:
    """Return the specification of a pod or of a controller's template; empty if there is none."""
    spec: Any = document.get("spec")
    template = spec.get("template") if isinstance(spec, Mapping) else None
    inner = template.get("spec") if isinstance(template, Mapping) else spec
    return inner if isinstance(inner, Mapping) and "containers" in inner else {}


def _names_claim(document: Document) -> bool:
    """Return whether a member of a PodGroup names a ResourceClaim, which others may name as well."""
    inner = _pod_spec(document)
    claims = inner.get("resourceClaims")
    listed = claims if isinstance(claims, list) else []
    named = (isinstance(one, Mapping) and one.get("resourceClaimName") for one in listed)
    return bool(inner.get("schedulingGroup")) and any(named)


def _requests_more(document: Document) -> bool:
    """Return whether a pod, or a controller's template, requests more than its containers do."""
    inner = _pod_spec(document)
    started = inner.get("initContainers")
    sidecar = any(
        isinstance(one, Mapping) and one.get("restartPolicy") == "Always"
        for one in (started if isinstance(started, list) else ())
    )
    return sidecar or bool(inner.get("overhead")) or bool(inner.get("resources"))
