"""Virtual time in the playground: playing, changes, stored rows, marks, and pods that controllers make."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.playback.playback import Playback
from playground.playback.tables import ABSENT, Tables
from playground.playback.trail import Trail
from scheduler_core import load
from scheduler_core.examples import examples
from scheduler_core.timed import is_timed, simulate

DATA = Path(__file__).parent / "data"
CHURN = (DATA / "churn.yaml").read_text()


def timed_texts() -> dict[str, str]:
    """Return the timed bundles: those that are shipped, and one where controllers make pods."""
    texts = {example.slug: example.read() for example in examples()}
    return {"churn": CHURN, **{slug: text for slug, text in texts.items() if is_timed(load(text))}}


TEXTS = timed_texts()


def played(text: str) -> Playback:
    """Return a playback that has been computed to its end."""
    playback = Playback(load(text, title="t"))
    while playback.advance(1):
        pass
    return playback


@pytest.mark.parametrize("slug", TEXTS)
def test_the_trail_places_every_pod_where_the_simulation_does(slug: str) -> None:
    """After every cycle, computed or read from stored rows, pods are where the simulation has them."""
    playback = played(TEXTS[slug])
    rows = [playback.trail.row(index) for index in range(1, len(playback) + 1)]
    again = Trail(playback.scenario, Tables(playback.scenario))
    again.extend(json.loads(json.dumps(rows)))
    simulation = simulate(playback.scenario, trace=False)
    assert len(playback) > 3
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
    count = min(len(forward), 40)
    parts = ["predicates", "queue"]
    ahead = [json.dumps(forward.parts(index, parts)) for index in range(1, count + 1)]
    back = [json.dumps(backward.parts(index, parts)) for index in range(count, 0, -1)]
    assert ahead == back[::-1]
    assert forward.window(1, count) == backward.window(1, count)


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
