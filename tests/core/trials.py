"""How many random examples a property is tried with."""

from __future__ import annotations

import os

ASKED_FOR = os.environ.get("PODSTEP_PROPERTY_RUNS")


def trials(usual: int) -> int:
    """Return what ``PODSTEP_PROPERTY_RUNS`` asks for, in the suite ``usual``."""
    return int(ASKED_FOR) if ASKED_FOR else usual
