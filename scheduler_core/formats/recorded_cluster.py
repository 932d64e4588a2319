"""A recorded cluster as documents: the initial objects, and a Scenario of the changes at their times.

The files are read by :mod:`…formats.recorder` and :mod:`…formats.kwok`, as :class:`RecordedEvent` objects. A
recording states facts, so no controller runs on it (``spec.controllers: []``): pods are created and deleted
as recorded. Binding is the exception: pods bound by the recorded cluster's scheduler are left pending for
ours, with their node in the annotation ``recorded.podstep.dev/node`` and the binding's second in another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct, field

from scheduler_core.formats.bundle import Bundle, BundleEntry
from scheduler_core.formats.decode import group_of
from scheduler_core.formats.difference import merge_patch
from scheduler_core.formats.json_patch import same
from scheduler_core.formats.limits import FormatError
from scheduler_core.formats.patch import PatchError, apply_patch, has_strategic
from scheduler_core.formats.tidy import tidied
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.readers import path_text
from scheduler_core.kubernetes.recorded_decisions import NODE, RESULT_PREFIXES, SECONDS

RawDocument = dict[str, Any]

SCENARIO_VERSION = "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1"
_UNREAD = "events of {}, which scheduling does not read"
KEPT = frozenset(("CronJob",))  # read by its controller alone
OURS = frozenset(["", "default-scheduler"])  # the scheduler names that a run is responsible for


class RecordedEvent(Struct):
    """One recorded change. ``seconds`` count from the recording's start.

    ``document`` is the whole object for ``add`` and ``update``, identifies the object for ``delete``, and is
    the patch of the existing object for ``patch``.
    """

    seconds: float
    action: Literal["add", "update", "patch", "delete"]
    document: RawDocument
    origin: BundleEntry
    key: Key
    initial: bool = False


class _Living(Struct):
    """An existing object: as recorded, as shown to the scheduler, and the location of its manifest."""

    raw: RawDocument
    shown: RawDocument
    made: RawDocument  # its initial manifest, in a bundle's entry or a createOperation
    holder: BundleEntry | dict[str, Any]
    ours: bool = False  # a pod that our scheduler is responsible for
    node: str = ""  # the node to which the recorded cluster bound it


class EventTally(Struct):
    """Counts of what the events were converted to, for the summary."""

    events: int = 0
    last: float = 0.0
    did: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)

    def text(self, what: str) -> str:
        """Return the summary of what was read and what was left out."""
        did = ", ".join(f"{count:,} {word}" for word, count in self.did.items() if count)
        counted = f"{self.events:,} event{'s' * (self.events != 1)} in {self.last:g} s"
        summary = f"{what}, {counted}: {did or 'nothing'}"
        if not self.left_out:
            return summary
        return f"{summary}. Left out: " + "; ".join(f"{why} ({n:,})" for why, n in self.left_out.items())


def is_read(document: Mapping[str, Any]) -> bool:
    """Return whether scheduling reads an object of this kind and group."""
    row = KINDS.get(str(document.get("kind")))
    return row is not None and group_of(str(document.get("apiVersion") or "v1")) in row.groups


class EventConversion:
    """Converts events, in order, to entries of a bundle: initial objects, and one Scenario."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.tally = EventTally()
        self.operations: list[RawDocument] = []
        self.origins: list[BundleEntry] = []
        self.ours = OURS | _profiles(bundle)
        self.live: dict[Key, _Living] = {}
        self.without_node: set[Key] = set()
        self.owned: frozenset[str] = frozenset()
        for entry in bundle.entries:
            if is_read(entry.value) and isinstance(entry.value.get("metadata"), Mapping):
                key = document_key(entry.value)
                self.live.setdefault(key, self._living(entry.value, entry))

    def take_all(self, events: Iterable[RecordedEvent], what: str, *, controllers: bool = False) -> None:
        """Process events; add the Scenario to the bundle, and a summary to its notes.

        ``controllers`` act on a recording of owners, which has none of their pods.
        """
        self.owned = KEPT if controllers else frozenset()
        listed = sorted(events, key=lambda event: event.seconds)
        initial = [event for event in listed if event.initial]
        nodes = {event.key[1] for event in initial if event.key[0] == "Node"}
        nodes.update(name for kind, name in self.live if kind == "Node")
        for event in initial:
            self._begin(event, nodes)
        for event in listed:
            if not event.initial:
                self._take(event)
        self.tally.events += len(listed)
        self.tally.last = max([self.tally.last, *(event.seconds for event in listed)])
        source = next((event.origin.source for event in listed), None)
        self.bundle.notes.append((BundleEntry({}, source=source), self.tally.text(what)))
        if self.operations:
            value = {
                "apiVersion": SCENARIO_VERSION,
                "kind": "Scenario",
                "metadata": {"name": "recording"},
                "spec": {**({} if controllers else {"controllers": []}), "operations": self.operations},
            }
            self.bundle.entries.append(BundleEntry(value, "Scenario", source, origins=tuple(self.origins)))

    # --- the start

    def _begin(self, event: RecordedEvent, nodes: set[str]) -> None:
        """Process an object that existed when the recording began."""
        if event.key in self.live:
            self._change(event, event.document)
            return
        node = _node_of(event.document)
        if event.key[0] == "Pod" and node and node not in nodes:
            self._lose(event.key)
            return
        self.tally.did["objects at the start"] += 1
        origin = event.origin
        entry = BundleEntry(event.document, event.key[0], origin.source, origin.number, origin.prefix)
        self.bundle.entries.append(entry)
        if is_read(event.document) or event.key[0] in self.owned:
            self.live[event.key] = self._living(event.document, entry)

    def _lose(self, key: Key) -> None:
        self.without_node.add(key)
        self.tally.left_out["pods on nodes that are not in the recording"] += 1

    def _living(self, document: RawDocument, entry: BundleEntry) -> _Living:
        ours = document.get("kind") == "Pod" and not _node_of(document) and self._for_us(document)
        return _Living(document, tidied(document, bare=ours), document, entry, ours)

    def _for_us(self, pod: Mapping[str, Any]) -> bool:
        """Return whether our scheduler is to place a pod, not another one, a kubelet or a DaemonSet."""
        if str(_part(pod, "spec").get("schedulerName") or "") not in self.ours:
            return False
        owners = _part(pod, "metadata").get("ownerReferences")
        listed = owners if isinstance(owners, list) else []
        kinds = {str(owner.get("kind")) for owner in listed if isinstance(owner, Mapping)}
        return not (kinds & {"Node", "DaemonSet"} and _node_of(pod))

    # --- what changed

    def _take(self, event: RecordedEvent) -> None:
        if event.key in self.without_node:
            if event.action == "delete":
                self.without_node.discard(event.key)
            return
        known = event.action == "patch" and event.key[0] in KINDS
        # A patch never creates an object, even if it holds a whole one.
        is_taken = event.key[0] in self.owned or (event.key[0] in KINDS and is_read(event.document))
        if event.key not in self.live and (known or not is_taken):
            why = "patches of objects that do not exist" if known else _UNREAD.format(event.key[0])
            self.tally.left_out[why] += 1
        elif event.action == "delete":
            self._delete(event)
        elif event.action == "patch":
            self._patch(event)
        elif event.key in self.live:
            self._change(event, event.document)
        else:
            self._create(event)

    def _patch(self, event: RecordedEvent) -> None:
        living = self.live[event.key]
        try:
            how = "strategic" if has_strategic(living.raw) else "merge"
            changed = apply_patch(living.raw, event.document, how)
        except PatchError as error:
            origin = event.origin
            path = path_text((*origin.prefix, *error.path))
            self.bundle.errors.append((origin.source, FormatError(error.message, None, path, origin.number)))
            return
        self._change(event, changed)

    def _create(self, event: RecordedEvent) -> None:
        document, node = event.document, _node_of(event.document)
        pod = event.key[0] == "Pod"
        ours = pod and self._for_us(document)
        if pod and node and not ours and ("Node", node) not in self.live:
            self._lose(event.key)
            return
        made = _pending(document) if ours else document
        body = {"object": made}
        self._add(event, {"createOperation": body})
        self.tally.did["created"] += 1
        living = _Living(document, tidied(document, bare=ours), made, body, ours)
        self.live[event.key] = living
        if ours:
            self._note(living, document, event.seconds)

    def _change(self, event: RecordedEvent, document: RawDocument) -> None:
        living = self.live[event.key]
        living.raw = document
        bound = living.ours and self._note(living, document, event.seconds)
        shown = tidied(document, bare=living.ours)
        if event.key[0] == "Pod" and not living.ours:
            self._keep_node(shown, living.shown)
        unchanged = shown == living.shown and same(shown, living.shown)
        patch = {} if unchanged else merge_patch(living.shown, shown)
        if not patch:
            if not bound:
                self.tally.left_out[
                    ("updates of fields that scheduling does not read, such as heartbeats")
                ] += 1
            return
        living.shown = shown
        target = _target(event.key, living.raw)
        self._add(event, {"patchOperation": {**target, "patchType": "merge", "patch": patch}})
        self.tally.did["changed"] += 1

    def _keep_node(self, pod: RawDocument, before: RawDocument) -> None:
        """Keep a pod's previous node if the node that it names does not exist."""
        node = _node_of(pod)
        if node == _node_of(before) or ("Node", node) in self.live or not isinstance(pod.get("spec"), dict):
            return
        pod["spec"].pop("nodeName", None)
        if _node_of(before):
            pod["spec"]["nodeName"] = _node_of(before)

    def _delete(self, event: RecordedEvent) -> None:
        living = self.live.pop(event.key, None)
        if living is None:
            self.tally.left_out["deletions of objects that do not exist"] += 1
            return
        self._add(event, {"deleteOperation": _target(event.key, living.raw)})
        self.tally.did["deleted"] += 1

    def _add(self, event: RecordedEvent, action: RawDocument) -> None:
        seconds = int(event.seconds) if event.seconds.is_integer() else event.seconds
        self.operations.append({"id": str(len(self.operations) + 1), "time": seconds, **action})
        self.origins.append(event.origin)

    def _note(self, living: _Living, document: RawDocument, seconds: float) -> bool:
        """Annotate a pod with the node that the recorded cluster bound it to, and its scheduler's results.

        Returns whether any of this is new.
        """
        annotations = _part(_part(document, "metadata"), "annotations")
        recorded = {k: v for k, v in annotations.items() if str(k).startswith(RESULT_PREFIXES)}
        node = _node_of(document)
        if node and not living.node:
            living.node = node
            recorded |= {NODE: node, SECONDS: f"{seconds:g}"}
            self.tally.did["placed by the recorded cluster"] += 1
        metadata = _part(living.made, "metadata")
        known = _part(metadata, "annotations")
        new = any(known.get(key) != value for key, value in recorded.items())
        if new:
            living.made = {**living.made, "metadata": {**metadata, "annotations": {**known, **recorded}}}
            if isinstance(living.holder, BundleEntry):
                living.holder.value = living.made
            else:
                living.holder["object"] = living.made
        return new


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object's part, an empty one if it has an unexpected type, which its reader rejects."""
    part = document.get(name)
    return part if isinstance(part, Mapping) else {}


def _node_of(document: Mapping[str, Any]) -> str:
    node = _part(document, "spec").get("nodeName")
    return node if isinstance(node, str) else ""


def _pending(pod: RawDocument) -> RawDocument:
    """Return a pod as it was before it was bound."""
    if not _node_of(pod):
        return pod
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    if _part(pod, "status").get("phase") in ("Succeeded", "Failed"):
        return {**pod, "spec": spec}
    return {**{key: value for key, value in pod.items() if key != "status"}, "spec": spec}


def _target(key: Key, document: Mapping[str, Any]) -> RawDocument:
    namespace, _, name = key[1].rpartition("/")
    return {
        "typeMeta": {"apiVersion": str(document.get("apiVersion") or "v1"), "kind": key[0]},
        "objectMeta": {"name": name, **({"namespace": namespace} if namespace else {})},
    }


def _profiles(bundle: Bundle) -> frozenset[str]:
    """Return the scheduler names in the bundle's KubeSchedulerConfiguration."""
    names = set()
    for entry in bundle.entries:
        profiles = entry.value.get("profiles") if entry.kind == "KubeSchedulerConfiguration" else None
        for profile in profiles if isinstance(profiles, list) else ():
            if isinstance(profile, Mapping):
                names.add(str(profile.get("schedulerName") or ""))
    return frozenset(names)
