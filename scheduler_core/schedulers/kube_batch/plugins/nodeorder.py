"""``nodeorder``: which of the candidates is best (Kubernetes 1.16's priorities, 0 to 10 each)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from scheduler_core.kubernetes.arrays import BoolVector, IntVector
from scheduler_core.kubernetes.integers import parse_int
from scheduler_core.kubernetes.model import NodeSelectorTerm
from scheduler_core.schedulers.columns.nodeaffinity import term_mask
from scheduler_core.schedulers.kube_batch.configuration import argument
from scheduler_core.schedulers.kube_batch.model import TaskInfo
from scheduler_core.schedulers.kube_batch.neighbors import Neighbors
from scheduler_core.schedulers.kube_batch.nodes import Nodes
from scheduler_core.schedulers.kube_batch.plugin import Registration
from scheduler_core.schedulers.kube_batch.session import Session
from scheduler_core.schedulers.kube_batch.task_class import FloatVector

MOST_SCORE = 10
MOST_KEPT = 256  # columns of scores, one for each size of tasks
WEIGHTS: Mapping[str, int] = {
    "leastrequested": 1,
    "mostrequested": 0,
    "nodeaffinity": 1,
    "podaffinity": 1,
    "balancedresource": 1,
}
"""The priorities with their default weights."""

RESOURCE_PARTS = ("leastrequested", "mostrequested", "balancedresource")


@dataclass(slots=True)
class ResourceScores:
    """Scores by resources for tasks of one size; ``seen`` counts the changes of nodes they include."""

    scores: FloatVector
    seen: int


@dataclass(slots=True)
class NodeOrder:
    """Scores of a session's nodes, with the weights of the configuration."""

    nodes: Nodes
    neighbors: Neighbors
    weights: Mapping[str, int]
    _kept: OrderedDict[tuple[int, int], ResourceScores] = field(default_factory=OrderedDict)

    def score(self, task: TaskInfo, candidates: BoolVector) -> FloatVector:
        """Return the weighted sum, ``(N,) float64``; what compares nodes compares the candidates."""
        found = self._by_resources(task)
        others = [
            (weight, part)
            for weight, part in (
                (self.weights["nodeaffinity"], self._node_affinity(task, candidates)),
                (self.weights["podaffinity"], self.neighbors.scores(task, candidates)),
            )
            if weight and part is not None
        ]
        for weight, part in others:
            found = found + weight * part
        return found

    def parts(self, task: TaskInfo, candidates: BoolVector) -> Mapping[str, FloatVector]:
        """Return the weighted score of each priority with a weight, ``(N,) float64``."""
        everywhere = np.arange(len(self.nodes))
        nothing = np.zeros(len(self.nodes), np.int64)
        found = self._resource_scores(task, everywhere)
        node, pods = self._node_affinity(task, candidates), self.neighbors.scores(task, candidates)
        found["nodeaffinity"] = nothing if node is None else node
        found["podaffinity"] = nothing if pods is None else pods
        return {name: (weight * found[name]).astype(float) for name, weight in self.weights.items() if weight}

    def _by_resources(self, task: TaskInfo) -> FloatVector:
        """Return the sum of the scores by resources; only nodes that have changed are scored again."""
        nodes, size = self.nodes, task.kind.nonzero
        kept = self._kept.get(size)
        if kept is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.popitem(last=False)
            kept = self._kept[size] = ResourceScores(np.zeros(len(nodes)), -1)
        end = len(nodes.changed)
        if kept.seen < 0 or end - kept.seen > len(nodes) // 2:
            kept.scores = self._weighted(task, np.arange(len(nodes)))
        elif kept.seen < end:
            rows = np.array(list(set(nodes.changed[kept.seen : end])), np.int64)
            kept.scores[rows] = self._weighted(task, rows)
        kept.seen = end
        return kept.scores

    def _weighted(self, task: TaskInfo, rows: IntVector) -> FloatVector:
        found = np.zeros(len(rows))
        for name, scores in self._resource_scores(task, rows).items():
            if weight := self.weights[name]:
                found += weight * scores
        return found

    def _resource_scores(self, task: TaskInfo, rows: IntVector) -> dict[str, IntVector]:
        """Return the three scores by cpu and memory of some nodes, the incoming pod included."""
        size = np.array(task.kind.nonzero, np.int64)[:, None]
        requested = self.nodes.nonzero[:, rows] + size
        capacity = self.nodes.columns.allocatable[:2, rows]
        divisor = np.maximum(capacity, 1)
        fits = (requested <= capacity) & (capacity > 0)
        least = np.where(fits, (capacity - requested) * MOST_SCORE // divisor, 0)
        most = np.where(fits, requested * MOST_SCORE // divisor, 0)
        fractions = np.where(capacity > 0, requested / divisor, 1.0)
        difference = np.abs(fractions[0] - fractions[1])
        balanced = ((1 - difference) * MOST_SCORE).astype(np.int64)
        balanced[(fractions >= 1).any(axis=0)] = 0
        return dict(
            zip(RESOURCE_PARTS, (least.sum(axis=0) // 2, most.sum(axis=0) // 2, balanced), strict=True)
        )

    def _node_affinity(self, task: TaskInfo, candidates: BoolVector) -> IntVector | None:
        """Scale the weights of the preferred terms that match to the highest sum of a candidate."""
        affinity = task.pod.affinity
        if affinity is None or not affinity.node_preferred:
            return None
        sums = np.zeros(len(self.nodes), np.int64)
        for preferred in affinity.node_preferred:
            # an empty list of expressions selects nothing, and fields are not read
            term = NodeSelectorTerm(match_expressions=preferred.term.match_expressions)
            sums += preferred.weight * term_mask(term, self.nodes.columns)
        most = int(sums[candidates].max(initial=0))
        return sums * MOST_SCORE // most if most else sums


def open_session(session: Session, arguments: Mapping[str, str]) -> Registration:
    """Register the scores, with the weights that the arguments set."""
    weights = {
        name: argument(arguments, f"{name}.weight", default, parse_int) for name, default in WEIGHTS.items()
    }
    return Registration(node_order=NodeOrder(session.nodes, session.neighbors, weights))
