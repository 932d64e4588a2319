"""The types of what is sent: links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from playground.protocol.declarations import row
from playground.protocol.settings import PolicyWire


class PrivateLinkWire(TypedDict):
    """By command: what it is asked, and what it answers. A private link, as its creator sees it."""

    link: str
    url: str
    title: str
    created: str
    expires: str
    fixed: bool
    bytes: int


_PinnedOutcomeFurther = Annotated[Sequence[Any], row(pod=str, node=str)]


class PinnedOutcomeWire(TypedDict):
    """What a cycle decided, as a private link keeps it."""

    pod: str
    result: str
    node: str | None
    nominated: str | None
    victims: Sequence[str]
    further: Sequence[_PinnedOutcomeFurther]


class FirstOtherDecisionWire(TypedDict):
    index: int
    then: PinnedOutcomeWire | None
    now: PinnedOutcomeWire | None


class PinnedRunWire(TypedDict):
    engine: str
    scheduler: str
    policy: PolicyWire
    cycles: int
    ended: bool
    digest: str


class EngineWire(TypedDict):
    engine: str
    scheduler: str
    policy: PolicyWire


class LinkCheckWire(TypedDict):
    """Whether the engine still decides what a private link pinned, and where it first does not."""

    same: bool
    compared: int
    differing: int
    first: FirstOtherDecisionWire | None
    pinned: PinnedRunWire
    current: EngineWire
    changed: Sequence[str]


class LinkWire(LinkCheckWire):
    """A private link with its check, over HTTP; `query` is that of the address: what is on screen."""

    id: str
    url: str
    title: str
    query: str
    created: str
    expires: str
