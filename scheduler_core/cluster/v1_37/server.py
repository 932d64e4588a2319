"""The API server: objects by kind and key, with resource versions, generations, finalizers and deletion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

from scheduler_core.cluster.v1_37.defaults import GENERATION, admitted, with_template
from scheduler_core.cluster.v1_37.listers import Listers
from scheduler_core.cluster.v1_37.loop import Loop, StatusError
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    controller_of,
    generation,
    is_deleting,
    is_finished,
    key_in,
    key_of,
    name_of,
    node_of,
    resource_of,
    spec_of,
    stamp,
    uid_of,
    with_meta,
)
from scheduler_core.cluster.v1_37.tallies import Tallies
from scheduler_core.cluster.v1_37.watches import EvictionOutcome, Observer, StoredWrite, Watches
from scheduler_core.forks import Copier, emptied
from scheduler_core.interrupts import look

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
MOST_PODS = 1_000_000
MOST_TEMPLATES = 1_024
RUNNING_UID, RUNNING_SUFFIX = "f{:07d}-0000-4000-8000-000000000000", "z{:04d}"
"""What uids and generated names are like where a cluster has some of its own: they come behind those."""
_PROPAGATION = {"Orphan": ORPHAN, "Foreground": FOREGROUND}


class _Template(NamedTuple):
    """A pod's specification, and what admission makes of it, with these priority classes."""

    given: Any
    classes: list[Manifest]
    spec: dict[str, Any]
    status: dict[str, Any]


class ApiServer(Listers):
    """The store. Every write is reported to whoever :meth:`watch` es, in their order, before the next one."""

    FORKED: ClassVar[Mapping[str, Copier]] = {"_templates": emptied}

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self.loop = loop
        self._watches = Watches()
        self.tallies = Tallies()
        """The numbers of each controller's pods."""
        self.most_pods = MOST_PODS
        self.name: Callable[[Manifest], str | None] = _unnamed
        """Returns the name of an object that a controller creates, ``None`` if it is the server's to give."""
        self.uid: Callable[[Manifest], str] | None = None
        """Returns the uid of a new object; without it they are counted."""
        self.mutate: Callable[[Manifest], Manifest] = _as_it_is
        """What mutating webhooks make of an object that is created."""
        self._templates: dict[int, _Template] = {}
        """By identity, which those that are kept here keep."""
        self._version = 0
        self._uids = 0
        self._names = 0
        self._uid, self._suffix = "{:08d}", "{:05d}"

    def current(self, kind: str, key: str, uid: str | None = None) -> Manifest:
        """Return an object.

        Raises:
            StatusError: 404 if there is none, 409 if it has another uid.
        """
        found = self.get(kind, key)
        if found is None:
            raise StatusError(404, f'{resource_of(kind)} "{key.rpartition("/")[2]}" not found')
        if uid is not None and uid_of(found) != uid:
            raise StatusError(409, f"the UID in the precondition ({uid}) does not match")
        return found

    # --- writing

    def create(self, obj: Manifest, by: str) -> Manifest:
        """Store a new object with its defaults, uid, name and time.

        Raises:
            StatusError: 409 if it exists.
        """
        if obj["kind"] == "Pod" and self.is_full:
            raise StatusError(403, f"there are {self.most_pods:,} pods, the most")
        meta = dict(obj["metadata"])
        if not meta.get("name"):
            self._names += 1
            meta["name"] = meta.pop("generateName") + self._suffix.format(self._names)
        if (given := self.name(obj)) is not None:
            place, meta["name"] = self._named(obj, meta["name"]), given
            self._places.setdefault(obj["kind"], {})[key_in(obj["kind"], meta.get("namespace"), given)] = (
                place
            )
        uid = meta.get("uid") or self._new_uid({**obj, "metadata": meta})
        meta |= {"uid": uid, "creationTimestamp": stamp(self.loop.wall_time), "generation": 1}
        owners = meta.get("ownerReferences") or ()
        if any(not one.get("uid") for one in owners):
            meta["ownerReferences"] = [self._identified(one, meta) for one in owners]
        made = self.mutate(self._admitted({**obj, "metadata": meta}))
        if key_of(made) in self.objects.get(made["kind"], {}):
            raise StatusError(409, f'{resource_of(made["kind"])} "{name_of(made)}" already exists')
        return self._store(None, made, by)

    def _admitted(self, obj: Manifest) -> Manifest:
        """Return a new object as it is stored; pods of one template share what is added to it."""
        given, classes = obj.get("spec"), [*self.of_kind("PriorityClass")]
        plain = obj["kind"] == "Pod" and not obj.get("status") and obj["metadata"].get("namespace")
        known = self._templates.get(id(given)) if plain else None
        if known is not None and known.given is given and known.classes == classes:
            return {**obj, "spec": known.spec, "status": known.status}
        made = admitted(obj, self)
        if plain:
            if len(self._templates) >= MOST_TEMPLATES:
                self._templates.clear()
            self._templates[id(given)] = _Template(given, classes, made["spec"], made["status"])
        return made

    def _new_uid(self, obj: Manifest) -> str:
        if self.uid is not None:
            return self.uid(obj)
        self._uids += 1
        return self._uid.format(self._uids)

    def _named(self, obj: Manifest, name: str) -> str:
        """Return the key that an object would have if its owner and it had the server's own names."""
        owner, namespace = controller_of(obj), obj["metadata"].get("namespace")
        if owner is not None and name.startswith(owner["name"]):
            above = self.place(owner["kind"], key_in(owner["kind"], namespace, owner["name"]))
            return above + name[len(owner["name"]) :]
        return key_in(obj["kind"], namespace, name)

    def listed_as(self, obj: Manifest) -> str:
        """Return the name by which writes of an object are ordered; that of a new one may be to be given."""
        meta = obj["metadata"]
        if not self._places:
            return meta.get("name") or meta.get("generateName") or ""
        if meta.get("name"):
            place = self._places.get(obj["kind"], {}).get(key_of(obj))
            return str(meta["name"]) if place is None else place.rpartition("/")[2]
        return self._named(obj, meta.get("generateName") or "").rpartition("/")[2]

    def load(self, obj: Manifest) -> Manifest:
        """Store an object of a cluster that exists already: its uid, times and status are its own."""
        meta = {"creationTimestamp": stamp(self.loop.wall_time), "generation": 1, **obj["metadata"]}
        return self._store(None, self.mutate(admitted({**obj, "metadata": meta}, self)), "user")

    def keep(self, objects: Iterable[Manifest]) -> None:
        """Store the objects of a running cluster as they are, unreported; new names come behind theirs."""
        self._uid, self._suffix = RUNNING_UID, RUNNING_SUFFIX
        for obj in objects:
            self.index(obj)
            if obj["kind"] == "Pod":
                self.tallies.change(None, obj)
            self.objects.setdefault(obj["kind"], {})[key_of(obj)] = obj
            version = str(obj["metadata"].get("resourceVersion") or "")
            self._version = max(self._version, int(version) if version.isdecimal() else 0)

    def hold(self) -> None:
        """Have whoever watches from now on wait for :meth:`release`."""
        self._watches.hold()

    def release(self) -> None:
        """Report what is stored, as creations, to those who wait; from now on they hear of writes."""
        kinds = sorted(self.objects, key=lambda kind: kind == "Pod")
        self._watches.release({kind: list(self.of_kind(kind)) for kind in kinds})

    @property
    def room(self) -> int:
        """How many further pods are stored."""
        return self.most_pods - len(self.objects.get("Pod", ()))

    @property
    def is_full(self) -> bool:
        """Whether no further pod is stored."""
        return self.room <= 0

    def _identified(self, owner: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
        """Return an owner reference with its uid, which manifests written by hand may lack."""
        if owner.get("uid"):
            return owner
        found = self.get(owner["kind"], key_in(owner["kind"], meta.get("namespace"), owner["name"]))
        return {**owner, "uid": "" if found is None else uid_of(found)}

    def update(self, obj: Manifest, by: str) -> Manifest:
        """Replace all but the status of an object (PUT).

        Raises:
            StatusError: 404, or 409 if it has changed since ``obj`` was read.
        """
        key, old = self._fresh(obj)
        new = {**obj, "metadata": {**obj["metadata"], "generation": generation(old)}}
        if "status" in old:
            new["status"] = old["status"]
        else:
            new.pop("status", None)
        return self._replace(key, old, new, by)

    def update_status(self, obj: Manifest, by: str) -> Manifest:
        """Replace the status of an object.

        Raises:
            StatusError: 404, or 409 if it has changed since ``obj`` was read.
        """
        key, old = self._fresh(obj)
        meta = old["metadata"]
        if obj["kind"] == "Deployment":  # its status strategy lets annotations through
            meta = {**meta, "annotations": obj["metadata"].get("annotations") or {}}
        return self._replace(key, old, {**old, "metadata": meta, "status": obj["status"]}, by)

    def change(
        self,
        kind: str,
        key: str,
        patch: Callable[[Manifest], Manifest],
        by: str,
        uid: str | None = None,
        outcome: EvictionOutcome | None = None,
    ) -> Manifest:
        """Apply a patch, as a function of the stored object; its write reports ``outcome``.

        Raises:
            StatusError: 404, or 409 if it has another uid.
        """
        old = self.current(kind, key, uid)
        return self._replace(key, old, patch(old), by, outcome)

    def _fresh(self, obj: Manifest) -> tuple[str, Manifest]:
        key = key_of(obj)
        old = self.current(obj["kind"], key, uid_of(obj))
        if obj["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]:
            raise StatusError(
                409, "the object has been modified; please apply your changes to the latest version"
            )
        return key, old

    def _replace(
        self, key: str, old: Manifest, new: Manifest, by: str, outcome: EvictionOutcome | None = None
    ) -> Manifest:
        if old == new:
            return old
        if spec_of(old) != spec_of(new):
            new = with_template(new)
            new = with_meta(new, generation=generation(old) + 1, annotations=_counted(old, new))
        meta = new["metadata"]
        if is_deleting(new) and not meta.get("finalizers") and not meta.get("deletionGracePeriodSeconds"):
            self._remove(old, by, last=new)
            return new
        return self._store(old, new, by, outcome, key)

    # --- deletion

    def delete(
        self,
        kind: str,
        key: str,
        by: str,
        *,
        uid: str | None = None,
        grace: int | None = None,
        propagation: str = "Background",
    ) -> None:
        """Delete an object: at once, or by its ``deletionTimestamp`` where it has time or finalizers left.

        Raises:
            StatusError: 404, or 409 if it has another uid.
        """
        old = self.current(kind, key, uid)
        finalizers = list(old["metadata"].get("finalizers") or ())
        wanted = _PROPAGATION.get(propagation)
        finalizers = [one for one in finalizers if one not in (ORPHAN, FOREGROUND) or one == wanted]
        if wanted and wanted not in finalizers:
            finalizers.append(wanted)
        seconds = _grace(old, grace)
        if not seconds and not finalizers:
            self._remove(old, by)
            return
        self._mark(old, seconds, finalizers, by)

    def _mark(self, old: Manifest, seconds: int, finalizers: list[str], by: str) -> None:
        meta = old["metadata"]
        marks: dict[str, Any] = {"finalizers": finalizers or None}
        if not is_deleting(old) or seconds < (meta.get("deletionGracePeriodSeconds") or 0):
            marks["deletionTimestamp"] = stamp(self.loop.wall_time + seconds)
            marks["deletionGracePeriodSeconds"] = seconds
        new = with_meta(old, **marks)
        if new != old:
            self._store(old, with_meta(new, generation=generation(old) + 1), by)

    def _remove(self, old: Manifest, by: str, last: Manifest | None = None) -> None:
        kind, key = old["kind"], key_of(old)
        del self.objects[kind][key]
        self.unindex(old)
        if kind == "Pod":
            self.tallies.change(old, None)
        self._watches.report(StoredWrite(kind, key, last or old, None, by))

    def watch(self, observe: Observer, kinds: Collection[str] = (), owner: str = "") -> None:
        """Have every write reported, or only those that :meth:`Watches.add` is asked for."""
        self._watches.add(observe, kinds, owner)

    # --- the store

    def _store(
        self,
        old: Manifest | None,
        new: Manifest,
        by: str,
        outcome: EvictionOutcome | None = None,
        key: str | None = None,
    ) -> Manifest:
        look()
        self._version += 1
        new = with_meta(new, resourceVersion=str(self._version))
        key = key or key_of(new)
        if old is None:
            self.index(new)
        else:
            self.index_again(old, new, key)
        if new["kind"] == "Pod":
            self.tallies.change(old, new)
        self.objects.setdefault(new["kind"], {})[key] = new
        self._watches.report(StoredWrite(new["kind"], key, old, new, by, outcome))
        return new


def _as_it_is(obj: Manifest) -> Manifest:
    return obj


def _unnamed(obj: Manifest) -> None:
    """Give no object a name of its own."""
    del obj


def _counted(old: Manifest, new: Manifest) -> dict[str, str] | None:
    """Return an object's annotations, with the number of a DaemonSet's template if that has changed."""
    marks = annotations_of(new)
    if new["kind"] != "DaemonSet" or spec_of(old).get("template") == spec_of(new).get("template"):
        return marks or None
    return {**marks, GENERATION: str(int(annotations_of(old).get(GENERATION) or 0) + 1)}


def _grace(obj: Manifest, wanted: int | None) -> int:
    """Return the seconds that a deletion takes (podStrategy.CheckGracefulDelete)."""
    if obj["kind"] != "Pod" or not node_of(obj) or is_finished(obj):
        return 0
    own = spec_of(obj).get("terminationGracePeriodSeconds")
    return int(wanted if wanted is not None else 30 if own is None else own)
