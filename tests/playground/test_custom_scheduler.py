"""A step of a scheduler that places several pods in one decision, in the workbench."""

from __future__ import annotations

import json

import pytest

from playground.celery import app
from playground.panels import steps
from playground.panels.cycle import PARTS, light
from playground.playback import sources
from playground.playback.library import Library
from playground.playback.playback import Playback
from playground.playback.tables import Tables
from playground.playback.trail import Trail
from playground.runs import compute, service
from playground.storage import bundles
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS
from tests.core.timed.batches import BATCHES, CLUSTER, NAME, RoundRobinInBatches
from tests.playground.test_podgroups_panel import words
from tests.playground.test_virtual_time import played


@pytest.fixture
def playback(monkeypatch: pytest.MonkeyPatch) -> Playback:
    monkeypatch.setitem(SCHEDULERS, NAME, RoundRobinInBatches)
    return played("---\n".join(CLUSTER))


def test_a_step_shows_its_placements(playback: Playback) -> None:
    """The story, the moments and the changes name every pod of the batch with its node."""
    shown = json.loads(playback.light(2, light))
    reported = "b0 on n1, default/b1 on n2 and default/b2 on n1"
    assert [words(sentence) for sentence in shown["story"]] == [
        f"The scheduler {NAME} places default/{reported} in one decision.",
        "2 more pods wait for it.",
    ]
    assert shown["profile"] == NAME
    pods, nodes = playback.tables.pod_index, playback.tables.node_index
    moves = [[pods[pod], nodes[node]] for pod, node in BATCHES[0]]
    assert shown["changes"] == moves
    moments = steps.parts(playback, 2, ["moments"])["moments"]
    attempt = next(moment for moment in moments if moment["kind"] == "attempt")
    assert attempt["moves"] == moves
    assert words(attempt["text"]) == f"default/{reported} are placed in one decision."


def test_it_has_neither_predicates_nor_priorities(playback: Playback) -> None:
    """Every part of the step is served; those of the framework say that they do not apply."""
    found = steps.parts(playback, 2, list(PARTS))
    assert set(PARTS) <= set(found)
    assert found["predicates"]["order"] == []
    assert found["priorities"] == {"why": f"The scheduler {NAME} has no priorities."}
    assert found["preemption"] == {"why": f"The scheduler {NAME} preempts no pods."}
    assert [key for key, _, _ in found["queue"]["active"]] == ["default/b3", "default/b4"]
    assert [cut["phase"] for cut in found["cuts"]] == ["assume", "queue", ""]


@pytest.mark.django_db
def test_a_run_opens_as_it_was_computed(playback: Playback, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker stores the batches, and the web process shows them from the rows."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    run, _ = service.start(bundles.parse([("", "---\n".join(CLUSTER))], "batches"), "owner")
    assert compute.compute(run.pk) == "done"
    run.refresh_from_db()
    assert (run.placed, run.cycles) == (6, 3)
    opened = sources.open_playback(sources.find({"run": run.pk}, "owner"), Library())
    assert steps.window(opened, 1, 3) == steps.window(playback, 1, 3)


def test_stored_rows_give_the_same_decisions(playback: Playback) -> None:
    """The rows of a run rebuild the decisions, and steps are shown in any order."""
    rows = [playback.trail.row(index) for index in range(1, len(playback) + 1)]
    again = Trail(playback.scenario, Tables(playback.scenario))
    again.extend(json.loads(json.dumps(rows)))
    assert again.decisions == playback.trail.decisions
    assert again.placement.tolist() == playback.trail.placement.tolist()
    assert [playback.cycle(index).decision for index in (3, 1, 2)] == [again.decisions[i] for i in (2, 0, 1)]
