"""Traces of SimKube: what they become, and what is said about damaged ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scheduler_core import BundleError, Limits, load, simulate
from scheduler_core.__main__ import main

T0 = 1_700_000_000
NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {
        "allocatable": {"cpu": "8", "pods": "20"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
SPEC = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}


def pod(name: str, **meta: Any) -> dict[str, Any]:
    """Return a bare pod."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **meta}, "spec": SPEC}


def deployment(replicas: int) -> dict[str, Any]:
    """Return a Deployment that is scaled in the trace."""
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": SPEC}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


def event(second: int, applied: Any = (), deleted: Any = ()) -> dict[str, Any]:
    """Return an event so many seconds after the start."""
    return {"ts": T0 + second, "applied_objs": applied, "deleted_objs": deleted}


def trace(*events: Any, version: int = 2, lives: Any = None) -> dict[str, Any]:
    """Return a trace before it is packed; its lifecycles are keyed by pairs, as SimKube's are."""
    config = {"trackedObjects": {"v1.Pod": {"trackLifecycle": True}}}
    return {
        "version": version,
        "config": config,
        "events": events,
        "index": {},
        "pod_lifecycles": lives or {},
    }


def packed(value: Any) -> bytes:
    """Return MessagePack as SimKube writes it."""
    return msgspec.msgpack.encode(value)


HEAD = b"\x82\xa7version\x02\xa6events"
LIVES = {("v1.Pod", "default/task"): {2**63: [{"Finished": [T0 + 10, T0 + 40]}]}}
SCALED = trace(
    event(0),
    event(0, [deployment(1)]),
    event(10, [pod("task")]),
    event(60, [deployment(3)]),
    event(120, (), [deployment(3)]),
    lives=LIVES,
)


def test_a_trace_becomes_objects_and_operations_that_controllers_answer() -> None:
    """Owners of the start are initial, later ones created, changed and deleted; a pod ends in time."""
    scenario = load([("t.sktrace", packed(SCALED)), ("nodes.json", json.dumps(NODE))])
    reported = [(operation.time, operation.action, operation.key) for operation in scenario.operations]
    assert reported == [
        (10, "create", "default/task"),
        (60, "update", "default/web"),
        (120, "delete", "default/web"),
    ]
    assert scenario.controllers and scenario.lives
    run = simulate(scenario, trace=False)
    assert [cycle.pod.rpartition("-")[0] or cycle.pod for cycle in run].count("default/task") == 1
    assert run.index == 4
    assert {state.phase for state in run.cluster.finished.values()} == {"Succeeded"}


def test_a_packed_trace_reads_as_its_text_does() -> None:
    """What a page stores of a trace is text, an event a line, that loads as the same scenario."""
    scenario = load([("t.sktrace", packed(SCALED)), ("nodes.json", json.dumps(NODE))])
    assert load(scenario.to_yaml()).id == scenario.id


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (packed(trace(event(0), version=1)), 1, "must be 2, which SimKube 2 writes, not 1"),
        (packed(trace(event(0), event(-5))), 3, "must be UNIX seconds, in the order of time"),
        (packed(trace(event(0), event(0, [pod("a"), 7]))), 3, "must be an object with apiVersion, kind"),
        (packed(trace(event(0)))[:-5], None, "a damaged trace of SimKube"),
        (HEAD + b"\x91" * 3_000, None, "a damaged trace of SimKube: nested too deep"),
        (HEAD + b"\xdd\x00\x00\xff\xff" + b"\x90" * 65_535, None, "more than 1,000 values"),
    ],
    ids=["version", "order", "object", "truncated", "deep", "many"],
)
def test_a_damaged_trace_is_refused(data: bytes, line: int | None, message: str) -> None:
    """The error names the event's line, and a bound is reached before memory is."""
    many = Limits(values=1_000) if "values" in message else Limits()
    with pytest.raises(BundleError) as caught:
        load([("t", data)], limits=many)
    [problem] = caught.value.problems
    assert problem.line == line and message in problem.message


def test_a_snapshot_is_scheduled_again_beside_its_real_placement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--again`` takes pods off their nodes, and lists each with its recorded and its simulated node."""
    node = {"metadata": NODE["metadata"], "status": NODE["status"]}
    gone = {
        "metadata": {"name": "n2"},
        "status": {**NODE["status"], "allocatable": {"cpu": "1", "pods": "1"}},
    }
    pods = [
        {"metadata": {"name": name}, "spec": {**SPEC, "nodeName": on}}
        for name, on in (("a", "n1"), ("b", "n1"), ("c", "n2"))
    ]
    file = tmp_path / "snapshot.json"
    file.write_text(json.dumps({"nodes": [node, gone], "pods": pods}))
    assert main(["simulate", str(file), "--again", "--output", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["recorded"]
    assert [(row["pod"], row["recorded"]) for row in rows] == [
        ("default/a", "n1"),
        ("default/b", "n1"),
        ("default/c", "n2"),
    ]
    for row in rows:
        assert row["verdict"] == ("same node" if row["simulated"] == row["recorded"] else "other node")
