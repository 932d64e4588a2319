"""The API server: objects by kind and key, with resource versions, generations, finalizers and deletion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from scheduler_core.cluster.v1_37.defaults import admitted
from scheduler_core.cluster.v1_37.loop import Loop, StatusError, Write
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    generation,
    is_deleting,
    is_finished,
    key_in,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    node_of,
    owners_of,
    resource_of,
    selects,
    spec_of,
    stamp,
    uid_of,
    with_meta,
)
from scheduler_core.cluster.v1_37.tallies import Tallies

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_INDEXES = ("pods_on", "owned", "dependents", "orphans", "labelled", "namespaced")
MOST_PODS = 1_000_000
_PROPAGATION = {"Orphan": ORPHAN, "Foreground": FOREGROUND}


class EvictionOutcome(NamedTuple):
    """What an eviction or a drain came to, where a write says so: the reason and the message of its event."""

    reason: str
    message: str


class StoredWrite(NamedTuple):
    """One write that changed the store: ``old`` is ``None`` for a creation, ``new`` for a removal."""

    kind: str
    key: str
    old: Manifest | None
    new: Manifest | None
    by: str
    """The client."""
    outcome: EvictionOutcome | None = None


Observer = Callable[[StoredWrite], None]


class _Watch(NamedTuple):
    """An observer, and what it is called for."""

    observe: Observer
    kinds: frozenset[str]
    """The kinds of objects; all if it is empty."""
    owner: str
    """Of the pods with a controller, those whose controller is of this kind; all if it is ""."""

    def wants(self, kind: str, owners: tuple[str, ...]) -> bool:
        """Return whether it is called for a write of a kind; ``owners``: kinds of a pod's controllers."""
        return (not self.kinds or kind in self.kinds) and (
            not self.owner or not owners or self.owner in owners
        )


class ApiServer:
    """The store. Every write is reported to whoever :meth:`watch` es, in their order, before the next one."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._watches: list[_Watch] = []
        self._routes: dict[tuple[str, ...], list[Observer]] = {}
        """Whom a write is reported to, by its kind and the kinds of a pod's controllers."""
        self.objects: dict[str, dict[str, Manifest]] = {}
        self.pods_on: dict[str, dict[str, None]] = {}
        """Keys of pods by node."""
        self.owned: dict[str, dict[tuple[str, str], None]] = {}
        """Kinds and keys of objects by the uid of their controller."""
        self._listed: dict[tuple[str, str], list[str]] = {}
        """The keys in ``owned`` by uid and kind, sorted, of those that were asked for."""
        self.dependents: dict[str, dict[tuple[str, str], None]] = {}
        """The same by the uid of any owner."""
        self.orphans: dict[tuple[str, str], dict[str, None]] = {}
        """Keys of objects without controller, by kind and namespace."""
        self.labelled: dict[tuple[str, str, str], dict[str, None]] = {}
        """Keys of pods by namespace, and label with its value."""
        self.namespaced: dict[tuple[str, str], dict[str, None]] = {}
        """Keys of all other objects by kind and namespace."""
        self.tallies = Tallies()
        """The numbers of each controller's pods."""
        self.most_pods = MOST_PODS
        self.name: Callable[[Manifest], str | None] = _unnamed
        """Returns the name of an object that a controller creates, ``None`` if it is the server's to give."""
        self._places: dict[tuple[str, str], str] = {}
        """In whose place an object with another name is listed: under the name that the server would give."""
        self._version = 0
        self._uids = 0
        self._names = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> ApiServer:
        """Return a copy that shares the manifests, which nothing changes."""
        made = memo[id(self)] = object.__new__(ApiServer)
        memo |= {id(one): one for found in self.objects.values() for one in found.values()}
        for name, value in {**vars(self), "_listed": {}, "_routes": {}}.items():
            indexed = name == "objects" or name in _INDEXES
            copied = {key: dict(found) for key, found in value.items()} if indexed else deepcopy(value, memo)
            setattr(made, name, copied)
        return made

    # --- reading

    def get(self, kind: str, key: str) -> Manifest | None:
        """Return an object, ``None`` if there is none."""
        return self.objects.get(kind, {}).get(key)

    def of_kind(self, kind: str) -> Iterator[Manifest]:
        """Yield the objects of a kind in order of their keys."""
        found = self.objects.get(kind, {})
        return (found[key] for key in self.in_order(kind, found))

    def in_order(self, kind: str, keys: Iterable[str]) -> list[str]:
        """Return keys of a kind as listers have them."""
        place = self._places.get
        return sorted(keys, key=lambda key: place((kind, key), key)) if self._places else sorted(keys)

    def place(self, kind: str, key: str) -> str:
        """Return the key by which an object is listed."""
        return self._places.get((kind, key), key)

    def in_namespace(self, kind: str, namespace: str) -> Iterator[Manifest]:
        """Yield the objects of a kind in one namespace, in order of their keys."""
        found, keys = self.objects.get(kind, {}), self.namespaced.get((kind, namespace), ())
        return (found[key] for key in self.in_order(kind, keys))

    def adoptable(self, kind: str, selector: Mapping[str, Any] | None, namespace: str) -> list[Manifest]:
        """Return the objects without controller that a label selector matches, in order of their keys."""
        free = self.orphans.get((kind, namespace))
        if not free or selector is None:
            return []
        keys = self._candidates(selector, namespace) if kind == "Pod" else free
        objects = self.objects[kind]
        found = [key for key in keys if key in free and selects(selector, labels_of(objects[key]))]
        return [objects[key] for key in self.in_order(kind, found)]

    def selected(self, selector: Mapping[str, Any] | None, namespace: str) -> list[Manifest]:
        """Return the pods of a namespace that a label selector matches, in order of their keys."""
        if selector is None:
            return []
        pods, keys = self.objects.get("Pod", {}), self._candidates(selector, namespace)
        found = [key for key in keys if selects(selector, labels_of(pods[key]))]
        return [pods[key] for key in self.in_order("Pod", found)]

    def _candidates(self, selector: Mapping[str, Any], namespace: str) -> Iterable[str]:
        wanted = selector.get("matchLabels") or {}
        rows: list[dict[str, None]] = [
            self.labelled.get((namespace, name, value), {}) for name, value in wanted.items()
        ]
        rows.sort(key=len)
        return rows[0] if rows else self.namespaced.get(("Pod", namespace), {})

    def controlled(self, owner: Manifest, kind: str) -> list[Manifest]:
        """Return the objects of a kind whose controller is ``owner``, in order of their keys."""
        return self.controlled_by(uid_of(owner), kind)

    def controlled_by(self, uid: str, kind: str) -> list[Manifest]:
        """Return the objects of a kind whose controller has this uid, likewise."""
        keys = self._listed.get((uid, kind))
        if keys is None:
            found = [key for one, key in self.owned.get(uid, ()) if one == kind]
            keys = self._listed[uid, kind] = self.in_order(kind, found)
        objects = self.objects.get(kind, {})
        return [objects[key] for key in keys]

    def pods_of_node(self, node: str) -> list[Manifest]:
        """Return the pods with this ``spec.nodeName``, in order of their keys."""
        return [self.objects["Pod"][key] for key in self.in_order("Pod", self.pods_on.get(node, ()))]

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
            meta["name"] = f"{meta.pop('generateName')}{self._names:05d}"
        if (given := self.name(obj)) is not None:
            place, meta["name"] = self._named(obj, meta["name"]), given
            self._places[obj["kind"], key_in(obj["kind"], meta.get("namespace"), given)] = place
        self._uids += 1
        uid = meta.get("uid") or f"{self._uids:08d}"
        meta |= {"uid": uid, "creationTimestamp": stamp(self.loop.now), "generation": 1}
        if meta.get("ownerReferences"):
            meta["ownerReferences"] = [self._identified(one, meta) for one in meta["ownerReferences"]]
        made = admitted({**obj, "metadata": meta}, self)
        if key_of(made) in self.objects.get(made["kind"], {}):
            raise StatusError(409, f'{resource_of(made["kind"])} "{name_of(made)}" already exists')
        return self._store(None, made, by)

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
            return self.place(obj["kind"], key_of(obj)).rpartition("/")[2]
        return self._named(obj, meta.get("generateName") or "").rpartition("/")[2]

    def load(self, obj: Manifest) -> Manifest:
        """Store an object of a cluster that exists already: its uid, times and status are its own."""
        meta = {"creationTimestamp": stamp(self.loop.now), "generation": 1, **obj["metadata"]}
        return self._store(None, admitted({**obj, "metadata": meta}, self), "user")

    @property
    def is_full(self) -> bool:
        """Whether no further pod is stored."""
        return len(self.objects.get("Pod", ())) >= self.most_pods

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
        old = self._fresh(obj)
        new = {**obj, "metadata": {**obj["metadata"], "generation": generation(old)}}
        if "status" in old:
            new["status"] = old["status"]
        else:
            new.pop("status", None)
        return self._replace(old, new, by)

    def update_status(self, obj: Manifest, by: str) -> Manifest:
        """Replace the status of an object.

        Raises:
            StatusError: 404, or 409 if it has changed since ``obj`` was read.
        """
        old = self._fresh(obj)
        meta = old["metadata"]
        if obj["kind"] == "Deployment":  # its status strategy lets annotations through
            meta = {**meta, "annotations": obj["metadata"].get("annotations") or {}}
        return self._replace(old, {**old, "metadata": meta, "status": obj["status"]}, by)

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
        return self._replace(old, patch(old), by, outcome)

    def _fresh(self, obj: Manifest) -> Manifest:
        old = self.current(obj["kind"], key_of(obj), uid_of(obj))
        if obj["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]:
            raise StatusError(
                409, "the object has been modified; please apply your changes to the latest version"
            )
        return old

    def _replace(
        self, old: Manifest, new: Manifest, by: str, outcome: EvictionOutcome | None = None
    ) -> Manifest:
        if old == new:
            return old
        if spec_of(old) != spec_of(new):
            new = with_meta(new, generation=generation(old) + 1)
        meta = new["metadata"]
        if is_deleting(new) and not meta.get("finalizers") and not meta.get("deletionGracePeriodSeconds"):
            self._remove(old, by, last=new)
            return new
        return self._store(old, new, by, outcome)

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
            marks["deletionTimestamp"] = stamp(self.loop.now + seconds)
            marks["deletionGracePeriodSeconds"] = seconds
        new = with_meta(old, **marks)
        if new != old:
            self._store(old, with_meta(new, generation=generation(old) + 1), by)

    def _remove(self, old: Manifest, by: str, last: Manifest | None = None) -> None:
        kind, key = old["kind"], key_of(old)
        del self.objects[kind][key]
        self._unindex(old)
        if kind == "Pod":
            self.tallies.change(old, None)
        self._report(StoredWrite(kind, key, last or old, None, by))

    # --- the store

    def _store(
        self, old: Manifest | None, new: Manifest, by: str, outcome: EvictionOutcome | None = None
    ) -> Manifest:
        self._version += 1
        new = with_meta(new, resourceVersion=str(self._version))
        key = key_of(new)
        if old is None or not _is_indexed_alike(old, new):
            if old is not None:
                self._unindex(old)
            self._index(new)
        if new["kind"] == "Pod":
            self.tallies.change(old, new)
        self.objects.setdefault(new["kind"], {})[key] = new
        self._report(StoredWrite(new["kind"], key, old, new, by, outcome))
        return new

    def watch(self, observe: Observer, kinds: Collection[str] = (), owner: str = "") -> None:
        """Have every write reported, or only those of some kinds of objects.

        ``owner``: of the pods that had or have a controller, those with one of this kind.
        """
        self._watches.append(_Watch(observe, frozenset(kinds), owner))
        self._routes.clear()

    def _report(self, write: StoredWrite) -> None:
        route = write.kind, *(_owner_kinds(write) if write.kind == "Pod" else ())
        observers = self._routes.get(route)
        if observers is None:
            kind, *owners = route
            found = [one.observe for one in self._watches if one.wants(kind, tuple(owners))]
            observers = self._routes[route] = found
        for observe in observers:
            observe(write)

    def _index(self, obj: Manifest) -> None:
        key = key_of(obj)
        for row, place in self._rows(obj):
            row.setdefault(place, {})[key] = None
        controller = controller_of(obj)
        if controller is not None:
            self.owned.setdefault(controller["uid"], {})[obj["kind"], key] = None
            self._listed.pop((controller["uid"], obj["kind"]), None)
        for owner in owners_of(obj):
            self.dependents.setdefault(owner["uid"], {})[obj["kind"], key_of(obj)] = None
        if obj["kind"] == "Pod" and node_of(obj):
            self.pods_on.setdefault(node_of(obj), {})[key_of(obj)] = None

    def _rows(self, obj: Manifest) -> Iterator[tuple[dict[Any, dict[str, None]], tuple[str, ...]]]:
        kind, namespace = obj["kind"], namespace_of(obj)
        yield self.namespaced, (kind, namespace)
        if controller_of(obj) is None:
            yield self.orphans, (kind, namespace)
        if kind == "Pod":
            for name, value in labels_of(obj).items():
                yield self.labelled, (namespace, name, value)

    def _unindex(self, obj: Manifest) -> None:
        key = key_of(obj)
        for row, place in self._rows(obj):
            row.get(place, {}).pop(key, None)
        controller = controller_of(obj)
        if controller is not None:
            self.owned.get(controller["uid"], {}).pop((obj["kind"], key), None)
            self._listed.pop((controller["uid"], obj["kind"]), None)
        for owner in owners_of(obj):
            self.dependents.get(owner["uid"], {}).pop((obj["kind"], key_of(obj)), None)
        if obj["kind"] == "Pod" and node_of(obj):
            self.pods_on.get(node_of(obj), {}).pop(key_of(obj), None)


def _is_indexed_alike(old: Manifest, new: Manifest) -> bool:
    return (
        labels_of(old) == labels_of(new)
        and owners_of(old) == owners_of(new)
        and spec_of(old).get("nodeName") == spec_of(new).get("nodeName")
    )


def _owner_kinds(write: StoredWrite) -> Iterator[str]:
    """Yield the kinds of a pod's controllers before and after a write, unless it was or is without one."""
    owners = [controller_of(pod) for pod in (write.old, write.new) if pod is not None]
    if None not in owners:
        yield from (one["kind"] for one in owners if one is not None)


def _unnamed(obj: Manifest) -> None:
    """Give no object a name of its own."""
    del obj


def _grace(obj: Manifest, wanted: int | None) -> int:
    """Return the seconds that a deletion takes (podStrategy.CheckGracefulDelete)."""
    if obj["kind"] != "Pod" or not node_of(obj) or is_finished(obj):
        return 0
    own = spec_of(obj).get("terminationGracePeriodSeconds")
    return int(wanted if wanted is not None else 30 if own is None else own)


class Clientset:
    """What one component asks of the API server; each method returns a write that is made in its turn."""

    def __init__(self, server: ApiServer, name: str) -> None:
        self.server = server
        self.name = name

    def _write(self, verb: str, kind: str, namespace: str, name: str, make: Callable[[], Any]) -> Write:
        return Write(self.name, verb, resource_of(kind), namespace, name, make)

    def _of(self, verb: str, obj: Manifest, make: Callable[[], Any]) -> Write:
        return self._write(verb, obj["kind"], namespace_of(obj), self.server.listed_as(obj), make)

    def create(self, obj: Manifest) -> Write:
        """Create an object."""
        return self._of("create", obj, lambda: self.server.create(obj, self.name))

    def update(self, obj: Manifest) -> Write:
        """Update an object without its status."""
        return self._of("update", obj, lambda: self.server.update(obj, self.name))

    def update_status(self, obj: Manifest) -> Write:
        """Update an object's status."""
        return self._of("update", obj, lambda: self.server.update_status(obj, self.name))

    def patch(self, obj: Manifest, patch: Callable[[Manifest], Manifest]) -> Write:
        """Patch an object, of the same uid."""
        kind, key, uid = obj["kind"], key_of(obj), uid_of(obj)
        return self._of("patch", obj, lambda: self.server.change(kind, key, patch, self.name, uid))

    def delete(
        self, obj: Manifest, *, grace: int | None = None, propagation: str = "Background", by: str = ""
    ) -> Write:
        """Delete an object of the same uid; ``by`` is reported in place of the client."""
        kind, key, uid, author = obj["kind"], key_of(obj), uid_of(obj), by or self.name
        return self._of(
            "delete",
            obj,
            lambda: self.server.delete(kind, key, author, uid=uid, grace=grace, propagation=propagation),
        )

    def call(self, verb: str, obj: Manifest, make: Callable[[], Any]) -> Write:
        """Make any other write on an object, such as a binding or an eviction."""
        return self._of(verb, obj, make)
