"""Virtual time in the playground: playing, changes, stored rows, marks, and pods that controllers make."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from playground.celery import app
from playground.panels import steps
from playground.playback import sources
from playground.playback.library import Library
from playground.playback.playback import Playback
from playground.playback.tables import ABSENT, Tables
from playground.playback.trail import Trail
from playground.runs import compute, service
from playground.storage import bundles
from scheduler_core import load
from scheduler_core.authoring.examples import examples
from scheduler_core.run import simulate
from tests.e2e.bundles import any_release, by_v1_11
from tests.example_kinds import example_kinds

DATA = Path(__file__).parent / "data"
CHURN = (DATA / "timed" / "churn.yaml").read_text()


#: The shipped bundles by their slugs.
SHIPPED = {example.slug: example.read() for example in examples()}
#: The timed bundles: those that are shipped, and one where controllers make pods.
TEXTS = {"churn": CHURN, **{slug: SHIPPED[slug] for slug, kind in example_kinds().items() if kind.timed}}
#: The others that have operations.
OPERATED = {slug: SHIPPED[slug] for slug, kind in example_kinds().items() if kind.operated and not kind.timed}


def example_text(slug: str) -> str:
    """Return the manifests of an example."""
    return next(example.read() for example in examples() if example.slug == slug)


def played(text: str) -> Playback:
    """Return a playback that has been computed to its end."""
    playback = Playback(load(text, title="t"))
    while playback.advance(1):
        pass
    return playback


@cache
def played_once(text: str) -> Playback:
    """Return the same, one for all tests that only read it."""
    return played(text)


@pytest.mark.parametrize("slug", TEXTS)
def test_the_trail_places_every_pod_where_the_simulation_does(slug: str) -> None:
    """After every cycle, computed or read from stored rows, pods are where the simulation has them."""
    playback = played_once(TEXTS[slug])
    rows = [playback.trail.row(index) for index in range(1, len(playback) + 1)]
    again = Trail(playback.scenario, Tables(playback.scenario))
    again.extend(json.loads(json.dumps(rows)))
    simulation = simulate(playback.scenario, trace=False)
    assert len(playback) > 1
    for index in range(len(playback) + 1):
        if index:
            simulation.step()
        for trail in (playback.trail, again):
            tables = trail.tables
            names = [node.meta.name for node in tables.nodes]
            placed = trail.placement_before(index + 1).tolist()
            shown = {
                pod.meta.key: names[node] if node >= 0 else ""
                for pod, node in zip(tables.pods, placed, strict=True)
                if node != ABSENT
            }
            assert shown == simulation.placement(), index


@pytest.mark.parametrize("slug", TEXTS)
def test_any_order_of_reading_gives_the_same_cycles(slug: str) -> None:
    """Reading backwards shows what reading from the front shows, matrices and groups included."""
    forward, backward = played(TEXTS[slug]), played(TEXTS[slug])
    count = min(len(forward), 12)
    parts = ["predicates", "queue"]
    ahead = [json.dumps(steps.parts(forward, index, parts)) for index in range(1, count + 1)]
    back = [json.dumps(steps.parts(backward, index, parts)) for index in range(count, 0, -1)]
    assert ahead == back[::-1]
    assert steps.window(forward, 1, count) == steps.window(backward, 1, count)


def test_stored_rows_keep_what_happened_to_groups_and_who_came() -> None:
    """A trail read from its rows has the same marks, and pods of the same size and owner."""
    playback = played(CHURN)
    rows = [playback.trail.row(index) for index in range(1, len(playback) + 1)]
    again = Trail(playback.scenario, Tables(playback.scenario))
    assert len(again.tables.pods) < len(playback.tables.pods)
    again.extend(json.loads(json.dumps(rows)))
    assert again.marks(1, len(rows)) == playback.trail.marks(1, len(rows))
    assert again.tables.pod_wire() == playback.tables.pod_wire()


def test_marks_tell_phases_rejections_and_timeouts_of_groups() -> None:
    """The marks of the seed's demo are a life of a PodGroup without room: its phases, and a rejection."""
    marks = played(TEXTS["coscheduling-no-room"]).trail.marks(1, 6)
    assert "w" in marks["result"]
    kinds = {(kind, phase) for _, kind, _, phase in marks["groups"]}
    assert {("phase", "Pending"), ("phase", "PreScheduling"), ("rejected", "")} <= kinds


def test_pods_that_wait_are_reported_with_every_cycle() -> None:
    """A light cycle has who waits at Permit after it, and the room of nobody else."""
    playback = played(TEXTS["coscheduling-room"])
    lights = json.loads(steps.window(playback, 1, 6))["cycles"]
    assert [len(light["waiting"]) for light in lights] == [1, 2, 3, 0, 0, 0]
    assert lights[0]["waiting"][0][:2] == [lights[0]["pod"], lights[0]["node"]]


def test_a_window_tells_of_pods_that_came() -> None:
    """Who knows the pods of the start learns of those that controllers made since, and of no other."""
    playback = played(CHURN)
    start = len(Tables(playback.scenario).pods)
    answer = json.loads(steps.window(playback, 1, 5, known=start))
    assert answer["pods"]["from"] == start
    assert [*playback.tables.pod_index][start:] == answer["pods"]["keys"]
    assert len(answer["placement"]) == start + len(answer["pods"]["keys"])
    assert "pods" not in json.loads(steps.window(playback, 1, 5, known=len(playback.tables.pods)))


def test_the_queue_tells_sort_keys_and_why_pods_moved() -> None:
    """Under the plugin's QueueSort the key is priority, group time and name; a flush is reported as one."""
    queue = steps.parts(played(TEXTS["coscheduling-no-room"]), 7, ["queue"])["queue"]
    tried = queue["timed"]["tried"]
    assert tried[2][2] == tried[0] and tried[3] == "group"
    assert tried[8] == "UnschedulableTimeout" and "flushed" in tried[7]
    assert "group" in queue["key"]


def test_under_v1_11_there_is_nothing_to_show_and_it_is_said() -> None:
    """Without virtual time the part says why it is empty, and the queue is as it was."""
    playback = played(by_v1_11(any_release(example_text("first-cycle"))))
    parts = steps.parts(playback, 1, ["podgroups", "queue"])
    assert set(parts["podgroups"]) == {"why"}
    assert parts["queue"]["timed"] is None and "active" in parts["queue"]


@pytest.mark.django_db(transaction=True)
def test_a_run_in_virtual_time_opens_as_it_was_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker stores the run; the web process shows its cycles, its pods and its groups from the rows."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    run, _ = service.start(bundles.parse([("", CHURN)], "churn"), "owner")
    assert compute.compute(run.pk) == "done"
    run.refresh_from_db()
    source = sources.find({"run": run.pk}, "owner")
    opened, direct = sources.open_playback(source, Library()), played(CHURN)
    last = len(direct)
    assert run.outcomes["waiting"] == direct.trail.marks(1, last)["result"].count("w")
    assert run.placed == int((direct.trail.placement >= 0).sum())
    assert opened.trail.marks(1, last) == direct.trail.marks(1, last)
    assert steps.window(opened, 1, last) == steps.window(direct, 1, last)
