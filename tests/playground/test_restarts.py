"""A scheduler that is restarted while a source is played: each cycle shows the profile of its own time."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from playground.celery import app
from playground.models import Run
from playground.panels import steps
from playground.playback import sources
from playground.playback.playback import Playback
from playground.playback.tables import Tables
from playground.playback.trail import Trail
from playground.runs import compute, service
from playground.storage import bundles
from playground.tasks import run_simulation
from scheduler_core import BundleError, load
from tests.playground.conftest import DATA, OWNER

TEXT = (DATA / "restart.yaml").read_text()
PARTS = ["policy", "predicates", "priorities", "queue"]


def played() -> Playback:
    playback = Playback(load(TEXT, title="two restarts"))
    while playback.advance(1):
        pass
    return playback


def lights(playback: Playback) -> list[dict[str, Any]]:
    cycles: list[dict[str, Any]] = json.loads(steps.window(playback, 1, 100))["cycles"]
    return cycles


def test_marks_flag_the_cycles_before_which_the_scheduler_was_restarted() -> None:
    """The timeline knows of every restart, two operations before one cycle being one."""
    playback = played()
    assert playback.trail.marks(1, 99)["restarts"] == [3, 4]
    assert playback.trail.marks(4, 4)["restarts"] == [4]
    assert playback.trail.marks(1, 2)["restarts"] == []


def test_light_cycles_tell_of_the_restart() -> None:
    """What differs stands in the cycle that comes after it and in its story, and nowhere else."""
    shown = lights(played())
    assert [light["policy"] for light in shown] == [0, 0, 1, 3]
    assert [light["restart"] is not None for light in shown] == [False, False, True, True]
    assert "every predicate runs on every node" in shown[2]["restart"]
    assert shown[2]["operations"] == ["create Policy: the scheduler restarts"]
    reported = "".join(
        part if isinstance(part, str) else "".join(part.values()) for part in shown[3]["story"][1]
    )
    assert reported.startswith("The scheduler was restarted with another policy: ")
    assert "the static order is the proposal's" in reported


def test_every_panel_shows_the_profile_of_its_cycle() -> None:
    """Ladder, matrix, priorities and the policy itself are those in force, read in any order."""
    playback = played()
    for index in (4, 1, 3, 2):
        parts = steps.parts(playback, index, PARTS)
        light = lights(playback)[index - 1]
        assert [name for name, _, _ in light["ladder"]] == parts["predicates"]["order"]
        assert parts["policy"]["predicates"] == parts["predicates"]["order"]
    first, lenient, last = (steps.parts(playback, index, PARTS) for index in (1, 3, 4))
    assert first["policy"] == playback.profile.summary()
    assert lenient["policy"]["predicates"] == ["CheckNodeCondition", "HostName", "PodFitsResources"]
    assert lenient["policy"]["alwaysCheckAllPredicates"] is True
    assert lenient["predicates"]["skipped"] == "none"
    assert last["predicates"]["skipped"] == first["predicates"]["skipped"] == "after-first-failure"
    assert last["policy"]["predicateOrder"] == "proposal"
    assert last["predicates"]["order"][1] == "HostName"


def test_the_settings_of_the_cache_are_those_in_force_at_the_cycle() -> None:
    """A restart can put a cache in force; the policy of an earlier cycle does not know of it."""
    settings = "predicateOrder: proposal, cache: sound, audit: true, staleWrites: none"
    playback = Playback(load(TEXT.replace("predicateOrder: proposal", settings)))
    while playback.advance(1):
        pass
    first, last = (steps.parts(playback, index, ["policy"])["policy"] for index in (1, 4))
    reported = ("cache", "equivalenceClass", "audit", "staleWrites")
    assert [first[name] for name in reported] == ["off", "controller", False, "generations"]
    assert [last[name] for name in reported] == ["sound", "controller", True, "none"]


def test_stored_rows_keep_restarts() -> None:
    """A trail read from its rows has the same marks and knows the same configurations."""
    playback = played()
    rows = [playback.trail.row(index) for index in range(1, len(playback) + 1)]
    again = Trail(playback.scenario, Tables(playback.scenario))
    again.extend(json.loads(json.dumps(rows)))
    assert again.marks(1, 99) == playback.trail.marks(1, 99)
    assert [again.configurations(index) for index in range(1, 5)] == [0, 0, 1, 3]


@pytest.mark.django_db(transaction=True)
def test_a_run_resumes_across_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that takes over after the restart ends where one that computed everything ends."""
    monkeypatch.setattr(app, "send_task", lambda *_, **__: None)
    monkeypatch.setattr(compute, "SLICE_CYCLES", 1)
    run, _ = service.start(bundles.parse([("", TEXT)], "two restarts"), OWNER)
    claim = compute.claim_run(run.pk)
    assert claim
    dying = compute._Attempt(run.pk, claim)
    for _ in range(3):
        dying._slice()
    Run.objects.filter(pk=run.pk).update(heartbeat=timezone.now() - timedelta(seconds=31))
    assert run_simulation(run.pk) == "done"
    shown = sources.open_playback(sources.find({"run": run.pk}, OWNER))
    decided = played()
    assert shown.trail.decisions == decided.trail.decisions
    assert shown.trail.marks(1, 99) == decided.trail.marks(1, 99)
    assert lights(shown) == lights(decided)


def test_a_wrong_policy_of_an_operation_names_its_line() -> None:
    """The editor marks the line inside the operation."""
    wrong = TEXT.replace("{name: PodFitsHost}", "{name: PodFitsHosts}")
    with pytest.raises(BundleError) as caught:
        bundles.parse([("", wrong)])
    [problem] = bundles.problems_wire(caught.value.problems)
    assert problem["line"] == 1 + wrong[: wrong.index("PodFitsHosts")].count("\n")
    assert problem["path"] == "spec.operations[0].createOperation.object.predicates[1].name"
