"""Calls about drafts: the owner's token allows reading, changing, sharing and deleting them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_etags
from msgspec import UNSET, UnsetType

from playground.api.answers import ApiError, answer
from playground.api.bodies import body_of, files_of
from playground.api.lookups import leaving_out, shared_answer
from playground.api.payloads import drafts as payloads
from playground.api.payloads.payload import sent
from playground.api.payloads.problems import Errors
from playground.api.payloads.scenarios import Created
from playground.api.route import (
    BUSY,
    ERRORS,
    FULL,
    KEEP,
    OWN,
    OWNER,
    STALE,
    TEXT,
    TITLE,
    UNREAD,
    WITHOUT,
    route,
)
from playground.limits import limit
from playground.models import Draft
from playground.pool.read_slots import reading
from playground.storage import bundles, privacy, store, texts
from playground.visitors import identity
from playground.visitors.throttle import token_of
from scheduler_core.kubernetes.problems import BundleError, Problem

GONE = "You have no such draft; it may have been deleted."
_TAG = re.compile(r'"[0-9]{1,9}"')
_STALE = "The draft has changed and is now at revision {revision}. Read it again and reapply the edit."


def _owner(request: HttpRequest) -> str:
    """Return the owner whose token was sent with a request. Raises ApiError without a valid token."""
    owner = identity.verify(token_of(request))
    if not owner:
        message = "Send the token returned when a draft was created, as `Authorization: Bearer <token>`."
        raise ApiError(401, message, {"WWW-Authenticate": "Bearer"})
    return owner


def _draft(request: HttpRequest, name: str) -> Draft:
    """Return a draft of the caller. Raises ApiError; drafts of others are reported as not found."""
    owner = _owner(request)
    row = store.find_draft(name, owner)
    if row is None:
        raise ApiError(404, GONE)
    return row


def _etag(row: Draft) -> str:
    return f'"{row.revision}"'


def _base(request: HttpRequest, row: Draft) -> int | None:
    """Return the revision that If-Match names; None, meaning the newest, without the header.

    Raises ApiError if it names no revision that this draft ever had.
    """
    tags = parse_etags(request.headers.get("If-Match", ""))
    if not tags or "*" in tags:
        return None
    known = [int(tag[1:-1]) for tag in tags if _TAG.fullmatch(tag) and int(tag[1:-1]) <= row.revision]
    if not known:
        raise _stale(row)
    return max(known)


def _stale(row: Draft) -> ApiError:
    return ApiError(412, _STALE.format(revision=row.revision), {"ETag": _etag(row)})


@contextmanager
def _reading() -> Iterator[None]:
    """Wait for a turn to read a bundle. Raises ApiError for its errors."""
    with _refusing(), reading():
        yield


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except BundleError as error:
        raise ApiError(422, bundles.problems_wire(error.problems)) from error
    except bundles.TooLargeError as error:
        raise ApiError(413, str(error)) from error


def _payload(
    request: HttpRequest, row: Draft, kind: type[payloads.Draft] = payloads.Draft, **more: Any
) -> payloads.Draft:
    return kind(
        id=row.pk,
        url=request.build_absolute_uri(f"/p/{row.pk}/"),
        title=row.title,
        revision=row.revision,
        bytes=row.size,
        based_on=row.based_on or None,
        parent=row.parent or None,
        step=row.branched_at or None,
        created=row.created.isoformat(),
        updated=row.updated.isoformat(),
        expires=row.expires.isoformat(),
        **more,
    )


@route(
    "POST",
    "/api/drafts",
    "Create a draft from a bundle; with the token of another draft, for the same owner",
    {
        201: ("Created; keep the token, which gives access to the owner's drafts", payloads.NewDraft),
        401: ("Not a valid token", Errors),
        **UNREAD,
    },
    query=(*TITLE, *KEEP),
    body=TEXT,
)
def create_draft(request: HttpRequest) -> HttpResponse:
    """Create a draft of a valid bundle; without a token, for a new owner."""
    owner = _owner(request) if token_of(request) else identity.new_visitor()
    with _refusing():
        files, title = files_of(request)
    with _reading():
        bundles.parse(files)
        left = privacy.Contents()
        if not _keeps(request):
            files, left = privacy.private(files)
        scenario = bundles.parse(files, store.clean_title(title))
    row = store.create_draft(owner, texts.stored(files, scenario), title)
    body = _payload(
        request,
        row,
        payloads.NewDraft,
        token=token_of(request) or identity.sign(owner),
        warnings=bundles.problems_wire(scenario.warnings),
        summary=dict(scenario.summary or {}),
        left_out=payloads.LeftOut(**left.private()),
    )
    return answer(body, 201, Location=f"/api/drafts/{row.pk}", Cache_Control="no-store", ETag=_etag(row))


@route(
    "GET",
    "/api/drafts",
    "List the owner's drafts, last changed first",
    {200: ("The drafts, without their text", payloads.Drafts), 401: OWN[401], 429: ERRORS[429]},
    token=OWNER,
)
def list_drafts(request: HttpRequest) -> HttpResponse:
    """Answer the caller's drafts, most recently changed first."""
    rows = Draft.objects.filter(owner=_owner(request)).defer("files").order_by("-updated")
    shown = rows[: limit("DRAFTS_PER_OWNER")]
    return answer(payloads.Drafts(drafts=[_payload(request, row) for row in shown]), Cache_Control="no-store")


@route(
    "GET",
    "/api/drafts/{name}",
    "Get a draft with its last saved text",
    {
        200: ("The draft", payloads.Draft),
        422: ("Several files that cannot be combined into one", Errors),
        **OWN,
        **BUSY,
    },
    token=OWNER,
)
def get_draft(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a draft with its text as last saved."""
    row = _draft(request, name)
    with _reading():
        text = store.draft_text(row)
    return answer(_payload(request, row, bundle=text), Cache_Control="no-store", ETag=_etag(row))


@route(
    "PATCH",
    "/api/drafts/{name}",
    "Replace a draft's text (which need not be valid), its title, or both",
    {
        200: ("Saved; for a new text with its errors", payloads.Draft),
        400: ("The body cannot be read", Errors),
        **FULL,
        **STALE,
        **OWN,
        **BUSY,
    },
    query=KEEP,
    body=(("application/json", payloads.DraftChange),),
    token=OWNER,
    matched=True,
)
def change_draft(request: HttpRequest, name: str) -> HttpResponse:
    """Replace a draft's text, valid or not, its title or both; answer the errors of the text.

    With If-Match, only if the draft is still at that revision.
    """
    row = _draft(request, name)
    base = _base(request, row)
    change = body_of(request, payloads.DraftChange)
    if change == payloads.DraftChange():
        raise ApiError(400, "Send the fields to change: bundle or title.")
    try:
        with _reading():
            text, left = _stored(request, row, sent(change.bundle))
            row = store.save_draft(row, text, sent(change.title), base, whole=True)
    except Draft.DoesNotExist as error:
        raise ApiError(404, GONE) from error
    except store.StaleError as error:
        raise _stale(error.row) from error
    saved = _payload(request, row, **_problems(text), left_out=left)
    return answer(saved, Cache_Control="no-store", ETag=_etag(row))


def _keeps(request: HttpRequest) -> bool:
    return request.GET.get("keep") == "yes"


def _stored(
    request: HttpRequest, row: Draft, text: str | None
) -> tuple[str | None, payloads.LeftOut | UnsetType]:
    """Return the text to store, and what was left out of it, if there is a text."""
    if text is None:
        return None, UNSET
    made, left = (text, privacy.Contents()) if _keeps(request) else privacy.private_text(text)
    if made != text and privacy.is_kept(row):
        made, left = text, privacy.Contents()
    return made, payloads.LeftOut(**left.private())


def _problems(text: str | None) -> dict[str, Any]:
    """Return ``errors`` and ``warnings`` of a saved text; empty if none was saved."""
    if text is None:
        return {}
    try:
        with reading():
            warnings, errors = bundles.parse([("", text)]).warnings, []
    except BundleError as error:
        warnings, errors = error.warnings, error.problems
    except bundles.TooLargeError as error:
        warnings, errors = (), [Problem(str(error))]
    return {"errors": bundles.problems_wire(errors), "warnings": bundles.problems_wire(warnings)}


@route(
    "POST",
    "/api/drafts/{name}/share",
    "Store the draft's current text as an immutable scenario with a link",
    {
        201: ("Stored, as POST /api/scenarios does", Created),
        422: ("The draft has errors; all are listed, with line and path", Errors),
        **FULL,
        **STALE,
        **OWN,
        **BUSY,
    },
    query=WITHOUT,
    token=OWNER,
    matched=True,
)
def share_draft(request: HttpRequest, name: str) -> HttpResponse:
    """Store a draft's current text as an immutable scenario; the draft is kept."""
    row = _draft(request, name)
    if (base := _base(request, row)) is not None and row.revision > base:
        raise _stale(row)
    with _reading():
        scenario, text = leaving_out(request, store.load_draft(row), store.draft_text(row))
        shared = store.share(scenario, row.owner, text=text)
    return shared_answer(request, shared, scenario)


@route(
    "DELETE",
    "/api/drafts/{name}",
    "Delete a draft permanently",
    {204: ("Gone", ""), **STALE, **OWN},
    token=OWNER,
    matched=True,
)
def delete_draft(request: HttpRequest, name: str) -> HttpResponse:
    """Delete a draft permanently; its branches become branches of its parent."""
    row = _draft(request, name)
    try:
        store.delete_draft(row, _base(request, row))
    except store.StaleError as error:
        raise _stale(error.row) from error
    return HttpResponse(status=204)
