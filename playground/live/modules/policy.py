"""``policy.…``: what a policy can be made of."""

from __future__ import annotations

from playground import catalogue
from playground.live.commands import Answer, Call, command


@command("policy.catalogue")
async def tables(call: Call) -> Answer:
    """Answer every predicate and priority that there is; it is the same for all sources."""
    return catalogue.wire()
