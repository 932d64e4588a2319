"""``check``: check contracts about a cluster by playing what may happen to it; 1 if one is violated."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from scheduler_core.cli.input_files import (
    FILES,
    InputError,
    add_gates_argument,
    add_scheduler_argument,
    problem_lines,
    read_scenario,
)
from scheduler_core.cli.output import add_output_argument, write_answer
from scheduler_core.formats.bundle import File
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.problems import BundleError, PolicyError
from scheduler_core.studies.contracts.check import check, unnoted
from scheduler_core.studies.contracts.document import Contract, read_contracts
from scheduler_core.studies.contracts.library import READY, ready_text
from scheduler_core.studies.contracts.report import FORMATS, as_data, lines
from scheduler_core.studies.contracts.search import CheckBounds
from scheduler_core.studies.contracts.verdict import HOLDS, UNCOUNTERED, Verdict

MOST_CASES, MOST_SECONDS, MOST_PROCESSES = 1_000_000, 86_400.0, 64
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    parser.add_argument(
        "--contracts",
        action="append",
        required=True,
        metavar="FILE",
        help=f"Contract documents; - for standard input, or one that is ready: {', '.join(READY)}",
    )
    add_output_argument(parser, "junit", "sarif")
    parser.add_argument(
        "--cases",
        type=_count(MOST_CASES),
        default=2_000,
        metavar="N",
        help="played at most, of each contract",
    )
    parser.add_argument(
        "--seconds", type=_seconds, default=60.0, metavar="S", help="for each contract at most"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of what is chosen at random")
    parser.add_argument(
        "--processes", type=_count(MOST_PROCESSES), default=1, metavar="N", help="that play cases"
    )
    parser.add_argument("--save", metavar="DIR", help="write the bundle of each counterexample there")
    parser.add_argument(
        "--html", action="store_true", help="with --save: also its run as one HTML file that steps"
    )
    add_scheduler_argument(parser)
    add_gates_argument(parser)
    parser.set_defaults(run=run)


def _count(most: int) -> type[int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"must be a number from 1 to {most:,}, not {text[:40]!r}")
        return int(text)

    return read  # type: ignore[return-value]


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"must be seconds from 0 to {MOST_SECONDS:,.0f}, not {text[:40]!r}")
    return found


def run(options: argparse.Namespace) -> int:
    """Check and print."""
    verdicts = checked(options)
    if options.output in FORMATS:
        sys.stdout.write(FORMATS[options.output](verdicts))
    else:
        write_answer(options.output, lambda: lines(verdicts), lambda: as_data(verdicts))
    return 0 if all_hold(verdicts) else 1


def checked(options: argparse.Namespace) -> list[Verdict]:
    """Check the contracts that options of the command name, and save counterexamples where they say.

    Raises:
        InputError: A file cannot be read, or a contract does not fit the cluster.
    """
    contracts = _contracts(options.contracts)
    scenario = read_scenario(options.files, None, options.scheduler, gates=options.feature_gates)
    budget = CheckBounds(options.cases, options.seconds, options.seed, options.processes)
    note = _Progress() if sys.stderr.isatty() else unnoted
    verdicts: list[Verdict] = []
    try:
        for verdict in check(scenario, contracts, budget, note):
            verdicts.append(verdict)
            _save(options.save, verdict, html=options.html)
    except (BundleError, PolicyError) as error:
        raise InputError(problem_lines(error.problems)) from error
    return verdicts


def all_hold(verdicts: Sequence[Verdict]) -> bool:
    """Whether no contract is violated, and none without an answer."""
    return all(one.verdict in (HOLDS, UNCOUNTERED) for one in verdicts)


def _contracts(names: Sequence[str]) -> tuple[Contract, ...]:
    try:
        return read_contracts(list(_files(names)))
    except BundleError as error:
        raise InputError(problem_lines(error.problems)) from error


def _files(names: Sequence[str]) -> Iterator[File]:
    for name in names:
        try:
            if name == "-":
                yield name, sys.stdin.buffer.read()
            elif name in READY and not Path(name).exists():
                yield f"{name}.yaml", ready_text(name)
            else:
                yield name, Path(name).read_bytes()
        except FileNotFoundError as error:
            ready = ", ".join(READY)
            raise InputError(f"{name}: neither a file nor a contract that is ready: {ready}") from error
        except OSError as error:
            raise InputError(f"{name}: {error.strerror or error}") from error


def _save(folder: str | None, verdict: Verdict, *, html: bool) -> None:
    """Write the bundle of a counterexample, and its run as a file that steps."""
    shown = verdict.counterexample
    if folder is None or shown is None:
        return
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    name = _UNSAFE.sub("-", verdict.contract)[:100].strip(".-") or "contract"
    bundle = place / f"{name}.yaml"
    bundle.write_text(write_yaml(shown.documents), "utf-8")
    if html:
        from scheduler_core.cli.html import write_html

        write_html(str(bundle.with_suffix(".html")), read_scenario([str(bundle)]), [str(bundle)])


class _Progress:
    """What is played, on one line of a terminal."""

    def __call__(self, contract: str, done: int, of: int) -> None:
        """Show it."""
        end = "\n" if done >= of else ""
        print(f"\r{contract[:60]}: {done:,} of {of:,} cases", end=end, file=sys.stderr, flush=True)
