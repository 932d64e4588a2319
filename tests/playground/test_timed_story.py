"""What is reported in virtual time: who is let in or turned away, how a tie ends, what controllers delete."""

from __future__ import annotations

import pytest

from playground.panels import steps
from playground.panels.cycle import light
from playground.panels.happenings import timed_sentences
from playground.playback.playback import Playback
from scheduler_core.record.timeline import TimelineEvent
from tests.playground.test_podgroups_panel import words
from tests.playground.test_virtual_time import TEXTS, played

#: Six nodes that are alike: every choice is one between equals.
ALIKE = """
apiVersion: kubescheduler.config.k8s.io/v1beta3
kind: KubeSchedulerConfiguration
---
apiVersion: v1
kind: Pod
metadata: {name: first}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: second}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
""" + "".join(
    f"""---
apiVersion: v1
kind: Node
metadata: {{name: n{number}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
"""
    for number in range(6)
)


def story(playback: Playback, index: int) -> str:
    """Return the story of a cycle as text."""
    cycle = playback.cycle(index)
    return " ".join(words(sentence) for sentence in light(cycle, playback.place(cycle))["story"])


def test_the_pod_that_completes_a_gang_tells_who_is_let_in_with_it() -> None:
    """The fourth of four says so, and names the three that waited; the third says nothing of the kind."""
    playback = played(TEXTS["coscheduling-room"])
    reported_of_it = story(playback, 4)
    assert "4 of the 4 members that default/nginx needs hold a node" in reported_of_it
    waited = {playback.cycle(index).pod for index in (1, 2, 3)}
    assert all(pod in reported_of_it for pod in waited)
    assert "waited at Permit for that, and are bound too." in reported_of_it
    assert "With it" not in story(playback, 3)


def test_a_pod_that_no_predicate_saw_tells_who_turned_it_away() -> None:
    """While the group is denied, the story has PreFilter's message; a cycle of v1.11 names nobody."""
    playback = played(TEXTS["coscheduling-no-room"])
    denied = story(playback, 5)
    assert "No predicate ran, for PreFilter turns away the pods of default/nginx: " in denied
    assert "last failed in 3s, deny." in denied
    assert "no other member was waiting" in denied


SETTINGS = "kind: SimulationSettings\ntime: virtual\nquirks: v1.11\n"


@pytest.mark.parametrize(
    ("text", "says", "never"),
    [
        (ALIKE, "here it is always the first in the order of the nodes, n0.", "round-robin"),
        (
            ALIKE.replace(
                "kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration", "podstep/v1"
            ).replace("podstep/v1\n", f"podstep/v1\n{SETTINGS}", 1),
            "0 mod 6 = 0, which picks n5.",
            "always the first",
        ),
    ],
    ids=["by configuration", "v1.11"],
)
def test_a_tie_is_reported_as_it_was_broken(text: str, says: str, never: str) -> None:
    """With a KubeSchedulerConfiguration the first of equal nodes is taken, else they are taken in turn."""
    playback = played(text)
    found = story(playback, 1)
    assert says in found
    assert never not in found


def test_the_end_says_that_no_pod_holds_a_node() -> None:
    """Where all six members pend, it is not said that 0 pods hold one."""
    playback = played(TEXTS["coscheduling-no-room"])
    end = steps.parts(playback, len(playback) + 1, [])
    assert "No pod holds a node." in [words(sentence) for sentence in end["story"]]


def test_what_controllers_delete_is_reported_in_one_sentence_each_kind() -> None:
    """Pods that go with their owner are shown together; a ReplicaSet is no pod, and gets no link to one."""
    gone = [
        TimelineEvent(1.0, "GarbageCollected", "default/web-1", "ReplicaSet default/web-1 deleted"),
        TimelineEvent(1.0, "GarbageCollected", "default/web-1-a", "deleted by the garbage collector"),
        TimelineEvent(1.0, "GarbageCollected", "default/web-1-b", "deleted by the garbage collector"),
        TimelineEvent(2.0, "revisionHistoryLimit", "default/web-0", "ReplicaSet default/web-0 deleted"),
    ]
    rows = timed_sentences(gone, "")
    assert [words(sentence) for _, sentence in rows] == [
        "ReplicaSet default/web-1 is deleted with its owner.",
        "default/web-1-a and default/web-1-b are deleted: their owner was deleted.",
        "ReplicaSet default/web-0 is deleted (revisionHistoryLimit).",
    ]
    assert not any(isinstance(part, dict) for part in rows[0][1])
