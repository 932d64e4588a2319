"""Private links in the database: a shared scenario, shown as its owner saw it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import structlog
from django.db import transaction
from django.utils import timezone
from msgspec import Struct

from playground.limits import limit
from playground.models import Link, Scenario, link_expiry
from playground.storage import audit, quotas, withdrawals
from playground.storage.store import check_withdrawn, clean_title, forget_unreferenced, is_id, opened
from playground.visitors import caller

log = structlog.get_logger(__name__)


class TooManyLinksError(RuntimeError):
    """The visitor has as many private links as allowed."""

    def __init__(self) -> None:
        super().__init__(f"You have {limit('LINKS_PER_OWNER'):,} private links; revoke one first.")


class LinkRequest(Struct, frozen=True):
    """What a visitor asks of a link: title, view, and the days after which it goes; None: unopened."""

    owner: str
    title: str = ""
    query: str = ""
    days: int | None = None


def create_link(asked: LinkRequest, row: Scenario, pinned: dict[str, Any], decisions: bytes) -> Link:
    """Store a link to a scenario. Raises StorageFullError and TooManyLinksError."""
    if Link.objects.filter(owner=asked.owner).count() >= limit("LINKS_PER_OWNER"):
        raise TooManyLinksError
    quotas.check(asked.owner, caller.address(), len(decisions) + quotas.ROW_BYTES)
    until = link_expiry() if asked.days is None else timezone.now() + timedelta(days=asked.days)
    return Link.objects.create(
        scenario=row,
        owner=asked.owner,
        address=caller.address(),
        title=clean_title(asked.title),
        query=asked.query,
        pinned=pinned,
        decisions=decisions,
        packed=len(decisions),
        fixed=asked.days is not None,
        expires=until,
    )


def find_link(name: str) -> Link | None:
    """Return a link that has not expired, without its decisions. Raises GoneError."""
    if len(name) > 32 or not is_id(name):
        return None
    rows = Link.objects.select_related("scenario").defer("decisions", "scenario__content", "scenario__text")
    row = rows.filter(pk=name).first()
    if row is None or (row.fixed and row.expires <= timezone.now()):
        return None
    check_withdrawn(row.scenario)
    if not row.fixed:
        opened(row, link_expiry())
    return row


def links_of(owner: str) -> list[Link]:
    """Return a visitor's private links, newest first."""
    rows = Link.objects.filter(owner=owner).defer("decisions").order_by("-created")
    return list(rows[: limit("LINKS_PER_OWNER")])


def revoke_link(name: str, owner: str) -> bool:
    """Delete a visitor's link; return whether there was one."""
    with transaction.atomic():
        row = Link.objects.filter(pk=name[:32], owner=owner).only("pk", "scenario").first()
        if not owner or row is None:
            return False
        row_id, scenario = row.pk, Scenario.objects.only("pk").get(pk=row.scenario_id)
        row.delete()
        audit.record_visitor("revoke private link", row_id, owner)
        forget_unreferenced(scenario)
        withdrawals.note()
    log.info("a link was revoked", link=name[:32])
    return True
