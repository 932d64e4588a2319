"""Passwords: checked by Django's hashers, few at a time, and a change of one signs out elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from playground.accounts import ownership
from playground.models import Account

AT_ONCE = 2  # hashes of a process: each takes a core for some tenths of a second
WAIT_SECONDS = 10.0

_hashing = threading.BoundedSemaphore(AT_ONCE)


class CrowdedError(RuntimeError):
    """Too many passwords are being checked."""

    def __init__(self) -> None:
        super().__init__("Too many people are signing in at this moment. Try again in a few seconds.")


@contextmanager
def hashing() -> Iterator[None]:
    """Wait for one of the places in which this process hashes. Raises CrowdedError."""
    if not _hashing.acquire(timeout=WAIT_SECONDS):
        raise CrowdedError
    try:
        yield
    finally:
        _hashing.release()


class SignsOutElsewhere:
    """The row of ``AUTH_PASSWORD_VALIDATORS`` that hears of every changed password.

    Django calls it for a change by ``manage.py changepassword`` as for one on the page.
    """

    def validate(self, password: str, user: Account | None = None) -> None:
        """Accept any password: the rows before this one judge."""

    def get_help_text(self) -> str:
        """Return nothing that one has to know when choosing a password."""
        return ""

    def password_changed(self, password: str, user: Account | None = None) -> None:
        """Give the account another owner: cookies with the previous one own nothing any more."""
        if user is not None and user.owner:
            ownership.rotate(user)
