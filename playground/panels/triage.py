"""What to look at first in a cluster: the pods that end without a node, by cause, and what its dump lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from playground.playback.playback import Playback
from playground.playback.tables import PENDING
from scheduler_core.compare.again import FINISHED
from scheduler_core.kubernetes.fit_errors import merged_message, parse_fit_error
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.support import part_of
from scheduler_core.scenario.dump import is_dump
from scheduler_core.scenario.dump_kinds import DUMP_COMMAND, DUMP_ROWS

CAUSES_SHOWN = 12
PODS_SHOWN = 8  # of a cause
ASKED = 40  # workloads of which one pod's last cycle is rebuilt for its message
GATED = "not tried: spec.schedulingGates keeps it out of the queue"
FOREIGN = "not tried: no scheduler here has the schedulerName {}"
UNTRIED = "not tried before the run ended"
NONE_RUNS = "no pod runs on a node, so all nodes count as empty"
UNREAD = "unschedulable, like other pods of many workloads: step to one of them for its message"


def triage(playback: Playback, unwanted: Callable[[], bool]) -> dict[str, Any]:
    """Return the protocol's answer of ``scenario.triage`` for a playback that is computed to its end."""
    pending = np.flatnonzero(playback.trail.placement == PENDING).tolist()
    documents = playback.scenario.documents
    return {
        "waiting": int(np.count_nonzero(np.asarray(playback.tables.start) == PENDING)),
        "pending": len(pending),
        "causes": _causes(playback, pending, unwanted),
        "dump": _rows(documents) if is_dump(documents) else [],
        "command": DUMP_COMMAND,
    }


def _kinds(documents: Sequence[Document]) -> Iterator[str]:
    """Yield the kind of each object; finished pods do not count, as they take nothing."""
    return (str(one.get("kind")) for one in documents if part_of(one, "status", "phase") not in FINISHED)


def _rows(documents: Sequence[Document]) -> list[dict[str, Any]]:
    have = Counter(_kinds(documents))
    running = (one for one in documents if part_of(one, "status", "phase") not in FINISHED)
    idle = not any(part_of(one, "spec", "nodeName") for one in running if one.get("kind") == "Pod")
    return [
        {
            "title": row.title,
            "kinds": {kind: have.get(kind, 0) for kind in row.kinds},
            "partly": NONE_RUNS if idle and have["Pod"] and "Pod" in row.kinds else "",
            "weakens": row.weakens,
        }
        for row in DUMP_ROWS
    ]


def _causes(playback: Playback, pending: list[int], unwanted: Callable[[], bool]) -> list[dict[str, Any]]:
    """Group pods by their last message; messages that differ only in numbers are one cause."""
    last = _last_failures(playback, set(pending))
    messages: dict[Hashable, str] = {}  # by workload: its pods fail alike
    groups: dict[Hashable, list[tuple[int, str]]] = {}
    for pod in pending:
        message = _message(playback, pod, last, messages, unwanted)
        groups.setdefault(_shape(message), []).append((pod, message))
    largest = sorted(groups.values(), key=len, reverse=True)[:CAUSES_SHOWN]
    pods = playback.tables.pods
    return [
        {
            "message": merged_message(message for _, message in members),
            "count": len(members),
            "pods": [pods[pod].meta.key for pod, _ in members[:PODS_SHOWN]],
        }
        for members in largest
    ]


def _last_failures(playback: Playback, pending: set[int]) -> dict[int, int]:
    index_of = playback.tables.pod_index
    decided = enumerate(playback.trail.decisions, 1)
    return {
        index_of[decision.pod]: at
        for at, decision in decided
        if decision.result != "scheduled" and index_of.get(decision.pod) in pending
    }


def _message(
    playback: Playback,
    pod: int,
    last: Mapping[int, int],
    messages: dict[Hashable, str],
    unwanted: Callable[[], bool],
) -> str:
    found = playback.tables.pods[pod]
    if pod not in last:
        return _untried(playback, found)
    owner = found.meta.controller
    workload: Hashable = (found.meta.namespace, owner.kind, owner.name) if owner else pod
    if workload not in messages:
        read = len(messages) < ASKED
        messages[workload] = (playback.cycle(last[pod], unwanted).message or UNTRIED) if read else UNREAD
    return messages[workload]


def _untried(playback: Playback, pod: Pod) -> str:
    if pod.scheduling_gates:
        return GATED
    return UNTRIED if playback.stopped else FOREIGN.format(pod.scheduler_name)


def _shape(message: str) -> Hashable:
    error = parse_fit_error(message)
    return message if error.nodes is None else error.shape()
