"""What may be asked about a place of a scenario, for the workbench and the author's page."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from playground.courseware.proposals import AskedPlace, proposals
from playground.pool.jobs import pool_job


@pool_job
def proposed(text: str, step: str, place: AskedPlace) -> list[dict[str, Any]]:
    """Return the proposals, each as a stop with a task. Raises LessonError."""
    return [dict(to_builtins(one)) for one in proposals(text, step, place)]
