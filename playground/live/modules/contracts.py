"""``contracts.…``: claims about a cluster, read as they are typed, and checked."""

from __future__ import annotations

from typing import Any

from playground.calls.requests import OfSource, Request, Text
from playground.comparisons import contracts, questions
from playground.live.commands import Answer, Call, command
from playground.live.kept import answer_of
from playground.playback.executor import in_storage
from playground.protocol.contracts import (
    ContractNamesWire,
    ContractsCheckedWire,
    ContractsReadWire,
    ReadyContractsWire,
)


@command("contracts.ready", Request, answers=ReadyContractsWire)
async def ready(call: Call[Request]) -> Answer:
    """Return the contracts that are ready; the answer is the same for all sources."""
    return contracts.ready()


@command("contracts.names", OfSource, answers=ContractNamesWire)
async def names(call: Call[OfSource]) -> Answer:
    """Return what contracts may name of a source: an editor completes from it."""
    return await answer_of(call, contracts.NamesQuestion(call.found().pinned()), contracts.named)


class ContractsRead(OfSource):
    text: Text


@command("contracts.read", ContractsRead, answers=ContractsReadWire, latest=1)
async def read(call: Call[ContractsRead]) -> Answer:
    """Return the errors of contracts being edited, by line."""
    stored = await in_storage(call.found().pinned().stored)
    return await call.in_pool(contracts.read, stored, call.payload.text)


class ContractsCheck(OfSource):
    text: Text


@command("contracts.check", ContractsCheck, answers=ContractsCheckedWire, latest=1, large=True)
async def check(call: Call[ContractsCheck]) -> Answer:
    """Return the verdict on each contract; each is pushed as ``contracts.verdict`` as soon as it is known."""

    def hear(verdict: dict[str, Any]) -> None:
        call.connection.push("contracts.verdict", {"request": call.request, "verdict": verdict})

    stored = await in_storage(call.found().pinned().stored)
    return await call.in_pool(
        contracts.checked, stored, call.payload.text, long=True, expects=questions.SECONDS, hear=hear
    )
