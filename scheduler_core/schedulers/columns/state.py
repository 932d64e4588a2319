"""The current state of the cluster: node columns, the usage by pods, and the other objects.

:meth:`Cluster.put` and :meth:`Cluster.remove` apply changes from outside, :meth:`Cluster.assign`
and :meth:`Cluster.remove_pod` those of a scheduling decision. Changes of nodes and storage only mark
the columns as stale; they are refreshed once, before they are next read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import copy
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from msgspec.structs import replace

from scheduler_core.forks import Copier, Forkable, Memo, copied, flat, same
from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.model import (
    KubernetesObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    Service,
    StorageClass,
    Workload,
)
from scheduler_core.kubernetes.provisioner import selected_node
from scheduler_core.kubernetes.replicas import is_replica, with_replicas_of_any
from scheduler_core.kubernetes.selectors import term_matches
from scheduler_core.kubernetes.shared_devices import COUNT, SHARE, DeviceRoom
from scheduler_core.schedulers.columns.columns import NodeColumns, clamp
from scheduler_core.schedulers.columns.holdings import Holdings
from scheduler_core.schedulers.columns.late_pods import Follow, LatePods
from scheduler_core.schedulers.columns.podinfo import PodInfo, PodResources, compile_pod
from scheduler_core.schedulers.columns.pods import UNCOUNTED, AffinityClass, PodIndex, PodKind, PodState
from scheduler_core.schedulers.columns.reads import POD_FIELDS, class_fields, has_same_class
from scheduler_core.schedulers.columns.reasons import ReasonTable
from scheduler_core.schedulers.columns.storage import ClaimError, PodUse, Storage, pod_use

T = TypeVar("T")

USED_ROWS = 6  # cpu, memory, ephemeral-storage, pods, non-zero cpu, non-zero memory
NO_PRIORITY = np.iinfo(np.int64).max
COUNTS = ("used", "scalars_used", "lowest_priority", "residents", "index")
"""What is counted of pods on nodes; :meth:`Cluster.uncount` leaves it to whoever reads it."""
MEMO_LIMIT = 4096
MEMO_BYTES = 64 * 1024 * 1024


def _forked_pods(pods: dict[str, PodState], memo: Memo) -> dict[str, PodState]:
    """Copy the pods: what changes of them, not what was compiled of them."""
    known = {id(state.kind): state.kind for state in pods.values()}
    kinds = {number: copied(kind, memo) for number, kind in known.items()}
    made: dict[str, PodState] = {}
    for key, state in pods.items():
        if (other := memo.get(id(state))) is None:  # else it is in use elsewhere
            other = memo[id(state)] = copy(state)
            other.kind = kinds[id(state.kind)]
            if state.affinity is not None:
                other.affinity = copied(state.affinity, memo)
        made[key] = other
    return made


def _forked_rows(residents: list[dict[str, PodState]], memo: Memo) -> list[dict[str, PodState]]:
    """Copy the pods on each node, of which all are copied by now."""
    return [{key: memo[id(state)] for key, state in row.items()} for row in residents]


def _occupies(info: PodInfo) -> bool:
    """Return whether what pods of a class hold is kept with their state."""
    return bool(info.ports or info.claims or info.volumes)


class Cluster(Forkable):
    """Everything that a scheduling cycle reads.

    ``used`` is ``(6, N) int64`` in the order of :attr:`PodInfo.usage`; ``lowest_priority`` is
    ``(N,) int64``, the lowest priority of a pod on the node. ``touched`` lists the nodes whose
    pods changed, in the order of the changes; ``generation`` grows with every change of an
    object other than a pod, and whenever that list is reset. ``fields`` are those of the pods' class key
    (:func:`~scheduler_core.schedulers.columns.reads.class_fields`); None: those that are always in it.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {
        **dict.fromkeys(
            ("nodes", "finished", "services", "workloads", "budgets", "touched", "_classes"), flat
        ),
        **dict.fromkeys(("_columns", "_last"), same),
        "pods": _forked_pods,
        "residents": _forked_rows,
    }

    _is_counted = True

    def __init__(self, fields: tuple[str, ...] | None = None) -> None:
        self._fields = class_fields(()) if fields is None else fields
        self._keys = tuple(POD_FIELDS[name].key for name in self._fields)
        self._counted: set[int] = (
            set()
        )  # numbers of classes that count for other amounts than their containers
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, PodState] = {}
        self.finished: dict[str, Pod] = {}
        self.storage = Storage()
        self.services: dict[str, Service] = {}
        self.workloads: dict[tuple[str, str], Workload] = {}
        self.budgets: dict[str, PodDisruptionBudget] = {}
        self.reasons = ReasonTable()
        self.generation = 0
        self._created = 0
        self._classes: dict[Hashable, PodInfo] = {}  # in order of their numbers
        self._last: tuple[Pod, PodResources | None, PodInfo] | None = None  # what was compiled last
        self._usages = np.zeros((0, USED_ROWS), np.int64)
        self._memo: dict[Hashable, Any] = {}
        self._memo_bytes = 0
        self._outdated = False  # whether a refresh is needed for any reason
        self._stale = False  # nodes were added or removed: count everything again
        self._nodes_changed: dict[str, None] = {}  # updated in place: the usage by pods stays as counted
        self._held = Holdings()
        self._room: DeviceRoom | None = None
        self._crowded: set[int] = set()  # nodes whose device room is to be computed again
        self._late: LatePods | None = None
        self._reset()

    def _reset(self) -> None:
        self._columns = NodeColumns(list(self.nodes.values()))
        size = self._columns.size
        self.used = np.zeros((USED_ROWS, size), np.int64)
        self.scalars_used: dict[str, IntVector] = {}
        self.lowest_priority = np.full(size, NO_PRIORITY, np.int64)
        self.residents: list[dict[str, PodState]] = [{} for _ in range(size)]
        self.index = PodIndex(size)
        held = self._held
        held.start(self._columns.names)
        self.uses, self.port_nodes, self.disk_nodes = held.uses, held.port_nodes, held.disk_nodes
        self.volume_nodes, self.attached_counts = held.volume_nodes, held.attached_counts
        self.touched: list[int] = []
        self._room = None
        self.generation += 1
        self._forget()

    def leave_behind(self, follow: Follow) -> None:
        """Leave ``pods`` and ``residents`` behind what is counted until somebody reads them.

        ``follow`` brings those on a row up to date, or all of them.
        """
        if self._late is None:
            self._late = LatePods(vars(self).pop("pods"), vars(self).pop("residents"), follow, self.catch_up)

    def catch_up(self) -> None:
        """Bring ``pods`` and ``residents`` up to date with what is counted."""
        if self._late is not None:
            self._late.follow(None)
            self.pods, self.residents, self._late = self._late.pods, self._late.rows, None

    @property
    def seen_residents(self) -> list[dict[str, PodState]]:
        """The pods on each node, by row, as they were when they were read last."""
        return self.residents if self._late is None else self._late.rows

    def uncount(self) -> None:
        """Count the pods on nodes no more until somebody reads what is counted."""
        self.catch_up()
        self.refresh()
        for name in COUNTS:
            vars(self).pop(name, None)
        self._is_counted = False

    def __getattr__(self, name: str) -> Any:
        """Count the pods on nodes, or bring them up to date with their counts, when that is read."""
        late = vars(self).get("_late")
        if late is not None and name == "residents":
            return late
        if late is not None and name == "pods":
            self.catch_up()
            return self.pods
        if name not in COUNTS or vars(self).get("_is_counted", True):
            raise AttributeError(name)
        self._count_late()
        return vars(self)[name]

    def _count_late(self) -> None:
        self.pods = {key: copy(state) for key, state in self.pods.items()}  # copies of this may have them too
        self._recount()

    def __getstate__(self) -> dict[str, Any]:
        self.catch_up()
        return vars(self)

    def __deepcopy__(self, memo: Memo) -> Self:
        self.catch_up()
        self.refresh()  # until then a deleted pod may be counted
        if not self._is_counted and not any(map(_occupies, self._classes.values())):
            memo[id(self.pods)] = self.pods.copy()
        return super().__deepcopy__(memo)

    def count_pods(self) -> None:
        """Count the pods on nodes now, not when somebody reads the counts."""
        if not self._is_counted:
            self._count_late()

    def own(self, state: PodState) -> PodState:
        """Return the state of a pod to change it."""
        if self._is_counted or self.pods.get(state.key) is not state:
            return state
        made = self.pods[state.key] = copy(state)
        return made

    @property
    def columns(self) -> NodeColumns:
        """The node columns, refreshed first if objects have changed."""
        if self._outdated:
            self.refresh()
        return self._columns

    @property
    def settled(self) -> NodeColumns | None:
        """The node columns, or ``None`` if a node has changed since they were built."""
        return None if self._stale or self._nodes_changed else self._columns

    def refresh(self) -> None:
        """Bring columns and counts up to date with the objects.

        The result does not depend on when or how often this is called: everything but the host ports is
        derived from the current objects, and host ports are updated with every pod at once.
        """
        if not self._outdated:
            return
        self._outdated = False
        if self._stale:
            counted = self._is_counted
            self._recount()
            if not counted:
                self.uncount()
        elif self._nodes_changed:
            self._columns = self._columns.following(list(self.nodes.values()), self._nodes_changed)
            if self._is_counted:
                self.index.forget_sums()
            self._room = None
            self._changed()
        self._stale = False
        self._nodes_changed.clear()
        for state in self._held.take_outdated(self.storage):
            self._held.recount(state, self.use_of(state.info))
            self.touched.append(state.node)

    def _recount(self) -> None:
        self.catch_up()
        self._stale, self._is_counted = False, True
        self._reset()
        known: dict[int, tuple[PodKind, AffinityClass | None]] = {}  # by compiled class
        for state in self.pods.values():
            info = state.info
            if info.number not in known:
                known[info.number] = self.index.kind_of(info), self.index.class_of(info)
            state.kind, state.affinity = known[info.number]
            state.node = self._columns.index.get(state.node_name, -1)
            self._count(state, 1)

    def relist(self) -> None:
        """Count like a scheduler that has just started: the ports of every pod are in use again."""
        self._held.relist_ports(self.pods.values())
        self._changed()
        self.refresh()

    def _forget(self) -> None:
        self._memo.clear()
        self._memo_bytes = 0

    def memo(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Cache a value that depends on nodes, storage, services and workloads, but on no pod."""
        if key in self._memo:
            return cast("T", self._memo[key])
        value = compute()
        if isinstance(value, np.ndarray):
            value.flags.writeable = False  # every pod of the class reads this same array
            self._memo_bytes += value.nbytes
        if len(self._memo) >= MEMO_LIMIT or self._memo_bytes > MEMO_BYTES:
            self._forget()
        self._memo[key] = value
        return value

    # Changes from outside

    def put(self, obj: KubernetesObject, counts: PodResources | None = None) -> PodState | None:
        """Create an object or replace the one of its kind and key; return a pod's new state.

        ``counts``: what a pod counts for, if not what v1.11 makes of its containers.
        A replaced pod keeps its position of creation. A terminal pod is only recorded as finished.
        """
        match obj:
            case Pod():
                return self._put_pod(obj, counts)
            case Node():
                self._stale = self._stale or obj.meta.name not in self.nodes
                self.nodes[obj.meta.name] = obj
            case PersistentVolume():
                self.storage.volumes[obj.meta.name] = obj
            case PersistentVolumeClaim():
                self.storage.claims[obj.meta.key] = obj
            case StorageClass():
                self.storage.classes[obj.meta.name] = obj
            case Service():
                self.services[obj.meta.key] = obj
            case Workload():
                self.workloads[obj.kind, obj.meta.key] = obj
            case PodDisruptionBudget():
                self.budgets[obj.meta.key] = obj
            case _:
                return None
        self._note(obj.kind if isinstance(obj, Workload) else type(obj).__name__, obj.meta.key)
        return None

    def _note(self, kind: str, key: str) -> None:
        """Mark the state that a change of an object other than a pod makes stale."""
        if kind == "Node":
            self._nodes_changed[key] = None
        elif kind == "PersistentVolume":
            self._held.volume_changed(key)
        elif kind == "PersistentVolumeClaim":
            self._held.claim_changed(key)
        self._outdated = self._outdated or kind in ("Node", "PersistentVolume", "PersistentVolumeClaim")
        self._changed()

    def find(self, kind: str, key: str) -> KubernetesObject | None:
        """Return an object other than a pod or a workload, by its name or ``namespace/name``."""
        return self._tables.get(kind, {}).get(key)

    @property
    def _tables(self) -> Mapping[str, dict[str, Any]]:
        return {
            "Node": self.nodes,
            "PersistentVolume": self.storage.volumes,
            "PersistentVolumeClaim": self.storage.claims,
            "StorageClass": self.storage.classes,
            "Service": self.services,
            "PodDisruptionBudget": self.budgets,
        }

    def remove(self, kind: str, key: str) -> None:
        """Delete an object; a missing one is not an error, as with ``--ignore-not-found``."""
        if kind == "Pod":
            self.finished.pop(key, None)
            self.remove_pod(key)
            return
        table = self._tables.get(kind)
        if table is not None:
            gone = table.pop(key, None)
            self._stale = self._stale or (kind == "Node" and gone is not None)
        else:
            self.workloads.pop((kind, key), None)
        self._note(kind, key)

    def _changed(self) -> None:
        self.generation += 1
        self._forget()

    def _put_pod(self, pod: Pod, counts: PodResources | None) -> PodState | None:
        key = pod.meta.key
        previous = self.pods.get(key)
        known = None if previous is None or counts is not None else self._class_of(previous, pod)
        if previous is not None and self._is_counted_alike(previous, pod, counts, known):
            return self._put_again(previous, pod)
        previous = self.remove_pod(key)
        self.finished.pop(key, None)
        if pod.terminal:
            self.finished[key] = pod
            return None
        info = known or self.compile(pod, counts)
        if previous is None:
            self._created += 1
        counted = self._is_counted
        state = PodState(
            key=key,
            pod=pod,
            info=info,
            kind=self.index.kind_of(info) if counted else UNCOUNTED,
            affinity=self.index.class_of(info) if counted else None,
            order=self._created - 1 if previous is None else previous.order,
            priority=clamp(pod.priority),
            nominated=pod.nominated_node_name,
        )
        self.pods[key] = state
        if pod.node_name:
            self._place(state, pod.node_name)
        return state

    def _class_of(self, previous: PodState, pod: Pod) -> PodInfo | None:
        """Return the compiled class of a new version of a pod if it is that of the one before."""
        info = previous.info
        return info if info.number not in self._counted and has_same_class(pod, previous.pod) else None

    def _is_counted_alike(
        self, previous: PodState, pod: Pod, counts: PodResources | None, known: PodInfo | None
    ) -> bool:
        """Return whether a new version of a pod counts on its node as before; ``known`` is its class."""
        if self._stale or previous.node < 0 or pod.node_name != previous.node_name or pod.terminal:
            return False
        info = previous.info
        held = info.ports or info.claims or info.volumes or info.demand is not None
        if held or clamp(pod.priority) != previous.priority:
            return False
        return (known or self.compile(pod, counts)) is info

    def _put_again(self, previous: PodState, pod: Pod) -> PodState:
        """Replace a pod by a version that counts alike; it comes last on its node."""
        key, node = previous.key, previous.node
        state = replace(previous, pod=pod, nominated=pod.nominated_node_name)
        del self.pods[key]
        self.pods[key] = state
        if self._is_counted:
            del self.residents[node][key]
            self.residents[node][key] = state
        self.finished.pop(key, None)
        return state

    def put_replica(
        self, pod: Pod, like: PodState | None, counts: PodResources | None = None
    ) -> PodState | None:
        """Put a new pod that shares all but its name and uid with one that was put; return its state.

        ``like`` is that pod's state, ``None`` if it is terminal, and ``counts`` what it was put with.
        """
        if like is None or like.node_name:
            return self._put_pod(pod, counts)
        key, order = pod.meta.key, self._created
        state = PodState(
            key, pod, like.info, like.kind, like.affinity, order, like.priority, nominated=like.nominated
        )
        self._created = order + 1
        self.pods[key] = state
        return state

    def put_all(self, objects: Iterable[KubernetesObject]) -> list[PodState | None]:
        """Put new objects; return the states of pods, ``None`` for anything else."""
        states: list[PodState | None] = []
        originals: dict[int, PodState | None] = {}
        for obj, replicas in with_replicas_of_any(objects):
            originals[id(obj)] = state = self.put(obj)
            states.append(state)
            states += [self.put_replica(pod, originals[id(original)]) for pod, original in replicas]
        return states

    def compile(self, pod: Pod, counts: PodResources | None = None) -> PodInfo:
        """Return the compiled class of a pod, shared by all pods with an equal class key."""
        last = self._last
        if last is not None and counts == last[1] and is_replica(pod, last[0]):
            return last[2]
        key = tuple([read(pod) for read in self._keys])
        known = key if counts is None else (*key, counts)
        info = self._classes.get(known)
        if info is None:
            info = compile_pod(pod, len(self._classes), self._fields)
            if counts is not None:
                info = counts.counted_in(info)
                self._counted.add(info.number)
            self._classes[known] = info
        self._last = pod, counts, info
        return info

    def usages(self, numbers: IntVector) -> IntVector:
        """Return the usage of a pod of each class, ``(len(numbers), 6) int64``."""
        if len(self._usages) < len(self._classes):
            self._usages = np.array([info.usage for info in self._classes.values()], np.int64)
        return self._usages[numbers]

    def use_of(self, info: PodInfo) -> PodUse:
        """Return the ports and volumes that pods of a class occupy."""
        return self.memo(("use", info.number), lambda: pod_use(info, self.storage))

    # Decisions

    def assign(self, state: PodState, node_name: str) -> tuple[str, ...]:
        """Assign a pod to a node (schedulercache.AssumePod); a missing node has no columns to update.

        Return the claims, as ``namespace/name``, that were bound to volumes in doing so.
        """
        bound = self.bind_claims(state.info, node_name)
        self._place(state, node_name)
        return tuple(bound)

    def assume(self, state: PodState, node_name: str) -> None:
        """Assign a pod to a node like :meth:`assign`, but without binding its claims: Reserve does that."""
        self._place(state, node_name)

    def forget(self, state: PodState) -> None:
        """Remove an assumed pod from its node (schedulercache.ForgetPod); it stays a pod of the cluster.

        Do nothing for a pod that was replaced or deleted meanwhile.
        """
        if self.pods.get(state.key) is not state:
            return
        self.remove_pod(state.key)
        state.node_name, state.node = "", -1
        self.pods[state.key] = state

    def _place(self, state: PodState, node_name: str) -> None:
        """Count a pod on its node; whatever bound the pod binds its claims (factory.addPodToCache)."""
        state.node_name = node_name
        if state.info.ports or state.info.claims:
            self._held.enter(state)
        if not self._stale:  # the pending recount counts every pod
            state.node = self._columns.index.get(node_name, -1)
            self._count(state, 1)

    def bind_claims(
        self, info: PodInfo, node_name: str, *, provision: bool = False
    ) -> dict[str, PersistentVolume]:
        """Bind the claims that waited for a pod to matching volumes on its node.

        Return the previous volumes by claim (``namespace/name``); empty if no claim waited, or if one of them
        has no matching volume. With ``provision``, unmatched claims are left for a provisioner instead, and
        so are claims with a selected node.
        """
        node = self.nodes.get(node_name)
        if not info.claims or node is None:
            return {}
        try:
            waiting = self.storage.waiting_claims(info)
        except ClaimError:  # a pod that was bound from outside; no predicate checked its claims
            return {}
        if provision:
            waiting = [claim for claim in waiting if not selected_node(claim)]
        reachable = {
            name
            for name, volume in self.storage.volumes.items()
            if volume.node_affinity is None or any(term_matches(term, node) for term in volume.node_affinity)
        }
        found = self.storage.match_waiting(waiting, reachable) if waiting else {}
        if len(found) < len(waiting) and not provision:
            return {}
        previous = {claim: self.storage.volumes[name] for claim, name in found.items()}
        for claim, name in found.items():
            self.bind_claim(claim, name)
        return previous

    def bind_claim(self, claim: str, volume: str) -> None:
        """Bind a claim, as ``namespace/name``, and a volume to each other."""
        self.storage.bind(claim, volume)
        self._note("PersistentVolumeClaim", claim)

    def unbind_claim(self, claim: str, volume: PersistentVolume) -> None:
        """Undo :meth:`bind_claim`; ``volume`` is the volume's previous state.

        Objects that were since bound otherwise or deleted are left unchanged.
        """
        self.storage.unbind(claim, volume)
        self._note("PersistentVolumeClaim", claim)

    def select_node(self, claim: str, node: str) -> None:
        """Set the selected node of a claim (``namespace/name``); "" clears it."""
        if claim in self.storage.claims:
            self.storage.select_node(claim, node)
            self._note("PersistentVolumeClaim", claim)

    def remove_pod(self, key: str) -> PodState | None:
        """Delete a pod, on a node or not; return its last state."""
        state = self.pods.pop(key, None)
        if state is not None and state.node_name:
            if state.info.ports or state.info.claims:
                self._held.leave(state)
            if not self._stale:
                self._count(state, -1)
        return state

    def scalars_of(self, name: str) -> IntVector:
        """Return what pods use of an extended resource on each node, ``(N,) int64``."""
        column = self.scalars_used.get(name)
        if column is None:
            column = self.scalars_used[name] = np.zeros(self._columns.size, np.int64)
        return column

    def forget_touched(self) -> None:
        """Empty the list of nodes whose pods changed: what follows it begins again."""
        self.touched = []
        self.generation += 1

    @property
    def counts_pods(self) -> bool:
        """Whether the pods on nodes are counted now, rather than when somebody reads the counts."""
        return self._is_counted and not self._outdated

    def _count(self, state: PodState, sign: int) -> None:
        node, info = state.node, state.info
        if node < 0:
            return
        if self._is_counted:
            self._count_on(node, state, sign)
        if info.ports or info.volumes:
            self._held.count(state, sign, self.use_of(info))
        if info.demand is not None:
            self.crowd(node)

    def _count_on(self, node: int, state: PodState, sign: int) -> None:
        info = state.info
        self.touched.append(node)
        self.used[:, node] += sign * info.usage
        for name, amount in info.scalar_usage:
            self.scalars_of(name)[node] += sign * amount
        self.index.add(state, sign)
        residents = self.residents[node]
        if sign > 0:
            residents[state.key] = state
            self.lowest_priority[node] = min(int(self.lowest_priority[node]), state.priority)
        else:
            del residents[state.key]
            if state.priority <= self.lowest_priority[node]:
                self.lowest_priority[node] = min(
                    (s.priority for s in residents.values()), default=NO_PRIORITY
                )

    def crowd(self, node: int) -> None:
        """Find the room on a node's shared devices again when somebody asks for it."""
        self._crowded.add(node)

    @property
    def device_room(self) -> DeviceRoom:
        """The up-to-date room on the nodes' shared devices."""
        found = self._room
        if found is None:
            columns = self.columns
            found = self._room = DeviceRoom(columns.scalar(SHARE), columns.scalar(COUNT))
            self._crowded = set(range(columns.size))
        for node in self._crowded:
            found.renew(node, (s.info.demand for s in self.residents[node].values() if s.info.demand))
        self._crowded = set()
        return found

    def scalar_used(self, name: str) -> IntVector:
        """Return the usage of a scalar resource by the pods on each node, ``(N,) int64``."""
        return self.scalars_used.get(name, self._columns.no_scalar)

    def resource_state(self, node: int, scalars: tuple[str, ...]) -> Hashable:
        """Return a node's allocatable and used resources; of scalar resources only the named ones.

        A rule that reads nothing else of a node has equal results on nodes with equal values.
        """
        columns = self._columns
        state = (columns.allocatable[:, node].tobytes(), self.used[:, node].tobytes())
        if not scalars:
            return state
        return (
            *state,
            *(
                int(column[node])
                for name in scalars
                for column in (columns.scalar(name), self.scalar_used(name))
            ),
        )
