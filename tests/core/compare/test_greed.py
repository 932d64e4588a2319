"""The price of greed: the optimum beside what schedulers place, and the moves as a bundle."""

from __future__ import annotations

import pytest

from scheduler_core import load
from scheduler_core.compare.optimum.greed import CONTENDERS, Greed, price_of_greed
from scheduler_core.compare.optimum.standing import ShortRunError
from scheduler_core.run.table import simulate

NODES = "\n---\n".join(
    f"{{kind: Node, apiVersion: v1, metadata: {{name: n{n}}}, status: {{allocatable: "
    f"{{cpu: '4', memory: 8Gi, pods: '10'}}}}}}"
    for n in (1, 2)
)
SETTINGS = "{kind: SimulationSettings, apiVersion: podstep/v1, scheduler: v1.11}"


def pod(name: str, cpu: str, node: str = "") -> str:
    """Return a pod, on a node if it is named."""
    place = f"nodeName: {node}, " if node else ""
    return (
        f"{{kind: Pod, apiVersion: v1, metadata: {{name: {name}}}, spec: {{{place}containers: "
        f"[{{name: c, resources: {{requests: {{cpu: '{cpu}', memory: 1Gi}}}}}}]}}}}"
    )


# First two small pods, which spread, then one that would need a whole node.
GREEDY = "\n---\n".join((SETTINGS, NODES, pod("a", "1"), pod("b", "1"), pod("whole", "4")))


def priced(text: str, step: int = 0, *objectives: str, move: bool = False) -> Greed:
    """Return the price of greed of a bundle."""
    return price_of_greed(load(text), step, objectives or ("most-pods",), 5.0, move=move)


def test_schedulers_that_spread_leave_a_pod_that_the_optimum_places() -> None:
    """They give each small pod a node of its own; Firmament refuses an exact fit."""
    found = priced(GREEDY)
    figures = {row.scheduler: row.figures for row in found.rows}
    assert list(figures) == ["optimum", *CONTENDERS]
    assert all(one is not None for one in figures.values())
    placed = {name: one.placed for name, one in figures.items() if one is not None}
    assert placed == {"optimum": 3, "v1.11": 2, "v1.37": 2, "kube-batch": 3, "Firmament": 2}
    best = figures["optimum"]
    assert best is not None and best.placed == found.optimum.proofs[0].value
    assert (best.nodes, best.share, best.pending) == (2, 1000, 0)


def test_the_moves_are_a_bundle_that_leads_there_in_steps() -> None:
    """Evictions first; a cycle for each binding; running pods that stay are in it."""
    text = "\n---\n".join((SETTINGS, NODES, pod("a", "1", "n1"), pod("b", "1", "n2"), pod("whole", "4")))
    assert priced(text).optimum.moves == ()
    found = priced(text, 0, "most-pods", "fewest-moves", move=True)
    assert [move.action for move in found.optimum.moves] == ["evict", "bind", "bind"]
    simulation = simulate(load(found.bundle))
    cycles = list(simulation)
    assert [cycle.node for cycle in cycles] == [m.node for m in found.optimum.moves if m.action == "bind"]
    assert simulation.placement() == found.optimum.placements


def test_a_pod_that_stays_pending_is_no_part_of_the_moves() -> None:
    """So that no scheduler places what the optimum leaves."""
    text = "\n---\n".join((SETTINGS, NODES, pod("a", "4"), pod("b", "4"), pod("c", "4")))
    found = priced(text)
    assert len(found.optimum.pending) == 1
    assert found.optimum.pending[0] not in simulate(load(found.bundle)).placement()


def test_a_later_step_counts_what_was_placed_until_then() -> None:
    """After two cycles nothing can be done without moving pods; beyond the end is an error."""
    assert priced(GREEDY, 2).pending == 1 and priced(GREEDY, 2).optimum.moves == ()
    assert len(priced(GREEDY, 2, "most-pods", move=True).optimum.placements) == 3
    with pytest.raises(ShortRunError, match="after 3 cycles"):
        priced(GREEDY, 9)


def test_what_is_infeasible_says_what_to_do() -> None:
    """Running pods that do not fit where they are, and must stay somewhere."""
    found = priced("\n---\n".join((SETTINGS, NODES, *(pod(f"p{n}", "3", "n1") for n in range(3)))), move=True)
    assert not found.optimum.feasible
    assert found.rows[0].figures is None and "choose an earlier step" in found.rows[0].why
