"""Storage quotas: per owner, per address, and in total.

Bytes are counted compressed, as stored in the rows, in sums over an index. A row costs :data:`ROW_BYTES` in
addition to its contents, so that very many very small rows are limited too. Two concurrent requests may both
be admitted when there is room for only one: a quota is exceeded by that much at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import Any

import structlog
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from msgspec import Struct

from playground.limits import limit
from playground.models import (
    AuthoredLesson,
    ComparedSide,
    Comparison,
    ComparisonShare,
    Draft,
    LearnerProgress,
    Link,
    Run,
    Scenario,
    Share,
    Sweep,
)
from playground.protocol.page import StoredItemWire, StoredKind
from playground.visitors.identity import AT_ADDRESS

log = structlog.get_logger(__name__)

ROW_BYTES = 1024  # overhead of a row besides its contents: columns, indexes
TOTAL_SECONDS = 5  # for which the total is cached, in the cache shared by all web processes
TOTAL_KEY = "storage:total"
LARGEST = 3  # rows named when an owner's quota is exhausted
TITLE_SHOWN = 60
HOLDER = "<holder>"  # stands for an owner or an address in a query that is composed once


class StorageQuota(Struct, frozen=True):
    """A quota of stored bytes: the limit, the HTTP status when it is exceeded, and the message."""

    limit: str
    status: int
    text: str


OWNER = StorageQuota(
    "STORAGE_PER_OWNER",
    413,
    "What you have stored takes {used} of {allowed}, and this needs {needed} more. Delete {what}.",
)
ADDRESS = StorageQuota(
    "STORAGE_PER_ADDRESS",
    413,
    "What was stored from your address takes {used} of {allowed}, and this needs {needed} more. "
    "Delete drafts, links or runs that you no longer need.",
)
TOTAL = StorageQuota(
    "STORAGE_TOTAL",
    507,
    "The server has stored {used} of {allowed}, its limit, and this needs {needed} more. "
    "Delete drafts, links or runs that you no longer need, or try again later: what has expired is removed "
    "regularly.",
)


class StorageFullError(RuntimeError):
    """A quota is exceeded; the text says what is used, what is allowed, and what to delete."""

    def __init__(
        self, quota: StorageQuota, used: int, needed: int, largest: Sequence[StoredItemWire] = ()
    ) -> None:
        allowed = limit(quota.limit)
        names = [f"{row['kind']} “{row['title'] or row['id']}” ({mib(row['bytes'])})" for row in largest]
        what = f"the largest first: {', '.join(names)}" if names else "what you no longer need"
        self.status = quota.status
        self.wire: dict[str, Any] = {
            "used": used,
            "allowed": allowed,
            "needed": needed,
            "largest": list(largest),
        }
        super().__init__(
            quota.text.format(used=mib(used), allowed=mib(allowed), needed=mib(needed), what=what)
        )


def mib(count: int) -> str:
    """Return a byte count in human-readable form: ``12.3 MiB``."""
    return f"{count / 2**20:,.1f} MiB" if count >= 2**20 // 10 else f"{max(1, count // 1024):,} KiB"


def _comparisons(holder: Q) -> QuerySet[Comparison]:
    """Return the distinct comparisons that are shared by those who match ``holder``."""
    shares = ComparisonShare.objects.filter(holder, comparison=OuterRef("pk"))
    return Comparison.objects.filter(Exists(shares))


def _scenarios(holder: Q) -> QuerySet[Scenario]:
    """Return the distinct scenarios referenced by what matches ``holder``."""
    referring = (model.objects.filter(holder, scenario=OuterRef("pk")) for model in (Share, Run, Sweep, Link))
    sides = ComparedSide.objects.filter(comparison__in=_comparisons(holder), scenario=OuterRef("pk"))
    return Scenario.objects.filter(reduce(or_, map(Exists, (*referring, sides))))


@lru_cache
def _statement(vendor: str, column: str) -> tuple[str, tuple[Any, ...]]:
    """Return the query of the bytes whose ``column`` is `HOLDER`, or of all bytes, and its parameters.

    Django takes 10 ms to compose it and the database 0.1 ms to answer it, so it is composed once. Indexes
    cover each part: no contents are read.
    """
    holder = Q(**{column: HOLDER}) if column else Q()
    of_all: tuple[QuerySet[Any], ...] = (Comparison.objects.all(), Scenario.objects.all())
    kept: list[QuerySet[Any]] = [model.objects.filter(holder) for model in (Draft, Run, Link, AuthoredLesson)]
    kept += (_comparisons(holder), _scenarios(holder)) if column else of_all
    if column != "address":  # an account's progress is of no address
        kept.append(LearnerProgress.objects.filter(**{f"account__{column}": HOLDER} if column else {}))
    parts: list[QuerySet[Any, Any]] = [rows.values_list("packed") for rows in kept]
    parts += [model.objects.filter(holder).values_list(Value(0)) for model in (Share, ComparisonShare)]
    sql, parameters = parts[0].union(*parts[1:], all=True).query.sql_with_params()
    return f"SELECT COALESCE(SUM(packed), 0) + {ROW_BYTES} * COUNT(*) FROM ({sql}) AS kept", parameters  # noqa: S608


def _used(column: str = "", holder: str = "") -> int:
    """Return the bytes that are stored by who has ``holder`` in a column; without a column, all bytes."""
    sql, parameters = _statement(connection.vendor, column)
    with connection.cursor() as cursor:
        cursor.execute(sql, [holder if one == HOLDER else one for one in parameters])
        return int(cursor.fetchone()[0])


def used_by_owner(owner: str) -> int:
    """Return the bytes that an owner's drafts, lessons, links, comparisons, runs and progress take."""
    return _used("owner", owner)


def used_from_address(address: str) -> int:
    """Return the bytes that were stored from an address, regardless of their owners."""
    return _used("address", address)


def used_in_total() -> int:
    """Return the bytes that are stored in total."""
    return _used()


def check(owner: str, address: str, needed: int) -> None:
    """Raise StorageFullError if another ``needed`` bytes, compressed, would exceed a quota.

    A change that takes no more space than before is always admitted. An empty owner (``""``: shipped
    examples, and what a management command stores) is limited only by the total.
    """
    if needed <= 0:
        return
    if owner and (used := used_by_owner(owner)) + needed > limit(OWNER.limit):
        # Users who share an address may not see what others there have stored.
        named = () if owner.startswith(AT_ADDRESS) else largest(owner)
        raise StorageFullError(OWNER, used, needed, named)
    if address and (used := used_from_address(address)) + needed > limit(ADDRESS.limit):
        raise StorageFullError(ADDRESS, used, needed)
    if (used := _total()) + needed > limit(TOTAL.limit):
        raise StorageFullError(TOTAL, used, needed)


def _total() -> int:
    """Return the total, at most a few seconds old; an unavailable cache only makes this slower."""
    try:
        return int(cache.get_or_set(TOTAL_KEY, used_in_total, TOTAL_SECONDS) or 0)
    except DatabaseError:
        raise
    except Exception as error:
        log.warning("the cache does not answer; the total is counted again", error=repr(error))
        return used_in_total()


def largest(owner: str) -> list[StoredItemWire]:
    """Return the largest rows of an owner."""
    mine = Q(owner=owner)
    shared = Share.objects.filter(mine, scenario=OuterRef("pk"))
    kinds: tuple[tuple[StoredKind, str, QuerySet[Any]], ...] = (
        ("draft", "pk", Draft.objects.filter(mine)),
        ("lesson", "pk", AuthoredLesson.objects.filter(mine)),
        ("link", "short", Scenario.objects.filter(Exists(shared))),
        ("comparison", "short", _comparisons(mine)),
        ("run", "pk", Run.objects.filter(mine)),
    )
    found = [
        StoredItemWire(kind=kind, id=name, title=title[:TITLE_SHOWN], bytes=packed)
        for kind, key, rows in kinds
        for name, title, packed in rows.order_by("-packed").values_list(key, "title", "packed")[:LARGEST]
    ]
    return sorted(found, key=lambda row: -row["bytes"])[:LARGEST]
