"""The bodies of calls about rooms."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import DateTime, Payload
from scheduler_core.kubernetes.plain import Count


class RoomRequest(Payload):
    """A room to open, on a scenario or on a lesson."""

    scenario: str | UnsetType = UNSET
    lesson: Annotated[str | UnsetType, Meta(description="Its slug, instead of a scenario")] = UNSET
    step: str | UnsetType = UNSET
    at: Annotated[Count | UnsetType, Meta(description="A moment of the step, from 1")] = UNSET
    phase: str | UnsetType = UNSET
    tab: str | UnsetType = UNSET
    view: str | UnsetType = UNSET
    node: str | UnsetType = UNSET
    pod: str | UnsetType = UNSET
    colour: str | UnsetType = UNSET
    group: str | UnsetType = UNSET
    shade: str | UnsetType = UNSET
    title: str | UnsetType = UNSET


class RoomEnd(Payload):
    """The token that leads the room."""

    lead_token: Annotated[
        str | UnsetType, Meta(description="It may be sent as `Authorization: Bearer <token>` instead")
    ] = UNSET


class Room(Payload):
    """A room, in which viewers follow a leader."""

    id: str
    scenario: str
    title: str
    step: str
    tab: str | None
    seq: Annotated[Count, Meta(description="Counts the leader's moves")]
    watching: Count
    ended: bool
    expires: Annotated[DateTime, Meta(description="When it ends by itself")]


class NewRoom(Room):
    """A room, and the addresses and the token that lead it and watch it."""

    watch_url: str
    lead_url: Annotated[str, Meta(description="The token is behind the #, which no server is sent")]
    lead_token: str
