"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had (``pkg/controller/history``)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.controller import owned_by
from scheduler_core.cluster.v1_37.loop import StatusError, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    controller_of,
    is_deleting,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    reference_to,
    selects,
    spec_of,
    status_of,
    with_meta,
    with_spec,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.template_defaults import bare, defaulted
from scheduler_core.cluster.v1_37.template_hash import encoded

HASH = "controller.kubernetes.io/hash"
LABEL = "controller-revision-hash"
ASSUMED = "podstep/assumed"
"""The annotation of what a dump lacked and was put back."""
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
"""What Go's JSON escapes beyond what the format asks for."""
UNDO = "podstep/undo-to"
"""The annotation of a workload that asks for a revision, 0 for the one before; it goes with the rollback."""


def listed(server: ApiServer, owner: Manifest) -> list[Manifest]:
    """Return an owner's revisions and those that it may adopt, in order of their numbers."""
    selector = spec_of(owner).get("selector")
    own = [one for one in server.controlled(owner, "ControllerRevision") if selects(selector, labels_of(one))]
    found = [*own, *server.adoptable("ControllerRevision", selector, namespace_of(owner))]
    return sorted(
        found, key=lambda one: (one["revision"], one["metadata"]["creationTimestamp"], name_of(one))
    )


def adopted(client: Clientset, owner: Manifest, known: Sequence[Manifest]) -> Work:
    """Adopt revisions without controller; return all (adoptOrphanRevisions)."""
    found = []
    for one in known:
        orphan = controller_of(one) is None and not is_deleting(owner)
        found.append((yield client.patch(one, owned_by(owner))) if orphan else one)
    return found


def data_of(template: Manifest) -> Manifest:
    """Return what a revision keeps of a template: a strategic merge patch that replaces it (getPatch)."""
    return {"spec": {"template": {**template, "$patch": "replace"}}}


def data_hash(data: Manifest, collisions: int) -> str:
    """Return the hash that names a StatefulSet's revision: FNV-1 of its data (HashControllerRevision)."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    number = 0x811C9DC5
    for byte in f"{text.translate(_ESCAPED)}{collisions}".encode():
        number = (number * 0x01000193 & 0xFFFFFFFF) ^ byte
    return encoded(number)


def new_revision(owner: Manifest, number: int, label: str, suffix: str) -> Manifest:
    """Return the revision of an owner's present template, not yet stored; ``label`` has its hash."""
    template = spec_of(owner)["template"]
    labels = (template.get("metadata") or {}).get("labels") or {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"{name_of(owner)}-{suffix}",
            "namespace": namespace_of(owner),
            "labels": {**labels, label: suffix},
            "annotations": dict(annotations_of(owner)),
            "ownerReferences": [reference_to(owner)],
        },
        "data": data_of(template),
        "revision": number,
    }


def is_assumed(obj: Manifest) -> bool:
    """Return whether a dump lacked an object, which was put back by what it lets see."""
    return ASSUMED in annotations_of(obj)


def template_of(revision: Manifest) -> dict[str, Any]:
    """Return the template that a revision keeps."""
    found = ((revision.get("data") or {}).get("spec") or {}).get("template") or {}
    return {key: part for key, part in found.items() if key != "$patch"}


def restored(owner: Manifest, revision: Manifest) -> Manifest:
    """Return an owner with the template of a revision (ApplyRevision)."""
    return with_spec(owner, template=template_of(revision))


def undone(server: ApiServer, owner: Manifest, number: int) -> Manifest | None:
    """Return an owner with the template of a revision, 0 for the one before (kubectl rollout undo).

    ``None`` without that revision, and where it is assumed.
    """
    known = listed(server, owner)
    before = known[-2:-1] if number == 0 else [one for one in known if one["revision"] == number]
    return restored(owner, before[0]) if before and not is_assumed(before[0]) else None


def updated_revision(client: Clientset, owner: Manifest, known: Sequence[Manifest]) -> Work:
    """Return a StatefulSet's revision of its present template, and how many names have collided.

    It is the last one, an old one renumbered, or a new one (getStatefulSetRevisions).
    """
    number = known[-1]["revision"] + 1 if known else 1
    collisions = int(status_of(owner).get("collisionCount") or 0)
    template = spec_of(owner)["template"]
    equal = [one for one in known if one.get("data") == data_of(template)]
    if known and (known[-1] in equal or (not equal and _gives(known[-1], template))):
        return known[-1], collisions
    if equal:
        return (yield client.update({**equal[-1], "revision": number})), collisions
    return (yield from _created(client, owner, number, collisions))


def _gives(revision: Manifest, template: Manifest) -> bool:
    """Return whether a revision, however written, gives a template (setMatchesLatestExistingRevision)."""
    return bool(bare(defaulted(template_of(revision))) == bare(template))


def _created(client: Clientset, owner: Manifest, number: int, collisions: int) -> Work:
    """Create a revision under the first name that no other content has (CreateControllerRevision)."""
    made = new_revision(owner, number, HASH, data_hash(data_of(spec_of(owner)["template"]), collisions))
    while True:
        try:
            return (yield client.create(made)), collisions
        except StatusError as error:
            found = client.server.get("ControllerRevision", key_of(made))
            if error.code != 409 or found is None:
                raise
            if found["data"] == made["data"]:
                return found, collisions
        collisions += 1
        made = with_meta(made, name=f"{name_of(owner)}-{data_hash(made['data'], collisions)}")


def truncate(client: Clientset, owner: Manifest, known: Sequence[Manifest], live: set[str]) -> Work:
    """Delete the oldest revisions that nothing lives by, beyond the history limit."""
    history = [one for one in known if name_of(one) not in live]
    surplus = len(history) - int(spec_of(owner).get("revisionHistoryLimit") or 0)
    for one in history[: max(0, surplus)]:
        yield client.delete(one)
