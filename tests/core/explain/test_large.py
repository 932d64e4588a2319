"""On many nodes: what is tried on a node alone holds on all of them, and nothing grows with the cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.explain import explain, single_node
from tests.core.engine.builders import affinity, node, pod, scenario

TIGHT = {"cpu": "2", "memory": "4Gi", "pods": "10"}
NODES = 230
WEB = {"labels": {"app": "web"}}


def crowd(**asked: Any) -> list[dict[str, Any]]:
    """Make full nodes of several kinds, and a pod that none of them takes."""
    nodes = [
        node(
            f"n{k:03}",
            allocatable=TIGHT,
            labels={"zone": f"z{k % 3}"},
            taints=[f"t{k % 5}:NoSchedule"] if k % 2 else (),
            unschedulable=k % 7 == 0,
        )
        for k in range(NODES)
    ]
    there = [pod(f"x{k}", {"cpu": "1500m"}, on=f"n{k:03}", priority=k % 3) for k in range(NODES)]
    return [*nodes, *there, pod("p", {"cpu": "1"}, priority=2, **asked)]


@pytest.mark.parametrize("asked", [{}, {"nodeSelector": {"disk": "ssd"}}, {"ports": [{"hostPort": 80}]}])
@pytest.mark.parametrize("where", [None, "n014", "n003"])
def test_a_node_alone_finds_what_the_whole_cluster_finds(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], where: str | None
) -> None:
    """The changes, their order and where the pod then goes are those of trying all on all nodes."""
    whole = scenario(*crowd(**asked))
    quick = explain(whole, "default/p", where, step=1).as_dict()
    monkeypatch.setattr(single_node, "SMALL", NODES)
    assert explain(whole, "default/p", where, step=1).as_dict() == quick
    assert quick["changes"]


def test_a_change_that_other_nodes_see_is_found_on_all_of_them() -> None:
    """A label that moves the node to a rival is not offered single_node: all was run on the whole cluster."""
    nodes = [node(f"n{k:03}", labels={"zone": "a"}, unschedulable=True) for k in range(NODES)]
    other = node("other", labels={"zone": "b"})
    rival = pod("rival", on="n000", **WEB)
    asked = pod("p", nodeSelector={"zone": "a"}, affinity=affinity("podAntiAffinity", app="web"), **WEB)
    answer = explain(scenario(*nodes, other, rival, asked), "default/p", "other")
    assert answer.changes
    for change in answer.changes:
        assert change.chosen in change.fits and "other" in change.fits
        assert "set label zone=a on node other" not in change.words or len(change.words) > 1


def test_mass_deletion_is_no_small_change_and_answers_stay_small() -> None:
    """Where hundreds of pods repel the pod nobody proposes to delete them all."""
    nodes = [node(f"n{k:03}", labels={"zone": "a"}) for k in range(NODES)]
    repel = affinity("podAntiAffinity", app="p")
    there = [pod(f"x{k}", on=f"n{k:03}", affinity=repel) for k in range(NODES)]
    answer = explain(scenario(*nodes, *there, pod("p", labels={"app": "p"})), "default/p")
    assert answer.changes == ()
    assert [(group.count, len(group.nodes)) for group in answer.groups] == [(NODES, 20)]
    assert len(json.dumps(answer.as_dict())) < 200_000
