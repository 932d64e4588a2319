"""What became of the decisions of several schedulers: who noticed what, and the figures of the design."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TextIO

from scheduler_core.cli.input_files import in_columns
from scheduler_core.record.several import Outcome
from scheduler_core.run.report import Contest
from scheduler_core.run.several.figures import Figures

SHOWN = 20
BY = {
    "scheduler": "the scheduler gave it up",
    "apiServer": "the API server rejected it",
    "arbiter": "the arbiter rejected it",
    "kubelet": "the kubelet refused it",
    "nobody": "nobody noticed",
}


def report_several(contest: Contest, design: str, out: TextIO) -> None:
    """Print the decisions that were made on an old view, and the figures by scheduler."""
    outcomes = contest.ledger.outcomes
    if outcomes:
        print("\nDecided on an old view:", file=out)
    for one in islice(outcomes, SHOWN):
        print(f"  {_line(one)}", file=out)
    if len(outcomes) > SHOWN:
        print(f"  and {len(outcomes) - SHOWN:,} more", file=out)

    rows: list[tuple[str, ...]] = [
        ("SCHEDULER", "ATTEMPTS", "RETRIES", "BOUND", "CONFLICTS", "REFUSED", "EVICTED", "OF OTHERS")
    ]
    for label, tally in contest.ledger.tallies.items():
        if not tally.attempts:
            continue
        noticed = tally.noticed
        conflicts = noticed["scheduler"] + noticed["apiServer"] + noticed["arbiter"]
        counts = (tally.attempts, tally.retries, tally.placed, conflicts, noticed["kubelet"])
        rows.append((label, *map(str, (*counts, tally.evictions, tally.evictions_of_others))))
    print(f"\nDesign: {design}", file=out)
    for line in in_columns(rows):
        print(f"  {line}", file=out)

    for line in _figures(contest.figures):
        print(f"  {line}", file=out)


def _figures(figures: Figures) -> Iterator[str]:
    """Yield the figures of the run, each in a line."""
    figures.look()
    yield f"CPU in use: {figures.utilization:.1%} of the nodes' over the run"
    yield f"pending though a node had room: {figures.idle:,.1f} pod-seconds"
    for name, wait in sorted(figures.waits.items()):
        pods = f"{wait.admitted:,} pod" + ("" if wait.admitted == 1 else "s")
        yield f"wait of {name}: mean {wait.mean:.3f} s, longest {wait.longest:.3f} s, of {pods} admitted"
    for name, gang in islice(figures.gangs.items(), SHOWN):
        took = "never full" if gang.took is None else f"full after {gang.took:.3f} s"
        yield f"gang {name}, minMember {gang.least}: {took}"


def _line(one: Outcome) -> str:
    missed = ""
    if one.unseen:
        more = len(one.unseen) - 1
        missed = f", without {one.unseen[0]}" + (f" and {more} more" if more else "")
    return (
        f"{one.decided:.3f}s  {one.scheduler}: {one.pod} on {one.node}{missed}; "
        f"{one.known:.3f}s {BY[one.noticed]}" + ("" if one.noticed == "nobody" else f": {one.message}")
    )
