"""The tables of `make bench`, from figures made up for them, and one workload in earnest."""

from __future__ import annotations

import gc
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_core import load
from scheduler_core.compare.optimum.objectives import OBJECTIVES
from scheduler_core.kubernetes.model import Pod
from tests.bench import systems
from tests.bench.__main__ import (
    COLUMNS,
    FIRST_CYCLE_COLUMNS,
    GROWTH_COLUMNS,
    LIVING_COLUMNS,
    SCALE_COLUMNS,
    shortfalls,
    table,
)
from tests.bench.conform import FILES, measure_conform
from tests.bench.first_cycle import Bundle, measure_first_cycles, text_of, timed
from tests.bench.living_clusters import AIMS as LIVING_AIMS
from tests.bench.living_clusters import WORK, Size, cases, cycles, drain, exceeded, process, release, zone
from tests.bench.measure import Measured, growth, measure, row, run
from tests.bench.scale import SCALES, measure_scale
from tests.bench.scale import missed as missed_at_scale
from tests.bench.workloads import AIMS, GROWTH, MATRIX, SHAPES, Workload

OFF = {
    "cycles": 300,
    "cpu_seconds": 0.0375,
    "pods_per_second": 7500.0,
    "peak_mib": 80.0,
    "placements_sha256": "ab" * 32,
}
FULL = {**OFF, "cpu_seconds": 0.15}
KNOWN = Workload("plain", 5000, 300, "abababababababab", 80)


def made_up(nodes: int, rate: float, peak: float, full: float = 2.0) -> dict[str, Any]:
    """Make a row of plain pods: a rate, a peak, and how many times slower the full trace is."""
    off = {**OFF, "cpu_seconds": 300 / rate, "peak_mib": peak}
    workload = Workload("plain", nodes, 300, "ab")
    return row(Measured(workload, {"off": off, "full": {**off, "cpu_seconds": 300 * full / rate}}, 1))


def test_the_matrix_is_four_shapes_on_four_sizes() -> None:
    """Every shape is measured on four sizes, with as many pods on both ends of growth."""
    assert [(w.shape, w.nodes) for w in MATRIX] == [(s, n) for s in SHAPES for n in (100, 1000, 5000, 20000)]
    assert len(SHAPES) == 4
    assert {w.pods for w in MATRIX if w.nodes in GROWTH} == {500}
    assert AIMS.keys() <= {(w.shape, w.nodes) for w in MATRIX}


def test_a_row_holds_the_ratios() -> None:
    """A rate is set against v1.11's, the aim, and the rate with the full trace."""
    made = row(Measured(KNOWN, {"off": OFF, "full": FULL}, 1))
    assert (made["ratio_to_upstream"], made["full_to_off"], made["aim_met"]) == (100.0, 4.0, True)
    assert (made["off"]["pods_per_cpu_second"], made["off"]["microseconds_per_pod"]) == (8000.0, 125.0)
    assert made["same_placements"] is True


@pytest.mark.parametrize(
    ("workload", "full", "shown"),
    [
        (KNOWN, FULL, "v1.11's"),
        (Workload("plain", 10, 20, "abab"), FULL, "as recorded"),
        (Workload("plain", 10, 20, "0123"), FULL, "DIFFER"),
        (KNOWN, {**FULL, "placements_sha256": "cd" * 32}, "DIFFER"),
    ],
)
def test_other_placements_are_seen(workload: Workload, full: dict[str, Any], shown: str) -> None:
    """Placements that differ from the recorded ones show, with a trace as without."""
    text = table(COLUMNS, [row(Measured(workload, {"off": OFF, "full": full}, 1))]).splitlines()
    assert text[2].split("|")[-2].strip() == shown
    assert len({len(line) for line in text}) == 1


def test_the_best_of_interleaved_rounds_counts() -> None:
    """Rounds go over all workloads in turn and end when time runs out; each figure's best is kept."""
    asked: list[tuple[int, str]] = []

    def runner(workload: Workload, trace: str) -> dict[str, Any]:
        asked.append((workload.nodes, trace))
        return {**OFF, "pods_per_second": float(len(asked)), "cpu_seconds": float(len(asked))}

    workloads = [Workload("plain", 1, 1, "ab"), Workload("plain", 2, 1, "ab")]
    one, two = measure(workloads, 2, 60, runner)
    assert asked == [(1, "off"), (1, "full"), (2, "off"), (2, "full")] * 2
    assert (one.best["off"]["pods_per_second"], one.best["off"]["cpu_seconds"]) == (5.0, 1.0)
    assert (two.best["full"]["pods_per_second"], two.best["full"]["cpu_seconds"]) == (8.0, 4.0)
    assert [entry.times for entry in measure(workloads, 5, 0, runner)] == [1, 1]


def test_growth_compares_time_and_memory() -> None:
    """Time per pod is compared from 1,000 to 20,000 nodes, memory by what a further node takes."""
    rows = [made_up(1000, 4000, 40), made_up(5000, 3000, 60), made_up(20000, 1000, 135)]
    (grown,) = growth(rows)
    assert (grown["time"], grown["kib_per_node"], grown["memory"]) == (4.0, 5.12, 1.0)
    assert "| plain" in table(GROWTH_COLUMNS, [grown])
    assert growth(rows[:2]) == []


def test_missed_aims_are_named() -> None:
    """A rate below its aim, a slow trace, steep growth of time or of memory: each is reported."""
    rows = [made_up(1000, 9000, 40), made_up(5000, 6999, 60, full=5.5), made_up(20000, 1000, 300)]
    missed = shortfalls(rows, growth(rows))
    assert [text.partition(": ")[2] for text in missed] == [
        "6,999 pods/CPU s, the aim is 7,000",
        "a full trace takes 5.5 times as long",
        "the time per pod grows 9.0 times",
        "memory grows faster than the cluster",
    ]
    assert shortfalls(rows[:1], []) == []


@pytest.mark.parametrize(
    ("workload", "trace"),
    [
        *((workload, "off") for workload in MATRIX if workload.nodes == 100),
        (next(workload for workload in MATRIX if workload.nodes == 100), "full"),
    ],
    ids=lambda value: getattr(value, "shape", value),
)
def test_v1_11_placements_on_the_smallest_cluster(workload: Workload, trace: str) -> None:
    """`scheduler_core bench` prints the fields that the table needs, and decides as v1.11 did."""
    found = run(workload, trace)
    assert found["placements_sha256"].startswith(workload.placements)
    assert found["pods_per_second"] == pytest.approx(found["cycles"] / found["seconds"], rel=0.05)
    assert found["peak_mib"] > 0
    assert 0 < found["cpu_seconds"] < 2 * found["seconds"]


@pytest.mark.parametrize("pods_of", ["Deployments", "documents"])
def test_the_first_cycle_is_timed_in_a_process_of_its_own(pods_of: str) -> None:
    """The row has the bundle and both figures, and the bundle has as many pods as it says."""
    (found,) = measure_first_cycles(1, [Bundle(pods_of, 40, "v1.37")])
    assert (found["pods_of"], found["pods"], found["release"]) == (pods_of, 40, "v1.37")
    assert found["load"] > 0 and found["first"] > 0
    assert "µs/pod" in table(FIRST_CYCLE_COLUMNS, [found])
    assert sum(isinstance(one, Pod) for one in load(text_of(pods_of, 40)).objects) == 40


@pytest.mark.parametrize("release", ["v1.37", "v1.11"])
def test_a_replica_more_costs_what_one_of_few_costs(release: str) -> None:
    """Up to the first cycle: per pod at most half as much again for 20,000 pods as for 5,000."""
    texts = {pods: text_of("Deployments", pods) for pods in (5_000, 20_000)}
    best = dict.fromkeys(texts, float("inf"))
    gc.disable()
    try:
        for _ in range(3):
            for pods, text in texts.items():
                best[pods] = min(best[pods], sum(timed(text, release)) / pods)
    finally:
        gc.enable()
    assert best[20_000] < 1.5 * best[5_000], best


def test_conform_is_timed_on_the_recordings_that_are_there(tmp_path: Path) -> None:
    """A file that is missing is left out; a record that cannot be read counts as an error."""
    records = [{"id": "empty", "objects": [], "policy": None}, {"id": "none"}]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    first = next(iter(FILES))
    (tmp_path / first).write_bytes(gzip.compress(lines.encode()))
    (found,) = measure_conform(tmp_path, times=1)
    assert (found["file"], found["records"], found["errors"]) == (first, 2, 1)
    assert found["records_per_second"] > 0
    assert found["records_per_cpu_second"] > 0


def test_the_systems_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """On small clusters: passes until nothing changes, a round, and each objective's gap."""
    for name, value in {"NODES": 20, "PODS": 100, "SMALL_NODES": 4, "SMALL_PODS": 12, "SECONDS": 0.5}.items():
        monkeypatch.setattr(systems, name, value)
    found = {name: list(measured()) for name, measured in systems.MEASURED.items()}
    passes = [line for line in found["descheduler"] if line.startswith("pass ")]
    assert ": 50 evictions" in passes[0] and ": 0 evictions" in passes[-1]
    assert all("100 pods placed" in line for line in found["firmament"])
    assert [line.split()[0] for line in found["optimum"][: len(OBJECTIVES)]] == list(OBJECTIVES)


def test_every_aim_of_a_living_cluster_is_measured() -> None:
    """On small clusters: each piece of work gives its figures, and each figure has a bound and a goal."""
    small = Size(9, 2, 3)
    found = {
        **process(),
        **release(Workload("plain", 20, 20, "")),
        **drain(small),
        **cases(small),
        **cycles(small),
        **zone(small),
    }
    assert set(found) == {aim.figure for aim in LIVING_AIMS}
    assert all(value > 0 for value in found.values())
    assert all(aim.goal <= aim.bound for aim in LIVING_AIMS)
    assert len(WORK) == 6


def test_a_figure_above_its_bound_is_named() -> None:
    """The row shows figure, bound and goal; only what exceeds its bound is missed."""
    row = {**LIVING_AIMS[0]._asdict(), "bound": 3.5, "goal": 1.5, "value": 3.6}
    assert [cell.strip() for cell in table(LIVING_COLUMNS, [row]).splitlines()[2].split("|")[2:5]] == [
        "3.60 ×",
        "3.5",
        "1.5",
    ]
    (text,) = exceeded([row, {**row, "value": 3.5}])
    assert text.endswith("3.60 ×, the bound is 3.5")


def test_twenty_thousand_nodes_have_a_row_for_each_release() -> None:
    """The row says the rate, the aim and whether placements are the recorded ones; a missed aim is named."""

    def runner(workload: Workload, trace: str, release: str) -> dict[str, Any]:
        assert (workload.nodes, workload.pods, trace) == (20_000, 20_000, "off")
        digest = workload.placements if release == "v1.11" else "0" * 16
        return {"cycles": 20_000, "cpu_seconds": 2.0, "peak_mib": 100.0, "placements_sha256": digest}

    rows = measure_scale(runner, SCALES)
    assert [row["same_placements"] for row in rows] == [True, False]
    assert missed_at_scale(rows) == ["v1.11, 20,000 nodes: 10,000 cycles/CPU s, the aim is 15,000"]
    assert "| v1.37   | 20,000 | 20,000 | 10,000       | 8,000  | 100 | DIFFER" in table(SCALE_COLUMNS, rows)
