"""Find the next or previous cycle for which a condition holds, as a debugger runs to a breakpoint.

A condition is a text, the same in a link, over the socket and over HTTP: its kind, then ``:`` and an object,
then ``@`` and a restriction. ``predicate:MatchNodeSelector@n3``, ``node:n3``, ``preemption``. Conditions that
the trail can answer are looked up; the others need cycles to be scheduled again, one after the other, by the
search's own reader, so that other users of the source are not disturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Annotated

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from playground.calls.faults import RequestFieldError
from playground.calls.requests import Index, Parameter, Request, Text, Texts
from playground.playback.deadlines import never
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.playback.tables import ABSENT, PENDING
from playground.protocol.cycles import FoundWire
from scheduler_core.record.cycle import Cycle, Decision, PredicateMatrix
from scheduler_core.schedulers.v1_11.predicates.general import HostName, MatchNodeSelector, PodFitsHostPorts

CONDITIONS = 20  # per search
TEXT = 600  # characters of a condition
BLOCK = 1_000  # cycles whose rows are searched at once
FIRST_BACK, MOST_BACK = 8, 256  # cycles per block when searching backward: the last match counts
NAMED = 2  # objects that a reason names

BUNDLE = "GeneralPredicates"
MEMBERS = {  # of the bundle, distinguished by the reasons that only they return
    "PodFitsResources": "Insufficient ",
    "HostName": HostName.reason,
    "PodFitsHostPorts": PodFitsHostPorts.reason,
    "MatchNodeSelector": MatchNodeSelector.reason,
}


_Conditions = Parameter(
    "condition", "A condition of cycle.find in docs/protocol.md, such as node:n3; at most 20"
)
_From = Parameter("from", "The cycle after which the search begins (before which, if backward); 0: the start")
_Direction = Parameter("direction", "forward or backward")
_To = Parameter("to", "The last cycle to search")
_Met = Parameter("met", "A quirk, or a workload whose ties, to ignore; at most 20")


class SearchRequest(Request):
    """What is searched for, and where."""

    conditions: Annotated[Texts, _Conditions]
    first: Annotated[Index, _From] | None = field(default=None, name="from")
    direction: Annotated[Text, _Direction] | None = None
    to: Annotated[Index, _To] | None = None
    met: Annotated[Texts, _Met] | None = None


class TrailRows(Struct, frozen=True):
    """The trail's data on the cycles ``first`` to ``last``."""

    playback: Playback
    first: int
    last: int
    result: str  # one letter per cycle, as in Marks
    stale: list[int] | None
    operations: frozenset[int]
    restarts: frozenset[int]
    groups: dict[int, list[list[str]]]  # by cycle: [what, PodGroup, new phase]

    @classmethod
    def of(cls, playback: Playback, first: int, last: int) -> TrailRows:
        """Read the rows of existing cycles."""
        marks = playback.trail.marks(first, last)
        groups: dict[int, list[list[str]]] = {}
        for index, *turn in marks["groups"]:
            groups.setdefault(index, []).append(turn)
        cache = marks["cache"]
        return cls(
            playback,
            first,
            last,
            marks["result"],
            cache["stale"] if cache else None,
            frozenset(marks["operations"]),
            frozenset(marks["restarts"]),
            groups,
        )

    def decision(self, index: int) -> Decision:
        """Return a cycle's decision."""
        return self.playback.trail.decisions[index - 1]


class SearchCondition(Struct, frozen=True):
    """A condition: ``kind`` with its object; ``""`` matches any."""

    kind: str
    about: str = ""
    within: str = ""


Trailed = Callable[[SearchCondition, TrailRows, int], str]
Shown = Callable[[SearchCondition, Cycle, frozenset[str]], str]


class ConditionKind(Struct, frozen=True):
    """A row of the table of conditions. ``trailed`` or ``shown`` return why it holds, else ``""``."""

    about: str  # what follows ":", "" if nothing does
    needs: bool  # whether that is required
    within: str  # what follows "@", "" if nothing does
    text: str
    trailed: Trailed | None = None  # from the trail
    shown: Shown | None = None  # from a cycle with its matrices


def _cycle(condition: SearchCondition, rows: TrailRows, index: int) -> str:
    return f"cycle {index:,}" if condition.about == str(index) else ""


def _pod(condition: SearchCondition, rows: TrailRows, index: int) -> str:
    """Return a text if a cycle tries the pod, or if the pod's placement changed in it; else ``""``."""
    if rows.decision(index).pod == condition.about:
        return f"{condition.about} is tried"
    pod = rows.playback.tables.pod_index.get(condition.about)
    moved = [node for changed, node in rows.playback.trail.changes[index - 1] if changed == pod]
    if pod is None or not moved:
        return ""
    ways = {PENDING: "waits for a node again", ABSENT: "is deleted"}
    return f"{condition.about} {ways.get(moved[-1]) or f'is bound to {_name(rows, moved[-1])}'}"


def _name(rows: TrailRows, node: int) -> str:
    return rows.playback.tables.nodes[node].meta.name


def _node(condition: SearchCondition, rows: TrailRows, index: int) -> str:
    """Return a text if a pod is bound or nominated to the node, or if the node changes; else ``""``."""
    name, decision = condition.about, rows.decision(index)
    placed = [pod for pod, node in decision.placements if node == name]
    if placed:
        return f"{name} is chosen for {', '.join(placed)}"
    if name == decision.nominated:
        return f"{decision.pod} is nominated to {name}"
    node = rows.playback.tables.node_index.get(name)
    for changed, state in rows.playback.trail.nodes.of(index):
        if changed == node:
            return f"{name} {'is gone' if state is None else 'changes'}"
    return ""


def _preemption(condition: SearchCondition, rows: TrailRows, index: int) -> str:
    decision = rows.decision(index)
    if decision.nominated is None and not decision.victims:
        return ""
    return f"preemption for {decision.pod}" + (f" on {decision.nominated}" if decision.nominated else "")


def _unschedulable(condition: SearchCondition, rows: TrailRows, index: int) -> str:
    decision = rows.decision(index)
    ways = {"unschedulable": "is unschedulable", "error": "ends in an error"}
    wanted = condition.about in ("", decision.pod)
    return f"{decision.pod} {ways[decision.result]}" if wanted and decision.result in ways else ""


def _stale(condition: SearchCondition, rows: TrailRows, index: int) -> str:
    found = rows.stale[index - rows.first] if rows.stale else 0
    return f"{found} stale hit{'s' if found > 1 else ''} of the cache" if found else ""


def _operation(condition: SearchCondition, rows: TrailRows, index: int) -> str:
    return "a change from outside" if index in rows.operations else ""


def _restart(condition: SearchCondition, rows: TrailRows, index: int) -> str:
    return "the scheduler was restarted" if index in rows.restarts else ""


def _group(condition: SearchCondition, rows: TrailRows, index: int) -> str:
    ways = {"rejected": "is rejected", "timeout": "timed out"}
    for what, group, phase in rows.groups.get(index, ()):
        if condition.about in ("", group) and condition.within in ("", phase or what):
            return f"PodGroup {group} {ways.get(what) or f'is {phase}'}"
    return ""


def _predicate(condition: SearchCondition, cycle: Cycle, _met: frozenset[str]) -> str:
    matrix = cycle.matrix
    if matrix is None or (condition.within and condition.within not in cycle.nodes):
        return ""
    for name in (condition.about,) if condition.about else matrix.order:
        failed = _failed(matrix, name)
        if condition.within:
            failed = failed[failed == cycle.nodes.index(condition.within)]
        if failed.size:
            return f"{name} failed on {_listed([cycle.nodes[node] for node in failed[:NAMED]], failed.size)}"
    return ""


def _failed(matrix: PredicateMatrix, name: str) -> npt.NDArray[np.intp]:
    """Return the nodes on which a predicate, or a member of GeneralPredicates, failed."""
    if name in matrix.order:
        row = matrix.order.index(name)
        errors = [node for predicate, node in matrix.errors if predicate == row]
        return np.union1d(np.flatnonzero(matrix.codes[row] > 0), np.array(errors, np.intp))
    if name not in MEMBERS or BUNDLE not in matrix.order:
        return np.empty(0, np.intp)
    codes = [
        code
        for code, texts in enumerate(matrix.reasons)
        if any(text.startswith(MEMBERS[name]) for text in texts)
    ]
    return np.flatnonzero(np.isin(matrix.codes[matrix.order.index(BUNDLE)], codes))


def _listed(names: list[str], count: int) -> str:
    """List a few of ``count`` nodes: ``n1``, ``n1 and n2``, ``n1, n2 and 7 more nodes``."""
    if count <= NAMED:
        return " and ".join(names)
    return f"{', '.join(names[:NAMED])} and {count - NAMED:,} more node{'s' if count - NAMED > 1 else ''}"


def _quirk(condition: SearchCondition, cycle: Cycle, met: frozenset[str]) -> str:
    wanted = (quirk for quirk in cycle.quirks if condition.about in ("", quirk.id) and quirk.id not in met)
    return " ".join(quirk.text for quirk in wanted)


def _tie(condition: SearchCondition, cycle: Cycle, met: frozenset[str]) -> str:
    """Describe a tie between nodes that was broken, unless ties of the pod's workload are ignored."""
    if len(cycle.ties) < 2 or cycle.node is None or (met and condition.about in met):
        return ""
    return f"{len(cycle.ties):,} nodes scored the same: {cycle.node} was taken in turn"


KINDS: dict[str, ConditionKind] = {
    "cycle": ConditionKind("index", True, "", "this cycle", _cycle),
    "pod": ConditionKind("namespace/name", True, "", "the pod is tried, bound or deleted", _pod),
    "node": ConditionKind(
        "name", True, "", "a pod goes or is nominated to the node, or the node changes", _node
    ),
    "predicate": ConditionKind("name", False, "node", "the predicate fails, on the node", None, _predicate),
    "preemption": ConditionKind("", False, "", "preemption makes room", _preemption),
    "unschedulable": ConditionKind(
        "namespace/name", False, "", "a pod is unschedulable, or an error", _unschedulable
    ),
    "stale": ConditionKind("", False, "", "a cached answer is stale", _stale),
    "operation": ConditionKind("", False, "", "something comes from outside", _operation),
    "restart": ConditionKind("", False, "", "the scheduler was restarted just before", _restart),
    "group": ConditionKind("namespace/name", False, "phase", "a PodGroup: a new phase, or rejected", _group),
    "quirk": ConditionKind("id", False, "", "a quirk of v1.11 changes the result", None, _quirk),
    "tie": ConditionKind("", False, "", "equally good nodes are taken in turn", None, _tie),
}


def condition_of(text: str) -> SearchCondition:
    """Parse a condition. Raises RequestFieldError."""
    name, _, rest = text.partition(":")
    kind = KINDS.get(name)
    if kind is None or len(text) > TEXT:
        raise RequestFieldError(
            "conditions", f"{text[:80]!r} is not a condition: it begins with one of {', '.join(KINDS)}."
        )
    about, _, within = rest.rpartition("@") if kind.within and "@" in rest else (rest, "", "")
    if (about and not kind.about) or (kind.needs and not about):
        form = f"{name}:<{kind.about}>" if kind.about else name
        raise RequestFieldError("conditions", f"{text[:80]!r} is not a condition: write {form}.")
    return SearchCondition(name, about, within)


class Search(Struct, frozen=True):
    """A search: forward from after cycle ``start``, or backward from before it; at most to cycle ``to``."""

    conditions: tuple[SearchCondition, ...]
    start: int
    backward: bool = False
    to: int | None = None
    met: frozenset[str] = (
        frozenset()
    )  # ignored: quirks, and ties of workloads, which are named "Kind namespace/name"

    @classmethod
    def of(cls, asked: SearchRequest) -> Search:
        """Return the search that is asked for. Raises RequestFieldError."""
        texts, direction = asked.conditions, asked.direction or "forward"
        if direction not in ("forward", "backward"):
            raise RequestFieldError("direction", "direction must be forward or backward.")
        if not 1 <= len(texts) <= CONDITIONS:
            raise RequestFieldError("conditions", f"Name 1 to {CONDITIONS} conditions.")
        backward, ignored = direction == "backward", frozenset(asked.met or ())
        return cls(tuple(map(condition_of, texts)), asked.first or 0, backward, asked.to, ignored)


class FoundCycle(Struct, frozen=True):
    """The result: a cycle, with the position of each condition that holds and why; index 0: none found.

    ``seen`` is the last cycle inspected, and ``over`` whether there is none beyond it.
    """

    index: int
    why: tuple[tuple[int, str], ...]
    seen: int
    over: bool

    def wire(self) -> FoundWire:
        """Return the protocol's answer to ``cycle.find``."""
        index = self.index or None
        return {"index": index, "why": [list(why) for why in self.why], "seen": self.seen, "over": self.over}


Searching = Generator[int, None, FoundCycle]


class Finder:
    """One search. :meth:`run` yields the last cycle that was inspected, every few milliseconds."""

    def __init__(self, playback: Playback, search: Search, unwanted: Callable[[], bool] = never) -> None:
        self._playback = playback
        self._search = search
        self._unwanted = unwanted
        self._reader: Playback | None = None
        kinds = [KINDS[condition.kind] for condition in search.conditions]
        self._decides = any(kind.shown is not None for kind in kinds)

    def run(self) -> Searching:
        """Search for the cycle. Raises Superseded if the answer is no longer wanted."""
        return self._back() if self._search.backward else self._forth()

    def _forth(self) -> Searching:
        position = self._search.start + 1
        while True:
            last = min(len(self._playback), position + BLOCK - 1, self._search.to or len(self._playback))
            if last < position:
                bound = self._search.to is not None and position > self._search.to
                if bound or (not self._playback.advance(SLICE_SECONDS) and len(self._playback) < position):
                    return FoundCycle(0, (), position - 1, over=True)
                yield position - 1
                continue
            rows = TrailRows.of(self._playback, position, last)
            near = next((i for i in range(position, last + 1) if self._trailed(rows, i)), 0)
            if self._decides:
                for index in range(position, (near or last) + 1):
                    if shown := self._shown(index):
                        return self._found(rows, index, shown)
                    yield index
            if near:
                return self._found(rows, near, ())
            position = last + 1
            yield last

    def _back(self) -> Searching:
        size = FIRST_BACK if self._decides else BLOCK
        self._playback.reach(self._search.start - 1)
        last = min(self._search.start - 1, len(self._playback))
        least = max(1, self._search.to or 1)
        while last >= least:
            first = max(least, last - size + 1)
            rows = TrailRows.of(self._playback, first, last)
            near = next((i for i in range(last, first - 1, -1) if self._trailed(rows, i)), 0)
            best, shown = near, self._trailed(rows, near) if near else ()
            if self._decides:
                for index in range(near or first, last + 1):
                    if met := self._shown(index):
                        best, shown = index, met
                    yield last + 1
            if best:
                return self._found(rows, best, shown if best != near else self._shown(best))
            last = first - 1
            size = min(size * 2, MOST_BACK) if self._decides else BLOCK
            yield first
        return FoundCycle(0, (), last + 1, over=True)

    def _found(self, rows: TrailRows, index: int, shown: tuple[tuple[int, str], ...]) -> FoundCycle:
        why = tuple(sorted((*self._trailed(rows, index), *shown)))
        return FoundCycle(index, why, index, over=False)

    def _trailed(self, rows: TrailRows, index: int) -> tuple[tuple[int, str], ...]:
        texts = (
            (place, row.trailed(condition, rows, index))
            for place, condition in enumerate(self._search.conditions)
            if (row := KINDS[condition.kind]).trailed is not None
        )
        return tuple((place, text) for place, text in texts if text)

    def _shown(self, index: int) -> tuple[tuple[int, str], ...]:
        """Return the conditions that hold for a cycle, which is scheduled again for this."""
        if not self._decides:
            return ()
        self._reader = self._reader or self._playback.copy()
        cycle = self._reader.cycle(index, self._unwanted)
        met = self._search.met
        texts = (
            (place, row.shown(self._own(condition, cycle), cycle, met))
            for place, condition in enumerate(self._search.conditions)
            if (row := KINDS[condition.kind]).shown is not None
        )
        return tuple((place, text) for place, text in texts if text)

    def held(self, rows: TrailRows, index: int) -> Iterator[tuple[int, str, str]]:
        """Yield the place of each condition that holds for a cycle, why, and what a search may have met."""
        for place, why in self._trailed(rows, index):
            yield place, why, ""
        for place, why in self._shown(index):
            condition, cycle = self._search.conditions[place], self._playback.cycle(index)
            if condition.kind == "quirk":
                wanted = [quirk for quirk in cycle.quirks if condition.about in ("", quirk.id)]
                yield from ((place, quirk.text, quirk.id) for quirk in wanted)
            else:
                yield place, why, self._own(condition, cycle).about if condition.kind == "tie" else ""

    def _own(self, condition: SearchCondition, cycle: Cycle) -> SearchCondition:
        """Return the condition; one on ties refers to the workload of the cycle's pod."""
        if condition.kind != "tie":
            return condition
        tables = self._playback.tables
        pod = tables.pods[tables.pod_index[cycle.pod]]
        owner = pod.meta.controller
        workload = f"{owner.kind} {pod.meta.namespace}/{owner.name}" if owner else f"Pod {cycle.pod}"
        return SearchCondition("tie", workload)


Match = tuple[int, str, str]
"""A cycle for which a condition holds, why, and what of it may be met: a quirk, or the workload of a tie."""


def matches(playback: Playback, texts: list[str]) -> dict[str, list[Match]]:
    """Return all cycles of a complete playback for which each condition holds, in order.

    Raises RequestFieldError for a text that is no condition.
    """
    finder = Finder(playback, Search(tuple(map(condition_of, texts)), 0))
    found: dict[str, list[Match]] = {text: [] for text in texts}
    if not len(playback):
        return found
    rows = TrailRows.of(playback, 1, len(playback))
    for index in range(1, len(playback) + 1):
        for place, why, met in finder.held(rows, index):
            found[texts[place]].append((index, why, met))
    return found
