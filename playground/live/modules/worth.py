"""``worth.…``: whether the cache paid off, and where another mode would decide differently."""

from __future__ import annotations

from typing import Any

from playground.calls.requests import OfSource, Request, Source
from playground.edits import worth
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.playback.deadlines import Superseded
from playground.protocol.answers import CostTableWire, MadeDraftWire, NothingWire
from playground.protocol.worth import DivergenceWire


@command("worth.cost", OfSource, answers=CostTableWire, latest=1, throttle="IMPORTS_PER_MINUTE", framed="run")
async def cost(call: Call[OfSource]) -> Answer:
    """Return what each strategy evaluates, keeps and costs; pushes ``worth.progress`` meanwhile."""
    return await _waited(call, worth.CostQuestion(call.found()))


class WorthOther(worth.CacheRequest, kw_only=True):
    source: Source


@command(
    "worth.other", WorthOther, answers=DivergenceWire, latest=1, throttle="IMPORTS_PER_MINUTE", framed="run"
)
async def other(call: Call[WorthOther]) -> Answer:
    """Return where the scenario's run first diverges under another mode of the cache."""
    return await _waited(call, worth.under(call.found(), call.payload))


@command("worth.copy", WorthOther, answers=MadeDraftWire, visitor=True, throttle="IMPORTS_PER_MINUTE")
async def copy(call: Call[WorthOther]) -> Answer:
    """Create a draft of the source with these settings."""
    draft = await call.in_engine(worth.copy, worth.under(call.found(), call.payload), call.visitor)
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/"}


@command("worth.cancel", Request, answers=NothingWire, framed="step")
async def cancel(call: Call[Request]) -> Answer:
    """Cancel what this connection waits for; its request is answered ``request.superseded``."""
    for name in ("worth.cost", "worth.other"):
        call.connection.give_up(name)
    return {}


async def _waited(call: Call[Any], question: worth.CostQuestion) -> Answer:
    def push(report: worth.CostProgress) -> None:
        done, total, strategy = report
        payload = {"source": call.found().asked, "done": done, "total": total, "strategy": strategy}
        call.connection.push("worth.progress", payload)

    try:
        answer = await worth.wait_for(
            question, call.connection.asker, call.connection.unwanted(call.name, call.request), push
        )
    except worth.NoCacheError as error:
        raise CommandError("payload.invalid", str(error), field="source") from error
    if answer is None:
        raise Superseded
    return answer
