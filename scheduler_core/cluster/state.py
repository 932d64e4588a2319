"""The cluster as it stands: node columns, what the pods use on them, and the other objects.

:meth:`Cluster.put` and :meth:`Cluster.remove` take changes from outside, :meth:`Cluster.assign`
and :meth:`Cluster.release` a scheduling decision's. Changes of nodes and storage only mark
the columns as stale; they are rebuilt once, before they are next read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from scheduler_core.cluster.columns import NodeColumns, clamp
from scheduler_core.cluster.podinfo import PodInfo, class_key, compile_pod
from scheduler_core.cluster.pods import PodIndex, PodState
from scheduler_core.cluster.reasons import ReasonTable
from scheduler_core.cluster.storage import ClaimError, DiskKey, NodeUse, PodUse, Storage, pod_use
from scheduler_core.cycle import IntVector
from scheduler_core.objects.model import (
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
from scheduler_core.objects.selectors import term_matches

T = TypeVar("T")

USED_ROWS = 6  # cpu, memory, ephemeral-storage, pods, non-zero cpu, non-zero memory
NO_PRIORITY = np.iinfo(np.int64).max
MEMO_LIMIT = 4096
MEMO_BYTES = 64 * 1024 * 1024


class Cluster:
    """Everything that a scheduling cycle reads.

    ``used`` is ``(6, N) int64`` in the order of :attr:`PodInfo.usage`; ``lowest_priority`` is
    ``(N,) int64``, the lowest priority of a pod on the node. ``touched`` lists the nodes whose
    pods changed, in the order of the changes; ``generation`` grows with every change of an
    object other than a pod, and whenever the list starts anew.
    """

    def __init__(self) -> None:
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
        self._usages = np.zeros((0, USED_ROWS), np.int64)
        self._memo: dict[Hashable, Any] = {}
        self._memo_bytes = 0
        self._stale = False
        self._reset()

    def _reset(self) -> None:
        self._columns = NodeColumns(list(self.nodes.values()))
        size = self._columns.size
        self.used = np.zeros((USED_ROWS, size), np.int64)
        self.scalars_used: dict[str, IntVector] = {}
        self.lowest_priority = np.full(size, NO_PRIORITY, np.int64)
        self.residents: list[dict[str, PodState]] = [{} for _ in range(size)]
        self.index = PodIndex(size)
        self.uses: dict[int, NodeUse] = {}
        self.port_nodes: dict[tuple[str, int], set[int]] = {}
        self.disk_nodes: dict[DiskKey, set[int]] = {}
        self.volume_nodes: dict[str, set[int]] = {}
        self.attached_counts = np.zeros((3, size), np.int64)
        self.touched: list[int] = []
        self.generation += 1
        self._forget()

    @property
    def columns(self) -> NodeColumns:
        """The node columns, rebuilt first if objects have changed since."""
        if self._stale:
            self.refresh()
        return self._columns

    def refresh(self) -> None:
        """Rebuild columns and counts from the objects, if any of them made them stale."""
        if not self._stale:
            return
        self._stale = False
        self._reset()
        for state in self.pods.values():
            state.kind = self.index.kind_of(state.info)
            state.affinity = self.index.class_of(state.info)
            state.node = self._columns.index.get(state.node_name, -1)
            self._count(state, 1)

    def _forget(self) -> None:
        self._memo.clear()
        self._memo_bytes = 0

    def memo(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Remember a value that depends on nodes, storage, services and workloads but on no pod."""
        if key in self._memo:
            return cast("T", self._memo[key])
        value = compute()
        if isinstance(value, np.ndarray):
            value.flags.writeable = False  # every pod of the class reads this very array
            self._memo_bytes += value.nbytes
        if len(self._memo) >= MEMO_LIMIT or self._memo_bytes > MEMO_BYTES:
            self._forget()
        self._memo[key] = value
        return value

    # Changes from outside

    def put(self, obj: KubernetesObject) -> PodState | None:
        """Create an object or replace the one of its kind and key; returns a pod's new state.

        A pod that is replaced keeps its position of creation. A terminal pod is only remembered.
        """
        match obj:
            case Pod():
                return self._put_pod(obj)
            case Node():
                self.nodes[obj.meta.name] = obj
                self._stale = True
            case PersistentVolume():
                self.storage.volumes[obj.meta.name] = obj
                self._stale = True
            case PersistentVolumeClaim():
                self.storage.claims[obj.meta.key] = obj
                self._stale = True
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
        self._changed()
        return None

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
        """Delete an object; one that does not exist is no error, as with ``--ignore-not-found``."""
        if kind == "Pod":
            self.finished.pop(key, None)
            self.remove_pod(key)
            return
        table = self._tables.get(kind)
        if table is not None:
            table.pop(key, None)
            self._stale = self._stale or kind in ("Node", "PersistentVolume", "PersistentVolumeClaim")
        else:
            self.workloads.pop((kind, key), None)
        self._changed()

    def _changed(self) -> None:
        self.generation += 1
        self._forget()

    def _put_pod(self, pod: Pod) -> PodState | None:
        key = pod.meta.key
        former = self.remove_pod(key)
        self.finished.pop(key, None)
        if pod.terminal:
            self.finished[key] = pod
            return None
        info = self.compile(pod)
        if former is None:
            self._created += 1
        state = PodState(
            key=key,
            pod=pod,
            info=info,
            kind=self.index.kind_of(info),
            affinity=self.index.class_of(info),
            order=self._created - 1 if former is None else former.order,
            priority=clamp(pod.priority),
            nominated=pod.nominated_node_name,
        )
        self.pods[key] = state
        if pod.node_name:
            self.assign(state, pod.node_name)
        return state

    def compile(self, pod: Pod) -> PodInfo:
        """Compile a pod, or find the class that an equal one was compiled to."""
        key = class_key(pod)
        info = self._classes.get(key)
        if info is None:
            info = self._classes[key] = compile_pod(pod, len(self._classes))
        return info

    def usages(self, pods: Sequence[PodState]) -> IntVector:
        """Return what pods take on a node, ``(len(pods), 6) int64``."""
        if len(self._usages) < len(self._classes):
            self._usages = np.array([info.usage for info in self._classes.values()], np.int64)
        return self._usages[[pod.info.number for pod in pods]]

    def use_of(self, info: PodInfo) -> PodUse:
        """Return the ports and volumes that pods of a class occupy."""
        return self.memo(("use", info.number), lambda: pod_use(info, self.storage))

    # Decisions

    def assign(self, state: PodState, node_name: str) -> tuple[str, ...]:
        """Put a pod on a node (schedulercache.AssumePod); a node that does not exist holds no columns.

        Returns the claims, as ``namespace/name``, that were bound to volumes with it.
        """
        state.node_name = node_name
        bound = self._bind_claims(state)
        if not self._stale:  # a refresh to come counts every pod
            state.node = self._columns.index.get(node_name, -1)
            self._count(state, 1)
        return bound

    def _bind_claims(self, state: PodState) -> tuple[str, ...]:
        """Bind the claims that waited for this pod to the volumes that were found for it on its node."""
        node = self.nodes.get(state.node_name)
        if not state.info.claims or node is None or self._stale:
            return ()
        try:
            waiting = self.storage.waiting_claims(state.info)
        except ClaimError:  # a pod that was bound from outside; no predicate looked at its claims
            return ()
        reachable = {
            name
            for name, volume in self.storage.volumes.items()
            if volume.node_affinity is None or any(term_matches(term, node) for term in volume.node_affinity)
        }
        found = self.storage.match_waiting(waiting, reachable) if waiting else None
        for claim, volume in (found or {}).items():
            self.storage.bind(claim, volume)
        if found:
            self._changed()
        return tuple(found or ())

    def remove_pod(self, key: str) -> PodState | None:
        """Delete a pod wherever it is; returns its last state."""
        state = self.pods.pop(key, None)
        if state is not None and state.node_name and not self._stale:
            self._count(state, -1)
        return state

    def _count(self, state: PodState, sign: int) -> None:
        node, info = state.node, state.info
        if node < 0:
            return
        self.touched.append(node)
        self.used[:, node] += sign * info.usage
        for name, amount in info.scalar_usage:
            column = self.scalars_used.get(name)
            if column is None:
                column = self.scalars_used[name] = np.zeros(self._columns.size, np.int64)
            column[node] += sign * amount
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
        if info.ports or info.volumes:
            self._count_use(state, sign)

    def _count_use(self, state: PodState, sign: int) -> None:
        node, info = state.node, state.info
        # what was counted in is what is counted out, even if a claim was bound in between
        pod = state.use = self.use_of(info) if sign > 0 or state.use is None else state.use
        if not pod:
            return
        use = self.uses.setdefault(node, NodeUse())
        use.change(pod, sign)
        for port in pod.ports:
            held = any(p[1:] == port[1:] for p in use.holders)
            _index(self.port_nodes, port[1:], node, held=held)
        for disk, _ in pod.disks:
            _index(self.disk_nodes, disk, node, held=disk in use.disks)
        for row, ids in enumerate(pod.attached):
            self.attached_counts[row, node] = len(use.attached[row])
            for volume in ids:
                held = any(volume in held_ids for held_ids in use.attached)
                _index(self.volume_nodes, volume, node, held=held)

    def scalar_used(self, name: str) -> IntVector:
        """What the pods on each node use of a scalar resource, ``(N,) int64``."""
        return self.scalars_used.get(name, self._columns.no_scalar)

    def resource_state(self, node: int, scalars: tuple[str, ...]) -> Hashable:
        """Describe a node's resources and what its pods use of them, of scalars only the named ones.

        Equal descriptions mean that whatever reads nothing else of a node finds the same there.
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


K = TypeVar("K", bound=Hashable)


def _index(index: dict[K, set[int]], key: K, node: int, *, held: bool) -> None:
    nodes = index.setdefault(key, set())
    (nodes.add if held else nodes.discard)(node)
    if not nodes:
        del index[key]
