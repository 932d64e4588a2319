"""Addresses and owners whose requests are refused before any work is done for them.

The list is short and is kept in memory; every process reloads it after :data:`REFRESH_SECONDS`. If the
database is unavailable, the last list stays in force.
"""

from __future__ import annotations

import threading
import time
from datetime import datetime

import structlog
from django.utils import timezone

from playground.models import Ban

log = structlog.get_logger(__name__)

REFRESH_SECONDS = 5.0
MOST = 10_000  # newest first; for more, use a firewall
MESSAGE = "The operator of this site has blocked requests from your address."

_reading = threading.Lock()
_banned: dict[str, datetime | None] = {}
_read_at = float("-inf")


def stale() -> bool:
    """Return whether the list needs to be reloaded."""
    return time.monotonic() - _read_at > REFRESH_SECONDS


def read() -> None:
    """Reload the list. Must not be called in the event loop."""
    global _banned, _read_at  # noqa: PLW0603 - the process has one list
    if not _reading.acquire(blocking=False):
        return  # another thread is reloading it; until then the old list is good enough
    try:
        _read_at = time.monotonic()
        _banned = dict(Ban.objects.order_by("-created").values_list("subject", "until")[:MOST])
    except Exception as error:
        log.warning("bans were not read", error=repr(error))
    finally:
        _reading.release()


def known(*subjects: str) -> bool:
    """Return whether one of these addresses or owners is banned by the list as last loaded."""
    if not _banned:
        return False
    now = timezone.now()
    return any(
        subject in _banned and ((until := _banned[subject]) is None or until > now) for subject in subjects
    )


def refused(*subjects: str) -> bool:
    """Return whether one of these addresses or owners is banned. Must not be called in the event loop."""
    if stale():
        read()
    return known(*subjects)
