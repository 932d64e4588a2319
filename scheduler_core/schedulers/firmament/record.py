"""The record of a round: the flow network with flow, capacity and cost on its arcs, and each pod's path.

Costs are those of the CPU-memory cost model; pods are ``namespace/name``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct

from scheduler_core.record.plugin_record import AttemptRecord


class ArcRecord(Struct, frozen=True, rename="camel"):
    """The arcs of a class to a machine, or to ``machines`` machines of one capacity in a large cluster.

    ``capacity`` is the number of indices, ``flow`` how many carry a pod; ``cost`` is that of the cheapest,
    ``paid`` the sum over those with flow.
    """

    to: str
    machines: int
    flow: int
    capacity: int
    cost: int
    paid: int


class ClassRecord(Struct, frozen=True, rename="camel"):
    """A task class: its first pod, its job or request, and what became of its ``tasks``.

    ``request`` is cpu in millicores, memory and ephemeral storage in bytes. ``refused`` counts machines
    without an arc by why; ``unscheduled`` pods take the aggregator, at 2,560,000 each.
    """

    name: str
    first: str
    request: tuple[int, int, int]
    tasks: int
    unscheduled: int
    arcs: tuple[ArcRecord, ...]
    refused: Mapping[str, int]


class PhaseRecord(Struct, frozen=True, rename="camel"):
    """One flow problem: ``batch`` or ``affinity``, or a pod of the ``queue``.

    ``dropped`` are the jobs, by their owner's name, that did not reach the minimum of their gang.
    """

    kind: str
    classes: tuple[ClassRecord, ...]
    cost: int
    unscheduled: int
    dropped: tuple[str, ...]


class PathRecord(Struct, frozen=True, rename="camel"):
    """A pod's way through the network: its class, then ``node`` as its ``index``-th further pod; "" for the
    aggregator. ``next`` is the best arc that it did not take, "" if there is none that is free.
    """

    phase: int
    of: str
    node: str
    index: int
    cost: int
    next: str
    next_cost: int
    why: str


class RoundRecord(AttemptRecord, frozen=True):
    """A round: its flow problems in order, and the paths of the first pods."""

    field: ClassVar[str] = "round"

    number: int
    time: float
    phases: tuple[PhaseRecord, ...]
    paths: Mapping[str, PathRecord]
    omitted_paths: int
    left_alone: Mapping[str, str]
