"""Time on the wire: moments of a step, times of marks, and the end of a run."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from playground.panels import steps
from playground.panels.moments import MOMENTS_SHOWN, cut, event_moments
from playground.playback.changes import Placement
from playground.playback.playback import OutOfRangeError, Playback
from playground.playback.tables import ABSENT
from scheduler_core import load
from scheduler_core.authoring.examples import find
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run import simulate
from tests.e2e.bundles import any_release, by_v1_11
from tests.playground.test_virtual_time import OPERATED, TEXTS, played, played_once


def moved(placement: Placement, moments: list[dict[str, Any]]) -> None:
    """Move pods as the moments say."""
    for moment in moments:
        for pod, node in moment["moves"]:
            placement[pod] = ABSENT if node is None else node


def moments_of(playback: Playback, index: int) -> list[dict[str, Any]]:
    """Return the moments of a cycle, or of the end, as they leave the server."""
    found: list[dict[str, Any]] = json.loads(json.dumps(steps.parts(playback, index, ["moments"])))["moments"]
    return found


@pytest.mark.parametrize("slug", [*TEXTS, *OPERATED])
def test_the_moments_of_a_step_lead_from_the_placement_before_it_to_the_next(slug: str) -> None:
    """In every shipped scenario with time or operations, put together they are what the cycle changes."""
    playback = played_once({**TEXTS, **OPERATED}[slug])
    for index in range(1, min(len(playback), 60) + 1):
        moments = moments_of(playback, index)
        placement = playback.trail.placement_before(index)
        moved(placement, moments)
        assert placement.tolist() == playback.trail.placement_before(index + 1).tolist(), index
        assert [moment["kind"] for moment in moments].count("attempt") == 1
        kinds = [("event", "attempt", "consequence").index(moment["kind"]) for moment in moments]
        assert kinds == sorted(kinds)
        assert [moment["time"] for moment in moments] == sorted(moment["time"] for moment in moments)
        assert len(moments) <= MOMENTS_SHOWN


@pytest.mark.parametrize("slug", TEXTS)
def test_the_end_is_where_the_simulation_ends(slug: str) -> None:
    """After the last cycle, the moves of the end lead to the simulation's last placement and time."""
    playback = played_once(TEXTS[slug])
    simulation = simulate(playback.scenario, trace=False)
    for _ in simulation:
        pass
    end = len(playback) + 1
    answer = steps.parts(playback, end, [])
    placement = playback.trail.placement_before(end)
    moved(placement, answer["moments"])
    names = [node.meta.name for node in playback.tables.nodes]
    shown = {
        pod.meta.key: names[node] if node >= 0 else ""
        for pod, node in zip(playback.tables.pods, placement.tolist(), strict=True)
        if node != ABSENT
    }
    assert shown == simulation.placement()
    assert (answer["end"], answer["index"], answer["time"]) == (True, end, simulation.time)
    on_node = sum(1 for node in shown.values() if node)
    assert answer["story"][1][0] == {"strong": f"{on_node or 'No'} pod" + ("s" if on_node > 1 else "")}
    assert playback.locate("end") == playback.locate(str(end)) == end


def test_there_is_no_end_before_all_is_computed_or_where_time_stands_still() -> None:
    """An end is only offered where there is one."""
    young = Playback(load(TEXTS["coscheduling-room"]))
    assert not young.ended
    assert young.locate("end") is None
    with pytest.raises(OutOfRangeError):
        young.rest()
    first = find("first-cycle")
    assert first is not None
    old = played(by_v1_11(any_release(first.read())))
    assert old.complete
    assert not old.ended
    assert old.locate(str(len(old) + 1)) is None


def test_a_stored_run_has_its_end_once_its_worker_got_there() -> None:
    """The rows of a worker bring no end with them: it is computed; a run that was cancelled has none."""
    source = played(TEXTS["gang-deadlock-coscheduled"])
    rows = [source.trail.row(index) for index in range(1, len(source) + 1)]
    runs = [Playback(source.scenario, stored=True) for _ in range(2)]
    for run, over in zip(runs, (True, False), strict=True):
        run.follow(lambda _: [json.loads(json.dumps(rows))], complete=True, over=over)
    done, cancelled = runs
    end = len(source) + 1
    assert steps.parts(done, end, []) == steps.parts(source, end, [])
    assert not cancelled.ended
    with pytest.raises(OutOfRangeError):
        steps.parts(cancelled, end, [])
    # the last cycle is still itself after the end was looked at
    with done.after(len(source)) as simulation:
        before = simulation.placement()
    with source.after(len(source)) as simulation:
        assert simulation.placement() == before


def test_marks_have_the_times_of_cycles_and_where_something_came_from_outside() -> None:
    """Times are those of the cycles; operations begin every new major step."""
    for text in (*TEXTS.values(), *OPERATED.values()):
        playback = played_once(text)
        count = min(len(playback), 80)
        cycles = [playback.cycle(index) for index in range(1, count + 1)]
        marks = playback.trail.marks(1, count)
        assert marks["time"] == [pytest.approx(cycle.time, abs=0.001) for cycle in cycles]
        majors = [1, *(int(cycle.step.split(".")[0]) for cycle in cycles)]
        assert marks["operations"] == [n for n in range(1, count + 1) if majors[n] != majors[n - 1]]
        for index in range(1, count + 1):
            alone = playback.trail.marks(index, index)
            assert alone["operations"] == [n for n in marks["operations"] if n == index]
            assert alone["time"] == [marks["time"][index - 1]]


def test_too_many_moments_are_reported_as_one_that_keeps_their_moves() -> None:
    """A burst is cut to a bounded answer, and nobody stands where they do not."""
    pods = {f"a/p{n}": n for n in range(500)}
    happenings = [
        TimelineEvent(float(n), "Scheduled", key, f"to n{n}", moves=((key, "n"),)) for key, n in pods.items()
    ]
    rows = event_moments(happenings, "", "event", pods, {"n": 0})
    assert len(rows) == 500
    shown = cut(rows, 100)
    assert len(shown) == 100
    assert shown[-1]["more"] == 401
    placement = np.full(500, -1, np.int32)
    moved(placement, shown)
    assert set(placement.tolist()) == {0}


def test_what_is_passed_over_still_moves() -> None:
    """A happening that no sentence tells of adds its moves to the one before it, or to the next."""
    pods = {"a/x": 0, "a/y": 1}
    silent = TimelineEvent(1.0, "FailedScheduling", "a/x", moves=(("a/x", None),))
    loud = TimelineEvent(2.0, "Started", "a/y", moves=(("a/y", "n"),))
    for order in ([silent, loud], [loud, silent]):
        (only,) = event_moments(order, "a/x", "consequence", pods, {"n": 7})
        assert sorted(only["moves"], key=str) == [[0, None], [1, 7]]
    (alone,) = event_moments([silent], "a/x", "consequence", pods, {"n": 7})
    assert alone["moves"] == [[0, None]]
