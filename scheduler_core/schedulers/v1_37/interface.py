"""The interfaces between the parts of the v1.37 scheduler.

``attempt.py`` schedules one pod and knows nothing of queues; ``queue.py`` and the run loop decide which pod
is next and know nothing of plugins but their event registrations. Both use the types of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.failures import NO_FAILURES, Failures
from scheduler_core.schedulers.v1_37.node_list import NodeList
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration, KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.score_arrays import ScoredNodes
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import Status


class PluginError(Exception):
    """A plugin answered Error: the attempt ends with the text."""


class ClusterEvent(Struct, frozen=True):
    """A cluster event as the queue sees it (framework.ClusterEvent), with the objects for the hints.

    ``resource`` is the record's prefix (``Node``, ``AssignedPod``, ``storage.k8s.io/CSINode``…), ``action``
    its rest (``Add``, ``Delete``, ``UpdateNodeLabel``…); ``Update`` where nothing more specific changed.
    """

    resource: str
    action: str
    old: Manifest | None
    new: Manifest | None
    shown: str = ""
    """What the release calls the resource, if it is another name."""

    @property
    def name(self) -> str:
        """The record's event name."""
        return (self.shown or self.resource) + self.action


HintAnswer = Literal["Queue", "QueueSkip"]


class HintContext(Struct, frozen=True):
    """What a queueing hint may look at besides the pod and the event."""

    cluster: ClusterState
    profile: KubeSchedulerProfile
    configuration: CompiledConfiguration

    def arguments(self, plugin: str) -> Mapping[str, Any]:
        """Return a plugin's arguments in the pod's profile."""
        return self.profile.arguments.get(plugin) or {}


Hint = Callable[[CompiledPod, ClusterEvent, HintContext], HintAnswer]
"""``hint(pod, event, context)``; an exception is the record's ``Error``, which queues the pod."""


class ClusterEventWithHint(Struct, frozen=True):
    """One row of a plugin's EventsToRegister: a resource, actions, and the queueing hint.

    With a ``gate`` it is registered while that feature gate is on.
    """

    resource: str
    actions: frozenset[str]  # "Add", "Delete", "Update" (general: every Update…), "UpdateNodeLabel"…
    hint: Hint | None = None  # None: always Queue
    gate: str = ""


class PodAttempt(Struct):
    """One attempt to place one pod: what the record shows, and what the driver needs to go on."""

    pod: CompiledPod
    profile: KubeSchedulerProfile
    context: Any
    """The plugins' context (``plugins.base.Context``) with what each prepared."""
    total_nodes: int = 0
    """Number of nodes that the walk is over; 0 nodes fail without PostFilter."""
    rejection: Status | None = None
    """PreFilter's refusal, or that there are no nodes."""
    pre_filter: dict[str, dict[str, Any]] = field(default_factory=dict)
    hint: str | None = None
    walked: list[NodeList] = field(default_factory=list)
    """The nodes that Filter was run on, in order, a pass each."""
    failed: Failures = NO_FAILURES
    """Statuses of the nodes that Filter was run on."""
    absent: Failures = NO_FAILURES
    """Statuses of the nodes outside of PreFilter's subset; not in the record's ``failed``."""
    passed: list[NodeList] = field(default_factory=list)
    """The feasible ones among them, a pass each."""
    by_plugins: Failures = NO_FAILURES
    """Those of the failed that plugins failed, if extenders were asked too."""
    calls: Any = None
    """The calls of extenders (``extenders.calling.ExtenderCalls``); None without extenders."""
    asked: list[tuple[str, tuple[str, ...], dict[str, str]]] = field(default_factory=list)
    """By extender that filtered: its label, the nodes it was asked about, messages of those it failed."""
    failed_strangers: dict[str, Status] = field(default_factory=dict)
    """Statuses that extenders gave to nodes that do not exist."""
    rebuilt: bool = False
    """Whether the feasible nodes came back from an extender as objects, without pods and images."""
    pre_score: dict[str, str] = field(default_factory=dict)
    scored: ScoredNodes | None = None
    """Scores and totals, if at least two nodes were feasible."""
    ranked: bool = False
    """Whether the node was chosen by scores, from several."""
    reused: bool = False
    """Whether it was made from what pods of its class share: then no plugin left anything here."""
    node: str | None = None
    points: dict[str, Status] = field(default_factory=dict)
    post_filter: dict[str, Status] = field(default_factory=dict)
    preemption: dict[str, Any] | None = None
    candidates: list[Any] = field(default_factory=list)
    """The ``preemption.Candidate`` of each node on which preemption would help."""
    nominated: str | None = None
    result: str = ""
    message: str | None = None
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    queue: str | None = None
    """Where the pod went afterwards; set by the queue."""

    error: str | None = None
    """Text of an attempt that ended by error (no plugin is named)."""
    changes: list[ObjectWrite] = field(default_factory=list)
    """Writes of this attempt before binding (a claim deallocated by PostFilter)."""
    victims: list[CompiledPod] = field(default_factory=list)
    """Victims to delete after the cycle, in order; terminating ones are not among them."""
    lost_nominations: list[CompiledPod] = field(default_factory=list)
    """Lower-priority pods nominated to the chosen node, which lose the nomination."""

    def document(self) -> dict[str, Any]:
        """Return the record's form of the attempt."""
        scored = self.scored
        out: dict[str, Any] = {
            "pod": self.pod.key,
            "preFilter": self.pre_filter,
            "hint": self.hint,
            "evaluated": [name for nodes in self.walked for name in nodes],
            "failed": {node: status.document() for node, status in self.failed.items()},
            "feasible": [name for nodes in self.passed for name in nodes],
            "preScore": self.pre_score,
            "scores": scored.document() if scored else {},
            "totals": scored.table(scored.totals) if scored else {},
            "ties": scored.ties() if scored else [],
            "node": self.node,
            "points": {point: status.document() for point, status in self.points.items()},
            "postFilter": {plugin: status.document() for plugin, status in self.post_filter.items()},
            "preemption": self.preemption,
            "nominated": self.nominated,
            "result": self.result,
            "message": self.message,
            "unschedulablePlugins": sorted(self.unschedulable_plugins),
            "pendingPlugins": sorted(self.pending_plugins),
            "queue": self.queue,
        }
        if scored is not None and scored.drawn:
            out["atRandom"] = scored.drawn
        if scored is not None and self.rebuilt:
            out["scoredEmpty"] = True
        return out


class Nominator(Protocol):
    """The queue's nominator, as Filter and preemption ask it. ``nominations.py`` has the plain one."""

    def on(self, node: str) -> Sequence[CompiledPod]:
        """Return the waiting pods nominated to the node, in order of nomination."""
        ...

    def nodes(self) -> Mapping[str, str]:
        """Return the node of every nominated pod, by pod."""
        ...

    def node_of(self, pod: CompiledPod) -> str:
        """Return the node that the pod is nominated to, or an empty string."""
        ...


class Hinting(Protocol):
    """Opportunistic batching within one cycle."""

    def hint(self, pod: CompiledPod) -> str | None:
        """Return the node to try first; None if there is no batch to use."""
        ...

    def store(self, attempt: PodAttempt) -> None:
        """Keep what a successful attempt scored."""
        ...


class SchedulingSteps(Protocol):
    """The parts that cycles of single pods and of groups are made of (``attempt.Scheduler``).

    A single pod: ``schedule``, then ``reserve`` (assumes) and ``bind``, or ``post_filter`` and ``fail``.
    """

    cluster: ClusterState
    nominations: Nominator
    start: int

    def schedule(
        self, pod: CompiledPod, *, rows: Sequence[int] | None = None, hint: str | None = None
    ) -> PodAttempt:
        """PreFilter, Filter, Score and selection (schedulePod). Changes nothing but the start index.

        ``rows``: the nodes of a placement, in order. ``hint``: a batching hint, tried like a nominated node.
        After it ``attempt.node`` is the choice; else ``attempt.error`` or the failed statuses are set.
        """
        ...

    def schedule_untraced(
        self, pod: CompiledPod, *, hint: str | None = None, given: str | None = None
    ) -> PodAttempt:
        """Choose as :meth:`schedule` does, without what a record shows; ``given``: the node, if known."""
        ...

    def reserve(self, attempt: PodAttempt) -> None:
        """Assume the pod on ``attempt.node``: columns, volumes and claims (in memory only)."""
        ...

    def unreserve(self, attempt: PodAttempt) -> None:
        """Take back what :meth:`reserve` did."""
        ...

    def bind(self, attempt: PodAttempt) -> list[ObjectWrite]:
        """Write volumes, claims and the pod's node; return the writes in order. The pod must be reserved."""
        ...

    def post_filter(self, attempt: PodAttempt) -> None:
        """Run PostFilter of a failed attempt; fill ``post_filter``, ``preemption``, ``nominated``."""
        ...

    def fail(self, attempt: PodAttempt) -> None:
        """Set result, message and plugins of an attempt without a node."""
        ...

    def pre_enqueue(self, pod: CompiledPod) -> str | None:
        """Return the plugin that gates the pod, or None (SchedulingGates, DynamicResources)."""
        ...
