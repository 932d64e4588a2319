"""The bodies of calls about drafts."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from playground.api.payloads.payload import DateTime, Expires, Payload, Totals
from playground.protocol.page import ProblemWire
from scheduler_core.kubernetes.plain import Count


class LeftOut(Payload):
    """How many of each a draft does not store."""

    env: Count
    commands: Count
    secrets: Count


class Draft(Payload):
    """An owner's bundle, which may have errors."""

    id: str
    url: str
    title: str
    revision: Count
    bytes: Count
    based_on: Annotated[str | None, Meta(description="scenario:<id> or run:<id>")]
    parent: Annotated[str | None, Meta(description="The source of the branch: as based_on, or draft:<id>")]
    step: Annotated[str | None, Meta(description="The step of the parent at which it branches off")]
    created: DateTime
    updated: DateTime
    expires: Expires
    bundle: Annotated[
        str | UnsetType, Meta(description="The text; present if a single draft is requested")
    ] = UNSET
    token: Annotated[str | UnsetType, Meta(description="Present when a draft is created")] = UNSET
    errors: Annotated[list[ProblemWire] | UnsetType, Meta(description="Present if a text was saved")] = UNSET
    warnings: list[ProblemWire] | UnsetType = UNSET
    summary: Totals | UnsetType = UNSET
    left_out: Annotated[
        LeftOut | UnsetType, Meta(description="What of a saved text was not stored; `keep=yes` stores it")
    ] = UNSET


class NewDraft(Draft, kw_only=True):
    """The owner's token, valid for all of the owner's drafts."""

    token: str
    warnings: list[ProblemWire]
    summary: Totals


class Drafts(Payload):
    """An owner's drafts."""

    drafts: list[Draft]


class DraftChange(Payload):
    """What to replace."""

    bundle: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
