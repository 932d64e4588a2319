"""Outages of storage: errors that are not defects, because a retry succeeds once storage is available again.

A restarted PostgreSQL, a locked SQLite file and a full disk raise errors of many classes. :func:`cause_of`
is the only place that recognises them; web, WebSocket and workers decide how to handle one.
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from msgspec import Struct

log = structlog.get_logger(__name__)


class Outage(Struct, frozen=True):
    """The unavailable part, and the response to clients.

    ``status`` is the HTTP status, ``retry_after`` is in seconds, ``message`` a sentence for the visitor.
    """

    part: str
    status: int
    retry_after: int
    title: str
    message: str


PROBE_SECONDS = 2.0  # between two probes of a part that does not answer
REQUESTS_QUIET = 10.0  # seconds: if only writes fail, requests fail and succeed side by side

DATABASE = Outage(
    "database",
    503,
    5,
    "The database does not respond",
    "Nothing was stored. Try again in a few seconds.",
)
DISK = Outage(
    "disk",
    507,
    30,
    "The server's disk is full",
    "Nothing was stored. Try again later, or contact the operator of this server.",
)
READ_ONLY = Outage(
    "disk",
    503,
    30,
    "The server's disk is read-only",
    "Nothing was stored. Try again later, or contact the operator of this server.",
)

#: Primary result codes of SQLite (https://sqlite.org/rescode.html). SQLITE_ERROR, a wrong statement, is not
#: an outage.
SQLITE = {
    5: DATABASE,  # SQLITE_BUSY
    6: DATABASE,  # SQLITE_LOCKED
    8: READ_ONLY,  # SQLITE_READONLY: the file system was remounted after an error
    10: DATABASE,  # SQLITE_IOERR
    13: DISK,  # SQLITE_FULL
    14: DATABASE,  # SQLITE_CANTOPEN
    15: DATABASE,  # SQLITE_PROTOCOL: the lock was lost to others too often
}
#: SQLSTATEs of PostgreSQL by prefix; a longer prefix comes before a shorter one that it begins with.
POSTGRESQL = {
    "53100": DISK,  # disk_full
    "08": DATABASE,  # connection exceptions
    "40": DATABASE,  # deadlock, serialization failure: one of two transactions must be retried
    "53": DATABASE,  # insufficient resources: connections, memory
    "55P03": DATABASE,  # lock_not_available
    "57": DATABASE,  # operator intervention: shutdown, crash, start-up, statement timeout
    "58": DATABASE,  # system errors: I/O
}
ERRNO = {errno.ENOSPC: DISK, errno.EDQUOT: DISK, errno.EFBIG: DISK, errno.EROFS: READ_ONLY}


def cause_of(error: BaseException | None) -> Outage | None:
    """Return the outage that caused ``error`` or an error that it was raised from; otherwise ``None``."""
    for raised in _chain(error):
        found = _recognised(raised)
        if found is not None:
            return found
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(8):  # a chain may be cyclic
        if error is None:
            return
        yield error
        error = error.__cause__


def _recognised(error: BaseException) -> Outage | None:
    if isinstance(error, UnavailableError):
        return DATABASE
    if isinstance(error, DatabaseError | InterfaceError):
        return _of_database(error)
    return ERRNO.get(error.errno or 0) if isinstance(error, OSError) else None


def _of_database(error: Exception) -> Outage | None:
    raised: Any = error.__cause__  # the driver's own
    code = getattr(raised, "sqlite_errorcode", None)
    if code is not None:
        return SQLITE.get(code & 0xFF)
    state = getattr(raised, "sqlstate", None)
    if state:
        return next((found for start, found in POSTGRESQL.items() if state.startswith(start)), None)
    # No code, because there is no connection to the server.
    return DATABASE if isinstance(error, OperationalError | InterfaceError) else None


def disconnect() -> None:
    """Close this thread's connection, so that the next query opens a new one; never within a transaction."""
    if not connection.in_atomic_block:
        connection.close()


def lift_statement_timeout() -> None:
    """Remove this connection's statement timeout, for migrations and for the removal of expired rows."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")


class SuppressOutage:
    """A context manager that suppresses outages, for work that a response can do without."""

    def __enter__(self) -> None:
        """Enter the context."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Return whether the error is an outage, which is suppressed."""
        return cause_of(error) is not None


class OutageLog:
    """Logs the outages of one part: a line when an outage begins, and one with its length when it ends.

    An outage ends with the first success after ``quiet`` seconds without an error. Thread-safe; ``what``
    names the code that detects the outages.
    """

    def __init__(self, what: str, quiet: float = 0.0) -> None:
        self._what, self._quiet = what, quiet
        self._since: float | None = None
        self._last = 0.0
        self._errors = 0
        self._lock = threading.Lock()

    @property
    def lasting(self) -> bool:
        """Whether an outage is in progress."""
        return self._since is not None

    def failed(self, error: BaseException) -> None:
        """Record an error; the first one of an outage is logged."""
        with self._lock:
            self._last = time.monotonic()
            self._errors += 1
            if self._since is not None:
                return
            self._since = self._last
        log.warning("outage began", what=self._what, error=repr(error))

    def succeeded(self) -> None:
        """Record a success; the one that ends an outage is logged with the outage's length in seconds."""
        if self._since is None:  # without the lock: the common case
            return
        with self._lock:
            now, since, errors = time.monotonic(), self._since, self._errors
            if since is None or now - self._last < self._quiet:
                return
            self._since, self._errors = None, 0
        seconds = round((self._last if self._quiet else now) - since, 1)
        log.warning("outage ended", what=self._what, seconds=seconds, errors=errors)


class UnavailableError(RuntimeError):
    """A part has not answered recently, and was not tried again."""


class Breaker(OutageLog):
    """A circuit breaker: during an outage few callers probe the part; the others need not wait."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self._asked = 0.0

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record the outcome of the block: success or an outage."""
        try:
            yield
        except Exception as error:
            if cause_of(error) is not None:
                self.failed(error)
            raise
        self.succeeded()

    def due(self) -> bool:
        """Return whether to try the part: always while it answers, every PROBE_SECONDS during an outage.

        In the first PROBE_SECONDS of an outage it is still tried each time.
        """
        with self._lock:
            now = time.monotonic()
            if self._since is None or now - self._since < PROBE_SECONDS:
                return True
            if now - self._asked < PROBE_SECONDS:
                return False
            self._asked = now
            return True


#: Outages detected by pages, the API and WebSocket commands.
requests = OutageLog("requests", quiet=REQUESTS_QUIET)
