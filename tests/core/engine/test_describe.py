"""What is mentioned each priority's score on a node: the arithmetic is right and gives the score."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from scheduler_core.record.cycle import Cycle
from scheduler_core.run.instant import Simulation
from scheduler_core.scenario.load import load_documents
from scheduler_core.schedulers.profiles.priority import Mapped
from scheduler_core.schedulers.v1_11.priorities import DESCRIPTIONS, PRIORITIES, describe
from scheduler_core.schedulers.v1_11.priorities.line import Description, FormulaLine, LineQuestion
from tests.conformance.random_records import record
from tests.core.engine.builders import node, pod, simulate
from tests.core.engine.test_priorities import CASES, SERVICE, WEB, ZONED, named
from tests.core.trials import trials

OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def worth(text: str) -> float:
    """Work out printed arithmetic: `10 × (4 − 1) / 4`, `(1 − |0.5 − 0.25|) × 10`, `1,350 / 4,000`."""
    plain = text.replace(",", "").replace("×", "*").replace("−", "-")
    plain = re.sub(r"\|([^|]+)\|", r"abs(\1)", plain)

    def value(one: ast.AST) -> float:
        match one:
            case ast.Constant(value=int() | float() as constant):
                return constant
            case ast.BinOp(left=left, op=op, right=right):
                return OPERATORS[type(op)](value(left), value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return OPERATORS[type(op)](value(operand))
            case ast.Call(args=[argument]):
                return abs(value(argument))
        raise AssertionError(f"no arithmetic: {text}")

    return value(ast.parse(plain, mode="eval").body)


def shown(text: str) -> float:
    """Read a printed number, or the sum of two that is printed for a truncated quotient."""
    return worth(text)


def check(line: FormulaLine) -> None:
    """Hold a line's numbers to its value; what is rounded for print may differ in the fourth decimal."""
    if not line.numbers or any(sign in line.numbers for sign in "<>≤≥"):
        return
    exact = worth(line.numbers)
    if line.exact and any(sign in line.exact[1:] for sign in "+−"):  # a quotient truncated inside
        assert shown(line.exact) == shown(line.value)
        assert abs(exact - shown(line.value)) < 1
    else:
        assert shown(line.exact or line.value) == pytest.approx(exact, abs=2e-3)
        assert int(shown(line.exact or line.value)) == shown(line.value) or not line.exact


def reported(simulation: Simulation) -> Iterator[tuple[Cycle, str, LineQuestion, Description]]:
    """Describe every priority of every cycle on the first, the last and the chosen node."""
    while simulation.peek():
        # the cluster as it was before the cycle: another simulation decides
        decider = Simulation(simulation.scenario)
        decider.replay(simulation.decisions)
        cycle = decider.step()
        assert cycle is not None
        feasible = cycle.feasible.astype(np.int64)
        names = [cycle.nodes[n] for n in feasible.tolist()]
        places = {0, len(names) - 1, names.index(cycle.node)} if cycle.priorities and cycle.node else set()
        state = simulation.cluster.pods[cycle.pod]
        for row, priority in zip(cycle.priorities, simulation.profile.priorities):
            for place in places:
                asked = LineQuestion(simulation.cluster, state, feasible, place, row)
                yield cycle, row.name, asked, describe(priority.run, asked)
        simulation.replay([cycle.decision])


@pytest.mark.parametrize("start", range(0, trials(30), 30))
def test_the_arithmetic_gives_the_score_on_random_clusters(start: int) -> None:
    """Each line's numbers give its value, Map's last line is the raw value, the last of all the score."""
    seen = set()
    for seed in range(start, start + 30):
        case = record(seed)
        scenario = replace(
            load_documents(case["objects"], expand=False, admission=False), policy=case["policy"]
        )
        for cycle, name, asked, description in reported(Simulation(scenario)):
            seen.add(name)
            lines = [*description.value, *description.scale]
            for line in lines:
                check(line)
            where = (seed, cycle.index, name, lines)
            assert shown(lines[-1].value) == asked.row.score[asked.place], where
            if asked.row.raw is not None:
                assert shown(description.value[-1].value) == asked.raw, where
            assert bool(description.scale) == (asked.row.kind != "map"), where
    assert len(seen) > 10


@pytest.mark.parametrize("name", CASES)
def test_the_arithmetic_gives_the_score_of_each_case(name: str) -> None:
    """The table of cases that the priorities are tested with is reported rightly too."""
    entry, objects, incoming, _, _ = CASES[name]
    described = list(reported(simulate(*objects, incoming, policy={"predicates": [], "priorities": [entry]})))
    assert described
    for _, _, asked, description in described:
        lines = [*description.value, *description.scale]
        for line in lines:
            check(line)
        assert shown(lines[-1].value) == asked.row.score[asked.place]


def test_every_priority_can_be_reported() -> None:
    """The table has a row for each priority that a policy can name."""
    for name, priority in PRIORITIES.items():
        rule = priority.steps if isinstance(priority, Mapped) else priority
        assert any(kind in DESCRIPTIONS for kind in type(rule).__mro__), name


def test_the_numbers_are_those_of_the_node() -> None:
    """LeastRequested with 1150m used and a pod of 200m on 4 CPUs reads as people compute it."""
    big = {"cpu": "4", "memory": "16Gi", "pods": "10"}
    objects = [
        node("a", allocatable=big),
        node("b", allocatable=big),
        pod("x", {"cpu": "1150m", "memory": "1Gi"}, on="a"),
        pod("p", {"cpu": "200m", "memory": "512Mi"}),
    ]
    policy = {"predicates": [], "priorities": [named("LeastRequestedPriority")]}
    descriptions = {
        asked.cluster.columns.names[asked.node]: description
        for _, _, asked, description in reported(simulate(*objects, policy=policy))
    }
    assert [(line.of, line.numbers, line.exact, line.value) for line in descriptions["a"].value] == [
        ("cpu requested, in m", "1,150 + 200", "", "1,350"),
        ("cpu, of 4,000 m", "(4,000 − 1,350) × 10 / 4,000", "6.625", "6"),
        ("memory requested, in Mi", "1,024 + 512", "", "1,536"),
        ("memory, of 16,384 Mi", "(16,384 − 1,536) × 10 / 16,384", "9.0625", "9"),
        ("score", "(6 + 9) / 2", "7.5", "7"),
    ]


def test_spreading_tells_node_and_zone() -> None:
    """SelectorSpread's Reduce shows the fullest node, the fullest zone and how they are blended."""
    objects = [*ZONED, SERVICE, pod("x", on="a", **WEB), pod("p", **WEB)]
    policy = {"predicates": [], "priorities": [named("SelectorSpreadPriority")]}
    [first, *_] = [d for _, _, asked, d in reported(simulate(*objects, policy=policy)) if asked.node == 1]
    assert [(line.of, line.numbers, line.value) for line in first.scale] == [
        ("node", "10 × (1 − 0) / 1", "10"),
        ("zone 2", "10 × (1 − 0) / 1", "10"),
        ("score", "10 × 1/3 + 10 × 2/3", "10"),
    ]
