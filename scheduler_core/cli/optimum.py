"""``optimum``: the best placement of pending pods under the hard rules, its proof, and the moves there."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from scheduler_core.cli.input_files import FILES, InputError, problem_lines, read_scenario
from scheduler_core.cli.output import add_output_argument, write_answer
from scheduler_core.compare.optimum.greed import VERDICTS, GreedRow, price_of_greed
from scheduler_core.compare.optimum.objectives import OBJECTIVES
from scheduler_core.compare.optimum.optimum import Optimum, find_optimum
from scheduler_core.compare.optimum.problem import problem_of
from scheduler_core.compare.optimum.snapshot import ClusterSnapshot, ShortRunError
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.run.table import simulate

MOVES_SHOWN = 40
MOST_SECONDS = 600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    parser.add_argument(
        "--step",
        type=int,
        default=0,
        metavar="N",
        help="after N cycles of the scenario's schedulers (default: 0)",
    )
    parser.add_argument(
        "--objective",
        action="append",
        choices=OBJECTIVES,
        help="may be given several times: the first counts most (default: most-pods)",
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="to search at most (default: 10)")
    parser.add_argument("--move", action="store_true", help="let running pods go to other nodes")
    parser.add_argument(
        "--evict", action="store_true", help="let pending pods take the room of pods of lower priority"
    )
    parser.add_argument(
        "--schedulers",
        action="store_true",
        help="let each scheduler place them too, and say whether the optimum is better",
    )
    add_output_argument(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Search and print; the exit status is 1 if no placement satisfies the rules."""
    if not 0 < options.seconds <= MOST_SECONDS:
        raise InputError(f"--seconds must be above 0 and at most {MOST_SECONDS:.0f}")
    objectives = list(dict.fromkeys(options.objective or ["most-pods"]))
    if "fewest-moves" in objectives and not (options.move or options.evict):
        raise InputError("fewest-moves needs --move or --evict: without it no running pod moves")
    try:
        optimum, rows = _answer(options, objectives)
    except PolicyError as error:
        raise InputError(problem_lines(error.problems)) from error
    except ShortRunError as error:
        raise InputError(f"--step {options.step}: the run ends after {error.cycles} cycles") from error
    write_answer(
        options.output,
        lambda: (_question(options), *_lines(optimum), *_beside(rows, objectives)),
        lambda: {**plain(optimum), **({"rows": plain(rows)} if options.schedulers else {})},
    )
    return 0 if optimum.feasible else 1


def _answer(options: argparse.Namespace, objectives: list[str]) -> tuple[Optimum, tuple[GreedRow, ...]]:
    """Search, and let the schedulers place the same pods if that is asked for."""
    scenario = read_scenario(options.files)
    move, evict = options.move, options.evict
    if options.schedulers:
        priced = price_of_greed(scenario, options.step, objectives, options.seconds, move=move, evict=evict)
        return priced.optimum, priced.rows[1:]
    standing = ClusterSnapshot(simulate(scenario, trace=False), options.step)
    problem = problem_of(standing.nodes, standing.pods, move=move, evict=evict)
    return find_optimum(problem, objectives, options.seconds), ()


def _question(options: argparse.Namespace) -> str:
    stay = "may go to other nodes" if options.move else "stay where they are"
    gone = "but those of lower priority may be evicted" if options.evict else "and none is evicted"
    return f"Running pods {stay}, {gone}."


def _beside(rows: Iterable[GreedRow], objectives: Iterable[str]) -> Iterator[str]:
    for row in rows:
        if row.figures is None:
            yield f"{row.scheduler}: cannot run it: {row.why}"
            continue
        fields = [(name, getattr(row.figures, OBJECTIVES[name].figure)) for name in objectives]
        listed = ", ".join(f"{name} {value:,}" for name, value in fields)
        yield f"{row.scheduler}: {listed}: {VERDICTS.get(row.verdict, 'not compared')}"


def _lines(optimum: Optimum) -> Iterator[str]:
    if not optimum.feasible and not optimum.unsearched:
        yield "No placement satisfies the rules: running pods would have to stay, and cannot."
    for one in optimum.proofs:
        proof = "optimal" if one.optimal else f"bound {one.bound:,}, gap {one.gap:.2%}"
        yield f"{one.objective:14} {one.value:>12,}  {one.means} ({proof}; {one.seconds:.1f} s)"
    pending = f"{len(optimum.pending):,} pending"
    gone = f", {len(optimum.evicted):,} evicted" if optimum.evicted else ""
    yield f"{len(optimum.placements):,} placed, {pending}{gone}, {len(optimum.moves):,} moves"
    for move in optimum.moves[:MOVES_SHOWN]:
        yield f"  {move.action:5} {move.pod} {'on' if move.action == 'bind' else 'from'} {move.node}"
    if len(optimum.moves) > MOVES_SHOWN:
        yield f"  and {len(optimum.moves) - MOVES_SHOWN:,} more"
    for name in optimum.unsearched:
        yield f"{name}: the time did not suffice: give more --seconds"
    for name in optimum.left_out:
        yield f"left out: {name}"
