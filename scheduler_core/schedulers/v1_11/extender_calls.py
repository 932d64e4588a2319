"""Extenders in an attempt: their answers as rows of the matrices, as feasible nodes and as victims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from scheduler_core.kubernetes.admission import uid_for
from scheduler_core.kubernetes.model import Pod
from scheduler_core.record.priority_row import PriorityRow
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reasons import Codes
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.extenders.calls import AskedPod, Documents, ExtenderCalls, Prioritized
from scheduler_core.schedulers.extenders.configuration import Extender
from scheduler_core.schedulers.extenders.port import Port
from scheduler_core.schedulers.extenders.record import ExtenderRecord
from scheduler_core.schedulers.extenders.rules import bounded
from scheduler_core.schedulers.v1_11.preemption.dry_run import NodeVictims

NOT_ASKED = -1  # in a row of the matrix: an earlier predicate or extender had failed the node

Matrix = npt.NDArray[np.int16]


class Extension(Struct, frozen=True):
    """What a scheduler needs to ask its extenders; ``cycle`` returns the number of the attempt, from 1."""

    extenders: tuple[Extender, ...]
    port: Port
    documents: Documents
    cycle: Callable[[], int]

    def attempt(self, pod: PodState, *, trace: bool) -> ExtenderCalls:
        """Begin the calls about one pod."""
        meta = pod.pod.meta
        asked = AskedPod(pod.key, meta.namespace, meta.name, uid_of(pod.pod), resource_names(pod.pod))
        return ExtenderCalls(self.extenders, self.port, self.documents, asked, self.cycle(), trace=trace)


class ExtendedFilter(Struct):
    """The nodes that predicates and extenders left.

    ``feasible`` are their indices in ascending order, ``names`` the same in the order of the last answer.
    ``rows`` has ``(N,) int16`` codes for each extender that answered, under its label. ``messages`` counts
    what the extenders gave as reasons.
    """

    feasible: npt.NDArray[np.int64]
    names: tuple[str, ...]
    rows: dict[str, Codes] = field(default_factory=dict)
    messages: Counter[str] = field(default_factory=Counter)

    def failed(self, size: int) -> Codes:
        """Return ``(N,) int16``: 0 on the feasible nodes, 1 on all others."""
        codes = np.ones(size, np.int16)
        codes[self.feasible] = 0
        return codes

    def below(self, codes: Matrix | None) -> Matrix | None:
        """Return a matrix with the extenders' rows below those of the predicates, ``(P, N)``."""
        return codes if codes is None or not self.rows else np.vstack([codes, *self.rows.values()])


def filter_by_extenders(
    asking: ExtenderCalls, cluster: Cluster, feasible: npt.NDArray[np.int64]
) -> ExtendedFilter:
    """Ask the extenders about the feasible nodes.

    Raises:
        ExtenderError: One that is not ignorable fails.
    """
    columns = cluster.columns
    names = [columns.names[node] for node in feasible.tolist()]
    passed = asking.filter(names, columns.index)
    found = ExtendedFilter(
        np.array(sorted(columns.index[name] for name in passed.nodes), np.int64), passed.nodes
    )
    for label, asked, reasons in passed.asked:
        codes = np.full(columns.size, NOT_ASKED, np.int16)
        codes[[columns.index[name] for name in asked]] = 0
        for name, message in reasons.items():
            codes[columns.index[name]] = cluster.reasons.code(*([message] if message else []))
        found.rows[label] = codes
    found.messages = passed.messages
    return found


def rows_of_scores(found: Sequence[Prioritized], names: Sequence[str]) -> list[PriorityRow]:
    """Return the extenders' scores of the F feasible nodes; a node without one scores 0."""
    return [
        PriorityRow(
            one.label,
            one.weight,
            "function",
            None,
            np.array([bounded(one.scores.get(name, 0), one.weight) for name in names], np.int64),
        )
        for one in found
    ]


def extended_candidates(
    asking: ExtenderCalls, cluster: Cluster, candidates: Sequence[NodeVictims]
) -> list[NodeVictims]:
    """Return the candidates and victims that the extenders leave, in object order.

    Raises:
        ExtenderError: One that is not ignorable fails.
    """
    proposed = {
        one.node: ([(pod.key, uid_of(pod.pod)) for pod in one.victims], one.violations) for one in candidates
    }

    def residents(node: str) -> Mapping[str, str] | None:
        place = cluster.columns.index.get(node)
        if place is None:
            return None
        return {uid_of(pod.pod): pod.key for pod in cluster.residents[place].values()}

    left = asking.preempt(proposed, residents)
    if left is proposed:
        return list(candidates)
    before = {one.node: one for one in candidates}
    found = []
    for node, (pods, violations) in left.items():
        place = cluster.columns.index[node]
        victims = [cluster.residents[place][key] for key, _ in pods]
        known = before.get(node)
        order = known.order if known is not None else []
        reasons = dict(zip((pod.key for pod in known.victims), known.reasons)) if known is not None else {}
        found.append(
            NodeVictims(
                node,
                victims,
                violations,
                place,
                known.removed if known is not None else list(victims),
                [*order, *(pod for pod in victims if pod not in order)],
                reasons=[reasons.get(pod.key, ()) for pod in victims],
            )
        )
    return sorted(found, key=lambda one: one.index)


def records(asking: ExtenderCalls | None) -> tuple[ExtenderRecord, ...]:
    """Return the record of an attempt's calls; none without extenders."""
    return () if asking is None else (asking.record(),)


def uid_of(pod: Pod) -> str:
    """Return a pod's uid, one that follows from its name if the manifest has none."""
    return pod.meta.uid or uid_for("Pod", pod.meta.namespace, pod.meta.name)


def resource_names(pod: Pod) -> frozenset[str]:
    """Return the resources that a pod's containers request or limit (HTTPExtender.hasManagedResources)."""
    containers = (*pod.containers, *pod.init_containers)
    return frozenset(name for one in containers for part in (one.requests, one.limits) for name in part)
