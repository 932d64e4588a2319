"""What a cycle in virtual time tells: the schema, groups with their numbers, queues, v1.11's own choices."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from scheduler_core import BundleError, load
from scheduler_core.__main__ import main
from scheduler_core.authoring.examples import examples, find
from scheduler_core.run import is_timed, simulate
from scheduler_core.run.instant import Simulation
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.trace import trace_line
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.schedulers.coscheduling.line import GroupTimer
from scheduler_core.schedulers.coscheduling.podgroup_status import standing
from scheduler_core.schedulers.coscheduling.record import record_of
from scheduler_core.settings.release import V1_37
from tests.core.timed.parts import VIRTUAL, coscheduling, ended, group, history, node, pod, simulation
from tests.core.timed.test_replay import in_time
from tests.e2e.bundles import any_release, by_v1_11

SCHEMA = Path(__file__).parents[3] / "docs" / "trace.schema.json"


@pytest.mark.parametrize("slug", ["coscheduling-room", "coscheduling-no-room", "making-room", "shop"])
def test_every_line_of_a_trace_keeps_to_the_published_schema(slug: str) -> None:
    """Groups, queues, happenings and moves are as the schema has them, and it knows every field."""
    example = find(slug)
    assert example is not None
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    for cycle in TimedSimulation(in_time(example.load())):
        validator.validate(json.loads(trace_line(cycle)))


@pytest.mark.parametrize(
    "slug", ["first-cycle", "spread-over-zones", "taints-are-not-magnets", "cache-good-day"]
)
def test_a_policy_chooses_in_virtual_time_as_it_does_without(slug: str) -> None:
    """Where nothing has to wait, v1.11's predicates, priorities and turns among equals decide the same."""
    example = find(slug)
    assert example is not None
    scenario = in_time(load(by_v1_11(any_release(example.read()))))
    still = Simulation(scenario, trace=False)
    list(still)
    moving = TimedSimulation(scenario, trace=False)
    list(moving)
    assert moving.placement() == still.placement()


def test_a_scenario_is_in_virtual_time_if_its_configuration_says_so() -> None:
    """A KubeSchedulerConfiguration or ``time: virtual`` make it so, and nothing else does."""
    kube = load(coscheduling() + "---\n" + node("a"))
    reported = load(VIRTUAL + "---\n" + node("a"))
    plain, former = load(node("a")), load(node("a"), presumed="v1.11")
    assert [is_timed(one) for one in (kube, reported, plain, former)] == [True, True, False, False]
    assert isinstance(simulate(kube), TimedSimulation)
    assert isinstance(simulate(plain), V1_37Simulation)
    assert isinstance(simulate(former), Simulation)
    loaded = [example.load() for example in examples() if example.outcome is not None]
    assert all(is_timed(scenario) or scenario.release == V1_37 for scenario in loaded)


def test_virtual_time_has_no_equivalence_cache() -> None:
    """The two settings together are refused, with what to write instead."""
    with pytest.raises(BundleError, match="no equivalence cache in virtual time"):
        load(VIRTUAL + "cache: sound\n---\n" + node("a"))


def test_a_group_is_reported_with_its_timers_and_members() -> None:
    """Members are where they are, each waiting one with its own deadline; those with a node are counted."""
    _, cycles = ended(
        coscheduling(permitWaitingTimeSeconds=10),
        node("a", 8),
        group("g", 3),
        *(pod(f"g-{place}", group="g") for place in range(3)),
    )
    second = record_of(cycles[1]).pod_group
    assert second is not None
    assert (second.key, second.min_member, second.assigned) == ("default/g", 3, 2)
    assert {member.pod: member.state for member in second.members} == {
        "default/g-0": "waiting",
        "default/g-1": "waiting",
        "default/g-2": "active",
    }
    first, other = (member.deadline for member in second.members[:2])
    assert first is not None
    assert other is not None
    assert 0 < other - first < 0.01
    assert second.permit is not None
    assert (second.permit.code, second.permit.assigned, second.permit.seconds) == ("Wait", 2, 10)
    last = record_of(cycles[2]).pod_group
    assert last is not None
    assert {member.state for member in last.members} == {"bound"}
    assert last.phase == "Scheduling"  # its pods start within the second
    assert [place for _, place in cycles[2].moves or ()] == ["a"]


def test_a_denied_group_says_until_when() -> None:
    """In the classic edition the failed group is denied, and the cycle has the moment it ends."""
    _, cycles = ended(
        coscheduling("v1beta2", deniedPGExpirationTimeSeconds=7),
        node("a", 1),
        group("g", 2),
        pod("g-0", group="g"),
        pod("g-1", group="g"),
    )
    found = record_of(cycles[1]).pod_group
    assert found is not None
    assert found.post_filter is not None
    assert found.post_filter.rejects_group
    assert found.denied_until == pytest.approx(cycles[1].time + 7, abs=0.01)
    assert found.denials[0].group == "default/g"


def test_the_queue_tells_why_a_pod_is_where_it_is() -> None:
    """Each entry has its sort key, its attempts, the end of its backoff, and what brought it there."""
    _, cycles = ended(VIRTUAL, node("a", 1), pod("big", 2), pod("small", run="20"), pod("late", 1))
    retry = next(cycle for cycle in cycles if cycle.pod == "default/late" and cycle.result == "scheduled")
    queue = retry.queue.timed
    assert queue is not None
    assert queue.tried.attempts == 1
    assert queue.tried.moved_by in ("AssignedPodDelete", "backoff ended")
    assert queue.tried.refused_by == ("NodeResourcesFit",)
    assert queue.counts["waiting"] == 0


def test_a_day_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints what happened, and time is passed no more often than something happens."""
    assert main(["bench", "--shape", "day", "--nodes", "10", "--pods", "60"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["succeeded"] == 60
    assert result["virtual_seconds"] > 80_000
    assert result["turns"] <= result["events"] + result["cycles"]


def test_a_group_of_another_profile_is_reported_with_its_own_denial() -> None:
    """Each profile has a plugin with its own memory; the group of the second one's pods is denied there."""
    first = coscheduling("v1beta2", deniedPGExpirationTimeSeconds=30)
    profile = first[first.index("- plugins:") :]
    both = first.replace("- plugins:", "- schedulerName: default-scheduler\n  plugins:") + profile.replace(
        "- plugins:", "- schedulerName: second\n  plugins:"
    )
    of_second = [
        pod(f"g-{place}", group="g").replace("spec: {", "spec: {schedulerName: second, ") for place in (0, 1)
    ]
    made = simulation(both, node("a", 1), group("g", 2), *of_second)
    cycles = [made.step(), made.step()]
    last = cycles[1]
    assert last is not None
    groups, of_pod = record_of(last).groups, record_of(last).pod_group
    assert of_pod is not None
    assert groups is not None
    assert of_pod.denied_until == pytest.approx(last.time + 30, abs=0.01)
    found = standing(made.framework, "default/g")
    assert found is not None
    assert found.denied_until is not None
    assert found.denied_until == of_pod.denied_until == groups.listed[0].denied_until
    assert found.denials == of_pod.denials == (GroupTimer("default/g", found.denied_until),)


def test_only_those_are_rejected_who_waited() -> None:
    """Names and operations say nothing of it; a time-out is distinguished from a rejection."""
    _, cycles = ended(
        coscheduling(permitWaitingTimeSeconds=10, podGroupRejectPercentage=100),
        node("n", 3),
        group("g", 4),
        *(pod(f"rejected-{place}", group="g") for place in range(3)),
        pod("rejected-3", 9, group="g"),
        history(
            "step: {major: 1, minor: 3}, patchOperation: {typeMeta: {kind: Pod}, objectMeta: "
            "{name: rejected-3}, patchType: merge, patch: {metadata: {annotations: {timeout: 'yes'}}}}"
        ),
    )
    before = record_of(next(cycle for cycle in cycles if cycle.operations)).pod_group
    assert before is not None
    assert {member.rejected for member in before.members} == {False}
    after = next(cycle for cycle in cycles if cycle.time > 10)
    found = record_of(after).pod_group
    assert found is not None
    assert sum(member.rejected for member in found.members) == 3
    kinds = [turn.kind for cycle in cycles for turn in record_of(cycle).marks if turn.kind != "phase"]
    assert kinds[:2] == ["timeout", "rejected"]
