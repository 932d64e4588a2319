"""Operations that name a second instead of a step."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core import Scenario, Simulation, load
from scheduler_core.scenario.history import Moment, placed, with_operations
from scheduler_core.scenario.history_entries import creating, entries_of
from scheduler_core.scenario.load import load_documents
from tests.core.trials import trials

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "100", "pods": "100"}},
}


def pod(name: str) -> dict[str, Any]:
    """Return a pod that asks for nothing."""
    spec = {"containers": [{"name": "c"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def history(*moments: dict[str, Any]) -> Scenario:
    """Return a scenario that creates a pod at each of the moments, in that order in the text."""
    operations = [{**moment, **creating(pod(f"p{n}"))} for n, moment in enumerate(moments)]
    scenario = {"kind": "Scenario", "spec": {"operations": operations}}
    return load(json.dumps([NODE, scenario]))


def landed(scenario: Scenario) -> list[tuple[str, int, float]]:
    """Return the operations in order: the pod's number, the step and the second."""
    return [(o.key.removeprefix("default/p"), o.step, o.time) for o in scenario.operations]


def test_times_alone_order_operations_and_make_their_steps() -> None:
    """Those of one second share a step; the order in the text counts within it alone."""
    scenario = history({"time": 20}, {"time": 5.5}, {"time": 20}, {"time": 0})
    assert landed(scenario) == [("3", 1, 0.0), ("1", 2, 5.5), ("0", 3, 20.0), ("2", 3, 20.0)]
    assert [(c.pod, c.step, c.time) for c in Simulation(scenario)] == [
        ("default/p3", "2.1", 0.0),
        ("default/p1", "3.1", 5.5),
        ("default/p0", "4.1", 20.0),
        ("default/p2", "4.2", 20.0),
    ]


def test_times_alone_come_between_steps_that_have_times() -> None:
    """One lands after every step that is not later; steps that are written keep their numbers."""
    scenario = history(
        {"step": 1, "time": 10}, {"step": 9, "time": 30}, {"time": 10}, {"time": 20}, {"time": 40}
    )
    assert landed(scenario) == [
        ("0", 1, 10.0),
        ("2", 1, 10.0),
        ("3", 2, 20.0),
        ("1", 9, 30.0),
        ("4", 10, 40.0),
    ]
    assert [o.timed for o in scenario.operations] == [False, True, True, False, True]


def test_steps_without_a_time_count_a_second_each() -> None:
    """As ever: what lands at a time alone does not move them."""
    scenario = history({"step": 1}, {"step": 2}, {"step": 5}, {"time": 2.5})
    assert landed(scenario) == [("0", 1, 1.0), ("1", 2, 2.0), ("3", 3, 2.5), ("2", 5, 3.0)]


def test_the_history_s_entries_have_the_steps_that_follow_from_their_times() -> None:
    """Who lists or changes a history sees steps for all; the documents stay as they were written."""
    scenario = history({"time": 7}, {"time": 3})
    assert [(entry["step"], entry["time"]) for entry in entries_of(scenario.documents)] == [(1, 3), (2, 7)]
    written = scenario.documents[1]["spec"]["operations"]
    assert all("step" not in entry for entry in written)


def test_an_operation_can_be_put_between_two_that_name_times() -> None:
    """An edit at a step leaves what was before it and delays nothing that came later by time."""
    scenario = history({"time": 3}, {"time": 7})
    operations, name = placed(scenario, Moment(2, 1), creating(pod("edit")))
    changed = load_documents(with_operations(scenario.documents, operations))
    assert [(o.id == name, o.key, o.time) for o in changed.operations] == [
        (False, "default/p0", 3.0),
        (True, "default/edit", 3.0),
        (False, "default/p1", 7.0),
    ]


@given(st.lists(st.integers(0, 12), max_size=8))
@settings(max_examples=trials(50))
def test_times_and_the_steps_that_follow_from_them_are_the_same_history(times: list[int]) -> None:
    """Writing the steps down changes nothing of what a run does."""
    scenario = history(*({"time": time} for time in times))
    entries = [dict(entry) for entry in entries_of(scenario.documents)]
    written = load_documents(with_operations(scenario.documents, entries))
    assert [(o.key, o.step, o.time) for o in written.operations] == [
        (o.key, o.step, o.time) for o in scenario.operations
    ]
    assert [o.time for o in scenario.operations] == sorted(map(float, times))
    runs = [
        [(c.pod, c.step, c.time, c.node) for c in Simulation(s, trace=False)] for s in (scenario, written)
    ]
    assert runs[0] == runs[1]
