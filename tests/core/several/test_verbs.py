"""What operators do, on the command line: drains, failures and rollouts under v1.37."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core.__main__ import main

NODES: list[dict[str, Any]] = [
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{number}", "labels": {"topology.kubernetes.io/zone": zone}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}},
    }
    for number, zone in ((1, "a"), (2, "b"), (3, "b"))
]
WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "1"}}}]
            },
        },
    },
}
NEVER = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web"},
    "spec": {"minAvailable": 3, "selector": {"matchLabels": {"app": "web"}}},
}


@pytest.fixture
def simulated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs ``simulate`` with options, and returns its status, output and errors."""

    def run(*options: str, documents: tuple[dict[str, Any], ...] = ()) -> tuple[int, str, str]:
        file = tmp_path / "bundle.yaml"
        file.write_text(yaml.safe_dump_all([*NODES, WEB, *documents]))
        status = main(["simulate", str(file), *options])
        return status, *capsys.readouterr()

    return run


def on(output: str) -> list[str]:
    """Return the node of each pod of the report."""
    return sorted(line.split()[-1] for line in output.splitlines() if line.startswith("web-"))


ROWS: list[tuple[list[str], list[str]]] = [
    (["--drain", "n1"], ["n2", "n2", "n3"]),
    (["--drain", "zone=b@30"], ["n1", "n1", "n1"]),
    (["--lose", "zone=a", "--scale", "deploy/web=2@900"], ["n1", "n2", "n3"]),  # n1's cannot be ended
    (["--cordon", "n1", "--cordon", "n2", "--restart", "deploy/default/web@90"], ["n3", "n3", "n3"]),
    (["--upgrade", "*"], ["n1", "n1", "n2"]),
]


@pytest.mark.parametrize(("options", "nodes"), ROWS, ids=[" ".join(options) for options, _ in ROWS])
def test_a_verb_happens_at_its_second(simulated: Any, options: list[str], nodes: list[str]) -> None:
    """Controllers answer it, and v1.37 places what they create."""
    status, output, errors = simulated(*options)
    assert (status, on(output)) == (0, nodes), errors


def test_a_rollout_is_undone_to_the_revision_before(simulated: Any, tmp_path: Path) -> None:
    """What a verb did before counts as much as the bundle's own operations; the sentences say what comes."""
    trace = tmp_path / "trace.jsonl"
    options = ["--undo", "deploy/web@200", "--set-image", "deploy/web=web:2@100", "--trace", str(trace)]
    status, output, errors = simulated(*options)
    assert (status, len(on(output))) == (0, 3)
    assert "at 100 s: Gives the first container of Deployment default/web the image web:2" in errors
    assert "at 200 s: Rolls Deployment default/web back to its previous pod template" in errors
    first, *_, last = [json.loads(line)["pod"] for line in trace.read_text().splitlines()]
    assert first.rsplit("-", 1)[0] == last.rsplit("-", 1)[0], "the ReplicaSet of the first template"


def test_a_pod_is_evicted_by_name(simulated: Any) -> None:
    """Without a controller it does not come back."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "alone"},
        "spec": {"containers": [{"name": "c"}]},
    }
    _, output, errors = simulated("--evict", "alone", documents=(pod,))
    assert "at 60 s: Evicts pod default/alone" in errors
    assert [line.split()[1] for line in output.splitlines() if "alone" in line] == ["EvictionByEvictionAPI"]
    assert len(on(output)) == 3


def test_a_budget_that_never_allows_it_stops_a_drain(simulated: Any) -> None:
    """The run ends all the same, with the pods where they were and the node cordoned."""
    status, output, _ = simulated("--drain", "n1", "--drain", "n2", documents=(NEVER,))
    assert (status, on(output)) == (0, ["n1", "n2", "n3"])
    assert re.search(r"EvictionRefused .*needs \d+ healthy pods and has \d+", output)


def test_an_image_with_a_digest_is_no_moment(simulated: Any, tmp_path: Path) -> None:
    """What follows the last @ is a number of seconds, or part of the value."""
    trace = tmp_path / "trace.jsonl"
    image = "deploy/web=registry:5000/web@sha256:aa"
    assert simulated("--set-image", image, "--trace", str(trace))[0] == 0
    assert "SuccessfulCreate" in trace.read_text()


def test_events_are_printed_by_virtual_second(simulated: Any) -> None:
    """A node that is lost, what its controllers do about it, and what happens after the last cycle."""
    _, output, _ = simulated("--events", "--lose", "zone=a@100", "--recover", "n1@1000")
    found = [line.split() for line in output.partition("\n\n")[0].splitlines()]
    times = {(reason, about): float(time[:-1]) for time, reason, about, *_ in reversed(found)}
    assert 150 <= times["NodeNotReady", "n1"] < 156, "50 s after the lease was last renewed, seen each 5 s"
    evicted = next(time for (reason, _), time in times.items() if reason == "TaintManagerEviction")
    assert 450 <= evicted < 456, "300 s of toleration later"
    assert times["NodeReady", "n1"] == 1000
    assert float(found[-1][0][:-1]) >= 1000, "no pod is tried any more"


WRONG = [
    (["--drain", "n9"], "there is no node 'n9'; there are n1, n2, n3"),
    (["--drain", "zone=c"], "no node has the label topology.kubernetes.io/zone=c; its values are a, b"),
    (["--scale", "deploy/wbe=2"], "there is no Deployment default/wbe; there are web"),
    (["--scale", "deploy/web"], "write deploy/web=REPLICAS"),
    (["--scale", "deploy/web=many"], "is not a number of replicas"),
    (["--set-image", "pod/web=x"], "the kind one of Deployment"),
    (["--undo", "deploy/web"], "Deployment default/web has no revision before this one"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[" ".join(options) for options, _ in WRONG])
def test_what_does_not_exist_is_an_error_that_says_what_does(
    simulated: Any, options: list[str], message: str
) -> None:
    """Nothing is simulated."""
    status, output, errors = simulated(*options)
    assert status and not output
    assert message in errors


def test_without_time_an_annotation_is_reported(simulated: Any) -> None:
    """Under v1.11 nothing is drained, and a warning says so."""
    _, _, errors = simulated("--drain", "n1", "--scheduler", "v1.11")
    assert "podstep/drain has no effect: under v1.11 no time passes" in errors
