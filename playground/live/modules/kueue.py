"""``kueue.…``: why a Workload is not admitted, and who is preempted if another one is submitted."""

from __future__ import annotations

from playground.calls.requests import OfSource, Text
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.live.slices import in_slices
from playground.panels.kueue import answered
from playground.protocol.kueue import KueueAnswerWire
from scheduler_core.explain.kueue.answer import KueueAnswer
from scheduler_core.explain.kueue.moment import Question, asking, submitting
from scheduler_core.explain.kueue.submission import Submission


class KueueWhy(OfSource):
    step: Text
    about: Text


@command("kueue.why", KueueWhy, answers=KueueAnswerWire, latest=1)
async def why(call: Call[KueueWhy]) -> Answer:
    """Return why a Workload, or that of ``Job namespace/name``, waits after a step, and what admits it."""
    return answered(await _asked(call, asking, call.payload.about))


class KueueSubmit(OfSource):
    step: Text
    manifest: Text


@command("kueue.submit", KueueSubmit, answers=KueueAnswerWire, latest=1)
async def submit(call: Call[KueueSubmit]) -> Answer:
    """Return what becomes of a Job or Workload that is submitted after a step, and of others by it."""
    return answered(await _asked(call, submitting, call.payload.manifest))


async def _asked(
    call: Call[KueueWhy] | Call[KueueSubmit], question: Question, text: str
) -> KueueAnswer | Submission:
    return await in_slices(
        call,
        lambda playback, index: question(playback.scenario, playback.trail.decisions, index, text),
        _late,
    )


def _late() -> None:
    raise CommandError("why.too-large", "The answer takes too long; ask on the command line.")
