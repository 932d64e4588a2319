"""Task classes, and to which machines each has arcs at which cost (cpu_cost_model)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.kubernetes.model import NodeSelectorTerm, Pod, Requirement
from scheduler_core.schedulers.firmament.costs import OMEGA, resource_costs, share
from scheduler_core.schedulers.firmament.machines import Machines
from scheduler_core.schedulers.firmament.residents import Residents
from scheduler_core.schedulers.firmament.taints import (
    HARD,
    SOFT,
    Tolerated,
    hard_tolerated,
    intolerable,
    soft_tolerated,
)
from scheduler_core.schedulers.firmament.tasks import (
    DEFAULT_TOLERATIONS,
    Task,
    controller_of,
    has_pod_affinity,
)

PREFER_AVOID_PODS = "scheduler.alpha.kubernetes.io/preferAvoidPods"
AVOIDABLE = ("ReplicationController", "ReplicaSet")
ClassKey = tuple[Any, ...]


@dataclass
class Extremes:
    """The largest and smallest scores of a class that were ever seen; they are not reset between rounds."""

    node_affinity: int = 0
    taints: int = 0
    pod_affinity: tuple[int, int] | None = None


Memory = dict[ClassKey, Extremes]


@dataclass
class State:
    """What a round reads: machines and Firmament's running pods, both updated by what it places.

    ``symmetry``: terms of running pods count for pods without any (pod_affinity_antiaffinity_symmetry).
    """

    machines: Machines
    residents: Residents
    memory: Memory = field(default_factory=dict)
    symmetry: bool = True

    def place(self, task: Task, row: int) -> None:
        """Let a task run on a machine."""
        self.machines.place(row, task.request)
        self.residents.add(task.pod, row)


@dataclass
class FlowTaskClass:
    """Tasks that share their arcs; the first one stands for all.

    ``symmetric``: a running pod's term concerns it.
    """

    key: ClassKey
    tasks: list[Task]
    symmetric: bool

    @property
    def first(self) -> Task:
        """The task whose constraints and request count."""
        return self.tasks[0]


def classes_of(tasks: Iterable[Task], state: State) -> list[FlowTaskClass]:
    """Return the classes of tasks in the order of their first ones (GetTaskEquivClasses)."""
    found: dict[ClassKey, FlowTaskClass] = {}
    for task in tasks:
        key, symmetric = _key(task, state)
        if key in found:
            found[key].tasks.append(task)
        else:
            found[key] = FlowTaskClass(key, [task], symmetric)
    return list(found.values())


def _key(task: Task, state: State) -> tuple[ClassKey, bool]:
    """Return what a task's class is known by, and whether symmetry made it one of its own."""
    pod, (cpu, memory, ephemeral) = task.pod, task.request
    if pod.affinity is not None or len(pod.tolerations) > DEFAULT_TOLERATIONS:
        return ("job", task.job), False
    if pod.node_selector:
        return ("selector", frozenset(pod.node_selector.items()), cpu, memory), False
    if state.symmetry and pod.meta.labels and state.residents.concerns(pod):
        return ("job", task.job), True
    return ("request", cpu, memory, ephemeral), False


@dataclass
class Arcs:
    """The arcs of a class: to index i of a machine for each i below ``counts`` (``(N,)``).

    ``parts`` are the cost terms that do not depend on the index, ``(N,)`` each; ``refused`` says why there
    is no arc, by the number of machines.
    """

    of: FlowTaskClass
    machines: Machines
    counts: IntVector
    parts: Mapping[str, IntVector]
    refused: Mapping[str, int]

    def __post_init__(self) -> None:
        self.base: IntVector = sum(self.parts.values(), np.zeros_like(self.counts))
        self.capacity = self.machines.capacity[:2].copy()
        self.available = self.machines.available[:2].copy()

    def costs(self, rows: IntVector, indices: IntVector) -> IntVector:
        """Return ``(rows, indices)``: the cost of each arc, whether there is one or not."""
        request = self.of.first.request
        return self.base[rows][:, None] + resource_costs(
            self.capacity[:, rows], self.available[:, rows], request, indices
        )

    @property
    def total(self) -> int:
        """How many there are."""
        return int(self.counts.sum())


def arcs_of(of: FlowTaskClass, state: State) -> Arcs:
    """Return the arcs of a class, and remember its extreme scores."""
    machines, pod = state.machines, of.first.pod
    extremes = state.memory.setdefault(of.key, Extremes())
    refused: dict[str, int] = {}
    everywhere = np.ones(len(machines.nodes), bool)
    eligible = _keep(everywhere, _selected(pod, machines), refused, "node selector or node affinity")
    node_affinity = _node_affinity(pod, machines, eligible, extremes)
    reachable = _keep(eligible, _pod_required(of, state), refused, "affinity between pods")
    pod_affinity = _pod_affinity(of, state, reachable, extremes)
    hard = _taints(machines, hard_tolerated(pod.tolerations), HARD)
    tolerated = _keep(reachable, hard == 0, refused, "taints")
    taints = _soft_taints(pod, machines, tolerated, extremes)
    counts = np.where(tolerated, machines.room(of.first.request), 0)
    _keep(tolerated, counts > 0, refused, "resources or the number of pods")
    parts = {
        "nodeAffinity": OMEGA - node_affinity,
        "podAffinity": OMEGA - pod_affinity,
        "taints": taints,
        "avoid": _avoided(pod, machines),
    }
    return Arcs(of, machines, counts, parts, refused)


def _keep(before: BoolVector, also: BoolVector, refused: dict[str, int], why: str) -> BoolVector:
    kept = before & also
    if lost := int(before.sum() - kept.sum()):
        refused[why] = lost
    return kept


def _all_hold(machines: Machines, requirements: Iterable[Requirement]) -> BoolVector:
    found = np.ones(len(machines.nodes), bool)
    for one in requirements:
        found &= machines.labelled(one)
    return found


def _term(machines: Machines, term: NodeSelectorTerm) -> BoolVector:
    """Return ``(N,)``: where a term matches; matchFields are ignored, and an empty term matches nothing."""
    if not term.match_expressions:
        return np.zeros(len(machines.nodes), bool)
    return _all_hold(machines, term.match_expressions)


def _selected(pod: Pod, machines: Machines) -> BoolVector:
    """Return ``(N,)``: where nodeSelector and required node affinity match."""
    found = _all_hold(
        machines, (Requirement(key, "In", (value,)) for key, value in pod.node_selector.items())
    )
    terms = pod.affinity.node_required if pod.affinity is not None else None
    if terms:
        found &= np.logical_or.reduce([_term(machines, term) for term in terms])
    return found


def _node_affinity(pod: Pod, machines: Machines, eligible: BoolVector, extremes: Extremes) -> IntVector:
    """Return ``(N,)``: the preferred weights' share of the largest, 0 to ω."""
    score = np.zeros(len(eligible), np.int64)
    for one in pod.affinity.node_preferred if pod.affinity is not None else ():
        score += one.weight * _term(machines, one.term)
    extremes.node_affinity = max(extremes.node_affinity, _largest(score, eligible))
    return share(score, extremes.node_affinity) if extremes.node_affinity else score


def _largest(score: IntVector, among: BoolVector) -> int:
    return int(score[among].max(initial=0))


def _pod_required(of: FlowTaskClass, state: State) -> BoolVector:
    pod = of.first.pod
    found = np.ones(len(state.machines.nodes), bool)
    if of.symmetric:
        found &= ~state.residents.repels(pod)
    if pod.affinity is not None and has_pod_affinity(pod.affinity):
        found &= state.residents.required(pod.affinity, pod.meta.namespace)
    return found


def _pod_affinity(of: FlowTaskClass, state: State, reachable: BoolVector, extremes: Extremes) -> IntVector:
    """Return ``(N,)``: ω on the machines with the best score, elsewhere 0, as integer division leaves it."""
    pod, affinity = of.first.pod, of.first.pod.affinity
    score = np.zeros(len(reachable), np.int64)
    if of.symmetric:
        score += state.residents.symmetry(pod)
    if affinity is not None and (affinity.pod_preferred or affinity.anti_preferred):
        score += state.residents.preferred(affinity, pod.meta.namespace)
    elif not of.symmetric:
        return score
    if reachable.any():
        known = extremes.pod_affinity or ()
        seen = score[reachable]
        extremes.pod_affinity = min((int(seen.min()), *known)), max((int(seen.max()), *known))
    low, high = extremes.pod_affinity or (0, 0)
    return np.maximum(score - low, 0) // (high - low) * OMEGA if high > low else np.zeros_like(score)


def _taints(machines: Machines, tolerated: Tolerated | None, effects: Sequence[str]) -> IntVector:
    """Return ``(N,)``: how many taints with these effects are not tolerated."""
    found = np.zeros(len(machines.nodes), np.int64)
    for row, taints in machines.tainted:
        found[row] = intolerable(taints, tolerated, effects)
    return found


def _soft_taints(pod: Pod, machines: Machines, tolerated: BoolVector, extremes: Extremes) -> IntVector:
    """Return ``(N,)``: the share of soft taints that are not tolerated, 0 to ω."""
    score = _taints(machines, soft_tolerated(pod.tolerations), (SOFT,))
    extremes.taints = max(extremes.taints, _largest(score, tolerated))
    return share(score, extremes.taints) if extremes.taints else score


def _avoided(pod: Pod, machines: Machines) -> IntVector:
    """Return ``(N,)``: ω where the node's annotation names the pod's controller."""
    found, owner = np.zeros(len(machines.nodes), np.int64), controller_of(pod)
    if owner is not None and owner.kind in AVOIDABLE:
        for row, text in machines.annotated(PREFER_AVOID_PODS):
            found[row] = OMEGA * ((owner.kind, owner.uid) in avoided_controllers(text))
    return found


def avoided_controllers(text: str) -> set[tuple[str, str]]:
    """Return kind and UID of the controllers that a preferAvoidPods annotation names."""
    try:
        listed = json.loads(text)["preferAvoidPods"]
        named = [one["podSignature"]["podController"] for one in listed]
        return {(str(one["kind"]), str(one["uid"])) for one in named}
    except (ValueError, KeyError, TypeError):
        return set()
