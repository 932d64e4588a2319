"""The commands, a module for each namespace of names."""

from playground.live.modules import (
    branches,
    bundle,
    cache,
    cycles,
    drafts,
    finding,
    making,
    objects,
    podgroups,
    policy,
    runs,
    scenarios,
    scores,
    session,
    why,
    worth,
)

__all__ = [
    "branches",
    "bundle",
    "cache",
    "cycles",
    "drafts",
    "finding",
    "making",
    "objects",
    "podgroups",
    "policy",
    "runs",
    "scenarios",
    "scores",
    "session",
    "why",
    "worth",
]
