"""Reading the grid of a sweep: which cells it has, and what is wrong with one."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.studies.sweep import read_sweep


def test_cells_are_every_combination(small: Scenario) -> None:
    """The last axis varies fastest; a bare grid and one in an object are the same."""
    grid = {"seed": [1, 2], "cache": ["off", "sound"]}
    sweep = read_sweep(grid, small)
    assert [tuple(cell.values()) for cell in sweep.cells] == [
        ("off", 1),
        ("off", 2),
        ("sound", 1),
        ("sound", 2),
    ]
    assert read_sweep({"grid": grid}, small) == sweep


def test_sample_is_drawn_by_its_seed(small: Scenario) -> None:
    """It has as many cells as it says, each once, and can be drawn from more cells than may run."""
    body = {
        "grid": {"seed": list(range(100)), "nodes": list(range(1, 101))},
        "sample": {"cells": 7, "seed": 3},
    }
    sweep = read_sweep(body, small)
    assert (len(sweep.cells), sweep.whole) == (7, 10_000)
    assert sweep == read_sweep(body, small)
    assert sweep != read_sweep({**body, "sample": {"cells": 7, "seed": 4}}, small)


WRONG: tuple[tuple[Any, str, str], ...] = (
    ([], "", "a sweep is an object with a grid"),
    ({}, "grid", "has no axis"),
    ({"grid": []}, "grid", "must be an object of axes"),
    (
        {"grid": {"seed": [1]}, "sampel": 1},
        "sampel",
        "unknown field; a sweep has grid, sample, halving, prices",
    ),
    ({"weigths.NodeAffinity": [1]}, "grid['weigths.NodeAffinity']", "did you mean weights.NAME?"),
    ({"weights": [1]}, "grid.weights", "is no axis; did you mean weights.NAME?"),
    ({"seed": []}, "grid.seed", "must be a list of 1 to 100 values"),
    ({"seed": [1, 1]}, "grid.seed", "has a value twice"),
    ({"seed": [[1]]}, "grid.seed", "has a value that is a list or an object"),
    ({"seed": ["x"]}, "grid.seed[0]", "must be a whole number from 0, not 'x'"),
    ({"cache": ["offf"]}, "grid.cache[0]", "cache is off or designed"),
    ({"weights.Nothing": [1]}, "grid['weights.Nothing'][0]", "Nothing"),
    ({"nodes": [0]}, "grid.nodes[0]", "must be a whole number from 1 to 50,000, not '0'"),
    ({"copies.n9": [1]}, "grid['copies.n9'][0]", "there is no node 'n9'"),
    ({"drain": [None, "n9"]}, "grid.drain[1]", "there is no node 'n9'"),
    ({"arrival": ["random"]}, "grid.arrival[0]", "must be given, shuffled, largest-first, smallest-first"),
    ({"scheduler": ["v1.37"], "cache": ["sound"]}, "grid.cache[0]", "is read by v1.11 alone"),
    (
        {"scheduler": ["v1.11"], "plugins.NodeAffinity": [True]},
        "grid['plugins.NodeAffinity'][0]",
        "predicates.NAME",
    ),
    ({"config": ["a"]}, "grid.config", "must be an object of configurations"),
    ({"failures": [3]}, "grid.failures[0]", "from 0 to the 2 nodes"),
    (
        {"seed": list(range(100)), "nodes": list(range(1, 101))},
        "grid",
        "has 10,000 cells, and 1,000 is the limit",
    ),
    (
        {"grid": {"seed": [1]}, "halving": {"arrivals": [0.5, 2]}},
        "halving.arrivals",
        "must be 2 to 10 growing numbers above 0 of at most 1: it is like {arrivals:",
    ),
    (
        {"grid": {"seed": [1]}, "halving": {"arrivals": [1], "seconds": [1]}},
        "halving",
        "with either arrivals or",
    ),
    (
        {"grid": {"seed": [1]}, "halving": {"arrivals": [0.1, 1], "keep": 1}},
        "halving.keep",
        "must be a share",
    ),
    (
        {"grid": {"seed": [1]}, "halving": {"arrivals": [0.1, 1], "by": "cost"}},
        "halving.by",
        "one or more of placed",
    ),
    ({"grid": {"seed": [1]}, "halving": {"arrivals": [0.1, 1], "kep": 1}}, "halving.kep", "unknown field"),
    (
        {"grid": {"scheduler": ["v1.11"]}, "halving": {"seconds": [10, 20]}},
        "halving",
        "none passes under v1.11: use arrivals",
    ),
    ({"grid": {"seed": [1]}, "prices": [1]}, "prices", "must be an object of prices by label and value"),
    (
        {"grid": {"seed": [1]}, "prices": {"pool": {"a": "1 $"}}},
        "prices.pool.a",
        "a number from 0, not '1 $'",
    ),
    (
        {"grid": {"seed": [1]}, "sample": {"cells": 5, "sed": 1}},
        "sample",
        "must be like {cells: 20, seed: 1}",
    ),
)


@pytest.mark.parametrize(("body", "path", "message"), WRONG)
def test_what_is_wrong_names_its_path(small: Scenario, body: Any, path: str, message: str) -> None:
    """Each error says where it is and what would be right."""
    with pytest.raises(BundleError) as raised:
        read_sweep(body, small)
    (problem,) = raised.value.problems
    assert problem.path == path
    assert message in problem.message
