"""The availability of workloads over a run, as it is stored with the run."""

from __future__ import annotations

from typing import Any

from playground.models import Run
from scheduler_core.kubernetes.conversion import converted
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.availability import Availability
from scheduler_core.run.table import is_timed
from scheduler_core.scenario.scenario import Scenario

KEY = "availability"  # of the run's samples


def begun(scenario: Scenario) -> dict[str, Any]:
    """Return what a run stores until it ends, so that its page knows that there will be something."""
    return {KEY: None} if is_timed(scenario) else {}


def stored(found: Availability | None) -> dict[str, Any]:
    """Return what a run stores with its samples, nothing of one in which no time passes."""
    return {} if found is None else {KEY: plain(found)}


def of(run: Run) -> Availability | None:
    """Return what :func:`stored` stored."""
    found = run.samples.get(KEY)
    return None if found is None else converted(found, Availability)
