"""Step through a scenario as kube-scheduler v1.37 would: its queue with hints and backoff, one cycle a step.

Two clusters are kept alike: that of :mod:`scheduler_core.schedulers.v1_37`, which decides, and the typed one
that every view reads. Time is v1.37's clock; it passes with writes, with cycles, and to the times of
operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

from msgspec.structs import replace

from scheduler_core.forks import Copier, dropped
from scheduler_core.interrupts import look
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.kubernetes.replicas import Replica, with_replicas_of_any
from scheduler_core.record.cycle import Cycle, Decision
from scheduler_core.record.plugin_record import PluginRecord
from scheduler_core.run.stretches import MOST
from scheduler_core.run.v1_37.claims import RunClaims
from scheduler_core.run.v1_37.cycle_record import record_of
from scheduler_core.run.v1_37.cycles import (
    Places,
    bare_cycle,
    decision_of,
    fill,
    places_of,
)
from scheduler_core.run.v1_37.loop import DEFAULT, V1_37Stepper
from scheduler_core.run.v1_37.manifests import ScenarioManifests
from scheduler_core.run.v1_37.queues import EntryCache, queue_state
from scheduler_core.run.v1_37.stretches import BindingStretch, Head, bind_few, is_plain
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.columns import placements
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.columns.podinfo import PodResources
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reads import class_fields
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.extenders.answer_sources import Asking
from scheduler_core.schedulers.extenders.approval import transport
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.clock import CYCLE, SECOND, whole_second
from scheduler_core.schedulers.v1_37.configuration import usable_v1_37_configuration
from scheduler_core.schedulers.v1_37.entities import Entity
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.repeats import calm_cycles
from scheduler_core.schedulers.v1_37.run import MAX_TRIES, Ran, SchedulerRun
from scheduler_core.schedulers.v1_37.state import ClusterState

MOST_TRIES = 10
"""Cycles of one pod or group after an operation, however often events activate it."""

UNSETTLED_KEPT = 20


class V1_37Simulation(V1_37Stepper):
    """Step through what kube-scheduler v1.37 would do with a scenario.

    Operations land in order: one with a time at that time, one with a step when no pod can be tried, one with
    ``major.minor`` after that many cycles. A pod that events bring back again and again is left waiting after
    :data:`scheduler_core.schedulers.v1_37.run.MAX_TRIES` cycles, if no other is active; ``unsettled`` names
    it. ``until`` of the SimulationSettings ends the run: no later cycle begins, and no later operation lands.
    ``trace=False`` omits from each Cycle what only views need. ``asking`` is that of a run of the same
    scenario, whose extenders are not asked again.

    Raises:
        PolicyError: The scenario's configuration cannot be used.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {"_stretch": dropped}

    def __init__(self, scenario: Scenario, *, trace: bool = True, asking: Asking | None = None) -> None:
        super().__init__(scenario, trace=trace)
        self._members = {}
        self.cluster = Cluster(class_fields(()))
        self.queue = Nominations()
        self._deleted: list[str] = []
        self.unsettled: list[str] = []
        self._manifests = ScenarioManifests(scenario)
        until = scenario.settings.until
        self._until = None if until is None else round(until * SECOND)
        self.asking = asking or _asking(scenario)
        self._run = self._run_with(scenario.configuration)
        self._tried: Counter[str] = Counter()
        self._changes = 0  # operations, placements and deletions so far
        self._failed_at: dict[str, int] = {}  # by entity: ``_changes`` when it was tried last
        self._moved: dict[str, str] = {}
        self._single = 0  # cycles that are replayed one by one
        self._stretch: BindingStretch | None = None  # of the last cycles, once some were repeated
        self._entry_cache = EntryCache()
        self._places: tuple[tuple[str, ...], Places] | None = None  # of nodes of these names
        self.claims = RunClaims(self.run)
        objects = list(with_replicas_of_any(scenario.objects))
        for manifest, alike in self._manifests.batches(self.run.cluster, objects):
            self.claims.store_first(manifest)
            self.claims.store_replicas(alike)
        self._count_first(objects)
        self.cluster.refresh()
        if not trace:
            self.cluster.uncount()
        self._moves: list[Mapping[str, Any]] = []
        self._note_moves()

    @property
    def run(self) -> SchedulerRun:
        """The scheduler with its queue, and its cluster of manifests."""
        return self._run

    def responsible(self, pod: Pod) -> bool:
        """Return whether v1.37 has a profile for the pod."""
        return (pod.scheduler_name or DEFAULT) in self.run.configuration.profiles

    @property
    def time(self) -> float:
        """Virtual seconds since the start."""
        return self.run.clock.now / SECOND

    @property
    def single_cycles(self) -> int:
        """The number of cycles that are replayed one by one, of those that were not traced."""
        return self._single

    @property
    def deleted(self) -> list[str]:
        """The keys of deleted pods, in order of deletion."""
        return self._deleted

    @contextmanager
    def _replaying(self) -> Iterator[None]:
        traced, self._trace = self._trace, False
        try:
            yield
        finally:
            self._trace = traced

    def _repeat(self, decision: Decision) -> bool:
        """Repeat a cycle; a chosen node is not searched for again.

        Nodes are filtered again, because where the next walk begins depends on it, and failures are decided
        again, because the queue depends on their reasons.
        """
        entity, ran, _ = self._attempt(decision.node)
        if ran is None:
            return False
        made = decision_of(ran)
        self._require_same(made, decision)
        self._follow(entity, ran, made)
        return True

    def _repeat_stretch(self, decisions: Sequence[Decision], first: int) -> int:
        if not is_plain(decisions[first]) or not self._advance() or self._landing:
            return 0
        run, stretch = self.run, self._going_on
        limits = [MOST, len(run.queue.active), self._agenda.cycles_left(self.minor), calm_cycles(run)]
        if self._until is not None:
            limits.append((self._until - run.clock.now) // CYCLE)
        most = min(most for most in limits if most is not None)
        last = min(first + most, len(decisions))
        may_try = partial(_may_try, self._tried, self._members)  # the run refers to itself nowhere
        if stretch is None and most < placements.FEW:
            self._stretch = None
            found = bind_few(run, self.cluster, decisions[first:last], may_try)
        else:
            if stretch is None:
                stretch = BindingStretch(run, self.cluster, may_try, follows=self._is_followed)
            self._stretch = stretch
            found = stretch.repeat(decisions, first, last)
        if found:
            self._changes += found
            self._moves = []
            self._committed(decisions[first : first + found])
        return found

    @property
    def _is_followed(self) -> bool:
        """Whether the next cycle's record has nothing of the time since the last one."""
        return not (self._moves or self._applied or self._restarted)

    @property
    def _going_on(self) -> BindingStretch | None:
        """The stretch of the last cycles, ``None`` if they were not plain or something has happened since."""
        stretch = self._stretch
        return stretch if stretch is not None and stretch.is_now and self._is_followed else None

    def rewind(self, index: int) -> bool:
        """Undo the cycles after ``index`` if all of them were plain; return whether they are undone."""
        undone, stretch = self.index - index, self._going_on
        if stretch is None or not 0 <= undone <= stretch.at - stretch.kept:
            return undone == 0
        if undone:
            stretch.back(undone)
            del self.decisions[index:]
            self.minor -= undone
            self._changes -= undone
        return True

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_stretch": None}

    def _unchanging(self) -> Iterator[object]:
        yield from super()._unchanging()
        yield self._manifests
        yield self.run.configuration
        for table in self.run.cluster.objects.values():
            yield from table.values()

    def recorded_answers(self) -> Document | None:
        """Return what extenders answered, ``None`` if none was called."""
        return self.asking.recording()

    def record(self, *, trace: bool) -> None:
        """Set whether cycles record, from the next one on, what views need or only the decisions."""
        self._trace = trace

    # What reports ask

    @property
    def undoable(self) -> int:
        """The number of cycles that are kept to be undone, or done once more."""
        return 0 if self._stretch is None else self._stretch.length

    @property
    def compiled_copies(self) -> int:
        """How many schedulers have an object compiled from each manifest: this one."""
        return 1

    def notes(self) -> Iterator[str]:
        """Yield the state of each PodGroup, and the pods that were left waiting."""
        yield from super().notes()
        yield from self.unsettled

    @property
    def unmade_claims(self) -> Mapping[str, str]:
        """Why ResourceClaims could not be made, by pod."""
        return self.claims.problems

    def spare_records(self) -> None:
        """Record no more than decisions, scores and feasible nodes: the rest is most of the time."""
        self.record(trace=False)

    def with_matrices(self, cycle: Cycle) -> Cycle | None:
        """Return a cycle with its matrices, from another run up to it."""
        again = V1_37Simulation(self.scenario, trace=False, asking=self.asking)
        again.replay(self.decisions[: cycle.index - 1])
        again.record(trace=True)
        return again.step()

    @property
    def stored(self) -> ClusterState:
        """The manifests that the API server has."""
        return self.run.cluster

    # One cycle

    def _cycle(self) -> Cycle | None:
        run = self.run
        head = run.queue.active.first() or run.queue.backoff.first()
        assert head is not None
        queue = queue_state(run, head, self._moved, self._entry_cache, whole=self._trace)
        start, time = run.scheduling.start, self.time
        stretch = self._going_on if self._trace else None  # a worker never goes back
        plain = None if stretch is None else stretch.head()
        entity, ran, asked = self._attempt()
        if ran is None:
            return None
        cycle = bare_cycle(decision_of(ran), self.cluster.columns.names)
        cycle.time, cycle.queue = time, queue
        self._complete(cycle)
        fill(cycle, ran, self._node_places(), whole=self._trace)
        if self._trace:
            cycle.plugins = (record_of(run, self._entry_cache, ran, cycle, start, self._moves), *asked)
        self._follow(entity, ran, cycle.decision, plain)
        return cycle

    def _attempt(self, given: str | None = None) -> tuple[Entity, Ran | None, tuple[PluginRecord, ...]]:
        """Run the cycle of the queue's head; return it with the records of extenders.

        ``given`` is the node that a recorded decision chose.
        """
        extension = self.run.scheduling.extension
        if extension is not None:
            extension.trace = self._trace
        entity = self.run.queue.pop()
        assert entity is not None
        ran = self.run.cycle(entity, trace=self._trace, given=given)
        if ran is None or entity.key not in ran.bound:  # else no other attempt follows
            self._tried[entity.key] += 1
            self._stretch = None
        asked = () if extension is None else (extension.drain(),)
        if ran is not None:
            self._moves += ran.moves
            self._note_moves(ran.moves)
        return entity, ran, asked

    def _follow(self, entity: Entity, ran: Ran, decision: Decision, plain: Head | None = None) -> None:
        """Let everything outside the scheduler follow a cycle; ``plain``: its head, if it was plain."""
        if entity.key not in ran.bound:
            self._failed_at[entity.key] = self._changes  # before its own victims, whose deletion makes room
        self._single += not self._is_plain(ran, decision)
        self._apply(decision)
        self._follow_members(ran)
        if plain is None or self._stretch is None or not is_plain(decision):
            self._stretch = None
        else:
            self._stretch.note(plain, decision)

    def _is_plain(self, ran: Ran, decision: Decision) -> bool:
        """Return whether a replay repeats an untraced cycle with others: no operation came before it."""
        tried = ran.attempts[0] if ran.attempts else None
        if tried is None or not tried.reused or ran.moves or self._applied or not is_plain(decision):
            return False
        alone = self.run.cluster.nodes.shared is not None and tried.pod.demand is not None
        return not alone and self.run.scheduling.reuse.looks_at_nodes_alone(tried.pod)

    def _node_places(self) -> Places:
        """Return where each row of v1.37's columns is among the nodes; kept until nodes come or go."""
        columns, nodes = self.cluster.columns, self.run.cluster.nodes
        known = self._places
        if known is None or known[0] is not columns.names or len(known[1]) != len(nodes):
            known = self._places = columns.names, places_of(nodes, columns.index)
        return known[1]

    def _follow_members(self, ran: Ran) -> None:
        """Keep what a cycle came to for the members of a group, and follow their nominations."""
        self._keep_members(ran, self.index)
        for attempt in ran.attempts:
            state = self.cluster.pods.get(attempt.pod.key)
            if state is not None and attempt.nominated is not None and not state.node_name:
                self.cluster.own(state).nominated = attempt.nominated

    def _note_moves(self, moves: Iterable[Mapping[str, Any]] = ()) -> None:
        """Keep the event that moved each pod last; moves between cycles are drained here."""
        drained = self.run.moves.drain()
        self._moves += drained
        for move in (*moves, *drained):
            if move["to"] is not None:
                self._moved[move["pod"]] = move["event"]

    def _differences(self) -> tuple[str, ...]:
        return ()  # its profile is not that which decides

    def _apply(self, decision: Decision) -> None:
        """Let the typed cluster follow a decision, then the operations that land with the cycle."""
        for key, node in decision.placements:
            state = self.cluster.pods.get(key)
            if state is not None:
                state = self.cluster.own(state)
                state.nominated = ""
                self.cluster.assume(state, node)
        for key in decision.cleared:
            if key in self.cluster.pods:
                self.cluster.own(self.cluster.pods[key]).nominated = ""
        pod = self.cluster.pods.get(decision.pod)
        if pod is not None and decision.nominated is not None:
            self.cluster.own(pod).nominated = decision.nominated
        for key in decision.victims:
            self.cluster.remove_pod(key)
            self._deleted.append(key)
        self._changes += len(decision.placements) + len(decision.victims)
        self._moves = []
        self._commit(decision)
        for key, _ in decision.placements:
            self.claims.placed(key)
        for key in decision.victims:
            self.claims.lose("Pod", key)
        self._note_moves()
        self._land()

    # Between cycles

    def _advance(self) -> bool:
        look()
        while self._agenda.more:
            waits = self._agenda.waits(self.minor)
            if waits and self._has_attempt:
                break
            due = round(self._agenda.first_time * SECOND)
            if self._is_over(max(due, self.run.clock.now)):
                break
            if due > self.run.clock.now:
                self.run.queue.pass_to(due)
                self._note_moves()
                if waits and self._has_attempt:
                    break
            self._tried.clear()
            self._land_next()
            self._note_moves()
        self.cluster.refresh()
        return not self._is_over(self.run.clock.now) and (self._has_attempt or self._waits_out())

    def _is_over(self, moment: int) -> bool:
        """Return whether the run has ended before a moment, by its setting ``until``."""
        return self._until is not None and moment > self._until

    @property
    def _has_attempt(self) -> bool:
        """Whether a pod can be tried that has not been tried too often since the last operation."""
        queue = self.run.queue
        active, backing_off = queue.active.first(), queue.backoff.first()
        head = active or backing_off
        if head is None:
            return False
        tries = self._tried[head.key]
        if tries < (MAX_TRIES if active is None else MOST_TRIES):
            return True
        text = f"{head.key} is left waiting after {tries} cycles without an operation"
        if text not in self.unsettled and len(self.unsettled) < UNSETTLED_KEPT:
            self.unsettled.append(text)
        return False

    def _waits_out(self) -> bool:
        """Let time pass for what only time brings back; return False if nothing can change for it.

        A PodGroup that was not placed, and a pod after an error, wait in a queue that no event empties. They
        are waited for after the last operation, if something has changed since they were tried.
        """
        queue = self.run.queue
        while changed := [
            entity.backoff_expires or 0
            for entity in queue.error_backoff
            if self._failed_at.get(entity.key) != self._changes and self._tried[entity.key] < MAX_TRIES
        ]:
            there = len(queue.error_backoff)
            over = whole_second(min(changed)) + SECOND  # it backs off in the second of its expiry, too
            if self._is_over(over):
                return False
            queue.pass_to(over)
            self._note_moves()
            if self._has_attempt:
                return True
            if len(queue.error_backoff) == there:
                break
        return False

    def _pass_to_operation(self, operation: Operation) -> None:
        self.run.queue.pass_to(round(operation.time * SECOND))
        self._changes += 1

    def _land_next(self) -> None:
        self._stretch = None
        super()._land_next()

    def _land(self) -> None:
        landed = bool(self._landing)
        super()._land()
        if landed:
            self._note_moves()

    def _write(self, operation: Operation) -> None:
        if operation.action == "delete":
            self._delete(operation.kind, operation.key)
        elif operation.manifest is not None:
            self._store(self._manifests.operated(operation, self.run.cluster))
        else:
            self._put(operation)

    def _put(self, operation: Operation) -> None:
        """Create or change an object in both clusters; a pod keeps its node."""
        obj = operation.object
        assert obj is not None
        cluster = self.run.cluster
        if operation.action == "update" and operation.kind == "Pod":
            gone = operation.key not in self.cluster.pods and operation.key not in self.cluster.finished
            if gone:
                return
        manifest = self._manifests.changed(operation, cluster)
        if manifest is None:
            return
        self._store(manifest)
        if isinstance(obj, Pod):
            previous = self.cluster.pods.get(operation.key)
            if previous is not None and not obj.node_name:
                obj = replace(obj, node_name=previous.node_name)
        self._count(obj)

    def _count(self, obj: KubernetesObject) -> None:
        """Put an object into the typed cluster, whose usage of nodes is that of v1.37's NodeInfo."""
        self.cluster.put(obj, self._counts(obj))

    def _count_first(self, objects: Iterable[tuple[KubernetesObject, Sequence[Replica]]]) -> None:
        """Put the objects of the start into the typed cluster, each with the replicas that follow it."""
        stored = self.run.cluster.pods
        originals: dict[int, tuple[PodState | None, PodResources | None, object]] = {}
        for obj, replicas in objects:
            counts = self._counts(obj)
            state = self.cluster.put(obj, counts)
            compiled = stored.get(obj.meta.key) if isinstance(obj, Pod) else None
            originals[id(obj)] = state, counts, None if compiled is None else compiled.spec
            for pod, original in replicas:
                state, counts, spec = originals[id(original)]
                compiled = stored.get(pod.meta.key)
                if compiled is not None and compiled.spec is spec:
                    self.cluster.put_replica(pod, state, counts)
                else:  # it has a manifest of its own, which may count for more
                    self._count(pod)

    def _counts(self, obj: KubernetesObject) -> PodResources | None:
        """Return what a pod counts for on its node, if that may be more than its containers request."""
        stored = self.run.cluster.pods.get(obj.meta.key) if isinstance(obj, Pod) else None
        if stored is None or not stored.counts_more:
            return None
        request, usage = (tuple(sorted(each.items())) for each in (stored.requests, stored.held))
        return PodResources(request, usage, stored.held_nonzero)

    def _store(self, manifest: Manifest | None) -> None:
        """Store a manifest in v1.37's cluster; nothing for ``None``."""
        if manifest is None:
            return
        cluster, meta = self.run.cluster, manifest["metadata"]
        stored = cluster.get(manifest["kind"], meta.get("namespace"), meta["name"])
        self.run.write(cluster.create(manifest) if stored is None else cluster.replace(manifest))
        self.claims.follow(manifest)

    def _delete(self, kind: str, key: str) -> None:
        """Delete an object in both clusters, and with a node its pods, as the garbage collector does."""
        if kind == "Node":
            for pod in [pod for pod in self.cluster.pods.values() if pod.node_name == key]:
                self._delete("Pod", pod.key)
        namespace, _, name = key.rpartition("/")
        stored = self.run.cluster.get(kind, namespace, name)
        if stored is not None:
            self.run.write(self.run.cluster.delete(kind, namespace, name))
        self.cluster.remove(kind, key)
        if stored is not None:
            self.claims.lose(kind, key)

    def _restart(self, operation: Operation) -> None:
        """Restart the scheduler: the queue is filled from the API server, as at the start."""
        previous, configuration = self.run, operation.configuration
        assert configuration is not None
        self._configuration = configuration
        self._run, self._places = self._run_with(configuration), None
        self.run.clock.pass_to(previous.clock.now)
        tables: list[dict[str, Manifest]] = list(previous.cluster.objects.values())
        for table in tables:
            for manifest in table.values():
                self.run.watch.see(self.run.cluster.create(manifest))
        self.run.bound, self.run.deleted = previous.bound, previous.deleted
        self.claims.run = self.run
        self._tried.clear()
        self._moved.clear()
        self._restarted.append(operation.id)

    def _run_with(self, configuration: Configuration) -> SchedulerRun:
        """Raises PolicyError for a configuration that cannot be used."""
        return SchedulerRun(self._compiled(configuration), self.asking, self._number)

    def _compiled(self, configuration: Configuration) -> CompiledConfiguration:
        return _compiled(configuration)

    def _number(self) -> int:
        """Return the number of the cycle that runs, from 1."""
        return self.index + 1


def _may_try(tried: Counter[str], members: Container[str], key: str) -> bool:
    """Return whether a pod of the active queue has attempts left, and is no member that a group tried."""
    return tried[key] < MOST_TRIES and key not in members


def _asking(scenario: Scenario) -> Asking:
    return Asking(scenario.answers, transport(), lambda: scenario.id)


def _compiled(configuration: Configuration) -> CompiledConfiguration:
    """Raises PolicyError for a configuration that cannot be used."""
    return usable_v1_37_configuration(
        configuration.policy, configuration.settings.feature_gates, configuration.release
    )
