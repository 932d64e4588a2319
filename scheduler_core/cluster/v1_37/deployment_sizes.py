"""A Deployment's ReplicaSets: their revisions, and how large each may be (``deployment/util``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    created_at,
    name_of,
    scaled,
    spec_of,
    status_of,
    with_meta,
    with_spec,
)
from scheduler_core.cluster.v1_37.template_defaults import bare

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
_OWN = (REVISION, HISTORY, DESIRED, MOST, "kubectl.kubernetes.io/last-applied-configuration")


def replicas_of(one: Manifest) -> int:
    """Return ``spec.replicas``."""
    return int(spec_of(one)["replicas"])


def total(sets: Iterable[Manifest]) -> int:
    """Return the sum of the sets' replicas."""
    return sum(map(replicas_of, sets))


def active_sets(sets: Iterable[Manifest]) -> list[Manifest]:
    """Return the sets that have replicas."""
    return [one for one in sets if replicas_of(one) > 0]


def by_age(sets: Iterable[Manifest]) -> list[Manifest]:
    """Return sets in order of creation, then of name."""
    found = list(sets)
    if len(found) < 2:
        return found
    return sorted(found, key=lambda one: (created_at(one), name_of(one)))


def revision_of(one: Manifest) -> int:
    """Return a set's revision, 0 without one."""
    written = annotations_of(one).get(REVISION, "")
    return int(written) if written.isdecimal() else 0


def same_template(made: Manifest, wanted: Manifest) -> bool:
    """Return whether two templates are equal but for the hash (EqualIgnoreHash)."""
    one, other = _without_hash(made), _without_hash(wanted)
    return one == other or bare(one) == bare(other)


def _without_hash(template: Manifest) -> Manifest:
    meta = template.get("metadata") or {}
    known = meta.get("labels") or {}
    if known and HASH not in known:
        return template
    labels = {key: value for key, value in known.items() if key != HASH}
    return {**template, "metadata": {**meta, "labels": labels}}


def fenceposts(owner: Manifest) -> tuple[int, int]:
    """Return the maximum surge and the maximum of unavailable pods (ResolveFenceposts)."""
    replicas, strategy = spec_of(owner)["replicas"], spec_of(owner)["strategy"]
    if strategy["type"] != "RollingUpdate":
        return 0, 0
    rolling = strategy["rollingUpdate"]
    surge = scaled(rolling["maxSurge"], replicas, up=True)
    unavailable = scaled(rolling["maxUnavailable"], replicas, up=False)
    if not surge and not unavailable:
        unavailable = 1
    return surge, min(unavailable, int(replicas))


def grown(owner: Manifest, everyone: Sequence[Manifest], new: Manifest) -> int:
    """Return the next size of the new set (NewRSNewReplicas)."""
    replicas, strategy = spec_of(owner)["replicas"], spec_of(owner)["strategy"]
    if strategy["type"] != "RollingUpdate":
        return int(replicas)
    most = int(replicas) + scaled(strategy["rollingUpdate"]["maxSurge"], replicas, up=True)
    room = most - total(everyone)
    if room <= 0:
        return replicas_of(new)
    return replicas_of(new) + min(room, int(replicas) - replicas_of(new))


def _sizes(owner: Manifest) -> dict[str, str]:
    replicas = spec_of(owner)["replicas"]
    return {DESIRED: str(replicas), MOST: str(replicas + fenceposts(owner)[0])}


def sized(owner: Manifest, one: Manifest, size: int) -> Manifest:
    """Return a set with another size, and the Deployment's at that time in its annotations."""
    marks = {**annotations_of(one), **_sizes(owner)}
    return with_spec(with_meta(one, annotations=marks), replicas=size)


def annotated(owner: Manifest, one: Manifest, revision: int, *, fresh: bool) -> Manifest:
    """Return a set with the Deployment's annotations and its revision (SetNewReplicaSetAnnotations)."""
    marks = dict(annotations_of(one))
    marks |= {key: value for key, value in annotations_of(owner).items() if key not in _OWN}
    before = revision_of(one)
    if before < revision:
        if REVISION in marks:
            history = [*filter(None, marks.get(HISTORY, "").split(",")), str(before)]
            marks[HISTORY] = ",".join(history)
        marks[REVISION] = str(revision)
    if fresh:
        marks |= _sizes(owner)
    return one if marks == annotations_of(one) else with_meta(one, annotations=marks)


def is_saturated(owner: Manifest, new: Manifest | None) -> bool:
    """Return whether the new set has all replicas, and all are available (IsSaturated)."""
    if new is None:
        return False
    wanted = spec_of(owner)["replicas"]
    return (
        replicas_of(new) == wanted
        and annotations_of(new).get(DESIRED) == str(wanted)
        and (status_of(new).get("availableReplicas") or 0) == wanted
    )


def proportions(owner: Manifest, active: list[Manifest]) -> Iterator[tuple[Manifest, int]]:
    """Yield the sets with the sizes that a changed scale gives them, in proportion (scale)."""
    wanted = spec_of(owner)["replicas"]
    allowed = wanted + fenceposts(owner)[0] if wanted > 0 else 0
    to_add = allowed - total(active)
    ordered = by_age(active)
    if to_add > 0:
        ordered.reverse()
    ordered.sort(key=lambda one: -replicas_of(one))
    added, sizes = 0, []
    for one in ordered:
        part = _part(owner, one, to_add, added) if to_add else 0
        added += part
        sizes.append(replicas_of(one) + part)
    if sizes and to_add:
        sizes[0] = max(0, sizes[0] + to_add - added)
    yield from zip(ordered, sizes, strict=True)


def _part(owner: Manifest, one: Manifest, to_add: int, added: int) -> int:
    """Return how many replicas a set gets or loses (GetReplicaSetProportion)."""
    if not replicas_of(one) or to_add == added:
        return 0
    share, left = _fraction(owner, one), to_add - added
    return min(share, left) if to_add > 0 else max(share, left)


def _fraction(owner: Manifest, one: Manifest) -> int:
    wanted, size = spec_of(owner)["replicas"], replicas_of(one)
    if not wanted:
        return -size
    written = annotations_of(one).get(MOST, "")
    before = int(written) if written.isdecimal() else 0
    before = before or int(status_of(owner).get("replicas") or 0)
    if not before:
        return 0
    exact = size * float(wanted + fenceposts(owner)[0]) / before
    return (floor(exact + 0.5) if exact >= 0 else ceil(exact - 0.5)) - size
