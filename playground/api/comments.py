"""Comments over HTTP, without cookies: the edit token, or the scenario's delete token, changes them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.http import HttpRequest, HttpResponse

from playground.api.answers import ApiError, answer
from playground.api.bodies import body_of
from playground.api.lookups import playback_of, scenario_of
from playground.api.payloads import comments as payloads
from playground.api.payloads.payload import sent
from playground.api.payloads.problems import Errors
from playground.api.route import BUSY, ERRORS, FULL, UNREAD, route
from playground.calls.faults import RequestFieldError
from playground.models import Comment, Scenario
from playground.playback import anchors, sources
from playground.playback.deadlines import TooMuchWorkError
from playground.pool import gate
from playground.pool.read_slots import reading
from playground.storage import comments
from playground.visitors.throttle import address_of, token_of, wait_seconds

_AUTHOR = "The edit token of the comment or, to resolve or remove it, a delete token of the scenario"
_UNREADABLE = {400: UNREAD[400]}
_DENIED = {401: ("No token", Errors), 403: ("Not a token that allows this", Errors)}


@route(
    "GET",
    "/api/scenarios/{name}/comments",
    "List a scenario's threads of comments, oldest first",
    {200: ("The threads", payloads.Threads), **ERRORS},
)
def list_comments(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a scenario's threads."""
    row = scenario_of(name)
    shown = [payloads.Thread(**_absolute(request, thread)) for thread in comments.threads(row)]
    return answer(payloads.Threads(threads=shown), Cache_Control="no-store")


@route(
    "POST",
    "/api/scenarios/{name}/comments",
    "Comment on a step, and within it on a node, a pod or a rule, or reply to a comment",
    {
        201: ("Stored; keep the edit token", payloads.NewComment),
        409: ("The scenario's limit of comments is reached", Errors),
        **_UNREADABLE,
        **FULL,
        **ERRORS,
        **BUSY,
    },
    body=(("application/json", comments.CommentRequest),),
)
def create_comment(request: HttpRequest, name: str) -> HttpResponse:
    """Store a comment."""
    _bounded(request)
    row, body = scenario_of(name), body_of(request, comments.CommentRequest)
    try:
        draft = comments.checked(body)
        about = None if draft.parent else _about(row, draft.step)
        written = comments.write(row, draft, "", about)
    except comments.TooManyCommentsError as error:
        raise ApiError(409, str(error)) from error
    wire = _absolute(request, comments.wire(written.comment, row.short))
    return answer(payloads.NewComment(**wire, edit_token=written.token), 201)


@route(
    "PATCH",
    "/api/scenarios/{name}/comments/{comment}",
    "Replace the text of a comment, or resolve its thread",
    {200: ("The comment", payloads.Comment), **_DENIED, **_UNREADABLE, **ERRORS},
    body=(("application/json", payloads.CommentChange),),
    token=_AUTHOR,
)
def change_comment(request: HttpRequest, name: str, comment: str) -> HttpResponse:
    """Replace a comment's text, or resolve its thread or open it again."""
    _bounded(request)
    row, change = scenario_of(name), body_of(request, payloads.CommentChange)
    text, resolved = sent(change.text), sent(change.resolved)
    if text is None and resolved is None:
        raise ApiError(400, "Send text, resolved or both.")
    found = _found(row, comment)
    if resolved is not None:
        _allow(request, found, comments.may_resolve)
    if text is not None:
        _allow(request, found, comments.may_edit)
        comments.edit(found, text)
    if resolved is not None:
        comments.resolve(found, resolved=resolved)
    return answer(payloads.Comment(**_absolute(request, comments.wire(_found(row, comment), row.short))))


@route(
    "DELETE",
    "/api/scenarios/{name}/comments/{comment}",
    "Remove a comment; replies to it stay",
    {204: ("Gone", ""), **_DENIED, **ERRORS},
    token=_AUTHOR,
)
def delete_comment(request: HttpRequest, name: str, comment: str) -> HttpResponse:
    """Remove a comment; the answers to it stay."""
    found = _found(scenario_of(name), comment)
    _allow(request, found, comments.may_remove)
    comments.remove(found, comments.Author(token=token_of(request)))
    return HttpResponse(status=204)


def _bounded(request: HttpRequest) -> None:
    if wait := wait_seconds("COMMENTS_PER_MINUTE", address_of(request)):
        raise ApiError(429, f"Too many comments; wait {wait} seconds.", {"Retry-After": str(wait)})


def _found(row: Scenario, name: str) -> Comment:
    comment = comments.find(row, name)
    if comment is None:
        raise ApiError(404, "There is no such comment on this scenario.")
    return comment


def _allow(
    request: HttpRequest, comment: Comment, permission: Callable[[Comment, comments.Author], bool]
) -> None:
    token = token_of(request)
    if not token:
        raise ApiError(401, "Send the edit token as `Authorization: Bearer <token>`.")
    if not permission(comment, comments.Author(token=token)):
        raise ApiError(403, "That is not a token that may do this.")


def _about(row: Scenario, step: str) -> dict[str, Any] | None:
    """Return what a step decided; ``None`` for a scenario that is too large to compute while one waits."""
    with suppress(TooMuchWorkError):
        try:
            playback = playback_of(sources.Source({"scenario": row.short}, row))
        except ApiError:  # too large: the anchor is kept as it was sent
            return None
        with reading():
            while (index := _index(playback, step)) is None:
                gate.look()
        return anchors.about(playback, index)
    return None


def _index(playback: Any, step: str) -> int | None:
    try:
        return anchors.index_of(playback, step)
    except (anchors.NoSuchStepError, ValueError) as error:
        raise RequestFieldError("step", str(error)) from error


def _absolute(request: HttpRequest, shown: dict[str, Any]) -> dict[str, Any]:
    """Return a comment with whole addresses; without a cookie none is the caller's own."""
    whole = {**shown, "url": request.build_absolute_uri(shown["url"])}
    whole.pop("mine", None)
    if "replies" in shown:
        whole["replies"] = [payloads.Comment(**_absolute(request, reply)) for reply in shown["replies"]]
    return whole
