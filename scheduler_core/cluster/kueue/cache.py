"""What the scheduler decides by: the objects, the quota tree, and the workloads that hold quota."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from scheduler_core.cluster.kueue.amounts import add_usage
from scheduler_core.cluster.kueue.candidates import Reserving, reserving
from scheduler_core.cluster.kueue.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LocalQueue,
    ResourceFlavor,
    Topology,
    Usage,
)
from scheduler_core.cluster.kueue.quota import QuotaNode, QuotaTree, queues_below
from scheduler_core.cluster.kueue.requests import Surroundings
from scheduler_core.cluster.kueue.topology.placement import TopologyGates
from scheduler_core.cluster.kueue.topology.snapshot import TopologySnapshot, topology_usage_of
from scheduler_core.cluster.kueue.topology.tree import TopologyTree, build_tree, held_by_others
from scheduler_core.cluster.kueue.workload import Workload, usage_of
from scheduler_core.cluster.v1_37.objects import Manifest


class Activity(Struct, frozen=True):
    """Whether a ClusterQueue admits workloads, as its condition Active says."""

    is_active: bool
    reason: str
    message: str


READY = Activity(True, "Ready", "Can admit new workloads")


_COPIED = (
    *("flavors", "cohorts", "queues", "local_queues", "checks", "topologies", "namespaces", "nodes", "pods"),
    *("holders", "generations"),
)


class Cache:
    """The objects by name or key, the tree of their quota, and the reserving workloads of each queue."""

    def __init__(self) -> None:
        self.flavors: dict[str, ResourceFlavor] = {}
        self.cohorts: dict[str, Cohort] = {}
        self.queues: dict[str, ClusterQueue] = {}
        self.local_queues: dict[str, LocalQueue] = {}
        self.checks: dict[str, AdmissionCheck] = {}
        self.topologies: dict[str, Topology] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.surroundings = Surroundings()
        self.nodes: dict[str, Manifest] = {}
        self.pods: dict[str, Manifest] = {}
        self._tree = QuotaTree()
        self._changed: set[str] | None = None
        self.reserving: dict[str, dict[str, Reserving]] = {}
        self.holders: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self._activity: dict[str, Activity] = {}
        self._topology_trees: dict[str, TopologyTree] | None = None

    def copy(self) -> Cache:
        """Return the same objects and workloads, to be changed apart."""
        other = Cache()
        for name in _COPIED:
            setattr(other, name, dict(getattr(self, name)))
        other.reserving = {name: dict(one) for name, one in self.reserving.items()}
        other.surroundings, other._topology_trees = self.surroundings, self._topology_trees
        other._changed = set()
        return other

    # --- queues and cohorts

    @property
    def tree(self) -> QuotaTree:
        """The quota tree, built again if a queue or cohort has changed."""
        if self._changed is not None:
            changed, self._changed = self._changed, None
            self._tree.build(self.queues, self.cohorts, self._usage_in)
            for name in changed:
                self.outdate(name)
        return self._tree

    def _usage_in(self, queue: str) -> Usage:
        total: Usage = {}
        for one in self.reserving.get(queue, {}).values():
            add_usage(total, one.usage)
        return total

    def change(self, name: str) -> None:
        """Let the tree be built again: a queue or cohort of this name changed."""
        if self._changed is None:
            self.outdate(name)
            self._changed = set()
        self._changed.add(name)
        self._activity.clear()

    def outdate(self, name: str) -> None:
        """Outdate the stored flavor positions of all queues in the tree of a queue or cohort."""
        node = self._tree.queues.get(name) or self._tree.cohorts.get(name)
        if node is not None:
            for queue in queues_below(node.root):
                self.generations[queue.name] = self.generations.get(queue.name, 0) + 1

    def review(self) -> None:
        """Let it be determined again which queues are active: flavors, checks or topologies changed."""
        self._activity.clear()

    def activity(self, queue: str) -> Activity:
        """Return whether a ClusterQueue admits workloads, and why not."""
        found = self._activity.get(queue)
        if found is None:
            found = self._activity[queue] = self._determine(self.queues[queue])
        return found

    def is_active(self, queue: str) -> bool:
        """Return whether a ClusterQueue admits workloads."""
        return queue in self.queues and self.activity(queue).is_active

    def _determine(self, queue: ClusterQueue) -> Activity:
        if queue.is_terminating:
            return Activity(False, "Terminating", "Can't admit new workloads; clusterQueue is terminating")
        rows = list(self._hindrances(queue))
        if not rows:
            return READY
        texts = ", ".join(text for _, text in rows)
        return Activity(False, rows[0][0], f"Can't admit new workloads: {texts}.")

    def _hindrances(self, queue: ClusterQueue) -> Iterator[tuple[str, str]]:
        names = [flavor.name for group in queue.groups for flavor in group.flavors]
        if self._is_cyclic(queue):
            yield "CohortCycle", f"cohort {queue.cohort} has a cycle"
        if queue.stop_policy != "None":
            yield "Stopped", "is stopped"
        missing = sorted(name for name in names if name not in self.flavors)
        if missing:
            yield "FlavorNotFound", f"references missing ResourceFlavor(s): {','.join(missing)}"
        unknown = sorted(name for name in queue.checks if name not in self.checks)
        if unknown:
            yield "AdmissionCheckNotFound", f"references missing AdmissionCheck(s): {','.join(unknown)}"
        idle = sorted(
            name for name in queue.checks if name in self.checks and not self.checks[name].is_active
        )
        if idle:
            yield "AdmissionCheckInactive", f"references inactive AdmissionCheck(s): {','.join(idle)}"
        for name in names:
            topology = self.flavors[name].topology if name in self.flavors else ""
            if topology and topology not in self.topologies:
                yield "TopologyNotFound", f'there is no Topology "{topology}" for TAS flavor "{name}"'

    def _is_cyclic(self, queue: ClusterQueue) -> bool:
        node = self.tree.queues.get(queue.name)
        return node is not None and any(one.name in self.tree.cyclic for one in node.above)

    def queue_of(self, workload: Workload) -> str:
        """Return the ClusterQueue of a Workload, "" if a queue on the way to it does not exist."""
        local = self.local_queues.get(workload.queue_key)
        return local.cluster_queue if local and local.cluster_queue in self.queues else ""

    def labels_of_namespace(self, name: str) -> Mapping[str, str]:
        """Return the labels of a namespace; one that has no object has the one that each gets by its name."""
        return self.namespaces.get(name, {"kubernetes.io/metadata.name": name})

    @staticmethod
    def below(node: QuotaNode) -> list[str]:
        """Return the names of the queues of a subtree."""
        return [one.name for one in queues_below(node)]

    def has_node_labels(self, queue: str) -> bool:
        """Return whether one of a queue's flavors has node labels."""
        names = [flavor.name for group in self.queues[queue].groups for flavor in group.flavors]
        return any(name in self.flavors and self.flavors[name].node_labels for name in names)

    def has_hierarchy(self, queue: str) -> bool:
        """Return whether a Cohort object other than the root is among a queue's ancestors."""
        above = list(self.tree.queues[queue].above)
        return any(one.name in self.cohorts for one in above[:-1])

    # --- topologies

    def change_topologies(self) -> None:
        """Let the trees of topologies be built again: nodes, pods on them, flavors or topologies changed."""
        self._topology_trees = None

    @property
    def topology_trees(self) -> dict[str, TopologyTree]:
        """The trees of the flavors that have a topology."""
        if self._topology_trees is None:
            flavors = [one for one in self.flavors.values() if one.topology in self.topologies]
            held = held_by_others(self.pods.values()) if flavors else {}
            self._topology_trees = {
                one.name: build_tree(one, self.topologies[one.topology], self.nodes.values(), held)
                for one in flavors
            }
        return self._topology_trees

    def topology_snapshot(self, gates: Mapping[str, bool]) -> TopologySnapshot:
        """Return the trees of topologies with what the reserving workloads use of them."""
        gated = TopologyGates(gates["TASProfileMixed"], gates["TASBalancedPlacement"])
        snapshot = TopologySnapshot(self.topology_trees, {}, gated)
        for queue in self.reserving.values() if snapshot.trees else ():
            for one in queue.values():
                snapshot.add(topology_usage_of(one.workload))
        return snapshot

    # --- reserving workloads

    def reserve(self, workload: Workload) -> None:
        """Add a reserving workload, or replace it."""
        self.release(workload.key)
        if workload.admission is None:
            return
        queue = workload.admission.cluster_queue
        one = reserving(workload, queue, usage_of(workload))
        self._count(queue, one, more=True)
        self.reserving.setdefault(queue, {})[workload.key] = one
        self.holders[workload.key] = queue

    def release(self, key: str) -> None:
        """Remove a reserving workload."""
        queue = self.holders.pop(key, None)
        if queue is not None:
            self._count(queue, self.reserving[queue][key], more=False)
            del self.reserving[queue][key]
            self.generations[queue] = self.generations.get(queue, 0) + 1

    def _count(self, queue: str, one: Reserving, *, more: bool) -> None:
        """Count a workload in the tree, which is built of those in ``reserving`` if it is not yet."""
        node = self.tree.queues.get(queue)
        if node is not None:
            (self.tree.add if more else self.tree.remove)(node, one.usage)
            self.tree.commit()
