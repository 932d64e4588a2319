"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had (``pkg/controller/history``)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.controller import owned_by
from scheduler_core.cluster.v1_37.loop import Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    is_deleting,
    labels_of,
    name_of,
    namespace_of,
    reference_to,
    selects,
    spec_of,
    status_of,
    uid_of,
    with_spec,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.formats.decode import short_hash

HASH = "controller.kubernetes.io/hash"
LABEL = "controller-revision-hash"


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


def new_revision(owner: Manifest, number: int) -> Manifest:
    """Return the revision of an owner's present template, not yet stored."""
    template = spec_of(owner)["template"]
    collisions = status_of(owner).get("collisionCount") or 0
    suffix = short_hash(json.dumps(template, sort_keys=True), uid_of(owner), str(collisions), length=10)
    labels = dict((template.get("metadata") or {}).get("labels") or {})
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"{name_of(owner)}-{suffix}",
            "namespace": namespace_of(owner),
            "labels": {**labels, HASH: suffix},
            "ownerReferences": [reference_to(owner)],
        },
        "data": {"spec": {"template": template}},
        "revision": number,
    }


def template_of(revision: Manifest) -> dict[str, Any]:
    """Return the template that a revision keeps."""
    found: dict[str, Any] = revision["data"]["spec"]["template"]
    return found


def restored(owner: Manifest, revision: Manifest) -> Manifest:
    """Return an owner with the template of a revision (ApplyRevision)."""
    return with_spec(owner, template=template_of(revision))


def undone(server: ApiServer, owner: Manifest, number: int) -> Manifest | None:
    """Return an owner with the template of a revision, 0 for the one before (kubectl rollout undo)."""
    known = listed(server, owner)
    before = known[-2:-1] if number == 0 else [one for one in known if one["revision"] == number]
    return restored(owner, before[0]) if before else None


def updated_revision(client: Clientset, owner: Manifest, known: Sequence[Manifest]) -> Work:
    """Return the revision of the present template: the last, an old one renumbered, or a new one."""
    number = known[-1]["revision"] + 1 if known else 1
    template = spec_of(owner)["template"]
    equal = [one for one in known if template_of(one) == template]
    if equal and equal[-1] is known[-1]:
        return known[-1]
    if equal:
        return (yield client.update({**equal[-1], "revision": number}))
    return (yield client.create(new_revision(owner, number)))


def truncate(client: Clientset, owner: Manifest, known: Sequence[Manifest], live: set[str]) -> Work:
    """Delete the oldest revisions that nothing lives by, beyond the history limit."""
    history = [one for one in known if name_of(one) not in live]
    surplus = len(history) - int(spec_of(owner).get("revisionHistoryLimit") or 0)
    for one in history[: max(0, surplus)]:
        yield client.delete(one)
