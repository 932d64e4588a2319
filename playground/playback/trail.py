"""What every cycle changed, compactly: gives any step without scheduling it again.

A trail holds one row per cycle. From it come the timeline's marks, every pod's node before any cycle, the
address of each step, and the decisions that rebuild the simulation.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from playground.playback.changes import ChangeLog, Placement, PlacementChanges
from playground.playback.counts import CycleCounts, counts_of
from playground.playback.nodes import NodeTrail
from playground.playback.tables import ABSENT, PENDING, Tables
from playground.playback.terminations import TerminatingTrail
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.record.cycle import Cycle, Decision, Result
from scheduler_core.record.plugin_record import TimelineMark
from scheduler_core.run.several.descheduler_record import IDLE_PASS, PASS
from scheduler_core.run.several.kueue_record import ADMISSION, PREEMPTION, REFUSAL
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration

TrailRow = list[Any]  # see Trail.row

PLAIN_ROW = 7  # entries of the row of a cycle that at most placed its pod
CHECKPOINT = 1_000  # cycles between two kept placements, until they reach KEPT_BYTES
KEPT_BYTES = 64 * 1024 * 1024  # of placements; then every other one goes
MARKS_SHOWN = 5_000  # of plugins, per answer
PASSES = (PASS, IDLE_PASS)
KUEUE = (ADMISSION, PREEMPTION, REFUSAL)
LETTERS: dict[str, Result] = {
    "s": "scheduled",
    "u": "unschedulable",
    "e": "error",
    "p": "unschedulable",
    "w": "waiting",
}


def letter(decision: Decision) -> str:
    """Return the mark of a decision: s scheduled, u unschedulable, e error, p preemption, w waiting."""
    if decision.result == "unschedulable" and (decision.victims or decision.nominated):
        return "p"
    return decision.result[0]


class Trail:
    """The rows of one simulation, in order; cycle indices count from 1."""

    def __init__(self, scenario: Scenario, tables: Tables) -> None:
        self.tables = tables
        self.decisions: list[Decision] = []
        self.placement: Placement = np.array(tables.start, dtype=np.int32)
        self._operations = scenario.operations
        # For each operation that changes the configuration: how many operations are applied including it.
        self._restarts = tuple(n for n, o in enumerate(scenario.operations, 1) if o.configuration is not None)
        self.cache = CycleCounts(scenario)
        self.nodes = NodeTrail(tables)
        self.terminating = TerminatingTrail(tables)
        self._strides = CHECKPOINT, [self.placement.copy()]  # cycles between two kept placements
        self._pods = array("i")
        self._nodes = array("i")
        self._letters = bytearray()
        self.changes = ChangeLog(self._letters, self._pods, self._nodes)
        self._majors = array("q")  # an operation at the greatest int32 begins the step after it
        self._minors = array("q")
        self._times = array("d")
        self._marks: list[tuple[int, TimelineMark]] = []  # of plugins, each with its cycle
        self._met = array("i", [len(tables.pods)])  # pods in the table up to and including each index
        self._applied = array("i", [0])  # operations applied up to and including each index

    def __len__(self) -> int:
        # Appended last: readers in other threads find everything of the cycles counted.
        return len(self._applied) - 1

    def append(
        self,
        cycle: Cycle,
        pods: Mapping[str, PodState] | None = None,
        nodes: Mapping[str, Node] | None = None,
        terminating: Collection[str] = (),
    ) -> PlacementChanges:
        """Add the row of ``cycle`` and return its changes; ``pods`` and ``nodes`` are those after it.

        In virtual time pods are created and deleted between cycles: ``cycle.moves`` lists them, and ``pods``
        has the new ones. Controllers change nodes: ``nodes`` has their state. Pods that are deleted may stay:
        ``terminating`` has their keys.
        """
        applied = self._applied[-1] + len(cycle.operations)
        moves = None
        if cycle.moves is not None:
            others = (*cycle.decision.victims, *(key for key, _ in cycle.decision.further))
            self.meet((cycle.pod, *others), pods or {})
            moves = self.moved(cycle.moves, pods or {})
            self.nodes.look(cycle.index, nodes or {})
            self.terminating.look(cycle.index, terminating)
        marks = [mark for record in cycle.plugins for mark in record.marks]
        return self._add(
            cycle.decision, cycle.step, cycle.time, applied, counts_of(cycle.cache), moves, marks
        )

    def meet(self, keys: Iterable[str], pods: Mapping[str, PodState]) -> None:
        """Add pods to the table; one created and deleted within a cycle is known only by name."""
        for key in dict.fromkeys(keys):
            if key in self.tables.pod_index:
                continue
            if key in pods:
                self.tables.add(pods[key].pod)
            else:
                self.tables.extend([[key, {}, 0, "", ""]])

    def moved(
        self, moves: Iterable[tuple[str, str | None]], pods: Mapping[str, PodState]
    ) -> PlacementChanges:
        """Return moves as indices of the tables, to which new pods are added."""
        moves = tuple(moves)
        self.meet((key for key, _ in moves), pods)
        return [[self.tables.pod_index[key], self.place_of(node)] for key, node in moves]

    def place_of(self, node: str | None) -> int:
        """Return a node as placements have it: ``None`` for a pod that is gone, "" for a pending one."""
        if node is None:
            return ABSENT
        return self.tables.node_index.get(node, ABSENT) if node else PENDING

    def _add(
        self,
        decision: Decision,
        step: str,
        time: float,
        applied: int,
        counts: Sequence[int] | None,
        moves: PlacementChanges | None = None,
        marks: Iterable[TimelineMark] = (),
    ) -> PlacementChanges:
        tables = self.tables
        self._grow()
        changes: PlacementChanges = []
        pod = tables.pod_index[decision.pod]
        node = PENDING if decision.node is None else tables.node_index[decision.node]
        if moves is not None:
            for moved, value in moves:
                self._set(moved, value, changes)
        else:
            for operation in self._operations[self._applied[-1] : applied]:
                self._apply_operation(operation, changes)
            self.nodes.operate(len(self.decisions) + 1, self._operations[self._applied[-1] : applied])
            for victim in decision.victims:
                self._set(tables.pod_index[victim], ABSENT, changes)
            if decision.result == "scheduled":
                for key, name in decision.placements:
                    self._set(tables.pod_index[key], tables.node_index[name], changes)
        major, _, minor = step.partition(".")
        self.decisions.append(decision)
        self._pods.append(pod)
        self._nodes.append(node)
        self._letters += letter(decision).encode()
        self.changes.note(changes)
        self._majors.append(int(major))
        self._minors.append(int(minor or 0))
        self._times.append(time)
        self.cache.append(counts)
        self._marks += [(len(self.decisions), mark) for mark in marks]
        self._met.append(len(tables.pods))
        if len(self.decisions) % self._strides[0] == 0:
            self._keep_placement()
        self._applied.append(applied)
        return changes

    def _keep_placement(self) -> None:
        stride, kept = self._strides
        kept = [*kept, self.placement.copy()]
        thin = sum(one.nbytes for one in kept) > KEPT_BYTES and len(kept) > 2
        self._strides = (2 * stride, kept[::2]) if thin else (stride, kept)

    def _grow(self) -> None:
        """Make room for pods that were added since."""
        self.placement = _widened(self.placement, len(self.tables.pods))

    def _set(self, pod: int, value: int, changes: PlacementChanges) -> None:
        self.placement[pod] = value
        changes.append([pod, value])

    def _apply_operation(self, operation: Operation, changes: PlacementChanges) -> None:
        if operation.kind == "Node" and operation.action == "delete":
            node = self.tables.node_index[operation.key]
            for there in np.flatnonzero(self.placement == node).tolist():
                self._set(there, ABSENT, changes)  # the pod garbage collector deletes the node's pods
        if operation.kind != "Pod":
            return
        pod = self.tables.pod_index.get(operation.key)
        if pod is None:
            return
        value = ABSENT
        if isinstance(operation.object, Pod):
            value = self.tables.placement_of(operation.object)
            if operation.action == "update" and value == PENDING:
                value = int(self.placement[pod])  # an update moves and revives no pod
        if value != self.placement[pod]:
            self._set(pod, value, changes)

    # --- reading ---------------------------------------------------------------------------

    def placement_before(self, index: int) -> Placement:
        """Return every pod's node before cycle ``index``, ``(pods,) int32``."""
        stride, all_kept = self._strides
        kept = min((index - 1) // stride, len(all_kept) - 1)
        placement = _widened(all_kept[kept].copy(), len(self.tables.pods))
        self.changes.apply(placement, kept * stride, index - 1)
        return placement

    def standing(self) -> dict[str, int]:
        """Return how many pods are on nodes and pending after the last cycle, and how many end on a node."""
        return standing(self.placement, self.terminating.now)

    def met(self, index: int) -> int:
        """Return how many pods the table has up to and including a cycle."""
        return self._met[index]

    def marks(self, first: int, last: int) -> dict[str, Any]:
        """Return the protocol's ``Marks`` of cycles ``first`` to ``last``, of none if there are none."""
        first = min(first, last + 1)
        rows, marked = slice(first - 1, last), self._marked(first, last)
        return {
            "pod": self._pods[rows].tolist(),
            "node": self._nodes[rows].tolist(),
            "result": self._letters[rows].decode(),
            "time": _rounded(self._times[rows]),
            "operations": self._operated(first, last),
            "restarts": self._restarted(first, last),
            "cache": self.cache.marks(rows),
            "groups": [
                [index, mark.kind, mark.about, mark.state]
                for index, mark in marked
                if mark.kind not in (*PASSES, *KUEUE)
            ],
            "passes": [
                [index, int(mark.about), mark.kind == PASS, mark.state]
                for index, mark in marked
                if mark.kind in PASSES
            ],
            "kueue": [
                [index, mark.kind == PREEMPTION, f"{mark.kind} of {mark.about}: {mark.state}"]
                for index, mark in marked
                if mark.kind in (ADMISSION, PREEMPTION)
            ],
        }

    def _marked(self, first: int, last: int) -> list[tuple[int, TimelineMark]]:
        """Return the plugins' marks on cycles ``first`` to ``last``, at most :data:`MARKS_SHOWN`."""
        began, end = (
            bisect_left(self._marks, bound, key=lambda mark: mark[0]) for bound in (first, last + 1)
        )
        return self._marks[began : min(end, began + MARKS_SHOWN)]

    def _operated(self, first: int, last: int) -> list[int]:
        """Return the cycles in this range before or inside which an external operation was applied."""
        majors = [1 if first < 2 else self._majors[first - 2], *self._majors[first - 1 : last]]
        return [first + place for place, (old, new) in enumerate(pairwise(majors)) if old != new]

    def _restarted(self, first: int, last: int) -> list[int]:
        """Return the cycles in this range before which the scheduler was restarted."""
        count = len(self) + 1
        found = (bisect_left(self._applied, applied, 0, count) for applied in self._restarts)
        return [index for index in dict.fromkeys(found) if first <= index <= last]

    def configurations(self, index: int) -> int:
        """Return how many operations changed the configuration up to and including a cycle."""
        return bisect_right(self._restarts, self._applied[index])

    def configuration(self, number: int) -> Configuration:
        """Return the configuration that the ``number``-th change (from 1) put in force."""
        found = self._operations[self._restarts[number - 1] - 1].configuration
        assert found is not None
        return found

    def step(self, index: int) -> str:
        """Return the address ``major.minor`` of a cycle; ``"1.0"`` is the state before the first."""
        return f"{self._majors[index - 1]}.{self._minors[index - 1]}" if index else "1.0"

    def time(self, index: int) -> float:
        """Return the virtual time in seconds of a cycle."""
        return self._times[index - 1]

    def find(self, major: int, minor: int) -> int | None:
        """Return the index of the cycle at ``major.minor``, ``None`` if there is none (yet)."""
        count = len(self)
        row = bisect_left(self._majors, major, 0, count)
        while row < count and self._majors[row] == major and self._minors[row] < minor:
            row += 1
        found = row < count and (self._majors[row], self._minors[row]) == (major, minor)
        return row + 1 if found else None

    def operations_of(self, index: int) -> Sequence[Operation]:
        """Return the operations applied just before cycle ``index``."""
        return self._operations[self._applied[index - 1] : self._applied[index]]

    def latest_of(self, index: int, key: str) -> Pod | None:
        """Return a pod as last written by an operation until cycle ``index``, ``None`` if by none."""
        if key not in self.tables.revised:
            return None
        done = self._operations[: self._applied[index]]
        written = (o.object for o in reversed(done) if o.kind == "Pod" and o.key == key)
        return next((found for found in written if isinstance(found, Pod)), None)

    def applied(self, index: int) -> int:
        """Return how many operations were applied up to and including a cycle."""
        return self._applied[index]

    def lands(self, number: int) -> int:
        """Return the cycle before which the ``number``-th operation is applied; beyond the last if none."""
        return bisect_left(self._applied, number, 0, len(self) + 1)

    # --- storing ---------------------------------------------------------------------------

    def row(self, index: int) -> TrailRow:
        """Return a cycle as a JSON list that :meth:`extend` reads.

        ``[pod, letter, node, step, time, operations applied, ranked]``, then, only if there is any,
        ``nominated, [victims], [cleared]`` and ``[hits, evaluations, invalidated, stale]`` of the cache; pods
        and nodes are indices. In virtual time these counts may be null, and ``changes, [new pods], [[kind,
        group, phase]…], [[node, state]…]`` follow, and ``[[pod, node]…]`` of the further pods that the
        decision places, if there are any. Outside of it what precedes these pods is null or empty. Last,
        after a list of these pods, are the pods that became or are no more Terminating, if there are any.
        """
        place = index - 1
        decision = self.decisions[place]
        row: TrailRow = [
            self._pods[place],
            chr(self._letters[place]),
            self._nodes[place],
            self.step(index),
            self._times[place],
            self._applied[index],
            int(decision.ranked),
        ]
        counts = self.cache.at(place)
        timed = self.tables.timed
        more = counts is not None or timed or bool(decision.further)
        if decision.nominated or decision.victims or decision.cleared or more:
            pods = self.tables.pod_index
            row += [
                PENDING if decision.nominated is None else self.tables.node_index[decision.nominated],
                [pods[key] for key in decision.victims],
                [pods[key] for key in decision.cleared],
            ]
        if more:
            row.append(counts)
        if timed:
            came = range(self._met[place], self._met[index])
            marks = [[mark.kind, mark.about, mark.state] for _, mark in self._marked(index, index)]
            row += [self.changes[place], [self.tables.row(pod) for pod in came], marks, self.nodes.of(index)]
        elif decision.further:
            row += [None, [], [], None]  # a group of v1.37, whose clock moves no pods
        ended = self.terminating.of(index)
        if decision.further or ended:
            pods, nodes = self.tables.pod_index, self.tables.node_index
            row.append([[pods[key], nodes[name]] for key, name in decision.further])
        return [*row, ended] if ended else row

    def extend(self, rows: Iterable[TrailRow]) -> None:
        """Add stored rows."""
        for applied, group in groupby(rows, _plainly_applied):
            alike = [*group]
            others = len(alike) if applied is None else int(applied != self._applied[-1])
            for row in alike[:others]:
                self._extend_by(row)
            self._extend_plainly(alike[others:])

    def _extend_by(self, row: TrailRow) -> None:
        """Add a stored row."""
        tables = self.tables
        keys, names = tables.keys, tables.node_names
        moves: PlacementChanges | None
        pod, mark, node, step, time, applied, ranked, *rest = row
        nominated, victims, cleared, *counted = rest or (PENDING, (), ())
        counts = counted[0] if counted else None
        moves, came, marks, *last = counted[1:] or (None, (), ())
        further = last[1] if len(last) > 1 else ()
        ended = last[2] if len(last) > 2 else ()
        if came:
            tables.extend(came)
        if not counted and self.cache.known:
            self.cache.forget()  # stored before counts were recorded
        decision = Decision(
            pod=keys[pod],
            result=LETTERS[mark],
            node=None if node == PENDING else names[node],
            nominated=None if nominated == PENDING else names[nominated],
            victims=tuple(keys[victim] for victim in victims),
            cleared=tuple(keys[other] for other in cleared),
            ranked=bool(ranked),
            further=tuple((keys[other], names[there]) for other, there in further),
        )
        if moves is not None:
            self.nodes.extend(len(self.decisions) + 1, last[0] if last else None)
            self.terminating.extend(len(self.decisions) + 1, ended)
        timeline_marks = [TimelineMark(*mark) for mark in marks]
        self._add(decision, step, time, applied, counts, moves, timeline_marks)

    def _extend_plainly(self, rows: Sequence[TrailRow]) -> None:
        """Add stored rows of cycles that at most placed a pod, and before which no operation was applied."""
        self._grow()
        if rows and self.cache.known:
            self.cache.forget()  # as above
        while rows:
            count = self._strides[0] - len(self.decisions) % self._strides[0]
            self._add_plainly(rows[:count])
            rows = rows[count:]

    def _add_plainly(self, rows: Sequence[TrailRow]) -> None:
        keys, names = self.tables.keys, self.tables.node_names
        results = [LETTERS[row[1]] for row in rows]
        first = len(self.decisions)
        self.decisions += [
            Decision(keys[row[0]], result, None if row[2] == PENDING else names[row[2]], ranked=bool(row[6]))
            for row, result in zip(rows, results)
        ]
        self._pods.extend([row[0] for row in rows])
        self._nodes.extend([row[2] for row in rows])
        self._letters += "".join([result[0] for result in results]).encode()
        self._majors.extend([int(row[3].partition(".")[0]) for row in rows])
        self._minors.extend([int(row[3].partition(".")[2] or 0) for row in rows])
        self._times.extend([row[4] for row in rows])
        self.changes.apply(self.placement, first, len(self.decisions))
        self._met.extend([len(self.tables.pods)] * len(rows))
        if len(self.decisions) % self._strides[0] == 0:
            self._keep_placement()
        self._applied.extend([row[5] for row in rows])

    def take_over(self, other: Trail, count: int) -> None:
        """Add the first cycles of a trail whose scenario is the same until then."""
        known = len(self.tables.pods)
        self.extend(other.row(index) for index in range(1, count + 1))
        self.tables.take_over(other.tables, known, len(self.tables.pods))


def _plainly_applied(row: TrailRow) -> int | None:
    """Return how many operations were applied up to a cycle if that at most placed its pod."""
    return row[5] if len(row) == PLAIN_ROW else None


def _rounded(times: Sequence[float]) -> list[float]:
    """Return virtual seconds to the millisecond, whole ones as integers, as there is one per cycle."""
    rounded = (round(time, 3) for time in times)
    return [int(time) if time.is_integer() else time for time in rounded]


def _widened(placement: Placement, size: int) -> Placement:
    """Return a placement with an entry for each of ``size`` pods; new ones are :data:`ABSENT`."""
    missing = size - len(placement)
    if missing <= 0:
        return placement
    return np.concatenate((placement, np.full(missing, ABSENT, np.int32)))


def standing(placement: Placement, terminating: Iterable[int]) -> dict[str, int]:
    """Return how many pods are on nodes, pending, and Terminating on a node."""
    ending = sum(int(placement[pod] >= 0) for pod in terminating if pod < len(placement))
    return {
        "placed": int((placement >= 0).sum()) - ending,
        "pending": int((placement == PENDING).sum()),
        "terminating": ending,
    }
