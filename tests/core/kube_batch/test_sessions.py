"""What sessions of kube-batch decide, one rule of the text after the other, the surprises above all."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler_core.kubernetes.model import (
    Affinity,
    HostPort,
    LabelSelector,
    NodeCondition,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodAffinityTerm,
    PodDisruptionBudget,
    PodGroupCondition,
    PodGroupStatus,
    PreferredNodeTerm,
    Requirement,
    WeightedPodAffinityTerm,
)
from scheduler_core.schedulers.kube_batch.plugins.gang import NOT_ENOUGH_RESOURCES, UNSCHEDULABLE
from scheduler_core.schedulers.kube_batch.resources import InsufficientError
from scheduler_core.schedulers.kube_batch.snapshot import (
    GROUP_MIN_MEMBER,
    ServerOption,
    WatchedObjects,
    take_snapshot,
)
from tests.core.kube_batch.parts import (
    bound,
    configuration,
    evicted,
    group,
    members,
    node,
    pod,
    priority_class,
    queue,
    session,
    with_status,
)

HOST = "kubernetes.io/hostname"


def test_a_gang_is_bound_whole_or_not_at_all() -> None:
    """What a gang could not complete stays allocated until the session ends, and is sent nowhere."""
    whole = session(node("n", 3), group("g", 3), members("g", 3))
    assert bound(whole) == {"g-0": "n", "g-1": "n", "g-2": "n"}
    part = session(node("n", 2), group("g", 3), members("g", 3))
    assert bound(part) == {}
    assert with_status(part, "Allocated") == {"g-0": "n", "g-1": "n"}


def test_a_big_gang_starves_the_jobs_behind_it() -> None:
    """The tasks that it holds in vain keep their nodes in every session."""
    objects = (
        node("n", 2),
        group("big", 3, created="2020-01-01T00:00:00Z"),
        group("small", 1, created="2020-01-01T00:00:01Z"),
    )
    pods = [*members("big", 3), *members("small", 1)]
    assert bound(session(*objects, pods)) == {}
    assert bound(session(*objects, members("small", 1), members("big", 1))) == {"small-0": "n"}


def test_without_the_switch_job_ready_every_task_is_dispatched_at_once() -> None:
    """With no enabled jobReady function a job is always ready."""
    conf = configuration(tiers=("priority gang/enableJobReady", "drf predicates proportion nodeorder"))
    assert len(bound(session(node("n", 2), group("g", 3), members("g", 3), conf=conf))) == 2


def test_a_group_without_minimum_sorts_behind_those_not_ready() -> None:
    """It is ready at once and gets one task a turn, when the others have been served."""
    found = session(
        node("n", 2),
        group("none", 0, created="2020-01-01T00:00:00Z"),
        group("two", 2, created="2020-01-01T00:00:05Z"),
        members("none", 2),
        members("two", 2),
    )
    assert set(bound(found)) == {"two-0", "two-1"}
    assert found.closing.groups["ns/none"].phase == "Running"


def test_a_task_may_exceed_what_is_idle_by_less_than_the_epsilon() -> None:
    """Nine millicores too many fit, ten do not."""
    objects = node("n", 1), group("g", 1)
    assert bound(session(*objects, members("g", 1, cpu=1.009))) == {"g-0": "n"}
    assert bound(session(*objects, members("g", 1, cpu=1.01))) == {}


def test_jobs_without_group_or_queue_silently_do_nothing() -> None:
    """Their running pods occupy the node nevertheless."""
    found = session(
        node("n", 3),
        group("lost", 1, queue="nowhere"),
        members("lost", 1),
        [pod("running", "unknown", on="n"), pod("orphan", "unknown")],
        group("g", 2),
        members("g", 3),
    )
    assert set(found.session.jobs) == {"ns/g"}
    assert len(bound(found)) == 2
    assert {(one.name, one.why) for one in found.session.left_out} == {
        ("ns/lost", "its Queue nowhere does not exist"),
        ("ns/unknown", "its PodGroup does not exist"),
    }


def test_a_pod_bound_by_another_scheduler_but_still_pending_is_invisible() -> None:
    """The room that it has taken is given away a second time."""
    other = pod("web", cpu=2, on="n", phase="Pending", scheduler="default-scheduler")
    assert bound(session(node("n", 2), group("g"), members("g", 1, cpu=2), [other])) == {"g-0": "n"}
    running = pod("web", cpu=2, on="n", scheduler="default-scheduler")
    assert bound(session(node("n", 2), group("g"), members("g", 1, cpu=2), [running])) == {}


def test_a_node_takes_its_tasks_in_order_as_long_as_they_fit() -> None:
    """It stays in the session; a task that it refuses counts for its job and occupies nothing."""
    crowded = [pod("a", "g", cpu=2, on="n1"), pod("b", "g", cpu=2, on="n1")]
    found = session(node("n1", 3), group("g"), [*crowded, pod("new", "g", cpu=1)])
    assert bound(found) == {"new": "n1"}
    job = found.session.jobs["ns/g"]
    assert (job.ready_tasks, job.allocated.cpu) == (3, 5000)
    assert list(found.session.nodes.tasks[0]) == ["ns/a", "ns/new"]
    assert [(one.kind, one.name) for one in found.session.left_out] == [("Pod", "ns/b")]


@pytest.mark.parametrize(("anti", "where"), [(True, {"new": "n1"}), (False, {"new": "n2"})])
def test_every_node_but_its_own_sees_a_task_that_was_refused(anti: bool, where: dict[str, str]) -> None:
    """Affinity counts it by the node that it names (NodeInfo.Filter)."""
    term = PodAffinityTerm(LabelSelector({"app": "b"}), "zone")
    avoids = Affinity(has_pod_anti_affinity=True, anti_required=(term,))
    wants = avoids if anti else Affinity(has_pod_affinity=True, pod_required=(term,))
    crowded = [pod("a", "g", cpu=2, on="n1"), pod("b", "g", cpu=2, on="n1", labels={"app": "b"})]
    nodes = [replace(node(name, 3), meta=ObjectMeta(name, labels={"zone": "z"})) for name in ("n1", "n2")]
    new = pod("new", "g", cpu=1, affinity=wants)
    assert bound(session(*nodes, group("g"), [*crowded, new])) == where


def test_pods_without_a_group_get_a_shadow_group() -> None:
    """Its id is its controller's uid, or the pod's, its minimum the annotation's if that is a number."""
    owners = (OwnerReference("ReplicaSet", "rs", "uid-rs", controller=True),)
    three = {GROUP_MIN_MEMBER: "3"}
    pods = [pod(f"o{n}", owners=owners, annotations=three) for n in range(2)]
    found = session(node("n"), [*pods, pod("bare", annotations={GROUP_MIN_MEMBER: "x"})])
    assert {name: job.min_available for name, job in found.session.jobs.items()} == {"uid-rs": 3, "bare": 1}
    assert bound(found) == {"bare": "n"}
    assert found.closing.groups == {}


def test_a_disruption_budget_with_a_controller_declares_a_gang() -> None:
    """Its job has priority 0 and the default queue; the original crashes at close if it is not ready."""
    owners = (OwnerReference("ReplicaSet", "rs", "uid-rs", controller=True),)
    budget = PodDisruptionBudget(ObjectMeta("b", "ns", owner_references=owners), min_available=2)
    pods = [pod(f"o{n}", owners=owners) for n in range(2)]
    whole = session(node("n"), budget, pods)
    assert (len(bound(whole)), whole.closing.events) == (2, ())
    more = session(node("n", 2), budget, [*pods, pod("o2", owners=owners)])
    assert [(event.reason, event.object) for event in more.closing.events] == [
        ("FailedScheduling", "Pod ns/o2")
    ]
    part = session(node("n", 1), budget, pods)
    assert bound(part) == {}
    assert [event.reason for event in part.closing.events] == ["Panic"]


def test_unknown_priority_classes_silently_give_the_default() -> None:
    """The global default replaces 0 for every group."""
    groups = group("a", priority_class_name="high"), group("b", priority_class_name="typo"), group("c")
    high, usual = priority_class("high", 9), priority_class("usual", 5, default=True)
    found = session(*groups, high, usual)
    assert {job.name: job.priority for job in found.session.jobs.values()} == {"a": 9, "b": 5, "c": 5}


def test_a_task_without_a_priority_has_priority_one() -> None:
    """It comes before a task whose pod says 0."""
    pods = [pod("zero", "g", priority=0, created="2020-01-01T00:00:00Z"), pod("absent", "g")]
    assert set(bound(session(node("n", 1), group("g"), pods))) == {"absent"}


def test_capability_of_a_queue_is_accepted_and_never_used() -> None:
    """A queue has room for whatever its weight entitles it to."""
    found = session(node("n", 4), queue("default"), group("g", 4), members("g", 4))
    assert len(bound(found)) == 4


def test_an_overused_queue_gets_nothing_more() -> None:
    """Overused is what has all it deserves of every resource: cpu alone may run past it."""
    objects = node("n", 8, 8), queue("a"), queue("b"), group("ga", 1, queue="a"), group("gb", 1, queue="b")
    b = members("gb", 1, cpu=9, memory=9)  # fits no node
    even = session(*objects, members("ga", 8, cpu=1, memory=1), b)
    assert len(bound(even)) == 4
    lean = session(*objects, members("ga", 8, cpu=1, memory=0.5), b)
    assert len(bound(lean)) == 8


def test_a_queue_of_weight_zero_deserves_nothing() -> None:
    """It is always overused."""
    assert bound(session(node("n"), queue("default", 0), group("g"), members("g", 1))) == {}


def test_weights_overflow_as_the_original_s() -> None:
    """Two that exceed 32 bits together have a negative sum, and the subtraction of what was given fails."""
    queues = queue("a", 2**31 - 1), queue("b", 100)
    groups = group("ga", queue="a"), group("gb", queue="b")
    pods = [*members("ga", 1, cpu=9), *members("gb", 1, cpu=9)]
    with pytest.raises(InsufficientError):
        session(node("n"), *queues, *groups, pods)


def test_backfill_places_only_what_requests_nothing() -> None:
    """Allocate skips such tasks; the gang still has to be ready."""
    pods = [pod("empty", "g", cpu=0, memory=0), pod("full", "g")]
    for actions, expected in (("allocate", {"full"}), ("backfill", {"empty"})):
        found = session(node("n"), group("g"), pods, conf=configuration(actions))
        assert set(bound(found)) == expected
    gang = session(node("n"), group("g", 3), pods, conf=configuration("allocate, backfill"))
    assert bound(gang) == {}


def test_a_pending_task_is_pipelined_onto_what_is_being_released() -> None:
    """The condition then tells what the node lacks."""
    leaving = pod("old", "o", cpu=4, on="n", deleted="2020-01-01T00:00:00Z")
    found = session(node("n", 4), group("o", 0), group("g"), members("g", 1, cpu=2), [leaving])
    assert with_status(found, "Pipelined") == {"g-0": "n"}
    (condition,) = found.closing.groups["ns/g"].conditions
    assert condition.message == (
        "1/1 tasks in gang unschedulable: 0/1 nodes are available, 1 insufficient cpu."
    )


def running(count: int = 4, least: int = 1, *, low: str = "low") -> list[object]:
    """Return a full node of four cores with a job of low priority."""
    return [
        node("n", 4),
        priority_class("low", 1),
        priority_class("high", 9),
        group("low", least, priority_class_name=low),
        members("low", count, on="n"),
    ]


def test_preemption_evicts_the_lowest_tasks_of_lower_jobs() -> None:
    """The preemptor is pipelined; a later session binds it."""
    objects = [*running(), group("high", 1, priority_class_name="high"), members("high", 1, cpu=2)]
    found = session(*objects, conf=configuration("preempt"))  # type: ignore[arg-type]
    assert evicted(found) == ["low-2", "low-3"]
    assert with_status(found, "Pipelined") == {"high-0": "n"}
    assert bound(found) == {}


def test_preemption_for_a_gang_that_stays_incomplete_is_undone() -> None:
    """Nothing is evicted, and the victims run as before."""
    objects = [*running(), group("high", 5, priority_class_name="high"), members("high", 5)]
    found = session(*objects, conf=configuration("preempt"))  # type: ignore[arg-type]
    assert evicted(found) == []
    assert len(with_status(found, "Running")) == 4
    assert len(with_status(found, "Pending")) == 5
    assert found.session.nodes.idle[0, 0] == 0
    assert found.session.nodes.releasing[0, 0] == 0


def test_preemption_does_not_look_at_what_is_idle() -> None:
    """A task is evicted although the preemptor would fit."""
    objects = [*running(1), group("high", 1, priority_class_name="high"), members("high", 1)]
    assert evicted(session(*objects, conf=configuration("preempt"))) == ["low-0"]  # type: ignore[arg-type]


def test_several_victims_of_one_gang_may_pass_together_and_break_it() -> None:
    """Each is judged by the gang as it was before."""
    objects = [*running(4, 3), group("high", 1, priority_class_name="high"), members("high", 1, cpu=2)]
    found = session(*objects, conf=configuration("preempt"))  # type: ignore[arg-type]
    assert len(evicted(found)) == 2
    assert found.session.jobs["ns/low"].ready is False
    assert found.closing.groups["ns/low"].phase == "Unknown"


def test_critical_pods_are_no_victims() -> None:
    """By namespace and by priority class."""
    victims = [
        pod("a", "low", on="n", priority_class_name="system-node-critical"),
        pod("b", "low", on="n", priority_class_name="system-cluster-critical"),
        pod("c", "low", on="n"),
        pod("d", "low", on="n"),
    ]
    start = running(0)
    objects = [*start[:-1], victims, group("high", 1, priority_class_name="high"), members("high", 1, cpu=3)]
    assert evicted(session(*objects, conf=configuration("preempt"))) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tiers", "victims"),
    [
        (("priority gang", "drf predicates"), ["low-3"]),
        (("gang", "drf predicates"), ["low-3"]),
        (("drf", "priority gang predicates"), []),
    ],
)
def test_only_the_first_tier_with_any_such_plugin_matters(tiers: tuple[str, ...], victims: list[str]) -> None:
    """With priority or gang first, drf is never asked; with drf first, a job of greater share has no say."""
    objects = [
        *running(1),
        group("high", 1, priority_class_name="high"),
        [pod("high-r", "high", on="n"), pod("high-s", "high", on="n"), pod("high-p", "high")],
        members("low", 4, on="n")[3:],
    ]
    found = session(*objects, conf=configuration("preempt", tiers))  # type: ignore[arg-type]
    assert evicted(found) == victims


def shared_queues(count: int = 4) -> list[object]:
    """Return queues a, which has the whole node, and b, which has nothing."""
    return [
        node("n", 4),
        queue("a"),
        queue("b"),
        group("ga", 1, queue="a"),
        group("gb", 1, queue="b"),
        members("ga", count, on="n"),
    ]


def test_reclaim_serves_one_task_of_a_job_in_a_session() -> None:
    """Neither the job nor the task is put back."""
    conf = configuration("reclaim")
    found = session(*shared_queues(), members("gb", 3), conf=conf)  # type: ignore[arg-type]
    assert evicted(found) == ["ga-0"]
    assert with_status(found, "Pipelined") == {"gb-0": "n"}


def test_reclaim_may_push_a_queue_below_what_it_deserves() -> None:
    """Proportion is in the second tier and is not asked; in the first it keeps two tasks."""
    objects = [*shared_queues(2), members("gb", 1, cpu=1)]
    usual = session(*objects, conf=configuration("reclaim"))  # type: ignore[arg-type]
    assert evicted(usual) == ["ga-0"]
    conf = configuration("reclaim", ("proportion", "priority gang predicates"))
    assert evicted(session(*objects, conf=conf)) == []  # type: ignore[arg-type]


def test_reclaim_does_not_look_at_what_is_idle() -> None:
    """In the order reclaim, allocate a task is evicted although there is room."""
    found = session(*shared_queues(1), members("gb", 1), conf=configuration("reclaim, allocate"))  # type: ignore[arg-type]
    assert evicted(found) == ["ga-0"]


def test_phases_follow_the_tasks_and_the_condition_of_this_session() -> None:
    """The condition is never removed; alone it makes no group Unknown."""
    old = PodGroupStatus(
        conditions=(PodGroupCondition("Unschedulable", "True", "NotEnoughResources", "old"),)
    )
    found = session(
        node("n", 4),
        group("done", 1, status=old),
        members("done", 1, on="n"),
        group("short", 3),
        members("short", 1, on="n"),
        group("waiting", 9),
        members("waiting", 1),
        [pod("short-f", "short", on="n", phase="Failed"), pod("short-s", "short", on="n", phase="Succeeded")],
    )
    groups = found.closing.groups
    phases = {name: (status.phase, status.running) for name, status in groups.items()}
    assert phases == {"ns/done": ("Running", 1), "ns/short": ("Unknown", 1), "ns/waiting": ("Pending", 0)}
    assert groups["ns/done"].conditions == old.conditions
    assert groups["ns/short"].conditions[0].message == (
        "1/3 tasks in gang unschedulable: 0 nodes are available"
    )
    assert (groups["ns/short"].failed, groups["ns/short"].succeeded) == (1, 1)


def test_a_queue_keeps_its_whole_part_unless_it_needs_less_of_everything() -> None:
    """It needs little cpu and more than its part of memory: the cpu that it cannot use stays with it."""
    found = session(
        node("n", 10, 10),
        queue("a"),
        queue("b"),
        group("ga", 1, queue="a"),
        group("gb", 1, queue="b"),
        members("ga", 1, cpu=1, memory=8),
        members("gb", 9, cpu=1, memory=0.5),
    )
    accounts = found.session.registered["proportion"].queue_shares
    assert accounts is not None
    deserved = {one.queue: one.deserved["cpu"] for one in accounts()}
    assert deserved["a"] == 5000


def test_the_example_of_two_queues() -> None:
    """Weights 2 and 4 divide 9 cores and 27 GiB into thirds."""
    found = session(
        node("n", 9, 27),
        queue("a", 2),
        queue("b", 4),
        group("ga", 1, queue="a"),
        group("gb", 1, queue="b"),
        members("ga", 1, cpu=9, memory=27),
        members("gb", 1, cpu=9, memory=27),
    )
    accounts = found.session.registered["proportion"].queue_shares
    assert accounts is not None
    deserved = {one.queue: (one.deserved["cpu"], one.deserved["memory"] / 2**30) for one in accounts()}
    assert deserved == {"a": (3000, 9), "b": (6000, 18)}


def test_a_node_without_pods_in_allocatable_accepts_nothing() -> None:
    """Its number of allowed tasks is 0, but only the predicates look at it."""
    objects = node("n", pods=0), group("g"), members("g", 1)
    assert bound(session(*objects)) == {}
    assert bound(session(*objects, conf=configuration(tiers=("gang",)))) == {"g-0": "n"}


def test_scalar_resources_count_in_thousandths() -> None:
    """One GPU is there; a request for another waits."""
    found = session(node("n", gpu=1), group("g"), members("g", 2, gpu=1))
    assert len(bound(found)) == 1
    assert found.session.jobs["ns/g"].allocated.scalars == {"x.io/gpu": 1000}


def apart(name: str, *, on: str = "") -> Pod:
    """Return a pod that keeps others of its label off its node."""
    term = PodAffinityTerm(LabelSelector({"app": "a"}), HOST)
    affinity = Affinity(has_pod_anti_affinity=True, anti_required=(term,))
    return pod(name, "g", labels={"app": "a"}, affinity=affinity, on=on)


def test_anti_affinity_counts_the_tasks_of_this_session() -> None:
    """Two pods that refuse each other take two nodes, and a third has none."""
    found = session(node("n1"), node("n2"), group("g"), [apart("a"), apart("b"), apart("c")])
    assert sorted(bound(found).values()) == ["n1", "n2"]


def test_an_allocated_task_on_an_unknown_node_blocks_every_other() -> None:
    """The original's affinity check fails with an error on every node, whether or not anyone has affinity."""
    objects = node("n"), group("g"), members("g", 1)
    assert bound(session(*objects, [pod("old", "g", on="gone")])) == {}
    assert bound(session(*objects, [pod("old", "other", on="gone")])) == {"g-0": "n"}


def test_plugin_switches_change_the_orders() -> None:
    """Without the priority plugin's job order the older job comes first."""
    objects = (
        node("n", 1),
        priority_class("high", 9),
        group("old", 1, created="2020-01-01T00:00:00Z"),
        group("new", 1, priority_class_name="high", created="2020-01-02T00:00:00Z"),
        members("old", 1),
        members("new", 1),
    )
    assert set(bound(session(*objects))) == {"new-0"}
    conf = configuration(tiers=("priority/enableJobOrder gang", "predicates"))
    assert set(bound(session(*objects, conf=conf))) == {"old-0"}


def test_a_budget_without_controller_is_no_gang() -> None:
    """It is not respected as a disruption budget either."""
    budget = PodDisruptionBudget(ObjectMeta("b", "ns"), min_available=2)
    assert take_snapshot(WatchedObjects.of([budget, queue()]), ServerOption()).jobs == {}


def test_a_task_that_was_rolled_back_is_accepted_by_its_former_node_only() -> None:
    """Any other refuses it, yet it counts as allocated; that it cannot be sent ends its gang's dispatch."""
    objects = [
        node("n1", 1),
        node("n2", 1),
        priority_class("low", 1),
        priority_class("high", 9),
        group("low", 1, priority_class_name="low"),
        [pod("low-0", "low", on="n2")],
        group("high", 2, priority_class_name="high"),
        members("high", 2),
    ]
    found = session(*objects, conf=configuration("preempt, allocate"))  # type: ignore[arg-type]
    assert (bound(found), evicted(found)) == ({}, [])
    assert with_status(found, "Allocated") == {"high-0": "n2", "high-1": "n1"}
    assert found.session.nodes.counts.tolist() == [1, 1]


def test_preemption_within_jobs_takes_tasks_off_queues_still_to_come() -> None:
    """The first queue's turn ends with a vain attempt for the only task of the second queue's job."""
    objects = [
        node("n", 4),
        queue("a"),
        queue("b"),
        priority_class("high", 9),
        *(group(f"low-{name}", 1, queue=name) for name in "ab"),
        *(members(f"low-{name}", 2, on="n") for name in "ab"),
        *(group(f"high-{name}", 1, queue=name, priority_class_name="high") for name in "ab"),
        *(members(f"high-{name}", 1) for name in "ab"),
    ]
    found = session(*objects, conf=configuration("preempt"))  # type: ignore[arg-type]
    assert evicted(found) == ["low-a-1"]
    assert set(with_status(found, "Pipelined")) == {"high-a-0"}


def test_a_pod_without_requests_is_held_back_by_memory_pressure_where_enabled() -> None:
    """The other pressures hold every pod back; none counts without its argument."""
    pressed = replace(
        node("n"),
        conditions=(NodeCondition("MemoryPressure", "True"), NodeCondition("DiskPressure", "False")),
    )
    pods = [pod("empty", "g", cpu=0, memory=0), pod("full", "g")]
    actions = "allocate, backfill"
    assert set(bound(session(pressed, group("g"), pods, conf=configuration(actions)))) == {"empty", "full"}
    conf = configuration(actions, predicates="{predicate.MemoryPressureEnable: true}")
    assert set(bound(session(pressed, group("g"), pods, conf=conf))) == {"full"}


def test_nodeorder_weights_decide_which_node_is_best() -> None:
    """The emptier node by default; with only mostrequested the fuller one."""
    objects = node("n1", 4), node("n2", 4), group("g"), members("g", 1), [pod("web", on="n2", scheduler="x")]
    assert bound(session(*objects)) == {"g-0": "n1"}
    weights = "{leastrequested.weight: 0, balancedresource.weight: 0, mostrequested.weight: 1}"
    assert bound(session(*objects, conf=configuration(nodeorder=weights))) == {"g-0": "n2"}


def test_affinity_knows_only_tasks_of_jobs() -> None:
    """A pod of another scheduler is no neighbor, whatever its labels."""
    web = pod("web", labels={"app": "a"}, on="n", scheduler="default-scheduler")
    assert bound(session(node("n"), group("g"), [apart("a"), web])) == {"a": "n"}
    other = pod("other", "g", labels={"app": "a"}, on="n")
    assert bound(session(node("n"), group("g"), [apart("a"), other])) == {}


@pytest.mark.parametrize(("anti", "chosen"), [(True, "n2"), (False, "n1")])
def test_preferred_affinity_scores_the_pods_on_the_candidates(anti: bool, chosen: str) -> None:
    """Pods of every scheduler count, by the topology of their node."""
    weighted = (WeightedPodAffinityTerm(9, PodAffinityTerm(LabelSelector({"app": "a"}), HOST)),)
    affinity = (
        Affinity(has_pod_anti_affinity=True, anti_preferred=weighted)
        if anti
        else Affinity(has_pod_affinity=True, pod_preferred=weighted)
    )
    web = pod("web", labels={"app": "a"}, on="n1", cpu=1, scheduler="default-scheduler")
    only = "{leastrequested.weight: 0, balancedresource.weight: 0}"
    found = session(
        node("n1"),
        node("n2"),
        group("g"),
        [pod("g-0", "g", affinity=affinity), web],
        conf=configuration(nodeorder=only),
    )
    assert bound(found) == {"g-0": chosen}


def test_preferred_node_affinity_is_scaled_to_the_best_candidate() -> None:
    """Ten for the node with the highest sum of weights."""
    term = NodeSelectorTerm((Requirement(HOST, "In", ("n2",)),))
    affinity = Affinity(node_preferred=(PreferredNodeTerm(3, term),))
    found = session(node("n1"), node("n2"), group("g"), [pod("g-0", "g", affinity=affinity)])
    assert bound(found) == {"g-0": "n2"}


def test_host_ports_of_the_same_session_are_taken() -> None:
    """The second pod with the port needs the second node; the third has none."""
    port = HostPort("0.0.0.0", "TCP", 80)
    pods = [
        replace(one, containers=tuple(replace(c, host_ports=(port,)) for c in one.containers))
        for one in members("g", 3)
    ]
    found = session(node("n1"), node("n2"), group("g"), pods)
    assert sorted(bound(found).values()) == ["n1", "n2"]


def test_the_condition_takes_the_place_of_the_first_of_its_type() -> None:
    """Others keep their places, later ones of the same type too."""
    old, other = (PodGroupCondition(type_, "True", "Old", "old") for type_ in (UNSCHEDULABLE, "Other"))
    status = PodGroupStatus(conditions=(other, old, other, old))
    found = session(node("n", 1), group("g", 2, status=status), members("g", 2))
    conditions = found.closing.groups["ns/g"].conditions
    assert [one.reason for one in conditions] == ["Old", NOT_ENOUGH_RESOURCES, "Old", "Old"]
