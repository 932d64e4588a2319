"""The rows of an audit on clusters whose answers are worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.core.audit.clusters import (
    Document,
    apart,
    audited,
    budget,
    cluster,
    node,
    orphan,
    pod,
    reported,
    spread,
    workload,
)

TWO = (node("n1"), node("n2"))
ZONES = (node("a1", zone="a"), node("b1", zone="b"))
SURGE = {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
NO_ZONE = (
    "unknown",
    "Nothing can be said of a lost zone: no node has the label topology.kubernetes.io/zone.",
)

NO_CORES = (
    "1 pod is pending: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
    "1 Preemption is not helpful for scheduling."
)
ON_DELETE = "DaemonSet default/agent is updated OnDelete: a restart replaces a pod once somebody deletes it."
NO_ROOM = (
    "PodDisruptionBudget default/db needs 1 healthy pods of 1 and has 1: it never allows an eviction; "
    "one more replica would"
)


def gang(name: str, members: int) -> list[Document]:
    """Return a PodGroup and its pods, of a core each."""
    made = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": members}}},
    }
    group = {"podGroupName": name}
    return [made, *(pod(f"{name}-{number}", schedulingGroup=group) for number in range(members))]


Rows = Sequence[tuple[str, str]]
PENDING: dict[str, tuple[Sequence[Document], Rows]] = {
    "all placed": ((*TWO, workload("web", 3)), [("ok", "No pod is pending: all 3 pods have a node.")]),
    "too large": (
        (node("n1"), pod("big", "6")),
        [
            (
                "risk",
                NO_CORES,
            )
        ],
    ),
}
LOSSES: dict[str, tuple[Sequence[Document], Rows]] = {
    # two of four pods move to a node with two cores left
    "just enough": (
        (*TWO, workload("web", 4)),
        [("ok", "2 nodes can be lost, one at a time: every pod finds another place."), NO_ZONE],
    ),
    # three pods each, and one core left on the other node
    "two too many": (
        (*TWO, workload("web", 6)),
        [("risk", "If node n1 is lost, 2 pods find no place."), NO_ZONE],
    ),
    "a pod of nobody": (
        (*TWO, pod("job", on="n1")),
        [
            ("risk", "If node n1 is lost, 1 pod is gone for good."),
            ("ok", "1 node can be lost: every pod finds another place."),
            NO_ZONE,
        ],
    ),
    "an owner that is not there": (
        (*TWO, orphan("web-1", "n1")),
        [
            ("risk", "If node n1 is lost, 1 pod is gone for good."),
            ("ok", "1 node can be lost: every pod finds another place."),
            NO_ZONE,
        ],
    ),
    "a set that waits": (
        (*TWO, workload("db", 1, kind="StatefulSet", nodeSelector={"kubernetes.io/hostname": "n1"})),
        [
            ("risk", "If node n1 is lost, 1 pod of a StatefulSet is not replaced."),
            ("ok", "1 node can be lost: every pod finds another place."),
            NO_ZONE,
        ],
    ),
    # both nodes hold two of four pods, and three have to be healthy
    "below its budget": (
        (*TWO, workload("web", 4), budget("web", "web", minAvailable=3)),
        [("risk", "If node n1 is lost, 1 budget is short of healthy pods."), NO_ZONE],
    ),
    "a zone too many": (
        (*ZONES, workload("web", 6)),
        [
            ("risk", "If node a1 is lost, 2 pods find no place."),
            ("risk", "If zone a is lost, 2 pods find no place."),
        ],
    ),
}
DRAINS: dict[str, tuple[Sequence[Document], Rows]] = {
    "all can": (
        (*TWO, workload("web", 4)),
        [
            ("ok", "2 nodes can be drained, one at a time: every pod finds another place."),
            ("ok", "All nodes can be drained one after the other, in this order: n1, n2."),
        ],
    ),
    "without a controller": (
        (*TWO, pod("job", on="n1"), workload("web", 1, nodeSelector={"kubernetes.io/hostname": "n1"})),
        [
            ("risk", "Node n1 can never be drained."),
            ("ok", "1 node can be drained, one at a time: every pod finds another place."),
        ],
    ),
    "two budgets": (
        (
            *TWO,
            workload("web", 1, nodeSelector={"kubernetes.io/hostname": "n1"}),
            budget("one", "web", maxUnavailable=1),
            budget("two", "web", maxUnavailable=1),
        ),
        [
            ("risk", "Node n1 can never be drained."),
            ("ok", "1 node can be drained, one at a time: every pod finds another place."),
        ],
    ),
    # its ReplicaSet is not in the bundle
    "an owner that is not there": (
        (*TWO, orphan("web-1", "n1")),
        [
            ("risk", "Node n1 can be drained, but 1 pod is gone for good."),
            ("ok", "1 node can be drained, one at a time: every pod finds another place."),
            ("ok", "All nodes can be drained one after the other, in this order: n2, n1."),
        ],
    ),
    "local storage": (
        (*TWO, workload("web", 2, volumes=[{"name": "cache", "emptyDir": {}}])),
        [
            ("ok", "2 nodes can be drained, one at a time: every pod finds another place."),
            ("note", "kubectl drain refuses 2 nodes without --delete-emptydir-data."),
            ("ok", "All nodes can be drained one after the other, in this order: n1, n2."),
        ],
    ),
}
ROLLOUTS: dict[str, tuple[Sequence[Document], Rows]] = {
    "ends": ((*TWO, workload("web", 4)), [("ok", "1 rollout ends, spread no worse than before.")]),
    # a surge of one needs a core, and all eight are taken
    "no room to surge": (
        (*TWO, workload("web", 8, more=SURGE)),
        [("risk", "A restart of Deployment default/web does not end.")],
    ),
    "on delete": (
        (*TWO, workload("agent", 0, kind="DaemonSet", more={"updateStrategy": {"type": "OnDelete"}})),
        [
            (
                "note",
                ON_DELETE,
            )
        ],
    ),
    "paused": (
        (*TWO, workload("web", 2, more={"paused": True})),
        [
            (
                "note",
                "Deployment default/web is paused: a restart replaces nothing until it is resumed.",
            )
        ],
    ),
}
CAPACITY: dict[str, tuple[Sequence[Document], str]] = {
    "cores": ((*TWO, workload("web", 2)), "6 more pods like those of Deployment default/web fit."),
    "no cores": ((*TWO, workload("web", 8)), "No more pods like those of Deployment default/web fit."),
    "ports": (
        (*TWO, workload("web", 1, ports=[{"containerPort": 80, "hostPort": 80}])),
        "One more of pods like those of Deployment default/web fits.",
    ),
    "apart": (
        (*TWO, node("n3"), workload("web", 1, affinity=apart("web"))),
        "2 more pods like those of Deployment default/web fit.",
    ),
    "whole PodGroups": (
        (*TWO, *gang("train", 3)),
        "One more of PodGroups like default/train, of 3 pods each, fits.",
    ),
    # the smaller zone is full after two more, and the other one may have one more than it
    "spread": (
        (node("a1", 4, "a"), node("b1", 2, "b"), workload("web", 2, topologySpreadConstraints=spread("web"))),
        "3 more pods like those of Deployment default/web fit.",
    ),
}
PACKING: dict[str, tuple[Sequence[Document], Rows]] = {
    "three in one": (
        (*TWO, node("n3"), workload("web", 3), workload("agent", 0, "500m", kind="DaemonSet")),
        [("note", "The pods fit on 1 node, which is proven; they use 3.")],
    ),
    "full": ((*TWO, workload("web", 8)), [("ok", "The pods need no fewer than the 2 nodes that they use.")]),
}
TABLES = {
    "pending": PENDING,
    "n+1": LOSSES,
    "drains": DRAINS,
    "rollouts": ROLLOUTS,
    "packing": PACKING,
}


@pytest.mark.parametrize(
    ("subject", "case"), [(name, case) for name, table in TABLES.items() for case in table]
)
def test_rows_are_those_worked_out_by_hand(subject: str, case: str) -> None:
    """Each subject on small clusters: its verdicts and sentences, in order."""
    documents, expected = TABLES[subject][case]
    assert reported(audited(cluster(*documents), subject)) == list(expected)


@pytest.mark.parametrize("case", CAPACITY)
def test_as_many_more_fit_as_counted_by_hand(case: str) -> None:
    """By cores, host ports, anti-affinity and spread, of the first workload."""
    documents, expected = CAPACITY[case]
    assert audited(cluster(*documents), "capacity")[0].sentence == expected


EVIDENCE: dict[str, tuple[str, Sequence[Document], str]] = {
    "smallest change": (
        "pending",
        (node("n1"), pod("big", "6")),
        "the smallest change for default/big, on n1: lower the pod's cpu request from 6 to 4",
    ),
    "alike once": (
        "n+1",
        (*TWO, node("n3"), node("n4"), workload("web", 4)),
        "the same of n2, n3, n4, which differ in names alone",
    ),
    "fewest ready": ("n+1", (*TWO, workload("web", 4)), "Deployment default/web: 2 of 4 ready at the fewest"),
    "against its budget": (
        "n+1",
        (*TWO, workload("web", 4), budget("web", "web", minAvailable=3)),
        "PodDisruptionBudget default/web needs 3 healthy, and 2 are ready at the fewest",
    ),
    "budget without room": (
        "drains",
        (*TWO, workload("db", 1), budget("db", "db", minAvailable=1)),
        NO_ROOM,
    ),
    "quota": (
        "capacity",
        (
            *TWO,
            workload("web", 2),
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "q", "namespace": "default"},
                "spec": {"hard": {"pods": "3"}},
            },
        ),
        "ResourceQuota default/q is not simulated: it may allow fewer",
    ),
    "what stops the next": (
        "capacity",
        (*TWO, workload("web", 2)),
        "the next: 0/2 nodes are available: 2 Insufficient cpu.",
    ),
    "one more node": (
        "capacity",
        (*TWO, workload("web", 2)),
        "a node like n1 (cpu 4, memory 64Gi) would hold 4 more",
    ),
    # 4 cores are free, two on each node: none of three cores fits, and one would
    "hole": (
        "capacity",
        (*TWO, workload("web", 4), workload("big", 1, "3")),
        "cpu 3, as of Deployment default/big: none fits; what is free in all is 1 times that",
    ),
    "moves": ("packing", (*TWO, node("n3"), workload("web", 3)), "it takes 2 pods to move"),
}


@pytest.mark.parametrize("case", EVIDENCE)
def test_rows_have_their_evidence(case: str) -> None:
    """What a row rests on, in the words that it is shown in."""
    subject, documents, expected = EVIDENCE[case]
    evidence = [text for row in audited(cluster(*documents), subject) for text in row.evidence]
    assert any(expected in text for text in evidence), evidence
