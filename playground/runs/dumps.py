"""What the dump that a run simulates lacks, and what its cluster recorded about pending pods."""

from __future__ import annotations

from typing import Any

from playground.models import Run
from scheduler_core.explain.recorded_answer import RecordedAnswers
from scheduler_core.scenario.scenario import Scenario

KEY = "dump"  # of the run's samples
PODS_SHOWN = 20


def stored(scenario: Scenario, answers: RecordedAnswers) -> dict[str, Any]:
    """Return what a run stores with its samples: ``{"incomplete": [text…], "answers": [Recorded…]}``.

    Nothing for a bundle that is no dump of a cluster.
    """
    incomplete = [problem.message for problem in scenario.warnings if problem.incomplete]
    compared = [answer.as_dict() for answer in answers.answers(PODS_SHOWN)]
    return {KEY: {"incomplete": incomplete, "answers": compared}} if incomplete or compared else {}


def of(run: Run) -> dict[str, Any]:
    """Return what :func:`stored` stored."""
    found: dict[str, Any] = run.samples.get(KEY) or {"incomplete": [], "answers": []}
    return found
