"""The Scenario document (KEP-140): the cluster's history, resolved to complete objects.

``spec.operations[]`` each have ``id``, ``step`` (the major step) or ``time``, and one of ``createOperation``,
``patchOperation``, ``deleteOperation`` and ``doneOperation``; when each lands is defined in
:mod:`scheduler_core.scenario.moments`. Changes by controllers in response follow in the same step, with the
operation's id and a counter. Operations on the scheduler's configuration are handled by
:mod:`scheduler_core.scenario.reconfiguration`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from msgspec.structs import replace

from scheduler_core.cluster.controllers.workloads import WorkloadChange, rollout
from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import Decoded, decode, find_kind
from scheduler_core.formats.interner import with_parts_of
from scheduler_core.formats.manifest import to_manifest
from scheduler_core.formats.patch import patched_by
from scheduler_core.kubernetes.admission import disruptions_allowed
from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.kinds import KEPT_KINDS, KINDS
from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod, PodDisruptionBudget, Workload
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.readers import At, kind_of, show
from scheduler_core.scenario.assembly import Assembly
from scheduler_core.scenario.manifest_operations import ManifestOperations
from scheduler_core.scenario.moments import Moments, in_order, says_when
from scheduler_core.scenario.operation_fields import ACTIONS, OPERATION, SCENARIO, SELECTED
from scheduler_core.scenario.reconfiguration import Reconfiguration, is_configuration
from scheduler_core.scenario.scenario import Operation, Selection
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration

Documents = dict[Key, dict[str, Any]]

MADE_BY: Mapping[str, tuple[str, ...]] = {
    "Pod": ("Workload",),
    "ReplicaSet": ("Workload",),
    "PersistentVolumeClaim": ("Workload", "Pod"),
    "PersistentVolume": ("StorageClass",),
}
"""Kinds whose objects controllers create in virtual time, each with the classes they are created from."""

LIVE = frozenset({"Node", *MADE_BY})
"""Kinds that not only users write: in virtual time a patch applies to the object's current version."""


def read_operations(
    entry: BundleEntry,
    assembly: Assembly,
    documents: Documents,
    configuration: Reconfiguration,
    unread: Iterable[BundleEntry] = (),
    crons: Iterable[Mapping[str, Any]] | None = None,
) -> tuple[Operation, ...]:
    """Resolve a Scenario document against the initial cluster. Problems are added to the assembly's report.

    ``documents`` are the manifests of the initial objects, ``unread`` those of kinds without a reader, and
    ``crons`` the CronJobs where controllers of v1.37 run. The
    assembly's world is advanced to the final state, and ``configuration`` from the initial to the final one.
    In virtual time controllers respond when an operation lands, not here, so the objects that they will have
    created by then are not known here.
    """
    at = At(assembly.report, None, entry)
    read = SCENARIO(entry.value, at) or {}
    listed = read.get("spec", {}).get("operations", [])
    place = at.child("spec").child("operations")
    if not isinstance(listed, list):
        place.error(f"must be a list, not {kind_of(listed)}")
        return ()
    if len(listed) > assembly.limits.operations:
        place.error(f"more than {assembly.limits.operations:,} operations")
        return ()
    manifests = ManifestOperations(unread, crons)
    history = _History(entry, assembly, documents, configuration, manifests)
    for index in in_order(listed):
        if assembly.full or not history.take(listed[index], place.child(index)):
            break
    return tuple(history.operations)


class _History:
    """The operations read so far, and the resulting state."""

    def __init__(
        self,
        entry: BundleEntry,
        assembly: Assembly,
        documents: Documents,
        configuration: Reconfiguration,
        manifests: ManifestOperations,
    ) -> None:
        self.entry = entry
        self.manifests = manifests
        self.assembly = assembly
        self.documents = dict(documents)
        self.configuration = configuration
        self.operations: list[Operation] = []
        self.ids: set[str] = set()
        self.moments = Moments()
        self.actions: dict[str, Callable[[dict[str, Any], At], list[WorkloadChange]]] = {
            "createOperation": self.create,
            "patchOperation": self.patch,
            "deleteOperation": self.delete,
        }

    def take(self, item: Any, at: At) -> bool:
        """Read one operation. Returns False at the end of the history."""
        read = OPERATION(item, at)
        if read is None or not says_when(item, read, at):
            return True
        name = read.get("id") or str(len(self.ids) + 1)
        if name in self.ids:
            at.child("id").error(f"duplicate id {show(name)}")
        self.ids.add(name)
        self.moments.take(read, at)
        given = [action for action in ACTIONS if action in read]
        if len(given) != 1:
            at.error(f"must have exactly one of {', '.join(ACTIONS)}, not {len(given)}")
            return True
        body = ACTIONS[given[0]](read[given[0]], at.child(given[0]))
        if given[0] == "doneOperation":
            return False
        if body is None:
            return True
        named = body.get("object") or body.get("type")
        if any(part in body for part in SELECTED):
            self.select(name, given[0], body, at.child(given[0]))
        elif is_configuration(named):
            if self.moments.during:
                at.child("during").error("a scheduler does not restart inside a cycle: remove it")
            self.reconfigure(name, given[0], body, named["kind"], at.child(given[0]))
        elif isinstance(named, dict) and self.manifests.knows(named, checked=bool(self.assembly.checks)):
            made = self.manifests.take(given[0], body, at.child(given[0]))
            if made is not None:
                self.add(name, made.action, *made.key, manifest=made.manifest)
        else:
            place = at.child(given[0])
            patch = body if self.assembly.timed and "patch" in body else None
            if self.may_be_made(body):
                self.foresee(name, given[0], body, place)
            else:
                self.record(name, self.actions[given[0]](body, place), patch, body)
        return True

    def select(self, name: str, action: str, body: dict[str, Any], at: At) -> None:
        """Add an operation on the pods that match when it takes effect."""
        if body["type"]["kind"] != "Pod":
            at.child("typeMeta").child("kind").error("selector, node and index select pods: write kind: Pod")
        elif not self.assembly.timed:
            at.error("pods are selected when the operation takes effect: add time: virtual")
        elif "meta" in body:
            at.child("objectMeta").error(
                "remove it, or what selects pods: namespace, selector, node and index"
            )
        else:
            namespace = body.get("namespace") or "default"
            found = (body.get("selector") or {}).get("labels") or {}
            selection = Selection(namespace, found, body.get("node"), body.get("index"))
            gone = action == "deleteOperation"
            done, patch = ("delete", None) if gone else ("update", body)
            self.add(name, done, "Pod", "", patch=patch, selection=selection)

    def may_be_made(self, body: dict[str, Any]) -> bool:
        """Return whether an operation's object does not exist, but may when the operation lands."""
        if not self.assembly.timed or "type" not in body or "meta" not in body:
            return False
        kind = body["type"]["kind"]
        world = self.assembly.world.objects
        makers, key = MADE_BY.get(kind, ()), _key(body)
        if (kind, key) in world:
            return False
        return any(type(obj).__name__ in makers or _is_owned(obj, kind, key) for obj in world.values())

    def foresee(self, name: str, action: str, body: dict[str, Any], at: At) -> None:
        """Add an operation on an object that a controller may create before the operation lands."""
        kind, key = body["type"]["kind"], _key(body)
        at.child("objectMeta").child("name").warn(
            f"there is no {kind} {key} at the start: it is looked up when the operation takes effect"
        )
        if action == "deleteOperation":
            self.add(name, "delete", kind, key)
        else:
            self.add(name, "update", kind, key, patch=body)

    def reconfigure(self, name: str, action: str, body: dict[str, Any], kind: str, at: At) -> None:
        """Read an operation on the configuration or the settings: the scheduler restarts with the result."""
        current = self.configuration
        made: Configuration | None
        done: Literal["create", "update", "delete"]
        if action == "createOperation":
            done, made = "create", current.create(body["object"], at.child("object"))
        elif action == "patchOperation":
            done, made = "update", current.patch(kind, body, at)
        else:
            done, made = "delete", current.delete(kind, at)
        if made is not None:
            self.add(name, done, kind, kind, configuration=made)

    def add(self, name: str, action: Any, kind: str, key: str, **what: Any) -> None:
        """Add an operation that lands at the current moment."""
        at = self.moments
        self.operations.append(
            Operation(
                name,
                at.step,
                at.time,
                action,
                kind,
                key,
                **what,
                after=at.after,
                during=at.during,
                timed=at.timed,
            )
        )

    def record(
        self,
        name: str,
        changes: list[WorkloadChange],
        patch: dict[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> None:
        """Add the changes by an operation, which has a ``body``, and by controllers in response."""
        propagation = ((body or {}).get("options") or {}).get("propagation") or ""
        for number, (action, obj) in enumerate(changes):
            kind, key = key_of(obj)
            gone = action == "delete"
            self.add(
                f"{name}.{number}" if number else name,
                action,
                kind,
                key,
                object=None if gone else obj,
                patch=patch if kind in LIVE else None,
                propagation=propagation if gone else "",
            )

    # --- the three actions

    def read_object(self, value: Any, at: At) -> Decoded | None:
        """Read the complete manifest in an operation. None if it is invalid, or its kind is not read."""
        if not isinstance(value, dict):
            at.error(f"must be a manifest, not {kind_of(value)}")
            return None
        kind = value.get("kind")
        entry = BundleEntry(
            value,
            kind if isinstance(kind, str) else "",
            self.entry.source,
            self.entry.number,
            (*self.entry.prefix, *at.steps),
            self.entry.origins,
        )
        place = At(self.assembly.report, None, entry)
        row = find_kind(entry, place)
        if row is None:
            if entry.kind:
                self.assembly.ignored.append(entry)
                self.ignore(entry.kind, place)
            return None
        obj = decode(entry, row, self.assembly.report)
        if obj is None:
            return None
        decoded = Decoded(entry, obj)
        wrong = len(self.assembly.report.errors)
        for check in self.assembly.checks:
            check((decoded,), (), self.assembly.report)
        return None if len(self.assembly.report.errors) > wrong else decoded

    def ignore(self, kind: str, at: At) -> None:
        reason = KEPT_KINDS.get(kind, "scheduling does not read this kind")
        self.assembly.notices.add(at, f"the operation on a {kind} has no effect: {reason}")

    def create(self, body: dict[str, Any], at: At) -> list[WorkloadChange]:
        decoded = self.read_object(body["object"], at.child("object"))
        if decoded is None:
            return []
        world = self.assembly.world
        obj = self.assembly.admit(decoded)
        key = key_of(obj)
        place = At(self.assembly.report, None, decoded.entry)
        if key in world.objects:
            place.child("metadata").child("name").error(f"{key[0]} {key[1]} exists already at this step")
            return []
        if isinstance(obj, Pod):
            if obj.node_name and ("Node", obj.node_name) not in world.objects:
                place.child("spec").child("nodeName").warn(
                    f"there is no node {obj.node_name!r}: the pod is left out"
                )
                return []
            if not self.assembly.count_pods(1, place):
                return []
        self.documents[key] = decoded.entry.value
        return self.enter("create", obj, place)

    def enter(self, action: Any, obj: KubernetesObject, at: At) -> list[WorkloadChange]:
        """Add a new or changed object to the world and reconcile its controllers; return all changes."""
        assembly = self.assembly
        if isinstance(obj, PodDisruptionBudget) and assembly.admitting:
            obj = self.with_allowance(obj)
        before = assembly.world.objects.get(key_of(obj))
        assembly.admission.learn(obj)
        assembly.world.put(obj)
        changes: list[WorkloadChange] = [(action, obj)]
        if assembly.timed and isinstance(obj, Workload) and not assembly.within(obj, at):
            return []
        if not assembly.expand or assembly.timed:
            return changes
        if isinstance(obj, Workload):
            if isinstance(before, Workload):
                for change in rollout(assembly.world, before, obj):
                    changes += self.follow(change, at)
            changes += assembly.settle(obj, at)
        elif isinstance(obj, Node):
            for owner in [o for o in assembly.world.objects.values() if isinstance(o, Workload)]:
                if owner.kind == "DaemonSet":
                    changes += assembly.settle(owner, at)
        return changes

    def follow(self, change: WorkloadChange, at: At) -> list[WorkloadChange]:
        """Apply one change by a controller; return it with the changes that follow from it."""
        action, obj = change
        if action == "delete":
            self.assembly.world.remove(key_of(obj))
            return [change]
        obj = self.assembly.admit_made(obj, at)
        self.assembly.world.put(obj)
        more = self.assembly.settle(obj, at) if isinstance(obj, Workload) else []
        return [(action, obj), *more]

    def with_allowance(self, budget: PodDisruptionBudget) -> PodDisruptionBudget:
        given = self.documents.get(key_of(budget), {}).get("status")
        if isinstance(given, dict) and "disruptionsAllowed" in given:
            return budget
        world = self.assembly.world
        scale = {
            (w.kind, w.meta.namespace, w.meta.name): w.replicas
            for w in world.objects.values()
            if isinstance(w, Workload)
        }
        return replace(budget, disruptions_allowed=disruptions_allowed(budget, world.pods(), scale))

    def find(self, body: dict[str, Any], at: At) -> KubernetesObject | None:
        """Return the object that typeMeta and objectMeta name; report it and return None if there is none."""
        kind = body["type"]["kind"]
        row = KINDS.get(kind)
        if row is None:
            hint = did_you_mean(kind, KINDS)
            if hint and kind not in KEPT_KINDS:
                at.child("typeMeta").child("kind").error(f"{show(kind)} is not a kind that is read{hint}")
            else:
                self.ignore(kind, at.child("typeMeta").child("kind"))
            return None
        if "meta" not in body:
            at.child("objectMeta").error(f"objectMeta is missing: name the {kind}")
            return None
        key = _key(body)
        obj = self.assembly.world.objects.get((kind, key))
        if obj is None:
            known = [k for of, k in self.assembly.world.objects if of == kind]
            hint = did_you_mean(key, known[:2000])
            at.child("objectMeta").child("name").error(f"there is no {kind} {key} at this step{hint}")
        return obj

    def patch(self, body: dict[str, Any], at: At) -> list[WorkloadChange]:
        obj = self.find(body, at)
        if obj is None:
            return []
        key = key_of(obj)
        document = self.documents.get(key) or to_manifest(obj)
        patched = with_parts_of(document, patched_by(body, document, at.child("patch")))
        if patched is None:
            return []
        decoded = self.read_object(patched, at.child("patch"))
        if decoded is None:
            return []
        changed = self.assembly.admit(decoded)
        if key_of(changed) != key:
            at.child("patch").error(
                f"must not change the kind, the name or the namespace of {key[0]} {key[1]}"
            )
            return []
        if not changed.meta.uid:
            changed = replace(changed, meta=replace(changed.meta, uid=obj.meta.uid))
        self.documents[key] = patched
        return self.enter("update", changed, At(self.assembly.report, None, decoded.entry))

    def delete(self, body: dict[str, Any], at: At) -> list[WorkloadChange]:
        obj = self.find(body, at)
        if obj is None:
            return []
        world = self.assembly.world
        changes: list[WorkloadChange] = []
        alone = self.assembly.recorded or self.assembly.timed
        if isinstance(obj, Node) and not alone:
            # The pod garbage collector deletes the node's pods.
            changes += [("delete", pod) for pod in world.pods_on(obj.meta.name)]
        changes += [("delete", one) for one in ([obj] if alone else world.descendants(obj))]
        for _, gone in changes:
            self.documents.pop(key_of(gone), None)
            if key_of(gone) in world.objects:
                world.remove(key_of(gone))
            self.assembly.admission.forget(gone)
        return changes


def _is_owned(obj: KubernetesObject, kind: str, key: str) -> bool:
    """Return whether a pod says that it has a controller, which its dump may lack and is put back then."""
    owner = obj.meta.controller if isinstance(obj, Pod) else None
    if owner is None:
        return False
    named = f"{obj.meta.namespace}/{owner.name}"
    of_set = kind == "Deployment" and owner.kind == "ReplicaSet" and named.rpartition("-")[0] == key
    return of_set or (owner.kind, named) == (kind, key)


def _key(body: dict[str, Any]) -> str:
    """Return the ``namespace/name``, or name, of the object that typeMeta and objectMeta identify."""
    row = KINDS.get(body["type"]["kind"])
    name = str(body["meta"]["name"])
    return f"{body['meta'].get('namespace') or 'default'}/{name}" if row is None or row.namespaced else name
