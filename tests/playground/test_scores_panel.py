"""How a score came about: what the panel tells of a cell, the simulation it looks at, and the command."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.panels import steps
from playground.panels.priorities import explained
from playground.playback.playback import OutOfRangeError, Playback
from scheduler_core import load
from scheduler_core.run.instant import Simulation
from tests.playground.conftest import DATA, connected
from tests.playground.golden import check

BUNDLES = ("web", "restart")


def played(name: str) -> Playback:
    playback = Playback(load((DATA / f"{name}.yaml").read_text()))
    while playback.advance(1):
        pass
    return playback


def cells(playback: Playback, index: int) -> list[dict[str, Any]]:
    """Explain every priority of a cycle on every node that was ranked."""
    cycle = playback.cycle(index)
    at = playback.place(cycle).node_at
    found = []
    with playback.before(index) as simulation:
        for node in cycle.feasible.tolist() if cycle.priorities else []:
            for priority in range(len(cycle.priorities)):
                cell = explained(cycle, simulation, at, at[node], priority)
                assert cell is not None
                found.append({"index": index, "node": cycle.nodes[node], **cell})
    return found


@pytest.mark.parametrize("name", BUNDLES)
def test_explanations(name: str) -> None:
    """What is mentioned every cell of a history is as recorded."""
    playback = played(name)
    reported = [cell for index in range(1, len(playback) + 1) for cell in cells(playback, index)]
    assert reported
    check(DATA / f"{name}.scores.json", reported)


@pytest.mark.parametrize("name", BUNDLES)
def test_explanations_end_with_the_score_of_the_matrix(name: str) -> None:
    """The last value is the reduced score, times weight the weighted one, and columns sum to the totals."""
    playback = played(name)
    for index in range(1, len(playback) + 1):
        part = json.loads(json.dumps(steps.parts(playback, index, ["priorities"])))["priorities"]
        sums: dict[str, int] = {}
        for row in part.get("rows", []):
            for values in ("raw", "score"):
                if isinstance(row[values], int):
                    row[values] = [row[values]] * len(part["nodes"])
        for cell in cells(playback, index):
            row = next(row for row in part["rows"] if row["name"] == cell["name"])
            place = part["nodes"].index(playback.tables.node_index[cell["node"]])
            last = (cell["scale"] or cell["value"])[-1]["value"]
            assert int(last) == cell["score"] == row["score"][place]
            assert cell["weighted"] == cell["score"] * row["weight"]
            assert cell["map"] == (None if row["raw"] is None else row["raw"][place])
            assert cell["range"] == [min(row["score"]), max(row["score"])]
            assert cell["total"] == part["totals"][place]
            assert cell["reference"] == cell["name"]
            sums[cell["node"]] = sums.get(cell["node"], 0) + cell["weighted"]
        names = [playback.tables.nodes[node].meta.name for node in part.get("nodes", [])]
        assert sums == dict(zip(names, part.get("totals", [])))


def test_the_cluster_is_the_one_that_the_cycle_found() -> None:
    """Forth and back, the simulation stands before the cycle, with the operations that precede it."""
    playback = played("restart")
    for index in (2, 4, 4, 1, len(playback), 3):
        whole = Simulation(playback.scenario)
        whole.replay(playback.trail.decisions[: index - 1])
        whole.peek()
        with playback.before(index) as simulation:
            assert simulation.index == index - 1
            assert simulation.placement() == whole.placement()
            assert simulation.profile.summary() == whole.profile.summary()
        assert playback.cycle(index).index == index


def test_there_is_nothing_before_a_cycle_that_does_not_exist() -> None:
    """Cycles count from 1 to the last."""
    playback = played("web")
    for index in (0, len(playback) + 1):
        with pytest.raises(OutOfRangeError), playback.before(index):
            pass


@pytest.mark.django_db(transaction=True)
async def test_the_socket_explains_one_cell(web: str) -> None:
    """The answer is the panel's; a node, a priority or a cycle that is not in the matrix is refused."""
    local = played("web")
    cycle = local.cycle(1)
    at = local.place(cycle).node_at
    node = at[int(cycle.feasible[0])]
    with local.before(1) as simulation:
        expected = explained(cycle, simulation, at, node, 2)
    async with connected() as socket:
        opened = await socket.success("bundle.open", {"text": web})
        ask = {"source": {"draft": opened["draft"]}, "cycle": 1, "node": node, "priority": 2}
        answer = await socket.success("scores.explain", ask)
        assert answer == {"index": 1, "node": node, "priority": 2, **json.loads(json.dumps(expected))}
        assert answer["name"] == "LeastRequestedPriority"
        for field in ("node", "priority"):
            refused = await socket.error("scores.explain", {**ask, field: 99})
            assert (refused["code"], refused["field"]) == ("payload.invalid", field)
        beyond = await socket.error("scores.explain", {**ask, "cycle": 99})
        assert beyond["code"] == "step.out-of-range"
        assert (await socket.error("scores.explain", {**ask, "cycle": 0}))["code"] == "step.out-of-range"
