"""When something that could be seen was withdrawn: a counter of the process.

Whoever remembers that a source may be seen also remembers :func:`count` from before it asked the database,
and forgets the source once the count differs. The count is of this process; what another process withdraws is
bounded by time (:mod:`playground.live.sightings`).
"""

from __future__ import annotations

import threading

from django.db import transaction

_lock = threading.Lock()
_count = 0


def count() -> int:
    """Return how many withdrawals were committed in this process."""
    return _count


def _add() -> None:
    global _count  # noqa: PLW0603 - one counter a process is the point
    with _lock:
        _count += 1


def note() -> None:
    """Count a withdrawal once the transaction that makes it is committed, at once outside of one.

    Not earlier: until then another thread still reads the row, and would remember it under the new count.
    """
    transaction.on_commit(_add)
