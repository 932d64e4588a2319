"""The windows in which room may be given away twice, and what a lane tells of its scheduler."""

from __future__ import annotations

from scheduler_core.record.cycle import Cycle
from scheduler_core.record.several import Lane, ViewRecord, Window
from tests.core.several.parts import pod, run, settings
from tests.core.timed.parts import node

FIRST = "name: default-scheduler, watchDelay: 1, decisionTime: 0.5, bindDelay: 0.5"
SECOND = "name: second, watchDelay: 2, decisionTime: 0.5, bindDelay: 0.5"


def recorded(*documents: str) -> list[ViewRecord]:
    """Return the views of the cycles of a run."""
    return [viewed(cycle) for cycle in run(*documents)[1]]


def viewed(cycle: Cycle) -> ViewRecord:
    """Return the view of a cycle."""
    assert isinstance(cycle.view, ViewRecord)
    return cycle.view


def of(record: ViewRecord, name: str) -> Lane:
    """Return a scheduler's lane."""
    (found,) = (lane for lane in record.lanes if lane.scheduler == name)
    return found


def promised(window: Window) -> dict[str, str]:
    """Return the pods that are on their way to a node, with who placed them."""
    return {one.pod: one.scheduler for one in window.promised}


def test_a_node_that_two_give_away_has_a_window_with_less_than_nothing_left() -> None:
    """Two pods of 2 CPUs each on a node of 3: after the second decision there is one CPU too few."""
    first, second = recorded(settings(FIRST, SECOND), node("n1", 3), pod("a", 2), pod("b", 2, of="second"))[
        :2
    ]
    (window,) = first.windows
    assert (promised(window), window.unaware) == ({"default/a": "default-scheduler"}, ("second",))
    assert window.free["cpu"] == 1000
    (window,) = second.windows
    assert promised(window) == {"default/a": "default-scheduler", "default/b": "second"}
    assert set(window.unaware) == {"default-scheduler", "second"}
    assert window.free["cpu"] == -1000
    assert second.windows_count == 1


def test_a_window_is_open_until_the_last_scheduler_has_heard_of_the_binding() -> None:
    """Bound at 1 s, heard of 2 s later: decisions of the second between have a window, later ones none."""
    pods = [pod("a", 1), *(pod(f"c{place}", 8, of="second") for place in range(8))]
    found = recorded(settings(FIRST, SECOND), node("n1", 4), *pods)
    decided = {record.decided: record for record in found if record.scheduler == "second"}
    between = [record for time, record in decided.items() if 1 < time < 3]
    after = [record for time, record in decided.items() if time > 3.5]
    assert between
    assert after
    for record in between:
        (window,) = record.windows
        assert (window.promised, window.unaware, window.free["cpu"]) == ((), ("second",), 3000)
    assert not any(record.windows for record in after)


def test_with_one_scheduler_no_window_is_open() -> None:
    """What it decided itself it counts, however late the binding is."""
    found = recorded(settings(FIRST), node("n1", 4), pod("a"), pod("b"))
    assert len(found) == 2
    assert not any(record.windows for record in found)


def test_a_node_that_another_does_not_see_has_no_window() -> None:
    """With pools nobody else can give away the room."""
    pools = (f"{FIRST}, nodes: {{pool: one}}", f"{SECOND}, nodes: {{pool: two}}")
    nodes = (node("n1", 4, pool="one"), node("n2", 4, pool="two"))
    found = recorded(settings(*pools, design="node-pools"), *nodes, pod("a"), pod("b", of="second"))
    assert len(found) == 2
    assert not any(record.windows for record in found)


def test_a_lane_tells_what_its_scheduler_does() -> None:
    """What it decides about and until when, what it has still to place, and how late it hears of it."""
    first = recorded(settings(FIRST, SECOND), node("n1", 9), pod("a"), pod("b", of="second"), pod("c"))[0]
    busy, late = of(first, "default-scheduler"), of(first, "second")
    assert (busy.pod, busy.deciding, busy.until, busy.pending) == ("default/a", 0.003, 0.503, 2)
    assert (late.pod, late.until, late.pending, late.watch_delay) == ("default/b", 0.503, 1, 2.0)


def test_a_scheduler_that_has_nothing_to_do_has_a_lane_if_it_is_listed() -> None:
    """One that is not listed has none."""
    (record,) = recorded(settings(FIRST, SECOND), node("n1"), pod("a"))
    assert [lane.scheduler for lane in record.lanes] == ["default-scheduler", "second"]
    idle = of(record, "second")
    assert (idle.deciding, idle.pod, idle.until, idle.pending) == (None, "", None, 0)


def test_the_kubelets_reason_is_reported() -> None:
    """Beside its message, for whom the message is too long."""
    _, cycles = run(
        settings(FIRST, SECOND), node("n1", 3), pod("a", 2), pod("b", 2, of="second"), pod("c", 9)
    )
    reasons = [(one.noticed, one.reason) for cycle in cycles for one in viewed(cycle).outcomes]
    assert reasons == [("kubelet", "OutOfcpu")]
