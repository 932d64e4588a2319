"""The types of what is sent: lessons that visitors write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict


class AuthoredLessonWire(TypedDict):
    """A lesson of the visitor's own, as lists have it; ``published`` is a revision, 0 if it is not."""

    id: str
    title: str
    url: str
    revision: int
    link: str | None
    published: int


class AuthoredLessonListWire(TypedDict):
    lessons: Sequence[AuthoredLessonWire]


class AddedStopWire(AuthoredLessonWire):
    """A lesson to which a stop was added, and the stop's key."""

    stop: str


class ProposalWire(TypedDict):
    """A stop with a question, and what it is called in a menu; it has the fact that answers, no answer."""

    label: str
    title: str
    step: str
    phase: str
    views: Sequence[str]
    text: str
    task: Mapping[str, Any]


class ProposalListWire(TypedDict):
    proposals: Sequence[ProposalWire]
