"""The availability of workloads over time: what is counted, from when on, and by which owner."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from msgspec import convert
from msgspec.structs import replace

from scheduler_core import load
from scheduler_core.cli.availability_report import availability_lines
from scheduler_core.cluster.availability_series import MOST_MOMENTS, AvailabilitySeries
from scheduler_core.compare.availability import MOST_DIFFERENCES, difference
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.model import Pod, Workload
from scheduler_core.kubernetes.plain import plain
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.record.availability import Availability, AvailabilitySample, WorkloadAvailability
from scheduler_core.run import simulate
from scheduler_core.run.simulation import TimedSimulation
from tests.core.properties.histories import STARTS, seeds
from tests.core.properties.timed_bundles import bundle as random_bundle
from tests.core.several.test_lone import (
    ALONE,
    SET,
    annotated,
    bundle,
    deleting,
    deployment,
    history,
    patching,
    ran,
)
from tests.core.several.test_v1_37 import nodes, pods

Document = dict[str, Any]
OTHER = {**ALONE, "scheduler": "v1.22"}
DRAIN = {"spec": {"unschedulable": True}, "metadata": {"annotations": {"podstep/drain": "force"}}}
HOURS = 20_000  # seconds of random bundles: some would be without rest for a week
IMAGE = {"spec": {"template": {"metadata": {"labels": {"app": "web", "v": "2"}}}}}


def failing(at: str, *listed: Document) -> list[Document]:
    """Return the nodes, the last of which stops responding at a time."""
    *others, last = listed
    return [*others, annotated(last, fails_at=at)]


def budget(**spec: int) -> Document:
    """Return a PodDisruptionBudget of the pods of ``web``."""
    selector = {"matchLabels": {"app": "web"}}
    made = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}}
    return {**made, "spec": {**spec, "selector": selector}}


def rolled(replicas: int, cpu: int) -> Document:
    """Return a Deployment that creates one new pod before it deletes an old one."""
    made = deployment(replicas, cpu)
    made["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    return made


def daemons() -> Document:
    """Return a DaemonSet ``web`` of small pods."""
    made = deployment(0, 1)
    del made["spec"]["replicas"]
    return {**made, "kind": "DaemonSet"}


def job(**spec: int) -> Document:
    """Return a Job ``web`` whose pods run for 10 s."""
    template = annotated(deployment(0, 10)["spec"]["template"], run_seconds="10")
    template = {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}
    made = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "web"}}
    return {**made, "spec": {**spec, "template": template}}


def drained(least: int, **spec: Any) -> list[Document]:
    """Return four pods on two nodes, of which a budget needs some, and the drain of one node."""
    drain, web = history(patching("Node", "n0", DRAIN), **spec), deployment(4, 10)
    web["spec"]["template"] = annotated(web["spec"]["template"], start_seconds="3")
    return [*nodes(2, cpu=4), web, budget(minAvailable=least), drain]


def scaled(replicas: int) -> Document:
    """Return the operation that scales ``web``."""
    return history(patching("Deployment", "web", {"spec": {"replicas": replicas}}))


def followed(*documents: Document) -> Availability:
    """Return the availability over a whole run."""
    found = ran(*documents).availability()
    assert found is not None
    return found


def of_web(found: Availability) -> WorkloadAvailability:
    """Return the workload that is named ``web``."""
    (web,) = (one for one in found.workloads if one.key == "default/web")
    return web


# --- what becomes of a workload


@pytest.mark.parametrize(
    ("documents", "facts"),
    [
        pytest.param(
            [*failing("100", *nodes(3, cpu=4)), deployment(6, 10)],
            {"desired": 6, "ready": 6, "fewest_ready": 4, "evicted": 2, "refused": 0, "is_below": False},
            id="two of six pods are on a node that fails, and are replaced",
        ),
        pytest.param(
            [*failing("100", *nodes(3, cpu=2)), deployment(6, 10)],
            {"desired": 6, "ready": 4, "fewest_ready": 4, "pending": 2, "evicted": 2, "is_below": True},
            id="the same without room for them elsewhere",
        ),
        pytest.param(
            drained(4, until=300),
            {"desired": 4, "ready": 4, "fewest_ready": 4, "below": 0.0, "evicted": 0, "refused": 2},
            id="a budget never allows an eviction",
        ),
        pytest.param(
            drained(3),
            {"desired": 4, "ready": 4, "fewest_ready": 3, "evicted": 2, "refused": 1},
            id="a budget allows one at a time",
        ),
        pytest.param(
            [*nodes(2, cpu=2), rolled(4, 10), history(patching("Deployment", "web", IMAGE))],
            {"desired": 4, "ready": 4, "pending": 1, "most_pending": 1, "below": 0.0, "is_below": False},
            id="a rollout finds no room, and takes no old pod down",
        ),
        pytest.param(
            [*nodes(1, cpu=4), deployment(2, 10), scaled(6)],
            {"desired": 6, "ready": 4, "fewest_ready": 2, "pending": 2, "is_below": True},
            id="more replicas than there is room for",
        ),
        pytest.param(
            [*nodes(2), daemons(), history(deleting("Node", "n0"))],
            {"kind": "DaemonSet", "desired": 1, "ready": 1, "most_ready": 2, "below": 0.0},
            id="a DaemonSet desires a pod for each node there is",
        ),
        pytest.param(
            [*nodes(1), ALONE | {"time": "virtual"}, job(completions=3, parallelism=2)],
            {"kind": "Job", "desired": 0, "ready": 0, "most_ready": 2, "is_below": False},
            id="a Job desires what is left to complete",
        ),
        pytest.param(
            [*nodes(1), ALONE | {"time": "virtual"}, {**SET, "metadata": {"name": "web"}}],
            {"kind": "ReplicaSet", "desired": 1, "ready": 1, "complete_at": 1},
            id="a ReplicaSet without a Deployment counts for itself",
        ),
    ],
)
def test_facts(documents: list[Document], facts: dict[str, Any]) -> None:
    """Each is true of v1.37 with its controllers."""
    settings = () if any("time" in one for one in documents) else (ALONE,)
    web = of_web(followed(*settings, *documents))
    now = dict(zip(AvailabilitySample._fields, web.last))
    assert {name: now[name] if name in now else getattr(web, name) for name in facts} == facts


def test_start_and_end_of_a_shortage() -> None:
    """It begins when the node is found out, and lasts until the new pods are ready."""
    found = followed(ALONE, *failing("100", *nodes(3, cpu=4)), deployment(6, 10))
    web = of_web(found)
    assert web.below_from is not None
    assert web.below_until is not None
    assert web.below_from == pytest.approx(154.2)
    assert web.below_until == pytest.approx(web.below_from + 300, abs=2)
    assert web.below == web.longest == pytest.approx(web.below_until - web.below_from)
    assert web.longest_from == web.fewest_at == web.below_from
    assert found.calm_at == web.below_until
    assert found.until >= found.calm_at


def test_pods_without_a_controller_are_one_row() -> None:
    """What is gone is no longer desired, but an eviction is counted."""
    found = followed(ALONE, *nodes(2, cpu=1), *pods(2, 5), history(patching("Node", "n0", DRAIN)))
    (bare,) = found.workloads
    assert (bare.kind, bare.key, bare.last.desired, bare.last.ready, bare.evicted) == ("", "", 1, 1, 1)


def test_no_time_passes_no_facts() -> None:
    """A run in which time stands still has no series."""
    for settings in (ALONE, {**ALONE, "scheduler": "v1.11"}):
        assert simulate(load(bundle(settings, *nodes(1), deployment(2, 1)))).availability() is None


# --- bounds


def test_a_long_series_keeps_its_extremes() -> None:
    """Thousands of changes: so many moments, the first, the last, the fewest and the most ready."""
    series = AvailabilitySeries(0.0, desired=50, ready=50)
    for second in range(1, 20_001):
        series.pass_to(float(second))
        series.ready = 50 - (second * 7) % 11 - (30 if second == 9_999 else 0) + (20 if second == 777 else 0)
        series.pending = (second * 5) % 13
    done = series.finished("Deployment", "default/web", 20_001.0)
    assert len(done.moments) <= MOST_MOMENTS
    assert [one.at for one in done.moments] == sorted({one.at for one in done.moments})
    assert min(done.moments, key=lambda one: one.ready)[:3:2] == (9_999.0, done.fewest_ready)
    assert max(done.moments, key=lambda one: one.ready)[:3:2] == (777.0, done.most_ready)
    assert max(one.pending for one in done.moments) == done.most_pending == 12
    assert (done.moments[0].at, done.moments[-1].at) == (0.0, 20_000.0)
    spread = Counter(int(one.at // 2_501) for one in done.moments)
    assert min(spread.values()) > MOST_MOMENTS / 20  # the beginning is as fine as the end


# --- a branch against its parent


def test_a_branch_is_compared_as_if_both_lasted_as_long() -> None:
    """A parent that is short of pods stays so; what the branch adds is the difference."""
    six, lasting = [*nodes(3, cpu=4), deployment(6, 10)], pods(1, 1)
    calm = followed(ALONE, *six, *(annotated(one, run_seconds="5") for one in lasting))
    lost = followed(ALONE, *six, history(patching("Node", "n0", DRAIN)))
    found = difference(calm, lost)
    (web,) = (one for one in found.workloads if one.branch is not None and one.branch.kind)
    assert web.evicted == 2
    assert web.below > 0
    assert found.calm == lost.calm_at - calm.calm_at
    stuck, longer = (
        followed(ALONE, *nodes(1, cpu=1), deployment(6, 9), annotated(lasting[0], run_seconds=seconds))
        for seconds in ("5", "5000")
    )
    assert stuck.until < longer.until
    assert all(one.branch is None or not one.branch.kind for one in difference(stuck, longer).workloads)
    assert convert(plain(lost), Availability) == lost


# --- on the command line


def test_differences_beyond_the_bound_are_counted() -> None:
    """As many as the page lists are there, and the number of the others."""
    one = AvailabilitySample(at=0.0, desired=1, ready=1, pending=0, terminating=0)

    def run(workloads: int, evicted: int) -> Availability:
        rows = [
            WorkloadAvailability(kind="Deployment", key=f"default/w{at}", moments=(one,), evicted=evicted)
            for at in range(workloads)
        ]
        total = WorkloadAvailability(kind="", key="", moments=(one,))
        return Availability(until=1.0, calm_at=0.0, total=total, workloads=tuple(rows))

    for workloads, left_out in ((2, 0), (MOST_DIFFERENCES, 0), (MOST_DIFFERENCES + 3, 3)):
        found = difference(run(workloads, 0), run(workloads, 1))
        assert (len(found.workloads), found.left_out) == (workloads - left_out, left_out)


def test_the_command_line_lists_who_was_short_of_pods() -> None:
    """The eviction and its refusals are in a row; nothing is printed of a run without any."""
    calm = ran({**ALONE, "time": "virtual"}, *nodes(2), deployment(2, 1))
    assert not list(availability_lines(calm.availability()))
    *_, row = availability_lines(ran(ALONE, *drained(3)).availability())
    assert row.split() == ["Deployment", "default/web", *"4 4 0 3 at 60.000s 6.000s 2 1".split()]


# --- against a count of all pods, and against another way to the same step


def counted(made: TimedSimulation) -> dict[Key, Counter[str]]:
    """Count ready, pending and terminating pods by workload, from all pods there are."""
    found: dict[Key, Counter[str]] = {}
    for pod in made.framework.pods.values():
        top = _top(made, pod)
        if not pod.terminal:
            found.setdefault(top, Counter())[_state(pod)] += 1
    return found


def _top(made: TimedSimulation, pod: Pod) -> Key:
    owner = pod.meta.controller
    if owner is None:
        return "", ""
    key = owner.kind, f"{pod.meta.namespace}/{owner.name}"
    set_ = made.live_object(*key)
    above = set_.meta.controller if isinstance(set_, Workload) else None
    deployed = above is not None and above.kind == "Deployment"
    return ("Deployment", f"{pod.meta.namespace}/{above.name}") if above is not None and deployed else key


def _state(pod: Pod) -> str:
    if pod.meta.deletion_timestamp is not None:
        return "terminating"
    if not pod.node_name:
        return "pending"
    return "ready" if pod.available else "starting"


def check(made: TimedSimulation) -> None:
    """Compare the last moments with the pods there are, and the sum of all with the cluster's."""
    found = made.availability()
    assert found is not None
    counts = counted(made)
    for one in found.workloads:
        own = counts.pop((one.kind, one.key), Counter())
        assert one.last[2:] == tuple(own[name] for name in AvailabilitySample._fields[2:]), one.name
        live = made.live_object(one.kind, one.key)
        if isinstance(live, Workload) and live.kind in ("Deployment", "ReplicaSet", "StatefulSet"):
            assert one.last.desired == live.replicas, one.name
        if live is None and one.kind in ("Deployment", "Job"):
            assert one.last.desired in (0, sum(own.values()) - own["terminating"])
    assert not counts
    assert found.total.last[1:] == _sums(one.last for one in found.workloads)


def _sums(moments: Iterable[AvailabilitySample]) -> tuple[int, ...]:
    return tuple(sum(column) for column in list(zip(*moments))[1:]) or (0, 0, 0, 0)


@pytest.mark.parametrize("start", STARTS)
def test_every_moment_is_what_a_count_of_all_pods_says(start: int) -> None:
    """On random bundles, at every step; a replay and a fork of its middle end with the same record."""
    for seed in seeds(start):
        try:
            scenario = load("\n".join(map(json.dumps, random_bundle(seed))))
        except BundleError:
            continue
        scenario = scenario.under(scenario.policy, replace(scenario.settings, until=HOURS))
        made = TimedSimulation(scenario, trace=False)
        while made.index < 30 and made.step() is not None:
            check(made)
        again = TimedSimulation(scenario, trace=False)
        again.replay(made.decisions[: made.index // 2])
        forked = again.fork(trace=True)
        for other in (again, forked):
            other.replay(made.decisions[made.index // 2 :])
            assert (other.done, other.availability()) == (made.done, made.availability()), seed
