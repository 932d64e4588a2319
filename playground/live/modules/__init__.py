"""The commands, a module for each namespace of names."""

from playground.live.modules import (
    bundle,
    cache,
    cycles,
    drafts,
    objects,
    policy,
    runs,
    scenarios,
    scores,
    session,
    why,
    worth,
)

__all__ = [
    "bundle",
    "cache",
    "cycles",
    "drafts",
    "objects",
    "policy",
    "runs",
    "scenarios",
    "scores",
    "session",
    "why",
    "worth",
]
