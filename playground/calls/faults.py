"""What is wrong in a field of a request, wherever it came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import ValidationError


class RequestFieldError(ValueError):
    """A field of a request is missing or wrong; ``field`` is its name, "" if the request is none at all."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


class Fault(NamedTuple):
    """Why an object is not what a struct declares."""

    path: str  # of the field
    message: str
    missing: bool = False


_FIELD = re.compile(r"(missing required|unknown) field `([^`]+)`")
_PATH = re.compile(r"`\$\.?([^`]*)`")
_EXPECTED = re.compile(r"Expected `(\w+)")
_CALLED: Mapping[str, str] = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def fault_of(error: ValidationError) -> Fault:
    """Return the fault that msgspec reports in a sentence."""
    text = str(error)
    path = "".join(_PATH.findall(text)[-1:])
    if field := _FIELD.search(text):
        path, missing = f"{path}.{field[2]}".removeprefix("."), field[1] != "unknown"
        return Fault(path, f"{path} is {'missing' if missing else 'unknown'}.", missing)
    expected = _EXPECTED.search(text)
    return Fault(path, f"{path} must be {_CALLED.get(expected[1], expected[1])}." if expected else f"{text}.")
