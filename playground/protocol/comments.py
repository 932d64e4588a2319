"""The types of what is sent: comments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class CommentWire(TypedDict):
    """A comment; its text is Markdown without HTML, "" once it was removed."""

    id: str
    url: str
    parent: str | None
    text: str
    name: str
    mine: bool
    removed: bool
    created: str
    edited: str | None


class ThreadStepWire(TypedDict):
    index: int
    step: str
    pod: str | None
    result: str | None
    node: str | None


class ThreadWire(CommentWire):
    """The first comment of a thread, with where it is anchored.

    `about`: what the step decided when it was written.
    """

    step: str
    node: str | None
    pod: str | None
    rule: str | None
    resolved: bool
    replies: Sequence[CommentWire]
    about: ThreadStepWire | None
