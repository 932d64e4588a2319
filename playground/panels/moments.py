"""The moments of a step: the events before its attempt, the attempt, and its consequences, in order.

Each lists the pods it moved, so that the cluster can be shown in the states in between, and the number of the
cycle's events up to then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from playground.panels.happenings import alike, sentence_of
from playground.panels.outside import describe
from playground.panels.sentences import Sentence, SentencePart, counted, listed, placements
from playground.playback.place import CycleIndices
from scheduler_core.record.cycle import Cycle
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.cycles import events_of

MOMENTS_SHOWN = 200
PENDING = -1  # as in ``changes``; a deleted pod is null here
CHANGES_NAMED = 3

MoveRow = list[int | None]  # pod index, node index | PENDING | None: deleted
MomentView = dict[str, Any]
Index = Mapping[str, int]
Moved = tuple[tuple[str, str | None], ...]

RESULTS = {"scheduled": "Scheduled", "waiting": "Waiting"}
"""The reason of an attempt that gave its pod a node; any other is ``FailedScheduling``."""


def moments(cycle: Cycle, place: CycleIndices) -> list[MomentView]:
    """Return the protocol's ``moments`` of a cycle; their moves together are the cycle's changes."""
    if cycle.moves is None:
        return _untimed(cycle, place)
    before = event_moments(cycle.happenings, "", "event", place.pod_index, place.node_index)
    after = event_moments(cycle.consequences, cycle.pod, "consequence", place.pod_index, place.node_index)
    half = (MOMENTS_SHOWN - 1) // 2
    room = max(half, MOMENTS_SHOWN - 1 - len(after))
    before = cut(before, room)
    known = len(events_of(cycle.happenings))
    attempt = _attempt(cycle, wired(cycle.own_moves, place.pod_index, place.node_index), known)
    after = [{**row, "events": known + row["events"]} for row in after]
    return [*before, attempt, *cut(after, MOMENTS_SHOWN - 1 - len(before))]


def event_moments(
    happenings: Sequence[TimelineEvent], tried: str, kind: str, pod_index: Index, node_index: Index
) -> list[MomentView]:
    """Return a moment for each sentence about ``happenings``; ``tried`` is the cycle's pod.

    Events without a sentence may still move pods: their moves are added to the previous moment.
    """
    rows: list[MomentView] = []
    early: list[MoveRow] = []
    total = 0  # events so far
    for entries, silent in alike(happenings, tried):
        moves = [move for entry in (*entries, *silent) for move in wired(entry.moves, pod_index, node_index)]
        total += len(events_of((*entries, *silent)))
        if not entries:
            early = moves
            continue
        first = entries[0]
        row = _moment(first.time, kind, first.what, sentence_of(entries), [*early, *moves])
        row["events"] = total
        rows.append(_about(row, (entry.about for entry in (*entries, *silent)), node_index))
        early = []
    if early:  # no event has a sentence
        last = happenings[-1]
        rows.append(
            _moment(last.time, kind, last.what, [f"{counted(len(early), 'pod')} moved."], early, total)
        )
    return rows


def cut(rows: list[MomentView], room: int) -> list[MomentView]:
    """Return at most ``room`` moments; if there are more, the last one combines the rest and its moves."""
    if len(rows) <= room:
        return rows
    shown, rest = rows[: room - 1], rows[room - 1 :]
    more = _moment(
        rest[-1]["time"],
        rest[-1]["kind"],
        "More",
        [f"{counted(len(rest), 'more moment')}, taken together."],
        [move for row in rest for move in row["moves"]],
        rest[-1]["events"],
    )
    nodes = sorted({node for row in rest for node in row.get("nodes", ())})
    return [*shown, {**more, "more": len(rest), **({"nodes": nodes} if nodes else {})}]


def wired(moves: Moved, pod_index: Index, node_index: Index) -> list[MoveRow]:
    """Return moves in the indices of the wire, without pods that were created and deleted unseen."""
    return [[pod_index[key], _node(node, node_index)] for key, node in moves if key in pod_index]


def _node(node: str | None, node_index: Index) -> int | None:
    if node is None:
        return None
    return node_index.get(node) if node else PENDING


def _moment(
    time: float, kind: str, what: str, text: Sentence, moves: Iterable[MoveRow], events: int = 0
) -> MomentView:
    return {
        "time": round(time, 6),
        "kind": kind,
        "what": what,
        "text": text,
        "moves": list(moves),
        "events": events,
    }


def _about(row: MomentView, names: Iterable[str], node_index: Index) -> MomentView:
    """Add the affected nodes to a moment: from then on they have their state after the step."""
    nodes = sorted({node_index[name] for name in names if name in node_index})
    return {**row, "nodes": nodes} if nodes else row


def _attempt(cycle: Cycle, moves: list[MoveRow], events: int) -> MomentView:
    what = RESULTS.get(cycle.result, "FailedScheduling")
    return _moment(cycle.time, "attempt", what, _tried(cycle), moves, events)


def _tried(cycle: Cycle) -> Sentence:
    pod: SentencePart = {"pod": cycle.pod}
    if cycle.decision.further:
        return [*placements(cycle.decision), " are placed in one decision."]
    if cycle.node is not None:
        does = "waits at Permit on" if cycle.result == "waiting" else "goes to"
        return [pod, f" is tried and {does} ", {"node": cycle.node}, "."]
    decision = cycle.decision
    if decision.nominated is not None:
        room: Sentence = [", and no victims are needed"]
        if decision.victims:
            verb = "is" if len(decision.victims) == 1 else "are"
            room = [": ", *listed("pod", list(decision.victims)), f" {verb} deleted for it"]
        return [
            pod,
            " is tried and fits nowhere; it is nominated to ",
            {"node": decision.nominated},
            *room,
            ".",
        ]
    ended = "ends in an error" if cycle.result == "error" else "fits nowhere"
    return [pod, f" is tried and {ended}."]


def _untimed(cycle: Cycle, place: CycleIndices) -> list[MomentView]:
    """Return the operations before the cycle, the attempt, and the operations inside it.

    The changes of v1.11's cycles are those of operations, then the victims', then the pod's own.
    """
    own = len(cycle.decision.victims) + (cycle.result == "scheduled")
    split = len(place.changes) - own
    outside = [operation for operation in place.operations if not operation.during]
    inside = [operation for operation in place.operations if operation.during]
    during = {place.pod_index.get(operation.key) for operation in inside if operation.kind == "Pod"}
    changes: list[MoveRow] = [[pod, node if node >= PENDING else None] for pod, node in place.changes]
    early = [move for move in changes[:split] if not outside or move[0] not in during]
    late = [move for move in changes[:split] if move not in early]
    rows = []
    if outside:
        phrases = [describe(operation) for operation in outside]
        row = _moment(cycle.time, "event", "Operation", _from_outside("From outside", phrases), early)
        rows.append(_about(row, (operation.key for operation in outside), place.node_index))
    rows.append(_attempt(cycle, [*(() if outside else early), *changes[split:]], len(cycle.events)))
    if inside:
        phrases = [describe(operation) for operation in inside]
        text = _from_outside("Between evaluating and writing", phrases)
        row = _moment(cycle.time, "consequence", "Operation", text, late, len(cycle.events))
        rows.append(_about(row, (operation.key for operation in inside), place.node_index))
    return rows


def _from_outside(when: str, phrases: list[str]) -> Sentence:
    more = len(phrases) - CHANGES_NAMED
    shown = [*phrases[:CHANGES_NAMED], *([f"{more:,} more"] if more > 0 else [])]
    return [f"{when}: {', '.join(shown)}."]
