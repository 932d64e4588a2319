"""The bodies of calls about comments."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import DateTime, Json, Payload


class CommentChange(Payload):
    """What to change of a comment."""

    text: str | UnsetType = UNSET
    resolved: bool | UnsetType = UNSET


class Comment(Payload):
    """A comment; one that begins a thread has its place, and whether it is resolved."""

    id: str
    url: str
    parent: str | None
    text: Annotated[str, Meta(description="Text, never HTML")]
    name: str
    removed: bool
    created: DateTime
    edited: str | None
    step: str | UnsetType = UNSET
    node: str | UnsetType | None = UNSET
    pod: str | UnsetType | None = UNSET
    rule: str | UnsetType | None = UNSET
    about: Annotated[
        Json | UnsetType | None, Meta(description="What the step decided when this was written")
    ] = UNSET
    resolved: bool | UnsetType = UNSET


class NewComment(Comment, kw_only=True):
    """A comment, and the token that changes it."""

    edit_token: str


class Thread(Comment, kw_only=True):
    """A comment with the replies to it."""

    replies: list[Comment]


class Threads(Payload):
    """The threads of a scenario."""

    threads: list[Thread]
