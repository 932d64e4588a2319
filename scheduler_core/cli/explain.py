"""``explain``: say why a pod is where it is, or why not, and the smallest change that would make it fit."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from scheduler_core.cli.input_files import (
    FILES,
    InputError,
    add_gates_argument,
    add_scheduler_argument,
    problem_lines,
    read_scenario,
)
from scheduler_core.cli.output import add_output_argument, write_answer
from scheduler_core.cli.verbs import add_verb_arguments, asked_verbs
from scheduler_core.explain import ExplainError, Explanation, explain
from scheduler_core.kubernetes.problems import PolicyError

NODES_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    about = parser.add_mutually_exclusive_group(required=True)
    about.add_argument("--pod", metavar="NS/NAME", help="without a namespace: default")
    about.add_argument("--workload", metavar="NS/NAME", help="a Workload of Kueue: why it is not admitted")
    about.add_argument("--job", metavar="NS/NAME", help="the same of a Job that Kueue queues")
    about.add_argument("--submit", metavar="FILE", help="a Workload or Job that Kueue would get now")
    parser.add_argument("--node", metavar="NAME", help="ask about this node alone")
    parser.add_argument("--config", metavar="FILE", help="a Policy to use instead of the bundle's own")
    parser.add_argument("--step", metavar="STEP", help="explain the state after this cycle: 17 or 3.4")
    parser.add_argument(
        "--at",
        type=float,
        metavar="SECONDS",
        help="ask Kueue at this virtual time, after what arrived by then",
    )
    add_scheduler_argument(parser)
    add_gates_argument(parser)
    add_verb_arguments(parser)
    add_output_argument(parser)
    parser.add_argument("--brief", action="store_true", help="one line: the reason and the smallest change")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain and print."""
    scenario = read_scenario(
        options.files,
        options.config,
        options.scheduler,
        options.feature_gates,
        verbs=asked_verbs(options),
    )
    pod = "" if options.pod is None else options.pod if "/" in options.pod else f"default/{options.pod}"
    if not pod or any(one.get("kind") == "ClusterQueue" for one in scenario.documents):
        from scheduler_core.cli import kueue_explain

        if not pod or kueue_explain.holds(scenario, pod):
            return kueue_explain.run(scenario, options)
    if options.at is not None:
        raise InputError("--at is for --workload, --job and --submit: ask about a pod with --step")
    try:
        answer = explain(scenario, pod, options.node, step=options.step)
    except ExplainError as error:
        raise InputError(str(error)) from error
    except PolicyError as error:
        raise InputError(problem_lines(error.problems)) from error
    write_answer(options.output, lambda: [brief(answer)] if options.brief else lines(answer), answer.as_dict)
    return 0


def brief(answer: Explanation) -> str:
    """Return the answer in one line: the scheduler's reason, and the smallest change."""
    reason = f"{answer.pod} is {answer.state}: {answer.message}" if answer.message else answer.summary
    if not answer.changes:
        return reason
    change = answer.changes[0]
    return f"{reason} Smallest change, for {change.node}: {'; '.join(change.words)}."


def lines(answer: Explanation) -> Iterator[str]:
    """Yield the answer line by line."""
    yield answer.summary
    yield from (f"warning: {line}" for line in problem_lines(answer.warnings).splitlines())
    if answer.recorded is not None:
        yield from answer.recorded.lines()
    for section in answer.sections:
        yield ""
        yield f"{section.title}:"
        yield from (f"  {text}" for text in section.sentences)
    for verdict in answer.nodes[:NODES_SHOWN]:
        yield ""
        yield f"{verdict.node}: {'fits' if verdict.fits else 'does not fit'}"
        for facts in verdict.facts:
            failure = facts.failure
            reason = failure.error or ", ".join(failure.reasons)
            head = "would refuse as well: " if failure.further else ""
            yield f"  {head}{failure.predicate}: {reason}" if failure.predicate else f"  {reason}"
            yield from (f"    {detail}" for detail in facts.details)
    if answer.nodes and answer.asked is None and answer.nodes_count > NODES_SHOWN:
        yield f"and {answer.nodes_count - min(len(answer.nodes), NODES_SHOWN):,} more nodes"
    for number, change in enumerate(answer.changes):
        yield ""
        title = "Smallest change with which it fits" if not number else "Or"
        more = len(change.fits) - 1
        yield f"{title} on {change.node}{f' (and on {more:,} more)' if more > 0 else ''}:"
        yield from (f"  - {text}" for text in change.words)
        yield from (f"  note: {text}" for text in change.notes)
        for patch in change.patches:
            yield f"    {_line(patch)}"
    fits = any(verdict.fits for verdict in answer.nodes)
    if answer.nodes and not answer.changes and not fits:
        yield ""
        yield "No change was found with which it fits."


def _line(patch: dict[str, object]) -> str:
    """Format a patch in one line; a live API server may not allow it."""
    about = patch.get("object") or patch.get("patch")
    body = f": {json.dumps(about, ensure_ascii=False)}" if about is not None else ""
    return f"{patch['action']} {patch['kind']} {patch['name']}{body}"
