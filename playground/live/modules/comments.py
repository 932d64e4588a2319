"""``comment.…``: reading, writing and resolving comments on a shared scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playground.calls.requests import Leaf, OfSource, Source, Text
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.live.hub import member_of
from playground.models import Comment, Draft, Scenario
from playground.playback import anchors, sources
from playground.playback.executor import in_storage
from playground.playback.playback import OutOfRangeError, Playback
from playground.protocol.answers import CommentListWire, NothingWire, ResolvedThreadWire, WrittenComment
from playground.storage import comments, store

Permission = Callable[[Comment, comments.Author], bool]


def _scenario(call: Call[Any]) -> Scenario:
    source = call.found()
    if "scenario" not in source.wire:
        raise CommandError("permission.denied", "Only a shared scenario has comments; share it first.")
    assert isinstance(source.row, Scenario)
    return source.row


def _read(call: Call[Any]) -> Scenario:
    source = call.found()
    row = comments.of_branch(source.row) if isinstance(source.row, Draft) else None
    if "side" in source.wire and isinstance(source.row, Scenario):
        row = store.find_scenario(source.row.short)  # if it is shared by itself, too
    return row or _scenario(call)


def _room(call: Call[Any]) -> str | None:
    """Return the room that a connection is in: what is written there is the room's."""
    member = member_of(call.connection)
    return None if member is None else member.hall.row.pk


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except comments.TooManyCommentsError as error:
        raise CommandError("rate.limited", str(error)) from error


@command("comment.watch", OfSource, answers=CommentListWire, framed="step", unveiled=True)
async def watch(call: Call[OfSource]) -> Answer:
    """Return a scenario's threads, or in a room the room's, and push every change from then on.

    Of a branch those of the shared scenario that it comes of: they can be read there. None while a room's
    question is open: what a step decided stands beside them.
    """
    row = await in_storage(_read, call)
    if call.veil is not None:
        return {"scenario": row.short, "threads": []}
    room = _room(call)
    call.connection.watching.watch_comments(row, room)
    return {"scenario": row.short, "threads": await in_storage(comments.threads, row, call.visitor, room)}


class CommentWrite(comments.CommentRequest, kw_only=True):
    source: Source


@command(
    "comment.write",
    CommentWrite,
    answers=WrittenComment,
    visitor=True,
    throttle="COMMENTS_PER_MINUTE",
    each="COMMENTS_PER_VISITOR",
    unveiled=True,
)
async def write(call: Call[CommentWrite]) -> Answer:
    """Store a comment on a step, or an answer to another comment."""
    row = _scenario(call)
    draft = comments.checked(call.payload)
    about = None if draft.parent else await call.in_turns(lambda playback, _: _about(playback, draft.step))
    with _refusals():
        written = await call.in_engine(
            comments.write, row, draft, call.visitor, about, _room(call), large=False
        )
    return comments.wire(written.comment, row.short, call.visitor)


def _about(playback: Playback, step: str) -> dict[str, Any] | None:
    try:
        index = anchors.index_of(playback, step)
    except anchors.NoSuchStepError as error:
        raise OutOfRangeError(str(error)) from error
    except ValueError as error:
        raise CommandError("payload.invalid", str(error), field="step") from error
    return None if index is None else anchors.about(playback, index)


class CommentEdit(OfSource):
    comment: Text
    text: Text


@command(
    "comment.edit",
    CommentEdit,
    answers=WrittenComment,
    visitor=True,
    throttle="COMMENTS_PER_MINUTE",
    each="COMMENTS_PER_VISITOR",
    unveiled=True,
)
async def edit(call: Call[CommentEdit]) -> Answer:
    """Replace the text of one's own comment."""
    comment = await _allowed(call, comments.may_edit, "Only the author of a comment can change it.")
    with _refusals():
        await in_storage(comments.edit, comment, call.payload.text)
    return comments.wire(comment, _scenario(call).short, call.visitor)


class CommentRemove(OfSource):
    comment: Text


@command(
    "comment.remove",
    CommentRemove,
    answers=NothingWire,
    visitor=True,
    throttle="COMMENTS_PER_MINUTE",
    each="COMMENTS_PER_VISITOR",
    unveiled=True,
)
async def remove(call: Call[CommentRemove]) -> Answer:
    """Remove one's own comment, or anybody's on a scenario that one has shared."""
    denied = "Only the author of a comment, or whoever shared the scenario, can remove it."
    comment = await _allowed(call, comments.may_remove, denied)
    await in_storage(comments.remove, comment, comments.Author(call.visitor))
    return {}


class CommentResolve(OfSource):
    comment: Text
    open: Leaf | None = None


@command(
    "comment.resolve",
    CommentResolve,
    answers=ResolvedThreadWire,
    visitor=True,
    throttle="COMMENTS_PER_MINUTE",
    each="COMMENTS_PER_VISITOR",
    unveiled=True,
)
async def resolve(call: Call[CommentResolve]) -> Answer:
    """Resolve a thread, or open it again."""
    denied = "Only whoever started a thread, or shared the scenario, can resolve it."
    comment = await _allowed(call, comments.may_resolve, denied)
    resolved = call.payload.open is not True
    await in_storage(comments.resolve, comment, resolved=resolved)
    return {"resolved": resolved}


async def _allowed(call: Call[Any], permission: Permission, denied: str) -> Comment:
    row = _scenario(call)
    comment = await in_storage(comments.find, row, call.payload.comment, _room(call))
    if comment is None:
        raise sources.NotFoundError("There is no such comment on this scenario.")
    if not await in_storage(permission, comment, comments.Author(call.visitor)):
        raise CommandError("permission.denied", denied)
    return comment
