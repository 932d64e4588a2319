"""The controller manager: run the controllers affected by an event until nothing changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import NamedTuple

from msgspec.structs import replace

from scheduler_core import interrupting
from scheduler_core.cluster.controllers import (
    claims,
    daemons,
    disruption,
    draining,
    evicting,
    garbage,
    nodes,
    running,
)
from scheduler_core.cluster.controllers.branching import Branching, branch
from scheduler_core.cluster.controllers.changes import Action, Change, Options, Wake, timestamp
from scheduler_core.cluster.controllers.daemon_admission import daemon_node
from scheduler_core.cluster.controllers.owned import controller_of, key_in
from scheduler_core.cluster.controllers.revisions import updating
from scheduler_core.cluster.controllers.table import CONTROLLERS, Reconcile
from scheduler_core.cluster.store import AdmitPod, Store, counts_alike, ready_status
from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.model import (
    KubernetesObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    StorageClass,
    Workload,
)

WORKLOADS: dict[str, Reconcile] = {kind: row.reconcile for kind, row in CONTROLLERS.items()}
"""The controllers of workloads, by kind."""

_LOOKS_EACH = 20

ReconcileRequest = tuple[Reconcile, Key]


class ReconcileTimer(NamedTuple):
    """When a controller reconciles an object again, and why; ``order`` is the order of the requests."""

    at: float
    order: int
    kind: str
    key: str
    reason: str


class ControllerManager(Branching):
    """Controllers over their own store of the cluster's objects, driven by the caller.

    :meth:`start` takes the initial objects. Then, at every moment, call :meth:`observe` with the changes by
    others (users, the scheduler's bindings) and :meth:`settle` for the changes that follow, in order, which
    the manager has already applied to its own store. :meth:`next_time` is the latest time at which
    :meth:`settle` must be called again; the manager keeps no clock. Times are virtual seconds. It is
    deterministic: the same calls return the same results.
    """

    def __init__(self, options: Options | None = None, admit: AdmitPod | None = None) -> None:
        self.options = options or Options()
        self.store = Store(self.options, admit or (lambda pod: pod))
        self.looks = 0  # reconciliations since the start
        self.gave_up = ""  # why the controllers have stopped
        self._queue: deque[ReconcileRequest] = deque()
        self._queued: set[ReconcileRequest] = set()
        self._gone: dict[Key, KubernetesObject] = {}
        self._timers: list[tuple[float, int, ReconcileRequest]] = []
        self._alive: dict[ReconcileRequest, ReconcileTimer] = {}
        self._order = 0

    # --- called by the owner of the manager

    def start(self, objects: Iterable[KubernetesObject], now: float = 0.0) -> None:
        """Add the initial objects, in order of creation; :meth:`settle` then reconciles them all."""
        for obj in objects:
            interrupting.look()
            self._enter(key_of(obj), obj, now)
        for look in [look for look in self._queue if look[0] is disruption.reconcile]:
            self._queue.remove(look)  # a budget's status in a dump holds until something changes
            self._queued.discard(look)
        for key, obj in self.store.objects.items():
            if isinstance(obj, Workload) and obj.kind == "Job":
                owned = self.store.owned(key)
                owned.succeeded = max(owned.succeeded, obj.status.succeeded)
                owned.failed = max(owned.failed, obj.status.failed)

    def observe(self, action: Action, obj: KubernetesObject, now: float) -> KubernetesObject:
        """Apply a change by others; return the object as stored, because a user's update keeps the status."""
        key = key_of(obj)
        known = self.store.objects.get(key)
        if action == "delete":
            if known is not None:
                self._leave(key)
            return obj
        if isinstance(obj, Workload) and isinstance(known, Workload):
            obj = replace(obj, status=known.status)
        self._enter(key, obj, now)
        return obj

    def settle(self, now: float) -> list[Change]:
        """Run the affected controllers repeatedly until nothing changes; return the changes.

        Controllers that undo each other's work never settle. After ``Options.most_looks`` reconciliations
        plus 20 per object, ``gave_up`` names the object, the changes of this call are not returned, and no
        controller runs any more.
        """
        if self.gave_up:
            return []
        self._due(now)
        changes: list[Change] = []
        before = self.looks
        while self._queue or self._over_threshold(changes, now):
            look = self._queue.popleft()
            self._queued.discard(look)
            self.looks += 1
            interrupting.look()
            if self.looks - before > self.options.most_looks + _LOOKS_EACH * len(self.store.objects):
                self.gave_up = f"{look[1][0]} {look[1][1]} keeps changing while no virtual time passes"
                return []
            self._look(look, now, changes)
        return changes

    @property
    def full(self) -> bool:
        """Whether the limit on the pods that controllers may create is reached."""
        return self.store.pods >= self.options.most_pods

    def next_time(self) -> float | None:
        """Return when a controller is to run next without an event, ``None`` if none is."""
        if self.gave_up:
            return None
        while self._timers and not self._stands(self._timers[0]):
            heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def timers(self) -> list[ReconcileTimer]:
        """Return the active timers, in order of time."""
        return sorted(self._alive.values())

    def __deepcopy__(self, memo: dict[int, object]) -> ControllerManager:
        """Return an independent copy in the same state (a checkpoint)."""
        del memo
        return branch(self)

    # --- one reconciliation

    def _look(self, look: ReconcileRequest, now: float, changes: list[Change]) -> None:
        reconcile, key = look
        obj = self._gone.pop(key, None) if reconcile is garbage.collect else self.store.objects.get(key)
        if obj is None:
            return
        if look in self._alive:
            del self._alive[look]
        for answer in reconcile(obj, self.store, now):
            if isinstance(answer, Wake):
                self._wake(look, answer)
            else:
                self._take(answer, now, changes)

    def _take(self, change: Change, now: float, changes: list[Change]) -> None:
        """Apply a controller's change to the store, unless another change has made it obsolete."""
        action, obj, reason, message = change
        key = key_of(obj)
        if (key in self.store.objects) == (action == "create"):
            return
        if action == "delete":
            self._leave(key)
        else:
            if action == "create" and obj.meta.creation_timestamp is None:
                stamped = replace(obj.meta, creation_timestamp=timestamp(self.options, now))
                change = Change(action, replace(obj, meta=stamped), reason, message)
            self._enter(key, change.object, now)
        changes.append(change)

    def _over_threshold(self, changes: list[Change], now: float) -> bool:
        """Delete terminated pods above the threshold; return whether the queue has requests."""
        for change in garbage.terminated(self.store):
            self._take(change, now, changes)
        return bool(self._queue)

    # --- timers

    def _wake(self, look: ReconcileRequest, wake: Wake) -> None:
        self._order += 1
        timer = ReconcileTimer(wake.at, self._order, *look[1], wake.reason)
        self._alive[look] = timer
        heappush(self._timers, (timer.at, timer.order, look))

    def _stands(self, entry: tuple[float, int, ReconcileRequest]) -> bool:
        timer = self._alive.get(entry[2])
        return timer is not None and timer.order == entry[1]

    def _due(self, now: float) -> None:
        while (at := self.next_time()) is not None and at <= now:
            look = heappop(self._timers)[2]
            del self._alive[look]
            self._ask(*look)

    # --- the controllers affected by an event

    def _ask(self, reconcile: Reconcile, key: Key) -> None:
        look = (reconcile, key)
        if look not in self._queued:
            self._queued.add(look)
            self._queue.append(look)

    def _enter(self, key: Key, obj: KubernetesObject, now: float) -> None:
        old = self.store.put(key, obj, now)
        if isinstance(obj, Pod):
            self._pod_changed(key, old if isinstance(old, Pod) else None, obj)
        elif isinstance(obj, Workload):
            self._ask(WORKLOADS[obj.kind], key)
            self._ask_owner(obj)
            self._ask_budgets(self.store.budgets.in_namespace(obj.meta.namespace))
        elif isinstance(obj, PodDisruptionBudget):
            self._ask_budgets([key[1]])
            self._ask_drains(self.store.draining_since)
        elif isinstance(obj, Node):
            self._node_changed(key, old if isinstance(old, Node) else None, obj)
        elif isinstance(obj, PersistentVolumeClaim):
            self._ask(claims.reconcile, key)
        elif isinstance(obj, PersistentVolume):
            self._ask_claims(obj.storage_class)
        elif isinstance(obj, StorageClass):
            self._ask_claims(obj.meta.name)

    def _leave(self, key: Key) -> None:
        obj = self.store.remove(key)
        self._ask_owner(obj)
        if isinstance(obj, Pod):
            self._ask_budgets(self.store.budgets.of(obj))
            self._alive.pop((running.reconcile, key), None)
            self._alive.pop((nodes.evict, key), None)
            self._room_again(obj)
            self._ask_drains([obj.node_name])
            return
        self._gone[key] = obj
        self._ask(garbage.collect, key)
        if isinstance(obj, Node):
            self._alive.pop((nodes.lifecycle, key), None)
            self._alive.pop((draining.reconcile, key), None)
        elif isinstance(obj, Workload):
            self._alive.pop((WORKLOADS[obj.kind], key), None)

    def _pod_changed(self, key: Key, old: Pod | None, pod: Pod) -> None:
        if evicting.EVICT in pod.meta.annotations:
            self._ask(evicting.reconcile, key)
        moved = old is None or old.node_name != pod.node_name
        changed = old is None or not counts_alike(old, pod)
        if changed:
            self._ask_owner(pod)
            self._ask_budgets(self.store.budgets.of(pod))
        if not pod.meta.owner_references and (old is None or old.meta is not pod.meta):
            for adopter in self.store.adopters(pod):
                self._ask(WORKLOADS[adopter[0]], adopter)
        if not pod.node_name:
            return
        if changed:
            self._ask_drains([pod.node_name])
        if pod.terminal:
            self._room_again(pod)
            return
        if (changed or moved) and not (
            pod.phase == "Running" and pod.ready and running.RUN not in pod.meta.annotations
        ):
            self._ask(running.reconcile, key)
        if pod.node_name in self.store.tainted_since and (
            old is None or moved or old.tolerations != pod.tolerations
        ):
            self._ask(nodes.evict, key)
        if moved:
            for volume in pod.volumes:
                if volume.claim is not None:
                    claim = ("PersistentVolumeClaim", f"{pod.meta.namespace}/{volume.claim}")
                    self._ask(claims.reconcile, claim)

    def _room_again(self, pod: Pod) -> None:
        """Retry daemons that did not fit, if the DaemonSet controller places its pods itself."""
        if self.options.bind_daemons and pod.node_name:
            self._ask(daemons.on_node, ("Node", pod.node_name))

    def _node_changed(self, key: Key, old: Node | None, node: Node) -> None:
        self._ask(nodes.lifecycle, key)
        self._ask_drains([node.meta.name])
        if self.store.daemon_sets and (old is None or _placing(old) != _placing(node)):
            self._ask(daemons.on_node, key)
        name = node.meta.name
        if old is not None and ready_status(old) != "True" == ready_status(node):
            for pod in self.store.pods_on(name):
                self._ask(running.reconcile, ("Pod", pod.meta.key))
        if name in self.store.tainted_since and (old is None or old.taints != node.taints):
            for pod in self.store.pods_on(name):
                self._ask(nodes.evict, ("Pod", pod.meta.key))

    def _ask_owner(self, obj: KubernetesObject) -> None:
        """Queue the controller of a changed pod, and the Deployment of a changed ReplicaSet."""
        reference = controller_of(obj)
        if reference is None or reference.kind not in WORKLOADS:
            return
        key = key_in(obj, reference)
        owner = self.store.objects.get(key)
        if owner is None:
            return
        if isinstance(obj, Pod) and reference.kind == "DaemonSet":
            self._ask(daemons.on_node, ("Node", daemon_node(obj)))
            if isinstance(owner, Workload) and updating(owner):
                self._ask(daemons.update, key)
            return
        self._ask(WORKLOADS[reference.kind], key)
        above = controller_of(owner) if reference.kind == "ReplicaSet" else None
        if above is not None and above.kind == "Deployment":  # ReplicaSets may name each other, in a circle
            self._ask_owner(owner)

    def _ask_budgets(self, budgets: Iterable[str]) -> None:
        for budget in budgets:
            self._ask(disruption.reconcile, ("PodDisruptionBudget", budget))

    def _ask_drains(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self.store.draining_since:
                self._ask(draining.reconcile, ("Node", name))

    def _ask_claims(self, storage_class: str) -> None:
        for claim in self.store.volumes.unbound(storage_class):
            self._ask(claims.reconcile, ("PersistentVolumeClaim", claim))


def _placing(node: Node) -> tuple[object, ...]:
    """Return the fields of a node that the DaemonSet controller reads."""
    return node.meta.labels, node.taints, node.unschedulable, node.allocatable
