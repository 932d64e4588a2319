"""Whether every pod that nodes lose at one moment finds another node, whichever nodes the others take.

If so, where they go changes no count of pods: what becomes of a loss depends on the lost nodes' own pods.

Let m request, of each resource, the most of any pod that is evicted, and let a node have k slots if k pods
like m fit on it. A pod that is placed takes one slot at most. With as many slots on the nodes that are left
as pods that are evicted, each of them finds a slot, in any order. This holds of resources, selectors and node
affinity alone, so nothing is said where anything else is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    controller_of,
    is_deleting,
    is_finished,
    is_ready,
    key_in,
    name_of,
    namespace_of,
    node_of,
    phase_of,
    spec_of,
    status_of,
    tolerates,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.compare.again import MIRROR, STAYING
from scheduler_core.kubernetes.requests import Amounts, amounts, held_requests, spec_requests
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.settings import DEFAULT_SETTINGS
from scheduler_core.studies.contracts.facts import admits, takes_pods

LEAST_WAIT = 60
"""Seconds that evicted pods tolerate at least: until then all nodes lost at one moment are known to be."""
_LOST = [
    {"key": f"node.kubernetes.io/{word}", "effect": "NoExecute"} for word in ("not-ready", "unreachable")
]
_HARD = "requiredDuringSchedulingIgnoredDuringExecution"
_FREE_VOLUMES = frozenset({"name", "emptyDir", "configMap", "secret", "projected", "downwardAPI", "hostPath"})
_REFUSED = ("resourceClaims", "schedulingGates", "schedulingGroup", "runtimeClassName", "nodeName", "os")
_KINDS = frozenset({"LimitRange", "ResourceQuota", "RuntimeClass", "KubeSchedulerConfiguration", "Policy"})
"""Kinds that change a new pod, or which nodes take it."""


class Headroom:
    """What the nodes of a calm cluster have left for pods that others lose."""

    def __init__(self, server: ApiServer, scenario: Scenario) -> None:
        self._server = server
        self._scenario = scenario
        self._pods = [pod for pod in server.of_kind("Pod") if not is_finished(pod)]
        self._admitted: dict[str, NDArray[np.bool_]] = {}
        self._asked: dict[int, Amounts] = {}
        self._columns: dict[str, NDArray[np.int64]] = {}

    @cached_property
    def is_known(self) -> bool:
        """Whether the cluster is at rest, and nothing but resources and node affinity refuses a pod."""
        scenario = self._scenario
        settings = replace(scenario.settings, scheduler="", time="instant", until=None, dump=None)
        beside = (scenario.operations, scenario.policy, scenario.descheduler, scenario.kueue)
        kinds = {str(one.get("kind")) for one in scenario.documents}
        return (
            replace(settings, design=DEFAULT_SETTINGS.design) == DEFAULT_SETTINGS
            and not any((*beside, scenario.schedulers, scenario.answers, scenario.cron_jobs))
            and not kinds & _KINDS
            and all(map(self._is_at_rest, self._pods))
        )

    @staticmethod
    def _is_at_rest(pod: Manifest) -> bool:
        affinity = spec_of(pod).get("affinity") or {}
        between = any((affinity.get(one) or {}).get(_HARD) for one in ("podAffinity", "podAntiAffinity"))
        runs = phase_of(pod) == "Running" and is_ready(pod)
        return runs and bool(node_of(pod)) and not is_deleting(pod) and not between

    def suffices(self, lost: Sequence[str]) -> bool:
        """Return whether all pods of so many nodes, lost at one moment, find a place on any others."""
        evicted = [spec for name in lost for spec in self._evicted.get(name, ())]
        if not self.is_known or None in evicted:
            return False
        specs = [spec for spec in evicted if spec is not None]
        if not specs:
            return True
        slots = np.sort(self._slots(specs))
        return int(slots[: len(slots) - len(lost)].sum()) >= len(specs)

    @cached_property
    def _evicted(self) -> Mapping[str, list[Mapping[str, Any] | None]]:
        """By node what a new pod for each of its pods is, ``None`` for one of which nothing can be said."""
        found: dict[str, list[Mapping[str, Any] | None]] = {}
        for pod in self._pods:
            owner = controller_of(pod)
            if owner is None or owner["kind"] in STAYING or MIRROR in annotations_of(pod):
                continue
            made = self._server.get(owner["kind"], key_in(owner["kind"], namespace_of(pod), owner["name"]))
            if made is not None:
                spec = (spec_of(made).get("template") or {}).get("spec")
                simple = spec is not None and _is_simple(spec) and _waits(pod)
                found.setdefault(node_of(pod), []).append(spec if simple else None)
        return found

    @cached_property
    def _nodes(self) -> list[Manifest]:
        return [node for node in self._server.of_kind("Node") if takes_pods(node)]

    @cached_property
    def _left(self) -> Mapping[str, Amounts]:
        left = {name_of(node): amounts(status_of(node).get("allocatable")) for node in self._nodes}
        for pod in self._pods:
            free = left.get(node_of(pod))
            if free is not None:
                for resource, amount in {**held_requests(spec_of(pod), status_of(pod)), "pods": 1}.items():
                    free[resource] = free.get(resource, 0) - amount
        return left

    def _slots(self, specs: Sequence[Mapping[str, Any]]) -> NDArray[np.int64]:
        """Return how many pods fit on each node that request the most of what any of these does."""
        most: Amounts = {"pods": 1}
        for spec in specs:
            for resource, amount in self._requests(spec).items():
                most[resource] = max(most.get(resource, 0), amount)
        each = [self._free(resource) // amount for resource, amount in most.items() if amount > 0]
        fitting: NDArray[np.int64] = np.maximum(np.minimum.reduce(each), 0)
        for spec in specs:
            fitting = np.where(self._admits(spec), fitting, 0)
        return fitting

    def _requests(self, spec: Mapping[str, Any]) -> Amounts:
        known = self._asked.get(id(spec))
        if known is None:
            known = self._asked[id(spec)] = spec_requests(spec)
        return known

    def _free(self, resource: str) -> NDArray[np.int64]:
        known = self._columns.get(resource)
        if known is None:
            values = [self._left[name_of(node)].get(resource, 0) for node in self._nodes]
            known = self._columns[resource] = np.array(values, np.int64)
        return known

    def _admits(self, spec: Mapping[str, Any]) -> NDArray[np.bool_]:
        key = f"{spec.get('nodeSelector')}{(spec.get('affinity') or {}).get('nodeAffinity')}"
        known = self._admitted.get(key)
        if known is None:
            pod = {"spec": spec}
            known = self._admitted[key] = np.array([admits(pod, node) for node in self._nodes], np.bool_)
        return known


def _is_simple(spec: Mapping[str, Any]) -> bool:
    """Return whether resources, selectors and node affinity decide which nodes take a pod."""
    scheduler = spec.get("schedulerName") or "default-scheduler"
    refused = scheduler != "default-scheduler" or any(spec.get(name) for name in _REFUSED)
    hard = any(
        one.get("whenUnsatisfiable") != "ScheduleAnyway"
        for one in spec.get("topologySpreadConstraints") or ()
    )
    volumes = all(one.keys() <= _FREE_VOLUMES for one in spec.get("volumes") or ())
    return not refused and not hard and volumes and not any(map(_has_host_port, _containers(spec)))


def _containers(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for kind in ("containers", "initContainers", "ephemeralContainers"):
        yield from spec.get(kind) or ()


def _has_host_port(container: Mapping[str, Any]) -> bool:
    return any(port.get("hostPort") for port in container.get("ports") or ())


def _waits(pod: Manifest) -> bool:
    """Return whether a pod stays for a while on a node that does not answer."""
    tolerations = spec_of(pod).get("tolerations") or ()
    for taint in _LOST:
        seconds = [one.get("tolerationSeconds") for one in tolerations if tolerates(one, taint)]
        if not seconds or any(one is not None and one < LEAST_WAIT for one in seconds):
            return False
    return True
