"""An account's progress with the lessons: what each of its browsers adds, and what they all have.

A browser keeps its own copy (static/js/lesson/progress.ts), sends what it has changed, and gets the rest if
another one has changed something. The row is of the account, so it goes with it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from django.db import transaction
from msgspec import Struct

from playground.lessons import progress
from playground.lessons.progress import Learned
from playground.limits import limit
from playground.models import Account, LearnerProgress, progress_expiry
from playground.storage import bundles, quotas
from playground.storage.store import EXTENDED_AGAIN

TAG = 12  # characters


class AccountProgress(Struct, frozen=True):
    """The revision that an account has now, and its progress if a browser has another one."""

    revision: int
    progress: Learned | None


def tag(account: Account) -> str:
    """Return the name by which a browser tells the copies of accounts apart; it opens nothing."""
    return sha256(f"{account.pk}/{account.created.isoformat()}".encode()).hexdigest()[:TAG]


def shown(account: Account | None) -> dict[str, Any] | None:
    """Return what a page tells its browser of an account's progress; None for who is not signed in."""
    if account is None:
        return None
    found = LearnerProgress.objects.filter(pk=account.pk).values_list("revision", flat=True).first()
    return {"account": tag(account), "revision": found or 0}


def lessons_of(account: Account) -> int:
    """Return how many lessons an account has progress in."""
    return LearnerProgress.objects.filter(pk=account.pk).values_list("lessons", flat=True).first() or 0


def added(account: Account, given: Learned, revision: int) -> AccountProgress:
    """Add what a browser that has ``revision`` has changed. Raises ProgressSizeError and StorageFullError."""
    with transaction.atomic():
        Account.objects.select_for_update().get(pk=account.pk)  # one browser after the other
        row = LearnerProgress.objects.filter(pk=account.pk).first() or LearnerProgress(account=account)
        known = progress.unpacked(bundles.unpack(row.content)) if row.content else Learned()
        both, before = progress.merged(known, given), row.revision
        if both != known:
            _keep(row, account, both)
        elif row.expires < progress_expiry() - EXTENDED_AGAIN:
            LearnerProgress.objects.filter(pk=row.pk).update(expires=progress_expiry())
    return AccountProgress(row.revision, both if revision != before else None)


def _keep(row: LearnerProgress, account: Account, both: Learned) -> None:
    row.content = bundles.pack(progress.packed(both, limit("PROGRESS_BYTES")))
    size, row.packed = row.packed, len(row.content)
    quotas.check(account.owner, "", row.packed - size)
    row.lessons, row.revision, row.expires = len(both.lessons), row.revision + 1, progress_expiry()
    row.save()
