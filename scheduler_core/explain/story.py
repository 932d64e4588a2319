"""What decided a placement: the feasible nodes, the totals, the priorities that differ, the tie-break."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from scheduler_core.record.cycle import Cycle
from scheduler_core.run.v1_37.record import release_record

NODES_SHOWN = 50


class Lead(Struct, frozen=True):
    """By how much one weighted priority put the chosen node ahead of another one."""

    priority: str
    weight: int
    chosen: int  # scores before the weight
    other: int

    @property
    def points(self) -> int:
        """The weighted difference; negative if it favored the other node."""
        return self.weight * (self.chosen - self.other)

    def as_dict(self) -> dict[str, Any]:
        """Return the difference as JSON."""
        return {
            "priority": self.priority,
            "weight": self.weight,
            "chosen": self.chosen,
            "other": self.other,
            "points": self.points,
        }


class Story(Struct, frozen=True):
    """The cycle that placed a pod, described for users. ``rival`` is the node that it is compared with."""

    cycle: Cycle
    rival: str | None
    leads: tuple[Lead, ...]
    sentences: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the story as JSON; of many feasible nodes only the best :data:`NODES_SHOWN` are listed."""
        cycle = self.cycle
        return {
            "index": cycle.index,
            "step": cycle.step,
            "node": cycle.node,
            "feasibleCount": len(cycle.feasible),
            "nodesCount": len(cycle.nodes),
            "totals": dict(_best(cycle)),
            "ties": [cycle.nodes[node] for node in cycle.ties[:NODES_SHOWN].tolist()],
            "tiesCount": len(cycle.ties),
            "lastNodeIndex": cycle.last_node_index,
            "rival": self.rival,
            "leads": [lead.as_dict() for lead in self.leads],
            "sentences": list(self.sentences),
        }


def _best(cycle: Cycle) -> list[tuple[str, int]]:
    if cycle.totals is None:
        return []
    order = np.argsort(-cycle.totals, kind="stable")[:NODES_SHOWN].tolist()
    return [(cycle.nodes[int(cycle.feasible[n])], int(cycle.totals[n])) for n in order]


def story_of(cycle: Cycle, asked: str | None = None) -> Story:
    """Describe why a cycle chose its node, against the node asked about or the best of the others."""
    fitting, of = len(cycle.feasible), len(cycle.nodes)
    if cycle.totals is None:
        return Story(cycle, None, (), (f"{cycle.node} is the only node of {of:,} that fits.",))
    places = {cycle.nodes[node]: n for n, node in enumerate(cycle.feasible.tolist())}
    best = int(cycle.totals.max())
    sentences = [f"{fitting:,} of {of:,} nodes fit; the best total is {best:,}."]
    rival = asked if asked in places and asked != cycle.node else _runner_up(cycle)
    leads: tuple[Lead, ...] = ()
    record = release_record(cycle)
    if len(cycle.ties) > 1 and record is not None:
        drawn = record.scored.drawn if record.scored is not None else []
        how = (
            f"because of extenders kube-scheduler takes one of {len(drawn):,} at random, here "
            if drawn
            else ""
        )
        sentences.append(
            f"{len(cycle.ties):,} nodes have it; {how}the one at the root of the heap of totals"
            f"{':' if drawn else ' is taken:'} {cycle.node}."
        )
    elif len(cycle.ties) > 1:
        turn = cycle.last_node_index % len(cycle.ties)
        sentences.append(
            f"{len(cycle.ties):,} nodes have it; in descending order of name, the round-robin counter, "
            f"{cycle.last_node_index:,} modulo {len(cycle.ties):,}, takes number {turn + 1:,}: {cycle.node}."
        )
    if rival is not None and cycle.node is not None:
        one, two = places[cycle.node], places[rival]
        leads = tuple(
            Lead(row.name, row.weight, int(row.score[one]), int(row.score[two])) for row in cycle.priorities
        )
        sentences.append(_against(cycle.node, rival, best - int(cycle.totals[two]), leads))
    return Story(cycle, rival, leads, tuple(sentences))


def _runner_up(cycle: Cycle) -> str | None:
    """Return the best node below the best total; among equals the first in object order."""
    totals = cycle.totals
    if totals is None or not (totals < totals.max()).any():
        return None
    below = np.where(totals < totals.max(), totals, np.iinfo(np.int64).min)
    return cycle.nodes[int(cycle.feasible[int(below.argmax())])]


def _against(node: str, rival: str, margin: int, leads: tuple[Lead, ...]) -> str:
    listed = ", ".join(f"{lead.priority} {lead.points:+,}" for lead in leads if lead.points)
    if not margin:
        return f"{rival} has the same total{f' ({listed})' if listed else ''}."
    return f"{node} is {margin:,} before {rival}: {listed}."
