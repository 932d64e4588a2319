"""How far the placement of a cell is from the best one."""

from __future__ import annotations

import pytest

from scheduler_core.authoring.examples import find
from scheduler_core.compare.optimum import distance
from scheduler_core.studies.sweep import cell_distance

ROWS = {
    "first-cycle": ("improved", 3, 3, 3, 1),  # spread over three nodes, and one would do
    "making-room": ("improved", 15, 7, 16, 6),
    "idle-but-full": ("optimal", 3, 2, 3, 2),
    "cache-overcommit": ("", 5, 2, None, None),  # more than fits: no placement keeps the rules
}


@pytest.mark.parametrize("name", ROWS)
def test_verdict_is_by_pods_then_by_nodes(name: str) -> None:
    """Every pod may move; a proof makes an equal placement the optimum."""
    example = find(name)
    assert example is not None
    found = cell_distance(example.load(), 3)
    assert (found.verdict, found.placed, found.nodes, found.best_placed, found.best_nodes) == ROWS[name]
    assert bool(found.why) == (not found.verdict)


def test_a_large_cluster_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, with the limit."""
    monkeypatch.setattr(distance, "MOST_SIZE", 5)
    example = find("first-cycle")
    assert example is not None
    found = cell_distance(example.load(), 1)
    assert found.why == "Not searched: 3 nodes × 3 pods, and 5 is the limit."
