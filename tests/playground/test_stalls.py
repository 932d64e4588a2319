"""When a worker counts as one that starts nothing."""

from __future__ import annotations

from playground.serving.stalls import STALLED_SECONDS, StallWatch


def test_a_task_that_waits_beside_a_free_process_is_a_stall() -> None:
    """From the first look that saw it wait, and only after a while."""
    watch = StallWatch(2)
    assert not watch.look(["a"], (), 0.0)
    assert not watch.look(["a"], (), STALLED_SECONDS)
    assert watch.look(["a"], (), STALLED_SECONDS + 1)


def test_a_busy_worker_is_not_stalled() -> None:
    """While every process computes, others wait for as long as that takes; they count from then on."""
    watch = StallWatch(1)
    for second in range(0, 100, 5):
        assert not watch.look(["a", "b"], ("a",), float(second))
    assert not watch.look(["b"], (), 100.0)
    assert not watch.look(["b"], ("b",), 119.0)


def test_an_idle_worker_is_not_stalled() -> None:
    """Nothing is taken, or each time something else."""
    watch = StallWatch(1)
    for second in range(0, 100, 5):
        assert not watch.look([f"task-{second}"], (), float(second))
        assert not watch.look([], (), float(second))
