"""``review``: check and audit the manifests of a branch against a snapshot, into files for a pull request."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from scheduler_core.cli import commands
from scheduler_core.cli.check import all_hold, checked
from scheduler_core.cli.html import write_html
from scheduler_core.cli.input_files import FILES, InputError, add_scheduler_argument, read_scenario
from scheduler_core.studies.contracts.report import FORMATS

MARK = "<!-- podstep -->"
"""By which the comment of an earlier push is found, and replaced."""
COMMENT_CHARACTERS = 60_000
"""GitHub takes 65,536."""
EVIDENCE_SHOWN = 5
COMMENT, SARIF, RECORDING = "comment.md", "podstep.sarif", "podstep.html"
COUNTEREXAMPLES = "counterexamples"  # a folder: of each violated contract its bundle, and its run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"of the branch: {FILES}")
    parser.add_argument("--snapshot", metavar="FILE", help="the cluster that they are applied to")
    parser.add_argument(
        "--contracts", action="append", default=[], metavar="FILE", help="Contract documents, or ready ones"
    )
    parser.add_argument(
        "--into",
        required=True,
        metavar="DIR",
        help=f"gets {COMMENT}, {SARIF}, {RECORDING} and {COUNTEREXAMPLES}",
    )
    parser.add_argument("--no-html", action="store_true", help="write no run as HTML")
    add_scheduler_argument(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the files; the exit status is 1 for a violated contract, or a risk that the branch adds."""
    before = [options.snapshot] if options.snapshot else []
    after = [*before, *options.files]
    scheduler = [f"--scheduler={options.scheduler}"] if options.scheduler else []
    folder = Path(options.into)
    folder.mkdir(parents=True, exist_ok=True)
    violated, contracts = _check(after, options, folder)
    new, audited = _audit(before, after, scheduler)
    attached = () if options.no_html else _attached(after, options.scheduler, folder)
    comment = "\n".join(
        [MARK, f"## podstep: {_headline(violated, new)}", "", *contracts, *audited, *attached]
    )
    (folder / COMMENT).write_text(_bounded(comment), encoding="utf-8")
    print(f"podstep: {_headline(violated, new)}; see {folder / COMMENT}")
    return int(violated or bool(new))


def _headline(violated: bool, new: int) -> str:
    contracts = "a contract is violated" if violated else "no contract is violated"
    risks = f"{new:,} new risk{'' if new == 1 else 's'}" if new else "no new risk"
    return f"{contracts}, {risks}"


def _check(files: Sequence[str], options: argparse.Namespace, folder: Path) -> tuple[bool, Iterator[str]]:
    """Check contracts; returns whether one is violated, and the Markdown of what was found."""
    if not options.contracts:
        return False, iter(())
    given = [f"--contracts={one}" for one in options.contracts] + [f"--save={folder / COUNTEREXAMPLES}"]
    asked = commands.parser(["check"]).parse_args(["check", *given, "--", *files])
    asked.scheduler, asked.html = options.scheduler, not options.no_html
    verdicts = checked(asked)
    (folder / SARIF).write_text(FORMATS["sarif"](verdicts), encoding="utf-8")
    return not all_hold(verdicts), iter(("### Contracts", "", FORMATS["markdown"](verdicts)))


def _attached(files: Sequence[str], scheduler: str, folder: Path) -> Iterator[str]:
    """Write the run as a file that steps; one that is larger than a file may be is reviewed all the same."""
    try:
        write_html(str(folder / RECORDING), read_scenario(files, scheduler=scheduler), files)
    except InputError as error:
        yield from ("", f"The run is not attached: {error}")


def _audit(
    before: Sequence[str], after: Sequence[str], scheduler: Sequence[str]
) -> tuple[int, Iterator[str]]:
    """Audit the cluster with and without the branch; returns the number of risks that it adds."""
    known = {_key(row) for row in _risks(before, scheduler)} if before else set()
    risks = _risks(after, scheduler)
    new = [row for row in risks if _key(row) not in known]
    same = [row for row in risks if _key(row) in known]
    return len(new), (
        line
        for title, rows in (("New risks", new), ("Risks that were there before", same))
        for line in _section(title, rows)
    )


def _risks(files: Sequence[str], scheduler: Sequence[str]) -> list[dict[str, Any]]:
    rows = json.loads(_output("audit", *files, *scheduler, "--output=json")[1])["rows"]
    return [row for row in rows if row["verdict"] == "risk"]


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return str(row["subject"]), str(row["sentence"])


def _section(title: str, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    yield from ("", f"### {title}", "")
    for row in rows:
        yield f"- **{row['subject']}**: {row['sentence']}"
        yield from (f"  - {text}" for text in row["evidence"][:EVIDENCE_SHOWN])


def _output(*arguments: str) -> tuple[int, str]:
    """Run another command; returns its exit code and what it prints.

    Raises:
        InputError: It cannot read its input; its message is on standard error.
    """
    printed = StringIO()
    with redirect_stdout(printed):
        code = commands.main(arguments)
    if code not in {0, 1}:
        print(f"podstep {arguments[0]} ended with {code}", file=sys.stderr)
        raise InputError("the branch could not be reviewed")
    return code, printed.getvalue()


def _bounded(comment: str) -> str:
    if len(comment) <= COMMENT_CHARACTERS:
        return f"{comment}\n"
    return f"{comment[:COMMENT_CHARACTERS].rpartition(chr(10))[0]}\n\nShortened: the log has all of it.\n"
