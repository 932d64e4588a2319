"""Assemble objects into a cluster: admission, owners, controllers, order; later changes likewise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy, deepcopy
from datetime import UTC, datetime

from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.cluster.controllers.daemon_admission import unplaced
from scheduler_core.cluster.controllers.table import expand
from scheduler_core.cluster.controllers.workloads import (
    Action,
    ExistingObjects,
    WorkloadChange,
    identified,
    rollout,
    with_selector,
    with_uid,
)
from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import Decoded
from scheduler_core.formats.limits import Limits
from scheduler_core.kubernetes.admission import Admission, disruptions_allowed
from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.model import (
    KubernetesObject,
    Node,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    StorageClass,
    Workload,
)
from scheduler_core.kubernetes.provisioner import provisions, volume_for
from scheduler_core.kubernetes.readers import At, Report
from scheduler_core.kubernetes.replicas import with_replicas
from scheduler_core.kubernetes.selectors import matches
from scheduler_core.progress import Watch, counted, unwatched

WAITS = "WaitForFirstConsumer"

Check = Callable[[Iterable[Decoded], Iterable[BundleEntry], Report], None]
"""Reports what is wrong in objects, and in manifests of kinds without a reader."""


class Notices(Struct):
    """Warnings that may repeat for many objects: the first is kept, the others are counted."""

    first: dict[str, At] = field(default_factory=dict)
    count: dict[str, int] = field(default_factory=dict)

    def add(self, at: At, message: str) -> None:
        """Add a warning."""
        self.first.setdefault(message, at)
        self.count[message] = self.count.get(message, 0) + 1

    def flush(self) -> None:
        """Add the collected warnings to the report and clear them."""
        for message, at in self.first.items():
            more = self.count[message] - 1
            at.warn(f"{message} (and {more} more)" if more else message)
        self.first.clear()
        self.count.clear()


class Assembly:
    """A cluster while it is assembled, and while operations change it."""

    def __init__(
        self, report: Report, limits: Limits, *, expand: bool, admission: bool, watch: Watch = unwatched
    ) -> None:
        self.watch = watch
        self.report = report
        self.limits = limits
        self.expand = expand
        self.timed = False  # the scenario runs in virtual time
        self.checks: tuple[Check, ...] = ()  # of schedulers that read fields and kinds without a typed one
        self.admitting = admission
        self.recorded = False  # a recording creates and deletes the objects: no controller runs
        self.world = ExistingObjects()
        self.admission = Admission()
        self.notices = Notices()
        self.children: dict[Key, list[Key]] = {}
        self.ignored: list[BundleEntry] = []  # manifests in operations whose kind has no reader
        self.places: dict[Key, At] = {}  # the location of each object's manifest
        self.changed: list[WorkloadChange] = []  # by controllers that a later document replaced
        self._originals: dict[int, tuple[Decoded, Pod | None]] = {}  # by identity, what each was admitted as
        self.pods = 0
        self.claims = 0  # created for StatefulSets
        self.full = False

    def forked(self, report: Report) -> Assembly:
        """Return a copy that operations change; what is found in them is reported elsewhere."""
        other = copy(self)
        other.report, other.notices = report, Notices()
        other.world, other.admission = deepcopy(self.world), self.admission.forked()
        other.children = {key: list(made) for key, made in self.children.items()}
        other.places, other.ignored, other.changed = dict(self.places), [], []
        return other

    # --- one object

    def admit(self, decoded: Decoded) -> KubernetesObject:
        """Return the object as the API server would store it, or unchanged if admission is off."""
        obj = decoded.object
        if not self.admitting:
            return obj
        if decoded.like is not None and (admitted := self._admitted_like(decoded.like)) is not None:
            return replace(admitted, meta=identified("Pod", obj.meta))
        at = At(self.report, None, decoded.entry)
        if isinstance(obj, Workload):
            self._check_workload(obj, at, str(decoded.entry.value.get("apiVersion")))
            obj = with_selector(obj)
        place = at.child("spec")
        obj = self.admission.admit(
            obj,
            lambda name, text: self.notices.add(place.child(name), text),
            priority_given=_is_priority_given(decoded.entry),
            refuse=lambda name, text: place.child(name).refuse(text),
        )
        return with_uid(obj)

    def _admitted_like(self, original: Decoded) -> Pod | None:
        """Return what a written pod was admitted as without a notice; ``None`` if there was one."""
        found = self._originals.get(id(original))
        if found is None and isinstance(original.object, Pod):
            given = _is_priority_given(original.entry)
            admitted = self.admission.admitted_like(original.object, priority_given=given)
            found = self._originals[id(original)] = original, admitted
        return None if found is None else found[1]

    def check_workloads(self, decoded: Iterable[Decoded]) -> None:
        """Report the controllers that the API server would not store."""
        for one in decoded:
            if self.admitting and isinstance(one.object, Workload):
                version = str(one.entry.value.get("apiVersion"))
                self._check_workload(one.object, At(self.report, None, one.entry), version)

    def _check_workload(self, obj: Workload, at: At, version: str) -> None:
        spec = at.child("spec")
        if obj.template is None:
            spec.child("template").error("template is missing: it is needed to create pods")
            return
        if obj.kind == "Job":
            return
        labels = obj.template.meta.labels
        if obj.selector is None:
            if version.startswith("apps/v1") and "beta" not in version:
                spec.child("selector").error(
                    "selector is missing: write matchLabels with the template's labels"
                )
            elif not labels:
                spec.child("template").error(
                    "labels are missing: the controller could not find its pods again"
                )
        elif not matches(obj.selector, labels):
            spec.child("selector").error(
                "does not match the template's labels (spec.template.metadata.labels)"
            )

    # --- the initial cluster

    def build(
        self, decoded: Iterable[Decoded], before: Mapping[Key, Decoded] | None = None
    ) -> list[KubernetesObject]:
        """Return all objects in creation order; add problems to the report, repeated ones to the notices.

        ``before`` are the original versions of controllers that a later document replaced. Without virtual
        time their rollout is done here and recorded in ``changed``; in virtual time the controllers do it
        during the run.
        """
        listed = list(decoded)
        for item in listed:
            self.admission.learn(item.object)
        nodes = {d.object.meta.name for d in listed if isinstance(d.object, Node)}
        for item in counted(listed, "assembling", len(listed), self.watch):
            obj = self.admit(item)
            at = self.places[key_of(obj)] = At(self.report, None, item.entry)
            if isinstance(obj, Pod):
                if obj.node_name and obj.node_name not in nodes:
                    self._leave_out(obj, at)
                    continue
                self.count_pods(1, at)
            self.world.put(obj)
        if self.expand and not self.report.errors and self._foreseen():
            if before and not self.timed:
                self._roll_out(before)
            for obj in list(self.world.objects.values()):
                if isinstance(obj, Workload) and not (self.timed and made_in_time(obj)):
                    self.settle(obj, self.places[key_of(obj)], shrink=False)
            self._warn_of_daemons()
        if self.admitting:
            self._set_budgets(
                {d.object.meta.key: d for d in listed if isinstance(d.object, PodDisruptionBudget)}
            )
            if not self.timed:
                self._serve_claims()
        objects = list(self._in_order())
        return _by_age(objects) if self.admitting else objects

    def _roll_out(self, before: Mapping[Key, Decoded]) -> None:
        """Roll out at once the changes of controllers whose pods exist already."""
        for key, item in before.items():
            after, owner = self.world.objects.get(key), item.object
            if not isinstance(after, Workload) or not isinstance(owner, Workload):
                continue
            affected, known = [after], sum(action == "delete" for action, _ in self.changed)
            for action, obj in rollout(self.world, with_selector(owner), after):
                self._apply(action, obj, self.places[key])
                if isinstance(obj, Workload):
                    affected.append(obj)
            for obj in affected:
                for gone in expand(self.world, obj).delete:
                    self._apply("delete", gone, self.places[key])
            deleted = sum(action == "delete" for action, _ in self.changed) - known
            if deleted:
                text = f"{deleted:,} of its pods {'is' if deleted == 1 else 'are'} deleted at the start"
                self.places[key].child("spec").warn(f"{text}, since its template or its replicas changed")

    def _apply(self, action: Action, obj: KubernetesObject, at: At) -> None:
        if action == "delete":
            self.world.remove(key_of(obj))
            self.pods -= isinstance(obj, Pod)
        else:
            obj = self.admit_made(obj, at)
            self.world.put(obj)
            self.places.setdefault(key_of(obj), at)
        self.changed.append((action, obj))

    def _leave_out(self, pod: Pod, at: At) -> None:
        if not pod.terminal:
            self.notices.add(
                at.child("spec").child("nodeName"),
                f"node {pod.node_name!r} does not exist: its pods are left out of the cluster",
            )

    def count_pods(self, number: int, at: At) -> bool:
        """Count pods against the limit. Returns False if it is exceeded, the first time with an error."""
        self.pods += number
        if self.pods > self.limits.pods and not self.full:
            self.full = True
            at.error(f"more than {self.limits.pods:,} pods in all, those of controllers included")
        return not self.full

    def _set_budgets(self, given: dict[str, Decoded]) -> None:
        scale = {
            (w.kind, w.meta.namespace, w.meta.name): w.replicas
            for w in self.world.objects.values()
            if isinstance(w, Workload)
        }
        for budget in [b for b in self.world.objects.values() if isinstance(b, PodDisruptionBudget)]:
            status = given[budget.meta.key].entry.value.get("status")
            if not (isinstance(status, dict) and "disruptionsAllowed" in status):
                allowed = disruptions_allowed(budget, self.world.pods(), scale)
                self.world.put(replace(budget, disruptions_allowed=allowed))

    def _warn_of_daemons(self) -> None:
        """Warn of DaemonSets that lack a pod on an eligible node, or have no eligible node.

        In virtual time the scheduler places their pods, and those that do not fit are pending.
        """
        for obj in self.world.objects.values():
            if isinstance(obj, Workload) and obj.kind == "DaemonSet":
                warning = unplaced(obj, self.world.nodes(), self.world.pods_on, room=not self.timed)
                if warning:
                    self.places[key_of(obj)].child("spec").warn(warning)

    def _serve_claims(self) -> None:
        """Bind the claims that a provisioner serves before their pods are tried; warn of those it does not.

        Under v1.37 the class's provisioner has served each claim of an Immediate class. A claim whose status
        says Pending was dumped from a cluster that did not serve it, and stays as it is.
        """
        owners = {made: owner for owner, children in self.children.items() for made in children}
        unbound: dict[str, list[PersistentVolumeClaim]] = {}
        for obj in self.world.objects.values():
            if isinstance(obj, PersistentVolumeClaim) and obj.storage_class and not obj.volume_name:
                unbound.setdefault(obj.storage_class, []).append(obj)
        for name, unserved in unbound.items():
            found = self.world.objects.get(("StorageClass", name))
            if not isinstance(found, StorageClass) or not provisions(found):
                continue
            if self.world.daemons_pending and found.binding_mode == WAITS:
                continue  # v1.37 selects a node, and a stand-in provisions there
            claims = [claim for claim in unserved if not self._provisioned(claim, found)]
            if not claims:
                continue
            first, more = claims[0], len(claims) - 1
            key = key_of(first)
            rest = f"and {more} more get" if more else "gets"
            how = (
                "has not served it in the dump. Pods that need one stay pending; without its status the "
                "claim is provisioned at once"
                if self.checks
                else "provisions in virtual time alone. Pods that need one stay pending; "
                "SimulationSettings with time: virtual let it provision"
            )
            self.places[owners.get(key, key)].child("spec").warn(
                f"claim {first.meta.key} {rest} no volume: StorageClass {name!r} ({found.binding_mode}, "
                f"{found.provisioner}) {how}"
            )

    def _provisioned(self, claim: PersistentVolumeClaim, storage_class: StorageClass) -> bool:
        """Bind a claim to a volume that its class provisions at once; return whether it does."""
        written = {} if claim.meta.written is None else claim.meta.written.document
        if not self.world.daemons_pending or (written.get("status") or {}).get("phase"):
            return False
        volume = volume_for(claim, storage_class, None)
        self.world.put(volume)
        self.world.put(replace(claim, volume_name=volume.meta.name))
        return True

    def _in_order(self) -> Iterable[KubernetesObject]:
        children, objects = self.children, self.world.objects
        made = {child for listed in children.values() for child in listed}
        stack = [key for key in reversed(objects) if key not in made]
        while stack:
            key = stack.pop()
            yield objects[key]
            if key in children:
                stack.extend(reversed(children[key]))

    # --- controllers

    def settle(self, owner: Workload, at: At, *, shrink: bool = True) -> list[WorkloadChange]:
        """Reconcile a controller, and those that it creates, with the world. Returns the changes.

        ``shrink`` false keeps surplus pods: a dump's pods are facts.
        """
        done: list[WorkloadChange] = []
        waiting = [owner]
        while waiting:
            current = waiting.pop(0)
            if not self.within(current, at):
                return done
            changes = expand(self.world, current)
            if not self.count_pods(sum(isinstance(o, Pod) for o in changes.create), at):
                return done
            children = self.children.setdefault(key_of(current), [])
            for obj, replicas in with_replicas(changes.create):
                made = [self.admit_made(obj, at), *self._admit_replicas(obj, replicas, at)]
                children += self.world.put_replicas(made)
                done += [("create", one) for one in made]
                waiting += [one for one in made[:1] if isinstance(one, Workload)]
            for obj in changes.update:
                self.world.put(obj)
                done.append(("update", obj))
            for obj in changes.delete if shrink else ():
                self.world.remove(key_of(obj))
                done.append(("delete", obj))
        return done

    def within(self, owner: Workload, at: At) -> bool:
        """Check a controller against the limits before anything is created for it."""
        spec = at.child("spec")
        if owner.replicas > self.limits.replicas:
            most = f"a controller creates at most {self.limits.replicas:,} pods"
            spec.child("replicas").error(f"{most}, not {owner.replicas:,}")
            return False
        claims = owner.replicas * len(owner.claim_templates)
        if claims + self.claims > self.limits.pods:
            spec.child("volumeClaimTemplates").error(f"more than {self.limits.pods:,} claims in all")
            return False
        self.claims += claims
        return True

    def _foreseen(self) -> bool:
        """Return whether the controllers' pods stay within the limit, before the first is created."""
        wanted = 0
        nodes = len(self.world.nodes())
        for owner in self.world.objects.values():
            if isinstance(owner, Workload):
                sets = owner.kind == "Deployment" and self.world.owned(owner)
                replicas = nodes if owner.kind == "DaemonSet" else owner.replicas
                wanted += 0 if sets else max(0, replicas - self.pods)
            if wanted > self.limits.pods:
                assert isinstance(owner, Workload)
                spec = self.places[key_of(owner)].child("spec")
                return self.count_pods(wanted, spec if owner.kind == "DaemonSet" else spec.child("replicas"))
        return True

    def _admit_replicas(self, obj: KubernetesObject, replicas: list[Pod], at: At) -> list[KubernetesObject]:
        """Admit the replicas of a pod that has just been admitted; ``at`` is the controller's location."""
        admitted = None
        if isinstance(obj, Pod) and self.admitting:
            admitted = self.admission.admitted_like(obj, priority_given=obj.priority != 0)
        if admitted is None:
            return [self.admit_made(pod, at) for pod in replicas]
        return [replace(admitted, meta=pod.meta) for pod in replicas]

    def admit_made(self, obj: KubernetesObject, at: At) -> KubernetesObject:
        """Admit an object that a controller created; ``at`` is the controller's location."""
        if not self.admitting:
            return obj
        spec = at.child("spec").child("template").child("spec")
        return self.admission.admit(
            obj,
            lambda name, text: self.notices.add(spec.child(name), text),
            priority_given=isinstance(obj, Pod) and obj.priority != 0,
        )


def _is_priority_given(entry: BundleEntry) -> bool:
    """Return whether a manifest has ``spec.priority``."""
    spec = entry.value.get("spec")
    return isinstance(spec, dict) and spec.get("priority") is not None


def made_in_time(owner: Workload) -> bool:
    """Return whether, in virtual time, a controller's pods wait for each other or for the scheduler."""
    return owner.kind == "DaemonSet" or (owner.kind == "StatefulSet" and not owner.parallel)


def _by_age(objects: list[KubernetesObject]) -> list[KubernetesObject]:
    """Return the objects with the pods ordered by creationTimestamp, those without one last.

    The pods are permuted among their own positions; other objects keep theirs.
    """
    pods = [obj for obj in objects if isinstance(obj, Pod)]
    if not any(pod.meta.creation_timestamp for pod in pods):
        return objects
    ordered = iter(sorted(pods, key=_age))
    return [next(ordered) if isinstance(obj, Pod) else obj for obj in objects]


def _age(pod: Pod) -> float:
    stamp = pod.meta.creation_timestamp
    if stamp is None:
        return float("inf")
    moment = datetime.fromisoformat(stamp)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
