"""Contracts that are ready: a file each, which names the public thread that it comes from."""

from __future__ import annotations

from importlib.resources import files

READY = (
    "zone-loss",
    "drain-order",
    "rollout-spread",
    "serving-first",
    "least-preemption",
    "gang-whole",
    "descheduler-rest",
    "upgrade-in-place",
    "daemons-fit",
    "no-majority",
    "claim-zone",
    "surge-fits",
    "nominal-quota",
)
"""Their names."""


def ready_text(name: str) -> str:
    """Return the text of a contract by its name."""
    return files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
