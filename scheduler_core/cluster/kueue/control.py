"""Kueue's controllers and scheduler over one set of objects: what writes cause, and what a cycle does.

Reactions take no time. Who runs it writes objects with ``put`` and ``remove``, lets ``settle`` carry out what
follows, calls ``cycle`` while there are heads, and ``tick`` when ``next_time`` has come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import floor
from typing import Any

from msgspec.structs import replace

from scheduler_core.cluster.kueue.cache import Cache
from scheduler_core.cluster.kueue.configuration import KueueConfiguration
from scheduler_core.cluster.kueue.counters import NONE, Counters, counters_of
from scheduler_core.cluster.kueue.cycle import AdmissionCycle
from scheduler_core.cluster.kueue.entry import Entry, PodSetRequest
from scheduler_core.cluster.kueue.issue import (
    Issued,
    KueueEvent,
    about,
    admitted,
    evicted_for_nodes,
    issue_preemption,
    pending,
    replaced,
)
from scheduler_core.cluster.kueue.likeness import likeness_of
from scheduler_core.cluster.kueue.node_failures import NodeFailures
from scheduler_core.cluster.kueue.nomination import ASSUMED, CycleRecord, Nomination
from scheduler_core.cluster.kueue.nomination import EVICTED as EVICTED_FOR_NODES
from scheduler_core.cluster.kueue.objects import Amounts
from scheduler_core.cluster.kueue.queues import FAILED_AFTER_NOMINATION, STRICT, PendingQueue
from scheduler_core.cluster.kueue.requests import pod_requests
from scheduler_core.cluster.kueue.status import returned
from scheduler_core.cluster.kueue.workload import EVICTED, FINISHED, REQUEUED, Workload
from scheduler_core.cluster.kueue.workload_controller import deadline_of, is_stopping, reconciled
from scheduler_core.cluster.v1_37.objects import selects

BATCH_SECONDS = 1
"""How long events are gathered before Workloads move back, and writes before counters are compared."""

StopTime = Callable[[Workload], "float | None"]
"""Says when the job of an evicted Workload has stopped, ``None`` while that is not known."""


_COPIED = ("workloads", "written", "_requests", "_stirred", "_gathered", "_comparisons", "_counters", "_work")


class Control:
    """The state of Kueue's controllers and scheduler. Times are seconds since 1970.

    ``moment`` is the time, ``now`` its whole seconds: objects have no finer ones, so that Workloads of one
    second are ordered by uid.
    """

    def __init__(self, configuration: KueueConfiguration, now: float, stop_time: StopTime) -> None:
        self.configuration, self.moment, self._stop_time = configuration, now, stop_time
        self.cache = Cache()
        self.queues: dict[str, PendingQueue] = {}
        self.workloads: dict[str, Workload] = {}
        self.events: list[KueueEvent] = []
        self.written: dict[str, None] = {}  # the keys of Workloads written since somebody last took them
        self.writes = 0
        self._by_local_queue: dict[str, dict[str, None]] = {}
        self._requests: dict[str, tuple[Amounts, ...]] = {}
        self._alike: dict[str, set[str]] = {}
        self._stirred: dict[tuple[bool, str], float] = {}
        self._gathered: dict[str, float] = {}
        self._comparisons: dict[str, float] = {}
        self._counters: dict[str, Counters] = {}
        self._deadlines: dict[str, float] = {}
        self._work: dict[str, None] = {}
        self.failures = NodeFailures()

    def copy(self, stop_time: StopTime) -> Control:
        """Return the same state, to be run on apart; ``stop_time`` is of its jobs."""
        other = Control(self.configuration, self.moment, stop_time)
        other.cache = self.cache.copy()
        other.queues = {name: queue.copy() for name, queue in self.queues.items()}
        other._by_local_queue = {key: dict(one) for key, one in self._by_local_queue.items()}
        other._alike = {name: set(one) for name, one in self._alike.items()}
        for name in _COPIED:
            setattr(other, name, dict(getattr(self, name)))
        other.failures, other.writes = self.failures.copy(), self.writes
        for workload in other.workloads.values():
            other._set_deadline(workload)
        return other

    @property
    def now(self) -> float:
        """The time that is written."""
        return float(floor(self.moment))

    # --- Workloads

    def write(self, new: Workload, events: Iterable[KueueEvent] = ()) -> None:
        """Write a Workload, and let queues and quota follow."""
        self.events.extend(events)
        old = self.workloads.get(new.key)
        if new == old:
            return
        self.writes += 1
        self.workloads[new.key] = new
        self.written[new.key] = None
        if old is None or old.pod_sets != new.pod_sets:
            self._requests.pop(new.key, None)
        if old is None or old.queue_key != new.queue_key:
            if old is not None:
                self._leave(old)
            self._by_local_queue.setdefault(new.queue_key, {})[new.key] = None
        self._follow(old, new)
        self._work[new.key] = None
        self._set_deadline(new)

    def _leave(self, old: Workload) -> None:
        self._by_local_queue.get(old.queue_key, {}).pop(old.key, None)
        self._dequeue(old)

    def forget(self, key: str) -> None:
        """Delete a Workload."""
        old = self.workloads.pop(key, None)
        if old is None:
            return
        self.writes += 1
        self.written[key] = None
        self._stir_for(old)
        self._count_later(old)
        self.cache.release(key)
        self._leave(old)
        self._requests.pop(key, None)
        self._deadlines.pop(key, None)

    def _follow(self, old: Workload | None, new: Workload) -> None:
        """Move a Workload between queue and quota (the Workload controller's event handlers)."""
        if new.has(FINISHED) or not new.active:
            self._dequeue(new)
            self.cache.release(new.key)
            self._stir_for(new)
        elif new.is_reserving:
            self._dequeue(new)
            self.cache.reserve(new)
            if old is not None and (old.reclaimable != new.reclaimable or old.rank != new.rank):
                self._stir_for(new)
        else:
            if new.key in self.cache.holders:
                self.cache.release(new.key)
                self._stir_for(new)
            elif old is not None and old.rank != new.rank:
                self._stir_for(new)
            self._enqueue(new, old)
        self._count_later(new)

    def _set_deadline(self, workload: Workload) -> None:
        times = [deadline_of(workload), self._stop_time(workload) if is_stopping(workload) else None]
        known = [time for time in times if time is not None]
        if known:
            self._deadlines[workload.key] = min(known)
        else:
            self._deadlines.pop(workload.key, None)

    def queue_of(self, workload: Workload) -> str:
        """Return the ClusterQueue in which a Workload may wait, "" for none."""
        local = self.cache.local_queues.get(workload.queue_key)
        if local is None or local.stop_policy != "None":
            return ""
        return local.cluster_queue if local.cluster_queue in self.queues else ""

    def _enqueue(self, workload: Workload, old: Workload | None = None) -> None:
        """Put a Workload into its queue, or replace it there (ClusterQueue.PushOrUpdate)."""
        name = self.queue_of(workload)
        if not name or not workload.is_admissible:
            return
        queue, entry = self.queues[name], self._entry(workload, name)
        if (
            (workload.key in queue.inadmissible and old is not None and _is_alike(old, workload))
            or (workload.key not in queue.active and self._is_backing_off(workload))
            or self._is_refused_alike(name, entry)
        ):
            queue.park(entry)
        else:
            queue.push(entry)

    def _dequeue(self, workload: Workload) -> None:
        local = self.cache.local_queues.get(workload.queue_key)
        queue = self.queues.get(local.cluster_queue) if local else None
        if queue is not None:
            queue.drop(workload.key)

    def _entry(self, workload: Workload, queue: str) -> Entry:
        each = self._requests.get(workload.key)
        if each is None:
            around, rules = self.cache.surroundings, self.configuration.resources
            each = self._requests[workload.key] = tuple(
                pod_requests(workload.namespace, one.pod_spec, around, rules) for one in workload.pod_sets
            )
        requests = tuple(
            PodSetRequest(one, workload.count_of(one), amounts)
            for one, amounts in zip(workload.pod_sets, each)
        )
        return Entry(workload, queue, requests)

    def _is_backing_off(self, workload: Workload) -> bool:
        is_later = workload.requeue_at is not None and workload.requeue_at > self.now
        return is_later or workload.lacks(REQUEUED)

    def refill(self, keys: Iterable[str]) -> None:
        """Put Workloads into their queues as if they had just come."""
        for key in keys:
            workload = self.workloads[key]
            if workload.is_admissible:
                self._requests.pop(key, None)
                self._enqueue(workload)

    def of_local_queue(self, key: str) -> list[str]:
        """Return the keys of a LocalQueue's Workloads."""
        return list(self._by_local_queue.get(key, ()))

    def of_cluster_queue(self, name: str) -> list[str]:
        """Return the keys of a ClusterQueue's Workloads."""
        locals_ = [one.key for one in self.cache.local_queues.values() if one.cluster_queue == name]
        return [key for one in locals_ for key in self.of_local_queue(one)]

    def reconcile(self, keys: Iterable[str]) -> None:
        """Let the Workload controller look at Workloads."""
        self._work.update(dict.fromkeys(sorted(keys)))

    # --- alike Workloads

    def _hashes(self, queue: str) -> bool:
        gate = self.configuration.gates["SchedulingEquivalenceHashing"]
        return gate and self.cache.queues[queue].strategy != STRICT

    def _is_refused_alike(self, queue: str, entry: Entry) -> bool:
        alike = self._alike.get(queue)
        return bool(alike) and self._hashes(queue) and likeness_of(entry) in (alike or ())

    def _park_alike(self, name: str, entry: Entry) -> None:
        """Let the Workloads wait that are like one that has just become inadmissible."""
        queue = self.queues[name]
        if entry.key not in queue.inadmissible or not self._hashes(name):
            return
        likeness = likeness_of(entry)
        self._alike.setdefault(name, set()).add(likeness)
        for other in list(queue.active.values()):
            if likeness_of(other) == likeness:
                queue.park(other)

    # --- events that move inadmissible Workloads back

    def stir(self, name: str, *, is_queue: bool = True) -> None:
        """Let the inadmissible Workloads of a queue's or cohort's tree move back soon."""
        self._stirred.setdefault((is_queue, name), self.moment)

    def stir_later(self, flavor: str) -> None:
        """Stir the queues of a flavor once the nodes that changed have been gathered."""
        self._gathered.setdefault(flavor, self.moment)

    def _stir_gathered(self) -> None:
        due = {name for name, since in self._gathered.items() if since + BATCH_SECONDS <= self.moment}
        self._gathered = {name: since for name, since in self._gathered.items() if name not in due}
        for queue in self.cache.queues.values() if due else ():
            if any(flavor.name in due for group in queue.groups for flavor in group.flavors):
                self.stir(queue.name)

    def _stir_for(self, workload: Workload) -> None:
        name = self.cache.queue_of(workload)
        if name:
            self.stir(name)

    def _move(self) -> None:
        tree = self.cache.tree
        roots: dict[str, Any] = {}
        for (is_queue, name), since in self._stirred.items():
            node = (tree.queues if is_queue else tree.cohorts).get(name)
            if node is not None and since + BATCH_SECONDS <= self.moment:
                roots[f"{node.root.is_queue} {node.root.name}"] = node.root
        names = {name for root in roots.values() for name in self.cache.below(root)}
        kept = {}
        for (is_queue, name), since in self._stirred.items():
            node = (tree.queues if is_queue else tree.cohorts).get(name)
            if node is not None and f"{node.root.is_queue} {node.root.name}" not in roots:
                kept[is_queue, name] = since
        self._stirred = kept
        for name in sorted(names):
            self._move_queue(name)

    def _move_queue(self, name: str) -> None:
        queue, selector = self.queues[name], self.cache.queues[name].namespace_selector
        self._alike.pop(name, None)
        for entry in queue.waiting():
            workload = entry.workload
            labels = self.cache.labels_of_namespace(workload.namespace)
            if selects(selector, labels) and not self._is_backing_off(workload):
                queue.push(entry)

    # --- counters of queues

    def _count_later(self, workload: Workload) -> None:
        held = self.cache.holders.get(workload.key, "")
        for name in {self.cache.queue_of(workload), held}:
            if name:
                self._comparisons.setdefault(name, self.moment)

    def _compare(self) -> None:
        due = [name for name, since in self._comparisons.items() if since + BATCH_SECONDS <= self.moment]
        for name in sorted(due):
            del self._comparisons[name]
            if name in self.cache.queues:
                self._compare_one(name)

    def _compare_one(self, name: str) -> None:
        pending_count = len(self.queues[name])
        found = counters_of(self.cache, name, pending_count, is_fair=self.configuration.is_fair)
        if found == self._counters.get(name, NONE):
            return
        self._counters[name] = found
        if self.cache.has_hierarchy(name):
            self.stir(name)
            self.cache.outdate(name)
        elif self.cache.has_node_labels(name):
            self.cache.outdate(name)

    # --- time

    def next_time(self) -> float | None:
        """Return when something is due without a write."""
        batches = [*self._stirred.values(), *self._gathered.values(), *self._comparisons.values()]
        times = [since + BATCH_SECONDS for since in batches]
        later = (at for at in self.failures.times() if at > self.moment)
        return min([*times, *self._deadlines.values(), *later], default=None)

    def tick(self, now: float) -> None:
        """Let time pass, and do what is due: deadlines, then moves, then comparisons."""
        self.moment = now
        self.failures.fail(self)
        due = [key for key, time in self._deadlines.items() if time <= now]
        self.reconcile(due)
        self.settle()
        self._move()
        self._stir_gathered()
        self._compare()
        self.settle()

    @property
    def is_settled(self) -> bool:
        """Whether every write has been reacted to, and taken by somebody."""
        return not self._work and not self.written

    def settle(self) -> None:
        """React to what was written until nothing is left to do."""
        while self._work:
            key = next(iter(self._work))
            del self._work[key]
            workload = self.workloads.get(key)
            if workload is not None:
                self.write(self._reconciled(workload))

    def _reconciled(self, workload: Workload) -> Workload:
        if is_stopping(workload):
            stopped = self._stop_time(workload)
            if stopped is not None and stopped <= self.now:
                return returned(workload, self.now)
        return reconciled(workload, self.cache, self.now, lambda *row: self.tell(about(workload), *row))

    def tell(self, subject: str, kind: str, reason: str, message: str) -> None:
        """Record an event about an object."""
        self.events.append(KueueEvent(subject, kind, reason, message))

    # --- cycles

    @property
    def digest(self) -> tuple[int, int]:
        """What differs if a Workload was written, or a queue is not as it was."""
        total = 0
        for name, queue in self.queues.items():
            if queue.digest:
                total ^= hash((name, queue.digest))
        return self.writes, total ^ hash(tuple(self.failures.due(self)))

    def has_heads(self) -> bool:
        """Return whether some active queue has a Workload to try, or one waits for its second pass."""
        if self.failures.due(self):
            return True
        return any(queue.active and self.cache.is_active(name) for name, queue in self.queues.items())

    def cycle(self) -> CycleRecord:
        """Run a scheduling cycle, and carry out what it decides."""
        heads = self._pop_heads()
        record = replace(
            AdmissionCycle(self.cache, self.configuration, self.now).run(heads), time=self.moment
        )
        for one in record.entries:
            self._carry_out(one)
        for nomination in record.entries:
            if nomination.status != ASSUMED:
                self._return_nominated(nomination)
        for failed in record.inadmissible:
            self._return(failed.entry, failed.message, failed.reason)
        return record

    def _pop_heads(self) -> list[Entry]:
        queues = sorted(self.queues)
        popped = (self.queues[name].pop() for name in queues if self.cache.is_active(name))
        again = [self._entry(one, self.cache.holders[one.key]) for one in self.failures.take(self)]
        return [*again, *(one for one in popped if one is not None)]

    def _carry_out(self, one: Nomination) -> None:
        workload = self.workloads[one.entry.key]
        if one.status == EVICTED_FOR_NODES:
            self.write_issued(evicted_for_nodes(workload, one.message, self.now))
        elif one.is_second_pass:
            self._place_again(one, workload)
        elif one.status == ASSUMED:
            self.write_issued(admitted(one, workload, self.cache, self.now))
        elif one.is_preempting:
            for target in one.targets:
                preemptee = self.workloads[target.reserving.key]
                self.write_issued(issue_preemption(one, target, preemptee, self.cache, self.now))

    def _place_again(self, one: Nomination, workload: Workload) -> None:
        if one.status == ASSUMED:
            self.failures.tries.pop(workload.key, None)
            self.write(replaced(one, workload))
            return
        self.failures.again(workload.key, self.moment)
        self.tell(about(workload), "Warning", "SecondPassFailed", one.message)

    def write_issued(self, issued: Issued) -> None:
        """Write a Workload with its events."""
        self.write(issued.workload, issued.events)

    def _return_nominated(self, one: Nomination) -> None:
        reason = one.reason or (FAILED_AFTER_NOMINATION if one.status == "skipped" else "")
        tried = None if one.forgets else one.assignment.tried
        queue = self.cache.queues[one.entry.cluster_queue]
        counts_pods = queue.group_of("pods") is not None
        self._return(replace(one.entry, tried=tried), one.message, reason, counts_pods=counts_pods)

    def _return(self, entry: Entry, message: str, reason: str, *, counts_pods: bool = False) -> None:
        workload = self.workloads.get(entry.key)
        if workload is None or not workload.is_admissible:
            return
        name = self.queue_of(workload)
        if name:
            self.queues[name].requeue(entry, self.cache.queues[name].strategy, reason)
            self._park_alike(name, entry)
        self.write_issued(pending(entry, workload, message, self.now, counts_pods=counts_pods))


def _is_alike(old: Workload, new: Workload) -> bool:
    """Return whether nothing changed that could make an inadmissible Workload admissible."""
    same_spec = (old.pod_sets, old.priority, old.queue, old.active, old.max_execution_seconds) == (
        new.pod_sets,
        new.priority,
        new.queue,
        new.active,
        new.max_execution_seconds,
    )
    conditions: list[Mapping[str, Any]] = [old.conditions, new.conditions]
    kept = all(conditions[0].get(kind) == conditions[1].get(kind) for kind in (EVICTED, REQUEUED))
    return same_spec and kept and old.reclaimable == new.reclaimable
