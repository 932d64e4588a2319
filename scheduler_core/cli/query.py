"""``query``: ask about a run in SQL: its cycles, placements, preempted, pods and nodes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scheduler_core.cli.input_files import FILES, InputError, in_columns, problem_lines, read_scenario
from scheduler_core.cli.output import add_output_argument, counted_on_terminal, write_answer
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.record.query.questions import QUESTIONS
from scheduler_core.record.query.statement import FORMS, Answer, QueryError, ask, file_of
from scheduler_core.record.query.tables import TABLES, RunTables
from scheduler_core.run import simulate

FIRST = "cycles.parquet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("source", metavar="RUN", help=f"{FILES}, which is run; or a directory of --save")
    parser.add_argument("sql", metavar="SQL", help="a SELECT, or the name of a question below")
    parser.add_argument("--save", metavar="DIR", help="keep the run's tables in this directory, as Parquet")
    parser.add_argument("--to", metavar="FILE", help="write the rows to this file, .csv or .parquet")
    add_output_argument(parser)
    tables = "; ".join(f"{table}({', '.join(columns)})" for table, columns in TABLES.items())
    named = "; ".join(f"{one.name}: {one.text}" for one in QUESTIONS)
    parser.epilog = f"Tables: {tables}. Questions: {named}"
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the scenario if need be, ask, and print the rows."""
    sql = {one.name: one.sql for one in QUESTIONS}.get(options.sql, options.sql)
    target = None if options.to is None else _target(options.to)
    with TemporaryDirectory() as made:
        folder = Path(options.source)
        if not (folder / FIRST).is_file():
            folder = Path(options.save or made)
            folder.mkdir(parents=True, exist_ok=True)
            _tables(options.source).write(folder)
        try:
            if target is not None:
                target.write_bytes(file_of(folder.absolute(), sql, target.suffix[1:]))
                return 0
            answer = ask(folder.absolute(), sql)
        except QueryError as error:
            raise InputError(str(error)) from error
    write_answer(options.output, lambda: _lines(answer), lambda: plain(answer))
    return 0


def _target(name: str) -> Path:
    """Return the file that rows are written to. Raises InputError for another ending."""
    target = Path(name)
    if target.suffix[1:] not in FORMS:
        raise InputError(f"--to {name}: a file ends in {' or '.join(f'.{form}' for form in FORMS)}")
    return target


def _tables(name: str) -> RunTables:
    """Run a scenario to its end, and return its tables."""
    scenario = read_scenario([name])
    try:
        run = simulate(scenario, trace=False)
    except PolicyError as error:
        raise InputError(problem_lines(error.problems)) from error
    tables = RunTables()
    pods = {one.meta.key: one for one in scenario.objects if isinstance(one, Pod)}
    for cycle in counted_on_terminal(iter(run.step, None), "cycles"):
        tables.add_cycle(cycle.index, cycle.step, cycle.time, cycle.decision, cycle.message)
        moved = (key for key, _ in cycle.moves or ())
        for key in (cycle.pod, *(key for key, _ in cycle.decision.further), *moved):
            if key not in pods and key in run.cluster.pods:
                pods[key] = run.cluster.pods[key].pod
    pods |= {key: state.pod for key, state in run.cluster.pods.items()}
    for key, pod in pods.items():
        tables.add_pod(pod, run.cluster.pods[key].node_name if key in run.cluster.pods else None)
    for node in run.cluster.nodes.values():
        tables.add_node(node)
    return tables


def _lines(answer: Answer) -> Iterator[str]:
    if not answer.rows:
        yield "No rows."
        return
    yield from in_columns([answer.columns, *([_words(value) for value in row] for row in answer.rows)])
    if answer.more:
        yield f"and more: the first {len(answer.rows):,} rows are shown"


def _words(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
