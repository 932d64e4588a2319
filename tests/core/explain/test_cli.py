"""The command: what it prints, its JSON, and what it answers to names that do not exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scheduler_core.__main__ import main
from tests.core.engine.builders import node, pod


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    """Write a cluster with a cordoned node, a small one, a placed pod and a pending one."""
    items = [
        node("small", allocatable={"cpu": "1", "memory": "1Gi", "pods": "10"}),
        node("cordoned", unschedulable=True),
        pod("fits", {"cpu": "500m"}),
        pod("web", {"cpu": "2"}),
        {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.11"},
    ]
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return str(path)


def test_a_pending_pod(bundle: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The message, each node with its numbers, and the smallest change in words and as a patch."""
    assert main(["explain", bundle, "--pod", "default/web"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "default/web is pending: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.\n"
    )
    assert "small: does not fit\n  GeneralPredicates: Insufficient cpu\n" in out
    assert "    cpu: requested 2, free 500m, short by 1500m\n" in out
    assert (
        "Smallest change with which it fits on cordoned:\n"
        "  - uncordon node cordoned\n"
        """    patch Node cordoned: {"spec": {"unschedulable": null}}\n"""
    ) in out


def test_what_would_refuse_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The scheduler ends at the first failing predicate; a policy that checks all of them reports all."""
    items = [node("n", taints=["gpu:NoSchedule"]), pod("p", {"cpu": "9"})]
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.11"}
    always = {"apiVersion": "v1", "kind": "Policy", "alwaysCheckAllPredicates": True}
    path = tmp_path / "b.json"
    for more, reported in (([], "would refuse as well: "), ([always], "")):
        listed = {"apiVersion": "v1", "kind": "List", "items": [*items, settings, *more]}
        path.write_text(json.dumps(listed), encoding="utf-8")
        assert main(["explain", str(path), "--pod", "p"]) == 0
        out = capsys.readouterr().out
        assert (
            "n: does not fit\n  GeneralPredicates: Insufficient cpu\n"
            "    cpu: requested 9, free 4, short by 5\n"
            f"  {reported}PodToleratesNodeTaints: node(s) had taints that the pod didn't tolerate\n"
        ) in out


def test_one_node_and_a_pod_without_its_namespace(bundle: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With --node only that node is reported; a bare name is in the namespace default."""
    assert main(["explain", bundle, "--pod", "web", "--node", "small"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("default/web does not fit on small: Insufficient cpu.")
    assert "cordoned" not in out


def test_a_placed_pod_at_a_step(bundle: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The cycle that placed it is reported; --step and --json are understood."""
    assert main(["explain", bundle, "--pod", "fits", "--step", "1.1", "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["state"], read["node"], read["story"]["feasibleCount"]) == ("placed", "small", 1)


def test_another_policy(bundle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--config explains by another policy, under which the pod goes to the small node."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("apiVersion: v1\nkind: Policy\npredicates: []\npriorities: []\n", encoding="utf-8")
    assert main(["explain", bundle, "--pod", "web", "--config", str(policy)]) == 0
    assert capsys.readouterr().out.startswith("default/web was placed on small in cycle 2.")


BAD = {
    "an unknown pod": (["--pod", "default/wb"], "there is no pod 'default/wb': did you mean 'default/web'?"),
    "an unknown node": (["--pod", "web", "--node", "smal"], "there is no node 'smal': did you mean 'small'?"),
    "a step beyond the end": (["--pod", "web", "--step", "99"], "there is no step 99: the run ends after 2"),
    "a policy that cannot be read": (["--pod", "web", "--config", "none.yaml"], "none.yaml: No such file"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_with_2(case: str, bundle: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit status is 2 and the message says what was wrong and what may have been meant."""
    arguments, message = BAD[case]
    assert main(["explain", bundle, *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
