"""``run.…``: starting, watching and cancelling long runs."""

from __future__ import annotations

from playground.calls.requests import Fields, OfRun, OfSource, Request, Text
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.models import Run
from playground.playback import sources
from playground.playback.executor import in_storage
from playground.protocol.answers import NothingWire, StartedRunWire
from playground.protocol.runs import RunWire
from playground.runs import service
from playground.storage import texts


def _run(call: Call[OfRun]) -> Run:
    row = call.found().row
    assert isinstance(row, Run)
    return row


class RunStart(OfSource):
    config: Fields | None = None


@command("run.start", RunStart, answers=StartedRunWire, visitor=True, throttle="IMPORTS_PER_MINUTE")
async def start(call: Call[RunStart]) -> Answer:
    """Start a run of a source in a worker."""
    try:
        run = await call.in_engine(_start, call)
    except service.ConfigError as error:
        raise CommandError("payload.invalid", str(error), field="config") from error
    except service.TooManyRunsError as error:
        raise CommandError("rate.limited", str(error), retryAfter=30) from error
    return {"run": run.pk, "url": f"/runs/{run.pk}/"}


def _start(call: Call[RunStart]) -> Run:
    source = call.found()
    given = source.load()
    scenario = service.configured(given, call.payload.config)
    text = texts.spliced(source.text(), given.documents, scenario.documents)
    run, _ = service.known_or_started(scenario, call.visitor, call.connection.address, text=text)
    sources.seed(run, scenario)
    return run


@command("run.watch", OfRun, answers=RunWire)
async def watch(call: Call[OfRun]) -> Answer:
    """Return the run's state, and push every change."""
    run = _run(call)
    if not call.connection.watching.watch(run.pk):
        raise CommandError("server.busy", "This connection watches too many runs.")
    return await in_storage(service.run_wire, run, call.visitor)


class RunUnwatch(Request):
    run: Text


@command("run.unwatch", RunUnwatch, answers=NothingWire)
async def unwatch(call: Call[RunUnwatch]) -> Answer:
    """Stop pushing changes of the run."""
    call.connection.watching.unwatch(call.payload.run)
    return {}


@command("run.cancel", OfRun, answers=RunWire)
async def cancel(call: Call[OfRun]) -> Answer:
    """Cancel a run; only the visitor who started it may."""
    run = _run(call)
    if not service.may_cancel(run, call.visitor):
        raise CommandError("permission.denied", "Only the visitor who started a run can cancel it.")
    cancelled = await in_storage(service.cancel, run)
    return await in_storage(service.run_wire, cancelled, call.visitor)
