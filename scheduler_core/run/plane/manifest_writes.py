"""What users do to objects that have no typed one: CronJobs, and Kueue's objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.cluster.v1_37.defaults import admitted
from scheduler_core.cluster.v1_37.objects import Manifest, key_in, spec_of, stamp, status_of
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.scenario import cron_jobs, kueue_objects
from scheduler_core.scenario.kueue import WORKLOAD_LISTS
from scheduler_core.scenario.scenario import Operation


def operate(server: ApiServer, operation: Operation) -> None:
    """Write what an operation does; one on an object that nobody has made yet does nothing."""
    kind = operation.kind
    namespace, _, name = operation.key.rpartition("/")
    key, stored = key_in(kind, namespace, name), _as_stored(operation)
    known = server.get(kind, key) is not None
    if stored is None:
        if known:
            server.delete(kind, key, "user", propagation=operation.propagation or "Background")
    elif not known:
        if operation.action == "create":
            server.create(stored, "user")
    else:
        made = admitted({**stored, "metadata": {**stored["metadata"], "uid": ""}}, server)
        change = _CHANGES.get(kind, _with_spec)
        server.change(kind, key, lambda one: change(one, made, server), "user")


def _as_stored(operation: Operation) -> Manifest | None:
    """Return an operation's object as the API server stores it, ``None`` for a deletion."""
    if operation.manifest is None:
        return None
    completed = cron_jobs.admitted if operation.kind == cron_jobs.KIND else kueue_objects.stored
    return dict(completed(operation.manifest))


Change = Callable[[Manifest, Manifest, ApiServer], Manifest]
"""Returns a stored object as a user's version of it leaves it."""


def _with_spec(stored: Manifest, made: Manifest, server: ApiServer) -> Manifest:
    del server
    return {**stored, **{name: part for name, part in made.items() if name not in ("metadata", "status")}}


def _with_status(stored: Manifest, made: Manifest, server: ApiServer) -> Manifest:
    written = {"status": made["status"]} if "status" in made else {}
    return {**_with_spec(stored, made, server), **written}


def _workload(stored: Manifest, made: Manifest, server: ApiServer) -> Manifest:
    """Merge what a user writes of a Workload, and rows of its status by their names."""
    status = dict(status_of(stored))
    for name, by in WORKLOAD_LISTS.items():
        rows = {row[by]: row for row in status.get(name) or ()}
        for row in status_of(made).get(name) or ():
            rows[row[by]] = _timed(row, rows.get(row[by]) or {}, server) if name == "conditions" else row
        status |= {name: list(rows.values())} if rows else {}
    kept = spec_of(stored) if "podSets" not in spec_of(made) else {"active": spec_of(stored).get("active")}
    return {**stored, "spec": {**kept, **spec_of(made)}, "status": status}


def _timed(row: Mapping[str, Any], old: Mapping[str, Any], server: ApiServer) -> Manifest:
    """Return a condition with the time at which its status changed."""
    stays = old.get("status") == row.get("status")
    since = old.get("lastTransitionTime") if stays else stamp(server.loop.wall_time)
    return {**row, "lastTransitionTime": row.get("lastTransitionTime") or since}


_CHANGES: Mapping[str, Change] = {"AdmissionCheck": _with_status, "Workload": _workload}
"""How kinds are changed of which users write more than the spec."""
