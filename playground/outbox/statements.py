"""xAPI statements for the operator's record store (LRS): a bounded queue, sent in batches by a worker.

A batch that the store refuses is sent statement by statement: one that it does not take holds up no other.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from urllib.parse import unquote, urlsplit

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from playground.limits import limit
from playground.models import WaitingStatement
from playground.outbox.announcements import announce
from playground.outbox.xapi import Statement

log = structlog.get_logger(__name__)

VERSION = "1.0.3"
BATCH = 50  # statements of one request
MOST_BATCHES = 10  # of one look
MOST_ALONE = 10  # requests with one statement, of one look
MOST_SECONDS = 30.0  # of one look
MOST_AT_ONCE = 2_000  # statements of one reveal
CLAIM_SECONDS = 180
WAIT_SECONDS, LONGEST_WAIT = 60, 6 * 3600
REFUSALS = frozenset({400, 409, 413})  # of what is sent, not of who sends it


def wanted() -> bool:
    """Return whether the operator has a record store."""
    return bool(settings.LRS)


def home() -> str:
    """Return the address by which statements name this server."""
    return str(settings.LRS_HOME)


def waiting() -> int:
    """Return how many statements wait to be sent."""
    return WaitingStatement.objects.count()


def put(found: Iterable[Statement]) -> None:
    """Have statements sent, as long as there is room for them."""
    kept = list(islice(found, MOST_AT_ONCE))
    if not wanted() or not kept:
        return
    room = max(0, limit("LRS_QUEUED") - waiting())
    if len(kept) > room:
        log.error("statements were dropped: the record store takes none", dropped=len(kept) - room)
    rows = [WaitingStatement(id=one["id"], statement=one) for one in kept[:room]]
    with transaction.atomic():
        WaitingStatement.objects.bulk_create(rows, ignore_conflicts=True, batch_size=200)
        announce()


def deliver(now: datetime | None = None) -> int:
    """Send what is due, for some seconds; return how many statements the store took."""
    if not wanted():
        return 0
    now = now or timezone.now()
    until, taken = time.monotonic() + MOST_SECONDS, 0
    for size, batches, alone in ((BATCH, MOST_BATCHES, False), (1, MOST_ALONE, True)):
        for _ in range(batches):
            rows = _claimed(now, size, alone)
            if not rows or time.monotonic() > until:
                break
            if not _sent(rows):
                break
            taken += len(rows)
    return taken


def _claimed(now: datetime, size: int, alone: bool) -> list[WaitingStatement]:
    """Return rows that are due, for which no other worker comes while this one sends them."""
    with transaction.atomic():
        due = WaitingStatement.objects.select_for_update(skip_locked=_skips()).filter(
            due__lte=now, alone=alone
        )
        rows = list(due.order_by("due")[:size])
        held = now + timedelta(seconds=CLAIM_SECONDS)
        WaitingStatement.objects.filter(pk__in=[one.pk for one in rows]).update(due=held)
    return rows


def _skips() -> bool:
    from django.db import connection

    return connection.features.has_select_for_update_skip_locked


def _sent(rows: list[WaitingStatement]) -> bool:
    """Send rows; return whether the following ones may be sent too."""
    mine = WaitingStatement.objects.filter(pk__in=[one.pk for one in rows])
    try:
        status, said = _post([one.statement for one in rows])
    except Exception as error:  # of requests, or of its answer
        status, said = 0, repr(error)[:300]
    if 200 <= status < 300:
        mine.delete()
        return True
    if status in REFUSALS:
        if len(rows) > 1:
            mine.update(alone=True, due=timezone.now())
        else:
            log.warning(
                "the record store refused a statement", statement=rows[0].pk, status=status, said=said
            )
            mine.delete()
        return True
    tries = 1 + max(one.tries for one in rows)
    log.warning("the record store took no statements", status=status, said=said, tries=tries)
    wait = min(WAIT_SECONDS * 2 ** (tries - 1), LONGEST_WAIT)
    mine.update(tries=F("tries") + 1, due=timezone.now() + timedelta(seconds=wait))
    dropped, _ = mine.filter(tries__gte=limit("LRS_TRIES")).delete()
    if dropped:
        log.error("statements were dropped after the last try", dropped=dropped)
    return False


def _post(found: list[Statement]) -> tuple[int, str]:
    from playground.runtime.outbound import BoundedSession

    parts = urlsplit(settings.LRS)
    address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}/statements"
    session = BoundedSession(lambda url: url == address, "")
    answer = session.post(
        address,
        data=json.dumps(found),
        headers={"Content-Type": "application/json", "X-Experience-API-Version": VERSION},
        auth=(unquote(parts.username or ""), unquote(parts.password or "")),
    )
    return answer.status_code, answer.text[:300]
