"""What preemption tried: candidate nodes, their dry runs, the criteria, and where it cannot help.

The answer is bounded for any number of nodes: rows are paged, one dry run is sent at a time, and long lists
are cut and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playground.panels.sentences import Sentence, SentencePart, counted, listed
from playground.protocol.preemption import CandidateWire, CriterionWire, HopelessWire
from scheduler_core.record.cycle import Cycle
from scheduler_core.record.preemption import (
    HOPELESS,
    CriterionRound,
    DryRun,
    NodeGroup,
    Preemption,
)
from scheduler_core.run.v1_37.record import terms_of
from scheduler_core.schedulers.v1_11.preemption.criteria import TEXTS

ROWS = 50  # candidates per answer
VICTIMS = 4  # victims per candidate, in its row
STEPS = 250  # pods per dry run
VALUES = 6  # nodes of a criterion that stay, and as many that drop out
GROUPS = 30  # reasons why nodes are not candidates
GROUP_NODES = 100
PODS = 50  # pods that are deleted, or lose their nomination


def preemption(cycle: Cycle, node_at: Sequence[int]) -> dict[str, Any]:
    """Return the protocol's ``preemption`` part; ``{"why": text}`` if it was not tried.

    ``node_at`` maps a node's position in the cycle to its index on the wire, ``(nodes,)``.
    """
    tried = cycle.preemption
    if tried is None:
        return {"why": why_not_tried(cycle)}
    lost = _lost(tried)
    return {
        "outcome": outcome(cycle, tried),
        "eligible": tried.eligible,
        "node": None if tried.chosen is None else node_at[tried.chosen.node],
        "potential": len(tried.potential),
        "victims": len(tried.victims),
        "candidates": _page(tried, lost, node_at, 0, ROWS),
        "run": None if tried.chosen is None else _run(tried.chosen, node_at),
        "criteria": [_criterion(row, node_at) for row in tried.comparisons],
        "decidedBy": tried.decided_by,
        "hopeless": [_group(group, node_at) for group in tried.hopeless[:GROUPS]],
        "hopelessCount": sum(len(group.nodes) for group in tried.hopeless),
        "cleared": list(tried.cleared[:PODS]),
        "leaving": list(tried.leaving[:PODS]),
    }


def candidates(cycle: Cycle, node_at: Sequence[int], first: int, count: int) -> dict[str, Any]:
    """Return a page of the candidates, the chosen first, then those that dropped out last."""
    tried = cycle.preemption
    if tried is None:
        return {"from": first, "count": 0, "rows": []}
    return _page(tried, _lost(tried), node_at, first, min(count, ROWS))


def dry_run(cycle: Cycle, node_at: Sequence[int], node: int) -> dict[str, Any] | None:
    """Return the dry run on the node with that index on the wire; ``None`` if it is not a candidate."""
    tried = cycle.preemption
    found = (run for run in tried.candidates if node_at[run.node] == node) if tried is not None else iter(())
    run = next(found, None)
    return None if run is None else _run(run, node_at)


def why_not_tried(cycle: Cycle) -> str:
    """Return why there was no preemption in this cycle, as a sentence."""
    if cycle.result == "undecided":
        return "Nothing has been preempted at this moment: that is tried once no node is left."
    if cycle.scheduler:
        evicted = len(cycle.decision.victims)
        what = (
            f"evicts {counted(evicted, 'pod')} in this step, by rules of its own"
            if evicted
            else "preempts no pods"
        )
        return f"The scheduler {cycle.scheduler} {what}."
    if cycle.result == "error":
        rules = terms_of(cycle).rules
        return f"The attempt ended in an error, and preemption is tried only where {rules} leave no node."
    if cycle.result == "unschedulable":
        return "The profile enables no DefaultPreemption at postFilter: preemption is disabled."
    return f"A node was found for {cycle.pod}, so preemption was not needed."


def outcome(cycle: Cycle, tried: Preemption) -> list[Sentence]:
    """Describe the result in sentences."""
    pod: SentencePart = {"pod": cycle.pod}
    if tried.never:
        return [["Nothing is tried: ", pod, " has preemptionPolicy Never and deletes no pods."]]
    if not tried.eligible:
        verb = "is" if len(tried.leaving) == 1 else "are"
        where: SentencePart = {"node": tried.leaving_from or ""}
        leaving = listed("pod", list(tried.leaving))
        return [
            [
                "Nothing is tried: ",
                pod,
                " is nominated to ",
                where,
                ", where ",
                *leaving,
                f" {verb} still leaving.",
            ]
        ]
    if not len(tried.potential):
        return [["Preemption cannot help: no deletion of pods would make any node pass.", *_cleared(tried)]]
    if tried.undone:
        return [
            [
                "Nothing is nominated for ",
                pod,
                (
                    f": a victim was deleted before it could be evicted ({tried.undone}), which ends the "
                    "attempt."
                ),
            ]
        ]
    if tried.chosen is None or tried.node is None:
        return [["No deletion helps ", pod, f": {_shortcomings(tried)}."]]
    node: SentencePart = {"node": tried.node}
    victims = tried.victims
    if not victims:
        return [[pod, " is nominated to ", node, " without a victim.", *_cleared(tried)]]
    verb = "is" if len(victims) == 1 else "are"
    first: Sentence = [
        *listed("pod", victims),
        f" {verb} deleted from ",
        node,
        " to make room for ",
        pod,
        ".",
    ]
    return [first, [*_decision(tried), *_cleared(tried)]]


def _shortcomings(tried: Preemption) -> str:
    """Describe why none of the potential nodes is chosen.

    A node on which every removed pod is restored would need no victim: later releases do not choose it.
    """
    none, unfit = (
        sum(len(group.nodes) for group in tried.hopeless if group.why == why)
        for why in ("nothing-lower", "still-unfit")
    )
    unneeded = sum(not run.victims for run in tried.candidates)
    reasons = []
    if none:
        reasons.append(f"{counted(none, 'node')} {'holds' if none == 1 else 'hold'} no pod of lower priority")
    if unfit:
        has = "has" if unfit == 1 else "have"
        reasons.append(f"{counted(unfit, 'node')} {has} too little room even without pods of lower priority")
    if unneeded:
        reasons.append(f"on {counted(unneeded, 'node')} no pod would have to go, so none is deleted")
    return " and ".join(reasons) or "no node is left that a deletion would free"


def _decision(tried: Preemption) -> Sentence:
    if tried.decided_by is None:
        return ["It was the only candidate."]
    rivals = counted(len(tried.candidates), "candidate node")
    return [f"Of {rivals} it was chosen by: ", {"strong": TEXTS[tried.decided_by][0]}, "."]


def _cleared(tried: Preemption) -> Sentence:
    if not tried.cleared:
        return []
    verb = "loses its" if len(tried.cleared) == 1 else "lose their"
    return [" ", *listed("pod", list(tried.cleared)), f" {verb} nomination."]


def _lost(tried: Preemption) -> dict[int, int]:
    """Return the comparison at which each candidate dropped out, without the chosen one."""
    lost: dict[int, int] = {}
    for place, row in enumerate(tried.comparisons):
        lost.update(dict.fromkeys(row.nodes[~row.stay].tolist(), place))
    return lost


def _page(
    tried: Preemption, lost: dict[int, int], node_at: Sequence[int], first: int, count: int
) -> dict[str, Any]:
    names = tried.nodes
    order = sorted(
        tried.candidates, key=lambda run: (-lost.get(run.node, len(tried.comparisons)), names[run.node])
    )
    rows = [_row(run, lost.get(run.node), node_at) for run in order[first : first + count]]
    return {"from": first, "count": len(order), "rows": rows}


def _row(run: DryRun, lost: int | None, node_at: Sequence[int]) -> CandidateWire:
    shown = [[pod.key, pod.priority, pod.key in run.budgets] for pod in run.refused[:VICTIMS]]
    return {
        "node": node_at[run.node],
        "victims": shown,
        "count": len(run.refused),
        "violations": run.violations,
        "lost": lost,
    }


def _run(run: DryRun, node_at: Sequence[int]) -> dict[str, Any]:
    steps = [list(step) for _, step in zip(range(STEPS), run.steps())]
    return {
        "node": node_at[run.node],
        "removed": [pod.key for pod in run.removed[:STEPS]],
        "steps": steps,
        "count": len(run.order),
    }


def _criterion(row: CriterionRound, node_at: Sequence[int]) -> CriterionWire:
    text, note = TEXTS[row.criterion]
    stay, go = np.flatnonzero(row.stay), np.flatnonzero(~row.stay)
    go = go[np.argsort(row.values[go], kind="stable")]

    def values(places: np.ndarray[Any, np.dtype[np.int64]]) -> list[list[int]]:
        return [[node_at[int(row.nodes[at])], int(row.values[at])] for at in places[:VALUES]]

    return {
        "id": row.criterion,
        "text": text,
        "note": note,
        "stay": values(stay),
        "stayed": len(stay),
        "out": values(go),
        "dropped": len(go),
        "decided": row.decided,
    }


def _group(group: NodeGroup, node_at: Sequence[int]) -> HopelessWire:
    return {
        "why": group.why,
        "text": HOPELESS[group.why],
        "reasons": list(group.reasons),
        "count": len(group.nodes),
        "nodes": [node_at[node] for node in group.nodes[:GROUP_NODES].tolist()],
    }
