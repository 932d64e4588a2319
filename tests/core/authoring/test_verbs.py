"""Verbs as data: the operations that each makes of a bundle, and the sentence that says so before."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.authoring.verb_targets import VerbError
from scheduler_core.authoring.verb_words import SeenCluster, SeenPod
from scheduler_core.authoring.verbs import VERBS, Asked, chosen, entries, sentence, verb_in
from scheduler_core.kubernetes.manifests import Document

ZONE = "topology.kubernetes.io/zone"
NODES: list[Document] = [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}", "labels": {ZONE: zone}}}
    for number, zone in ((1, "a"), (2, "a"), (3, "b"))
]


def workload(kind: str, name: str, **spec: Any) -> Document:
    """Return a workload with one container of image web:1."""
    template = {"spec": {"containers": [{"name": "c", "image": "web:1"}, {"name": "d"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"replicas": 3, "template": template, **spec},
    }


def patched(kind: str, name: str, patch: Document, time: float) -> Document:
    """Return a bundle's own operation."""
    target = {"typeMeta": {"apiVersion": "apps/v1", "kind": kind}, "objectMeta": {"name": name}}
    return {"time": time, "patchOperation": {**target, "patchType": "strategic", "patch": patch}}


IMAGE = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "web:2"}]}}}}
DOCUMENTS: list[Document] = [
    *NODES,
    workload("Deployment", "web", strategy={"rollingUpdate": {"maxUnavailable": 1}}),
    workload("Deployment", "held", paused=True),
    workload("StatefulSet", "db", updateStrategy={"type": "OnDelete"}),
    {
        "apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "s"},
        "spec": {
            "operations": [patched("Deployment", "web", IMAGE, 10), patched("StatefulSet", "db", IMAGE, 20)]
        },
    },
]
SEEN = SeenCluster(
    [
        SeenPod("default/web-1", "n1", "ReplicaSet", ("default/web",)),
        SeenPod("default/web-2", "n2", "ReplicaSet", ("default/web",)),
        SeenPod("default/web-3", "n3", "ReplicaSet", ("default/web",)),
        SeenPod("default/log-1", "n1", "DaemonSet"),
        SeenPod("default/alone", "n2"),
    ],
    {"default/web": 1},
    [
        SeenPod("default/job-1", "n1", "Job"),
        SeenPod("default/once", "n2"),
        SeenPod("kube-system/static", "n1", "Node"),
    ],
)
RESTARTED: Document = {
    "spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "70"}}}}
}
CORDON = {"spec": {"unschedulable": True}}


def imaged(image: str) -> Document:
    """Return the patch that gives the first container an image."""
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}, {"name": "d"}]}}}}


def annotated(**annotations: str | None) -> Document:
    """Return the patch of podstep's own annotations."""
    return {
        "metadata": {"annotations": {f"podstep/{key.replace('_', '-')}": v for key, v in annotations.items()}}
    }


ROWS: list[tuple[str, str, str, list[tuple[float, str, Document]], str]] = [
    (
        "cordon",
        "n1",
        "",
        [(0, "n1", CORDON)],
        "Cordons node n1: no further pod is placed there; its 2 pods stay.",
    ),
    (
        "uncordon",
        "n1",
        "",
        [(0, "n1", {"spec": {"unschedulable": None}})],
        "Uncordons node n1: pods are placed",
    ),
    (
        "drain",
        "zone=a",
        "",
        [(0, name, {**CORDON, **annotated(drain="true")}) for name in ("n1", "n2")],
        (
            "Cordons 2 nodes of zone a, then evicts 2 pods (1 finished); 1 DaemonSet or static pod stays; "
            "the drain of node n2 fails before anything is evicted there, "
            "as pod default/alone has no controller"
        ),
    ),
    (
        "force-drain",
        "zone=a",
        "",
        [(0, name, {**CORDON, **annotated(drain="force")}) for name in ("n1", "n2")],
        (
            "Cordons 2 nodes of zone a, then evicts 5 pods (2 finished); 1 DaemonSet or static pod stays; "
            "pod default/alone without a controller goes for good; budget default/web allows 1 at a time."
        ),
    ),
    (
        "fail",
        "n3",
        "",
        [(0, "n3", annotated(fails_at="70"))],
        "Node n3 stops answering with 1 pod: taints follow",
    ),
    (
        "lose",
        "zone=a",
        "",
        [(0, name, annotated(fails_at="70")) for name in ("n1", "n2")],
        "2 nodes of zone a stop answering with 4 pods",
    ),
    ("recover", "n3", "", [(0, "n3", annotated(recovers_at="70"))], "Recovers node n3"),
    (
        "upgrade",
        "zone=a",
        "30",
        [
            (0, "n1", {**CORDON, **annotated(drain="true")}),
            (30, "n1", {"spec": {"unschedulable": None}, **annotated(drain=None)}),
            (30, "n2", {**CORDON, **annotated(drain="true")}),
            (60, "n2", {"spec": {"unschedulable": None}, **annotated(drain=None)}),
        ],
        (
            "Drains 2 nodes of zone a, one after the other, with 30 s for each until it is uncordoned; what "
            "is not evicted by then stays; it takes 60 s; the drain of node n2 fails"
        ),
    ),
    (
        "scale",
        "deploy/web",
        "5",
        [(0, "default/web", {"spec": {"replicas": 5}})],
        "Scales Deployment default/web from 3 to 5: 2 pods are created.",
    ),
    (
        "set-image",
        "sts/db",
        "web:9",
        [(0, "default/db", imaged("web:9"))],
        "Gives the first container of StatefulSet default/db the image web:9: each pod gets it when",
    ),
    (
        "restart",
        "Deployment/default/web",
        "",
        [
            (
                0,
                "default/web",
                {
                    "spec": {
                        "template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "70"}}}
                    }
                },
            )
        ],
        "Restarts Deployment default/web: a rolling update replaces its pods (maxUnavailable 1).",
    ),
    (
        "undo",
        "deploy/web",
        "",
        [
            (
                0,
                "default/web",
                {
                    "spec": {
                        "template": {"spec": {"containers": [{"name": "c", "image": "web:1"}, {"name": "d"}]}}
                    }
                },
            )
        ],
        "Rolls Deployment default/web back to its previous pod template, with image web:1: a rolling update",
    ),
    (
        "evict",
        "web-1",
        "",
        [(0, "default/web-1", annotated(evict="70"))],
        "Evicts pod default/web-1; its ReplicaSet replaces it.",
    ),
    (
        "deschedule",
        "n1",
        "",
        [(0, "n1", annotated(deschedule="70"))],
        "Runs a pass of the descheduler over the whole cluster, at node n1.",
    ),
]


@pytest.mark.parametrize(("verb", "target", "value", "made", "says"), ROWS, ids=[row[0] for row in ROWS])
def test_a_verb_makes_operations_and_says_what_they_do(
    verb: str, target: str, value: str, made: list[tuple[float, str, Document]], says: str
) -> None:
    """At 70 s, after the bundle's own operations, in a cluster that runs."""
    asked = Asked(verb, (target,), value)
    targets = chosen(DOCUMENTS, asked, 2)
    found = []
    for delay, entry in entries(asked, targets, "70"):
        body = entry["patchOperation"]
        meta = body["objectMeta"]
        found.append((delay, "/".join(filter(None, (meta.get("namespace"), meta["name"]))), body["patch"]))
    assert found == made
    assert sentence(asked, targets, SEEN).startswith(says)
    assert sentence(asked, targets), "and something of a cluster that has not run"
    known = {"lose": "fail", "upgrade": "drain", "restart": "restart"}.get(verb, verb)
    marked = {"drain", "force-drain", "fail", "recover", "restart", "evict", "deschedule"}
    assert verb_in(found[0][2])[0] == (known if known in marked else ""), "what a history calls it"


def test_every_verb_has_a_row() -> None:
    """A verb is tested here before it is on a menu."""
    assert {row[0] for row in ROWS} == set(VERBS)


def test_an_undo_of_an_undo_comes_back() -> None:
    """A template that was gone back to is the newest revision, as for kubectl."""
    again = patched(
        "Deployment",
        "web",
        {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "web:1"}]}}}},
        30,
    )
    scenario = DOCUMENTS[-1]
    operations = [*scenario["spec"]["operations"], again]
    documents = [*DOCUMENTS[:-1], {**scenario, "spec": {"operations": operations}}]
    asked = Asked("undo", ("deploy/web",))
    ((_, entry),) = entries(asked, chosen(documents, asked, 3), "70")
    assert entry["patchOperation"]["patch"]["spec"]["template"]["spec"]["containers"][0]["image"] == "web:2"


@pytest.mark.parametrize(
    ("verb", "target", "value", "message"),
    [
        ("undo", "deploy/held", "", "is paused: resume its rollout"),
        ("undo", "deploy/nope", "", "there is no Deployment default/nope; there are web, held"),
        ("upgrade", "n1", "soon", "is not a number of seconds"),
        ("drain", "", "", "Name at least one target"),
        ("drian", "n1", "", "is not a verb; it is one of cordon"),
    ],
)
def test_what_cannot_be_done_says_why(verb: str, target: str, value: str, message: str) -> None:
    """An unknown target, a value that is none, and a rollout that nothing came before."""
    asked = Asked(verb, (target,), value)
    with pytest.raises(VerbError, match=message):
        entries(asked, chosen(DOCUMENTS, asked, 2), "70")
