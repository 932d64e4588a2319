"""``link.…``: a visitor's private links, and whether they still show what they showed."""

from __future__ import annotations

from typing import Any

from playground.calls.requests import Index, OfSource, Request, Text
from playground.limits import limit
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.live.modules.drafts import leaving_out, shared_form
from playground.models import Draft, Link, Run, Scenario
from playground.playback import pins, sources
from playground.playback.executor import in_storage
from playground.playback.playback import Playback
from playground.protocol.answers import LinkListWire, NothingWire, RenamedLinkWire
from playground.protocol.links import LinkCheckWire, PrivateLinkWire
from playground.storage import links, store

QUERY = 1_500  # characters
DAYS = 3_650


class LinkCreate(OfSource):
    title: Text | None = None
    query: Text | None = None
    days: Index | None = None
    without: Text | None = None


@command(
    "link.create", LinkCreate, answers=PrivateLinkWire, visitor=True, latest=1, throttle="IMPORTS_PER_MINUTE"
)
async def create(call: Call[LinkCreate]) -> Answer:
    """Make a private link to a view of a source as it is now, with what it decides now."""
    payload = call.payload
    query, days = (payload.query or "").lstrip("?"), payload.days
    if len(query) > QUERY or not query.isprintable():
        raise CommandError("payload.invalid", f"query may have {QUERY:,} characters.", field="query")
    if days is not None and not 1 <= days <= DAYS:
        raise CommandError("payload.invalid", f"days must be 1 to {DAYS:,}.", field="days")
    parts = leaving_out(payload.without)
    if "names" in parts:
        raise CommandError(
            "payload.invalid", "A private link keeps what was decided, by name.", field="without"
        )
    call.source = source = call.found().pinned()

    def turn(playback: Playback, _unwanted: Unwanted) -> pins.Pinned | None:
        return pins.pinned(playback) if pins.reached(playback, limit("LINK_CYCLES")) else None

    pinned = await call.in_turns(turn)
    asked = links.LinkRequest(call.visitor, payload.title or source.title, query, days)
    try:
        return wire(await call.in_engine(_create, source, asked, pinned, parts))
    except links.TooManyLinksError as error:
        raise CommandError("rate.limited", str(error)) from error


def _create(source: sources.Source, asked: links.LinkRequest, pinned: pins.Pinned, parts: list[str]) -> Link:
    row = source.row
    if isinstance(row, Draft):
        row = store.keep_scenario(*shared_form(source, parts), asked.owner)
    elif isinstance(row, Run):
        row = Scenario.objects.defer("content", "text").get(pk=row.scenario_id)
    return links.create_link(asked, row, pinned.what, pinned.decisions)


def wire(link: Link) -> dict[str, Any]:
    """Return a link as its creator sees it."""
    query = f"?{link.query}" if link.query else ""
    return {
        "link": link.pk,
        "url": f"/l/{link.pk}/{query}",
        "title": link.title,
        "created": link.created.isoformat(),
        "expires": link.expires.isoformat(),
        "fixed": link.fixed,
        "bytes": link.packed,
    }


@command("link.list", Request, answers=LinkListWire, visitor=True)
async def listing(call: Call[Request]) -> Answer:
    """Return the visitor's own private links, newest first."""
    return {"links": [wire(link) for link in await in_storage(links.links_of, call.visitor)]}


class LinkRename(Request):
    link: Text
    title: Text


@command("link.rename", LinkRename, answers=RenamedLinkWire, visitor=True)
async def rename(call: Call[LinkRename]) -> Answer:
    """Name one of the visitor's links; what it shows is not changed."""
    title = store.clean_title(call.payload.title)
    if not await in_storage(_rename, call.payload.link, call.visitor, title):
        raise CommandError("source.not-found", "There is no such link of yours.")
    return {"title": title}


def _rename(name: str, owner: str, title: str) -> int:
    return Link.objects.filter(pk=name[:32], owner=owner).update(title=title)


class LinkRevoke(Request):
    link: Text


@command("link.revoke", LinkRevoke, answers=NothingWire, visitor=True)
async def revoke(call: Call[LinkRevoke]) -> Answer:
    """Take one of the visitor's links back, for good."""
    if not await in_storage(links.revoke_link, call.payload.link, call.visitor):
        raise CommandError("source.not-found", "There is no such link of yours.")
    return {}


class LinkCheck(Request):
    link: Text


@command("link.check", LinkCheck, answers=LinkCheckWire, latest=1, decisions=True)
async def check(call: Call[LinkCheck]) -> Answer:
    """Return whether the engine still decides what the link pinned, and where it first does not."""
    link = await in_storage(_pinned, call.payload.link)
    call.source = sources.Source({"link": link.pk}, link.scenario)
    cycles = link.pinned["cycles"] + 1

    def turn(playback: Playback, _unwanted: Unwanted) -> dict[str, Any] | None:
        if not pins.reached(playback, cycles):
            return None
        return pins.compared(link.pinned, bytes(link.decisions), playback)

    return await call.in_turns(turn)


def _pinned(name: str) -> Link:
    link = links.find_link(name)
    if link is None:
        raise sources.NotFoundError("There is no such link; it may have expired or been revoked.")
    link.decisions = Link.objects.values_list("decisions", flat=True).get(pk=link.pk)
    return link
