"""The current objects, indexed by the keys that controllers look up: owner, node, label, claim, class.

Every index is updated incrementally, so that no lookup iterates over all objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from msgspec.structs import replace

from scheduler_core.cluster.controllers.branching import Branching
from scheduler_core.cluster.controllers.budget_index import BudgetIndex
from scheduler_core.cluster.controllers.changes import Options, timestamp
from scheduler_core.cluster.controllers.owned import Owned, controller_of, is_active, key_in, ordinal_of
from scheduler_core.cluster.controllers.pod_index import PodNameIndex, discard
from scheduler_core.cluster.controllers.volume_index import VolumeIndex
from scheduler_core.cluster.controllers.workloads import make_pod, template_hash
from scheduler_core.formats.decode import short_hash
from scheduler_core.kubernetes.admission import uid_for
from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.model import (
    KubernetesObject,
    LabelSelector,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    StorageClass,
    Workload,
)
from scheduler_core.kubernetes.selectors import matches

AdmitPod = Callable[[Pod], Pod]

DRAIN = "podstep/drain"
"""The annotation of a node that is being drained (:mod:`scheduler_core.cluster.controllers.draining`)."""


def ready_status(node: Node) -> str:
    """Return the status of the node's condition Ready, ``"True"`` if it has none."""
    return next((c.status for c in node.conditions if c.type == "Ready"), "True")


def evicts(node: Node) -> bool:
    """Return whether the node has a NoExecute taint, which evicts pods."""
    return any(taint.effect == "NoExecute" for taint in node.taints)


class Store(Branching):
    """The objects by key. ``…_since`` are virtual seconds, by node."""

    def __init__(self, options: Options, admit: AdmitPod) -> None:
        self.options = options
        self.admit = admit
        self.objects: dict[Key, KubernetesObject] = {}
        self.nodes: dict[str, Node] = {}
        self.daemon_sets: dict[Key, None] = {}
        self.failing_since: dict[str, float] = {}
        self.tainted_since: dict[str, float] = {}
        self.draining_since: dict[str, float] = {}
        self.evictions_tried: dict[str, float] = {}  # by node: when its drain last did
        self.pods = 0
        self.index = PodNameIndex()
        self.volumes = VolumeIndex()
        self.budgets = BudgetIndex()
        self._lives: dict[str, int] = {}  # how many StatefulSet pods of this name were deleted
        self._owned: dict[Key, Owned] = {}
        self._held: dict[Key, dict[Key, None]] = {}  # by owners that are not the controller
        self._adopters: dict[tuple[str, str, str], dict[Key, None]] = {}
        self._prototypes: dict[Key, tuple[Pod, Pod]] = {}
        self._revisions: dict[Key, list[tuple[Pod, str]]] = {}

    # --- lookups

    def pod(self, name: str) -> Pod | None:
        """Return a pod by ``namespace/name``."""
        found = self.objects.get(("Pod", name))
        return found if isinstance(found, Pod) else None

    def owned(self, owner: Key) -> Owned:
        """Return the objects that the controller with this key owns."""
        found = self._owned.get(owner)
        return found if found is not None else self._owned.setdefault(owner, Owned())

    def pods_of(self, owner: Workload) -> list[Pod]:
        """Return a controller's active pods in order of creation."""
        found = [self.objects[key] for key in self.owned(key_of(owner)).members]
        return [pod for pod in found if isinstance(pod, Pod) and is_active(pod)]

    def member(self, owner: Workload, name: str) -> Pod | None:
        """Return a controller's pod by name, including terminated ones; ``None`` if there is none."""
        key = ("Pod", f"{owner.meta.namespace}/{name}")
        return self.pod(key[1]) if key in self.owned(key_of(owner)).members else None

    def steady(self, owner: Workload) -> int:
        """Return the first ordinal of a StatefulSet that is not available; all pods below it are."""
        owned = self.owned(key_of(owner))
        while (pod := self.member(owner, f"{owner.meta.name}-{owned.steady}")) is not None and pod.available:
            owned.steady += 1
        return owned.steady

    def sets_of(self, owner: Workload) -> list[Workload]:
        """Return a Deployment's ReplicaSets in order of creation."""
        found = [self.objects[key] for key in self.owned(key_of(owner)).members]
        return [made for made in found if isinstance(made, Workload)]

    def dependents(self, owner: Key) -> list[KubernetesObject]:
        """Return every object that has the object with this key among its owners."""
        own = self._owned[owner].members if owner in self._owned else {}
        return [self.objects[key] for key in {**own, **self._held.get(owner, {})}]

    def pods_on(self, node: str) -> list[Pod]:
        """Return the pods bound to a node, without terminal ones."""
        found = [self.pod(name) for name in self.index.on.get(node, ())]
        return [pod for pod in found if pod is not None and not pod.terminal]

    def daemons(self, owner: Key, node: str) -> list[Pod]:
        """Return a DaemonSet's pods for one node, including terminated ones."""
        found = [self.pod(name) for name in self.index.daemons.get((owner, node), ())]
        return [pod for pod in found if pod is not None]

    def users(self, claim: str) -> list[Pod]:
        """Return the pods that use a claim, in order of creation."""
        found = [self.pod(name) for name in self.index.users.get(claim, ())]
        return [pod for pod in found if pod is not None]

    def orphans(self, owner: Workload) -> list[Pod]:
        """Return the active pods without an owner that the controller selects by at least one label."""
        label = _first_label(owner.meta.namespace, owner.selector)
        found = [self.pod(name) for name in self.index.orphans.get(label, ())] if label else []
        return [p for p in found if p is not None and is_active(p) and matches(owner.selector, p.meta.labels)]

    def adopters(self, pod: Pod) -> list[Key]:
        """Return the controllers that may adopt a pod without an owner."""
        labels = pod.meta.labels.items()
        groups = [self._adopters.get((pod.meta.namespace, *label), {}) for label in labels]
        return list(dict.fromkeys(key for group in groups for key in group))

    # --- creating pods

    def fresh_names(self, owner: Workload) -> Iterator[str]:
        """Yield names for new pods as ``generateName`` would; each is used once in the owner's life."""
        owned = self.owned(key_of(owner))
        for place in count():
            name = owned.name(owner, place)
            if ("Pod", f"{owner.meta.namespace}/{name}") not in self.objects:
                yield name

    def new_pod(self, owner: Workload, name: str, now: float, *, template: Pod | None = None) -> Pod:
        """Return an admitted pod of a controller, created from its template or an older one."""
        wanted = template or owner.template
        assert wanted is not None
        key = key_of(owner)
        known = self._prototypes.get(key)
        if known is None or known[0] is not wanted:
            known = self._prototypes[key] = (
                wanted,
                self.admit(make_pod(replace(owner, template=wanted), "")),
            )
        prototype = known[1]
        namespace, meta = owner.meta.namespace, prototype.meta
        lives = self._lives.get(f"{namespace}/{name}", 0) if owner.kind == "StatefulSet" else 0
        uid = uid_for("Pod", namespace, f"{name}/{lives}" if lives else name)
        stamp = timestamp(self.options, now)
        own = replace(meta, name=name, namespace=namespace, uid=uid, creation_timestamp=stamp)
        return replace(prototype, meta=own)

    def revision(self, owner: Workload, template: Pod) -> str:
        """Return the hash of one of a controller's templates."""
        known = self._revisions.setdefault(key_of(owner), [])
        found = next((revision for made, revision in known if made is template), None)
        if found is None:
            found = template_hash(template)
            if template.restart_policy:  # the hash in ReplicaSet names omits it
                found = short_hash(found, template.restart_policy, length=len(found))
            known.append((template, found))
            del known[:-4]
        return found

    # --- changes

    def put(self, key: Key, obj: KubernetesObject, now: float) -> KubernetesObject | None:
        """Add an object, or replace and return the one with its key."""
        old = self.objects.get(key)
        self.objects[key] = obj
        if old is None or old.meta.owner_references != obj.meta.owner_references:
            if old is not None:
                self._disown(key, old)
            self._own(key, obj)
        if isinstance(obj, Pod):
            before = old if isinstance(old, Pod) else None
            self.pods += before is None
            self.index.put(key[1], before, obj, now)
            if before is None or before.meta is not obj.meta:
                self.budgets.put_pod(obj)
            self._count(before, obj, now)
        elif isinstance(obj, Node):
            self._put_node(obj, old, now)
        elif isinstance(obj, Workload):
            self._put_workload(key, obj, old)
        elif isinstance(obj, PersistentVolume | PersistentVolumeClaim):
            if isinstance(old, PersistentVolume | PersistentVolumeClaim):
                self.volumes.drop(old)
            self.volumes.add(obj)
        elif isinstance(obj, PodDisruptionBudget):
            self.budgets.put(obj, self._pods_in(obj.meta.namespace))
        elif isinstance(obj, PriorityClass | StorageClass):
            self._prototypes.clear()  # the admitted templates may have changed
        return old

    def remove(self, key: Key) -> KubernetesObject:
        """Remove and return an object."""
        obj = self.objects.pop(key)
        if isinstance(obj, Pod):
            self._count(obj, None, 0.0)
            self.index.remove(key[1], obj)
            self.budgets.drop_pod(obj)
            self.pods -= 1
            owner = controller_of(obj)
            if owner is not None and owner.kind == "StatefulSet":
                self._lives[key[1]] = self._lives.get(key[1], 0) + 1
        elif isinstance(obj, Node):
            self.nodes.pop(key[1], None)
            self.failing_since.pop(key[1], None)
            self.tainted_since.pop(key[1], None)
            self._end_drain(key[1])
        elif isinstance(obj, Workload):
            self.daemon_sets.pop(key, None)
            self._prototypes.pop(key, None)
            self._revisions.pop(key, None)
            if label := _first_label(obj.meta.namespace, obj.selector):
                discard(self._adopters, label, key)
        elif isinstance(obj, PersistentVolume | PersistentVolumeClaim):
            self.volumes.drop(obj)
        elif isinstance(obj, PodDisruptionBudget):
            self.budgets.drop(obj)
        self._disown(key, obj)
        if key in self._owned and not self._owned[key].members:
            del self._owned[key]
        return obj

    def _pods_in(self, namespace: str) -> Iterator[Pod]:
        for obj in self.objects.values():
            if isinstance(obj, Pod) and obj.meta.namespace == namespace:
                yield obj

    def _put_node(self, node: Node, old: KubernetesObject | None, now: float) -> None:
        name = node.meta.name
        self.nodes[name] = node
        if ready_status(node) == "True":
            self.failing_since.pop(name, None)
        else:
            self.failing_since.setdefault(name, now)
        if not evicts(node):
            self.tainted_since.pop(name, None)
        elif not isinstance(old, Node) or old.taints != node.taints or name not in self.tainted_since:
            self.tainted_since[name] = now
        if DRAIN not in node.meta.annotations:
            self._end_drain(name)
        else:
            self.draining_since.setdefault(name, now)

    def _end_drain(self, node: str) -> None:
        self.draining_since.pop(node, None)
        self.evictions_tried.pop(node, None)

    def _put_workload(self, key: Key, owner: Workload, old: KubernetesObject | None) -> None:
        if owner.kind == "DaemonSet":
            self.daemon_sets[key] = None
        if owner.kind not in ("ReplicaSet", "ReplicationController"):
            return
        previous = _first_label(old.meta.namespace, old.selector) if isinstance(old, Workload) else None
        if previous is not None:
            discard(self._adopters, previous, key)
        if label := _first_label(owner.meta.namespace, owner.selector):
            self._adopters.setdefault(label, {})[key] = None

    def _own(self, key: Key, obj: KubernetesObject) -> None:
        controller = controller_of(obj)
        for reference in obj.meta.owner_references:
            owner = key_in(obj, reference)
            if reference is controller:
                owned = self.owned(owner)
                owned.members[key] = None
                if isinstance(obj, Pod):
                    owned.use(obj.meta.name, self.objects.get(owner))
            else:
                self._held.setdefault(owner, {})[key] = None

    def _disown(self, key: Key, obj: KubernetesObject) -> None:
        controller = controller_of(obj)
        for reference in obj.meta.owner_references:
            owner = key_in(obj, reference)
            if reference is not controller:
                discard(self._held, owner, key)
            elif (owned := self._owned.get(owner)) is not None:
                owned.members.pop(key, None)
                if not owned.members and owner not in self.objects:
                    del self._owned[owner]

    def _count(self, old: Pod | None, new: Pod | None, now: float) -> None:
        """Update the counts of a pod's controller from the pod's old state to its new one."""
        if old is not None and new is not None and counts_alike(old, new):
            return
        was = controller_of(old) if old is not None else None
        is_now = controller_of(new) if new is not None else None
        if old is not None and was is not None and (owned := self._owned.get(key_in(old, was))) is not None:
            owned.leave(old)
            if was.kind == "StatefulSet" and old.available and not (new is not None and new.available):
                owned.steady = min(owned.steady, max(0, ordinal_of(old)))
        if new is not None and is_now is not None:
            owned = self.owned(key_in(new, is_now))
            owned.join(new)
            owned.restarts += new.restarts - (old.restarts if old is not None and was == is_now else 0)
            if new.terminal and (old is None or not old.terminal):
                owned.end(new, now)


def counts_alike(old: Pod, new: Pod) -> bool:
    """Return whether a pod's change is irrelevant to its controller, such as a binding."""
    return (
        old.meta is new.meta
        and old.phase == new.phase
        and old.ready == new.ready
        and old.restarts == new.restarts
    )


def _first_label(namespace: str, selector: LabelSelector | None) -> tuple[str, str, str] | None:
    if selector is None or not selector.match_labels:
        return None
    return (namespace, *next(iter(selector.match_labels.items())))
