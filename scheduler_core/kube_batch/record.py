"""The record of a session, step by step; made by :class:`~scheduler_core.kube_batch.recorder.Recorder`.

Amounts are by resource name: cpu in millicores, memory in bytes, scalars in thousandths. Pods are
``namespace/name``. Every step carries the action during which it happened, "" while the session opens and
``close`` while it closes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Amounts = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class LeftOutStep:
    """An object of the snapshot that the session ignores: a Job, a Node or a Pod."""

    action: str
    kind: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class InvalidJob:
    """A job that plugins find invalid: the original asks too early, so that it takes part nevertheless."""

    action: str
    job: str
    why: str


@dataclass(frozen=True, slots=True)
class FilledQueue:
    """A queue after a round of proportion; a satisfied one takes no part in the next."""

    queue: str
    weight: int
    deserved: Amounts
    satisfied: bool


@dataclass(frozen=True, slots=True)
class ProportionRound:
    """One round in which proportion divides what remains by weight; numbers start at 1."""

    action: str
    number: int
    weights: int
    before: Amounts
    queues: tuple[FilledQueue, ...]
    after: Amounts


@dataclass(frozen=True, slots=True)
class QueueShares:
    """What a queue deserves, has and asks for, when the session opens and after each change."""

    action: str
    queue: str
    deserved: Amounts
    allocated: Amounts
    request: Amounts
    share: float


@dataclass(frozen=True, slots=True)
class JobShares:
    """What a job has by drf, and its dominant share."""

    action: str
    job: str
    allocated: Amounts
    share: float
    dominant: str


@dataclass(frozen=True, slots=True)
class HeapPop:
    """A heap's array as it was, and what was popped. ``what`` is queue, job, task; ``owner`` is whose heap
    it is: a queue's jobs, a job's tasks (or the victims for it). ``size`` is that of the array, of which the
    beginning is kept.
    """

    action: str
    what: str
    owner: str
    size: int
    before: tuple[str, ...]
    popped: str


@dataclass(frozen=True, slots=True)
class QueueDropped:
    """A queue's entry that is not served, and why."""

    action: str
    queue: str
    why: str


@dataclass(frozen=True, slots=True)
class JobDropped:
    """A job that this action serves no more, the task at which, and why."""

    action: str
    job: str
    task: str
    why: str


@dataclass(frozen=True, slots=True)
class NodesConsidered:
    """The nodes for a task: those that predicates refused, those short of resources, and the candidates with
    their scores, the highest first, and the weighted parts in the same order.

    ``counts`` are the numbers of each, of which many are not described. ``chosen`` is "" if none was, or if
    the action decides by victims.
    """

    action: str
    task: str
    counts: tuple[int, int, int]
    refused: Mapping[str, str]
    short: tuple[str, ...]
    candidates: tuple[tuple[str, float], ...]
    parts: Mapping[str, tuple[float, ...]]
    chosen: str


@dataclass(frozen=True, slots=True)
class Placement:
    """A task that was Allocated on, or Pipelined onto, a node."""

    action: str
    task: str
    node: str
    status: str


@dataclass(frozen=True, slots=True)
class PlacementFailed:
    """A task that a node refused although the action had chosen it."""

    action: str
    task: str
    why: str


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A bind request that was sent for a task of a job that is ready."""

    action: str
    job: str
    task: str
    node: str


@dataclass(frozen=True, slots=True)
class TierAnswer:
    """The victims that one plugin accepts."""

    tier: int
    plugin: str
    victims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VictimsChosen:
    """Who may be evicted on a node for a task: the candidates, each plugin's answer, and the result.

    ``decided`` is the tier that decided, from 1; 0 if no tier found any. ``what`` is preemptable or
    reclaimable.
    """

    action: str
    what: str
    task: str
    candidates: tuple[str, ...]
    answers: tuple[TierAnswer, ...]
    decided: int
    victims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Eviction:
    """A task that releases its resources in the session; a statement may still undo that."""

    action: str
    task: str
    node: str
    why: str


@dataclass(frozen=True, slots=True)
class StatementEnd:
    """A statement that was committed or discarded, with its operations as (evict or pipeline, task)."""

    action: str
    job: str
    how: str
    operations: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A task that is Allocated or Pipelined when the session closes: nothing is sent for it."""

    action: str
    task: str
    node: str
    status: str


@dataclass(frozen=True, slots=True)
class GroupWritten:
    """A PodGroup's status as written at close; ``message`` is that of the condition written now, or ""."""

    action: str
    group: str
    phase: str
    running: int
    succeeded: int
    failed: int
    message: str


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """An Event that the scheduler records about an object, such as ``PodGroup ns/name``."""

    action: str
    type: str
    reason: str
    object: str
    message: str


Step = (
    LeftOutStep
    | InvalidJob
    | ProportionRound
    | QueueShares
    | JobShares
    | HeapPop
    | QueueDropped
    | JobDropped
    | NodesConsidered
    | Placement
    | PlacementFailed
    | Dispatch
    | VictimsChosen
    | Eviction
    | StatementEnd
    | Forgotten
    | GroupWritten
    | SessionEvent
)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """All steps of a session in order; ``omitted`` are those beyond the bound."""

    number: int
    time: float
    actions: tuple[str, ...]
    steps: tuple[Step, ...]
    omitted: int
    bound: Mapping[str, str]
    evicted: tuple[str, ...]

    def of(self, *, action: str = "", job: str = "", task: str = "") -> tuple[Step, ...]:
        """Return the steps of an action, about a job, or about a task; "" for any."""
        return tuple(
            step
            for step in self.steps
            if action in ("", step.action)
            and job in ("", getattr(step, "job", job))
            and task in ("", getattr(step, "task", task))
        )
