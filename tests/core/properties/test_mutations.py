"""Good bundles with one part replaced by nonsense: read, or refused with places, and never anything else."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.run.instant import Simulation
from scheduler_core.scenario.load import load
from scheduler_core.scenario.scenario import Scenario
from tests.conformance.random_records import Dice, Manifest
from tests.core.properties.histories import STARTS, seeds, simulated

NONSENSE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    1.5,
    2**31,
    2**63,
    -(2**70),
    "",
    "x",
    "-1",
    "1.5",
    "a b",
    "Exists",
    "\u00fc\u2028",
    "9" * 70,
    [],
    [None],
    [[]],
    [{}],
    ["x", "x"],
    {},
    {"": None},
    {"name": "x"},
    {"x": {"y": []}},
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every part of a document."""
    parts: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value))
    return [path, *(found for key, part in parts for found in places(part, (*path, key)))]


def mutated(documents: list[Manifest], dice: Dice) -> list[Any]:
    """Replace, remove, repeat or rename one part of one document."""
    out: list[Any] = copy.deepcopy(documents)
    path = dice.choice(places(out)[1:])
    parent: Any = out
    for key in path[:-1]:
        parent = parent[key]
    last = path[-1]
    how = dice.choice(("replace",) * 5 + ("remove", "repeat", "rename"))
    if how == "replace":
        parent[last] = copy.deepcopy(dice.choice(NONSENSE))
    elif how == "remove":
        del parent[last]
    elif how == "repeat" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[last]))
    elif isinstance(parent, dict):
        parent[last + "s"] = parent.pop(last)
    return out


def read(text: str, *, admission: bool) -> tuple[list[Problem], Scenario | None]:
    """Return what is wrong with a text, or the scenario that it holds."""
    try:
        return [], load(text, expand=admission, admission=admission)
    except BundleError as error:
        return error.problems, None


@pytest.mark.parametrize("admission", [True, False], ids=["admitted", "as it is"])
@pytest.mark.parametrize("start", STARTS)
def test_nonsense_is_read_or_refused_with_its_place(start: int, *, admission: bool) -> None:
    """One wrong part gives a run to its end or errors with messages and lines, and no other exception."""
    for seed in seeds(start):
        dice = Dice(seed)
        documents = simulated(seed)
        for _ in range(4):
            text = "\n".join(json.dumps(part) for part in mutated(documents, dice))
            problems, scenario = read(text, admission=admission)
            assert all(problem.message and problem.line for problem in problems), (seed, problems)
            if scenario is not None:
                assert sum(1 for _ in Simulation(scenario, trace=False)) < 1000, seed
