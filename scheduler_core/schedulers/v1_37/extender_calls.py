"""Extenders in an attempt: what they leave of the feasible nodes, their scores, and the victims they allow.

Source: findNodesThatPassExtenders and prioritizeNodes of schedule_one.go, callExtenders of
framework/preemption/preemption.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from scheduler_core.schedulers.extenders.calls import AskedPod, ExtenderCalls
from scheduler_core.schedulers.extenders.configuration import Extender
from scheduler_core.schedulers.extenders.messages import encode
from scheduler_core.schedulers.extenders.port import Port
from scheduler_core.schedulers.extenders.record import ExtenderRecord
from scheduler_core.schedulers.extenders.rules import MAX_EXTENDER_PRIORITY, V1_37_RULES, bounded
from scheduler_core.schedulers.v1_37.candidates import Candidate
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.disruption import Unit, units
from scheduler_core.schedulers.v1_37.failures import Failures
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.nodes import NodeTable, Rows
from scheduler_core.schedulers.v1_37.plugins.base import MAX_SCORE
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.score_arrays import PluginScores, ScoredNodes
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import UNRESOLVABLE, UNSCHEDULABLE, Status

EXTENDER = "Extender"
"""Stands for all extenders among the plugins that rejected a pod (framework.ExtenderName)."""

SCALE = MAX_SCORE // MAX_EXTENDER_PRIORITY
"""The factor of an extender's scores, on top of its weight."""

SCORED_BY_NODE_INFO = frozenset({"NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality"})
"""The score plugins that count what a NodeInfo holds in addition to its node: pods' requests and images.

An extender that returns nodes leaves NodeInfos without either (the quirk ``extender-empties-nodes``). The
others count pods in the snapshot.
"""


class CachedManifests:
    """The manifests that extenders are sent; a node's JSON is made once."""

    def __init__(self, cluster: ClusterState) -> None:
        self.cluster = cluster
        self._nodes: dict[str, tuple[Manifest, str]] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> CachedManifests:
        """Return those of the copied cluster."""
        return CachedManifests(deepcopy(self.cluster, memo))

    def pod(self, key: str) -> str:
        """Return a stored pod, with the uid that it goes by."""
        manifest = self.cluster.objects["Pod"][key]
        metadata = {**manifest["metadata"], "uid": self.cluster.pods[key].uid}
        return encode({**manifest, "metadata": metadata})

    def node(self, name: str) -> str:
        """Return a stored node."""
        manifest = self.cluster.objects["Node"][name]
        known = self._nodes.get(name)
        if known is None or known[0] is not manifest:
            known = self._nodes[name] = manifest, encode(manifest)
        return known[1]


class ExtenderClient:
    """What a scheduler needs to ask its extenders; ``cycle`` returns the number of the cycle, from 1.

    Without ``trace`` requests and responses are not kept in the record.
    """

    def __init__(
        self, cluster: ClusterState, extenders: tuple[Extender, ...], port: Port, cycle: Callable[[], int]
    ) -> None:
        self.extenders = extenders
        self.port = port
        self.documents = CachedManifests(cluster)
        self.cycle = cycle
        self.trace = True
        self._begun: list[ExtenderCalls] = []

    def calls(self, pod: CompiledPod) -> ExtenderCalls:
        """Begin the calls about one pod."""
        asked = AskedPod(pod.key, pod.namespace, pod.name, pod.uid, resource_names(pod))
        calls = ExtenderCalls(
            self.extenders, self.port, self.documents, asked, self.cycle(), V1_37_RULES, trace=self.trace
        )
        self._begun.append(calls)
        return calls

    def drain(self) -> ExtenderRecord:
        """Return the calls of all attempts since the last time, also of those that a group only tried."""
        begun, self._begun = self._begun, []
        return ExtenderRecord(tuple(call for calls in begun for call in calls.calls))


def resource_names(pod: CompiledPod) -> frozenset[str]:
    """Return the resources that a pod's containers request or limit (HTTPExtender.hasManagedResources)."""
    return frozenset(
        name
        for container in (*pod.containers, *pod.init_containers)
        for part in ("requests", "limits")
        for name in (container.get("resources") or {}).get(part) or ()
    )


class _Existing:
    """The names of the nodes that exist."""

    def __init__(self, nodes: NodeTable) -> None:
        self.nodes = nodes

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.nodes.row(name) is not None


def pass_extenders(calls: ExtenderCalls, attempt: PodAttempt, nodes: NodeTable, rows: Rows) -> Rows:
    """Return what the extenders leave of the feasible rows, and note why they failed the others.

    A node that an extender failed has the status of the last one that did; one that it dropped in silence
    has none, and preemption passes over it.

    Raises:
        ExtenderError: An extender that is not ignorable fails.
    """
    passed = calls.filter(nodes.listed(rows).tolist(), _Existing(nodes))
    if not passed.asked:
        return rows
    attempt.asked += passed.asked
    attempt.rebuilt = passed.rebuilt
    numbers: dict[tuple[str, bool], int] = {}
    failed: dict[int, int] = {}
    for name, verdict in passed.failed.items():
        row = nodes.row(name)
        if row is None:
            attempt.failed_strangers[name] = _status(verdict)
        else:
            failed[row] = numbers.setdefault(verdict, len(numbers))
    if failed:
        statuses = [_status(verdict) for verdict in numbers]
        kinds = np.array(list(failed.values()), np.intp)
        listed = nodes.listed(np.array(list(failed), np.intp))
        attempt.failed = attempt.failed.then(Failures(listed, kinds, statuses))
    left = np.array([nodes.rows[name] for name in passed.nodes], np.intp)
    attempt.passed[-1] = nodes.listed(left)
    return left


def allowed(
    calls: ExtenderCalls, cluster: ClusterState, candidates: Sequence[Candidate], *, groups: bool
) -> list[Candidate]:
    """Return the candidates and victims that the extenders leave (Evaluator.callExtenders).

    The budgets that an extender reports as violated count. ``groups``: whether PodGroups are known.

    Raises:
        ExtenderError: An extender that is not ignorable fails.
    """
    proposed = {one.node: ([(pod.key, pod.uid) for pod in one.victims], one.violations) for one in candidates}

    def residents(node: str) -> Mapping[str, str] | None:
        row = cluster.nodes.row(node)
        return None if row is None else {pod.uid: pod.key for pod in cluster.nodes.nodes[row].pods}

    left = calls.preempt(proposed, residents)
    if left is proposed:
        return list(candidates)
    before = {one.node: one for one in candidates}
    found = []
    for node, (pods, violations) in left.items():
        victims = [cluster.pods[key] for key, _ in pods]
        known = before.get(node)
        removed = () if known is None else known.removed
        named = frozenset(key for key, _ in pods)
        whole = units(cluster, victims, groups=groups)
        found.append(
            Candidate(
                node,
                tuple(_part(unit, named) for unit in whole),
                violations,
                (*removed, *(pod for pod in victims if pod not in removed)),
                frozenset() if known is None else known.violating,
            )
        )
    return sorted(found, key=lambda one: one.node)


def _part(unit: Unit, named: frozenset[str]) -> Unit:
    """Return a unit with those of its pods that were named."""
    return Unit(tuple(pod for pod in unit.pods if pod.key in named), unit.priority, unit.grouped)


def _status(verdict: tuple[str, bool]) -> Status:
    message, resolvable = verdict
    return Status(UNSCHEDULABLE if resolvable else UNRESOLVABLE, (message,))


def add_scores(calls: ExtenderCalls, scored: ScoredNodes) -> None:
    """Add the extenders' scores to those of the plugins.

    Among equal totals kube-scheduler then takes a node at random, of those that an extender scored: one
    without a prioritizeVerb scores every node 0.
    """
    names = scored.nodes.tolist()
    silent = any("prioritize" not in extender.verbs for extender in calls.extenders)
    at_random = np.full(len(names), silent, np.bool_)
    for one in calls.prioritize(names):
        given: Mapping[str, int] = one.scores
        raw = np.array([bounded(given.get(name, 0), one.weight * SCALE) for name in names], np.int64)
        scored.plugins[one.label] = PluginScores(one.weight, raw, raw * SCALE)
        totals = scored.totals
        totals += one.weight * SCALE * raw
        at_random |= np.array([name in given for name in names], np.bool_)
    scored.at_random = at_random
