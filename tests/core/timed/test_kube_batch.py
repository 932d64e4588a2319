"""kube-batch beside the default scheduler in virtual time: sessions, evictions, PodGroup statuses."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from scheduler_core import load
from scheduler_core.__main__ import main
from scheduler_core.compare.compare import compare
from scheduler_core.explain import explain
from scheduler_core.schedulers.kube_batch.record import SessionRecord
from tests.core.kube_batch.parts import configuration
from tests.core.timed.parts import VIRTUAL, ended, history, node, pod, simulation

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "trace.schema.json").read_text())
API = "apiVersion: scheduling.incubator.k8s.io/v1alpha1"


def queue(name: str = "default", weight: int = 1) -> str:
    """Return a Queue's manifest."""
    return f"{{{API}, kind: Queue, metadata: {{name: {name}}}, spec: {{weight: {weight}}}}}\n"


def group(name: str, least: int, fields: str = "") -> str:
    """Return a PodGroup's manifest."""
    return f"{{{API}, kind: PodGroup, metadata: {{name: {name}}}, spec: {{minMember: {least}{fields}}}}}\n"


def batch(name: str, of: str, cpu: int = 2, fields: str = "", on: str = "") -> str:
    """Return a pod of kube-batch, pending or running."""
    bound = f"nodeName: {on}, " if on else ""
    phase = "status: {phase: Running}, " if on else ""
    return (
        f"{{apiVersion: v1, kind: Pod, {phase}metadata: {{name: {name}, "
        f"annotations: {{scheduling.k8s.io/group-name: {of}}}}}, "
        f"spec: {{schedulerName: kube-batch, {bound}{fields}containers: [{{name: c, "
        f'resources: {{requests: {{cpu: "{cpu}", memory: 1Gi}}}}}}]}}}}\n'
    )


GANG = (
    VIRTUAL,
    node("n1"),
    node("n2"),
    queue(),
    group("g", 3),
    *(batch(f"b{number}", "g") for number in range(3)),
    pod("web"),
)


def test_a_session_binds_a_gang_in_one_decision() -> None:
    """The default scheduler's pod comes first; the session follows at the next full second."""
    made, cycles = ended(*GANG)
    assert [(cycle.scheduler, cycle.result) for cycle in cycles] == [
        ("", "scheduled"),
        ("kube-batch", "scheduled"),
    ]
    assert cycles[1].time == 1.0
    assert {key for key, _ in cycles[1].decision.placements} == {"default/b0", "default/b1", "default/b2"}
    assert set(made.placement()) == {"default/web", "default/b0", "default/b1", "default/b2"}
    assert all(made.placement().values())


def test_sessions_that_place_further_pods_differently_differ() -> None:
    """Although the pods that they are named after go to the same node."""
    gangs = [
        (
            VIRTUAL,
            *(node(name, at=name) for name in ("n1", "n2", "n3")),
            queue(),
            group("g", 2),
            *(batch(f"b{at}", "g", fields=f"nodeSelector: {{at: {on}}}, ") for at, on in enumerate(nodes)),
        )
        for nodes in (("n2", "n1"), ("n3", "n1"))
    ]
    left, right = (load("---\n".join(gang)) for gang in gangs)
    found = compare(left, right)
    assert found.decision is not None
    assert found.decision.a is not None
    assert found.decision.b is not None
    assert found.decision.a["node"] == found.decision.b["node"] == "n1"
    assert found.decision.what == ("choice",)
    assert found.decision.details == ("default/b0: to n2 under A, to n3 under B",)
    assert found.placements == {"default/b0": ("n2", "n3")}


def test_the_session_s_record_belongs_to_its_cycle() -> None:
    """With a trace only; other cycles have none."""
    _, cycles = ended(*GANG)
    record = cycles[1].session
    assert isinstance(record, SessionRecord)
    assert (record.number, record.time, record.actions) == (1, 1.0, ("allocate", "backfill"))
    assert dict(record.bound) == dict(cycles[1].decision.placements)
    assert cycles[0].session is None
    bare = simulation(*GANG, trace=False)
    assert [cycle.session for cycle in bare] == [None, None]


def test_group_statuses_are_written_and_no_other_controller_writes_them() -> None:
    """Running once bound; the counters follow when the pods have started."""
    made, _ = ended(*GANG)
    status = made.framework.groups["default/g"].status
    assert (status.phase, status.running) == ("Running", 3)


LACKING = (VIRTUAL, node("n1"), queue(), group("g", 3), *(batch(f"b{number}", "g") for number in range(3)))
LATE = (
    "{apiVersion: v1, kind: Node, metadata: {name: n2}, "
    'status: {allocatable: {cpu: "4", memory: 8Gi, pods: "9"}}}'
)


def test_an_incomplete_gang_waits_without_repeating_equal_sessions() -> None:
    """Each pod has its message, the group its condition; the next session comes with a new node."""
    made, cycles = ended(*LACKING)
    assert [(cycle.time, cycle.result) for cycle in cycles] == [(1.0, "unschedulable")]
    reported = "1/3 tasks in gang unschedulable: 0 nodes are available"
    assert (cycles[0].message or "").endswith(reported)
    assert set(made.messages) == {f"default/b{number}" for number in range(3)}
    made, cycles = ended(*LACKING, history("time: 20.5, createOperation: {object: " + LATE + "}"))
    assert [(cycle.time, cycle.result) for cycle in cycles] == [(1.0, "unschedulable"), (21.0, "scheduled")]
    condition = made.framework.groups["default/g"].status.conditions[0]
    assert condition.type == "Unschedulable"  # it is never removed


HIGH = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}\n"
PREEMPTING = (
    VIRTUAL,
    configuration("allocate, preempt"),
    node("n1"),
    queue(),
    HIGH,
    group("low", 1),
    *(batch(f"l{number}", "low", on="n1") for number in range(2)),
    group("high", 1, ", priorityClassName: high"),
    batch("h", "high"),
)


def test_evictions_take_effect_and_a_later_session_binds_the_preemptor() -> None:
    """The first session only evicts; the pod is deleted, and its group loses a member."""
    made, cycles = ended(*PREEMPTING)
    assert [(cycle.time, cycle.result) for cycle in cycles] == [(1.0, "unschedulable"), (2.0, "scheduled")]
    (victim,) = cycles[0].decision.victims
    assert victim in {"default/l0", "default/l1"}
    assert made.deleted == [victim]
    assert cycles[0].message == (
        "the task waits for what is being released on node n1; "
        "1/1 tasks in gang unschedulable: 0 nodes are available"
    )
    assert made.placement()["default/h"] == "n1"
    assert made.framework.groups["default/low"].status.running == 1


def test_queues_share_the_cluster_by_weight() -> None:
    """Three quarters of four cores go to the queue of weight three."""
    jobs = [batch(f"{of}{number}", of, 1) for of in ("a", "b") for number in range(4)]
    groups = (group("a", 1, ", queue: qa"), group("b", 1, ", queue: qb"))
    made, _ = ended(VIRTUAL, node("n1"), queue("qa", 3), queue("qb", 1), *groups, *jobs)
    placed = [key for key, on in made.placement().items() if on]
    assert sorted(key[-2] for key in placed) == ["a", "a", "a", "b"]


def test_without_its_queue_a_job_is_ignored_and_why_says_so() -> None:
    """Until an operation creates the queue."""
    parts = (VIRTUAL, node("n1"), group("g", 1), batch("b", "g"))
    made, cycles = ended(*parts)
    assert cycles[0].message == "job default/g is ignored: its Queue default does not exist"
    assert explain(made, "default/b").summary == (
        f"The scheduler kube-batch reports for default/b: {cycles[0].message}. "
        "By kube-scheduler's predicates, default/b fits on 1 of 1 nodes."
    )
    again = simulation(*parts)
    assert explain(again, "default/b").summary.startswith("default/b has not been tried yet.")
    again.replay([cycles[0].decision])
    assert explain(again, "default/b").summary == explain(made, "default/b").summary
    made, _ = ended(*parts, history("time: 30, createOperation: {object: " + queue().strip() + "}"))
    assert made.placement()["default/b"] == "n1"


def test_a_run_is_replayed_and_forked_between_sessions() -> None:
    """The decisions rebuild the run, evictions included; a copy goes on as the original does."""
    _, cycles = ended(*PREEMPTING)
    decisions = [cycle.decision for cycle in cycles]
    again = simulation(*PREEMPTING)
    again.replay(decisions[:1])
    copy = again.fork(trace=True)
    assert [cycle.decision for cycle in copy] == [cycle.decision for cycle in again] == decisions[1:]


def test_queues_and_priority_classes_survive_a_restart_of_the_framework() -> None:
    """The configuration of the other scheduler changes before the first session."""
    other = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}"
    restart = f"time: 0.5, createOperation: {{object: {other}}}"
    made, cycles = ended(*PREEMPTING, history(restart))
    assert [cycle.time for cycle in cycles] == [1.0, 2.0]
    assert made.placement()["default/h"] == "n1"


@pytest.mark.parametrize("honored", [True, False])
def test_the_fields_of_a_group_are_honored_where_pods_name_it(honored: bool) -> None:
    """Without such pods, or without virtual time, the warning stays."""
    texts = [node("n"), group("g", 2, ", queue: q"), batch("b", "g"), *([VIRTUAL] if honored else [])]
    found = {problem.unhonored for problem in load("---\n".join(texts)).warnings}
    assert ({"spec.minMember", "spec.queue"} <= found) is not honored


def test_the_command_line_runs_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report and the trace are those of any custom scheduler."""
    (tmp_path / "bundle.yaml").write_text("---\n".join(PREEMPTING))
    assert main(["simulate", str(tmp_path / "bundle.yaml"), "--trace", str(tmp_path / "trace")]) == 0
    out = capsys.readouterr().out
    assert "left to the scheduler" not in out
    assert "PodGroup default/high" in out
    for line in (tmp_path / "trace").read_text().splitlines():
        shown = json.loads(line)
        assert shown["scheduler"] == "kube-batch"
        jsonschema.validate(shown, SCHEMA)
