"""The control plane of v1.37.1 beside a scheduler that works on typed objects.

Its own API server has the manifests; what its controllers and kubelets write there comes back as changes of
typed objects, and what users and the scheduler change is written there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import ceil
from typing import Any, ClassVar

from msgspec.structs import asdict

from scheduler_core.cluster.controllers.annotations import DRAIN, EVICT
from scheduler_core.cluster.controllers.changes import Action, Change, ControllerOptions
from scheduler_core.cluster.descheduler.actor import Descheduler
from scheduler_core.cluster.kueue.actor import Kueue
from scheduler_core.cluster.v1_37.admission import KubeletAdmission
from scheduler_core.cluster.v1_37.defaults import admitted
from scheduler_core.cluster.v1_37.deployment import rolled_back
from scheduler_core.cluster.v1_37.drain import Drain
from scheduler_core.cluster.v1_37.eviction import evict
from scheduler_core.cluster.v1_37.loop import StatusError, UnsettledError
from scheduler_core.cluster.v1_37.nodelifecycle import NodeOptions
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    controller_of,
    is_deleting,
    key_of,
    node_of,
    owners_of,
    spec_of,
    uid_of,
    with_meta,
    with_spec,
    with_status,
)
from scheduler_core.cluster.v1_37.plane import ControlPlane
from scheduler_core.cluster.v1_37.revisions import UNDO, undone
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import EvictionOutcome, StoredWrite
from scheduler_core.forks import Copier, flat
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.keys import key_of as typed_key
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.run.control import Manager
from scheduler_core.run.plane.manifest_adapters import inbound, on_stored
from scheduler_core.run.plane.manifest_writes import operate
from scheduler_core.run.plane.names import Names
from scheduler_core.run.plane.plane_manifests import KINDS, PlaneManifests, shown
from scheduler_core.run.plane.pod_writes import PREEMPTED, bound, marked
from scheduler_core.run.plane.reasons import (
    NO_DESCHEDULER,
    NO_REVISION,
    drained,
    eviction_failed,
    eviction_refused,
    reason_of,
)
from scheduler_core.run.plane.typed_objects import Alike, typed_form
from scheduler_core.run.timeline_events import SAME
from scheduler_core.run.v1_37.manifests import is_read
from scheduler_core.scenario import cron_jobs
from scheduler_core.scenario.kueue import OPERATED
from scheduler_core.scenario.running_dump import running_dump
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.settings.descheduler import DESCHEDULE
from scheduler_core.settings.release import TIMED

ROLLED = ("Deployment", "StatefulSet", "DaemonSet")
MOST_WRITES = 200_000
"""Writes in one moment after which controllers are taken to undo each other's work."""


class ControlPlaneManager(Manager):
    """Twelve controllers, kubelets and their API server.

    ``manifests`` are what schedulers have been shown: :meth:`settle` shows each change that it yields.
    ``objects`` are the typed forms of these. Times are virtual seconds.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {"objects": flat, "_alike": flat, "_kept_back": flat}

    def __init__(self, scenario: Scenario, options: ControllerOptions) -> None:
        super().__init__(options)
        self._alike: Alike = {}
        self._writes: list[StoredWrite] = []
        self._own: Key | None = None
        self._show_write: Callable[[StoredWrite], None] | None = None
        self._note_write: Callable[[StoredWrite], None] | None = None
        self._kept_back: dict[tuple[str, str, str], StoredWrite] = {}
        """What was written of each object since its typed form followed, as one write."""
        self.drains: list[Drain] = []
        """All that were begun, in order."""
        self._drains: list[Drain] = []
        self.observers: list[Callable[[StoredWrite], None]] = []
        """Called with every write before anybody else."""
        dump = running_dump(scenario)
        self.plane = ControlPlane(
            _flags(scenario),
            partial(self._watch, scenario),
            int(options.epoch),
            None if dump is None else dump.objects,
            () if dump is None else dump.unlisted,
        )
        self.server, self.loop = self.plane.server, self.plane.loop
        self.names = Names()
        if scenario.release == TIMED:
            self.server.uid = self.names.uid  # in whose order kube-batch takes pods
            self.plane.kubelets.admission = KubeletAdmission(self.server, self._typed)
        self.loop.most_writes = MOST_WRITES
        self.server.most_pods = options.most_pods
        self.server.name = self.names.name
        self.server.watch(self._tell)
        queued = scenario.kueue
        self.kueue = None if queued is None else Kueue(self.server, queued.documents, queued.configuration)
        self._start(scenario.objects, scenario.cron_jobs)
        given = scenario.descheduler
        self.descheduler = None if given is None else Descheduler(self.server, given, self._refused)

    def _watch(self, scenario: Scenario, server: ApiServer) -> None:
        self.manifests = PlaneManifests(scenario, self, server)
        server.watch(self._see)

    def show_to(self, observe: Callable[[StoredWrite], None]) -> None:
        """Have a scheduler see each write before the next one is made, when ``manifests`` have it.

        Who drives the loop then is the caller of :meth:`settle`, which only yields what has changed.
        """
        self._show_write = observe

    def keep_back(self, note: Callable[[StoredWrite], None]) -> None:
        """Yield what is written only when somebody has to :meth:`catch_up`; ``note`` is called with it."""
        self._note_write = note

    @property
    def starts_later(self) -> bool:
        """Whether schedulers see writes later than they are stored, as watches of a running cluster do."""
        return self.loop.start > self.loop.now

    def _tell(self, write: StoredWrite) -> None:
        if self._show_write is not None:
            self._show_write(write)

    def _see(self, write: StoredWrite) -> None:
        for observe in self.observers:
            observe(write)
        if self._show_write is None:
            self.manifests.hold(write)
        if self._own == (write.kind, write.key):
            for _ in self._changes(write):
                pass
        else:
            self._writes.append(write)

    # --- the cluster at its start

    def _start(self, objects: Iterable[KubernetesObject], cron_jobs: Iterable[Document]) -> None:
        """Store what was written; pods and sets that controllers would make are theirs to make."""
        made, order = self.manifests.made, list(objects)
        known = {typed_key(one): one.meta.uid for one in order}
        known |= {document_key(one): one["metadata"]["uid"] for one in cron_jobs}
        for batch in made.batches(self.manifests, ()):
            self.manifests.replace(batch[0])
        wanted = set(_owners_of_written(order))
        for obj in order:
            key, owner = typed_key(obj), obj.meta.controller
            if not is_read(obj):
                continue
            if key[0] in KINDS and self.server.get(*key) is not None:
                self.objects[key] = obj
                continue
            expanded = not _is_written(obj) and owner is not None and key not in wanted and key[0] in KINDS
            if expanded and owner and (owner.kind, f"{obj.meta.namespace}/{owner.name}") in known:
                self.names.expect(obj)
                continue
            manifest = made.created(obj, self.manifests)
            if key[0] in KINDS:
                self.objects[key] = obj
                self._load(manifest, known)
            else:
                self.manifests.replace(manifest)
        for cron_job in cron_jobs:
            if self.server.get(*document_key(cron_job)) is None:
                self._load(dict(cron_job), known)
        self._settle()
        self._read_stored()
        self._list(order)

    def _read_stored(self) -> None:
        """Read what is stored and the bundle did not have."""
        for kind in KINDS:
            for stored in self.server.of_kind(kind):
                key = kind, key_of(stored)
                obj = None if key in self.objects else typed_form(stored, self._alike)
                if obj is not None:
                    self.objects[key] = obj

    def _load(self, manifest: Manifest, known: dict[Key, str]) -> None:
        for reference in owners_of(manifest):
            key = reference["kind"], f"{manifest['metadata'].get('namespace')}/{reference['name']}"
            if key not in known and reference.get("uid"):
                self.plane.controllers["GarbageCollector"].unlisted.add(reference["uid"])
        self.server.load(inbound(manifest, known))

    def _list(self, order: Iterable[KubernetesObject]) -> None:
        """Take what is stored as the objects of the start: those of the scenario first, in its order."""
        writes, self._writes = self._writes, []
        for write in writes:
            for _ in self._changes(write, removed=False):
                pass
        self.manifests.catch_up()
        listed = {typed_key(one): one for one in order}
        kept = {key: self.objects.get(key, obj) for key, obj in listed.items() if self._has(key)}
        kept |= {key: obj for key, obj in self.objects.items() if key not in kept}
        self.objects = {key: obj for key, obj in kept.items() if key[0] in KINDS}
        self.listed = tuple(kept.values())

    def _typed(self, manifest: Manifest) -> KubernetesObject | None:
        """Return an object as its kubelet reads it."""
        kind = manifest["kind"]
        return self.objects.get((kind, key_of(manifest))) or typed_form(manifest, self._alike)

    def _has(self, key: Key) -> bool:
        return key[0] not in KINDS or self.server.get(*key) is not None

    # --- changes by others

    def observe(self, action: Action, obj: KubernetesObject, now: float) -> KubernetesObject:
        """Write a change of a user or the scheduler; return the object as it is stored."""
        kind, key = typed_key(obj)
        known = action != "delete" and self.objects.get((kind, key)) is obj
        known = known or (action == "create" and self.server.get(kind, key) is not None)
        if kind not in KINDS or self.gave_up or known:
            return obj
        self._pass_to(now)
        with self._writing(kind, key):
            if action == "delete":
                self._remove(kind, key, "user")
            else:
                self._put(kind, key, obj)
        self._begin_drain(kind, key)
        self._evict(kind, key)
        self._undo(kind, key)
        self._deschedule(kind, key)
        self._settle()
        return self.objects.get((kind, key), obj)

    def operates(self, operation: Operation) -> bool:
        """Return whether an operation is on an object that has no typed one: a CronJob, or one of Kueue's."""
        kinds = OPERATED if self.kueue is not None else ()
        return operation.kind == cron_jobs.KIND or operation.kind in kinds

    def operate(self, operation: Operation) -> None:
        """Write what a user does to an object that has no typed one."""
        operate(self.server, operation)

    @contextmanager
    def _writing(self, kind: str, key: str) -> Iterator[None]:
        """Make writes of an object that the caller knows of: they are shown at once, and yielded never."""
        self._own = kind, key
        try:
            yield
        finally:
            self._own = None

    def _put(self, kind: str, key: str, obj: KubernetesObject) -> None:
        stored, previous = self.server.get(kind, key), self.objects.get((kind, key))
        if stored is not None:
            self.manifests.catch_up((kind, key))
            if isinstance(obj, Pod) and obj.node_name and not node_of(stored) and not self.landing:
                self.server.change(
                    kind, key, partial(bound, node=obj.node_name, now=self.loop.now), "scheduler"
                )
                return
        manifest = self.manifests.wanted(kind, key, previous, obj)
        if manifest is not None:
            self.objects[kind, key] = obj
            made = inbound(dict(manifest), {})
            if stored is None and controller_of(made) is None:
                self.server.create(made, "user")
            elif stored is None:
                self.server.load(made)
            else:
                self.server.change(kind, key, lambda _: self._changed(stored, made), "user")

    def _changed(self, stored: Manifest, wanted: Manifest) -> Manifest:
        """Return a user's version of an object, a workload with the defaults of what that leaves out."""
        made = on_stored(stored, wanted)
        return admitted(made, self.server) if spec_of(stored).keys() & {"template", "jobTemplate"} else made

    @property
    def is_copyable(self) -> bool:
        """Whether no write of a controller waits."""
        return self.loop.is_copyable

    def refuses(self, key: str) -> str:
        """Return why a pod cannot be bound, "" if it can."""
        stored, name = self.server.get("Pod", key), key.partition("/")[2]
        if stored is None:
            return f'pods "{name}" not found'
        if not is_deleting(stored):
            return ""
        held = f"pod {name} is being deleted, cannot be assigned to a host"
        return f'Operation cannot be fulfilled on pods/binding "{name}": {held}'

    def delete(self, key: str, by: str, now: float) -> Pod | None:
        """Delete a pod for a client; return what is left of it until its kubelet ends it."""
        if self.gave_up:
            return None
        self._pass_to(now)
        stored = self.server.get("Pod", key)
        if stored is None:
            return None
        with self._writing("Pod", key):
            if by == "scheduler":
                self.server.change("Pod", key, partial(marked, row=PREEMPTED, loop=self.loop), by)
            self._remove("Pod", key, by)
        self._settle()
        left = self.objects.get(("Pod", key))
        return left if isinstance(left, Pod) else None

    def provision(self, key: str, node: str, now: float) -> None:
        """Have a claim's volume provisioned for a node."""
        self._pass_to(now)
        mark = {"volume.kubernetes.io/selected-node": node}
        self.server.change(
            "PersistentVolumeClaim",
            key,
            lambda one: with_meta(one, annotations={**annotations_of(one), **mark}),
            "scheduler",
        )
        self.plane.controllers["Volumes"].bind(key)
        self._settle()

    def rewrite(self, kind: str, key: str, status: Mapping[str, Any]) -> None:
        """Store another status of an object."""
        if self.server.get(kind, key) is not None:
            with self._writing(kind, key):
                self.server.change(kind, key, lambda one: with_status(one, status), "scheduler")

    def _remove(self, kind: str, key: str, by: str) -> None:
        if self.server.get(kind, key) is not None:
            landing = self.landing
            policy = landing.propagation if landing is not None and landing.key == key else ""
            self.server.delete(kind, key, by, propagation=policy or "Background")

    def _begin_drain(self, kind: str, key: str) -> None:
        node = self.server.get(kind, key) if kind == "Node" else None
        wanted = None if node is None else annotations_of(node).get(DRAIN)
        if wanted is None or any(one.node == key for one in self._drains):
            return
        drain = Drain(self.server, key, force=wanted == "force", refused=self._drain_refused)
        self._drains.append(drain)
        self.drains.append(drain)
        self.loop.spawn(drain.run())

    def _evict(self, kind: str, key: str) -> None:
        """Answer the eviction that a pod's annotation asks for."""
        pod = self.server.get(kind, key) if kind == "Pod" else None
        if pod is None or is_deleting(pod) or EVICT not in annotations_of(pod):
            return
        try:
            evict(self.server, key, uid_of(pod))
        except StatusError as error:
            without = partial(_without_annotation, name=EVICT)
            self.server.change(kind, key, without, "user", outcome=eviction_refused(error.explained))

    def _undo(self, kind: str, key: str) -> None:
        """Go back to the revision that a workload's annotation asks for, as ``kubectl rollout undo`` does."""
        found = self.server.get(kind, key) if kind in ROLLED else None
        if found is None or UNDO not in annotations_of(found):
            return
        written = annotations_of(found)[UNDO]
        revision = int(written) if written.isdecimal() else 0
        if kind == "Deployment":
            made = rolled_back(found, self.server.controlled(found, "ReplicaSet"), revision)
        else:
            made = undone(self.server, found, revision)
        outcome = None if made is not None else NO_REVISION
        template = spec_of(found if made is None else made)["template"]
        back = partial(_without_annotation, name=UNDO)
        self.server.change(
            kind, key, lambda one: with_spec(back(one), template=template), "user", outcome=outcome
        )

    def _deschedule(self, kind: str, key: str) -> None:
        """Run the pass of the descheduler that a node's annotation asks for."""
        node = self.server.get(kind, key) if kind == "Node" else None
        if node is None or DESCHEDULE not in annotations_of(node):
            return
        outcome = NO_DESCHEDULER if self.descheduler is None else None
        if self.descheduler is not None:
            self.descheduler.run(key)
        without = partial(_without_annotation, name=DESCHEDULE)
        self.server.change(kind, key, without, "user", outcome=outcome)

    def _drain_refused(self, pod: Manifest, error: StatusError) -> None:
        self._note(
            pod, eviction_refused(error.explained) if error.code == 429 else eviction_failed(error.explained)
        )

    def _refused(self, pod: Manifest, message: str) -> None:
        self._note(pod, eviction_refused(message))

    def _note(self, pod: Manifest, outcome: EvictionOutcome) -> None:
        """Report what an eviction came to that has written nothing."""
        write = StoredWrite("Pod", key_of(pod), pod, pod, "drain", outcome)
        for observe in self.observers:
            observe(write)
        self._writes.append(write)

    # --- time

    @property
    def has_news(self) -> bool:
        """Whether something was written that :meth:`settle` has not yielded."""
        return bool(self._writes)

    def moment(self, now: float) -> float:
        """Return the time at which :meth:`settle` is called: the clock keeps fewer decimals."""
        due = self.next_time() if self._show_write is None else None
        return due if due is not None and 0 < due - now < SAME else now

    def settle(self, now: float) -> Iterator[Change]:
        """Let time pass, and yield what controllers and kubelets have changed, in order."""
        if self.gave_up:
            return
        self._pass_to(now)
        self._end_drains()
        for write in self._taken():
            if self._note_write is None:
                yield from self._changes(write)
            elif write.kind in KINDS:
                self._note_write(write)
                self._keep(write)

    @property
    def is_behind(self) -> bool:
        """Whether typed objects do not follow what was kept back."""
        return bool(self._kept_back)

    def catch_up(self) -> Iterator[Change]:
        """Yield what was kept back: a change for each object."""
        kept, self._kept_back = self._kept_back, {}
        for write in kept.values():
            if write.old is not write.new:
                yield from self._changes(write)

    def _keep(self, write: StoredWrite) -> None:
        obj = write.new or write.old
        assert obj is not None
        key = write.kind, write.key, uid_of(obj)
        known = self._kept_back.get(key)
        self._kept_back[key] = write if known is None else write._replace(old=known.old)

    def _taken(self) -> Iterator[StoredWrite]:
        """Take the writes that wait, but for what became of a pod that was being deleted and is gone."""
        writes, self._writes = self._writes, []
        gone = {(one.kind, one.key) for one in writes if one.new is None}
        for write in writes:
            ends = write.old is not None and is_deleting(write.old) and (write.kind, write.key) in gone
            if write.kind != "Pod" or write.new is None or not ends:
                yield write

    def _pass_to(self, now: float) -> None:
        if not self.gave_up and self._show_write is None:
            try:
                self.loop.advance(now)
            except UnsettledError as error:
                self.gave_up = f"{error} keeps changing while no virtual time passes"

    def _settle(self) -> None:
        self._pass_to(self.loop.now)

    def next_time(self) -> float | None:
        """Return when a controller or a kubelet acts next without an event, ``None`` if none does."""
        at = None if self.gave_up else self.loop.next_time()
        return at if at is None or self._show_write is not None else ceil(at * 1000 - 1e-6) / 1000

    @property
    def full(self) -> bool:
        """Whether the limit on pods is reached."""
        return self.server.is_full

    def _end_drains(self) -> None:
        if not self._drains:
            return
        for drain in [one for one in self._drains if one.facts["until"] is not None]:
            self._drains.remove(drain)
            node = self.server.get("Node", drain.node)
            if node is not None:
                bare = (drain.facts.get("reported") or ()) if drain.facts.get("aborted") else ()
                without = partial(_without_annotation, name=DRAIN)
                self.server.change("Node", drain.node, without, "drain", outcome=drained(bare))

    def unfinished(self) -> Iterator[str]:
        """Yield the drains that go on, with why their pods are still there."""
        for drain in self._drains:
            for pod, message in drain.refusals.items():
                yield f"Node {drain.node} is not drained: the eviction of {pod} is refused ({message})"
            if drain.left and not drain.refusals:
                yield f"Node {drain.node} is not drained yet: {drain.left:,} of its pods have not ended"

    # --- what is shown

    def _changes(self, write: StoredWrite, *, removed: bool = True) -> Iterator[Change]:
        kind, key = write.kind, write.key
        previous = self.objects.get((kind, key))
        self.manifests.tell(write)
        if kind not in KINDS:
            return
        if write.new is None:
            self.objects.pop((kind, key), None)
            if previous is not None and removed:
                yield Change("delete", previous, *reason_of(write))
            return
        if previous is not None and write.old is not None and not _is_shown(write):
            return
        obj = typed_form(shown(write.new), self._alike, write.old, previous)
        if obj is None:
            return
        self.objects[kind, key] = obj
        yield Change("create" if write.old is None else "update", obj, *reason_of(write))


def _flags(scenario: Scenario) -> NodeOptions:
    """Return the flags of the node controller."""
    given = scenario.settings.node_lifecycle
    return NodeOptions() if given is None else NodeOptions(**asdict(given))


def _without_annotation(obj: Manifest, *, name: str) -> Manifest:
    left = {key: value for key, value in annotations_of(obj).items() if key != name}
    return with_meta(obj, annotations=left or None)


def _is_shown(write: StoredWrite) -> bool:
    """Return whether a write changes what typed objects or schedulers read of an object."""
    old, new = write.old, write.new
    assert old is not None
    assert new is not None
    if write.outcome is not None or write.kind in _WHOLLY_SHOWN or write.kind.startswith("Persistent"):
        return True
    if old.get("spec") is not new.get("spec") and spec_of(old) != spec_of(new):
        return True
    before, after = old["metadata"], new["metadata"]
    for name in _SHOWN_META:
        one, other = before.get(name), after.get(name)
        if one is not other and one != other:
            return True
    return reason_of(write) != ("", "")


_WHOLLY_SHOWN = frozenset({"Pod", "PodDisruptionBudget", "Job", "Node"})
_SHOWN_META = ("labels", "annotations", "ownerReferences", "deletionTimestamp")


def _is_written(obj: KubernetesObject) -> bool:
    return obj.meta.written is not None and not obj.meta.written.is_template


def _owners_of_written(objects: Iterable[KubernetesObject]) -> Iterator[Key]:
    """Yield the controllers that written pods name."""
    for one in objects:
        if isinstance(one, Pod) and _is_written(one):
            for reference in one.meta.owner_references:
                yield reference.kind, f"{one.meta.namespace}/{reference.name}"
