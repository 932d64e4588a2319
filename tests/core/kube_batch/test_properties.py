"""What holds for every session over any cluster, as far as the text guarantees it."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.schedulers.kube_batch.configuration import ACTION_NAMES, parse_configuration
from scheduler_core.schedulers.kube_batch.model import ALLOCATED_STATUSES, PIPELINED, TERMINATED_STATUSES
from scheduler_core.schedulers.kube_batch.record import Dispatch, Eviction, Placement, StatementEnd
from scheduler_core.schedulers.kube_batch.recorder import Recorder
from scheduler_core.schedulers.kube_batch.resources import InsufficientError, Resource
from scheduler_core.schedulers.kube_batch.session import Session
from scheduler_core.schedulers.kube_batch.session_end import Closing
from scheduler_core.schedulers.kube_batch.session_run import Finished, run_session
from scheduler_core.schedulers.kube_batch.snapshot import ServerOption, WatchedObjects, take_snapshot
from scheduler_core.schedulers.kube_batch.task_class import least_free, vector
from tests.core.kube_batch.parts import configuration, group, members, node, pod, priority_class, queue

QUEUES = ("default", "a", "b")
TIERS = (
    ("priority gang conformance", "drf predicates proportion nodeorder"),
    ("gang", "proportion predicates"),
    ("drf proportion gang",),
)


@st.composite
def clusters(draw: st.DrawFn) -> list[KubernetesObject]:
    """Return nodes, queues, and jobs with running and pending pods."""
    nodes = [node(f"n{n}", draw(st.integers(1, 6)), 8) for n in range(draw(st.integers(1, 4)))]
    objects: list[KubernetesObject] = [*nodes, priority_class("high", 9)]
    objects += [queue(name, draw(st.integers(0, 3))) for name in QUEUES]
    room = {one.meta.name: one.allocatable["cpu"] // 1000 for one in nodes}
    for number in range(draw(st.integers(1, 5))):
        name = f"g{number}"
        high = "high" if draw(st.booleans()) else ""
        objects.append(
            group(
                name, draw(st.integers(0, 4)), queue=draw(st.sampled_from(QUEUES)), priority_class_name=high
            )
        )
        pending = draw(st.integers(0, 5))
        cpu = draw(st.sampled_from((0.5, 1, 2)))
        objects += members(name, pending, cpu=cpu, memory=draw(st.sampled_from((0.5, 2))))
        for on in draw(st.lists(st.sampled_from(sorted(room)), max_size=3)):
            if room[on] >= 1:
                room[on] -= 1
                objects.append(pod(f"{name}-r{len(objects)}", name, on=on))
    return objects


PLACING = st.lists(st.sampled_from(("reclaim", "allocate", "backfill")), min_size=1, max_size=3).map(
    ", ".join
)
ORDERS = st.lists(st.sampled_from(ACTION_NAMES), min_size=1, max_size=4).map(", ".join)


def run(objects: list[KubernetesObject], conf: str) -> tuple[Finished, Recorder]:
    """Run one session with a recorder."""
    recorder = Recorder()
    snapshot = take_snapshot(WatchedObjects.of(objects), ServerOption())
    return run_session(snapshot, parse_configuration(conf), recorder), recorder


@settings(max_examples=150, deadline=None)
@given(clusters(), ORDERS, st.sampled_from(TIERS))
def test_sessions_keep_their_accounts(
    objects: list[KubernetesObject], actions: str, tiers: tuple[str, ...]
) -> None:
    """Idle and releasing are what the tasks on a node leave, and no node holds more than it can allocate."""
    finished, _ = run(objects, configuration(actions, tiers))
    _check_nodes(finished.session)
    _check_jobs(finished.session)
    _check_closing(finished.session, finished.closing)


def _check_nodes(session: Session) -> None:
    nodes = session.nodes
    for row, tasks in enumerate(nodes.tasks):
        idle, releasing = nodes.allocatable[:, row].copy(), np.zeros(len(nodes.resources))
        for task in tasks.values():
            amount = vector(task.request, nodes.resources)
            if task.status == PIPELINED:
                releasing -= amount
                continue
            assert task.status not in TERMINATED_STATUSES
            idle -= amount
            if task.status == "Releasing":
                releasing += amount
        assert nodes.idle[:, row].tolist() == idle.tolist()
        assert nodes.releasing[:, row].tolist() == releasing.tolist()
        assert (idle > least_free(Resource(), nodes.resources)).all()
        assert len(tasks) == nodes.counts[row]


def _check_jobs(session: Session) -> None:
    """Every task is in its job once, under its status, and what is allocated is the sum."""
    for job in session.jobs.values():
        assert sum(map(len, job.by_status.values())) == len(job.tasks)
        total = Resource()
        for task in job.tasks.values():
            assert job.by_status[task.status][task.uid] is task
            if task.status in ALLOCATED_STATUSES:
                total.add(task.request)
        assert total.amounts() == job.allocated.amounts()


def _check_closing(session: Session, closing: Closing) -> None:
    assert set(closing.groups) == {job.id for job in session.jobs.values() if not job.shadow}


@settings(max_examples=150, deadline=None)
@given(clusters(), PLACING, st.sampled_from(("", ", preempt")))
def test_with_the_gang_plugin_no_gang_is_bound_in_part(
    objects: list[KubernetesObject], actions: str, last: str
) -> None:
    """When a job's task is sent, the tasks that run or are placed reach its minimum, and all placed are sent.

    Not so where preempt is not the last action: a task that it rolled back counts as allocated, even if its
    former node cannot take it.
    """
    actions += last
    finished, recorder = run(objects, configuration(actions))
    jobs = finished.session.jobs
    owner = {task.key: name for name, job in jobs.items() for task in job.tasks.values()}
    placed = Counter(t.job for job in jobs.values() for t in job.tasks.values() if t.pod.node_name)
    for step in recorder.steps:
        match step:
            case Placement(status="Allocated"):
                placed[owner[step.task]] += 1
            case Eviction():
                placed[owner[step.task]] -= 1
            case StatementEnd(how="discarded"):
                placed.update(owner[task] for name, task in step.operations if name == "evict")
            case Dispatch():
                assert placed[step.job] >= jobs[step.job].min_available
    sent = {owner[key] for key in finished.session.outcome.bound}
    held = {t.job for job in jobs.values() for t in job.tasks.values() if t.status == "Allocated"}
    assert not sent & held  # who is ready holds nothing back


@settings(max_examples=100, deadline=None)
@given(clusters(), ORDERS, st.sampled_from(TIERS))
def test_a_session_depends_on_the_objects_alone(
    objects: list[KubernetesObject], actions: str, tiers: tuple[str, ...]
) -> None:
    """Twice the same objects give the same outcome; there is no hidden state or randomness."""
    conf = configuration(actions, tiers)
    one, other = run(objects, conf)[0], run(list(objects), conf)[0]
    assert one.session.outcome == other.session.outcome
    assert one.closing == other.closing


@settings(max_examples=100, deadline=None)
@given(clusters())
def test_what_queues_deserve_is_no_more_than_there_is(objects: list[KubernetesObject]) -> None:
    """Capability is never used; the sum over the queues stays within the nodes' allocatable."""
    finished, _ = run(objects, configuration())
    accounts = finished.session.registered["proportion"].queue_shares
    assert accounts is not None
    for place, name in enumerate(("cpu", "memory")):
        whole = finished.session.nodes.allocatable[place].sum()
        assert sum(of.deserved[name] for of in accounts()) <= whole * (1 + 1e-9)


AMOUNTS = st.builds(
    Resource,
    st.integers(0, 60).map(float),
    st.integers(0, 60).map(lambda n: n * 2.0**20),
    st.none() | st.dictionaries(st.sampled_from(["x.io/a", "x.io/b"]), st.integers(0, 30).map(float)),
)


@given(AMOUNTS, AMOUNTS)
def test_columns_compare_as_resources_do(request: Resource, free: Resource) -> None:
    """The comparison by columns is the one of the text."""
    names = ("cpu", "memory", "x.io/a", "x.io/b")
    assert bool((vector(free, names) > least_free(request, names)).all()) == request.fits(free)


@given(AMOUNTS, AMOUNTS)
def test_subtraction_of_more_than_there_is_is_an_error(one: Resource, other: Resource) -> None:
    """By the tolerant comparison; what was added can be subtracted."""
    if other.fits(one):
        assert one.copy().sub(other).cpu == one.cpu - other.cpu
    else:
        try:
            one.copy().sub(other)
        except InsufficientError:
            pass
        else:
            raise AssertionError
    assert one.copy().add(other).sub(other).memory == one.memory
