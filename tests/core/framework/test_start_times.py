"""DefaultPreemption in virtual time: who goes, from which node, and victims that are gone already."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.scenario.load import load_documents
from scheduler_core.schedulers.coscheduling import CLASSIC, Arguments
from scheduler_core.schedulers.coscheduling.plugin import Coscheduling
from scheduler_core.schedulers.v1_22.plugins.default_preemption import DefaultPreemption
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.releases import V1_22, V1_35, FrameworkRelease
from scheduler_core.schedulers.v1_22.scheduler import Framework, Pace
from tests.core.engine.builders import node, obj, pod

ONE = {"cpu": "1", "memory": "1Gi", "pods": "20"}
EARLY, LATE = "2021-01-01T10:00:00Z", "2021-01-01T11:00:00Z"


def there(name: str, start: str | None, on: str = "n", *, priority: int = 0, cpu: str = "500m") -> Any:
    """Make a pod that is bound from the beginning, started at a moment or not yet."""
    made = pod(name, {"cpu": cpu}, on=on, priority=priority, phase="Running")
    if start is not None:
        made["status"]["startTime"] = start
    return made


def attempts(
    *manifests: Any, release: FrameworkRelease = V1_22, gangs: bool = False, pace: Pace | None = None
) -> tuple[Framework, list[Attempt]]:
    """Run until nothing is active; return the framework and the attempts."""
    objects = load_documents(manifests, expand=False, admission=False).objects
    preemption, plugin = DefaultPreemption(), Coscheduling(CLASSIC, Arguments())
    made = Framework(
        objects, (preemption, plugin) if gangs else (preemption,), release=release, pace=pace, details=True
    )
    made.run(0.5)
    return made, [one for one in made.record if isinstance(one, Attempt)]


VICTIMS: dict[str, tuple[list[tuple[str, str | None]], list[str]]] = {
    "the younger goes": ([("old", EARLY), ("young", LATE)], ["default/young"]),
    "whatever the order of creation": ([("young", LATE), ("old", EARLY)], ["default/young"]),
    "who has not started counts as started now": ([("idle", None), ("late", LATE)], ["default/idle"]),
    "of equal times who came to the node last": ([("one", LATE), ("two", LATE)], ["default/two"]),
    "of those not started who came first": ([("one", None), ("two", None)], ["default/one"]),
}


@pytest.mark.parametrize("case", VICTIMS)
def test_of_equal_priority_the_pods_that_started_last_go(case: str) -> None:
    """Pods are put back by priority, then by start time, so that the youngest find no room."""
    pods, victims = VICTIMS[case]
    _, (first, *_) = attempts(
        node("n", allocatable=ONE),
        *(there(name, start) for name, start in pods),
        pod("p", {"cpu": "500m"}, priority=10),
    )
    assert (first.nominated, list(first.victims)) == ("n", victims)


def test_priority_comes_before_the_start_time() -> None:
    """A younger pod of higher priority stays where an older one of lower priority can go."""
    _, (first, *_) = attempts(
        node("n", allocatable=ONE),
        there("old", EARLY, priority=1),
        there("young", LATE, priority=2),
        pod("p", {"cpu": "500m"}, priority=10),
    )
    assert list(first.victims) == ["default/old"]


NODES: dict[str, tuple[list[tuple[str, str, str | None, int]], str]] = {
    "the node whose victims started last": ([("x", "a", EARLY, 0), ("y", "b", LATE, 0)], "b"),
    "the earliest of a node's victims counts": (
        [("x", "a", EARLY, 0), ("x2", "a", LATE, 0), ("y", "b", LATE, 0), ("y2", "b", LATE, 0)],
        "b",
    ),
    "of those of the highest priority alone": (
        [("x", "a", EARLY, 0), ("x2", "a", LATE, 5), ("y", "b", EARLY, 5), ("y2", "b", LATE, 0)],
        "a",
    ),
    "a victim that has not started is the latest": ([("x", "a", LATE, 0), ("y", "b", None, 0)], "b"),
    "and equal nodes are taken by name": ([("y", "b", LATE, 0), ("x", "a", LATE, 0)], "a"),
}


@pytest.mark.parametrize("case", NODES)
def test_the_node_whose_most_important_victims_started_last_is_chosen(case: str) -> None:
    """Where all else is equal, the earliest start among a node's victims of highest priority decides."""
    pods, chosen = NODES[case]
    many = len(pods) > 2
    _, (first, *_) = attempts(
        node("a", allocatable=ONE),
        node("b", allocatable=ONE),
        *(there(n, start, on, priority=p, cpu="500m" if many else "1") for n, on, start, p in pods),
        pod("p", {"cpu": "1"}, priority=10),
    )
    assert first.nominated == chosen


TWO = {**ONE, "cpu": "2"}


def busy(release: FrameworkRelease) -> tuple[Framework, list[Attempt]]:
    """Let two pods, for whom the room is, preempt one victim before the scheduler hears that it is gone."""
    return attempts(
        node("n", allocatable=TWO),
        there("victim", EARLY, cpu="2"),
        pod("p", {"cpu": "1"}, priority=10),
        pod("q", {"cpu": "1"}, priority=10),
        release=release,
        pace=Pace(turns="when-idle"),
    )


def evictions(made: Framework) -> list[str]:
    """Return the pods that were reported as preempted, in order."""
    return [h.about for h in made.record if isinstance(h, TimelineEvent) and h.what == "Preempted"]


def test_a_pod_whose_victim_is_gone_already_is_not_nominated() -> None:
    """The API server answers that there is no such pod: PostFilter ends in an error, nobody is nominated."""
    made, (first, second, *_) = busy(V1_22)
    assert (first.nominated, first.victims) == ("n", ("default/victim",))
    assert (second.nominated, second.victims) == ("", ())
    point, plugin, status = second.statuses[-1]
    assert (point, plugin, status.code) == ("PostFilter", "DefaultPreemption", "Error")
    assert status.message == 'pods "victim" not found'
    assert second.preemption is not None
    assert second.preemption.node is None
    assert second.preemption.undone == 'pods "victim" not found'
    assert evictions(made) == ["default/victim"]
    assert made.deleted == ["default/victim"]


def test_later_releases_take_a_victim_that_is_gone_as_evicted() -> None:
    """There the pod is nominated all the same, and the eviction is not reported a second time."""
    made, (first, second, *_) = busy(V1_35)
    assert first.nominated == second.nominated == "n"
    assert second.victims == ()
    assert evictions(made) == ["default/victim"]


def test_victims_before_the_one_that_is_gone_have_been_evicted() -> None:
    """Victims go one after another: those before the missing one are evicted, those behind it stay."""
    made, (first, second, *_) = attempts(
        node("n", allocatable={"cpu": "5", "pods": "20"}),
        there("before", EARLY, priority=3, cpu="1"),
        there("gone", EARLY, priority=1, cpu="3"),
        there("behind", EARLY, priority=0, cpu="1"),
        pod("p", {"cpu": "2"}, priority=20),
        pod("q", {"cpu": "3"}, priority=10),
        pace=Pace(turns="when-idle"),
    )
    assert first.victims == ("default/gone",)
    assert second.victims == ("default/before",)
    assert second.nominated == ""
    assert evictions(made) == made.deleted == ["default/gone", "default/before"]


def test_an_error_of_preemption_keeps_the_group_from_being_rejected() -> None:
    """The chain of PostFilter plugins ends with it: Coscheduling is not asked, and denies nobody."""
    group = obj("PodGroup", "g", "scheduling.sigs.k8s.io/v1alpha1", spec={"minMember": 1})
    labels = {"pod-group.scheduling.sigs.k8s.io": "g"}
    _, (_, second, *_) = attempts(
        node("n", allocatable=TWO),
        group,
        there("victim", EARLY, cpu="2"),
        pod("p", {"cpu": "1"}, priority=20),
        pod("q", {"cpu": "1"}, priority=10, labels=labels),
        gangs=True,
        pace=Pace(turns="when-idle"),
    )
    assert [plugin for point, plugin, _ in second.statuses if point == "PostFilter"] == ["DefaultPreemption"]
