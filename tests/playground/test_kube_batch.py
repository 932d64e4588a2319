"""A run with kube-batch in the workbench: its sessions are steps, with evictions."""

from __future__ import annotations

import json

import pytest

from playground.panels import steps
from playground.panels.cycle import PARTS, light
from playground.playback.tables import Tables
from playground.playback.trail import Trail
from tests.core.timed.test_kube_batch import GANG, PREEMPTING
from tests.playground.test_api_drafts import made
from tests.playground.test_podgroups_panel import words
from tests.playground.test_virtual_time import played


def test_a_session_is_a_step_with_its_placements() -> None:
    """Every part of it is served."""
    playback = played("---\n".join(GANG))
    shown = json.loads(playback.light(2, light))
    assert shown["profile"] == "kube-batch"
    reported = words(shown["story"][0])
    assert reported.startswith("The scheduler kube-batch places default/b")
    assert reported.endswith("in one decision.")
    found = steps.parts(playback, 2, list(PARTS))
    assert found["preemption"] == {"why": "The scheduler kube-batch preempts no pods."}


def test_a_session_that_only_evicts_names_its_victims() -> None:
    """The pod is gone after the step."""
    playback = played("---\n".join(PREEMPTING))
    shown = json.loads(playback.light(1, light))
    story = " ".join(words(sentence) for sentence in shown["story"])
    assert "It evicts default/l" in story
    found = steps.parts(playback, 1, list(PARTS))
    assert set(PARTS) <= set(found)
    assert found["preemption"]["why"].startswith("The scheduler kube-batch evicts 1 pod in this step")
    assert [len(playback.cycle(index).decision.victims) for index in (2, 1)] == [0, 1]


@pytest.mark.django_db(transaction=True)
def test_a_draft_holds_the_configuration_file() -> None:
    """It is counted by name, and a mistake in it is reported with its line and path."""
    draft, owner = made("---\n".join(PREEMPTING))
    assert draft["summary"]["configuration of kube-batch"] == 1
    wrong = PREEMPTING[1].replace("preempt", "premept")
    body = {"bundle": wrong, "title": "wrong"}
    (error,) = owner.body("POST", "/api/scenarios", body, status=422)["errors"]
    assert (error["line"], error["path"]) == (1, "actions")
    assert error["message"] == "'premept' is not an action: did you mean 'preempt'?"


def test_stored_rows_rebuild_a_run_with_evictions() -> None:
    """The rows of a run give the same decisions and placements."""
    playback = played("---\n".join(PREEMPTING))
    steps.parts(playback, 2, list(PARTS))
    rows = [playback.trail.row(index) for index in range(1, len(playback) + 1)]
    again = Trail(playback.scenario, Tables(playback.scenario))
    again.extend(json.loads(json.dumps(rows)))
    assert again.decisions == playback.trail.decisions
    assert again.placement.tolist() == playback.trail.placement.tolist()
    assert again.decisions[0].victims
