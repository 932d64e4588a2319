"""Extenders in the workbench: the matrices, the story and the arithmetic."""

from __future__ import annotations

import os

import pytest

from playground import extenders
from playground.panels.cycle import INSPECT, light
from playground.panels.priorities import explained
from playground.playback.playback import Playback
from playground.serving.environment import Environment
from playground.serving.faults import StartError
from scheduler_core.authoring.examples import find
from scheduler_core.scenario.load import load_documents
from scheduler_core.schedulers.extenders import approval
from tests.core.extenders.parts import (
    NODES,
    RELEASES,
    V1_37,
    Release,
    answers,
    calls,
    configuration,
    extender,
    pod,
)
from tests.core.extenders.server import serving

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
    reported = [text(light(example.cycle(n), example.place(example.cycle(n)))["story"]) for n in (1, 2, 3, 4)]
    assert f"{NAME} is asked which of the nodes pass (as the scenario declares, 0.012 s)." in reported[0]
    assert f"{NAME} rules out 3; none is left." in reported[1]
    assert f"{NAME} scores the nodes (as the scenario declares, 0.004 s)." in reported[2]
    assert NAME not in reported[3]


def test_the_score_of_an_extender_is_explained(example):
    """Its answer times its weight."""
    cycle = example.cycle(3)
    node_at = example.place(cycle).node_at
    row = next(n for n, row in enumerate(cycle.priorities) if row.name == NAME)
    with example.before(3) as before:
        reported = explained(cycle, before, node_at, node_at[cycle.nodes.index("gpu-b")], row)
    assert reported is not None
    assert (reported["score"], reported["weight"], reported["weighted"]) == (9, 5, 45)


@pytest.fixture(params=RELEASES, ids=lambda release: release.name)
def release(request) -> Release:
    """Return a release that asks extenders."""
    return request.param


def test_the_story_tells_failures_and_calls_that_were_not_made(release):
    """By the name of the extender, with its error."""
    failing = extender("http://a.test", filterVerb="f", ignorable=True)
    silent = extender("http://b.test", prioritizeVerb="p", weight=1)
    refusing = extender("http://c.test", bindVerb="b")
    rows = (
        answers({"verb": "filter", "status": 500, "body": ""}, url="http://a.test"),
        answers({"verb": "bind", "error": "no"}, url="http://c.test"),
    )
    playback = played(
        load_documents([*NODES, release.configured(failing, silent, refusing), *rows, pod("p")])
    )
    cycle = playback.cycle(1)
    reported = text(light(cycle, playback.place(cycle))["story"])
    assert (
        "extender http://a.test is asked which of the nodes pass (as the scenario declares, 0 s) and fails"
        in reported
    )
    code = "ailed f with extender at URL http://a.test/f, code 500"
    assert f"which is passed over: {'f' if release is V1_37 else 'F'}{code}" in reported
    assert "extender http://b.test is not called: its URL is not approved; declare its answers." in reported
    assert "extender http://c.test is asked to bind" in reported
    assert ("fails: no" if release is V1_37 else "Binding rejected: no") in reported


@pytest.fixture
def approved(settings, tmp_path):
    """Run an extender that the settings approve of; a private address is approved by being listed."""
    with serving() as server:
        settings.EXTENDERS = [server.url]
        settings.DATA_DIR = str(tmp_path)
        before = approval.transport()
        extenders.install()
        try:
            yield server
        finally:
            approval.install(before)


def live(release, server, name: str = "p-1"):
    """Return a scenario whose extender runs."""
    asked = extender(server.url, filterVerb="filter", prioritizeVerb="prioritize", bindVerb="bind", weight=1)
    return load_documents([*NODES, release.configured(asked), pod(name), pod("p-2"), pod("p-3")])


def test_under_v1_37_rows_scores_and_a_draw_are_shown():
    """The extender's rows, its score scaled, the nodes that upstream draws from, and what wakes the pod."""
    asked = configuration(extender(filterVerb="f", prioritizeVerb="p", weight=2))
    rows = answers(
        {"verb": "filter", "pod": "*/none", "response": {"FailedNodes": {"a": "odd"}}},
        {"verb": "filter"},
        {"verb": "prioritize", "response": [{"Host": name, "Score": 3} for name in "bc"]},
    )
    playback = played(load_documents([*NODES, asked, rows, pod("p"), pod("none")]))
    cycle = playback.cycle(1)
    place = playback.place(cycle)
    label = "extender http://extender.test:8888/scheduler"
    story = text(light(cycle, place)["story"])
    assert "kube-scheduler takes one of 2 of them at random, because extenders were asked" in story
    part = INSPECT["priorities"](cycle, place)
    assert (part["rows"][-1]["name"], part["atRandom"]) == (label, True)
    assert part["turns"] == [2, 0, 1]
    with playback.before(1) as before:
        reported = explained(cycle, before, place.node_at, place.node_at[1], len(cycle.priorities) - 1)
    assert reported is not None
    assert (reported["map"], reported["score"], reported["weighted"]) == (3, 30, 60)
    assert (reported["kind"], part["rows"][-1]["kind"]) == ("extender", "extender")
    refused = playback.cycle(2)
    assert light(refused, playback.place(refused))["ladder"][-1] == [label, 3, 0]
    waits = text(light(playback.cycle(3), playback.place(playback.cycle(3)))["story"])
    assert "Hints of Extender: until a pod, a node, a volume" in waits


def test_under_v1_37_what_surprises_is_said():
    """Nodes that are scored empty, with the issue, and why batching has no effect."""
    playback = played(find("extender-idle").load())
    cycle = playback.cycle(1)
    place = playback.place(cycle)
    story = text(light(cycle, place)["story"])
    emptied = "score the nodes as if no pod ran on them and they had no image"
    assert emptied in story
    assert emptied in text(INSPECT["priorities"](cycle, place)["said"])
    assert "a known bug of v1.37, kubernetes/kubernetes#141781." in story
    assert "the scheduler has extenders" in INSPECT["cache"](cycle, place)["why"]


def test_under_v1_37_preemption_shows_what_the_extender_left():
    """Its candidates, and the call in the story."""
    low = [pod(f"low-{name}", cpu="4", on=name) for name in "abc"]
    rows = answers({"verb": "preempt", "victims": {"b": ["default/low-b"]}})
    asked = configuration(extender(preemptVerb="v"))
    playback = played(load_documents([*NODES, asked, rows, *low, pod("high", priority=9)]))
    cycle = playback.cycle(1)
    place = playback.place(cycle)
    part = INSPECT["preemption"](cycle, place)
    assert (part["node"], part["victims"]) == (place.node_at[1], 1)
    assert "is asked which victims may go" in text(light(cycle, place)["story"])


def test_an_approved_extender_is_called_once_however_often_a_step_is_shown(release, approved):
    """Every other playback, in whatever process, replays what was answered first."""
    playback = played(live(release, approved))
    count = len(approved.asked)
    assert count >= len(playback) >= 3
    assert not playback.scenario.warnings
    reported = [text(light(playback.cycle(n), playback.place(playback.cycle(n)))["story"]) for n in (3, 1, 2)]
    assert "(as was recorded, " in reported[0]
    approved.behaves = "fails"
    again = played(live(release, approved))
    assert again.trail.decisions == playback.trail.decisions
    assert len(approved.asked) == count
    assert {call.source for call in calls(again.cycle(1))} == {"recorded"}


def test_another_scenario_asks_anew(release, approved):
    """What an extender answered belongs to the run that it was given to."""
    played(live(release, approved))
    count = len(approved.asked)
    played(live(release, approved, "p-9"))
    assert len(approved.asked) > count


def test_answers_that_nobody_asks_for_expire(release, approved, tmp_path):
    """By the time of their last use."""
    played(live(release, approved))
    files = list(tmp_path.glob("extenders/*/*"))
    assert len(files) == len(approved.asked)
    assert extenders.remove_expired() == 0
    for file in files[1:]:
        os.utime(file, (1, 1))
    assert extenders.remove_expired() == len(files) - 1
    assert files[0].exists()


def test_nothing_is_called_unless_the_settings_say_so(release):
    """None is approved by default."""
    assert approval.transport() is None
    with serving() as server:
        playback = played(live(release, server))
        assert {call.outcome for call in calls(playback.cycle(1))} == {"not called"}
        assert server.connections == 0


@pytest.mark.parametrize(
    "variables",
    [
        {"PLAYGROUND_EXTENDERS": "gpu.example:8888"},
        {"PLAYGROUND_EXTENDERS": "http://a.example, ftp://b.example"},
        {"PLAYGROUND_EXTENDER_NETWORKS": "10.0.0.1/8"},
    ],
)
def test_settings_that_cannot_be_read_end_the_start(variables):
    """The message names the variable."""
    env = Environment(variables)
    env.prefixes("PLAYGROUND_EXTENDERS")
    env.networks("PLAYGROUND_EXTENDER_NETWORKS", default=[], strict=True)
    with pytest.raises(StartError, match=next(iter(variables))):
        env.check()
