"""Device selectors: what they answer, and that what is not supported is said."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.v1_37.cel import CelError, compile_cel, quantity

DEVICE = {
    "device": {
        "driver": "gpu.example.com",
        "attributes": {"gpu.example.com": {"model": "h100", "index": 2, "shared": False}},
        "capacity": {"gpu.example.com": {"memory": quantity("80Gi")}},
    }
}

ANSWERS: dict[str, Any] = {
    'device.driver == "gpu.example.com"': True,
    'device.attributes["gpu.example.com"].model != "h100"': False,
    'device.attributes["gpu.example.com"].model in ["a100", "h100"]': True,
    'device.attributes["gpu.example.com"].index >= 2 && !device.attributes["gpu.example.com"].shared': True,
    'device.attributes["gpu.example.com"].index == "2"': False,
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("60Gi")) >= 0': True,
    'device.capacity["gpu.example.com"].memory.isLessThan(quantity("81920Mi"))': False,
    'has(device.attributes["gpu.example.com"].missing)': False,
    'has(device.attributes["gpu.example.com"].missing) ? 1 : -3': -3,
    'device.attributes["gpu.example.com"].missing == 1 || device.driver.startsWith("gpu")': True,
    'device.driver.endsWith("x") && device.attributes["gpu.example.com"].missing == 1': False,
    "size([1, 2, 3]) == 3": True,
}


@pytest.mark.parametrize("expression", ANSWERS)
def test_an_expression_answers(expression: str) -> None:
    """A selector that is supported has the value that CEL gives it."""
    assert compile_cel(expression)(DEVICE) == ANSWERS[expression]


ERRORS = {
    'device.attributes["gpu.example.com"].missing == 1': "no such key: missing",
    "device.driver < 3": "no such overload",
    "device.driver && true": "no such overload",
    "nothing == 1": "undeclared reference to 'nothing'",
    'device.driver.matches("x")': "'matches' is not supported",
    'device.attributes["gpu.example.com"].index + 1 == 3': "'+' is not supported",
    "cel.bind(x, 1, x)": "'bind' is not supported",
    "(" * 100 + "1" + ")" * 100: "nested deeper than",
    "device.": "expected a name",
    "1 == ": "syntax error",
    "#": "syntax error",
    '"' + "x" * 20000 + '"': "longer than",
}  # fmt: skip


@pytest.mark.parametrize("expression", ERRORS)
def test_what_cannot_be_answered_is_an_error(expression: str) -> None:
    """A failing or unsupported expression says why, and is never silently true or false."""
    with pytest.raises(CelError) as caught:
        compile_cel(expression)(DEVICE)
    assert ERRORS[expression] in str(caught.value)
