"""What the StatefulSet controller and the garbage collector of v1.37.1 do."""

from __future__ import annotations

from tests.core.controllers.lives import live, node, seconds, template, workload

NODES = [node("n1"), node("n2")]
ORPHANED = {"do": "delete", "kind": "StatefulSet", "name": "a", "propagation": "Orphan"}


def test_a_recreated_set_adopts_pods_and_revisions() -> None:
    """Its template's revision is the one that orphaned pods have: none is replaced (adoptOrphanRevisions)."""
    again = {"do": "create", "object": workload("StatefulSet", replicas=2)}
    expect = live([*NODES, workload("StatefulSet", replicas=2)], 10, ORPHANED, 5, again, 30)
    assert seconds(expect, "deleting") == []
    assert expect["final"]["workloads"]["StatefulSet/default/a"]["status"]["updated"] == 2


def test_a_recreated_set_counts_its_revisions_on() -> None:
    """Another template is the second revision, and its pods replace the adopted ones."""
    other = {"do": "create", "object": workload("StatefulSet", replicas=2, template=template("app:2"))}
    expect = live([*NODES, workload("StatefulSet", replicas=2)], 10, ORPHANED, 5, other, 30)
    assert expect["final"]["workloads"]["StatefulSet/default/a"]["status"]["updateRevision"] == "2"
    assert len(seconds(expect, "deleting", by="statefulset")) == 2
