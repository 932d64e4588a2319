"""``audit``: what a cluster answers to operators: pending pods, lost nodes, drains, rollouts, capacity."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator

from scheduler_core.cli.input_files import (
    FILES,
    InputError,
    add_gates_argument,
    add_scheduler_argument,
    problem_lines,
    read_scenario,
)
from scheduler_core.cli.output import add_output_argument, counted_on_terminal, write_answer
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import BundleError, PolicyError
from scheduler_core.studies.audit.allowance import CASES, SECONDS, AuditBounds
from scheduler_core.studies.audit.audit import SUBJECTS, audit
from scheduler_core.studies.audit.row import AuditRow

MOST_SECONDS = 3600.0
MARKS = {"ok": "ok", "note": "note", "risk": "at risk", "unknown": "cannot say"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    parser.add_argument(
        "--subject",
        action="append",
        choices=SUBJECTS,
        help="only this one; may be given several times (default: all)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        help=f"CPU seconds at most; what is left out is named (default: {SECONDS:g})",
    )
    parser.add_argument(
        "--cases", type=int, default=CASES, help=f"cases of one subject at most (default: {CASES})"
    )
    parser.add_argument("--see", metavar="FILE", help=argparse.SUPPRESS)  # what commands are to name
    add_scheduler_argument(parser)
    add_gates_argument(parser)
    add_output_argument(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Audit and print; the exit status is 1 if anything is at risk."""
    if not 0 < options.seconds <= MOST_SECONDS:
        raise InputError(f"--seconds must be above 0 and at most {MOST_SECONDS:.0f}")
    if options.cases < 1:
        raise InputError("--cases must be at least 1")
    scenario = read_scenario(options.files, scheduler=options.scheduler, gates=options.feature_gates)
    bounds = AuditBounds(options.seconds, options.cases)
    found: list[AuditRow] = []

    def rows() -> Iterator[AuditRow]:
        for row in audit(scenario, bounds, options.subject or SUBJECTS.keys()):
            found.append(row)
            yield row

    files = options.see or shlex.join(options.files)
    try:
        answers = counted_on_terminal(rows(), "rows")
        write_answer(options.output, lambda: lines(answers, files), lambda: {"rows": plain(list(answers))})
    except (BundleError, PolicyError) as error:
        raise InputError(problem_lines(error.problems)) from error
    return int(any(row.verdict == "risk" for row in found))


def lines(rows: Iterable[AuditRow], files: str) -> Iterator[str]:
    """Yield the rows by subject, each with its evidence and the command that shows it."""
    subject = ""
    for row in rows:
        if row.subject != subject:
            yield from ([""] if subject else [])
            subject = row.subject
            yield f"{SUBJECTS[subject].title}:"
        yield from row_lines(row, files)


def row_lines(row: AuditRow, files: str) -> Iterator[str]:
    """Yield a row: its verdict with the sentence, its evidence, and the command that shows it."""
    under = f" (under {row.under})" if row.under else ""
    yield f"  {MARKS[row.verdict]}{under}: {row.sentence}"
    yield from (f"    {text}" for text in row.evidence)
    if row.opens is not None and row.opens.command:
        name = "explain" if row.opens.kind == "step" else "simulate"
        yield f"    see: podstep {name} {files} {row.opens.command}"
