"""What a dump lacks, and which answers that weakens; what is assumed in its place."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.scenario.dump import is_dump
from scheduler_core.scenario.dump_kinds import DUMP_COMMAND, DUMP_ROWS
from scheduler_core.studies.audit.allowance import Allowance
from scheduler_core.studies.audit.cluster import LONGEST, AuditedCluster
from scheduler_core.studies.audit.row import AuditRow

SUBJECT = "dump"
DETAILS = 5
"""Details of an assumption that are shown."""


def rows(cluster: AuditedCluster, allowance: Allowance) -> Iterator[AuditRow]:
    """Yield what is assumed, then the kinds that are missing."""
    del allowance
    for problem in cluster.calm.run.scenario.warnings:
        if problem.incomplete:
            more = len(problem.details) - DETAILS
            further = (f"and {more:,} more",) if more > 0 else ()
            yield AuditRow(
                subject=SUBJECT,
                verdict="unknown",
                sentence=f"{problem.message[:1].upper()}{problem.message[1:]}.",
                evidence=(*problem.details[:DETAILS], *further),
            )
    if cluster.is_restless:
        yield AuditRow(
            subject=SUBJECT,
            verdict="note",
            sentence=f"CronJobs begin Jobs for ever: cases are played for {LONGEST / 60:.0f} minutes.",
        )
    documents = cluster.scenario.documents
    if is_dump(documents):
        kinds = {str(one.get("kind")) for one in documents}
        missing = [row for row in DUMP_ROWS if not kinds & row.kinds.keys()]
        if missing:
            yield AuditRow(
                subject=SUBJECT,
                verdict="unknown",
                sentence="The dump lacks what some answers need.",
                evidence=(
                    *(f"{row.title} ({', '.join(row.kinds)}): {row.weakens}" for row in missing),
                    f"all of it comes with: {DUMP_COMMAND}",
                ),
            )
