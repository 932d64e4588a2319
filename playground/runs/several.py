"""What became of the decisions of several schedulers in a run, and how long their pods waited."""

from __future__ import annotations

from typing import Any

from playground.models import Run
from scheduler_core.run import Stepper
from scheduler_core.settings.settings import Settings

KEY = "schedulers"  # of the run's samples
COLUMNS = (
    "scheduler",
    "attempts",
    "retries",
    "bound",
    "conflicts",
    "refused by the kubelet",
    "evicted",
    "evicted of others",
    "mean wait",
    "longest wait",
)


def begun(settings: Settings) -> dict[str, Any]:
    """Return what a new run stores, so that its page knows that there will be figures."""
    return {KEY: []} if settings.have_views else {}


def stored(simulation: Stepper) -> dict[str, Any]:
    """Return what a run stores with its samples: a row of :data:`COLUMNS` for each scheduler that decided.

    Waits are in seconds of virtual time; the row of a name's first process has those of the name.
    """
    contest = simulation.contest
    if contest is None:
        return {}
    waits = dict(contest.figures.waits)
    rows: list[list[Any]] = []
    for label, tally in contest.ledger.tallies.items():
        if not tally.attempts:
            continue
        noticed = tally.noticed
        wait = waits.pop(label.partition(" #")[0], None)
        rows.append(
            [
                label,
                tally.attempts,
                tally.retries,
                tally.placed,
                noticed["scheduler"] + noticed["apiServer"] + noticed["arbiter"],
                noticed["kubelet"],
                tally.evictions,
                tally.evictions_of_others,
                None if wait is None else round(wait.mean, 3),
                None if wait is None else round(wait.longest, 3),
            ]
        )
    return {KEY: rows}


def rows_of(run: Run) -> list[list[Any]] | None:
    """Return the rows that a run has stored; None if its schedulers share one view."""
    found: list[list[Any]] | None = run.samples.get(KEY)
    return found


def table(rows: list[list[Any]]) -> dict[str, Any]:
    """Return the rows as a table of the run's page."""
    return {
        "name": KEY,
        "title": "Attempts by scheduler",
        "columns": list(COLUMNS),
        "rows": [
            [
                row[0],
                *(f"{number:,}" for number in row[1:8]),
                *("–" if wait is None else f"{wait:,.3f} s" for wait in row[8:]),
            ]
            for row in rows
        ],
    }
