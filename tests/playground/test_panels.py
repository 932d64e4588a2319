"""What the panels show of whole scenarios, compared with files."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import numpy as np
import pytest

from playground.panels import steps
from playground.panels.cycle import INSPECT
from playground.panels.ladder import ladder, stopped
from playground.panels.priorities import why_unranked
from playground.panels.story import story
from playground.playback.playback import Playback
from playground.protocol.tabs import STEP_TABS
from playground.storage import bundles
from scheduler_core.authoring.examples import find
from scheduler_core.record.choice import NO_CHOICE, NodeChoice
from scheduler_core.record.cycle import Cycle
from tests.playground.conftest import DATA
from tests.playground.golden import check

BUNDLES = sorted(path.stem for path in DATA.glob("*.yaml"))
PARTS = ["predicates", "priorities", "preemption", "queue", "nodes"]


def played(name: str) -> Playback:
    text = (DATA / f"{name}.yaml").read_text()
    playback = Playback(bundles.parse([("", text)], name))
    while playback.advance(1):
        pass
    return playback


def plain(sentences: list[Any]) -> list[str]:
    return [
        "".join(part if isinstance(part, str) else "".join(part.values()) for part in s) for s in sentences
    ]


@pytest.mark.parametrize("name", BUNDLES)
def test_windows(name: str) -> None:
    """The light cycles of a whole history are as recorded."""
    playback = played(name)
    check(DATA / f"{name}.window.json", json.loads(steps.window(playback, 1, 100)))


@pytest.mark.parametrize("name", BUNDLES)
def test_parts(name: str) -> None:
    """The matrices, rankings and queues of every cycle are as recorded."""
    playback = played(name)
    check(DATA / f"{name}.parts.json", [steps.parts(playback, i, PARTS) for i in range(1, len(playback) + 1)])


@pytest.mark.parametrize("name", BUNDLES)
def test_tables(name: str) -> None:
    """The node and pod tables are as recorded."""
    tables = played(name).tables
    check(DATA / f"{name}.tables.json", {"nodes": tables.node_wire(), "pods": tables.pod_wire()})


@pytest.mark.parametrize("name", BUNDLES)
def test_the_story_ends_with_what_kubectl_prints(name: str) -> None:
    """The last sentence of every cycle is its event's message."""
    playback = played(name)
    for light in json.loads(steps.window(playback, 1, 100))["cycles"]:
        shown = [event[3] for event in light["events"] if event[1] in ("Scheduled", "FailedScheduling")]
        assert plain(light["story"])[-1] == shown[-1]


def test_every_name_in_a_story_is_a_reference_that_exists() -> None:
    """Nouns are links: each names a pod, node, predicate or priority of the source."""
    seen = set()
    for playback in map(played, BUNDLES):
        summary = playback.profile.summary()
        known = {
            "pod": set(playback.tables.pod_index),
            "node": set(playback.tables.node_index),
            "predicate": set(summary["predicates"]),
            "priority": {name for name, _ in summary["priorities"]},
            "tab": {"Preemption", "Cache"},
        }
        for light in json.loads(steps.window(playback, 1, 100))["cycles"]:
            for part in (part for sentence in light["story"] for part in sentence if isinstance(part, dict)):
                [(kind, name)] = part.items()
                seen.add(kind)
                assert kind == "strong" or name in known[kind]
    assert seen == {"pod", "node", "predicate", "priority", "tab", "strong"}


def cycle() -> Cycle:
    return played("web").cycle(1)


def test_a_tie_is_reported_with_its_arithmetic() -> None:
    """Round robin: the counter modulo the number of tied nodes picks the place."""
    tied = msgspec.structs.replace(
        cycle(),
        choice=NodeChoice(cycle().feasible, np.array([7, 7, 7]), np.array([1, 0, 2], np.int32)),
        last_node_index=5,
    )
    reported = " ".join(plain(story(tied, ladder(tied))))
    assert "3 nodes share the highest total, 7" in reported
    assert "5 mod 3 = 2" in reported


def test_the_ladder_counts_only_nodes_that_are_still_in() -> None:
    """A node that an earlier predicate stopped is not counted again, though it was checked."""
    whole = cycle()
    assert whole.matrix is not None
    codes = np.zeros_like(whole.matrix.codes)
    codes[0, 0] = codes[1, 0] = codes[1, 1] = 1
    both = msgspec.structs.replace(whole, matrix=msgspec.structs.replace(whole.matrix, codes=codes))
    rungs = ladder(both)
    assert [rung[1:] for rung in rungs[:3]] == [(3, 2), (2, 1), (1, 1)]
    assert sum(stopped(rungs).values()) == 2


def example(slug: str, **settings: str) -> list[dict[str, Any]]:
    """Return the light cycles of an example, with other settings of its cache."""
    found = find(slug)
    assert found is not None
    text = found.read()
    for name, value in settings.items():
        text = re.sub(rf"(?m)^{name}: .*$", f"{name}: {value}", text)
    playback = Playback(bundles.parse([("", text)]))
    while playback.advance(1):
        pass
    cycles: list[dict[str, Any]] = json.loads(steps.window(playback, 1, len(playback)))["cycles"]
    return cycles


@pytest.mark.parametrize(
    ("remedy", "became"),
    [("none", "they are written all the same"), ("generations", "1 result was discarded")],
)
def test_what_lands_inside_a_cycle_is_reported_where_it_lands(remedy: str, became: str) -> None:
    """It came neither before the cycle nor first, and what became of the results is said."""
    light = example("cache-stale-write", staleWrites=remedy)[0]
    assert (light["operations"], light["inside"]) == ([], ["delete pod default/report"])
    reported = plain(light["story"])
    assert not any("came first" in text for text in reported)
    ran = next(n for n, text in enumerate(reported) if "rules out 2" in text)
    assert reported[ran + 1].startswith("1 change from outside came now, after the predicates had run")
    assert became in reported[ran + 1]


def test_a_story_says_which_answers_came_from_the_cache_and_that_one_was_stale() -> None:
    """Of the stale answers the one on the node that the pod went to is reported."""
    reported = plain(example("cache-stale-write")[1]["story"])
    assert "All 4 answers came from the Cache." in reported
    assert (
        "1 answer was stale: GeneralPredicates says that the pod does not fit on worker-1, and it does."
        in reported
    )
    broken = example("cache-broken-promise")[-1]
    reported = plain(broken["story"])
    assert "38 of 39 answers came from the Cache." in reported
    assert (
        "3 answers were stale; one of them: MatchInterPodAffinity says that the pod fits on worker-3, "
        "and it does not." in reported
    )


def test_an_error_is_reported_as_one() -> None:
    """An attempt that ended before any predicate ran says so."""
    failed = cycle()
    decision = msgspec.structs.replace(failed.decision, result="error", node=None)
    failed = msgspec.structs.replace(
        failed, matrix=None, choice=NO_CHOICE, decision=decision, message="claim not found"
    )
    reported = plain(story(failed, ladder(failed)))
    assert "No predicate ran." in reported
    assert reported[-1] == "claim not found"
    assert "error" in why_unranked(failed)


def test_each_part_is_shown_by_a_tab() -> None:
    """A part that Inspect asks for has a tab of its name, which rooms and lessons may open."""
    assert INSPECT.keys() <= set(STEP_TABS)
