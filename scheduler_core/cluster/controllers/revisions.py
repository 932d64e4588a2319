"""The template that a pod was created from, where a controller's pods have several (ControllerRevision).

Pods have the label ``controller-revision-hash``. Those without it, such as the pods of a loaded cluster,
belong to ``status.current``: the template before the update in progress.
"""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation
from scheduler_core.cluster.controllers.workloads import labelled
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.model import Pod, Workload

LABEL = "controller-revision-hash"


def begun(owner: Workload) -> Change | None:
    """Return the change that initializes a controller's ``status.current``, ``None`` if it is set."""
    if owner.status.current is not None:
        return None
    status = replace(owner.status, current=owner.template)
    return Change("update", replace(owner, status=status), "CurrentRevision")


def marked(pod: Pod, revision: str) -> Pod:
    """Return a pod with the label of its template."""
    return labelled(pod, {LABEL: revision})


def updating(owner: Workload) -> bool:
    """Return whether the template differs from that of the last completed update."""
    return owner.status.current is not owner.template and owner.status.current != owner.template


def is_current(owner: Workload, store: Store, pod: Pod) -> bool:
    """Return whether a pod was created from the controller's current template."""
    if owner.template is None or not updating(owner):
        return True
    return pod.meta.labels.get(LABEL, "") == store.revision(owner, owner.template)


def completed(owner: Workload) -> Reconciliation:
    """Return the change that records a completed update; empty if it is recorded already."""
    if not updating(owner):
        return ()
    status = replace(owner.status, current=owner.template)
    return (Change("update", replace(owner, status=status), "RollingUpdateComplete"),)
