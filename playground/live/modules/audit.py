"""``audit.…``: what a cluster answers to its operators, row by row; how many of a pod fit; a row's branch."""

from __future__ import annotations

from typing import Any

from playground.calls.requests import Fields, Index, OfSource, Source, Text
from playground.comparisons import audits, questions
from playground.edits import audit_branches, branches
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.live.kept import answer_of
from playground.live.refusals import refusals
from playground.models import Draft
from playground.playback import sources
from playground.playback.executor import in_storage
from playground.protocol.answers import TitledDraftWire
from playground.protocol.audit import AuditRowWire, AuditWire
from scheduler_core.studies.audit.row import Opening


class AuditGet(audits.AuditRequest, kw_only=True):
    source: Source


@command("audit.get", AuditGet, answers=AuditWire, latest=1)
async def get(call: Call[AuditGet]) -> Answer:
    """Return all rows; each is pushed as ``audit.row`` as soon as it is known."""

    def hear(row: dict[str, Any]) -> None:
        call.connection.push("audit.row", {"request": call.request, "row": row})

    asked = audits.question_of(call.found().pinned(), call.payload)
    return await answer_of(call, asked, audits.computed, hear)


class AuditCapacity(OfSource):
    text: Text
    replicas: Index | None = None


@command("audit.capacity", AuditCapacity, answers=AuditRowWire, latest=1, large=True)
async def capacity(call: Call[AuditCapacity]) -> Answer:
    """Return how many of a pod fit, whose manifest is given, and which nodes to add for ``replicas``."""
    replicas = min(call.payload.replicas or 0, audits.MOST_REPLICAS)
    stored = await in_storage(call.found().pinned().stored)
    return await call.in_pool(
        audits.counted, stored, call.payload.text, replicas, long=True, expects=questions.SECONDS
    )


class AuditBranch(OfSource):
    opens: Fields
    title: Text | None = None


@command("audit.branch", AuditBranch, answers=TitledDraftWire, visitor=True, throttle="IMPORTS_PER_MINUTE")
async def branch(call: Call[AuditBranch]) -> Answer:
    """Store what a row describes as a draft of the visitor."""
    try:
        opening = audit_branches.opening_of(call.payload.opens)
        draft = await call.in_engine(_opened, call.found(), call.visitor, opening, call.payload.title or "")
    except branches.TooManyDraftsError as error:
        raise CommandError("branch.full", str(error)) from error
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/", "title": draft.title}


def _opened(source: sources.Source, visitor: str, opening: Opening, title: str) -> Draft:
    with refusals():
        return audit_branches.opened(source, visitor, opening, title)
