"""Job: create pods until enough have succeeded or too many have failed.

Source: ``pkg/controller/job``, ``syncJob`` and ``manageJob``. Finished pods are counted when they finish, so
that they may be deleted. After failures new pods are delayed by 10 s, doubling up to 6 min. Containers that
restart in their pod (``OnFailure``) count against ``backoffLimit`` too. Pods of an Indexed Job have their
completion index as an annotation, as a label and in their name.
"""

from __future__ import annotations

from itertools import count, islice

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation, Wake
from scheduler_core.cluster.controllers.owned import Owned
from scheduler_core.cluster.controllers.replicas import BURST, create, delete
from scheduler_core.cluster.controllers.workloads import as_indexed, index_of, indexed_name
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import Workload

_FIRST_DELAY, _LONGEST_DELAY = 10.0, 360.0


def reconcile(owner: Workload, store: Store, now: float) -> Reconciliation:
    """Update the status, finish the Job, or create or delete pods to match the wanted number."""
    if owner.template is None or owner.meta.deletion_timestamp is not None or owner.status.finished:
        return ()
    owned = store.owned(key_of(owner))
    done = _counted(owner, owned)
    status = replace(owner.status, succeeded=done, failed=owned.failed)
    if owned.failed + owned.restarts > owner.job.backoff_limit:
        status = replace(status, finished="Failed")
    elif _complete(owner, owned, done):
        status = replace(status, finished="Complete")
    if status.finished:
        left = delete(store.pods_of(owner), owned.active)
        reason = "Completed" if status.finished == "Complete" else "BackoffLimitExceeded"
        return [*left, Change("update", replace(owner, status=status), reason)]
    if status != owner.status:
        return (Change("update", replace(owner, status=status), "Counted"),)
    return _manage(owner, store, owned, done, now)


def _counted(owner: Workload, owned: Owned) -> int:
    """Return the number of completions; for an Indexed Job each index counts once."""
    return len(owned.completed) if owner.job.indexed else owned.succeeded


def _complete(owner: Workload, owned: Owned, done: int) -> bool:
    if owner.job.completions is None:
        return done > 0 and not owned.active
    return done >= owner.job.completions


def _wanted(owner: Workload, owned: Owned, done: int) -> int:
    job = owner.job
    if job.suspended:
        return 0
    if job.completions is None:  # once one has succeeded, no others are started
        return min(owned.active, job.parallelism) if done else job.parallelism
    return min(job.parallelism, max(0, job.completions - done))


def _manage(owner: Workload, store: Store, owned: Owned, done: int, now: float) -> Reconciliation:
    missing = _wanted(owner, owned, done) - owned.active
    if missing < 0:
        return delete(store.pods_of(owner), -missing)
    if not missing:
        return ()
    if owned.failed_in_a_row:
        delay = min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** min(owned.failed_in_a_row - 1, 30))
        if now < owned.last_failure + delay:
            return (Wake(owned.last_failure + delay, "the Job's backoff has expired"),)
    if not owner.job.indexed:
        return create(owner, store, now, missing)
    return _create_indexed(owner, store, now, missing)


def _create_indexed(owner: Workload, store: Store, now: float, missing: int) -> list[Change]:
    owned = store.owned(key_of(owner))
    taken = {index_of(pod) for pod in store.pods_of(owner)} | owned.completed
    free = (index for index in range(owned.steady, owner.job.completions or 0) if index not in taken)
    room = max(0, min(missing, BURST, store.options.most_pods - store.pods))
    changes = []
    for index in islice(free, room):
        names = (indexed_name(owner, index, salt) for salt in count(owned.failed))
        name = next(name for name in names if ("Pod", f"{owner.meta.namespace}/{name}") not in store.objects)
        pod = as_indexed(store.new_pod(owner, name, now), index)
        changes.append(Change("create", pod, "SuccessfulCreate"))
    return changes
