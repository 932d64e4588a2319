"""``worth.…``: whether the cache paid off, and where another mode would decide differently."""

from __future__ import annotations

from playground.edits import worth
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.playback.stopping import Superseded
from playground.protocol.answers import CostTableWire, MadeDraftWire, NothingWire
from playground.protocol.worth import DivergenceWire


@command("worth.cost", answers=CostTableWire, source="source", latest=1, throttle="IMPORTS_PER_MINUTE")
async def cost(call: Call) -> Answer:
    """Return what each strategy evaluates, keeps and costs; pushes ``worth.progress`` meanwhile."""
    return await _waited(call, worth.CostQuestion(call.found()))


@command(
    "worth.other",
    answers=DivergenceWire,
    source="source",
    latest=1,
    throttle="IMPORTS_PER_MINUTE",
    cache="text",
    equivalenceClass="text?",
    staleWrites="text?",
    audit="text?",
)
async def other(call: Call) -> Answer:
    """Return where the scenario's run first diverges under another mode of the cache."""
    return await _waited(call, _asked(call))


@command(
    "worth.copy",
    answers=MadeDraftWire,
    source="source",
    visitor=True,
    throttle="IMPORTS_PER_MINUTE",
    cache="text",
    equivalenceClass="text?",
    staleWrites="text?",
    audit="text?",
)
async def copy(call: Call) -> Answer:
    """Create a draft of the source with these settings."""
    draft = await call.in_engine(worth.copy, _asked(call), call.visitor)
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/"}


def _asked(call: Call) -> worth.CostQuestion:
    chosen = {name: call.payload[name] for name in worth.CHOICES if call.payload.get(name) is not None}
    try:
        return worth.under(call.found(), chosen)
    except worth.ChoiceError as error:
        raise CommandError("payload.invalid", str(error), field=error.field) from error


@command("worth.cancel", answers=NothingWire)
async def cancel(call: Call) -> Answer:
    """Cancel what this connection waits for; its request is answered ``request.superseded``."""
    for name in ("worth.cost", "worth.other"):
        call.connection.give_up(name)
    return {}


async def _waited(call: Call, question: worth.CostQuestion) -> Answer:
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
