"""The record of a session: every step by action, job and task; without a recorder nothing differs."""

from __future__ import annotations

import json

import pytest

from scheduler_core.formats.manifest_list import read_manifests
from scheduler_core.schedulers.kube_batch.configuration import ConfigurationError, parse_configuration
from scheduler_core.schedulers.kube_batch.record import (
    Dispatch,
    Eviction,
    Forgotten,
    GroupWritten,
    HeapPop,
    InvalidJob,
    JobDropped,
    JobShares,
    LeftOutStep,
    NodesConsidered,
    Placement,
    ProportionRound,
    QueueDropped,
    QueueShares,
    SessionEvent,
    SessionRecord,
    StatementEnd,
    VictimsChosen,
)
from scheduler_core.schedulers.kube_batch.recorder import MOST_NODES, Recorder
from scheduler_core.schedulers.kube_batch.session_run import run_session
from scheduler_core.schedulers.kube_batch.snapshot import ServerOption, WatchedObjects, take_snapshot
from tests.conformance.kube_batch_records import FILE
from tests.conformance.record_files import read_lines
from tests.core.kube_batch.parts import (
    configuration,
    group,
    members,
    node,
    pod,
    priority_class,
    queue,
    session,
)


def recorded(*objects: object, conf: str | None = None, most: int = 10_000) -> SessionRecord:
    """Return the record of one session."""
    recorder = Recorder(most)
    finished = session(*objects, conf=conf, recorder=recorder)  # type: ignore[arg-type]
    return recorder.result(1, 0.0, finished.session.outcome.bound, finished.session.outcome.evicted)


def of_type(record: SessionRecord, kind: type) -> list[object]:
    """Return the steps of one type."""
    return [step for step in record.steps if type(step) is kind]


def test_an_allocation_is_recorded_step_by_step() -> None:
    """Queue, job and task are popped, nodes are compared, the gang is dispatched, the group is written."""
    found = recorded(node("n1", 1), node("n2", 4), group("g", 2), members("g", 2))
    assert found.actions == ("allocate",)
    pops = [(step.what, step.owner, step.before, step.popped) for step in of_type(found, HeapPop)]  # type: ignore[attr-defined]
    assert pops == [
        ("queue", "", ("default",), "default"),
        ("job", "default", ("ns/g",), "ns/g"),
        ("task", "ns/g", ("ns/g-0", "ns/g-1"), "ns/g-0"),
        ("task", "ns/g", ("ns/g-1",), "ns/g-1"),
        ("queue", "", ("default",), "default"),
    ]
    first, second = of_type(found, NodesConsidered)
    assert isinstance(first, NodesConsidered)
    assert isinstance(second, NodesConsidered)
    assert [name for name, _ in first.candidates] == ["n2", "n1"]
    assert first.counts == (0, 0, 2)
    assert first.chosen == "n2"
    scores = dict(first.candidates)
    assert scores["n2"] == sum(part[0] for part in first.parts.values())
    assert of_type(found, Placement)[0] == Placement("allocate", "ns/g", "ns/g-0", "n2", "Allocated")
    assert of_type(found, Dispatch) == [
        Dispatch("allocate", "ns/g", "ns/g-0", "n2"),
        Dispatch("allocate", "ns/g", "ns/g-1", "n2"),
    ]
    assert of_type(found, QueueDropped) == [QueueDropped("allocate", "default", "overused")]
    (written,) = of_type(found, GroupWritten)
    assert written == GroupWritten("close", "ns/g", "Running", 0, 0, 0, "")
    assert found.of(task="ns/g-1")
    assert all(getattr(step, "action", "") == "allocate" for step in found.of(action="allocate"))


def test_what_is_dropped_and_forgotten_has_its_reason() -> None:
    """The job at the task that fits nowhere, the tasks held until then, and the events."""
    found = recorded(node("n", 1), group("g", 2), members("g", 2), group("lost", queue="nowhere"))
    assert of_type(found, JobDropped) == [JobDropped("allocate", "ns/g", "ns/g-1", "no node fits the task")]
    assert of_type(found, Forgotten) == [Forgotten("close", "ns/g", "ns/g-0", "n", "Allocated")]
    assert of_type(found, LeftOutStep) == [
        LeftOutStep("", "Job", "ns/lost", "its Queue nowhere does not exist")
    ]
    events = [(step.reason, step.object) for step in of_type(found, SessionEvent)]  # type: ignore[attr-defined]
    assert events == [
        ("Unschedulable", "PodGroup ns/g"),
        ("FailedScheduling", "Pod ns/g-0"),
        ("FailedScheduling", "Pod ns/g-1"),
    ]
    last = of_type(found, NodesConsidered)[-1]
    assert isinstance(last, NodesConsidered)
    assert (last.short, last.candidates, last.chosen) == (("n",), (), "")


def test_a_refusal_of_the_predicates_has_the_original_s_words() -> None:
    """The first check that fails names the node."""
    found = recorded(node("n", pods=0), group("g"), members("g", 1))
    (considered,) = of_type(found, NodesConsidered)
    assert isinstance(considered, NodesConsidered)
    assert considered.refused == {"n": "node <n> can not allow more task running on it"}


def test_the_rounds_of_proportion_and_the_shares_are_recorded() -> None:
    """A satisfied queue takes no part in the next round; shares follow each placement."""
    objects = (queue("a"), queue("b"), group("ga", queue="a"), group("gb", queue="b"))
    found = recorded(node("n", 8, 8), *objects, members("ga", 1), members("gb", 9))
    rounds = of_type(found, ProportionRound)
    satisfied = [[(of.queue, of.satisfied) for of in one.queues] for one in rounds]  # type: ignore[attr-defined]
    assert satisfied == [[("a", True), ("b", False)], [("b", False)]]
    assert [one.before["cpu"] for one in rounds] == [8000, 3000]  # type: ignore[attr-defined]
    of_b = [step for step in of_type(found, QueueShares) if step.queue == "b"]  # type: ignore[attr-defined]
    assert [round(step.share, 3) for step in of_b] == [0, *(round(n / 7, 3) for n in range(1, 8))]  # type: ignore[attr-defined]
    of_job = [step for step in of_type(found, JobShares) if step.job == "ns/gb"]  # type: ignore[attr-defined]
    assert (of_job[-1].share, of_job[-1].dominant) == (7 / 8, "cpu")  # type: ignore[attr-defined]


def preemption(count: int) -> SessionRecord:
    """Record a preemption for a gang of so many tasks on a node with room for two after evictions."""
    objects = (
        node("n", 2),
        priority_class("high", 9),
        group("low", 1),
        members("low", 2, on="n"),
        group("high", count, priority_class_name="high"),
        members("high", count),
    )
    return recorded(*objects, conf=configuration("preempt"))


def test_the_tier_that_decided_on_victims_is_recorded() -> None:
    """With every plugin's answer; the statement ends committed."""
    found = preemption(2)
    chosen = of_type(found, VictimsChosen)[0]
    assert isinstance(chosen, VictimsChosen)
    assert (chosen.what, chosen.decided, chosen.victims) == ("preemptable", 1, ("ns/low-0", "ns/low-1"))
    assert [(one.tier, one.plugin) for one in chosen.answers] == [
        (1, "priority"),
        (1, "gang"),
        (1, "conformance"),
    ]
    assert of_type(found, Eviction) == [
        Eviction("preempt", "ns/low", "ns/low-1", "n", "preempt"),
        Eviction("preempt", "ns/low", "ns/low-0", "n", "preempt"),
    ]
    ends = [(step.how, len(step.operations)) for step in of_type(found, StatementEnd)]  # type: ignore[attr-defined]
    assert ends[0] == ("committed", 4)
    assert found.evicted == ("ns/low-1", "ns/low-0")


def test_a_discarded_statement_is_recorded_with_what_it_undid() -> None:
    """A third task has no victims left: nothing is evicted."""
    found = preemption(3)
    ends = [(step.how, len(step.operations)) for step in of_type(found, StatementEnd)]  # type: ignore[attr-defined]
    assert ends[0] == ("discarded", 4)
    assert found.evicted == ()


def test_a_job_with_too_few_pods_takes_part_and_the_record_says_so() -> None:
    """The check is evaluated before gang has registered it."""
    found = recorded(node("n"), group("g", 3), members("g", 2))
    assert of_type(found, InvalidJob) == [
        InvalidJob("", "ns/g", "Not enough valid tasks for gang-scheduling, valid: 2, min: 3")
    ]
    assert len(of_type(found, Forgotten)) == 2


def test_of_many_nodes_the_best_are_described() -> None:
    """The others are counted."""
    found = recorded(*(node(f"n{number:03}") for number in range(300)), group("g"), members("g", 1))
    (considered,) = of_type(found, NodesConsidered)
    assert isinstance(considered, NodesConsidered)
    assert (considered.counts, len(considered.candidates)) == ((0, 0, 300), MOST_NODES)


def test_steps_are_bounded() -> None:
    """The rest are counted."""
    objects = node("n"), group("g", 2), members("g", 2), [pod("other", on="n", scheduler="web")]
    whole, part = recorded(*objects), recorded(*objects, most=5)
    assert (len(part.steps), part.omitted) == (5, len(whole.steps) - 5)
    assert part.bound == whole.bound


@pytest.mark.parametrize("start", range(0, 512, 128))
def test_a_recorder_changes_nothing(start: int) -> None:
    """The recorded clusters end alike with and without one."""
    for line in read_lines(FILE)[start : start + 128 : 4]:
        record = json.loads(line)
        try:
            conf = parse_configuration(record["config"]["schedulerConf"])
        except ConfigurationError:
            continue
        outcomes = []
        for recorder in (None, Recorder()):
            objects = WatchedObjects.of(read_manifests(record["objects"]))
            finished = run_session(take_snapshot(objects, ServerOption()), conf, recorder)
            outcomes.append((finished.session.outcome, finished.closing))
        assert outcomes[0] == outcomes[1], record["id"]
