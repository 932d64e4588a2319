"""Coscheduling of a KubeSchedulerConfiguration v1: each rule of the plugin on v1.37's filters and queue."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import pytest
import yaml

from scheduler_core import load
from scheduler_core.explain import explain
from scheduler_core.record.cycle import Cycle
from scheduler_core.run import simulate
from scheduler_core.run.several.lone import LoneStepper
from scheduler_core.schedulers.coscheduling.record import PodGroupRecord, record_of
from tests.core.timed.parts import group, history, node, pod

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint: {{enabled: [{{name: Coscheduling}}]}}
    queueSort: {{enabled: [{{name: Coscheduling}}], disabled: [{{name: "*"}}]}}
  pluginConfig: [{{name: Coscheduling, args: {args}}}]
"""
ADD = "time: {at}, createOperation: {{object: {object}}}"
Row = tuple[str, str, str]


def coscheduling(**args: int) -> str:
    """Return a configuration with the plugin and these arguments."""
    return CONFIGURATION.format(args=args)


def members(*names: str, of: str = "g", **given: Any) -> list[str]:
    """Return pods of a group."""
    return [pod(name, group=of, **given) for name in names]


def flow(text: str) -> str:
    """Return a manifest on one line."""
    return json.dumps(yaml.safe_load(text))


def added(at: float, text: str) -> str:
    """Return an operation that creates an object."""
    return ADD.format(at=at, object=flow(text))


def patched(at: float, kind: str, name: str, patch: str) -> str:
    """Return an operation that patches an object."""
    versions = {"PodGroup": "scheduling.x-k8s.io/v1alpha1", "Pod": "v1", "Node": "v1"}
    target = f"typeMeta: {{apiVersion: {versions[kind]}, kind: {kind}}}, objectMeta: {{name: {name}}}"
    return f"time: {at}, patchOperation: {{{target}, patchType: merge, patch: {patch}}}"


def deleted(at: float, name: str) -> str:
    """Return an operation that deletes a pod."""
    target = f"typeMeta: {{apiVersion: v1, kind: Pod}}, objectMeta: {{name: {name}}}"
    return f"time: {at}, deleteOperation: {{{target}}}"


def ran(*documents: str, until: float = 40, most: int = 60) -> tuple[LoneStepper, list[Cycle]]:
    """Return a run until a time, of so many cycles at most, and its cycles."""
    settings = f"apiVersion: podstep/v1\nkind: SimulationSettings\nuntil: {until}\n"
    made = simulate(load("---\n".join((*documents, settings))))
    assert isinstance(made, LoneStepper)
    return made, list(islice(made, most))


def groups(cycle: Cycle) -> PodGroupRecord:
    """Return the record of the group of a cycle's pod."""
    found = record_of(cycle).pod_group
    assert found is not None
    return found


def why(cycle: Cycle) -> str:
    """Return the rule that ended the plugin's part of a cycle."""
    found = groups(cycle)
    last = found.post_filter or found.permit
    refused = found.pre_filter is not None and not found.pre_filter.success
    first = f"{found.pre_filter.why} " if refused and found.pre_filter else ""
    return first + (last.why if last is not None else "")


def rows(cycles: list[Cycle]) -> list[Row]:
    """Return pod, result and rule of each cycle."""
    return [(cycle.pod.removeprefix("default/"), cycle.decision.result, why(cycle)) for cycle in cycles]


RESOURCES = "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {{name: g}}\nspec: {spec}\n"
SIDECAR = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: side}\nspec: {nodeName: 'n', containers: [{name: c}], "
    "initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: 2}}}]}\n"
)
LESS = '{spec: {minResources: {cpu: "4"}}}'
GATED = pod("b", group="g").replace("spec: {", "spec: {schedulingGates: [{name: x}], ")
OLD = group("old", 1).replace("{name: old}", '{name: old, creationTimestamp: "2020-01-01T00:00:00Z"}')
NEW = group("new", 1).replace("{name: new}", '{name: new, creationTimestamp: "2020-01-01T00:00:01Z"}')
CLASSIC = pod("a", group="g").replace("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io")
WAITS, BOUND, FAILS = "waiting", "scheduled", "unschedulable"


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        pytest.param(
            [coscheduling(), node("n"), group("g", 3), *members("a", "b", "c")],
            [("a", WAITS, "incomplete"), ("b", WAITS, "incomplete"), ("c", BOUND, "complete")],
            id="the member that completes the group frees all",
        ),
        pytest.param(
            [
                coscheduling(),
                node("n"),
                group("g", 3),
                *members("a", "b"),
                history(added(5, members("c")[0])),
            ],
            [
                ("a", FAILS, "too-few-siblings rejected"),
                ("b", FAILS, "too-few-siblings rejected"),
                ("a", WAITS, "incomplete"),
                ("b", WAITS, "incomplete"),
                ("c", BOUND, "complete"),
            ],
            id="a group without enough pods is woken by the pod that it lacks",
        ),
        pytest.param(
            [coscheduling(), node("n"), group("g", 2), *members("a"), GATED],
            [("a", FAILS, "gated rejected")],
            id="a gated sibling does not count",
        ),
        pytest.param(
            [
                coscheduling(),
                node("n", 4),
                RESOURCES.format(spec='{minMember: 1, minResources: {cpu: "5"}}'),
                *members("a"),
                history(added(5, node("m")), patched(20, "PodGroup", "g", LESS)),
            ],
            [("a", FAILS, "gap rejected"), ("a", BOUND, "complete")],
            id="a group that needs too much is woken by its PodGroup, not by a node",
        ),
        pytest.param(
            [
                coscheduling(),
                node("n", 4),
                SIDECAR,
                RESOURCES.format(spec='{minMember: 1, minResources: {cpu: "3"}}'),
                *members("a"),
            ],
            [("a", FAILS, "gap rejected")],
            id="sidecars count in what is free",
        ),
        pytest.param(
            [coscheduling(), node("n", 2), group("g", 3), *members("a", "b", "c")],
            [("a", WAITS, "incomplete"), ("b", WAITS, "incomplete"), ("c", FAILS, "rejected")],
            id="a group fails with the first member that fits nowhere",
        ),
        pytest.param(
            [coscheduling(podGroupRejectPercentage=50), node("n", 2), group("g", 3), *members("a", "b", "c")],
            [("a", WAITS, "incomplete"), ("b", WAITS, "incomplete"), ("c", FAILS, "small-gap")],
            id="a small gap rejects nobody",
        ),
        pytest.param(
            [coscheduling(), node("n", 2), group("g", 2), *members("a", "b", "c")],
            [("a", WAITS, "incomplete"), ("b", BOUND, "complete"), ("c", FAILS, "extra")],
            id="a member beyond the number fails alone",
        ),
        pytest.param(
            [
                coscheduling(podGroupBackoffSeconds=30),
                node("n", 1),
                group("g", 2),
                *members("a", "b"),
            ],
            [
                ("a", WAITS, "incomplete"),
                ("b", FAILS, "rejected"),
                ("b", FAILS, "backed-off rejected"),
            ],
            id="a group that failed backs off",
        ),
        pytest.param(
            [coscheduling(), node("n"), *members("a"), history(added(5, group("g", 1)))],
            [("a", FAILS, "group-missing"), ("a", BOUND, "complete")],
            id="a pod whose PodGroup does not exist is refused at Permit until it does",
        ),
        pytest.param(
            [coscheduling(), node("n"), NEW, OLD, *members("a", of="new"), *members("b", of="old")],
            [("b", BOUND, "complete"), ("a", BOUND, "complete")],
            id="the older group is first",
        ),
        pytest.param(
            [
                coscheduling(),
                node("n"),
                NEW,
                OLD,
                *members("a", of="new", priority=1),
                *members("b", of="old"),
            ],
            [("a", BOUND, "complete"), ("b", BOUND, "complete")],
            id="priority comes before age",
        ),
        pytest.param(
            [
                coscheduling(),
                node("n", 1),
                node("m", 1, disk="ssd"),
                OLD.replace("minMember: 1", "minMember: 2"),
                *members("a", "b", of="old", cpu="1"),
                pod("big", 2, group="old"),
                NEW,
                history(added(5, pod("late", group="new"))),
            ],
            [
                ("a", WAITS, "incomplete"),
                ("b", BOUND, "complete"),
                ("big", FAILS, "extra"),
                ("late", FAILS, "rejected"),
            ],
            id="what is bound stays",
        ),
        pytest.param(
            [coscheduling(), node("n"), group("g", 2), *members("a"), *members("b", cpu=8)],
            [("a", WAITS, "incomplete"), ("b", FAILS, "rejected")],
            id="the sizes of members may differ",
        ),
    ],
)
def test_each_rule(documents: list[str], expected: list[Row]) -> None:
    """Pod, result and the plugin's rule in the cycles from the first on."""
    _, cycles = ran(*documents, most=len(expected))
    assert rows(cycles) == expected


def test_a_label_of_the_classic_edition_names_no_group() -> None:
    """Nor is a PodGroup of another API group read, which a warning says."""
    classic = group("g", 2).replace("scheduling.x-k8s.io", "scheduling.sigs.k8s.io")
    made, [cycle] = ran(coscheduling(), node("n"), classic, CLASSIC)
    assert cycle.node == "n"
    known = "kube-scheduler knows those of scheduling.k8s.io, Coscheduling those of scheduling.x-k8s.io"
    assert any(known in one.message for one in made.scenario.warnings)
    own, _ = ran(coscheduling(), node("n"), group("g", 1), *members("a"))
    assert not own.scenario.warnings


@pytest.mark.parametrize(
    ("args", "timeout", "at"),
    [({}, None, 60.0), ({"permitWaitingTimeSeconds": 10}, None, 10.0), ({}, 5, 5.0), ({}, 3_600, 900.0)],
    ids=["default", "of the plugin", "of the group", "at most a quarter of an hour"],
)
def test_a_pod_waits_its_time_and_fails_with_its_group(
    args: dict[str, int], timeout: int | None, at: float
) -> None:
    """The first whose time is up rejects the others; each message is kube-scheduler's."""
    late = patched(2_000, "PodGroup", "g", "{spec: {minMember: 1}}")  # so that the run goes on until then
    few = {"podGroupRejectPercentage": 100, **args}
    texts = [node("n", 2), group("g", 3, timeout), *members("a", "b", "c"), history(late)]
    _, cycles = ran(coscheduling(**few), *texts, until=at + 1)
    reported = [event for cycle in cycles for event in cycle.happenings if event.what == "FailedScheduling"]
    reported = [event for event in reported if "nodes are available: 1 rej" in event.text][:2]
    waited = {900.0: "15m0s", 60.0: "1m0s"}.get(at, f"{at:.0f}s")
    assert [round(event.time - 0.003) for event in reported] == [at, at]
    assert [event.text for event in reported] == [
        f"0/1 nodes are available: 1 rejected due to timeout after waiting {waited} at plugin Coscheduling.",
        "0/1 nodes are available: 1 rejection in Unreserve.",
    ]


def test_a_pod_that_waits_holds_its_node() -> None:
    """So that another group fits only once it has failed; both groups are bound in the end."""
    late = added(30, node("m", 2))
    texts = [node("n", 2), group("g", 3), *members("a", "b", "c"), group("h", 2), *members("u", "v", of="h")]
    few = coscheduling(podGroupRejectPercentage=100, permitWaitingTimeSeconds=20)
    made, cycles = ran(few, *texts, history(late))
    assert rows(cycles)[:4] == [
        ("a", WAITS, "incomplete"),
        ("b", WAITS, "incomplete"),
        ("c", FAILS, "small-gap"),
        ("u", FAILS, "small-gap"),
    ]
    assert {pod: bool(at) for pod, at in made.placement().items() if pod in ("default/u", "default/v")} == {
        "default/u": True,
        "default/v": True,
    }


def test_a_deleted_member_takes_its_group_along() -> None:
    """What waited with it goes back to the queue."""
    few = coscheduling(podGroupRejectPercentage=100)
    texts = [node("n", 2), group("g", 3), *members("a", "b", "c"), history(deleted(9, "a"))]
    made, cycles = ran(few, *texts, most=4)
    reported = [event.text for event in cycles[3].happenings if event.about == "default/b"]
    assert reported == ["0/1 nodes are available: 1 rejection in Unreserve."]
    assert 9 <= cycles[3].time < 9.1
    assert "default/a" not in made.placement()


def test_a_pod_that_waits_may_be_preempted_and_is_not_deleted() -> None:
    """It backs off as after an error."""
    few = coscheduling(podGroupRejectPercentage=100)
    urgent = added(5, pod("urgent", 2, priority=10))
    made, cycles = ran(few, node("n", 2), group("g", 3), *members("a", "b", "c"), history(urgent))
    preempting = next(cycle for cycle in cycles if cycle.pod == "default/urgent")
    assert preempting.decision.nominated == "n"
    assert made.placement()["default/urgent"] == "n"
    assert {"default/a", "default/b", "default/c"} <= made.placement().keys()
    reported = [event.text for cycle in cycles for event in (*cycle.happenings, *cycle.consequences)]
    assert "waiting on permit for pod: preempted" in reported


def test_filters_are_those_of_v1_37() -> None:
    """Which the framework's rules of the time do not have: a spread constraint, here."""
    selector = "labelSelector: {matchLabels: {scheduling.x-k8s.io/pod-group: g}}"
    spread = f"{{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, {selector}}}"
    pods = [
        one.replace("spec: {", f"spec: {{topologySpreadConstraints: [{spread}], ")
        for one in members("a", "b")
    ]
    made, _ = ran(coscheduling(), node("n", zone="x"), node("m", 1, zone="y"), group("g", 2), *pods)
    assert sorted(made.placement().values()) == ["m", "n"]


EVENTFUL = [
    node("n", 2),
    group("g", 3),
    *members("a", "b", "c"),
    group("h", 2),
    *members("u", "v", of="h"),
    pod("alone"),
    history(added(7, node("m", 2)), deleted(9, "u"), added(12, pod("w", group="h"))),
]


@pytest.mark.parametrize("controllers", [True, False])
def test_replay_and_fork_go_on_as_the_run_did(controllers: bool) -> None:
    """Waiting pods, their timers and the plugin's memory are part of a copy, with controllers and without."""
    documents = [coscheduling(podGroupBackoffSeconds=3), *EVENTFUL]
    if not controllers:
        documents[-1] = documents[-1].replace("spec:\n", "spec:\n  controllers: []\n")
    whole, cycles = ran(*documents, until=15, most=60)
    assert whole.scenario.controllers is controllers
    assert {cycle.decision.result for cycle in cycles} == {WAITS, BOUND, FAILS}
    again = simulate(whole.scenario, trace=False)
    for place in range(0, len(cycles), 15):
        fork = again.fork(trace=True)
        found = list(islice(fork, len(cycles) - place))
        assert [cycle.decision for cycle in found] == [cycle.decision for cycle in cycles[place:]]
        assert fork.placement() == whole.placement()
        replayed = simulate(whole.scenario, trace=False)
        replayed.replay([cycle.decision for cycle in cycles[:place]])
        nearest = replayed.step()
        assert nearest is None or nearest.decision == cycles[place].decision
        again.replay([cycle.decision for cycle in cycles[place : place + 15]])


def test_a_cycle_shows_where_a_pod_waits_and_that_it_leaves() -> None:
    """In its moves, its queue and its phases; the others of its group are counted."""
    _, cycles = ran(coscheduling(), node("n", 2), group("g", 3), *members("a", "b", "c"), most=4)
    assert [cycle.moves for cycle in cycles[:2]] == [(("default/a", "n"),), (("default/b", "n"),)]
    gone = [move for cycle in cycles[2:] for move in cycle.moves]
    assert {("default/a", ""), ("default/b", "")} <= set(gone)
    assert cycles[0].phases[-2:] == ("assume", "permit")
    assert cycles[2].phases == ("queue", "preFilter", "predicates", "preemption")
    assert [one.pod for one in cycles[1].waiting] == ["default/a", "default/b"]
    timed = cycles[1].queue.timed
    assert timed is not None
    assert timed.counts["waiting"] == 1
    assert timed.tried.sort_by == "group"
    assert groups(cycles[1]).states == {"waiting": 2, "active": 1}


def test_why_says_what_the_plugin_says() -> None:
    """Without changing what it remembers, and names the node that a waiting pod holds."""
    made, _ = ran(coscheduling(), node("n"), group("g", 3), *members("a", "b"))
    assert "cannot find enough sibling pods" in explain(made, "default/a").summary
    few = coscheduling(podGroupRejectPercentage=100)
    scenario = load("---\n".join([few, node("n", 2), group("g", 3), *members("a", "b", "c")]))
    half = simulate(scenario)
    half.step()
    waits = "default/a has a place on n and waits at Permit for the others of its PodGroup."
    assert explain(half, "default/a").summary == waits


def test_a_configuration_that_comes_later_brings_the_plugin() -> None:
    """The scheduler restarts with it; a patch may enable it too."""
    plain = coscheduling().split("profiles:")[0] + "profiles: [{}]\n"
    late = f"time: 5, createOperation: {{object: {flow(coscheduling())}}}"
    texts = [node("n", 1), group("g", 2), *members("a", "b")]
    _, cycles = ran(*texts, history(late, deleted(6, "a"), added(7, members("c")[0])), most=20)
    assert [cycle.decision.result for cycle in cycles[:2]] == [BOUND, FAILS]
    assert {cycle.decision.result for cycle in cycles[2:]} == {WAITS, FAILS}
    version = "typeMeta: {apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}"
    patch = json.dumps({"profiles": yaml.safe_load(coscheduling())["profiles"]})
    enabling = f"time: 5, patchOperation: {{{version}, patchType: merge, patch: {patch}}}"
    _, cycles = ran(plain, *texts, history(enabling, deleted(6, "a"), added(7, members("c")[0])), most=20)
    assert {cycle.decision.result for cycle in cycles[2:]} == {WAITS, FAILS}
