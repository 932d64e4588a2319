"""Comparisons in the database: both sides as they were, and what comparing them came to."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from typing import Any

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from msgspec import Struct

from playground.limits import limit
from playground.models import (
    SHORT_ID,
    ComparedSide,
    Comparison,
    ComparisonShare,
    Run,
    Scenario,
    link_expiry,
    token_hash,
)
from playground.storage import audit, bundles, quotas, withdrawals
from playground.storage.store import check_withdrawn, extended, forget_unreferenced, is_id, opened
from playground.visitors import caller

log = structlog.get_logger(__name__)

SIDES = ("left", "right")


class TooManyComparisonsError(RuntimeError):
    """The visitor shares as many comparisons as allowed."""

    def __init__(self) -> None:
        most = limit("COMPARISONS_PER_OWNER")
        super().__init__(f"You have {most:,} comparisons; delete one first, in What you have stored.")


class KeptSide(Struct, frozen=True):
    """A side as it is stored: the scenario, its release, and the run that computed it, if one did.

    ``scheduler`` is the release that the scenario is put under, "" for the one that its text names.
    """

    scenario: Scenario
    release: str
    run: Run | None = None
    scheduler: str = ""

    @property
    def identity(self) -> list[str]:
        """What makes it another side."""
        return [self.scenario.digest, self.release, self.run.pk if self.run is not None else ""]


class SharedComparison(Struct, frozen=True):
    """The result of sharing: the comparison and the only copy of the delete token."""

    comparison: Comparison
    delete_token: str


def address_of(sides: tuple[KeptSide, KeptSide]) -> str:
    """Return the digest of a comparison: base64url SHA-256 of its sides."""
    named = json.dumps([side.identity for side in sides], separators=(",", ":"))
    return base64.urlsafe_b64encode(hashlib.sha256(named.encode()).digest()).decode().rstrip("=")


def share(sides: tuple[KeptSide, KeptSide], answer: bytes, owner: str) -> SharedComparison:
    """Store a comparison, or share one that is stored; ``answer`` is its JSON.

    Raises StorageFullError, TooManyComparisonsError, and GoneError for one that was taken down.
    """
    token = secrets.token_urlsafe(24)
    for last in (False, True):
        try:
            with transaction.atomic():
                row = _kept(sides, answer, owner)
                ComparisonShare.objects.create(
                    comparison=row, token=token_hash(token), owner=owner, address=caller.address()
                )
                extended(row, link_expiry())
            return SharedComparison(row, token)
        except IntegrityError:  # its last other share was concurrently removed, and the row with it
            if last:
                raise
    raise AssertionError("unreachable")


def _kept(sides: tuple[KeptSide, KeptSide], answer: bytes, owner: str) -> Comparison:
    """Return the row of a comparison, within the owner's limits."""
    digest = address_of(sides)
    row = Comparison.objects.filter(digest=digest).defer("answer").first()
    mine = ComparisonShare.objects.filter(owner=owner)
    again = row is not None and mine.filter(comparison=row).exists()
    if not again and comparisons_of(owner).count() >= limit("COMPARISONS_PER_OWNER"):
        raise TooManyComparisonsError
    if row is not None:
        check_withdrawn(row)
        quotas.check(owner, caller.address(), quotas.ROW_BYTES)
        return row
    packed = bundles.pack(answer)
    quotas.check(owner, caller.address(), len(packed) + 2 * quotas.ROW_BYTES)
    return _stored(digest, sides, packed)


def _stored(digest: str, sides: tuple[KeptSide, KeptSide], packed: bytes) -> Comparison:
    titles = dict.fromkeys(side.scenario.title or "Untitled" for side in sides)
    for length in range(SHORT_ID, len(digest) + 1):
        short = digest[:length]
        if Comparison.objects.filter(short=short).exclude(digest=digest).exists():
            continue
        fields = {"short": short, "title": " and ".join(titles), "answer": packed, "packed": len(packed)}
        try:
            with transaction.atomic():
                row, made = Comparison.objects.get_or_create(digest=digest, defaults=fields)
                if made:
                    _add_sides(row, sides)
            return row
        except IntegrityError:
            continue  # another comparison was stored under this short id concurrently
    raise RuntimeError("no free short id: the whole digest is taken")


def _add_sides(row: Comparison, sides: tuple[KeptSide, KeptSide]) -> None:
    ComparedSide.objects.bulk_create(
        ComparedSide(
            comparison=row,
            name=name,
            scenario=side.scenario,
            run=side.run,
            release=side.release,
            scheduler=side.scheduler,
        )
        for name, side in zip(SIDES, sides)
    )


def _visible() -> QuerySet[Comparison]:
    return Comparison.objects.filter(Exists(ComparisonShare.objects.filter(comparison=OuterRef("pk"))))


def find(short: str) -> Comparison | None:
    """Return the shared comparison whose digest begins with ``short``, with its answer. Raises GoneError."""
    row = _found(short, _visible())
    if row is not None:
        for side in sides_of(row):
            check_withdrawn(side.scenario)
        opened(row, link_expiry())
    return row


def _found(short: str, rows: QuerySet[Comparison]) -> Comparison | None:
    if not SHORT_ID <= len(short) <= 43 or not is_id(short):
        return None
    beginnings = [short[:length] for length in range(SHORT_ID, len(short) + 1)]
    row = next((row for row in rows.filter(short__in=beginnings) if row.digest.startswith(short)), None)
    if row is not None:
        check_withdrawn(row)
    return row


def sides_of(row: Comparison) -> list[ComparedSide]:
    """Return both sides, the left one first, with scenario and run but without their contents."""
    rows = ComparedSide.objects.filter(comparison=row).select_related("scenario", "run")
    return list(
        rows.defer("scenario__content", "scenario__text", "run__samples", "run__unplaced").order_by("name")
    )


def find_side(name: str) -> ComparedSide | None:
    """Return the side that ``<short>-left`` or ``<short>-right`` names. Raises GoneError."""
    short, _, side = name.rpartition("-")
    row = _found(short, _visible().defer("answer")) if side in SIDES else None
    if row is None:
        return None
    found = next((one for one in sides_of(row) if one.name == side), None)
    if found is not None:
        check_withdrawn(found.scenario)
        opened(row, link_expiry())
    return found


def answer_of(row: Comparison) -> dict[str, Any]:
    """Return what was stored as the result of comparing."""
    return dict(json.loads(bundles.unpack(bytes(row.answer))))


def comparisons_of(owner: str) -> QuerySet[Comparison]:
    """Return the comparisons that a visitor shares, without their answers."""
    mine = ComparisonShare.objects.filter(owner=owner, comparison=OuterRef("pk"))
    return Comparison.objects.filter(Exists(mine)).defer("answer")


def unshare(row: Comparison, token: str) -> bool:
    """Delete the share that ``token`` belongs to; return whether it was one of this comparison."""
    return _unshared(row, ComparisonShare.objects.filter(comparison=row, token=token_hash(token)), "")


def unshare_all(short: str, owner: str) -> bool:
    """Delete an owner's shares of a comparison; return whether there was one."""
    row = comparisons_of(owner).filter(short=short[:43]).first() if owner else None
    return row is not None and _unshared(
        row, ComparisonShare.objects.filter(comparison=row, owner=owner), owner
    )


def _unshared(row: Comparison, shares: QuerySet[ComparisonShare], owner: str) -> bool:
    with transaction.atomic():
        removed, _ = shares.delete()
        if not removed:
            return False
        audit.record_visitor("delete comparison", row.short, owner, "" if owner else "by its delete token")
        withdrawals.note()
        if not ComparisonShare.objects.filter(comparison=row).exists():
            _forget(row)
    log.info("a comparison was unshared", comparison=row.short)
    return True


def _forget(row: Comparison) -> None:
    """Delete a comparison, and the scenarios that nothing else refers to."""
    scenarios = [side.scenario for side in sides_of(row)]
    row.delete()
    for scenario in scenarios:
        forget_unreferenced(scenario)
