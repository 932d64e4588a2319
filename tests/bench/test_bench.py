"""The table of `make bench`, from figures made up for it, and one workload in earnest."""

from __future__ import annotations

import pytest

from tests.bench.__main__ import measure, row, table
from tests.bench.workloads import RECORDED, Workload

OFF = {"pods_per_second": 1000.0, "peak_mib": 80.0, "placements_sha256": "ab" * 32}
FULL = {**OFF, "pods_per_second": 250.0}


def test_a_row_holds_the_ratios() -> None:
    """A rate is set against v1.11's and against the rate with the full trace."""
    made = row(Workload("plain", 10, 20, "abababababababab", 100), OFF, FULL)
    assert (made["ratio_to_upstream"], made["full_to_off"], made["same_placements"]) == (10.0, 4.0, True)


def test_other_placements_are_seen() -> None:
    """Another digest shows as a difference; an unknown one as nothing."""
    other = row(Workload("plain", 10, 20, "0123456789abcdef", 100), OFF, FULL)
    unknown = row(Workload("plain", 10, 20), OFF, None)
    text = table([other, unknown]).splitlines()
    assert text[2].split("|")[-2].strip() == "DIFFER"
    assert text[3].split("|")[-2].strip() == "–"
    assert len({len(line) for line in text}) == 1


def test_the_command_answers_for_the_smallest_workload() -> None:
    """`scheduler_core bench` prints the fields that the table needs, and decides as v1.11 did."""
    smallest = min(RECORDED, key=lambda workload: workload.nodes * workload.pods)
    made = row(smallest, measure(smallest, "off", 1), None)
    assert made["same_placements"] is True
    assert made["off"]["pods_per_second"] == pytest.approx(
        made["off"]["cycles"] / made["off"]["seconds"], rel=0.05
    )
