"""A whole scheduler with the plugin, played in virtual time once for every pace (sections 4, 5, 8 and 8a).

Everything that happens outside of a scheduling cycle (a binding, a rejection, a controller's sync, an event
that reaches the queue) happens after a delay drawn from the run's dice, so several runs show what depends on
luck: :func:`outcome` says of a pod only what every run said.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from tests.conformance.gang_oracle.controller import asleep, classic, current
from tests.conformance.gang_oracle.nodes import Cluster
from tests.conformance.gang_oracle.points import enough
from tests.conformance.gang_oracle.reader import Manifest, Record, key, least, node_name, priority, quantity

MINUTES_15 = 900.0
SETTLED = 130.0


@dataclass(slots=True, eq=False)
class Waiter:
    """A pod on its way: what the queue and the plugin remember of it."""

    pod: Manifest
    queued: float = 0.0
    stamp: float = 0.0
    attempts: int = 0
    why: set[str] = field(default_factory=set)  # the plugins that failed it last; none: any event moves it
    ticket: int = 0  # changes whenever a wait at Permit ends


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of a cycle, most seconds until a thing beside it is done, and when such things get their turn.

    ``inside`` a cycle, between its snapshot and its end; else between two; with ``idle`` only when no pod is
    to be tried.
    """

    step: float
    slow: float
    inside: bool = False
    idle: bool = False


PACES = (
    Pace(0.001, 0.0005), Pace(0.0004, 0.004), Pace(0.0005, 0.0005, idle=True),
    Pace(0.0005, 0.003, inside=True),
)  # fmt: skip


def natural(record: Record) -> tuple[Pace, ...]:
    """Return the recorded scheduler's paces: it let nothing in between where it had one node to check."""
    if len(record.nodes) == 1:
        return (Pace(0.0003, 0.0004, idle=True),)
    return Pace(0.0005, 0.0004), Pace(0.0003, 0.0004, inside=True)


class Run:
    """One run: :meth:`play` returns the keys of the bound pods."""

    def __init__(self, record: Record, seed: int, pace: Pace) -> None:
        self.record, self.dice = record, random.Random(seed)
        self.now, self.serial = 0.0, 0
        self.pace = pace
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.cluster = Cluster(record)
        self.waiters = {key(p): Waiter(p, queued=i * 1e-6) for i, p in enumerate(self.queued_pods())}
        self.active, self.backoff, self.parked = set(self.waiters), set[str](), set[str]()
        self.waiting: dict[str, str] = {}  # at Permit: the pod and its node
        self.bound = {key(p) for p in self.cluster.placed}
        self.assigned: dict[str, set[str]] = {}
        for p in self.cluster.placed:
            self.assigned.setdefault(record.group_key(p), set()).add(key(p))
        self.denied: dict[str, float] = {}
        self.permitted: dict[str, float] = {}
        self.failed: dict[str, float] = {}
        self.cycle, self.moved = 0, -1
        self.missing: set[str] = set()  # pods that the API has no more; the scheduler hears of it later
        self.ending: set[str] = set()  # pods whose wait has ended; their binding cycle hears of it later
        self.status = {name: dict(g.get("status") or {}) for name, g in record.groups.items()}
        self.syncing: set[str] = set()
        self.running = set(self.bound)
        self.counted = dict.fromkeys(self.status, 0)  # PostBind's own, which the stored object lags behind

    def queued_pods(self) -> list[Manifest]:
        gated = (
            [] if self.record.classic else [p for p in self.record.pods if p["spec"].get("schedulingGates")]
        )
        return [p for p in self.record.pods if not p["spec"].get("nodeName") and p not in gated]

    # Time

    def later(self, delay: float, what: Callable[[], None]) -> None:
        self.serial += 1
        heapq.heappush(self.events, (self.now + delay, self.serial, what))

    def soon(self, what: Callable[[], None]) -> None:
        self.later(self.dice.uniform(0.00005, self.pace.slow), what)

    def until(self, moment: float) -> None:
        while self.events and self.events[0][0] <= moment:
            at, _, what = heapq.heappop(self.events)
            self.now = max(self.now, at)
            what()
        self.now = max(self.now, moment)

    def spend(self) -> None:
        """Let a cycle's time pass, and with it what else happens meanwhile, if anything can."""
        if self.pace.idle:
            self.now += self.pace.step
        else:
            self.until(self.now + self.pace.step)

    def play(self, horizon: float) -> set[str]:
        offset = self.dice.random()
        self.later(offset, self.flush_backoff)
        self.later(offset + 30, self.flush_parked)
        for name in self.status:
            self.heard_of_group(name)
        if self.dice.random() < 0.5:  # the controller is done before the scheduler starts, or is not
            self.until(0.05)
        while self.now < horizon:
            if self.active:
                self.attempt()
                if not self.pace.inside:
                    self.spend()
            elif self.events:
                self.until(min(self.events[0][0], horizon))
            else:
                break
        return self.bound

    # Queue

    def place(self, name: str) -> tuple[int, float, str]:
        waiter = self.waiters[name]
        group = self.record.group_key(waiter.pod)
        at = waiter.queued + 1e6
        if group in self.failed:
            at = self.failed[group] + 1e6
        elif group in self.record.groups:
            made = self.record.groups[group]["metadata"].get("creationTimestamp") or ""
            at = sorted(
                {g["metadata"].get("creationTimestamp") or "" for g in self.record.groups.values()}
            ).index(made)
        return -priority(waiter.pod), at, name

    def backs_off_until(self, name: str) -> float:
        waiter = self.waiters[name]
        return waiter.stamp + min(10.0, 2.0 ** (waiter.attempts - 1))

    def flush_backoff(self) -> None:
        done = {name for name in self.backoff if self.backs_off_until(name) <= self.now}
        self.backoff -= done
        self.active |= done
        self.later(1, self.flush_backoff)

    def flush_parked(self) -> None:
        age = 60 if self.record.classic else 300
        self.move(name for name in self.parked if self.now - self.waiters[name].stamp > age)
        self.later(30, self.flush_parked)

    def move(self, names: Iterable[str]) -> None:
        for name in list(names):
            self.parked.discard(name)
            (self.backoff if self.backs_off_until(name) > self.now else self.active).add(name)
        self.moved = self.cycle

    def event(self, plugins: set[str]) -> None:
        self.move(n for n in self.parked if not self.waiters[n].why or self.waiters[n].why & plugins)

    def noticed(self) -> None:
        """A bound pod appears: it moves nobody, but whoever fails in the same cycle only backs off."""
        self.moved = self.cycle

    def park(self, name: str, why: set[str] | None = None) -> None:
        if name not in self.waiters:
            return
        self.cluster.queued_again(name)
        waiter = self.waiters[name]
        waiter.stamp = self.now
        if why is not None:
            waiter.why = why
        (self.backoff if self.moved >= self.cycle else self.parked).add(name)

    def activate(self, group: str) -> None:
        for name in [*self.parked, *self.backoff]:
            if self.record.group_key(self.waiters[name].pod) == group:
                self.parked.discard(name)
                self.backoff.discard(name)
                self.active.add(name)

    # A cycle

    def attempt(self) -> None:
        name = min(self.active, key=self.place)
        self.active.remove(name)
        waiter = self.waiters[name]
        waiter.attempts += 1
        self.cycle += 1
        pod, group = waiter.pod, self.record.group_key(waiter.pod)
        snapshot = list(self.cluster.placed)
        why = self.pre_filter(pod, snapshot)
        if self.pace.inside:
            self.spend()  # while nodes are checked: after the snapshot, before the pod goes anywhere
        if why:
            self.fail(
                name,
                {"Coscheduling"},
                snapshot,
                dict.fromkeys(self.record.nodes, True) if self.record.classic else {},
            )
            return
        fits, reasons, helpful = self.cluster.filter(pod, snapshot)
        if not fits:
            self.fail(name, reasons, snapshot, helpful)
            return
        _, nominated = self.cluster.noted.get(name, (pod, ""))
        if nominated in fits:  # tried before all others
            fits = [nominated]
        node = self.cluster.best(pod, fits, snapshot, self.dice)
        self.cluster.place(pod, node)
        self.permit(name, group, node, snapshot)

    def pre_filter(self, pod: Manifest, snapshot: list[Manifest]) -> bool:
        """Say whether PreFilter fails the pod."""
        group = self.record.group_key(pod)
        spec = self.record.groups.get(group)
        if spec is None:
            return False
        if self.denied.get(group, 0) > self.now:
            return True
        m, members = least(spec), [p for p in self.record.members(group) if not self.cluster.gone(p)]
        free = [p for p in members if self.record.classic or not p["spec"].get("schedulingGates")]
        if len(free) < m:
            return True
        wanted = spec["spec"].get("minResources")
        if wanted is None or self.permitted.get(group, 0) > self.now:
            return False
        need = {resource: quantity(amount) for resource, amount in wanted.items()} | {"pods": quantity(m)}
        if not enough(self.cluster.as_record(snapshot), need, group):
            if self.record.classic:
                self.deny(group)
            return True
        self.permitted[group] = self.now + (self.record.args["permitWaitingTimeSeconds"] or 3)
        return False

    def deny(self, group: str) -> None:
        if self.denied.get(group, 0) <= self.now:
            self.denied[group] = self.now + (self.record.args["deniedPGExpirationTimeSeconds"] or 3)

    def held(self, group: str, snapshot: list[Manifest]) -> int:
        if self.record.classic:
            return sum(1 for p in snapshot if self.record.group_key(p) == group)
        return len(self.assigned.get(group, ()))

    def fail(self, name: str, why: set[str], snapshot: list[Manifest], helpful: dict[str, bool]) -> None:
        """Run PostFilter: default preemption, then the plugin's; the pod goes back to the queue."""
        pod = self.waiters[name].pod
        group = self.record.group_key(pod)
        victims = self.cluster.preempt(pod, snapshot, [n for n, may in helpful.items() if may])
        if victims is not None:
            node, gone = victims
            if self.evict(gone):
                self.cluster.nominate(pod, node)
        elif group in self.record.groups:
            m, assigned = least(self.record.groups[group]), self.held(group, snapshot)
            percent = 10 if self.record.classic else self.record.args["podGroupRejectPercentage"]
            if assigned < m and 100 * (m - assigned) > percent * m:
                for other in self.waiting_of(group):
                    self.reject(other)
                members = [p for p in self.record.members(group) if not self.cluster.gone(p)]
                if self.record.classic:
                    self.deny(group)
                else:
                    pause = self.record.args["podGroupBackoffSeconds"]
                    if pause and len(members) >= m and self.denied.get(group, 0) <= self.now:
                        self.denied[group] = self.now + pause
                    self.failed[group] = self.now
                self.permitted.pop(group, None)
        self.park(name, why)

    def evict(self, victims: list[str]) -> bool:
        """Take pods away one after another; say whether none of them was missing."""
        for victim in victims:
            if victim in self.waiting:
                self.reject(victim)
            elif victim in self.missing:
                if self.record.classic:
                    return False
            elif victim not in self.ending:
                self.missing.add(victim)
                self.soon(partial(self.delete, victim))
        return True

    def waiting_of(self, group: str) -> list[str]:
        return [n for n in self.waiting if self.record.group_key(self.waiters[n].pod) == group]

    # Permit

    def permit(self, name: str, group: str, node: str, snapshot: list[Manifest]) -> None:
        if not group:
            self.bind(name)
            return
        spec = self.record.groups.get(group)
        if spec is None:
            self.cluster.take_off(name)
            self.park(name)
            return
        if self.record.classic:
            count = self.held(group, snapshot) + 1
            first = True
        else:
            self.assigned.setdefault(group, set()).add(name)
            count = len(self.assigned[group])
            first = count == 1
        if count >= least(spec):
            self.failed.pop(group, None)
            for other in self.waiting_of(group):
                del self.waiting[other]
                self.waiters[other].ticket += 1
                self.bind(other)
            self.bind(name)
            return
        limit = spec["spec"].get("scheduleTimeoutSeconds")
        if limit is None or limit == 0:
            limit = self.record.args["permitWaitingTimeSeconds"] or 60
        self.waiting[name] = node
        waiter = self.waiters[name]
        waiter.ticket += 1
        self.later(min(limit, MINUTES_15), partial(self.time_out, name, waiter.ticket))
        if first:
            self.activate(group)

    def time_out(self, name: str, ticket: int) -> None:
        if name in self.waiting and self.waiters[name].ticket == ticket:
            self.reject(name)

    def reject(self, name: str) -> None:
        """End a pod's wait; what follows from it happens beside the scheduling cycle."""
        if name in self.waiting:
            del self.waiting[name]
            self.ending.add(name)
            self.waiters[name].ticket += 1
            self.soon(partial(self.unreserve, name))

    def unreserve(self, name: str) -> None:
        self.ending.discard(name)
        group = self.record.group_key(self.waiters[name].pod)
        self.assigned.get(group, set()).discard(name)
        for other in self.waiting_of(group):
            self.reject(other)
        if self.record.classic:
            self.deny(group)
        else:
            self.failed[group] = self.now
        self.permitted.pop(group, None)
        self.cluster.take_off(name)
        if not self.record.classic:
            self.event({"NodeResourcesFit"})
        self.park(name, None if self.record.classic else {"Coscheduling"})

    # Binding, deletion, and what controllers make of them

    def bind(self, name: str) -> None:
        self.soon(partial(self.is_bound, name))

    def is_bound(self, name: str) -> None:
        if name in self.missing:  # evicted before the API had its binding
            return
        self.bound.add(name)
        waiter = self.waiters.pop(name)
        self.soon(self.noticed)
        group = self.record.group_key(waiter.pod)
        if group in self.status:
            self.soon(partial(self.post_bind, group))
        self.soon(partial(self.runs, name, group))

    def runs(self, name: str, group: str) -> None:
        self.running.add(name)
        self.soon(self.noticed)
        if group in self.status:
            self.heard_of_group(group)

    def post_bind(self, group: str) -> None:
        if not self.record.classic:
            return
        self.counted[group] += 1
        now = "Scheduled" if self.counted[group] >= least(self.record.groups[group]) else "Scheduling"
        if now != self.status[group].get("phase"):
            self.status[group].update(phase=now, scheduled=self.counted[group])
            self.group_changed(group)

    def group_changed(self, group: str) -> None:
        self.soon(partial(self.event, {"Coscheduling"}))
        self.heard_of_group(group)

    def heard_of_group(self, group: str) -> None:
        if group not in self.syncing:
            self.syncing.add(group)
            self.soon(partial(self.sync, group))

    def sync(self, group: str) -> None:
        self.syncing.discard(group)
        status, before = self.status[group], dict(self.status[group])
        if asleep(self.record, self.record.groups[group], status):
            return
        members = []
        for p in self.record.all_pods:
            if self.record.label(p) == group.split("/")[1] and not self.cluster.gone(p):
                now = "Running" if key(p) in self.running else (p.get("status") or {}).get("phase")
                members.append({**p, "status": {"phase": now}})
        (classic if self.record.classic else current)(status, members, least(self.record.groups[group]))
        if status != before:
            self.group_changed(group)

    def delete(self, name: str) -> None:
        self.cluster.delete(name)
        self.bound.discard(name)
        self.running.discard(name)
        self.waiters.pop(name, None)
        for held in self.assigned.values():
            held.discard(name)
        self.event({"NodeResourcesFit"})


def outcome(record: Manifest, runs: int = 6, paces: Sequence[Pace] = ()) -> Manifest:
    """Return what all runs agree on, in the format of a scenario's ``expect``.

    Without ``paces`` they keep the pace of the recorded scheduler, and only luck differs.
    """
    read = Record(record)
    horizon = read.input.get("horizonSeconds")
    until = SETTLED if horizon is None else horizon
    ends = [Run(read, seed, pace).play(until) for pace in paces or natural(read) for seed in range(runs)]
    groups = {key(p): read.group_key(p) for p in read.all_pods}
    pending = {key(p) for p in read.all_pods if not node_name(p)}
    counts = [Counter(groups[p] for p in end & pending if groups[p]) for end in ends]
    reported = dict.fromkeys(g for g in groups.values() if g)
    return {
        "bound": [p for p in groups if p in pending and all(p in end for end in ends)],
        "notBound": [p for p in groups if not any(p in end for end in ends)],
        "perGroup": {g: counts[0][g] if len({c[g] for c in counts}) == 1 else "*" for g in reported},
    }
