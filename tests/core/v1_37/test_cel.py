"""Device selectors: what they answer, what that costs, and what is refused, as v1.37.1 does it.

``data/device_selectors.json`` has what k8s.io/dynamic-resource-allocation/cel v0.37.1 answered: of each
expression why the API server refuses it or its estimated cost, why the scheduler cannot compile it
(``stored``, if that is not the same), and of each device the result or error with the cost. One answer
stands for all devices.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.schedulers.v1_37.cel.errors import CelError, CompileError, UnsupportedError
from scheduler_core.schedulers.v1_37.cel.estimate import limitation_of, most_expensive, refusal_of
from scheduler_core.schedulers.v1_37.cel.selectors import NEW, checked, compile_selector, device_variable
from scheduler_core.schedulers.v1_37.cel.values import CelMap
from scheduler_core.schedulers.v1_37.devices import Device
from tests.rows import each_row

TABLE: dict[str, Any] = json.loads((Path(__file__).parent / "data/device_selectors.json").read_text())
ROWS = {row["expression"]: row for row in TABLE["rows"]}
NOT_SUPPORTED = ('google.protobuf.Duration{seconds: 1} == duration("1s")',)
EVALUATED = [text for text, row in ROWS.items() if "on" in row and text not in NOT_SUPPORTED]
REFUSED = [text for text, row in ROWS.items() if row.get("refused") or row.get("stored")]


@cache
def devices() -> dict[str, CelMap]:
    """Return the devices of the table as selectors see them."""
    pool = {"name": "p"}
    return {
        name: Device((spec["driver"], "p", name), spec, {"driver": spec["driver"], "pool": pool}).variable
        for name, spec in TABLE["devices"].items()
    }


@each_row("text", EVALUATED)
def test_a_selector_answers_and_costs_what_it_does_in_v1_37(text: str) -> None:
    """Results, errors and costs are those of the real evaluation, on each device."""
    selector, on = compile_selector(text), ROWS[text]["on"]
    for name, device in list(devices().items())[: None if "device" in text else 1]:
        value, cost = selector.evaluate(device)
        wanted, paid = on if isinstance(on, list) else on[name]
        assert (str(value) if isinstance(value, CelError) else value) == wanted, name
        assert paid is None or cost == paid, name


def compile_error(text: str, *, stored: bool) -> str:
    """Return why an expression cannot be compiled, or nothing."""
    try:
        if stored:
            compile_selector(text)
        else:
            checked(text, NEW)
    except CompileError as error:
        return str(error)
    return ""


@each_row("text", REFUSED)
def test_what_cannot_be_compiled_is_refused_with_the_same_text(text: str) -> None:
    """Of syntax errors, whose text is made by a parser generator, only that they are refused."""
    row = ROWS[text]
    wanted = {False: row.get("refused", ""), True: row.get("stored", row.get("refused", ""))}
    for stored, message in wanted.items():
        found = compile_error(text, stored=stored)
        if "Syntax error" in message:
            assert "Syntax error" in found
        elif "program instantiation" not in message or stored:
            assert found == message


@pytest.mark.parametrize("text", NOT_SUPPORTED)
def test_what_is_not_supported_is_said_when_compiled(text: str) -> None:
    """A valid expression that cannot be evaluated here is an error that names the reason."""
    with pytest.raises(UnsupportedError, match="protocol buffers"):
        compile_selector(text)


@pytest.mark.parametrize(
    "text",
    ["(" * 100 + "true" + ")" * 100, " + ".join(["1"] * 5000) + " > 0", "!" * 9000 + "true", "[" * 5000],
)
def test_deep_nesting_is_an_error(text: str) -> None:
    """Expressions that would exhaust the interpreter's stack are refused, or evaluated."""
    found = compile_error(text, stored=True)
    assert not found or "not supported" in found or "Syntax error" in found
    if not found:
        assert compile_selector(text).evaluate(device_variable("d", {}, {}))[0] is True


def test_what_is_side_by_side_is_not_nested() -> None:
    """A selector may name hundreds of models, and have dozens of parentheses within each other."""
    names = ", ".join(f'"model-{number}"' for number in range(200))
    alike, deep = " || ".join(["(1 > 2)"] * 99 + ["true"]), "(" * 60 + "true" + ")" * 60
    for text in (f'"model-7" in [{names}]', alike, deep):
        assert compile_selector(text).evaluate(device_variable("d", {}, {}))[0] is True


def test_macros_do_not_multiply_an_expression_without_end() -> None:
    """Each optMap() of an optMap() has its target twice."""
    assert limitation_of("optional.of(1)" + ".optMap(a, a)" * 60 + ".hasValue()") == (
        "copies of more than 1000 parts by macros are not supported"
    )


def test_a_constant_beyond_the_estimated_cost_is_refused() -> None:
    """The API server refuses what could cost more than the limit, and what is too long."""
    assert refusal_of("lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))") == (
        "too complex, exceeds cost limit"
    )
    assert refusal_of('"' + "x" * 11000 + '" == ""') == "may not be more than 10240 bytes"
    assert refusal_of("device.driver == 1").startswith("compilation failed: ERROR: <input>:1:15: found no")
    assert refusal_of('device.driver == "x"') == ""


COSTS = [text for text, row in ROWS.items() if "maxCost" in row and text not in NOT_SUPPORTED]


@each_row("text", COSTS)
def test_the_estimated_cost_is_that_of_the_api_server(text: str) -> None:
    """The greatest cost that an expression could have on any device."""
    assert most_expensive(checked(text, NEW)) == ROWS[text]["maxCost"]
