"""The effect of an operation when it was applied: the pods added, removed or moved, or why it had none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from playground.panels.happenings import deletes_pod
from playground.panels.sentences import counted
from playground.playback.playback import Playback
from playground.playback.tables import ABSENT
from scheduler_core.kubernetes.readers import steps_of
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.scenario.history_entries import entries_of, ids_of, resolved, target_of, written_of
from scheduler_core.scenario.scenario import Operation

KINDS_SHOWN = 4
NOTHING = " has no effect: "
DONE = {"create": "created", "update": "changed", "delete": "deleted"}
IsUnwanted = Callable[[], bool]


def outcome_of(playback: Playback, name: str, unwanted: IsUnwanted) -> dict[str, Any] | None:
    """Return ``{"effect", "text"}`` of an operation by id, ``None`` if there is no such operation.

    ``playback`` must be computed as far as it will be. ``effect`` is False if it changed nothing.
    """
    scenario = playback.scenario
    entries = entries_of(scenario.documents)
    names = ids_of(entries)
    if name not in names:
        return None
    number = names.index(name)
    before: list[Operation] = []
    made: list[Operation] = []
    for place, (_, came) in enumerate(resolved(entries, scenario)):
        if place == number:
            made = came
            break
        before += came
    key = target_of(entries[number])
    own = next((change for change in made if (change.kind, change.key) == key), None)
    if not made:
        return _outcome(False, _why(playback, number) or "it changes nothing")
    lands = playback.trail.lands(len(before) + 1)
    if playback.tables.timed:
        return _timed(playback, own or made[0], lands, unwanted)
    if lands > len(playback):
        return _outcome(True, "no cycle comes after it")
    return _instant(playback, own or made[0], made, lands)


def _outcome(effect: bool, text: str) -> dict[str, Any]:
    return {"effect": effect, "text": text}


def _why(playback: Playback, number: int) -> str:
    """Return the parser's warning about an entry that resolved to no operation."""
    written = written_of(playback.scenario.documents)[number][0]
    own = ("spec", "operations", written)
    for problem in playback.scenario.warnings:
        if steps_of(problem.path)[:3] == own:
            return problem.message.partition(NOTHING)[2] or problem.message
    return ""


def _instant(playback: Playback, own: Operation, made: list[Operation], lands: int) -> dict[str, Any]:
    """Describe an operation without virtual time: what it resolved to, and the pods deleted with a node.

    ``own`` is the change that the operation names; the others of ``made`` are controllers' responses.
    """
    trail, tables = playback.trail, playback.tables
    placement = trail.placement_before(lands)
    if own.kind == "Pod" and own.action != "create":
        pod = tables.pod_index.get(own.key)
        if pod is not None and placement[pod] == ABSENT:
            return _outcome(False, f"there is no Pod {own.key} at this moment")
    if own.configuration is not None:
        return _outcome(True, "the scheduler restarts")
    others = [change for change in made if change is not own and change.kind != "ReplicaSet"]
    lost = 0
    if own.kind == "Node" and own.action == "delete":
        # The pods that the scheduler placed there are deleted with those that the manifests had bound to it.
        there = placement == tables.node_index[own.key]
        lost = int(there.sum())
        others = [change for change in others if not _was_on(change, there, tables.pod_index)]
    counts = Counter((change.action, change.kind) for change in others)
    parts = [f"{_many(number, kind)} {DONE[action]}" for (action, kind), number in counts.items()]
    parts += [f"{counted(lost, 'pod')} went with it"] if lost else []
    return _outcome(True, ", ".join(parts[:KINDS_SHOWN]))


def _was_on(change: Operation, there: NDArray[np.bool_], pod_index: Mapping[str, int]) -> bool:
    """Return whether a change deletes a pod of the node; ``there``: which pods were on it."""
    pod = pod_index.get(change.key) if (change.action, change.kind) == ("delete", "Pod") else None
    return pod is not None and bool(there[pod])


def _many(number: int, kind: str) -> str:
    return f"{number:,} {kind}{'' if number == 1 else 's'}"


def _timed(playback: Playback, operation: Operation, lands: int, unwanted: IsUnwanted) -> dict[str, Any]:
    """Describe an operation in virtual time: what followed at the same time, as recorded by the run."""
    landed = _after(_happenings(playback, lands, unwanted), operation)
    if landed is None:
        return _outcome(True, "")
    first, rest = landed
    if NOTHING in first.text:
        return _outcome(False, first.text.partition(NOTHING)[2])
    return _outcome(True, _moved((first, *rest)))


def _happenings(playback: Playback, lands: int, unwanted: IsUnwanted) -> list[TimelineEvent]:
    """Return the events around a cycle; an operation inside one is recorded in the previous consequences."""
    found: list[TimelineEvent] = []
    if 1 < lands <= len(playback) + 1 and len(playback):
        found += playback.cycle(lands - 1, unwanted).consequences
    if lands <= len(playback):
        found += [*(cycle := playback.cycle(lands, unwanted)).happenings, *cycle.consequences]
    elif playback.ended:
        found += playback.rest(unwanted)[1].happenings
    return found


def _after(
    events: Iterable[TimelineEvent], operation: Operation
) -> tuple[TimelineEvent, list[TimelineEvent]] | None:
    """Return the record of an operation, and the events at the same time after it, before the next one."""
    begins = f"{operation.action} {operation.kind} {operation.key}"
    first: TimelineEvent | None = None
    rest: list[TimelineEvent] = []
    for happening in events:
        if first is None:
            whole = happening.text == begins or happening.text.startswith(f"{begins}{NOTHING}")
            if happening.what == "Operation" and whole:
                first = happening
        elif happening.what == "Operation" or happening.time > first.time:
            break
        else:
            rest.append(happening)
    return None if first is None else (first, rest)


def _moved(happenings: Sequence[TimelineEvent]) -> str:
    """Count the pods that wait for a node after the events, and those that the events deleted.

    A StatefulSet's pod counts as both: it has no move of its own, being pending again under its name.
    """
    moves = [move for happening in happenings for move in happening.moves]
    waiting = sum(node == "" for node in dict(moves).values())
    gone = {pod for pod, node in moves if node is None}
    gone |= {happening.about for happening in happenings if deletes_pod(happening)}
    parts = [f"{counted(waiting, 'pod')} now pending"] if waiting else []
    return ", ".join([*parts, *([f"{counted(len(gone), 'pod')} gone"] if gone else [])])
