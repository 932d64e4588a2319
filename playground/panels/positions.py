"""Where a room is: the fields of an address that its pages share, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from playground.protocol.tabs import TABS

STEP = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?|end")
TEXTS = {
    "tab": 40,
    "view": 200,
    "phase": 40,
    "node": 253,
    "pod": 600,
    "colour": 40,
    "group": 320,
    "shade": 40,
}
"""Fields of a position that are texts, and the characters that they may have."""
PLACE = ("step", "at", *TEXTS)
"""The fields of a position that an address has, too."""
CELL = 500  # characters of what a cell or a spotlight is named by


class InvalidPositionError(ValueError):
    """A position that is none; ``field`` names what is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def position_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the position that ``given`` has, without absent fields. Raises InvalidPositionError."""
    if not STEP.fullmatch(given["step"]):
        message = "A step is a cycle's number or major.minor, as in 17 or 2.3, or end."
        raise InvalidPositionError("step", message)
    for name, most in {**TEXTS, "cell": CELL, "spot": CELL}.items():
        if len(str(given.get(name) or "")) > most:
            raise InvalidPositionError(name, f"{name} may have {most} characters.")
    if (tab := given.get("tab")) and tab not in TABS:
        message = f"There is no tab {tab!r}; the tabs are {', '.join(sorted(TABS))}."
        raise InvalidPositionError("tab", message)
    return {name: given[name] for name in (*PLACE, "cell", "spot") if given.get(name) is not None}
