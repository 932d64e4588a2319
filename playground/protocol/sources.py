"""The types of what is sent: opening."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from playground.protocol.page import ProblemWire, SourceWire
from playground.protocol.settings import DeschedulerWire, PolicyWire, SchedulersWire
from playground.protocol.tables import NodesWire, PodsWire


class OpenedWire(TypedDict):
    title: str
    about: str
    source: SourceWire
    revision: int | None
    scenario: str | None
    nodes: NodesWire
    pods: PodsWire
    cycles: int
    complete: bool
    expected: int | None
    end: bool
    timed: bool
    release: str
    offered: str
    schedulers: SchedulersWire
    descheduler: DeschedulerWire | None
    policy: PolicyWire
    stopped: str | None
    warnings: Sequence[ProblemWire]
    recorded: int
    dump: bool
    summary: Mapping[str, int]
    index: int | None


class PendingCauseWire(TypedDict):
    """Pods that end without a node for one reason; ``pods`` are the first of them."""

    message: str
    count: int
    pods: Sequence[str]


class DumpRowWire(TypedDict):
    """Kinds that a dump should have, how many objects of each it has, and what weakens without them."""

    title: str
    kinds: Mapping[str, int]
    partly: str
    weakens: str


class RecordedAnswerWire(TypedDict):
    """A pending pod's condition in a dump, beside the answer of the simulation."""

    pod: str
    reason: str
    message: str
    since: str
    simulated: str
    agrees: bool
    differences: Sequence[str]
    causes: Sequence[str]
