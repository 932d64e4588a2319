"""The host ports and volumes in use by the pods on the nodes, and an index of the nodes of each.

Volumes can be derived from the pods and the storage objects, and counted again at any time. Host ports
cannot: v1.11 keeps them as a set, so that the ports in use on a node depend on the order in which pods were
added and removed. They are therefore kept by the node's name and updated with every pod at once, even
while the node list is stale, and they survive the node's deletion and re-creation as long as pods are bound
to it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np

from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.storage import ATTACH_KINDS, DiskKey, NodeUse, PodUse, Storage

K = TypeVar("K", bound=Hashable)


class Holdings:
    """Ports and volumes in use by node, and for each port, disk and volume the nodes that hold it.

    ``uses`` maps a node's index to its :class:`NodeUse`. ``attached_counts`` is ``(3, N) int64``: the number
    of distinct volumes of each of :data:`ATTACH_KINDS`.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, NodeUse] = {}
        self._claimants: dict[str, dict[str, PodState]] = {}  # claim to the pods on nodes that reference it
        self._changed_claims: set[str] = set()
        self._changed_volumes: set[str] = set()
        self.start(())

    def start(self, names: tuple[str, ...]) -> None:
        """Reset the counts for these nodes: no volumes, and the ports as they are."""
        self.names = names
        self.uses: dict[int, NodeUse] = {}
        self.port_nodes: dict[tuple[str, int], set[int]] = {}
        self.disk_nodes: dict[DiskKey, set[int]] = {}
        self.volume_nodes: dict[str, set[int]] = {}
        self.attached_counts = np.zeros((len(ATTACH_KINDS), len(names)), np.int64)
        self._by_name = {name: use.ports_alone() for name, use in self._by_name.items() if use.holders}
        for node, name in enumerate(names) if self._by_name else ():
            use = self._by_name.get(name)
            if use is not None:
                self.uses[node] = use
                for port in use.holders:
                    self.port_nodes.setdefault(port[1:], set()).add(node)
        self._changed_claims.clear()
        self._changed_volumes.clear()

    # Pods that are bound to a node by name

    def enter(self, state: PodState) -> None:
        """Add a pod's ports to those in use on its node, and register its claims."""
        for claim in _claims(state.info):
            self._claimants.setdefault(claim, {})[state.key] = state
        if state.info.ports:
            self._by_name.setdefault(state.node_name, NodeUse()).change_ports(state.info.ports, 1)

    def leave(self, state: PodState) -> None:
        """Free a pod's ports, even those that another pod of the node also holds."""
        for claim in _claims(state.info):
            claimants = self._claimants[claim]
            del claimants[state.key]
            if not claimants:
                del self._claimants[claim]
        if state.info.ports:
            self._by_name[state.node_name].change_ports(state.info.ports, -1)

    def relist_ports(self, states: Iterable[PodState]) -> None:
        """Set the ports in use to those of all pods, like a scheduler that starts and lists the pods."""
        for use in self._by_name.values():
            use.ports.clear()
        for state in states:
            if state.info.ports and state.node_name:
                self._by_name[state.node_name].ports.update(state.info.ports)

    # Pods that are counted on a node by index

    def count(self, state: PodState, sign: int, use: PodUse) -> None:
        """Add (+1) or remove (-1) a pod's volumes on its node, and update the index of its ports."""
        node = state.node
        # remove exactly what was added, even if a claim was bound in between
        counted = state.use = use if sign > 0 or state.use is None else state.use
        if not counted:
            return
        held = self._use_on(node)
        for port in counted.ports:
            _index(self.port_nodes, port[1:], node, held=any(p[1:] == port[1:] for p in held.holders))
        held.change_volumes(counted, sign)
        for disk, _ in counted.disks:
            _index(self.disk_nodes, disk, node, held=disk in held.disks)
        self._index_volumes(held, node, (volume for ids in counted.attached for volume in ids))

    def recount(self, state: PodState, use: PodUse) -> None:
        """Replace the counted volumes of a pod by those that its claims are bound to now."""
        previous, state.use = use if state.use is None else state.use, use
        held = self._use_on(state.node)
        held.change_volumes(PodUse((), (), previous.attached), -1)
        held.change_volumes(PodUse((), (), use.attached), 1)
        both = {volume for ids in (*previous.attached, *use.attached) for volume in ids}
        self._index_volumes(held, state.node, both)

    def _use_on(self, node: int) -> NodeUse:
        use = self.uses.get(node)
        if use is None:
            use = self.uses[node] = self._by_name.setdefault(self.names[node], NodeUse())
        return use

    def _index_volumes(self, held: NodeUse, node: int, volumes: Iterable[str]) -> None:
        for row, there in enumerate(held.attached):
            self.attached_counts[row, node] = len(there)
        for volume in volumes:
            _index(self.volume_nodes, volume, node, held=any(volume in ids for ids in held.attached))

    # Changes of claims and volumes

    def claim_changed(self, key: str) -> None:
        """Mark a claim (``namespace/name``) as changed: it may be bound to another volume, or to none."""
        self._changed_claims.add(key)

    def volume_changed(self, name: str) -> None:
        """Mark a PersistentVolume as created, updated or deleted."""
        self._changed_volumes.add(name)

    def take_outdated(self, storage: Storage) -> list[PodState]:
        """Drain the marked changes; return the pods on nodes whose claims are affected."""
        if not self._changed_claims and not self._changed_volumes:
            return []
        changed = self._changed_claims
        if self._changed_volumes and self._claimants:
            volumes = self._changed_volumes
            changed |= {key for key, claim in storage.claims.items() if claim.volume_name in volumes}
        found = {key: state for claim in changed for key, state in self._claimants.get(claim, {}).items()}
        self._changed_claims, self._changed_volumes = set(), set()
        return [state for state in found.values() if state.node >= 0]


def _claims(info: PodInfo) -> tuple[str, ...]:
    return tuple({f"{info.namespace}/{name}": None for name in info.claims}) if info.claims else ()


def _index(index: dict[K, set[int]], key: K, node: int, *, held: bool) -> None:
    nodes = index.setdefault(key, set())
    (nodes.add if held else nodes.discard)(node)
    if not nodes:
        del index[key]
