"""The warnings of reading a scenario that concern one pod; only those about other pods are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler_core.kubernetes.fields_workload import WORKLOADS
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.problems import Owner, Problem
from scheduler_core.kubernetes.readers import owner_of
from scheduler_core.scenario.scenario import Scenario

GENERATED = 50  # characters of a controller's name that the names of its pods begin with at least
NAMED = frozenset({"PersistentVolumeClaim", "ResourceClaim", "ResourceClaimTemplate"})
"""Kinds whose objects concern the pods that name them."""
CONTROLLERS = frozenset({*WORKLOADS, "ReplicaSet", "CronJob"})
SHOWN = 20


def warnings_about(scenario: Scenario, pod: str) -> tuple[Problem, ...]:
    """Return the warnings that concern a pod, in order; at most :data:`SHOWN`, the last counts the others."""
    found = [one for one in scenario.warnings if one.about is None or _any_concerns(scenario, one.about, pod)]
    more = len(found) - SHOWN
    return (*found[:SHOWN], *([Problem(f"and {more:,} more warnings")] if more > 0 else []))


def _any_concerns(scenario: Scenario, about: tuple[Owner, ...], pod: str) -> bool:
    return any(_concerns(scenario, owner, pod) for owner in about)


def _concerns(scenario: Scenario, owner: Owner, pod: str) -> bool:
    kind, namespace, name = owner
    own, _, short = pod.partition("/")
    if kind in KINDS and KINDS[kind].namespaced:
        namespace = namespace or "default"
    if namespace not in ("", own):
        return False
    if kind == "Pod":
        return name == short
    if kind in CONTROLLERS:
        return short.startswith(name[:GENERATED])
    return kind not in NAMED or name.endswith(f"-{short}") or name in _names(scenario, pod)


def _names(scenario: Scenario, pod: str) -> frozenset[str]:
    """Return every string in the manifests of the pod and of its controllers."""
    documents = (
        one
        for one in scenario.documents
        if one.get("kind") == "Pod" or one.get("kind") in CONTROLLERS
        if _concerns(scenario, owner_of(one), pod)
    )
    return frozenset(text for one in documents for text in _strings(one))


def _strings(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
