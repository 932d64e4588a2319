"""``live``: a bundle, its operations and verbs of the command line with the controllers of v1.37."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.__main__ import main

EXAMPLES = Path(__file__).parents[3] / "scheduler_core" / "authoring" / "examples"
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}
"""


@pytest.fixture
def lives(tmp_path: Path) -> Callable[[str], str]:
    """Return a function that writes an example without what has v1.22 answer it, and returns its path."""

    def written(name: str) -> str:
        text = (EXAMPLES / name).read_text().replace("scheduler: v1.22\n", "")
        path = tmp_path / name
        path.write_text(text.replace("---\napiVersion: v1\nkind: Policy\n", ""))
        return str(path)

    return written


def _live(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["live", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def _times(found: dict[str, Any], what: str) -> list[int]:
    return [entry["time"] for entry in found["timeline"] if entry["what"] == what]


def test_a_failing_node_loses_its_pods_after_grace_and_toleration(
    lives: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Silent from 60 s: Unknown 50 s after the lease was last seen, evicted 300 s later, gone at recovery."""
    found = _live(capsys, lives("node-fails.yaml"), "--seconds", "1000")
    assert _times(found, "tainted") == [114, 114]
    assert _times(found, "evicted") == [414]
    assert _times(found, "deleted") == [901]


def test_a_rollout_that_a_drain_leaves_without_room_stays_stuck(
    lives: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The bundle's own operation and verbs of the command line come at their times."""
    drained = ["--drain", "worker-1@30", "--scale", "deploy/web=6@100"]
    found = _live(capsys, lives("rolling-update.yaml"), *drained, "--seconds", "200")
    web = found["final"]["workloads"]["Deployment/default/web"]
    assert found["final"]["drains"] == [{"node": "worker-1", "from": 30, "until": 31, "evicted": 2}]
    assert (web["desired"], web["ready"], len(web["revisions"])) == (6, 3, 2)
    assert sum(web["pending"].values()) == 4


def test_a_budget_that_never_allows_refuses_the_drain(
    lives: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An eviction is tried every 5 s, and refused each time."""
    (tmp_path / "budget.yaml").write_text(BUDGET)
    bundle = [lives("node-fails.yaml"), str(tmp_path / "budget.yaml")]
    found = _live(capsys, *bundle, "--drain", "worker-1@20", "--seconds", "52")
    (drain,) = found["final"]["drains"]
    assert (drain["evicted"], drain["until"]) == (0, None)
    assert drain["refused"] == 14  # two pods, at 20, 25 … 50 s


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--scale", "deploy/web=many"], "is no number"),
        (["--drain", "rack=a"], "a node, or zone=NAME"),
        (["--undo", "web"], "a workload is KIND/NAME"),
    ],
)
def test_bad_verbs_are_refused(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 2, and what is wrong."""
    assert main(["live", str(EXAMPLES / "node-fails.yaml"), *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_kinds_without_a_controller_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A bundle with PodGroups does not live here, and says so."""
    assert main(["live", str(EXAMPLES / "native-gang.yaml")]) == 2
    assert "PodGroup" in capsys.readouterr().err
