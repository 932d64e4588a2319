"""``compare``: run two configurations on one scenario and say where and how they differ."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from scheduler_core.cli.availability_report import difference_lines
from scheduler_core.cli.input_files import (
    FILES,
    InputError,
    answered_by,
    configured,
    problem_lines,
    read_configuration,
    read_scenario,
)
from scheduler_core.cli.output import add_output_argument, write_answer
from scheduler_core.compare.again import taken_off
from scheduler_core.compare.availability import difference
from scheduler_core.compare.compare import FirstDifference, PolicyComparison, compare
from scheduler_core.compare.cost import with_cache
from scheduler_core.compare.results.metrics import FIGURES
from scheduler_core.compare.upgrade import SAME, UpgradeCheck
from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.release import RELEASES
from scheduler_core.settings.settings import CACHE_MODES

ROWS_SHOWN = 40
CELL = 48  # characters of a node or a message in the table
SHOWN = (
    *FIGURES,
    ("nodes used at most", "mostNodesUsed"),
    ("most pods in a zone minus fewest", "zoneSpread"),
    ("deviation of the nodes' cpu", "cpuDeviation"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE",
        help="a Policy or settings, A's and then B's; given once, it is B's and the bundle's own is A's",
    )
    parser.add_argument(
        "--cache",
        action="append",
        default=[],
        choices=CACHE_MODES,
        help="a mode of the equivalence cache, A's and then B's; given once, it is B's. One of --config and "
        "--cache is needed; with both, the mode overrides the configuration's",
    )
    parser.add_argument(
        "--scheduler",
        action="append",
        default=[],
        choices=RELEASES,
        help="a kube-scheduler, A's and then B's; given once, it is B's",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="take pods off their nodes and schedule them once more, but for those of DaemonSets, static "
        "ones and those that have ended",
    )
    add_output_argument(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare and print; return 0 whether they differ or not."""
    choices = ("config", "cache", "scheduler")
    configs, caches, schedulers = (_pair(name, getattr(options, name)) for name in choices)
    if not any(getattr(options, name) for name in choices):
        raise InputError("specify --config FILE, --cache MODE or --scheduler RELEASE, once or twice")
    files = [None if config is None else read_configuration(config) for config in configs]
    # What only v1.11 has is compared with v1.11, unless the bundle chooses otherwise.
    only_v1_11 = any(caches) or any(file.is_of_v1_11 for file in files if file is not None)
    scenario = read_scenario(options.files, only_v1_11=only_v1_11)
    if options.again:
        scenario = load_documents(taken_off(scenario.documents), title=scenario.title)
    names, scenarios = [], []
    for config, file, cache, scheduler in zip(configs, files, caches, schedulers):
        one = answered_by(scenario, scheduler) if scheduler else scenario
        one = one if file is None else configured(one, file, scheduler or "")
        parts = [f"kube-scheduler {scheduler}"] if scheduler else []
        parts += [f"cache {cache}"] if cache else []
        own = config or ("" if scheduler else "the bundle's own")
        names.append(", ".join([own, *parts] if own else parts))
        scenarios.append(one if cache is None else with_cache(one, cache=cache))
        _check(names[-1], scenarios[-1])
    result = compare(scenarios[0], scenarios[1])
    write_answer(options.output, lambda: lines(result, names), lambda: {"configs": names, **result.as_dict()})
    return 0


def _pair(name: str, given: list[str]) -> tuple[str | None, str | None]:
    """Return an option's values for A and B; an option given once is B's."""
    if len(given) > 2:
        raise InputError(f"--{name} is given {len(given)} times: two configurations are compared")
    return given[0] if len(given) == 2 else None, given[-1] if given else None


def _check(name: str, scenario: Scenario) -> None:
    try:
        scenario.configuration.compile()
    except PolicyError as error:
        raise InputError(f"{name}:\n{problem_lines(error.problems)}") from error


def lines(result: PolicyComparison, names: list[str]) -> Iterator[str]:
    """Yield the report line by line."""
    yield f"A: {names[0]}"
    yield f"B: {names[1]}"
    yield from (f"  {text}" for text in result.configuration or ("the configurations are equivalent",))
    yield ""
    if result.first is None:
        yield "All cycles are identical: feasible nodes, totals and selected node."
    else:
        yield from _difference_lines("First difference", result.first)
        if result.decision is not None and result.decision is not result.first:
            yield from _difference_lines("First different decision", result.decision)
        elif result.decision is None:
            yield "All decisions are identical."
    yield ""
    if result.upgrade is not None:
        yield from _upgrade(result.upgrade)
        yield ""
    yield from _placements(result)
    yield ""
    yield from _table(result.a.as_dict(), result.b.as_dict())
    a, b = (run.availability() for run in result.runs)
    if a is not None and b is not None:
        yield from difference_lines(difference(a, b))


def _difference_lines(title: str, difference: FirstDifference) -> Iterator[str]:
    side = difference.a or difference.b or {}
    yield f"{title}: cycle {difference.index:,} (step {side.get('step')}, {side.get('pod')})"
    yield from (f"  {text}" for text in difference.details)
    if difference.rule is None and "choice" in difference.what:
        yield (
            "  no single rule explains the difference: it comes from the queue, a tie, the clusters or the "
            "nodes evaluated"
        )
    elif difference.rule is not None:
        yield f"  decided by {difference.rule}"
        yield from (f"    {sentence}" for sentence in difference.history)


def _upgrade(check: UpgradeCheck) -> Iterator[str]:
    """Yield what an upgrade changes: the rule behind messages, how many pods, and which."""
    if check.message is not None:
        yield f"First different message: cycle {check.message.index:,} ({check.message.pod})"
        yield from (f"  {name}: {text}" for name, text in (("A", check.message.a), ("B", check.message.b)))
        yield from (f"  {rule.sentence}" for rule in check.message.rules)
        yield ""
    yield f"From {check.releases[0]} to {check.releases[1]}, of {sum(check.counts.values()):,} pods:"
    yield from _columns([(change, f"{number:,}") for change, number in check.counts.items()])
    if check.rows:
        rows = [
            (row.change, row.pod, row.workload, *map(_shortened, (row.a, row.b)))
            for row in check.rows[:ROWS_SHOWN]
        ]
        yield from _columns([("CHANGE", "POD", "WORKLOAD", "A", "B"), *rows])
        more = sum(check.counts.values()) - check.counts[SAME] - len(rows)
        yield from [f"  and {more:,} more"] if more > 0 else []


def _shortened(text: str) -> str:
    return text if len(text) <= CELL else text[: CELL - 1] + "…"


def _placements(result: PolicyComparison) -> Iterator[str]:
    if not result.differing:
        yield "The final placement of all pods is identical."
        return
    count = f"{result.differing:,} pod{'s end' if result.differing > 1 else ' ends'}"
    yield f"{count} on another node:"
    shown = list(result.placements.items())[:ROWS_SHOWN]
    rows = [(pod, a or "pending", b or "pending") for pod, (a, b) in shown]
    yield from _columns([("POD", "A", "B"), *rows])
    if result.differing > len(shown):
        yield f"  and {result.differing - len(shown):,} more"


def _table(a: dict[str, Any], b: dict[str, Any]) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [
        ("", "A", "B"),
        *((words, f"{a[key]:,}", f"{b[key]:,}") for words, key in SHOWN),
    ]
    for words, key in (("requested", "utilisation"), ("requested, mean of cycles", "meanUtilisation")):
        names = dict.fromkeys([*a[key], *b[key]])
        rows += [(f"{name} {words}", *(f"{side[key].get(name, 0):.1%}" for side in (a, b))) for name in names]
    zones = dict.fromkeys([*a["zones"], *b["zones"]])
    counts = [(f"pods in {zone}", *(f"{side['zones'].get(zone, 0):,}" for side in (a, b))) for zone in zones]
    yield from _columns([*rows, *counts])


def _columns(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip()
