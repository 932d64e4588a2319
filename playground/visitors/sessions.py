"""Sessions of accounts that were signed out: cookies that name one are worth nothing, copies included.

The cookie that signing in sets names the account's owner, and a session of this browser's own. The ended ones
are kept in memory; every process reloads them after :data:`REFRESH_SECONDS`. If the database is unavailable,
the last list stays in force.
"""

from __future__ import annotations

import secrets
import threading
import time

import structlog

from playground.models import Account, EndedSession

log = structlog.get_logger(__name__)

REFRESH_SECONDS = 4.0  # less than the grace of recalls: a page connected with an ended session is recalled
MOST = 100  # of one account; for more its owner's name is exchanged

_reading = threading.Lock()
_ended_here: set[str] = set()  # since the last reload began: it may not contain them
_ended: frozenset[str] = frozenset()
_read_at = float("-inf")


def new() -> str:
    """Return a random name for a session."""
    return secrets.token_urlsafe(9)


def stale() -> bool:
    """Return whether the list needs to be reloaded."""
    return time.monotonic() - _read_at > REFRESH_SECONDS


def read() -> None:
    """Reload the list. Must not be called in the event loop."""
    global _ended, _read_at  # noqa: PLW0603 - the process has one list
    if not _reading.acquire(blocking=False):
        return  # another thread is reloading it; until then the old list is good enough
    try:
        _read_at = time.monotonic()
        _ended_here.clear()
        read = frozenset(EndedSession.objects.values_list("session", flat=True))
        _ended = read | _ended_here
    except Exception as error:
        log.warning("ended sessions were not read", error=repr(error))
    finally:
        _reading.release()


def refresh() -> None:
    """Reload the list if it is stale. Must not be called in the event loop."""
    if stale():
        read()


def is_ended(session: str) -> bool:
    """Return whether a session was signed out, by the list as last loaded."""
    return session in _ended


def end(account: Account, session: str) -> bool:
    """End a session of an account; return whether there was room to note it."""
    global _ended  # noqa: PLW0603 - the process has one list
    if EndedSession.objects.filter(account=account).count() >= MOST:
        return False
    EndedSession.objects.get_or_create(session=session, defaults={"account": account})
    _ended_here.add(session)
    _ended |= {session}
    return True
