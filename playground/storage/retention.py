"""Retention: expiry dates, and the removal of expired rows.

Each draft, lesson, link, comparison and run is kept until a date (``expires``). Opening it extends the date
to that of a new one, with at most one write a day. An expired row is still served until it is removed, and
opening it still extends it. Shipped examples never expire.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache, reduce
from operator import or_
from typing import Any

from django.db import IntegrityError
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from msgspec import Struct

from playground.limits import limit
from playground.models import (
    UNFINISHED,
    Account,
    AuditEntry,
    AuthoredLesson,
    Comment,
    Comparison,
    ComparisonShare,
    Draft,
    LearnerProgress,
    Link,
    LtiLaunch,
    Recall,
    Room,
    Run,
    Scenario,
    Share,
    Sweep,
    UsedState,
    Worker,
)
from playground.storage import audit, store
from scheduler_core.authoring import examples

EXPIRY_MOST_SECONDS = 120.0  # of one removal; the next one continues
RECALL_HOURS = 1  # after which no page is open any more under a name that its browser exchanged
WORKER_DAYS = 1  # after which a worker without a heartbeat is deleted


class RetentionRule(Struct, frozen=True):
    """The expired rows of one kind, and how many to delete per transaction: a run has thousands of chunks.

    ``order`` is that of an index that finds them; any other order would scan every row.
    """

    kind: str
    expired: Callable[[datetime], QuerySet[Any]]
    order: str
    batch: int
    remove: Callable[[list[Any]], None]


def _delete(model: Any) -> Callable[[list[Any]], None]:
    return lambda keys: model.objects.filter(pk__in=keys).delete()


def _unused(now: datetime) -> QuerySet[Account]:
    """Return the accounts that hold nothing and that nobody signed in to for long."""
    idle = Account.objects.filter(last_login__lt=now - timedelta(days=limit("ACCOUNT_DAYS")))
    held = (
        model.objects.filter(owner=OuterRef("owner"))
        for model in (Share, Link, Draft, Run, Sweep, Room, Comment, ComparisonShare, AuthoredLesson)
    )
    learned = LearnerProgress.objects.filter(account=OuterRef("pk"))
    return idle.exclude(reduce(or_, map(Exists, (*held, learned))))


def _forget(keys: list[Any]) -> None:
    for row in Scenario.objects.filter(pk__in=keys).only("pk"):
        with suppress(IntegrityError):  # shared or run again concurrently: then it is kept
            store.forget_unreferenced(row)


RULES: tuple[RetentionRule, ...] = (
    RetentionRule(
        "drafts", lambda now: Draft.objects.filter(expires__lt=now), "expires", 200, _delete(Draft)
    ),
    RetentionRule(
        "runs",
        lambda now: Run.objects.exclude(state__in=UNFINISHED).filter(expires__lt=now),
        "expires",
        20,
        _delete(Run),
    ),
    RetentionRule(
        "sweeps",
        lambda now: Sweep.objects.exclude(state__in=UNFINISHED).filter(expires__lt=now),
        "expires",
        1,
        _delete(Sweep),
    ),
    RetentionRule(
        "links",
        lambda now: Share.objects.filter(scenario__expires__lt=now),
        "scenario__expires",
        200,
        _delete(Share),
    ),
    RetentionRule(
        "private links", lambda now: Link.objects.filter(expires__lt=now), "expires", 200, _delete(Link)
    ),
    RetentionRule(
        "lessons",
        lambda now: AuthoredLesson.objects.filter(expires__lt=now),
        "expires",
        50,
        _delete(AuthoredLesson),
    ),
    RetentionRule(
        "comparisons",
        lambda now: Comparison.objects.filter(expires__lt=now),
        "expires",
        100,
        _delete(Comparison),
    ),
    RetentionRule(
        "rooms",
        lambda now: Room.objects.filter(expires__lt=now - timedelta(days=limit("ROOM_DAYS"))),
        "expires",
        50,
        _delete(Room),
    ),
    RetentionRule(
        "visitors' audit entries",
        lambda now: AuditEntry.objects.filter(
            audit.OF_VISITORS, created__lt=now - timedelta(days=limit("AUDIT_DAYS"))
        ),
        "created",
        500,
        _delete(AuditEntry),
    ),
    RetentionRule(
        "launches", lambda now: LtiLaunch.objects.filter(expires__lt=now), "expires", 200, _delete(LtiLaunch)
    ),
    RetentionRule(
        "states", lambda now: UsedState.objects.filter(expires__lt=now), "expires", 500, _delete(UsedState)
    ),
    RetentionRule(
        "progress",
        lambda now: LearnerProgress.objects.filter(expires__lt=now),
        "expires",
        200,
        _delete(LearnerProgress),
    ),
    RetentionRule("accounts", _unused, "last_login", 100, _delete(Account)),
    RetentionRule(
        "recalls",
        lambda now: Recall.objects.filter(created__lt=now - timedelta(hours=RECALL_HOURS)),
        "created",
        500,
        _delete(Recall),
    ),
    # In this order: a scenario is deleted with the last share, link, run or comparison that refers to it.
    RetentionRule(
        "scenarios",
        lambda now: Scenario.objects.filter(shares=None, runs=None, links=None, sides=None, sweeps=None),
        "pk",
        50,
        _forget,
    ),
    RetentionRule(
        "workers",
        lambda now: Worker.objects.filter(seen__lt=now - timedelta(days=WORKER_DAYS)),
        "seen",
        200,
        _delete(Worker),
    ),
)


def remove_expired(now: datetime | None = None, most_seconds: float = EXPIRY_MOST_SECONDS) -> dict[str, int]:
    """Delete expired rows in batches of one transaction each; return the number of rows of each kind.

    Stops after ``most_seconds`` (a batch is finished first), so that nothing else waits for it.
    """
    now = now or timezone.now()
    until = time.monotonic() + most_seconds
    keep_shipped(now)
    removed: dict[str, int] = {}
    for rule in RULES:
        removed[rule.kind] = 0
        for keys in _batches(rule, now):
            rule.remove(keys)
            removed[rule.kind] += len(keys)
            if time.monotonic() > until:
                return removed
    return removed


def _batches(rule: RetentionRule, now: datetime) -> Iterable[list[Any]]:
    before: list[Any] = []
    while True:
        keys = list(rule.expired(now).order_by(rule.order).values_list("pk", flat=True)[: rule.batch])
        if not keys or keys == before:  # rows that could not be deleted are left for the next removal
            return
        yield keys
        before = keys


def keep_shipped(now: datetime) -> None:
    """Clear the date of shipped examples that have one because they were stored before links had dates."""
    dated = Scenario.objects.filter(expires__lt=now, shares__owner="")
    if dated.exists():
        dated_keys = list(dated.filter(digest__in=_shipped()).values_list("pk", flat=True))
        Scenario.objects.filter(pk__in=dated_keys).update(expires=None)


@cache
def _shipped() -> list[str]:
    return [store.address_of(example.title, example.read()) for example in examples.examples()]
