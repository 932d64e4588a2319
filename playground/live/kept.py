"""Answers that take seconds: one that is kept comes at once, another is computed in the pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playground.comparisons.questions import SourceQuestion
from playground.live.commands import Call
from playground.playback.executor import in_storage
from playground.wire import Encoded


async def answer_of(
    call: Call,
    asked: SourceQuestion,
    compute: Callable[..., Encoded],
    hear: Callable[[Any], None] | None = None,
) -> Encoded:
    """Return the answer to a question; ``hear`` gets its parts while it is computed.

    Raises the errors of reading and computing.
    """
    body = await in_storage(asked.kept)
    if body is None:
        given = await in_storage(asked.given)
        body = await call.in_pool(compute, *given, long=True, expects=asked.expects, hear=hear)
        await in_storage(asked.keep, body)
    return body
