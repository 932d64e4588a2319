"""An integrity check of the embedded database before anything relies on it."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

SECONDS = 5.0  # a large database is checked as far as this time allows
STEPS = 50_000  # of SQLite's virtual machine between two checks of the clock: a few milliseconds


def is_sound(connection: Any) -> bool:
    """Return whether SQLite finds no damage in the file of Django's ``connection`` within :data:`SECONDS`.

    Raises DatabaseError if SQLite cannot read the file at all.
    """
    connection.ensure_connection()
    raw: sqlite3.Connection = connection.connection
    deadline = time.monotonic() + SECONDS
    raw.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
    try:
        row = raw.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT
    finally:
        raw.set_progress_handler(None, 0)
    return row is None or row[0] == "ok"
