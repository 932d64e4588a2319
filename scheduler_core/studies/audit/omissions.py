"""Rows of what an audit does not say, by name."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.studies.audit.row import AuditRow
from scheduler_core.studies.audit.words import listed

NAMED = 12


def unplayed(subject: str, names: Sequence[str], what: str) -> AuditRow:
    """Return the row that names what the allowance did not suffice for."""
    return AuditRow(
        subject=subject,
        verdict="unknown",
        sentence=f"Left out, as the seconds did not suffice ({what}): {listed(names, NAMED)}.",
    )


def unread(subject: str, key: Key, error: BundleError) -> AuditRow:
    """Return the row of a workload of which the case cannot be read."""
    texts = [problem.message for problem in error.problems] or [str(error)]
    return AuditRow(
        subject=subject,
        verdict="unknown",
        sentence=f"Nothing can be said of {key[0]} {key[1]}: it cannot be changed here.",
        evidence=(texts[0],),
        about=(f"{key[0]} {key[1]}",),
    )
