"""A counter, per process, of withdrawals of things that were visible.

Code that caches that a source is visible also stores :func:`count` from before it queried the database, and
drops the entry once the count differs. The count covers only this process; for withdrawals by other processes
the entries expire (:mod:`playground.live.sightings`).
"""

from __future__ import annotations

import threading

from django.db import transaction

_lock = threading.Lock()
_count = 0


def count() -> int:
    """Return the number of withdrawals committed in this process."""
    return _count


def _add() -> None:
    global _count  # noqa: PLW0603 - deliberately one counter per process
    with _lock:
        _count += 1


def note() -> None:
    """Count a withdrawal when its transaction commits; outside of a transaction, immediately.

    Not earlier: until then another thread still reads the row, and would cache it under the new count.
    """
    transaction.on_commit(_add)
