"""``optimum``: the best placement of pending pods under the hard rules, its proof, and the moves there."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from scheduler_core.cli.reporting import FILES, InputError, problem_lines, read_scenario
from scheduler_core.compare.optimum.objectives import OBJECTIVES
from scheduler_core.compare.optimum.optimum import Optimum, find_optimum
from scheduler_core.compare.optimum.problem import problem_of
from scheduler_core.compare.optimum.standing import ShortRunError, Standing
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
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Search and print; the exit status is 1 if no placement satisfies the rules."""
    if not 0 < options.seconds <= MOST_SECONDS:
        raise InputError(f"--seconds must be above 0 and at most {MOST_SECONDS:.0f}")
    objectives = list(dict.fromkeys(options.objective or ["most-pods"]))
    if "fewest-moves" in objectives and not options.move:
        raise InputError("fewest-moves needs --move: without it no running pod moves")
    try:
        standing = Standing(simulate(read_scenario(options.files), trace=False), options.step)
    except PolicyError as error:
        raise InputError(problem_lines(error.problems)) from error
    except ShortRunError as error:
        raise InputError(f"--step {options.step}: the run ends after {error.cycles} cycles") from error
    optimum = find_optimum(
        problem_of(standing.nodes, standing.pods, move=options.move), objectives, options.seconds
    )
    print(json.dumps(plain(optimum)) if options.json else "\n".join(_lines(optimum)))
    return 0 if optimum.feasible else 1


def _lines(optimum: Optimum) -> Iterator[str]:
    if not optimum.feasible and not optimum.unsearched:
        yield "No placement satisfies the rules: running pods would have to stay, and cannot."
    for one in optimum.proofs:
        proof = "optimal" if one.optimal else f"bound {one.bound:,}, gap {one.gap:.2%}"
        yield f"{one.objective:14} {one.value:>12,}  {one.means} ({proof}; {one.seconds:.1f} s)"
    pending = f"{len(optimum.pending):,} pending"
    yield f"{len(optimum.placements):,} placed, {pending}, {len(optimum.moves):,} moves"
    for move in optimum.moves[:MOVES_SHOWN]:
        yield f"  {move.action:5} {move.pod} {'on' if move.action == 'bind' else 'from'} {move.node}"
    if len(optimum.moves) > MOVES_SHOWN:
        yield f"  and {len(optimum.moves) - MOVES_SHOWN:,} more"
    for name in optimum.unsearched:
        yield f"{name}: the time did not suffice: give more --seconds"
    for name in optimum.left_out:
        yield f"left out: {name}"
