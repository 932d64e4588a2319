"""Recalls: the open pages of a browser whose cookie was exchanged have to reconnect with the new one.

A WebSocket keeps the visitor that it was opened by. Whatever exchanges a cookie (signing in and out, another
password) writes a row; each web process reads the rows (:mod:`playground.live.closures`) and closes the
WebSockets of that name. The pages connect again by themselves, in every browser with the cookie it has then.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from playground.models import Recall

GRACE = timedelta(seconds=5)  # in which the answer with the new cookie has reached the browser
WINDOW = timedelta(seconds=30)  # in which processes look at a row


def note(visitor: str, claimed_by: str = "") -> None:
    """Recall the pages of a visitor; ``claimed_by``: an owner who gets what they store meanwhile.

    A row of a moment ago serves for another one, however often a form is sent.
    """
    since = timezone.now() - GRACE / 2
    if not Recall.objects.filter(visitor=visitor, owner=claimed_by, created__gt=since).exists():
        Recall.objects.create(visitor=visitor, owner=claimed_by)


def hand_over(previous: str, new: str) -> None:
    """Let what is still to be claimed for an owner go to the owner's new name."""
    Recall.objects.filter(owner=previous).update(owner=new)


def _rows() -> QuerySet[Recall]:
    return Recall.objects.filter(created__gt=timezone.now() - WINDOW)


def recent() -> list[Recall]:
    """Return the rows that processes have to look at, oldest first."""
    return list(_rows().order_by("created"))


def of_owner(owner: str = "") -> list[Recall]:
    """Return the rows by which an owner, or any, may have something to claim still."""
    found = Recall.objects.exclude(owner="")
    return list(found.filter(owner=owner) if owner else found)


def concerns(row: Recall, opened: datetime) -> bool:
    """Return whether a page connected before its browser had the new cookie."""
    return opened < row.created + GRACE


def is_recalled(visitor: str, opened: datetime) -> bool:
    """Return whether a visitor's WebSocket, opened at that time, has to be opened again."""
    return any(concerns(row, opened) for row in _rows().filter(visitor=visitor))
