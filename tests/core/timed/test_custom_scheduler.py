"""A scheduler that places several pods in one decision runs in virtual time beside the default scheduler."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from scheduler_core import load
from scheduler_core.__main__ import main
from scheduler_core.explain import explain
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS
from tests.core.timed.batches import BATCHES, CLUSTER, NAME, RoundRobinInBatches, batched
from tests.core.timed.parts import VIRTUAL, coscheduling, ended, history, simulation

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "trace.schema.json").read_text())
LATE = (
    "{apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {containers: [{name: c, "
    'resources: {requests: {cpu: "2"}}}]}}'
)
CONFIGURATION = "{apiVersion: kubescheduler.config.k8s.io/v1beta3, kind: KubeSchedulerConfiguration}"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCHEDULERS, NAME, RoundRobinInBatches)


def test_each_batch_is_one_decision_beside_the_default_scheduler() -> None:
    """The default scheduler's pod is a step of its own; the batches follow five seconds apart."""
    made, cycles = ended(*CLUSTER)
    assert [(cycle.scheduler, round(cycle.time)) for cycle in cycles] == [("", 0), (NAME, 5), (NAME, 10)]
    assert tuple(cycle.decision.placements for cycle in cycles[1:]) == BATCHES
    assert cycles[0].decision.placements == (("default/p", cycles[0].node),)
    assert made.placement() == {"default/p": cycles[0].node, **dict(BATCHES[0]), **dict(BATCHES[1])}
    batch = cycles[1]
    assert batch.own_moves == BATCHES[0]
    assert (batch.matrix, batch.priorities, batch.phases) == (None, [], ("queue", "assume"))
    assert [key for key, _, _ in batch.queue.active] == ["default/b3", "default/b4"]
    scheduled = [event.object for event in batch.events if event.reason == "Scheduled"]
    assert scheduled == [f"pod/{key}" for key, _ in BATCHES[0]]


def test_its_pods_take_virtual_time_to_the_framework() -> None:
    """Virtual time alone is of v1.37, beside which no such scheduler runs."""
    alone = VIRTUAL.replace("quirks: v1.11\n", "")
    read = [load("---\n".join((alone, *documents))) for documents in (CLUSTER[1:], CLUSTER[1:3])]
    assert [scenario.release for scenario in read] == ["v1.22", "v1.37"]


def test_the_default_scheduler_sees_the_room_that_the_batches_took() -> None:
    """A later pod fits only on the node with fewer batched pods."""
    _, cycles = ended(*CLUSTER[:-1], history("time: 20, createOperation: {object: " + LATE + "}"))
    assert (cycles[-1].pod, cycles[-1].node) == ("default/late", "n2")


def test_a_run_is_replayed_and_forked_between_batches() -> None:
    """The decisions rebuild the run; a copy goes on as the original does."""
    _, cycles = ended(*CLUSTER)
    decisions = [cycle.decision for cycle in cycles]
    again = simulation(*CLUSTER)
    again.replay(decisions[:2])
    copy = again.fork(trace=True)
    assert [cycle.decision for cycle in copy] == [cycle.decision for cycle in again] == decisions[2:]


def test_without_a_node_the_attempts_fail_until_the_run_ends() -> None:
    """Each attempt is a step that places nothing; the steps do not keep the run alive."""
    made, cycles = ended(VIRTUAL, batched("b"))
    assert {(cycle.result, cycle.decision.placements) for cycle in cycles} == {("unschedulable", ())}
    assert cycles[0].message == made.messages["default/b"] == "no nodes"
    assert made.time < 1000


def test_it_survives_a_restart_of_the_framework() -> None:
    """The configuration changes between two batches, and the nodes' turns go on."""
    _, cycles = ended(*CLUSTER, history("time: 7, createOperation: {object: " + CONFIGURATION + "}"))
    assert tuple(cycle.decision.placements for cycle in cycles[1:]) == BATCHES
    assert cycles[2].restart is not None


def test_a_profile_of_its_name_takes_precedence() -> None:
    """The framework then schedules the pods, one at a time."""
    profile = CONFIGURATION.replace(
        "}", f", profiles: [{{schedulerName: default-scheduler}}, {{schedulerName: {NAME}}}]}}"
    )
    _, cycles = ended(*CLUSTER, profile + "\n")
    assert {cycle.scheduler for cycle in cycles} == {""}
    assert len(cycles) == 6


@pytest.mark.parametrize("asked", [None, "n1", "n2"])
def test_why_names_the_scheduler_that_placed_the_pod(asked: str | None) -> None:
    """Also for a pod that is not the first of its batch."""
    made, _ = ended(*CLUSTER)
    found = explain(made, "default/b1", asked)
    assert (found.state, found.node, found.story) == ("placed", "n2", None)
    assert found.summary == f"default/b1 was placed on n2 in cycle 2 by the scheduler {NAME}."


def test_the_command_line_runs_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its pods are placed in the report, and the trace lists the placements of each batch."""
    (tmp_path / "bundle.yaml").write_text("---\n".join((*CLUSTER, coscheduling("v1beta2"))))
    assert main(["simulate", str(tmp_path / "bundle.yaml"), "--trace", str(tmp_path / "trace")]) == 0
    assert "left to the scheduler" not in capsys.readouterr().out
    lines = [json.loads(line) for line in (tmp_path / "trace").read_text().splitlines()]
    assert [line.get("scheduler") for line in lines] == [None, NAME, NAME]
    assert [line.get("placements") for line in lines] == [None, *json.loads(json.dumps(BATCHES))]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
