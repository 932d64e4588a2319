"""Cycles of two runs in one order, and the placements of two runs by workload."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.compare.alignment import AlignedCycles, aligned, differences
from scheduler_core.compare.by_workload import by_workload, counted
from scheduler_core.record.cycle import Decision


def run(*attempts: str) -> list[Decision]:
    """Make decisions of ``pod`` or ``pod@node``."""
    return [
        Decision(pod, "scheduled" if node else "unschedulable", node or None)
        for pod, _, node in (attempt.partition("@") for attempt in attempts)
    ]


def test_one_attempt_more() -> None:
    """A pod that is tried twice in one run only shifts what follows; it is no difference of the others."""
    left, right = run("a@n1", "b", "b@n2", "c@n3"), run("a@n1", "b@n2", "c@n3")
    assert aligned(left, right) == (AlignedCycles(1, 1, 2), AlignedCycles(3, 0, 1), AlignedCycles(4, 3, 1))
    assert list(differences(left, right, aligned(left, right))) == [(2, 2), (3, 0)]


def test_the_same_and_nothing() -> None:
    """Equal runs are one row of pairs; a run beside an empty one is alone."""
    both = run("a@n1", "b@n2")
    assert aligned(both, both) == (AlignedCycles(1, 1, 2),)
    assert not list(differences(both, both, aligned(both, both)))
    assert aligned(both, []) == (AlignedCycles(1, 0, 2),)
    assert aligned([], []) == ()


def test_another_order_pairs_most() -> None:
    """The longest common series is paired; a pod that is tried elsewhere is alone on both sides."""
    assert aligned(run("z", "a", "b", "c"), run("a", "b", "c", "z")) == (
        AlignedCycles(1, 0, 1),
        AlignedCycles(2, 1, 3),
        AlignedCycles(0, 4, 1),
    )


ATTEMPTS = st.lists(st.sampled_from(["a@n1", "a@n2", "a", "b@n1", "b", "c@n1", "d"]), max_size=12)


@given(ATTEMPTS, ATTEMPTS)
def test_every_cycle_is_there_once_and_in_order(one: list[str], two: list[str]) -> None:
    """Whatever the runs, and a pair is always of one pod; no longer series of common cycles exists."""
    left, right = run(*one), run(*two)
    pairs = [
        (row.left + place if row.left else 0, row.right + place if row.right else 0)
        for row in aligned(left, right)
        for place in range(row.count)
    ]
    assert [a for a, _ in pairs if a] == list(range(1, len(left) + 1))
    assert [b for _, b in pairs if b] == list(range(1, len(right) + 1))
    both = [(a, b) for a, b in pairs if a and b]
    assert all(left[a - 1].pod == right[b - 1].pod for a, b in both)
    assert len(both) == _longest(left, right)


def _longest(left: list[Decision], right: list[Decision]) -> int:
    """Return the length of the longest common subsequence, by the textbook's table."""

    def keys(run: list[Decision]) -> list[tuple[str, int]]:
        pods = [decision.pod for decision in run]
        return [(pod, pods[:place].count(pod)) for place, pod in enumerate(pods)]

    one, two = keys(left), keys(right)
    table = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(two):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def test_by_workload() -> None:
    """Placed, pending, nodes and how many pods differ; a pod that only one run has differs too."""
    left = {"d/w-0": ("Job d/w", "n1"), "d/w-1": ("Job d/w", "n2"), "d/a": ("alone", "n1")}
    right = {**left, "d/w-1": ("Job d/w", ""), "d/w-2": ("Job d/w", "n1")}
    assert counted(by_workload(left, right)) == [
        {
            "workload": "Job d/w",
            "left": {"placed": 2, "pending": 0, "nodes": 2},
            "right": {"placed": 2, "pending": 1, "nodes": 1},
            "differing": 2,
        },
        {
            "workload": "alone",
            "left": {"placed": 1, "pending": 0, "nodes": 1},
            "right": {"placed": 1, "pending": 0, "nodes": 1},
            "differing": 0,
        },
    ]
