"""Opportunistic batching: an equal pod takes the next best of the nodes scored for the one before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from msgspec import Struct

from scheduler_core.schedulers.v1_37.attempt import Scheduler
from scheduler_core.schedulers.v1_37.extended_resources import backed
from scheduler_core.schedulers.v1_37.interface import PluginError, PodAttempt
from scheduler_core.schedulers.v1_37.node_heap import ScoredNode, heapify, pop
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.podgroups import GATE
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.signatures import signature

BATCHING = "OpportunisticBatching"
"""The feature gate."""

MAX_AGE = 500
"""How long scored nodes may serve; milliseconds."""


class _Batch(Struct):
    """The scored nodes that are left, as the array of a heap."""

    signature: str
    nodes: list[ScoredNode]
    scored_at: int
    cycle: int
    chosen: str
    """The node of the cycle ``cycle``."""


class OpportunisticBatching:
    """The batch of each profile (OpportunisticBatch of framework/runtime).

    ``hints_nominated``: pods with a nominated node are given a hint, which they do not follow.
    """

    hints_nominated: ClassVar[bool] = False

    def __init__(self, scheduling: Scheduler, profiles: Mapping[str, KubeSchedulerProfile]) -> None:
        self.scheduling = scheduling
        self.profiles = profiles
        self._batches: dict[str, _Batch] = {}

    def hint(self, pod: CompiledPod, cycle: int, now: int) -> str | None:
        """Return the node to try first, and take it out of the batch; None if there is no batch to use.

        ``cycle`` is the number of this cycle, ``now`` the time in milliseconds.
        """
        batch = self._batches.get(pod.scheduler_name)
        if not self.scheduling.configuration.gate(BATCHING) or (
            batch is None
            or not batch.nodes
            or not self._follows(batch, cycle)
            or now > batch.scored_at + MAX_AGE
        ):
            return None
        if not self.hints_nominated and self.scheduling.nominations.node_of(pod):
            return None
        if self._signature(pod) != batch.signature:
            return None
        nodes = self.scheduling.cluster.nodes
        if any(nodes.row(name) is None for name in (batch.chosen, *(one.node for one in batch.nodes))):
            return None
        try:
            again = self.scheduling.rescore(pod, batch.chosen)
        except PluginError:
            return None
        if again is not None and not self.takes_part(batch, *again):
            return None
        return pop(batch.nodes).node

    def takes_part(self, batch: _Batch, context: Context, raw: dict[str, int]) -> bool:
        """Put the node of the cycle before, which still fits, among the others; return whether they serve."""
        batch.nodes.append(ScoredNode(batch.chosen, raw))
        _total(context, batch.nodes)
        heapify(batch.nodes)
        return True

    def _signature(self, pod: CompiledPod) -> str | None:
        """Return the pod's signature; None for one that devices serve, which other pods compete for."""
        if self._may_be_served(pod):
            return None
        return signature(pod, self.profiles[pod.scheduler_name])

    def _may_be_served(self, pod: CompiledPod) -> bool:
        """Return whether a DeviceClass names a resource that the pod asks for."""
        return bool(backed(self.scheduling.cluster, pod.requests))

    def _follows(self, batch: _Batch, cycle: int) -> bool:
        """Return whether the batch is of the cycle before, or of this one, which a group's members share."""
        groups = self.scheduling.configuration.gate(GATE)
        return batch.cycle == cycle - 1 or (groups and batch.cycle == cycle)

    def store(self, attempt: PodAttempt, cycle: int, now: int) -> None:
        """Keep what a successful attempt scored, or go on with the batch whose hint it took."""
        name, chosen = attempt.pod.scheduler_name, str(attempt.node)
        batch = self._batches.get(name)
        if attempt.hint == chosen and batch is not None:
            batch.cycle, batch.chosen = cycle, chosen
            return
        self.drop(name)
        scored = attempt.scored
        # Extenders turn signatures off, and pods with one share nothing else.
        unsigned = attempt.reused or bool(self.scheduling.configuration.extenders)
        signed = None if scored is None or unsigned else self._signature(attempt.pod)
        if scored is None or signed is None:
            return
        raw = {key: scores.raw.tolist() for key, scores in scored.plugins.items()}
        nodes = [
            ScoredNode(node, {key: column[place] for key, column in raw.items()}, total)
            for place, (node, total) in enumerate(zip(scored.nodes.tolist(), scored.totals.tolist()))
        ]
        heapify(nodes)
        pop(nodes)
        self._batches[name] = _Batch(signed, nodes, now, cycle, chosen)

    def drop(self, profile: str) -> None:
        """Forget what was scored for pods of a profile, by its schedulerName."""
        self._batches.pop(profile, None)


class InCycle(Struct, frozen=True):
    """The batches as one cycle sees them, by its number and time."""

    batching: OpportunisticBatching
    cycle: int
    now: int

    def hint(self, pod: CompiledPod) -> str | None:
        """Return the node to try first, as :meth:`OpportunisticBatching.hint` does."""
        return self.batching.hint(pod, self.cycle, self.now)

    def store(self, attempt: PodAttempt) -> None:
        """Keep what a successful attempt scored."""
        self.batching.store(attempt, self.cycle, self.now)


def _total(context: Context, nodes: list[ScoredNode]) -> None:
    """Normalize all raw scores again and add them up."""
    rows = np.array([context.nodes.rows[scored.node] for scored in nodes], np.intp)
    totals = np.zeros(len(nodes), np.int64)
    for key in context.profile.points["score"]:
        if all(key in scored.raw for scored in nodes):
            raw = np.array([scored.raw[key] for scored in nodes], np.int64)
            totals += context.profile.weights[key] * context.plugins[key].normalize(context, rows, raw)
    for scored, total in zip(nodes, totals.tolist()):
        scored.total = total
