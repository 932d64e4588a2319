"""The record of a session, step by step.

Made by :class:`~scheduler_core.schedulers.kube_batch.recorder.Recorder`.

Amounts are by resource name: cpu in millicores, memory in bytes, scalars in thousandths. Pods are
``namespace/name``. Every step carries the action during which it happened, "" while the session opens and
``close`` while it closes.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from scheduler_core.record.plugin_record import AttemptRecord

Amounts = Mapping[str, float]


def _kind(name: str) -> str:
    """Return what JSON calls a step: the class, in lower camel case."""
    return name[0].lower() + name[1:]


class _Step(Struct, frozen=True, rename="camel", tag_field="step", tag=_kind):
    """``action`` is the action during which it happened."""

    action: str


class LeftOutStep(_Step, frozen=True):
    """An object of the snapshot that the session ignores: a Job, a Node or a Pod."""

    kind: str
    name: str
    why: str


class InvalidJob(_Step, frozen=True):
    """A job that plugins find invalid: the original asks too early, so that it takes part nevertheless."""

    job: str
    why: str


class FilledQueue(Struct, frozen=True, rename="camel"):
    """A queue after a round of proportion; a satisfied one takes no part in the next."""

    queue: str
    weight: int
    deserved: Amounts
    satisfied: bool


class ProportionRound(_Step, frozen=True):
    """One round in which proportion divides what remains by weight; numbers start at 1."""

    number: int
    weights: int
    before: Amounts
    queues: tuple[FilledQueue, ...]
    after: Amounts


class QueueShares(_Step, frozen=True):
    """What a queue deserves, has and asks for, when the session opens and after each change."""

    queue: str
    deserved: Amounts
    allocated: Amounts
    request: Amounts
    share: float


class JobShares(_Step, frozen=True):
    """What a job has by drf, and its dominant share."""

    job: str
    allocated: Amounts
    share: float
    dominant: str


class HeapPop(_Step, frozen=True):
    """A heap's array as it was, and what was popped. ``what`` is queue, job, task; ``owner`` is whose heap
    it is: a queue's jobs, a job's tasks (or the victims for it). ``size`` is that of the array, of which the
    beginning is kept.
    """

    what: str
    owner: str
    size: int
    before: tuple[str, ...]
    popped: str


class QueueDropped(_Step, frozen=True):
    """A queue's entry that is not served, and why."""

    queue: str
    why: str


class JobDropped(_Step, frozen=True):
    """A job that this action serves no more, the task at which, and why."""

    job: str
    task: str
    why: str


class NodesConsidered(_Step, frozen=True):
    """The nodes for a task: those that predicates refused, those short of resources, and the candidates with
    their scores, the highest first, and the weighted parts in the same order.

    ``counts`` are the numbers of each, of which many are not described. ``chosen`` is "" if none was, or if
    the action decides by victims.
    """

    job: str
    task: str
    counts: tuple[int, int, int]
    refused: Mapping[str, str]
    short: tuple[str, ...]
    candidates: tuple[tuple[str, float], ...]
    parts: Mapping[str, tuple[float, ...]]
    chosen: str


class Placement(_Step, frozen=True):
    """A task that was Allocated on, or Pipelined onto, a node."""

    job: str
    task: str
    node: str
    status: str


class PlacementFailed(_Step, frozen=True):
    """A task that a node refused although the action had chosen it."""

    job: str
    task: str
    why: str


class Dispatch(_Step, frozen=True):
    """A bind request that was sent for a task of a job that is ready."""

    job: str
    task: str
    node: str


class TierAnswer(Struct, frozen=True, rename="camel"):
    """The victims that one plugin accepts."""

    tier: int
    plugin: str
    victims: tuple[str, ...]


class VictimsChosen(_Step, frozen=True):
    """Who may be evicted on a node for a task: the candidates, each plugin's answer, and the result.

    ``decided`` is the tier that decided, from 1; 0 if no tier found any. ``what`` is preemptable or
    reclaimable.
    """

    what: str
    job: str
    task: str
    candidates: tuple[str, ...]
    answers: tuple[TierAnswer, ...]
    decided: int
    victims: tuple[str, ...]


class Eviction(_Step, frozen=True):
    """A task that releases its resources in the session; a statement may still undo that."""

    job: str
    task: str
    node: str
    why: str


class StatementEnd(_Step, frozen=True):
    """A statement that was committed or discarded, with its operations as (evict or pipeline, task)."""

    job: str
    how: str
    operations: tuple[tuple[str, str], ...]


class Forgotten(_Step, frozen=True):
    """A task that is Allocated or Pipelined when the session closes: nothing is sent for it."""

    job: str
    task: str
    node: str
    status: str


class GroupWritten(_Step, frozen=True):
    """A PodGroup's status as written at close; ``message`` is that of the condition written now, or ""."""

    group: str
    phase: str
    running: int
    succeeded: int
    failed: int
    message: str


class SessionEvent(_Step, frozen=True):
    """An Event that the scheduler records about an object, such as ``PodGroup ns/name``."""

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


class SessionRecord(AttemptRecord, frozen=True):
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
