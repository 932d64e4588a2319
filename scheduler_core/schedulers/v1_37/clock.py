"""The virtual clock of a recorded run, and the times at which the queue is looked at.

Whole milliseconds since 2000-01-01T00:00:00Z, so that no sum is ever rounded.
"""

from __future__ import annotations

SECOND = 1000
WRITE = 1
"""Milliseconds that a step's own write (create, patch, delete) takes."""

CYCLE = 2
"""Milliseconds that one scheduling cycle takes; binding a volume adds its own."""


class MillisecondClock:
    """Milliseconds of virtual time, which passes only when a caller advances it."""

    def __init__(self) -> None:
        self.now = 0

    def pass_to(self, moment: int) -> None:
        """Move forward to a moment; an earlier one is ignored."""
        self.now = max(self.now, moment)


def whole_second(moment: int) -> int:
    """Return the moment cut to its second: the ordering window of the backoff queue (alignToWindow)."""
    return moment - moment % SECOND
