"""What the controllers of workloads make of a bundle, by kind."""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.cluster.controllers.workloads import (
    ExistingObjects,
    WorkloadChanges,
    expand_daemons,
    expand_deployment,
    expand_replicas,
    expand_stateful,
)
from scheduler_core.kubernetes.model import Workload

Expand = Callable[[ExistingObjects, Workload, WorkloadChanges], None]
"""Adds what a controller would do, all at once, to the last argument."""

EXPANSIONS: dict[str, Expand] = {
    "Deployment": expand_deployment,
    "StatefulSet": expand_stateful,
    "DaemonSet": expand_daemons,
}
"""The kinds that are not expanded to as many pods as wanted."""


def expand(world: ExistingObjects, owner: Workload) -> WorkloadChanges:
    """Return the changes that the controller of an object would make now. The world is not modified."""
    changes = WorkloadChanges()
    if owner.template is not None and owner.meta.deletion_timestamp is None:
        EXPANSIONS.get(owner.kind, expand_replicas)(world, owner, changes)
    return changes
