"""Another nominal quota of a ClusterQueue of Kueue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.support import part_of

QUEUE = "ClusterQueue"


def with_quota(documents: Sequence[Document], part: str, value: Any) -> list[Document]:
    """Return the documents with a nominal quota, whose place is written ``QUEUE/FLAVOR/RESOURCE``.

    Raises:
        EditError: There is no such quota, or the value is no quantity.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise EditError(f"must be a quantity such as 8 or 64Gi, not {str(value)[:40]!r}")
    after, known = list(documents), []
    for at, one in enumerate(documents):
        if one.get("kind") != QUEUE:
            continue
        changed = deepcopy(dict(one))
        for place, quota in quotas_of(changed):
            known.append(place)
            if place == part:
                quota["nominalQuota"] = value
                after[at] = changed
    if part not in known:
        listed = f"there are {', '.join(known[:6])}" if known else "the bundle has none"
        raise EditError(f"there is no nominal quota {part[:80]!r}; {listed}")
    return after


def quotas_of(queue: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the quotas of a ClusterQueue, each after its place."""
    name = part_of(queue, "metadata", "name")
    for group in part_of(queue, "spec", "resourceGroups") or ():
        for flavor in part_of(group, "flavors") or ():
            for quota in part_of(flavor, "resources") or ():
                yield f"{name}/{flavor.get('name')}/{quota.get('name')}", quota
