"""Histories that are drawn at random are those of the seed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scheduler_core.studies.contracts.case import CaseOutcome
from scheduler_core.studies.contracts.search import CheckBounds, Countdown, sample

SIZES = (2, 3, 5000, 1)
BOUNDS = CheckBounds(cases=200, seed=7)


def drawn() -> list[tuple[int, ...]]:
    """Return the histories that are played where none breaks the claim."""
    played: list[tuple[int, ...]] = []

    def play(picks: Any) -> CaseOutcome:
        played.append(picks)
        return CaseOutcome(margin=float(sum(picks)))

    histories: Any = SimpleNamespace(sizes=SIZES, size=30_000, at=lambda picks: picks)
    sample(histories, play, BOUNDS, Countdown(600), lambda played: None)
    return played


def test_the_modules_of_the_process_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A web server, which has imported more, draws what the command line draws, and leaves no files."""
    monkeypatch.chdir(tmp_path)
    before = drawn()
    (tmp_path / "constants_of_a_server.py").write_text(f"NUMBERS = {list(range(2000, 2900))}")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("constants_of_a_server")
    assert drawn() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_every_pick_can_be_drawn() -> None:
    """Numbers stay below their size, and those of small sizes all come."""
    picks = list(zip(*drawn(), strict=True))
    assert [set(numbers) for numbers in (picks[0], picks[1], picks[3])] == [{0, 1}, {0, 1, 2}, {0}]
    assert min(picks[2]) == 0 and 2500 < max(picks[2]) < SIZES[2] and len(set(picks[2])) > 50
