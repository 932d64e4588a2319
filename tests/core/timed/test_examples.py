"""The shipped scenarios of PodGroups: what the start page says of them is what comes of them."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from scheduler_core import load
from scheduler_core.__main__ import main
from scheduler_core.authoring.examples import Example, examples
from scheduler_core.cluster.controllers.kubelet import REFUSED
from scheduler_core.cluster.descheduler.actor import Descheduler
from scheduler_core.cluster.descheduler.table import PLUGINS
from scheduler_core.run import simulate
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.schedulers.coscheduling.observer import phases_of
from scheduler_core.schedulers.kube_batch.snapshot import group_of
from scheduler_core.settings.release import V1_37

CURRENT = ("native-gang",)  # answered by kube-scheduler v1.37: tests/core/v1_37/test_examples.py
SHOWN = tuple(
    example for example in examples() if example.outcome is not None and example.slug not in CURRENT
)
PODGROUPS, SCHEDULERS = "Time and PodGroups", "kube-batch, and several schedulers"
CONTROLLERS, DESCHEDULER, KUEUE = "Controllers and failures", "The descheduler", "Kueue"
EACH = pytest.mark.parametrize("example", SHOWN, ids=lambda example: example.slug)


def run(example: Example) -> TimedSimulation:
    """Run an example to its end, once for all that is asked of it there."""
    return _ended(example.slug)


@cache
def _ended(slug: str) -> TimedSimulation:
    simulation = stepping(next(one for one in SHOWN if one.slug == slug), trace=False)
    assert list(simulation)
    return simulation


def stepping(example: Example, *, trace: bool = True) -> TimedSimulation:
    """Return the simulation of an example, before its first step."""
    simulation = simulate(example.load(), trace=trace)
    assert isinstance(simulation, TimedSimulation)
    return simulation


def test_there_are_the_demo_and_the_deadlock() -> None:
    """The demo with and without room, the deadlock under both schedulers, and the ten percent."""
    assert [example.slug for example in SHOWN if example.group == PODGROUPS] == [
        "coscheduling-room",
        "coscheduling-no-room",
        "gang-deadlock",
        "gang-deadlock-coscheduled",
        "ten-percent",
    ]
    assert {example.group for example in SHOWN} == {PODGROUPS, SCHEDULERS, CONTROLLERS, DESCHEDULER, KUEUE}


def test_what_controllers_do_is_shown_under_v1_37() -> None:
    """The examples of controllers and failures run under the default release, without a warning."""
    shown = [example.load() for example in SHOWN if example.group == CONTROLLERS]
    assert len(shown) == 6
    assert all(scenario.release == V1_37 and not scenario.warnings for scenario in shown)


@EACH
def test_as_many_pods_run_and_wait_as_the_page_says(example: Example) -> None:
    """Running and pending pods, of the whole run and of each group, are counted as claimed."""
    simulation, outcome = run(example), example.outcome
    assert outcome is not None
    pods = simulation.framework.pods.values()
    on_nodes = [pod for pod in pods if pod.node_name]
    going = sum(pod.meta.deletion_timestamp is not None for pod in on_nodes)
    running = sum(not pod.terminal for pod in on_nodes) - going  # what waits at Permit is pending
    assert (running, going) == (outcome.running, outcome.terminating)
    assert sum(pod.phase == "Succeeded" for pod in on_nodes) == outcome.succeeded
    assert sum(not pod.node_name for pod in pods) == outcome.pending
    for group, running in outcome.members.items():
        own = [pod for pod in pods if group in (group_of(pod), f"{pod.meta.namespace}/{pod.pod_group}")]
        assert sum(pod.phase == "Running" and bool(pod.node_name) for pod in own) == running


@EACH
def test_as_many_pods_are_refused_and_evicted_as_the_page_says(example: Example) -> None:
    """By the kubelet, and by schedulers, over the whole run."""
    simulation, outcome = stepping(example), example.outcome
    assert outcome is not None
    reported = [one for cycle in simulation for one in (*cycle.happenings, *cycle.consequences)]
    assert simulation.rest is not None
    reported += simulation.rest.happenings
    assert sum(one.what.startswith(REFUSED) for one in reported) == outcome.refused
    assert sum(one.what == "Preempted" for one in reported) == outcome.evicted
    passes = () if simulation.descheduler is None else simulation.descheduler.passes
    assert sum(len(list(one.record.evictions)) for one in passes) == outcome.descheduled


@EACH
def test_each_group_goes_through_the_phases_that_the_page_lists(example: Example) -> None:
    """PodGroups take the claimed phases in turn and no others."""
    simulation, outcome = run(example), example.outcome
    assert outcome is not None
    for group, phases in outcome.phases.items():
        assert tuple(phase for _, phase in phases_of(simulation.observers)[group]) == phases


@EACH
def test_the_text_counts_right(example: Example) -> None:
    """The numbers of running and pending pods in an example's text are those of its outcome."""
    outcome = example.outcome
    assert outcome is not None
    for number, what in re.findall(r"(\d+) (run|stay pending|pods stay pending)\b", example.text):
        assert int(number) == (outcome.running if what == "run" else outcome.pending)


@EACH
def test_it_opens_at_a_step_that_exists(example: Example) -> None:
    """The step that the link names is one of the run's."""
    steps = {cycle.step for cycle in stepping(example, trace=False)}
    assert example.step in steps


def printed(slug: str, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """Return the lines that ``simulate`` prints of an example, as words."""
    assert main(["simulate", f"scheduler_core/authoring/examples/{slug}.yaml"]) == 0
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_the_demo_with_room_prints_what_kubectl_would(capsys: pytest.CaptureFixture[str]) -> None:
    """Of 6 pods 4 run and 2 are pending, in kubectl's columns, and the PodGroup ends in Running."""
    lines = printed("coscheduling-room", capsys)
    assert lines[0] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE"]
    rows = [line[1:4] for line in lines[1:7]]
    assert sorted(rows) == [["0/1", "Pending", "0"]] * 2 + [["1/1", "Running", "0"]] * 4
    place = lines.index(["PodGroup", "default/nginx,", "minMember", "4:"])
    phases = [line[1] for line in lines[place + 1 : place + 6]]
    assert phases == ["Pending", "PreScheduling", "Scheduling", "Scheduled", "Running"]


def test_the_demo_without_room_prints_six_pending_pods(capsys: pytest.CaptureFixture[str]) -> None:
    """All 6 pods are pending, and each says why: no room, rejected, or the group's denial."""
    lines = printed("coscheduling-no-room", capsys)
    assert [line[1:4] for line in lines[1:7]] == [["0/1", "Pending", "0"]] * 6
    text = "\n".join(" ".join(line) for line in lines)
    assert text.count("rejected while waiting on permit: optimistic rejection in PostFilter") == 3
    assert text.count("Insufficient cpu") == 1
    assert text.count("last failed in 3s, deny") == 2


def test_a_rollout_without_room_exceeds_its_deadline() -> None:
    """The moment at which ``kubectl rollout status`` gives up is on the timeline."""
    simulation = stepping(next(one for one in SHOWN if one.slug == "rollout-stuck"))
    seen = [one for cycle in simulation for one in (*cycle.happenings, *cycle.consequences)]
    late = [(one.time, one.text) for one in seen if one.what == "ProgressDeadlineExceeded"]
    text = "Deployment default/web exceeded its progress deadline: 600 s without progress"
    assert late == [(661.0, text)]


def test_a_drain_that_never_ends_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """With the pod that stays and the budget's answer; a drain that ended is not."""
    lines = printed("drain-budget", capsys)
    named = [" ".join(line) for line in lines if line[:1] == ["Node"]]
    refused = "the eviction of default/db-0 is refused (needs 1 healthy pods and has 1 currently)"
    assert named == [f"Node worker-1 is not drained: {refused}"]


def descheduled(slug: str) -> Descheduler:
    """Return the descheduler of an example that has run under v1.37."""
    simulation = run(next(one for one in SHOWN if one.slug == slug))
    assert simulation.scenario.release == V1_37 and not simulation.scenario.warnings
    assert simulation.descheduler is not None
    return simulation.descheduler


@pytest.mark.parametrize(
    ("slug", "by"),
    [
        ("descheduler-duplicates", {"RemoveDuplicates": 2}),
        ("descheduler-low-utilization", {"LowNodeUtilization": 3}),
        ("descheduler-high-utilization", {"HighNodeUtilization": 2}),
        (
            "descheduler-violations",
            {
                "RemovePodsViolatingNodeTaints": 2,
                "RemovePodsViolatingNodeAffinity": 1,
                "RemovePodsViolatingInterPodAntiAffinity": 1,
            },
        ),
        ("descheduler-failed", {"RemoveFailedPods": 1, "RemovePodsHavingTooManyRestarts": 1}),
        ("descheduler-zones", {"RemovePodsViolatingTopologySpreadConstraint": 3}),
    ],
)
def test_each_strategy_evicts_in_one_pass_and_then_is_content(slug: str, by: dict[str, int]) -> None:
    """A second pass finds nothing more, and no pod came back."""
    made = descheduled(slug)
    first, second = (Counter(name for name, _ in one.record.evictions) for one in made.passes)
    assert first == by and not second
    assert not made.returns


def test_the_descheduler_makes_nodes_more_even_or_empties_them() -> None:
    """By how many percent points of cpu the nodes differ, before and after."""
    low, high = (descheduled(f"descheduler-{name}-utilization") for name in ("low", "high"))
    assert (low.passes[0].spread["cpu"], low.spread()["cpu"]) == (87.5, 12.5)
    assert (high.passes[0].spread["cpu"], high.spread()["cpu"]) == (25.0, 100.0)


def test_old_pods_go_one_at_a_time_and_the_bare_one_stays() -> None:
    """At most one of the namespace in a pass; what has no owner is protected in each."""
    made = descheduled("descheduler-lifetime")
    assert all(len(list(one.record.evictions)) <= 1 for one in made.passes)
    last = made.passes[-1].record.strategies[0]
    assert [one.reason for one in last.of("protected")] == ["pod does not have any ownerRefs"]


def test_what_keeps_failing_goes_and_what_recovered_or_has_no_owner_stays() -> None:
    """By the number of restarts, and by the protection of pods without an owner."""
    made = descheduled("descheduler-failed")
    evicted = [verdict.pod for _, verdict in made.passes[0].record.evictions]
    assert evicted == ["default/import-failed", "default/api-restarting"]
    failed, restarting = made.passes[0].record.strategies
    assert [(one.pod, one.reason) for one in failed.of("protected")] == [
        ("default/bare-failed", "pod does not have any ownerRefs")
    ]
    assert "default/api-recovered" not in [one.pod for one in restarting.verdicts]


def test_every_strategy_has_an_example() -> None:
    """In which it evicts something."""
    shown = [one.slug for one in SHOWN if one.slug.startswith("descheduler-")]
    passes = [one for slug in shown for one in descheduled(slug).passes]
    assert {name for one in passes for name, _ in one.record.evictions} == set(PLUGINS)


def test_the_ping_pong_is_named_as_such() -> None:
    """By workload and node, at each pass but the first; a scheduler that spreads ends it."""
    made = descheduled("descheduler-ping-pong")
    assert [(one.node, one.time) for one in made.returns] == [("worker-1", t) for t in (120.0, 180.0, 240.0)]
    example = next(one for one in SHOWN if one.slug == "descheduler-ping-pong")
    spreads = simulate(load(example.read().replace("MostAllocated", "LeastAllocated")))
    assert list(spreads) and spreads.descheduler is not None
    assert not spreads.descheduler.returns
