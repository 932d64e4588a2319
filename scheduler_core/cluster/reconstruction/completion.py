"""The dump of a cluster that runs, completed by what it lacks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scheduler_core.cluster.reconstruction import daemons, jobs, replicas, stateful, volumes
from scheduler_core.cluster.reconstruction.dump import Dump
from scheduler_core.cluster.reconstruction.notes import IDLE, LOST, STOPPED, Note
from scheduler_core.cluster.v1_37.kubelet import amount, waits_for
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    is_finished,
    key_in,
    key_of,
    namespace_of,
    node_of,
    owners_of,
)

NO_BUDGETS = "The dump has no PodDisruptionBudgets: none are assumed, and no drain is held back"
_GET = "get them with `kubectl get nodes -o json`"


class NoNodesError(ValueError):
    """A dump has pods that run, and no nodes."""


class Completion(NamedTuple):
    """The objects of a dump with those that were put back, and what is assumed.

    ``unlisted`` are uids of owners that are not put back: they count as there, and make no pods.
    """

    objects: list[Manifest]
    notes: list[Note]
    unlisted: frozenset[str]


def completed(objects: Iterable[Manifest]) -> Completion:
    """Put back what a dump lacks, from ownerReferences and pods.

    What a full dump has is never changed; one that was shortened gets its uids, times and defaults. An owner
    whose kind and name are there under another uid is not missing: its dependents are garbage.

    Raises:
        NoNodesError: Pods run on nodes, of which the dump has none.
    """
    dump = Dump(objects)
    on = {node_of(pod) for pod in dump.of_kind("Pod")} - {""}
    if on and not dump.of_kind("Node"):
        raise NoNodesError(f"the dump has pods on {len(on)} nodes, and no nodes: {_GET}")
    volumes.put_back_priorities(dump)
    volumes.put_back_claims(dump)
    replicas.put_back(dump)
    stateful.put_back(dump)
    daemons.put_back(dump)
    jobs.put_back(dump)
    _hold(dump)
    _note_waiting(dump)
    if dump.of_kind("Pod") and not dump.of_kind("PodDisruptionBudget"):
        dump.notes.append(Note(NO_BUDGETS))
    return Completion(dump.all(), dump.notes, frozenset(dump.unlisted))


def _note_waiting(dump: Dump) -> None:
    """Note pods whose containers wait for something that a dump does not show."""
    waiting: dict[str, list[str]] = {}
    for pod in dump.of_kind("Pod"):
        why = waits_for(pod) if node_of(pod) and not is_finished(pod) else ""
        if why and amount(pod, "run-seconds") is None:
            waiting.setdefault(why, []).append(key_of(pod))
    for why, pods in sorted(waiting.items()):
        then = "and is assumed to run from its next start on" if why == "CrashLoopBackOff" else "and stays so"
        some = ", ".join(pods[:5]) + (f" and {len(pods) - 5} more" if len(pods) > 5 else "")
        dump.notes.append(Note(f"Each of these pods waits with {why}, {then}: {some}", lacks=False))


def _hold(dump: Dump) -> None:
    """Let the owners count as there that the dump lacks and nothing shows the like of."""
    held: dict[tuple[str, str], int] = {}
    for obj in dump.all():
        for owner in owners_of(obj):
            key = key_in(owner["kind"], namespace_of(obj), owner["name"])
            if dump.get(owner["kind"], key) is None and owner.get("uid") not in dump.unlisted:
                if owner["kind"] == "Node":
                    continue  # a mirror pod of a node that is gone is garbage
                held.setdefault((owner["kind"], key), 0)
                held[owner["kind"], key] += obj["kind"] == "Pod"
                dump.unlisted.add(owner["uid"])
    for (kind, key), pods in sorted(held.items()):
        dump.notes.append(_lost(kind, key, pods))


def _lost(kind: str, key: str, pods: int) -> Note:
    lacks = f"{kind} {key} is not in the dump"
    if kind == "CronJob":
        return Note(f"{lacks}: its Jobs go on, and it begins none", kind, STOPPED)
    if pods:
        lost = f"its pods ({pods}) are lost once they end"
        return Note(f"{lacks}, and cannot be known: {lost}", kind, LOST)
    return Note(f"{lacks}: what it owns stays, and it makes nothing", kind, IDLE)
