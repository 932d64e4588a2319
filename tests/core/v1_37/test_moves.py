from __future__ import annotations

from scheduler_core.schedulers.v1_37.moves import Move, Moves


def drained(*moves: Move) -> list[tuple[str, str, dict[str, str], str | None]]:
    """Return what the record shows of moves."""
    log = Moves()
    for move in moves:
        log.add(move)
    return [(row["event"], row["pod"], row["hints"], row["to"]) for row in log.drain()]


def test_successive_events_of_one_name_are_sorted_by_pod() -> None:
    """Those of another name in between keep them apart."""
    queue = {"P": "Queue"}
    rows = [("E", "b"), ("E", "a"), ("F", "z"), ("E", "c"), ("E", "a")]
    got = [row[:2] for row in drained(*(Move(event, key, queue, None) for event, key in rows))]
    assert got == [("E", "a"), ("E", "b"), ("F", "z"), ("E", "a"), ("E", "c")]


def test_a_move_without_answers_that_went_nowhere_is_left_out() -> None:
    """One that moved without being asked is kept."""
    assert drained(Move("E", "a", {}, None), Move("E", "b", {}, "active")) == [("E", "b", {}, "active")]


def test_moves_of_a_group_are_merged() -> None:
    """Queue outweighs QueueSkip, and where it finally went is kept; single pods are not merged."""
    group = [
        Move("E", "g", {"P": "QueueSkip"}, None, group=True),
        Move("E", "g", {"P": "Queue"}, None, group=True),
        Move("E", "g", {}, "active", group=True),
    ]
    pods = [Move("E", "h", {"P": "Queue"}, None), Move("E", "h", {"P": "Queue"}, "backoff")]
    assert drained(*group, *pods) == [
        ("E", "g", {"P": "Queue"}, "active"),
        ("E", "h", {"P": "Queue"}, None),
        ("E", "h", {"P": "Queue"}, "backoff"),
    ]


def test_draining_begins_anew() -> None:
    """A second drain has only what came after the first."""
    log = Moves()
    log.add(Move("E", "a", {}, "active"))
    assert len(log.drain()) == 1
    assert log.drain() == []
