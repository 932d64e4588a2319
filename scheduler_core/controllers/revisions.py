"""Which template a pod was made from, where one controller's pods have several (ControllerRevision).

Pods have the label ``controller-revision-hash``. Those without it, as the pods of a loaded cluster, are of
``status.current``: the template before the update under way.
"""

from __future__ import annotations

from dataclasses import replace

from scheduler_core.controllers.changes import Change, Reconciliation
from scheduler_core.controllers.store import Store
from scheduler_core.controllers.workloads import labelled
from scheduler_core.objects.model import Pod, Workload

LABEL = "controller-revision-hash"


def begun(owner: Workload) -> Change | None:
    """Return the first note of a controller's template, ``None`` if there is one."""
    if owner.status.current is not None:
        return None
    status = replace(owner.status, current=owner.template)
    return Change("update", replace(owner, status=status), "CurrentRevision")


def marked(pod: Pod, revision: str) -> Pod:
    """Return a pod with the label of its template."""
    return labelled(pod, {LABEL: revision})


def updating(owner: Workload) -> bool:
    """Tell whether the template is another than that of the last finished update."""
    return owner.status.current is not owner.template and owner.status.current != owner.template


def is_current(owner: Workload, store: Store, pod: Pod) -> bool:
    """Tell whether a pod was made from the controller's template."""
    if owner.template is None or not updating(owner):
        return True
    return pod.meta.labels.get(LABEL, "") == store.revision(owner, owner.template)


def completed(owner: Workload) -> Reconciliation:
    """Return the note that every pod has the template now, nothing if that is known."""
    if not updating(owner):
        return ()
    status = replace(owner.status, current=owner.template)
    return (Change("update", replace(owner, status=status), "RollingUpdateComplete"),)
