"""``simulate``: run a cluster to its end and say what became of every pod, and why."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from scheduler_core.cli.cache_options import add_cache_arguments, asks_for_cache, with_cache
from scheduler_core.cli.extenders import add_extender_arguments, transport_of, write_answers
from scheduler_core.cli.input_files import (
    FILES,
    InputError,
    add_gates_argument,
    add_scheduler_argument,
    counted,
    is_read,
    print_lines,
    problem_lines,
    read_scenario,
)
from scheduler_core.cli.output import add_output_argument, counted_on_terminal, write_answer
from scheduler_core.cli.verb_outcomes import VerbOutcomes
from scheduler_core.cli.verbs import add_verb_arguments, asked_verbs
from scheduler_core.kubernetes.model import KubernetesObject, Pod, Workload
from scheduler_core.kubernetes.recorded_decisions import NOT_PLACED, Agreement, RecordedPlacement, agreement
from scheduler_core.record.choice import counted as counted_alone
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.run import Stepper, is_timed_run, simulate
from scheduler_core.scenario.dump import scheduling_conditions
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.extenders.approval import using

if TYPE_CHECKING:
    from scheduler_core.explain.recorded_answer import RecordedAnswers
from scheduler_core.kubernetes.problems import PolicyError


class PodOutcome(NamedTuple):
    """A pod's outcome."""

    pod: str
    state: str  # bound, placed, pending, preempted, deleted, other
    node: str
    why: str


MOST_DIFFERING = 20  # pods on another node than the recorded one that are listed
MOST_ALIKE = 8
"""Pods that are listed one by one though nothing here could place any."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="a Policy or KubeSchedulerConfiguration to use instead of the bundle's own",
    )
    parser.add_argument(
        "--trace", metavar="FILE", help="write one JSON object per cycle; - for standard output"
    )
    parser.add_argument("--html", metavar="FILE", help="write the run as one HTML file that steps")
    parser.add_argument(
        "--brief", action="store_true", help="of the pods those alone that wait, or are on another node"
    )
    parser.add_argument("--events", action="store_true", help="print each event with its virtual second")
    parser.add_argument(
        "--again",
        action="store_true",
        help="schedule pods that have a node once more, and compare with the nodes that they had",
    )
    add_scheduler_argument(parser)
    add_gates_argument(parser)
    add_cache_arguments(parser)
    add_extender_arguments(parser)
    add_verb_arguments(parser)
    add_output_argument(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Simulate and print; if the trace is on standard output, the report is on standard error."""
    if options.output != "text" and (options.trace == "-" or options.events):
        raise InputError(
            f"--output {options.output} prints the outcome alone, without --events and --trace -"
        )
    with using(transport_of(options)):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    _spare_input(options)
    scenario = read_scenario(
        options.files,
        options.config,
        options.scheduler,
        options.feature_gates,
        only_v1_11=asks_for_cache(options),
        verbs=asked_verbs(options),
    )
    if options.again:
        from scheduler_core.compare.again import recorded_again  # comparing imports much that a run needs not

        scenario = load_documents(
            recorded_again(scenario.documents), title=scenario.title, scheduler=options.scheduler or ""
        )
    scenario = scenario.under(scenario.policy, with_cache(scenario.settings, options))
    if scenario.warnings:
        print(problem_lines(scenario.warnings, unfolded=options.events), file=sys.stderr)
    verbs = VerbOutcomes() if asked_verbs(options) else None
    traced = options.trace is not None or options.events or verbs is not None
    try:
        simulation = simulate(scenario, trace=traced)
    except PolicyError as error:
        raise InputError(problem_lines(error.problems)) from error
    last: dict[str, Cycle] = {}
    recorded = scenario.recorded()
    placements: list[RecordedPlacement] = []
    conditions = _recorded_answers(scenario)
    out = sys.stderr if options.trace == "-" else sys.stdout
    with _opened(options.trace) as trace:
        for cycle in counted_on_terminal(simulation, "cycles"):
            if trace is not None:
                _print_trace(cycle, trace)
            if options.events:
                _print_events(cycle, out)
            if verbs is not None:
                verbs.take(cycle)
            cycle.matrix = None  # written already; from here on the numbers are enough
            cycle.choice = counted_alone(cycle.choice)
            last[cycle.pod] = cycle
            if conditions is not None:
                conditions.note(cycle)
            if recorded:
                placements += (
                    RecordedPlacement(pod, node, cycle.time, cycle.step)
                    for pod, node in cycle.decision.placements
                )
    if verbs is not None:
        verbs.take(simulation.rest)
    write_answers(simulation, options)
    if options.html:
        from scheduler_core.cli.html import write_html

        write_html(options.html, scenario, options.files)
    if options.events:
        _print_events(simulation.rest, out)
        print(file=out)
    agreed = agreement(recorded, placements)
    rest = [
        *(conditions.lines() if conditions else ()),
        *(_recorded_lines(agreed) if agreed else ()),
        *(simulation.cache.report() if simulation.cache else ()),
    ]
    write_answer(
        options.output,
        lambda: (*(verbs.lines() if verbs else ()), *_lines(simulation, last, options), *rest),
        lambda: {
            **({"events": verbs.data()} if verbs else {}),
            **_data(simulation, last, rest),
            **_recorded_data(agreed),
        },
        out,
    )
    return 0


def _lines(simulation: Stepper, last: dict[str, Cycle], options: argparse.Namespace) -> list[str]:
    """Return the report of a run: every pod, and the totals."""
    text = StringIO()
    if is_timed_run(simulation):
        from scheduler_core.cli.timed_report import report_timed

        report_timed(simulation, text, brief=options.brief)
    else:
        report(simulation, last, text, brief=options.brief)
    return text.getvalue().splitlines()


def _recorded_lines(agreed: Agreement) -> Iterator[str]:
    """Yield the pods that are not where the recorded cluster placed them, and the summary."""
    for pair in agreed.differing[:MOST_DIFFERING]:
        here = pair.placement.node if pair.placement else NOT_PLACED
        yield f"{pair.recorded.pod}: recorded {pair.recorded.node}, simulated {here}"
    if len(agreed.differing) > MOST_DIFFERING:
        yield f"and {len(agreed.differing) - MOST_DIFFERING:,} more pods"
    yield agreed.text()


def _recorded_data(agreed: Agreement | None) -> dict[str, object]:
    """Return the recorded and the simulated node of each pod."""
    if agreed is None:
        return {}
    return {
        "recorded": [
            {
                "pod": pair.recorded.pod,
                "verdict": pair.verdict,
                "recorded": pair.recorded.node,
                "simulated": pair.placement.node if pair.placement else None,
                "step": pair.placement.step if pair.placement else None,
            }
            for pair in agreed.pairs
        ]
    }


def _data(simulation: Stepper, last: dict[str, Cycle], rest: list[str]) -> dict[str, object]:
    """Return the outcome of every pod, and what else is noted."""
    if is_timed_run(simulation):
        from scheduler_core.cli.timed_report import timed_outcomes

        pods = list(timed_outcomes(simulation))
    else:
        pods = [row._asdict() for row in outcomes(simulation, last)]
    return {
        "nodes": simulation.cluster.columns.size,
        "cycles": simulation.index,
        "pods": pods,
        "notes": [*simulation.notes(), *rest],
    }


def _recorded_answers(scenario: Scenario) -> RecordedAnswers | None:
    """Return what compares the run with the conditions of a dump; ``None`` if it has none."""
    if not scheduling_conditions(scenario.documents):
        return None
    from scheduler_core.explain.recorded_answer import DumpFacts, RecordedAnswers

    return RecordedAnswers(DumpFacts.of(scenario))


def _print_trace(cycle: Cycle, out: TextIO) -> None:
    from scheduler_core.run.trace import trace_line

    print(trace_line(cycle), file=out)


def _print_events(of: Cycle | FinalState | None, out: TextIO) -> None:
    from scheduler_core.cli.timed_report import event_lines

    print_lines(event_lines(of), out)


def _spare_input(options: argparse.Namespace) -> None:
    """Reject a trace file that would overwrite an input file."""
    trace = Path(options.trace or "-")
    if str(trace) == "-" or not trace.exists():
        return
    for name in (*options.files, options.config or "-"):
        if name != "-" and Path(name).exists() and is_read(trace, name):
            raise InputError(f"{options.trace} is also an input file; write the trace to another file")


@contextmanager
def _opened(name: str | None) -> Iterator[TextIO | None]:
    if name is None or name == "-":
        yield None if name is None else sys.stdout
        return
    try:
        file = Path(name).open("w", encoding="utf-8")  # noqa: SIM115 -- closed below, opened here for its own error
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    with file:
        yield file


def report(simulation: Stepper, last: dict[str, Cycle], out: TextIO, *, brief: bool = False) -> None:
    """Print a table of all pods, or ``brief`` without those that had a node, and a line of totals."""
    rows = list(outcomes(simulation, last))
    kept = [row for row in rows if not (brief and row.state == "bound")]
    shown = list(summarized(kept, nodes=simulation.cluster.columns.size))
    width = max((len(row.pod) for row in shown), default=0)
    nodes = max((len(row.node) for row in shown), default=0)
    for row in shown:
        print(f"{row.pod:<{width}}  {row.state:<9}  {row.node:<{nodes}}  {row.why}".rstrip(), file=out)
    for warning in daemons_missing(simulation):
        print(warning, file=out)
    counts = Counter(row.state for row in rows)
    listed = ", ".join(f"{count:,} {state}" for state, count in counts.most_common()) or "no pods"
    for note in simulation.notes():
        print(note, file=out)
    cluster = f"{counted(simulation.cluster.columns.size, 'node')}, {counted(simulation.index, 'cycle')}"
    print(f"{simulation.scenario.row.title}{cluster}: {listed}", file=out)


def summarized(rows: Sequence[PodOutcome], *, nodes: int) -> Iterator[PodOutcome]:
    """Yield the rows, one for many pods that nothing here could place, for want of nodes or a scheduler."""
    counts = Counter(row[1:] for row in rows)
    reported = set()
    for row in rows:
        if counts[row[1:]] <= MOST_ALIKE or (nodes and row.state != "other"):
            yield row
        elif row[1:] not in reported:
            reported.add(row[1:])
            yield PodOutcome(counted(counts[row[1:]], "pod"), *row[1:])


def daemons_missing(simulation: Stepper) -> Iterator[str]:
    """Yield what every DaemonSet lacks in the end: the controller creates no pod where it finds no room."""
    owners: dict[str, KubernetesObject] = {
        obj.meta.key: obj
        for obj in simulation.scenario.objects
        if isinstance(obj, Workload) and obj.kind == "DaemonSet"
    }
    for operation in simulation.scenario.operations:
        if operation.kind == "DaemonSet":
            owners.pop(operation.key, None)
            if operation.object is not None:
                owners[operation.key] = operation.object
    from scheduler_core.cluster.controllers.daemon_admission import unplaced

    if not owners or simulation.scenario.row.daemons_pending:  # their pods are pending, with the reason
        return
    there: dict[str, list[Pod]] = {}
    for state in simulation.cluster.pods.values():
        if state.node_name:
            there.setdefault(state.node_name, []).append(state.pod)
    for owner in owners.values():
        nodes = simulation.cluster.nodes.values()
        if isinstance(owner, Workload) and (
            warning := unplaced(owner, nodes, lambda node: there.get(node, []))
        ):
            yield warning


def outcomes(simulation: Stepper, last: dict[str, Cycle]) -> Iterator[PodOutcome]:
    """Yield every pod's outcome: those of the cluster in creation order, then those no longer in it."""
    placement = simulation.placement()
    for key, node in placement.items():
        cycle, member = last.get(key), simulation.members.get(key)
        pod = simulation.cluster.pods[key].pod
        if member is not None and (cycle is None or cycle.index <= member.index):
            yield PodOutcome(key, "placed" if node else "pending", node, member.text())
        elif node:
            known = cycle is not None and cycle.result == "scheduled"
            yield PodOutcome(
                key, "placed" if known else "bound", node, placed_because(cycle) if known and cycle else ""
            )
        elif cycle is None and not simulation.responsible(pod):
            yield PodOutcome(key, "other", "", f"assigned to the scheduler {pod.scheduler_name}")
        else:
            why = simulation.untried_because(key) if cycle is None else pending_because(cycle)
            yield PodOutcome(key, "pending", "", why)
    for key, finished in simulation.cluster.finished.items():
        yield PodOutcome(key, "finished", finished.node_name, f"phase {finished.phase}")
    victims = {victim: d for d in simulation.decisions for victim in d.victims}
    for key in dict.fromkeys([*simulation.deleted, *(k for k in last if k not in simulation.cluster.pods)]):
        if key in placement or key in simulation.cluster.finished:
            continue
        decision = victims.get(key)
        if decision is not None:
            yield PodOutcome(key, "preempted", decision.nominated or "", f"by {decision.pod}")
        else:
            yield PodOutcome(key, "deleted", last[key].node or "", "by an operation of the scenario")


def placed_because(cycle: Cycle) -> str:
    """Return why a pod was placed on its node."""
    fitting, total, tied = cycle.choice.counts()
    if total is None:
        return f"the only node of {len(cycle.nodes):,} that fits"
    best = f"best of {fitting:,} that fit, total {total:,}"
    return best if tied == 1 else f"{best}, one of {tied:,} with it"


def pending_because(cycle: Cycle) -> str:
    """Return why a pod has no node, in the scheduler's own words."""
    nominated = cycle.decision.nominated
    message = cycle.message or ""
    return f"{message} Nominated to {nominated}." if nominated else message
