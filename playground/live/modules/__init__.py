"""The commands, one module per namespace."""

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
