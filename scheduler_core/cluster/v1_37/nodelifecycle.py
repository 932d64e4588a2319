"""Node lifecycle: nodes that fall silent, their taints, and zones in which evictions slow down.

Source: ``pkg/controller/nodelifecycle``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import floor
from typing import ClassVar

from msgspec import Struct

from scheduler_core.cluster.v1_37.controller import Controller
from scheduler_core.cluster.v1_37.defaults import NOT_READY, UNREACHABLE
from scheduler_core.cluster.v1_37.kubelet import Kubelets, with_ready
from scheduler_core.cluster.v1_37.loop import StatusError, Work
from scheduler_core.cluster.v1_37.node_rounds import Rest, Rounds, Visit
from scheduler_core.cluster.v1_37.node_taints import (
    CONDITION_TAINTS,
    has_no_execute,
    no_schedule_taints,
    old_labels,
    taint,
    unknown_conditions,
    without_taints,
)
from scheduler_core.cluster.v1_37.node_zones import (
    FULL,
    INITIAL,
    NORMAL,
    PARTIAL,
    counted_zone,
    zone_of,
    zone_state,
)
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_of,
    created_at,
    is_ready,
    key_of,
    labels_of,
    name_of,
    node_of,
    ready_status,
    stamp,
    status_of,
    taints_of,
    with_meta,
    with_spec,
    with_status,
)
from scheduler_core.cluster.v1_37.rates import NEVER, TaintQueue
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite
from scheduler_core.forks import Copier, Forkable, flat, nested

PERIOD, TAINT_PERIOD = 5.0, 0.1
_DRIFT = 1e-3
"""Passes take a little time: a grace period of whole passes has ended when the last one comes."""
_LOOK_SECONDS = 0.1
"""How far into a pass a look may come: upstream the period begins at a pass's end, so that a node looked at
late, after the writes of others, has waited for its whole grace period as well."""
_SHORT_GRACE = 20.0
"""A grace period, in seconds, in which a lease may not be renewed: then every pass looks at all nodes."""


class NodeOptions(Struct, frozen=True):
    """The flags of the node controller; defaults are those of Kubernetes."""

    grace_seconds: float = 50.0
    eviction_rate: float = 0.1
    secondary_eviction_rate: float = 0.01
    large_cluster: int = 50
    unhealthy_threshold: float = 0.55


class _Health(Struct):
    """What the controller saw of a node last: its heartbeat and its lease, and when.

    A new heartbeat drops the lease: unless that is newer too, the next look takes it for a new one.
    """

    heartbeat: str
    lease: float | None
    probed: float


class NodeLifecycle(Controller, Forkable):
    """The node controller: a queue of nodes whose NoSchedule taints may differ, and passes over all nodes."""

    name = "nodelifecycle"
    watched = ("Node", "Pod")
    FORKED: ClassVar[Mapping[str, Copier]] = {
        "_health": nested,
        "_known": flat,
        "_zones": flat,
        "_unsettled": flat,
    }

    def __init__(self, server: ApiServer, kubelets: Kubelets, options: NodeOptions) -> None:
        super().__init__(server)
        self.kubelets = kubelets
        self.options = options
        self._health: dict[str, _Health] = {}
        self._known: set[str] = set()
        self._zones: dict[str, str] = {}
        self._tainters: dict[str, TaintQueue] = {}
        self._tainting = False
        self._next_taint: tuple[float, int] | None = None
        """When the next pass over the queues of taints is, and its timer."""
        self._rounds = Rounds()
        self._awaited: bool | None = None
        """Whether a node awaits a pass, ``None`` if it is to be asked again."""
        self._unsettled: dict[str, None] = {}
        """Nodes whose taints do not follow from their condition Ready yet."""
        self._passed = self.loop.now
        """When the last pass began: nodes that are lost in one pass are lost at one time."""
        self._stale = False
        """Whether a node has changed its condition since the last pass, or zones may have changed theirs."""
        self._monitor_later()
        self.loop.passes_matter(self._is_busy)
        kubelets.watchers.append(self._wake)

    def observe(self, write: StoredWrite) -> None:
        """Queue a node that has changed; a pod that is bound to one that is not ready is marked so."""
        if write.kind == "Node":
            self._wake(write.key)
            self._note(write)
            if write.new is not None:
                self.queue.add(write.key)
        elif write.kind == "Pod" and write.new is not None:
            old, new = write.old, write.new
            if old is not None and old.get("spec") is new.get("spec"):
                return
            node = node_of(new)
            if node and (old is None or node_of(old) != node) and self._is_unready(node):
                self.loop.spawn(self._mark_new(key_of(new), node))

    def _note(self, write: StoredWrite) -> None:
        statuses = [None if one is None else ready_status(one) for one in (write.old, write.new)]
        disrupted = not {INITIAL, NORMAL}.issuperset(self._zones.values())
        changed = disrupted if None in statuses else statuses[0] != statuses[1]
        self._stale = self._stale or changed
        new = write.new
        if new is None or (statuses[1] == "True") != any(
            has_no_execute(new, one) for one in (UNREACHABLE, NOT_READY)
        ):
            self._unsettled.pop(write.key, None)
        else:
            self._unsettled[write.key] = None

    def _is_busy(self) -> bool:
        """Return whether a pass would do more than look: silent nodes, taints that are due, new states."""
        if self._awaited is None:
            self._awaited = any(map(self._awaits, (*self._unsettled, *self.kubelets.failed)))
        return self._stale or self._awaited

    def _awaits(self, name: str) -> bool:
        node = self.server.get("Node", name)
        if node is None:
            return False
        status = ready_status(node)
        if status != "Unknown" and name in self.kubelets.failed:
            return True
        if status == "True":
            return name in self._unsettled
        tainter = self._tainters.get(zone_of(node))
        return name in self._unsettled and (tainter is None or tainter.rate != NEVER)

    def _monitor_later(self) -> None:
        passes = max(1, floor((self.loop.now - self.loop.start + _DRIFT) / PERIOD) + 1)
        self.loop.pass_every(PERIOD, self.loop.start + passes * PERIOD, self._pass)

    def first_pass(self) -> None:
        """Look at the nodes of a cluster that runs."""
        self.loop.spawn(self._monitor())

    def _pass(self) -> None:
        if self._stale or self._rounds.has_work:
            self.loop.spawn(self._monitor())
        else:
            self._passed = self.loop.now
            self._rounds.pass_by(self.loop.now)
        self._monitor_later()

    # --- NoSchedule taints

    def sync(self, key: str) -> Work:
        """Give a node the NoSchedule taints of its conditions, and its labels their old names."""
        yield from self._taint_schedule(key)
        node = self.server.get("Node", key)
        if node is not None and (lacks := old_labels(node)):
            yield self.client.patch(node, lambda one: with_meta(one, labels={**labels_of(one), **lacks}))

    def _taint_schedule(self, key: str) -> Work:
        """Give a node the NoSchedule taints of its conditions (doNoScheduleTaintingPass)."""
        node = self.server.get("Node", key)
        if node is None:
            return
        add, drop = no_schedule_taints(node)
        if add or drop:
            yield from self._swap(node, add, drop, "NoSchedule")

    def _swap(self, node: Manifest, add: Sequence[str], drop: Sequence[str], effect: str) -> Work:
        """Add taints, then remove others: a patch each (SwapNodeControllerTaint)."""
        at = stamp(self.now)
        have = {(one["key"], one["effect"]) for one in taints_of(node)}
        if fresh := [taint(key, effect, at) for key in add if (key, effect) not in have]:
            yield self.client.patch(node, lambda one: with_spec(one, taints=[*taints_of(one), *fresh]))
        if [key for key in drop if (key, effect) in have]:
            yield self.client.patch(node, lambda one: without_taints(one, drop, effect))

    # --- passes

    def _monitor(self) -> Work:
        """Look at all nodes: their leases, taints, pods, and zones (monitorNodeHealth)."""
        self._passed = self.loop.now
        listed = {name_of(node): node for node in self._begin()}
        for node in listed.values():
            if name_of(node) not in self._known:
                self._known.add(name_of(node))
                yield from self._reachable(node)
        while (visit := self._rounds.next(self.loop.now)) is not None:
            status = yield from self._look(visit.name)
            if status is not None:
                self._rest(visit.name)
                if visit.zone is not None:
                    self._rounds.count(visit.zone, ready=status == "True")
        self._stale = False
        yield from self._disruption(self._rounds.tally, listed)
        self._awaited = None

    def _begin(self) -> list[Manifest]:
        """Begin a pass; return the nodes that it has to look at."""
        if not all(map(self._is_settled, self._awake())):
            self._rounds.wake_waiting()
        visits = sorted(
            Visit(self.server.place("Node", name_of(node)), name_of(node), counted_zone(node))
            for node in self._awake()
        )
        nodes = [self.server.current("Node", visit.name) for visit in visits]
        for node in nodes:
            self._new_zone(node)
        self._rounds.begin(visits)
        return nodes

    def _awake(self) -> list[Manifest]:
        """Return the nodes that are awake, and forget those that are gone."""
        found = {name: self.server.get("Node", name) for name in self._rounds.awake}
        for name in [name for name, node in found.items() if node is None]:
            del self._rounds.awake[name]
            self._known.discard(name)
        return [node for node in found.values() if node is not None]

    # --- rest

    def _wake(self, name: str) -> None:
        """Have a node looked at; what the passes that skipped it saw of its lease is noted now."""
        self._awaited = None
        rest = self._rounds.wake(name)
        if rest is None or not rest.ready:
            return
        found = self._rounds.renewal(rest.place, partial(self.kubelets.lease, name, rest.created))
        health = self._health[name]
        if found is not None and (health.lease is None or health.lease < found[0]):
            health.lease, health.probed = found

    def _rest(self, name: str) -> None:
        """Let a node rest that was looked at, unless it has posted something since."""
        node = self.server.get("Node", name)
        rest = None if node is None else self._rest_of(node)
        health = self._health[name]
        seen = node is not None and health.lease is not None and health.heartbeat == _heartbeat(node)
        if seen and rest is not None:
            self._rounds.rest(name, rest)

    def _is_settled(self, node: Manifest) -> bool:
        """Return whether a look at a node changes nothing, not even the order of those that wait."""
        rest = self._rest_of(node)
        return rest is not None and not rest.waits

    def _rest_of(self, node: Manifest) -> Rest | None:
        """Return how a node rests: it is well, or silent and queued for its taint; ``None`` if it is not."""
        name, status = name_of(node), ready_status(node)
        silent = name in self.kubelets.failed
        if silent == (status == "True") or self.options.grace_seconds <= _SHORT_GRACE:
            return None
        zone = counted_zone(node)
        if zone is None or has_no_execute(node, NOT_READY):
            return None
        tainted = has_no_execute(node, UNREACHABLE)
        place, created = self.server.place("Node", name), self._begun(node)
        if status == "True":
            return None if tainted else Rest(place, zone, ready=True, created=created)
        tainter = self._tainters.get(zone)
        if status != "Unknown" or tainter is None or not tainter.knows(name):
            return None
        return Rest(place, zone, ready=False, created=created, waits=not tainted)

    def _new_zone(self, node: Manifest) -> None:
        zone = zone_of(node)
        if zone not in self._zones:
            self._zones[zone] = INITIAL
            self._tainters[zone] = TaintQueue(self.loop, self.options.eviction_rate)

    def _look(self, name: str) -> Work:
        """Update a node's health; return the status of its condition Ready."""
        node = self.server.get("Node", name)
        if node is None:
            return None
        before = ready_status(node)
        try:
            node = yield from self._update(node)
        except StatusError:
            return None
        status = ready_status(node)
        yield from self._taint_by(node, status)
        if status != "True" == before:
            yield from self._mark_pods(node)
        return status

    def _update(self, node: Manifest) -> Work:
        """Set a node's conditions to Unknown if it has been silent for too long (tryUpdateNodeHealth)."""
        health = self._probe(node)
        if (
            self.loop.now - health.probed < self.options.grace_seconds - _LOOK_SECONDS
            or ready_status(node) == "Unknown"
        ):
            return node
        made = with_status(node, {**status_of(node), "conditions": unknown_conditions(node, stamp(self.now))})
        return (yield self.client.update_status(made))

    def _begun(self, node: Manifest) -> float:
        """Return from when a node's kubelet renews its lease: its creation, in virtual seconds from 0 on."""
        return max(0.0, created_at(node) - self.loop.epoch)

    def _probe(self, node: Manifest) -> _Health:
        name, heartbeat = name_of(node), _heartbeat(node)
        lease = self.kubelets.lease(name, self._begun(node), self.loop.now)
        health = self._health.get(name)
        known = None if health is None else health.lease
        if health is None or health.heartbeat != heartbeat:
            health = self._health[name] = _Health(heartbeat, None, self.loop.now)
        if known is None or known < lease:
            health.lease, health.probed = lease, self.loop.now
        return health

    def _taint_by(self, node: Manifest, status: str) -> Work:
        """Queue a node for its NoExecute taint, swap it, or take it off (processTaintBaseEviction)."""
        if status == "True":
            yield from self._reachable(node)
            return
        wanted = CONDITION_TAINTS[status]
        opposite = UNREACHABLE if wanted == NOT_READY else NOT_READY
        if has_no_execute(node, opposite):
            yield from self._swap(node, [wanted], [opposite], "NoExecute")
            return
        tainter = self._tainters[zone_of(node)]
        tainter.add(name_of(node), self._passed, again=not has_no_execute(node, wanted))
        self._taint_later()

    def _reachable(self, node: Manifest) -> Work:
        """Take off the NoExecute taints that a node had when it was listed (markNodeAsReachable)."""
        for key in (UNREACHABLE, NOT_READY):
            stored = self.server.get("Node", name_of(node))
            if has_no_execute(node, key) and stored is not None and has_no_execute(stored, key):
                yield self.client.patch(node, partial(without_taints, keys=[key], effect="NoExecute"))
        self._tainters[zone_of(node)].remove(name_of(node))

    # --- NoExecute taints

    def _taint_later(self) -> None:
        """Have the first pass made that may taint a node; upstream's others find that no rate allows it."""
        ready = [at for one in self._tainters.values() if (at := one.ready_at) is not None]
        if self._tainting or not ready:
            return
        start, now = self.loop.start, self.loop.now
        passes = max(
            floor((now - start + _DRIFT) / TAINT_PERIOD) + 1,
            floor((min(ready) - start - _DRIFT) / TAINT_PERIOD),
        )
        self._taint_at(start + passes * TAINT_PERIOD + _DRIFT)

    def _taint_at(self, time: float) -> None:
        if self._next_taint is not None:
            at, timer = self._next_taint
            if at <= time:
                return
            self.loop.cancel(timer)
        self._next_taint = time, self.loop.at(time, self._begin_taint)

    def _begin_taint(self) -> None:
        self._next_taint, self._tainting = None, True
        self.loop.spawn(self._taint())

    def _taint(self) -> Work:
        """Taint queued nodes as far as their zones' rates allow (doNoExecuteTaintingPass)."""
        for _, tainter in sorted(self._tainters.items()):
            while (name := tainter.take()) is not None:
                node = self.server.get("Node", name)
                status = "True" if node is None else ready_status(node)
                wanted = CONDITION_TAINTS.get(status)
                if node is not None and wanted is not None:
                    opposite = UNREACHABLE if wanted == NOT_READY else NOT_READY
                    yield from self._swap(node, [wanted], [opposite], "NoExecute")
        self._tainting = False
        self._taint_later()

    # --- pods

    def _mark_pods(self, node: Manifest) -> Work:
        for pod in self.server.pods_of_node(name_of(node)):
            yield from self._mark(pod)

    def _mark(self, pod: Manifest) -> Work:
        if is_ready(pod):
            try:
                yield self.client.patch(
                    pod, lambda one: with_ready(one, self.now, ready=False, reason="NodeNotReady")
                )
            except StatusError:
                return

    def _is_unready(self, name: str) -> bool:
        node = self.server.get("Node", name)
        return node is not None and name in self._health and ready_status(node) != "True"

    def _mark_new(self, key: str, node: str) -> Work:
        found = self.server.get("Pod", key)
        if found is not None and self._is_unready(node):  # which may have recovered in the same instant
            yield from self._mark(found)

    # --- zones

    def _disruption(self, tally: Mapping[str, tuple[int, int]], listed: Mapping[str, Manifest]) -> Work:
        """Set the rates of zones by how many of their nodes are ready (handleDisruption).

        ``listed`` are nodes as they were when the pass began: a taint that it swapped since stays.
        """
        states = {zone: zone_state(*found, self.options.unhealthy_threshold) for zone, found in tally.items()}
        for zone in [zone for zone in self._zones if zone not in states]:
            del self._zones[zone]
        all_are = all(state == FULL for state in states.values())
        all_were = all(state == FULL for state in self._zones.values())
        if all_are and not all_were:
            self._rounds.wake_all()
            for name in self.server.in_order("Node", self._known):
                found = self.server.get("Node", name)
                if found is not None:
                    yield from self._reachable(listed.get(name, found))
            for zone in self._zones:
                self._tainters[zone].swap(NEVER)
                self._zones[zone] = FULL
        elif all_were and not all_are:
            self._rounds.wake_all()
            for name in self._known & self._health.keys():
                self._health[name].probed = self.loop.now
            for zone, state in states.items():
                self._limit(zone, sum(tally[zone]), state)
        elif not all_are:
            for zone, state in states.items():
                if self._zones[zone] != state:
                    self._limit(zone, sum(tally[zone]), state)
        self._taint_later()

    def _limit(self, zone: str, size: int, state: str) -> None:
        options = self.options
        rate = options.eviction_rate
        if state == PARTIAL:
            rate = options.secondary_eviction_rate if size > options.large_cluster else NEVER
        self._tainters[zone].swap(rate)
        self._zones[zone] = state


def _heartbeat(node: Manifest) -> str:
    return str((condition_of(node, "Ready") or {}).get("lastHeartbeatTime"))
