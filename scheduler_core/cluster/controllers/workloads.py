"""Expand controllers to pods: what the controllers of v1.11 would create in addition to existing pods.

Each ``expand_…`` takes the existing objects and one controller, and adds what it would create, update and
delete to its last argument; :data:`scheduler_core.cluster.controllers.table.EXPANSIONS` names it by kind.
Names and uids are deterministic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import ClassVar, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.cluster.controllers.daemon_admission import (
    daemon_node,
    fits_daemon,
    why_unwelcome,
    with_daemon_affinity,
    with_daemon_tolerations,
)
from scheduler_core.forks import Copier, Forkable, Memo, flat, nested
from scheduler_core.formats.decode import short_hash
from scheduler_core.kubernetes.admission import uid_for
from scheduler_core.kubernetes.keys import Key, key_of, kind_of
from scheduler_core.kubernetes.model import (
    KubernetesObject,
    LabelSelector,
    Node,
    ObjectMeta,
    OwnerReference,
    PersistentVolumeClaim,
    Pod,
    Volume,
    Workload,
)
from scheduler_core.kubernetes.selectors import matches

HASH_LABEL = "pod-template-hash"
Action = Literal["create", "update", "delete"]
WorkloadChange = tuple[Action, KubernetesObject]
OrphanIndex = dict[tuple[str, str, str], dict[Key, None]]
"""Keys of pods by namespace, a label and its value."""


class WorkloadChanges(Struct):
    """The changes of a controller: objects to create, in order, objects to replace, objects to delete."""

    create: list[KubernetesObject] = field(default_factory=list)
    update: list[KubernetesObject] = field(default_factory=list)
    delete: list[KubernetesObject] = field(default_factory=list)


def _unindexed(value: OrphanIndex | None, memo: Memo) -> None:
    """Have an index made again when it is needed."""
    del value, memo


class ExistingObjects(Forkable):
    """The objects that exist at one moment, by key, in creation order, with an index by owner."""

    FORKED: ClassVar[Mapping[str, Copier]] = {
        "objects": flat, "_owned": nested, "_pods_on": nested, "_orphans": _unindexed, "_hashes": nested,
    }  # fmt: skip

    def __init__(self) -> None:
        self.objects: dict[Key, KubernetesObject] = {}
        self.daemons_pending = False  # the scheduler places the pods of DaemonSets, as since 1.12
        self._owned: dict[Key, dict[Key, None]] = {}
        self._pods_on: dict[str, dict[Key, None]] = {}
        self._orphans: OrphanIndex | None = None
        self._hashes: dict[
            str, dict[str, None]
        ] = {}  # namespace/name of a Deployment: its ReplicaSets' suffixes

    def put(self, obj: KubernetesObject) -> None:
        """Add an object, or replace the one with the same key."""
        key = key_of(obj)
        if key in self.objects:
            self._unlink(key, self.objects[key])
        self.objects[key] = obj
        owner = obj.meta.controller
        if owner is not None:
            above = owner_key(obj.meta, owner)
            self._owned.setdefault(above, {})[key] = None
            if owner.kind == "ReplicaSet":
                stem, _, suffix = above[1].rpartition("-")
                self._hashes.setdefault(stem, {})[suffix] = None
        if isinstance(obj, Pod):
            if obj.node_name:
                self._pods_on.setdefault(obj.node_name, {})[key] = None
            if self._orphans is not None:
                self._index_orphan(self._orphans, key, obj)

    def _orphan_index(self) -> OrphanIndex:
        """Return the pods without an owner by their labels; made when it is first needed."""
        if self._orphans is None:
            self._orphans = {}
            for key, obj in self.objects.items():
                if isinstance(obj, Pod):
                    self._index_orphan(self._orphans, key, obj)
        return self._orphans

    def _index_orphan(self, index: OrphanIndex, key: Key, pod: Pod) -> None:
        for label in _orphan_labels(pod):
            index.setdefault(label, {})[key] = None

    def put_replicas(self, objects: Sequence[KubernetesObject]) -> list[Key]:
        """Add an object and replicas of it; return their keys."""
        self.put(objects[0])
        owner, keys = objects[0].meta.controller, [key_of(obj) for obj in objects]
        if owner is None or any(key in self.objects for key in keys[1:]):
            for obj in objects[1:]:
                self.put(obj)
            return keys
        self.objects.update(zip(keys, objects))
        self._owned[owner_key(objects[0].meta, owner)].update(dict.fromkeys(keys))
        first = objects[0]
        if isinstance(first, Pod) and first.node_name:
            self._pods_on[first.node_name].update(dict.fromkeys(keys))
        return keys

    def remove(self, key: Key) -> None:
        """Remove an object."""
        self._unlink(key, self.objects.pop(key))

    def _unlink(self, key: Key, obj: KubernetesObject) -> None:
        owner = obj.meta.controller
        if owner is not None:
            self._owned.get(owner_key(obj.meta, owner), {}).pop(key, None)
        if isinstance(obj, Pod):
            self._pods_on.get(obj.node_name, {}).pop(key, None)
            for label in _orphan_labels(obj):
                self._orphan_index().get(label, {}).pop(key, None)

    def orphans(self, namespace: str, selector: LabelSelector | None) -> list[Pod]:
        """Return the active pods without an owner that the selector matches by at least one label."""
        if selector is None or not selector.match_labels:
            return []
        label, value = next(iter(selector.match_labels.items()))
        found = [self.objects[key] for key in self._orphan_index().get((namespace, label, value), ())]
        return [pod for pod in _active(found) if matches(selector, pod.meta.labels)]

    def unlisted_sets(self, deployment: Workload) -> dict[str, int]:
        """Count the pods of those of the Deployment's ReplicaSets that the bundle lacks, by set suffix."""
        found: dict[str, int] = {}
        for suffix in self._hashes.get(deployment.meta.key, ()):
            key = ("ReplicaSet", f"{deployment.meta.key}-{suffix}")
            pods = [self.objects[pod] for pod in self._owned.get(key, ())]
            own = [pod for pod in _active(pods) if matches(deployment.selector, pod.meta.labels)]
            if own and key not in self.objects:
                found[suffix] = len(own)
        return found

    def owned(self, owner: KubernetesObject) -> list[KubernetesObject]:
        """Return the objects that the controller owns, in order of creation."""
        return [self.objects[key] for key in self._owned.get(key_of(owner), ())]

    def descendants(self, owner: KubernetesObject) -> list[KubernetesObject]:
        """Return an object and all that it owns, level by level, each once: owners may form a circle."""
        found = {key_of(owner): owner}
        waiting = [owner]
        for current in waiting:
            new = {key_of(one): one for one in self.owned(current) if key_of(one) not in found}
            found.update(new)
            waiting += new.values()
        return waiting

    def pods_on(self, node: str) -> Iterator[Pod]:
        """Yield the pods bound to a node, without terminal ones."""
        for key in self._pods_on.get(node, ()):
            pod = self.objects[key]
            if isinstance(pod, Pod) and not pod.terminal:
                yield pod

    def pods(self) -> Iterator[Pod]:
        """Yield all pods in order of creation."""
        return (obj for obj in self.objects.values() if isinstance(obj, Pod))

    def nodes(self) -> list[Node]:
        """Return all nodes in order of creation."""
        return [obj for obj in self.objects.values() if isinstance(obj, Node)]


def _orphan_labels(pod: Pod) -> Iterator[tuple[str, str, str]]:
    if not pod.meta.owner_references:
        for label, value in pod.meta.labels.items():
            yield pod.meta.namespace, label, value


def owner_key(meta: ObjectMeta, owner: OwnerReference) -> Key:
    """Return the key of an object's owner."""
    return owner.kind, f"{meta.namespace}/{owner.name}" if meta.namespace else owner.name


def _active(pods: list[KubernetesObject]) -> list[Pod]:
    """Return the pods that count as replicas: neither terminated nor being deleted."""
    return [p for p in pods if isinstance(p, Pod) and not p.terminal and p.meta.deletion_timestamp is None]


def with_uid(obj: KubernetesObject) -> KubernetesObject:
    """Return the object with a uid, its own or a deterministic one."""
    return obj if obj.meta.uid else replace(obj, meta=identified(kind_of(obj), obj.meta))


def identified(kind: str, meta: ObjectMeta) -> ObjectMeta:
    """Return the metadata of an object with a uid, its own or a deterministic one."""
    return meta if meta.uid else replace(meta, uid=uid_for(kind, meta.namespace, meta.name))


def reference_to(owner: Workload) -> OwnerReference:
    """Return the owner reference that a controller sets on the objects it creates."""
    uid = owner.meta.uid or uid_for(owner.kind, owner.meta.namespace, owner.meta.name)
    return OwnerReference(owner.kind, owner.meta.name, uid, controller=True)


def with_selector(workload: Workload) -> Workload:
    """Set the selector that is defaulted for old API versions, ReplicationControllers and Jobs.

    A Job also gets its own labels, as the API server sets them.
    """
    if workload.selector is not None or workload.template is None:
        return workload
    labels = workload.template.meta.labels
    if workload.kind == "Job":
        uid = workload.meta.uid or uid_for("Job", workload.meta.namespace, workload.meta.name)
        own = {"controller-uid": uid, "job-name": workload.meta.name}
        template = labelled(workload.template, own)
        return replace(workload, selector=LabelSelector({"controller-uid": uid}), template=template)
    return replace(workload, selector=LabelSelector(labels)) if labels else workload


def labelled(template: Pod, labels: dict[str, str]) -> Pod:
    """Return a pod or a template with additional labels."""
    meta = replace(template.meta, labels={**template.meta.labels, **labels})
    return replace(template, meta=meta)


def make_pods(owner: Workload, names: Iterable[str]) -> Iterator[Pod]:
    """Yield pods as :func:`make_pod` returns them; they share everything but their names and uids."""
    references = (reference_to(owner),)
    return (make_pod(owner, name, references) for name in names)


def make_pod(owner: Workload, name: str, references: tuple[OwnerReference, ...] = ()) -> Pod:
    """Return a pod created from the controller's template, not yet admitted.

    ``references`` are its owners, by default the controller.
    """
    assert owner.template is not None
    template = owner.template
    meta = ObjectMeta(
        name=name,
        namespace=owner.meta.namespace,
        uid=uid_for("Pod", owner.meta.namespace, name),
        labels=template.meta.labels,
        annotations=template.meta.annotations,
        owner_references=references or (reference_to(owner),),
        written=template.meta.written,
    )
    return replace(template, meta=meta)


def generated_names(owner: Workload, first: int = 0) -> Iterator[str]:
    """Yield the names that ``generateName`` yields for the controller's pods, from that number on."""
    kind, key, prefix = owner.kind, owner.meta.key, f"{owner.meta.name[:57]}-"
    return (prefix + short_hash(kind, key, str(number)) for number in count(first))


def _fresh_names(world: ExistingObjects, owner: Workload, number: int) -> Iterator[str]:
    """Return so many unused names as ``generateName`` would yield them, deterministically."""
    prefix, taken = f"{owner.meta.namespace}/", world.objects
    given: dict[str, None] = {}
    for name in generated_names(owner) if number > 0 else ():
        if ("Pod", prefix + name) not in taken:
            given[name] = None
            if len(given) == number:
                break
    return iter(given)


def expand_replicas(world: ExistingObjects, owner: Workload, changes: WorkloadChanges) -> None:
    """ReplicaSet, ReplicationController and Job: as many pods as wanted, the newest deleted first."""
    active = _active(world.owned(owner))
    if owner.kind != "Job":
        for orphan in world.orphans(owner.meta.namespace, owner.selector):
            adopted = replace(orphan, meta=replace(orphan.meta, owner_references=(reference_to(owner),)))
            changes.update.append(adopted)
            active.append(adopted)
    missing = owner.replicas - len(active)
    if owner.job.indexed:
        changes.create += _indexed(world, owner, missing)
    else:
        changes.create += make_pods(owner, _fresh_names(world, owner, missing))
    # ActivePods: pods without a node are deleted before bound ones, younger before older.
    active.reverse()
    leaving = sorted(active, key=lambda pod: bool(pod.node_name))
    changes.delete += leaving[: max(0, len(active) - owner.replicas)]


INDEX = "batch.kubernetes.io/job-completion-index"


def indexed_name(owner: Workload, index: int, salt: int) -> str:
    """Return the name of an Indexed Job's pod; ``salt`` distinguishes pods of one index."""
    return f"{owner.meta.name[:48]}-{index}-{short_hash(owner.kind, owner.meta.key, f'{index}/{salt}')}"


def as_indexed(pod: Pod, index: int) -> Pod:
    """Return an Indexed Job's pod with its completion index as annotation and as label."""
    named = labelled(pod, {INDEX: str(index)})
    return replace(named, meta=replace(named.meta, annotations={**named.meta.annotations, INDEX: str(index)}))


def index_of(pod: Pod) -> int | None:
    """Return a pod's completion index, ``None`` if it has no valid one."""
    written = pod.meta.annotations.get(INDEX)
    return int(written) if written and written.isdecimal() and len(written) < 10 else None


def _indexed(world: ExistingObjects, owner: Workload, missing: int) -> Iterator[Pod]:
    """Yield pods for the lowest completion indexes that no pod of the Job has."""
    taken = {index_of(pod) for pod in world.owned(owner) if isinstance(pod, Pod)}
    for index in islice((i for i in range(owner.job.completions or 0) if i not in taken), max(0, missing)):
        yield as_indexed(make_pod(owner, indexed_name(owner, index, 0)), index)


def expand_deployment(world: ExistingObjects, owner: Workload, changes: WorkloadChanges) -> None:
    """Deployment: one ReplicaSet for the template. Those already in a dump are left unchanged."""
    assert owner.template is not None
    sets = [w for w in world.owned(owner) if isinstance(w, Workload)]
    if sets:
        return
    found = world.unlisted_sets(owner)
    if not found and owner.paused:
        return
    if not found:
        found = {template_hash(owner.template): 0}
    current = max(found, key=lambda h: found[h])
    others = sum(found.values()) - found[current]
    for suffix, pods in found.items():
        wanted = max(0, owner.replicas - others) if suffix == current else pods
        changes.create.append(replica_set(owner, suffix, wanted))


def template_hash(template: Pod) -> str:
    """Return a deterministic hash of a pod template for the label that distinguishes ReplicaSets."""
    import hashlib

    text = repr(template) + "".join(f"\n{gate}" for gate in template.scheduling_gates)
    if template.preemption_policy:
        text += f"\npreemptionPolicy {template.preemption_policy}"
    if template.host_network:
        text += f"\nhostNetwork {[one.network_ports for one in template.containers]}"
    return short_hash(hashlib.sha256(text.encode()).hexdigest(), length=9)


def replica_set(owner: Workload, suffix: str, replicas: int) -> Workload:
    """Return the ReplicaSet that a Deployment creates for its template."""
    assert owner.template is not None
    label = {HASH_LABEL: suffix}
    template = labelled(owner.template, label)
    selector = owner.selector or LabelSelector()
    name = f"{owner.meta.name}-{suffix}"
    meta = ObjectMeta(
        name=name,
        namespace=owner.meta.namespace,
        uid=uid_for("ReplicaSet", owner.meta.namespace, name),
        labels=template.meta.labels,
        owner_references=(reference_to(owner),),
    )
    selector = replace(selector, match_labels={**selector.match_labels, **label})
    return Workload("ReplicaSet", meta, selector, replicas, template)


def expand_stateful(world: ExistingObjects, owner: Workload, changes: WorkloadChanges) -> None:
    """StatefulSet: pods name-0 … name-(n-1), each with its own claims."""
    namespace = owner.meta.namespace
    for ordinal in range(owner.replicas):
        name = f"{owner.meta.name}-{ordinal}"
        if ("Pod", f"{namespace}/{name}") in world.objects:
            continue
        changes.create += [
            claim
            for claim in claims_of(owner, name)
            if ("PersistentVolumeClaim", f"{namespace}/{claim.meta.name}") not in world.objects
        ]
        changes.create.append(as_stateful(owner, make_pod(owner, name)))
    for pod in reversed(_active(world.owned(owner))):
        ordinal_text = pod.meta.name.rpartition("-")[2]
        if ordinal_text.isdecimal() and int(ordinal_text) >= owner.replicas:
            changes.delete.append(pod)


def as_stateful(owner: Workload, pod: Pod) -> Pod:
    """Return a StatefulSet's pod with the label of its name and the volumes of its own claims."""
    volumes = {volume.name: volume for volume in pod.volumes}
    for claim in owner.claim_templates:
        own = f"{claim.meta.name}-{pod.meta.name}"
        volumes[claim.meta.name] = Volume(name=claim.meta.name, claim=own)
    named = labelled(pod, {"statefulset.kubernetes.io/pod-name": pod.meta.name})
    return replace(named, volumes=tuple(volumes.values()))


def claims_of(owner: Workload, pod: str) -> list[PersistentVolumeClaim]:
    """Return the claims of a StatefulSet's pod; no controller owns them, so they outlive the pod."""
    return [_claim(claim, owner, f"{claim.meta.name}-{pod}") for claim in owner.claim_templates]


def _claim(template: PersistentVolumeClaim, owner: Workload, name: str) -> PersistentVolumeClaim:
    namespace = owner.meta.namespace
    labels = {**template.meta.labels, **(owner.selector.match_labels if owner.selector else {})}
    uid = uid_for("PersistentVolumeClaim", namespace, name)
    return replace(
        template, meta=replace(template.meta, name=name, namespace=namespace, uid=uid, labels=labels)
    )


def expand_daemons(world: ExistingObjects, owner: Workload, changes: WorkloadChanges) -> None:
    """DaemonSet: one pod for each fitting node, bound at once, as v1.11's controller did.

    If the scheduler places daemons, there is a pending pod for each node that the DaemonSet selects.
    """
    own = _active(world.owned(owner))
    taken = {daemon_node(pod) for pod in own}
    nodes = [node for node in world.nodes() if node.meta.name not in taken]
    names = _fresh_names(world, owner, len(nodes))
    for node in nodes:
        pod = with_daemon_tolerations(make_pod(owner, "daemon"))
        if world.daemons_pending:
            if not why_unwelcome(pod, node):
                named = with_daemon_tolerations(make_pod(owner, next(names)))
                changes.create.append(with_daemon_affinity(named, node.meta.name))
            continue
        if fits_daemon(pod, node, list(world.pods_on(node.meta.name))):
            named = with_daemon_tolerations(make_pod(owner, next(names)))
            changes.create.append(replace(named, node_name=node.meta.name, phase="Running"))


def rollout(world: ExistingObjects, before: Workload, after: Workload) -> list[WorkloadChange]:
    """Return the changes that follow from an updated controller before its pods are reconciled.

    A Deployment scales its newest ReplicaSet, or creates one for a new template; a new template of a
    StatefulSet or DaemonSet replaces the pods. All at once: the pace of a rollout is not part of scheduling.
    """
    if after.kind == "Deployment":
        return _rollout_deployment(world, before, after)
    if after.kind in ("StatefulSet", "DaemonSet") and before.template != after.template:
        return [("delete", pod) for pod in _active(world.owned(after))]
    return []


def _rollout_deployment(world: ExistingObjects, before: Workload, after: Workload) -> list[WorkloadChange]:
    sets = [w for w in world.owned(after) if isinstance(w, Workload)]
    if not sets or after.template is None:
        return []
    if before.template == after.template:
        current = max(reversed(sets), key=lambda w: w.replicas)
        others = sum(w.replicas for w in sets if w is not current)
        return [("update", replace(current, replicas=max(0, after.replicas - others)))]
    fresh = replica_set(after, template_hash(after.template), after.replicas)
    old: list[WorkloadChange] = [
        ("update", replace(w, replicas=0)) for w in sets if w.meta.name != fresh.meta.name and w.replicas
    ]
    known = any(w.meta.name == fresh.meta.name for w in sets)
    return [*old, ("update" if known else "create", fresh)]
