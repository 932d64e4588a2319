"""The commands as users run them: what is printed, the trace, and what bad input leads to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from scheduler_core.__main__ import main
from scheduler_core.cli.workloads import SHAPES
from tests.core.engine.builders import node, pod

SCHEMA = Path(__file__).parents[3] / "docs" / "trace.schema.json"

# v1.11's own placements of the standard workloads: shape, nodes, pods, first digits of the digest
DIGESTS = (
    ("plain", 100, 1000, "9c44e5f9cc91ddf8"),
    ("plain", 5000, 300, "f26148e89daee239"),
    ("node-affinity", 100, 1000, "48739774bd778b63"),
    ("node-affinity", 5000, 300, "760085e88136dab0"),
    ("anti-affinity", 100, 80, "cbaa93103385883a"),
    ("anti-affinity", 5000, 200, "d2d1a052d79fa9a2"),
    ("pod-affinity", 100, 500, "cad796a96cf34526"),
    ("pod-affinity", 5000, 100, "38d10518a994e2eb"),
)


def write(path: Path, *manifests: dict[str, Any]) -> str:
    """Write a bundle."""
    path.write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests)}), encoding="utf-8"
    )
    return str(path)


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    """A small cluster of v1.11: a pod is placed, one preempts, one is preempted and one stays pending."""
    small = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    old = node("a", allocatable=small)
    old["status"]["nodeInfo"] = {"kubeletVersion": "v1.11.10"}
    return write(
        tmp_path / "bundle.json",
        old,
        node("b", allocatable=small),
        pod("there", {"cpu": "200m"}, on="a", priority=200),
        pod("placed", {"cpu": "100m"}),
        pod("low", {"cpu": "950m"}, on="b"),
        pod("high", {"cpu": "900m"}, priority=100),
        pod("huge", {"cpu": "9"}),
        pod("done", on="a", phase="Succeeded"),
    )


def test_simulate_says_what_became_of_every_pod(bundle: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every pod has a line with its outcome, its node and why."""
    assert main(["simulate", bundle]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0].partition("/")[2]: " ".join(line.split()[1:]) for line in lines[:-1]}
    assert rows["there"] == "bound a"
    assert rows["done"] == "finished a phase Succeeded"
    assert rows["low"] == "preempted b by default/high"
    assert rows["high"].startswith("placed b")
    assert rows["placed"].startswith("placed a")
    assert rows["huge"] == "pending 0/2 nodes are available: 2 Insufficient cpu."
    assert lines[-1].startswith("2 nodes, 4 cycles: ")


def test_events_of_an_instant_run_are_printed_cycle_by_cycle(
    bundle: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The events come before the report, which is the same without them."""
    assert main(["simulate", bundle]) == 0
    report = capsys.readouterr().out
    assert main(["simulate", bundle, "--events"]) == 0
    events, _, then = capsys.readouterr().out.partition("\n\n")
    assert then == report
    found = [" ".join(line.split()[1:3]) for line in events.splitlines()]
    assert {"Preempted pod/default/low", "Scheduled pod/default/high"} <= {*found}
    assert found[-1] == "FailedScheduling pod/default/huge"


def test_the_trace_keeps_to_its_schema(
    bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every line is valid by the published schema, and a file holds what standard output would."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert main(["simulate", bundle, "--trace", "-"]) == 0
    printed = capsys.readouterr().out
    validator = jsonschema.Draft202012Validator(schema)
    cycles = [json.loads(line) for line in printed.splitlines()]
    for cycle in cycles:
        validator.validate(cycle)
    assert [c["step"] for c in cycles] == ["1.1", "1.2", "1.3", "1.4"]
    assert {c["result"] for c in cycles} == {"scheduled", "unschedulable"}
    assert main(["simulate", bundle, "--trace", str(tmp_path / "trace.jsonl")]) == 0
    assert (tmp_path / "trace.jsonl").read_text(encoding="utf-8") == printed


def test_the_trace_leaves_out_what_was_not_reached(bundle: str, capsys: pytest.CaptureFixture[str]) -> None:
    """After a node's first failure the later predicates have no entry there."""
    main(["simulate", bundle, "--trace", "-"])
    cycles = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    huge = next(c for c in cycles if c["pod"] == "default/huge")
    assert list(huge["predicates"]["a"]) == ["CheckNodeCondition", "GeneralPredicates"]
    assert huge["failed"] == {"a": ["Insufficient cpu"], "b": ["Insufficient cpu"]}


def test_a_policy_file_is_used(bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--config runs the bundle with another policy."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("apiVersion: v1\nkind: Policy\npredicates: []\npriorities: []\n", encoding="utf-8")
    assert main(["simulate", bundle, "--config", str(policy)]) == 0
    assert "default/huge    placed" in capsys.readouterr().out


BAD_INPUTS = {
    "a file that does not exist": (["simulate", "no-such-file.yaml"], "no-such-file.yaml: No such file"),
    "a configuration that is none": (["simulate", "BUNDLE", "--config", "BUNDLE"], "holds no configuration"),
    "a policy that cannot be used": (
        ["simulate", "BUNDLE", "--config", "POLICY"],
        "predicates[0].name: unknown",
    ),
    "a trace that cannot be written": (
        ["simulate", "BUNDLE", "--trace", "/no/such/folder/t"],
        "No such file",
    ),
    "a trace over its own input": (["simulate", "BUNDLE", "--trace", "BUNDLE"], "is also an input file"),
    "an object that cannot be read": (["simulate", "BROKEN"], "cpu"),
}


@pytest.mark.parametrize("case", BAD_INPUTS)
def test_bad_input_ends_with_2_and_a_message(
    case: str, bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit status is 2 and the message says where and what, without a traceback."""
    arguments, message = BAD_INPUTS[case]
    policy = tmp_path / "policy.json"
    policy.write_text(
        '{"apiVersion": "v1", "kind": "Policy", "predicates": [{"name": "Nope"}]}', encoding="utf-8"
    )
    broken = write(tmp_path / "broken.json", node("n", allocatable={"cpu": "4x"}))
    files = {"BUNDLE": bundle, "POLICY": str(policy), "BROKEN": broken}
    assert main([files.get(argument, argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(("shape", "nodes", "pods", "digest"), DIGESTS)
def test_bench_places_as_v1_11_does(
    shape: str, nodes: int, pods: int, digest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last line of bench is JSON and the placements are those of the real scheduler."""
    assert main(["bench", "--shape", shape, "--nodes", str(nodes), "--pods", str(pods)]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["placements_sha256"].startswith(digest)
    assert (result["cycles"], result["placed"]) == (pods, pods)
    assert result["pods_per_second"] > 0


@pytest.mark.parametrize("shape", SHAPES)
def test_recording_everything_changes_no_placement(shape: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The digest with full traces equals the one without."""
    digests = []
    for trace in ("off", "full"):
        main(["bench", "--shape", shape, "--nodes", "50", "--pods", "60", "--trace", trace])
        digests.append(json.loads(capsys.readouterr().out)["placements_sha256"])
    assert digests[0] == digests[1]


def test_a_full_disk_is_reported_without_a_traceback(bundle: str) -> None:
    """What cannot be written ends the command with 2, also when Python itself would try again at exit."""
    for extra, sink in ((["--trace", "/dev/full"], os.devnull), ([], "/dev/full")):
        with Path(sink).open("w", encoding="utf-8") as out:
            ended = subprocess.run(
                [sys.executable, "-m", "scheduler_core", "simulate", bundle, *extra],
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert ended.returncode == 2
        assert ended.stderr == "output: No space left on device\n"


def test_what_a_daemon_set_lacks_is_printed_with_the_pods(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No pod is made where the controller finds no room, so the DaemonSet is named in the table's place."""
    file = tmp_path / "daemon.yaml"
    file.write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 1, pods: 5}}\n---\n"
        "apiVersion: podstep/v1\nkind: SimulationSettings\nscheduler: v1.11\n---\n"
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n"
        "  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n"
        "    spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}\n",
        encoding="utf-8",
    )
    assert main(["simulate", str(file)]) == 0
    reported = capsys.readouterr()
    why = "DaemonSet default/agent has no pod on 1 of the 1 nodes it is for: Insufficient cpu on n1"
    assert why in reported.out
    assert why in reported.err
