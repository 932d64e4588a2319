"""Will it start, and whom does it preempt? Submit a Workload to a copy and report what happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.kueue.nomination import CycleRecord
from scheduler_core.cluster.kueue.workload import Workload
from scheduler_core.explain.kueue.answer import KueueAnswer, answer
from scheduler_core.explain.kueue.trials import TrialCourse, course
from scheduler_core.explain.section import Section


class Submission(Struct, frozen=True):
    """What happens to a Workload that is submitted now: the cycles, whom it preempts, and why it waits."""

    workload: str
    is_admitted: bool
    preempted: tuple[tuple[str, str], ...]  # each with its reason
    displaced: tuple[str, ...]  # those that are not admitted, and would have been without it
    cycles: int
    answer: KueueAnswer

    @property
    def head(self) -> tuple[str, ...]:
        """What happens, in words."""
        verdict = "would be admitted" if self.is_admitted else "would not be admitted"
        cycles = "1 cycle" if self.cycles == 1 else f"{self.cycles:,} cycles"
        listed = ", ".join(f"{key} ({reason})" for key, reason in self.preempted)
        sentences = (
            f"Workload {self.workload} {verdict} ({cycles}).",
            f"Preempted in this order: {listed}." if listed else "",
            f"No longer admitted because of it: {', '.join(self.displaced)}." if self.displaced else "",
            self.answer.summary,
        )
        return tuple(filter(None, sentences))

    @property
    def sections(self) -> Iterator[Section]:
        """Why it waits, if it does."""
        return iter(()) if self.is_admitted else self.answer.sections

    def as_dict(self) -> dict[str, Any]:
        """Return what happens as JSON."""
        return {
            "workload": self.workload,
            "admitted": self.is_admitted,
            "preempted": [{"workload": key, "reason": reason} for key, reason in self.preempted],
            "displaced": list(self.displaced),
            "cycles": self.cycles,
            "answer": self.answer.as_dict(),
        }


def submit(control: Control, workload: Workload) -> Submission:
    """Submit a Workload to a copy of Kueue's state, and run it until it rests; jobs stop when evicted."""
    before = course(control, lambda _: None)
    made = course(control, lambda copy: copy.write(workload))
    return Submission(
        workload.key,
        made.admits(workload.key),
        tuple(_preempted(made.cycles)),
        tuple(_displaced(before, made)),
        len(made.cycles),
        answer(made.control, workload.key),
    )


def _preempted(cycles: Sequence[CycleRecord]) -> Iterator[tuple[str, str]]:
    seen = set()
    for one in (entry for cycle in cycles for entry in cycle.entries if entry.is_preempting):
        for target in one.targets:
            if target.reserving.key not in seen:
                seen.add(target.reserving.key)
                yield target.reserving.key, target.reason


def _displaced(before: TrialCourse, made: TrialCourse) -> Iterator[str]:
    for key, one in before.control.workloads.items():
        if one.is_reserving and before.admits(key) and not made.admits(key):
            yield key
