"""The moments of a step: who moves at each of them, and how a run stands when no cycle is to come."""

from __future__ import annotations

from hypothesis import given, settings

from scheduler_core import Simulation, load
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.coscheduling.record import record_of
from tests.core.timed.parts import VIRTUAL, coscheduling, ended, group, history, node, pod, simulation
from tests.core.timed.test_replay import scenarios
from tests.core.trials import trials

Moves = tuple[tuple[str, str | None], ...]


def moments(cycle: Cycle) -> list[Moves]:
    """Return who moves at each moment of a step: what happens before, the attempt, its consequences."""
    before, after = ([one.moves for one in reported] for reported in (cycle.happenings, cycle.consequences))
    return [*before, cycle.own_moves, *after]


def moved(places: dict[str, str | None], moves: Moves) -> None:
    """Apply moves to the nodes of pods, one after the other."""
    for key, place in moves:
        assert places.get(key) != place
        places[key] = place


def ended_so(rest: FinalState) -> list[tuple[object, ...]]:
    """Return what an end tells, but for the objects of the run that it came from."""
    return [(one.time, one.what, one.about, one.text, one.moves) for one in rest.happenings] + [
        (rest.time, rest.queue, record_of(rest), rest.moves)
    ]


@given(scenarios())
@settings(max_examples=trials(20))
def test_the_moments_of_every_step_lead_from_its_placement_to_the_next(scenario: Scenario) -> None:
    """Put together, the moves of a step's moments are the cycle's, and lead to where the pods are then."""
    made, plain = TimedSimulation(scenario), TimedSimulation(scenario, trace=False)
    places: dict[str, str | None] = dict(made.placement())
    for cycle in made:
        assert tuple(move for moves in moments(cycle) for move in moves) == cycle.moves
        moved(places, cycle.moves or ())
        assert {key: node for key, node in places.items() if node is not None} == made.placement()
        other = plain.step()
        assert other is not None
        assert other.moves == cycle.moves
    rest = made.rest
    assert rest is not None
    assert tuple(move for one in rest.happenings for move in one.moves) == rest.moves
    moved(places, rest.moves)
    assert {key: node for key, node in places.items() if node is not None} == made.placement()
    assert plain.step() is None
    assert plain.rest is not None
    assert ended_so(plain.rest) == ended_so(rest)


def reported(happenings: tuple[TimelineEvent, ...], what: str) -> TimelineEvent:
    """Return the only happening of its kind."""
    (found,) = (one for one in happenings if one.what == what)
    return found


def test_a_pod_leaves_its_node_at_the_moment_that_tells_of_it() -> None:
    """What ends, is rejected or is created moves with its own happening, the tried pod with the attempt."""
    made, cycles = ended(
        coscheduling(permitWaitingTimeSeconds=5),
        node("n", 2),
        group("g", 2),
        pod("g-1", group="g", run="30"),
        pod("one", run="2"),
        history("time: 4, deleteOperation: {typeMeta: {kind: Pod}, objectMeta: {name: late}}"),
        pod("late", 9),
    )
    alone = next(cycle for cycle in cycles if cycle.pod == "default/one")
    assert alone.own_moves == (("default/one", "n"),)
    happened = [one for cycle in cycles for one in (*cycle.happenings, *cycle.consequences)]
    rest = made.rest
    assert rest is not None
    found = {one.what: one for one in (*happened, *rest.happenings) if one.moves}
    assert found["Succeeded"].moves == (("default/one", None),)
    assert found["Operation"].moves == (("default/late", None),)


def test_a_time_out_takes_the_pod_off_its_node_at_its_own_moment() -> None:
    """The pod whose time at Permit is up holds its node until then, whatever was reported before."""
    made, cycles = ended(
        coscheduling(permitWaitingTimeSeconds=50),
        node("n", 1),
        group("g", 2),
        pod("g-1", group="g"),
        pod("g-2", group="g").replace("spec: {", "spec: {schedulerName: other, "),
        pod("big", 3),
    )
    rest = made.rest
    assert rest is not None
    happened = [one for cycle in cycles for one in (*cycle.happenings, *cycle.consequences)]
    off = [one for one in (*happened, *rest.happenings) if ("default/g-1", "") in one.moves]
    assert 50 < off[0].time < 51
    assert "timeout" in off[0].text or off[0].what == "Moved"


def test_the_rest_is_there_when_no_cycle_is_to_come() -> None:
    """Time, queues and groups at the end are those after the last timer, not those of the last cycle."""
    made = simulation(coscheduling(), node("n"), group("g", 1), pod("a", group="g", run="30"), pod("wide", 9))
    assert made.rest is None
    cycles = list(made)
    rest = made.rest
    assert rest is not None
    assert rest.time > 30 > cycles[0].time
    groups = record_of(rest).groups
    assert groups is not None
    assert groups.listed[0].phase == "Finished"
    assert rest.queue.counts == {"active": 0, "backoff": 0, "unschedulable": 1, "gated": 0, "waiting": 0}
    assert [entry.pod for entry in rest.queue.entries] == ["default/wide"]
    assert made.rest is rest


def test_the_rest_tells_what_happened_after_the_last_cycle() -> None:
    """A pod that ends after the last cycle is reported there, with its move."""
    made, _ = ended(VIRTUAL, node("n"), pod("a", run="30"))
    rest = made.rest
    assert rest is not None
    end = reported(rest.happenings, "Succeeded")
    assert 30 < end.time <= 31
    assert end.moves == rest.moves == (("default/a", None),)


def test_where_time_stands_still_there_is_no_rest() -> None:
    """A run of v1.11 ends with its last cycle."""
    made = Simulation(load("---\n".join([node("n"), pod("a")])))
    list(made)
    assert made.rest is None
