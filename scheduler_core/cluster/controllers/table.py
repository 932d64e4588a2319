"""The controllers of workloads, by kind. A controller for a new kind is a row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.controllers import daemons, deployment, jobs, replicas, stateful
from scheduler_core.cluster.controllers.changes import Reconciliation
from scheduler_core.cluster.controllers.workloads import (
    ExistingObjects,
    WorkloadChanges,
    expand_daemons,
    expand_deployment,
    expand_replicas,
    expand_stateful,
)
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.model import Workload

Reconcile = Callable[[Any, Store, float], Reconciliation]
"""A controller: takes the object, the store and the virtual seconds; it changes nothing itself."""

Expand = Callable[[ExistingObjects, Workload, WorkloadChanges], None]
"""A controller's effect with the instant clock: adds its changes, all at once, to the last argument."""


class ControllerRow(Struct, frozen=True):
    """One row: a kind, its controller in virtual time, and its expansion with the instant clock."""

    kind: str
    reconcile: Reconcile
    expand: Expand


CONTROLLERS: dict[str, ControllerRow] = {
    row.kind: row
    for row in (
        ControllerRow("ReplicaSet", replicas.reconcile, expand_replicas),
        ControllerRow("ReplicationController", replicas.reconcile, expand_replicas),
        ControllerRow("Deployment", deployment.reconcile, expand_deployment),
        ControllerRow("StatefulSet", stateful.reconcile, expand_stateful),
        ControllerRow("DaemonSet", daemons.reconcile, expand_daemons),
        ControllerRow("Job", jobs.reconcile, expand_replicas),
    )
}


def expand(world: ExistingObjects, owner: Workload) -> WorkloadChanges:
    """Return the changes that the controller of an object would make now. The world is not modified."""
    changes = WorkloadChanges()
    if owner.template is not None and owner.meta.deletion_timestamp is None:
        CONTROLLERS[owner.kind].expand(world, owner, changes)
    return changes
