"""Follow the facts of a contract's subjects, write by write, and judge its condition whenever time passes.

What a moment brings together is one state: it is judged when time passes, so that what lasts no time is not
seen. A write costs what it changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from scheduler_core.authoring.verb_targets import DOMAINS
from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    is_deleting,
    is_finished,
    is_ready,
    key_in,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    node_of,
    phase_of,
    ready_status,
    spec_of,
    status_of,
    taints_of,
    term_matches,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.requests import amounts, spec_requests
from scheduler_core.studies.contracts.conditions import FactName
from scheduler_core.studies.contracts.queue_facts import MILLI, QueueFacts
from scheduler_core.studies.contracts.subjects import Subject

NO_VICTIM = float(-(2**31))
EVICTORS = frozenset({"api", "tainteviction"})
"""The clients whose deletions are evictions."""
OF_NODES = frozenset({"skew", "free"})
"""The facts that are read of nodes, too."""
OF_WORKLOADS = frozenset({"desired"})
"""The facts that are read of workloads."""
WAITING = frozenset({"pending.seconds", "owed.seconds"})
"""The facts that change while nothing happens."""
OF_QUEUES = frozenset(
    {"AdmissionCheck", "ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Topology"}
)
"""The kinds whose writes may change what any queue has."""


class _PodState(NamedTuple):
    """What counts of a pod."""

    node: str
    ready: bool
    pending_since: float | None


@dataclass(slots=True)
class SubjectFacts:
    """The facts of one subject's pods, and its pods."""

    subject: Subject
    pods: dict[str, _PodState] = field(default_factory=dict)
    on: Counter[str] = field(default_factory=Counter)
    ready: int = 0
    pending: int = 0
    bound: int = 0
    evicted: int = 0
    highest_victim: float = NO_VICTIM
    moved: set[str] = field(default_factory=set)
    sample: Manifest | None = None
    """A pod of it, whose affinity says which domains it may be in."""

    def copied(self) -> SubjectFacts:
        """Return a copy, which continues independently."""
        own = (self.pods.copy(), self.on.copy(), self.ready, self.pending, self.bound)
        return SubjectFacts(self.subject, *own, sample=self.sample)

    def put(self, key: str, state: _PodState | None) -> None:
        """Replace what counts of a pod."""
        for one, by in ((self.pods.pop(key, None), -1), (state, 1)):
            if one is not None:
                self.ready += by * one.ready
                self.pending += by * (one.pending_since is not None)
                self.bound += by * bool(one.node)
                self.on[one.node] += by
        if state is not None:
            self.pods[key] = state

    @property
    def waits_since(self) -> float | None:
        """Since when the pod waits that has waited longest."""
        return min(
            (one.pending_since for one in self.pods.values() if one.pending_since is not None), default=None
        )


AnyFacts = SubjectFacts | QueueFacts
"""The facts of one subject, of pods or of a queue."""


class Settled(Exception):  # noqa: N818 -- it ends a run that has shown what was asked
    """What follows in a run does not matter any more."""


class Judge(Protocol):
    """What is called with the facts of each state, and when it was."""

    def __call__(self, facts: FactReader, subject: Subject, index: int) -> None:
        """Judge a state; ``index`` is the number of the last cycle that brought it about."""


class FactReader(NamedTuple):
    """The facts of a subject in a state that lasts ``since`` one second until ``now``."""

    watch: FactWatch
    of: AnyFacts
    now: float
    since: float

    def __call__(self, fact: FactName) -> float:
        """Return a fact."""
        if fact.name == "free":
            return _free(self.watch.server, fact.argument)
        if isinstance(self.of, QueueFacts):
            return self.of.value(fact.name, fact.argument, self.now)
        return _READ[fact.name](self, self.of, fact.argument)


@dataclass
class FactWatch:
    """An observer of the API server. Times are virtual seconds.

    ``home`` has the node of each pod where the cluster was calm; ``cycles`` counts those of the run. What is
    over by ``begin`` is not judged.
    """

    server: ApiServer
    subjects: tuple[Subject, ...]
    judge: Judge
    home: Mapping[str, str]
    cycles: Callable[[], int]
    begin: float
    until: float
    facts: frozenset[str]
    """The names of the facts that are judged."""
    queues: Control | None = None
    """Kueue's state, ``None`` without Kueue."""
    start: Sequence[AnyFacts] | None = None
    """What was counted at this moment before, ``None`` to count it."""

    def __post_init__(self) -> None:
        self.now = self.server.loop.now
        self.index = self.cycles()
        self._owners: dict[Key, Key] = {}
        self._by_workload = {key: number for number, one in enumerate(self.subjects) for key in one.workloads}
        self._by_queue = {one.queue: number for number, one in enumerate(self.subjects) if one.queue}
        self.of = self._started() if self.start is None else self.copied(self.start)
        self.changed = dict.fromkeys(range(len(self.of)))
        self._of_nodes = not OF_NODES.isdisjoint(self.facts)
        self._of_workloads = not OF_WORKLOADS.isdisjoint(self.facts)
        self._asks_pending = self._of_nodes or not WAITING.isdisjoint(self.facts)
        if self.start is None:
            self._leave_home()

    def copied(self, of: Iterable[AnyFacts] | None = None) -> list[AnyFacts]:
        """Return copies of facts, by default of its own."""
        return [
            one.copied() if isinstance(one, SubjectFacts) else one.copied(self._control)
            for one in (self.of if of is None else of)
        ]

    @property
    def _control(self) -> Control:
        assert self.queues is not None, "a ClusterQueue is found in Kueue alone"
        return self.queues

    def _started(self) -> list[AnyFacts]:
        """Count the pods and Workloads that there are."""
        self.of = [
            QueueFacts(one, self._control) if one.queue else SubjectFacts(one) for one in self.subjects
        ]
        for number in self._by_queue.values():
            self._look(number, self.now)
        for pod in self.server.of_kind("Pod"):
            self._put(pod)
        return self.of

    def _look(self, number: int, since: float) -> None:
        """Take what a queue has been ``since`` a moment."""
        one = self.of[number]
        if isinstance(one, QueueFacts):
            one.look(since)

    def _pods_of(self, number: int) -> SubjectFacts:
        one = self.of[number]
        assert isinstance(one, SubjectFacts), "a queue has no pods"
        return one

    def observe(self, write: StoredWrite) -> None:
        """Take a write."""
        now = self.server.loop.now
        if now > self.now:
            self.pass_to(now)
        if write.kind == "Pod":
            self._pod(write)
        elif write.kind == "Node" and self._of_nodes:
            self.changed = dict.fromkeys(range(len(self.of)))
        elif write.kind == "Workload":
            self.changed |= dict.fromkeys(self._queues_of(write))
        elif write.kind in OF_QUEUES:
            self.changed |= dict.fromkeys(self._by_queue.values())
        elif self._of_workloads:
            number = self._by_workload.get((write.kind, write.key))
            if number is not None:
                self.changed[number] = None

    def pass_to(self, now: float) -> None:
        """Judge the state that ends now, if it differs from the one before or pods wait. Raises Settled."""
        end, since, self.now = min(now, self.until), self.now, now
        if now < self.begin:
            return
        changed, self.changed = self.changed, {}
        for number in changed:
            self._look(number, since)
        for number in self._asked(changed):
            one = self.of[number]
            self.judge(FactReader(self, one, end, since), one.subject, self.index)
        if now > self.until:
            raise Settled

    def _asked(self, changed: Collection[int]) -> Iterable[int]:
        """Return the subjects that may be another than at the last moment, in their order."""
        if self._asks_pending:
            return [number for number, one in enumerate(self.of) if number in changed or one.pending]
        return sorted(changed)

    def _queues_of(self, write: StoredWrite) -> Iterator[int]:
        """Yield the queue that a Workload waits in or is admitted by."""
        local = self._control.cache.local_queues if self._by_queue else {}
        for one in (write.old, write.new) if self._by_queue else ():
            name = f"{namespace_of(one) or 'default'}/{spec_of(one).get('queueName')}" if one else ""
            found = self._by_queue.get(local[name].cluster_queue) if name in local else None
            if found is not None:
                yield found

    def _pod(self, write: StoredWrite) -> None:
        pod = write.new or write.old
        assert pod is not None
        key = write.key
        numbers = self._numbers(pod)
        if not numbers:
            return
        old, new = write.old, write.new
        leaves = self.now >= self.begin and old is not None and not _gone(old) and (new is None or _gone(new))
        for number in numbers:
            one = self._pods_of(number)
            one.put(key, None if write.new is None else self._state(one, key, write.new))
            if leaves:
                self._count(one, key, pod, write.by)
            self.changed[number] = None
        self.index = self.cycles() + (write.by == "scheduler")

    def _count(self, one: SubjectFacts, key: str, pod: Manifest, by: str) -> None:
        one.evicted += by in EVICTORS
        if by == "scheduler":
            one.highest_victim = max(one.highest_victim, float(spec_of(pod).get("priority") or 0))
        if key in self.home:
            one.moved.add(key)

    def _put(self, pod: Manifest) -> None:
        key = key_of(pod)
        for number in self._numbers(pod):
            one = self._pods_of(number)
            one.sample = one.sample or pod
            one.put(key, self._state(one, key, pod))

    def _leave_home(self) -> None:
        """Count the pods that are elsewhere from the start, as after another release has placed them."""
        for key, node in self.home.items():
            pod = self.server.get("Pod", key)
            if pod is not None and node_of(pod) != node:
                for number in self._numbers(pod):
                    self._pods_of(number).moved.add(key)

    def _state(self, one: SubjectFacts, key: str, pod: Manifest) -> _PodState | None:
        if _gone(pod):
            return None
        node = node_of(pod)
        known = one.pods.get(key)
        since = known.pending_since if known is not None else None
        if one.sample is None:
            one.sample = pod
        pending = None if node else self.server.loop.now if since is None else since
        return _PodState(node, phase_of(pod) == "Running" and is_ready(pod), pending)

    def _numbers(self, pod: Manifest) -> list[int]:
        top = self._top(pod)
        if len(self._by_workload) == len(self.subjects):
            found = self._by_workload.get(top)
            return [] if found is None else [found]
        return [number for number, one in enumerate(self.of) if one.subject.has(pod, top)]

    def _top(self, obj: Manifest) -> Key:
        """Return the workload at the top of an object's owners, or the object itself."""
        owner, namespace = controller_of(obj), namespace_of(obj)
        if owner is None or owner["kind"] == "Node":
            return obj["kind"], key_of(obj)
        key = owner["kind"], key_in(owner["kind"], namespace, owner["name"])
        if key not in self._owners:
            found = self.server.get(*key)
            if found is None:
                return key
            self._owners[key] = self._top(found)
        return self._owners[key]


def _gone(pod: Manifest) -> bool:
    return is_deleting(pod) or is_finished(pod)


# --- what is counted when it is asked for


def _skew(reader: FactReader, of: SubjectFacts, argument: str) -> float:
    """Count bound pods by domain, of nodes that the pods' node selector and affinity admit."""
    label = DOMAINS.get(argument, argument)
    counts: dict[str, int] = {}
    for node in reader.watch.server.of_kind("Node"):
        domain = labels_of(node).get(label)
        if domain is not None and admits(of.sample, node):
            counts[domain] = counts.get(domain, 0) + of.on[name_of(node)]
    return float(max(counts.values()) - min(counts.values())) if counts else 0.0


def admits(pod: Manifest | None, node: Manifest) -> bool:
    """Return whether node selector and required node affinity admit a node (nodeAffinityPolicy Honor)."""
    if pod is None:
        return True
    spec, labels = spec_of(pod), labels_of(node)
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or any(
        term_matches(term, node) for term in required.get("nodeSelectorTerms") or ()
    )


def _free(server: ApiServer, resource: str) -> float:
    """Add up what is left on the nodes that take pods."""
    nodes = {name_of(node): status_of(node) for node in server.of_kind("Node") if takes_pods(node)}
    left = sum(amounts(status.get("allocatable")).get(resource, 0) for status in nodes.values())
    for pod in server.of_kind("Pod"):
        if node_of(pod) in nodes and not is_finished(pod):
            left -= 1 if resource == "pods" else spec_requests(spec_of(pod)).get(resource, 0)
    return left / MILLI if resource == "cpu" else float(left)


def takes_pods(node: Manifest) -> bool:
    """Return whether a node is ready, schedulable, and without a taint that keeps pods away."""
    closed = any(one.get("effect") in ("NoSchedule", "NoExecute") for one in taints_of(node))
    return not (spec_of(node).get("unschedulable") or closed or ready_status(node) != "True")


def _desired(reader: FactReader, of: SubjectFacts, _: str) -> float:
    """Add up what the subject's workloads want; pods without one want themselves."""
    found = [reader.watch.server.get(*key) for key in of.subject.workloads]
    if not found:
        return float(of.pending + of.bound)
    return float(sum(_wanted(one) for one in found if one is not None))


def _wanted(workload: Manifest) -> int:
    if workload["kind"] == "DaemonSet":
        return int(status_of(workload).get("desiredNumberScheduled") or 0)
    return int(spec_of(workload).get("parallelism" if workload["kind"] == "Job" else "replicas") or 0)


def _pending_seconds(reader: FactReader, of: SubjectFacts, _: str) -> float:
    since = of.waits_since
    return 0.0 if since is None else max(0.0, reader.now - since)


_READ: Mapping[str, Callable[[FactReader, SubjectFacts, str], float]] = {
    "ready": lambda _, of, __: float(of.ready),
    "desired": _desired,
    "pending": lambda _, of, __: float(of.pending),
    "pending.seconds": _pending_seconds,
    "bound": lambda _, of, __: float(of.bound),
    "evicted": lambda _, of, __: float(of.evicted),
    "moved": lambda _, of, __: float(len(of.moved)),
    "skew": _skew,
    "victims.priority": lambda _, of, __: of.highest_victim,
}
