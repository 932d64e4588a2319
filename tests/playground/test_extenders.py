"""Extenders in the workbench: the matrices, the story and the arithmetic."""

from __future__ import annotations

import pytest

from playground.panels.cycle import INSPECT, light
from playground.panels.priorities import explained
from playground.playback.playback import Playback
from scheduler_core.authoring.examples import find
from scheduler_core.scenario.load import load_documents
from tests.core.extenders.parts import NODES, answers, extender, pod, policy

NAME = "extender http://gpu-boards.example:8888/scheduler"


def played(scenario) -> Playback:
    """Compute all of a scenario."""
    playback = Playback(scenario)
    while playback.advance(1):
        pass
    return playback


def text(story) -> str:
    """Return the sentences as text."""
    return "\n".join(
        "".join(part if isinstance(part, str) else str(next(iter(part.values()))) for part in sentence)
        for sentence in story
    )


@pytest.fixture(scope="module")
def example() -> Playback:
    """Return the shipped example, computed."""
    return played(find("extender").load())


def test_the_ladder_and_the_matrix_have_the_extenders_rows(example):
    """Below those of the predicates."""
    cycle = example.cycle(2)
    place = example.place(cycle)
    assert light(cycle, place)["ladder"][-1] == [NAME, 3, 0]
    part = INSPECT["predicates"](cycle, place)
    assert part["order"][-1] == NAME
    assert ["no board with 4 free GPUs"] in part["reasons"]


def test_the_story_tells_each_call(example):
    """Whom was asked, whence the answer and how long it took."""
    told = [text(light(example.cycle(n), example.place(example.cycle(n)))["story"]) for n in (1, 2, 3, 4)]
    assert f"{NAME} is asked which of the nodes pass (as the scenario declares, 0.012 s)." in told[0]
    assert f"{NAME} rules out 3; none is left." in told[1]
    assert f"{NAME} scores the nodes (as the scenario declares, 0.004 s)." in told[2]
    assert NAME not in told[3]


def test_the_score_of_an_extender_is_explained(example):
    """Its answer times its weight."""
    cycle = example.cycle(3)
    node_at = example.place(cycle).node_at
    row = next(n for n, row in enumerate(cycle.priorities) if row.name == NAME)
    with example.before(3) as before:
        told = explained(cycle, before, node_at, node_at[cycle.nodes.index("gpu-b")], row)
    assert told is not None
    assert (told["score"], told["weight"], told["weighted"]) == (9, 5, 45)


def test_the_story_tells_failures_and_calls_that_were_not_made():
    """By the name of the extender, with its error."""
    failing = extender("http://a.test", filterVerb="f", ignorable=True)
    silent = extender("http://b.test", prioritizeVerb="p", weight=1)
    refusing = extender("http://c.test", bindVerb="b")
    rows = (
        answers({"verb": "filter", "status": 500, "body": ""}, url="http://a.test"),
        answers({"verb": "bind", "error": "no"}, url="http://c.test"),
    )
    playback = played(load_documents([*NODES, policy(failing, silent, refusing), *rows, pod("p")]))
    cycle = playback.cycle(1)
    told = text(light(cycle, playback.place(cycle))["story"])
    assert (
        "extender http://a.test is asked which of the nodes pass (as the scenario declares, 0 s) and fails"
        in told
    )
    assert "which is passed over: Failed f with extender at URL http://a.test/f, code 500" in told
    assert "extender http://b.test is not called: its URL is not approved; declare its answers." in told
    assert "extender http://c.test is asked to bind" in told
    assert "Binding rejected: no" in told
