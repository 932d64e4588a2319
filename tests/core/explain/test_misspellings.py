"""Misspelled names are found before anything else is proposed, and only words that occur nowhere count."""

from __future__ import annotations

import pytest

from scheduler_core.explain import explain
from scheduler_core.explain.misspellings import near
from scheduler_core.kubernetes.model import Pod
from scheduler_core.scenario.load import load_documents
from tests.core.engine.builders import Manifest, affinity, node, node_affinity, obj, pod, scenario
from tests.core.explain.test_changes import claim, mounting, volume

SSD = {"disktype": "ssd"}
ZONE = "topology.kubernetes.io/zone"


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("disktyp", ["disktype", "zone"], "disktype"),
        ("disktype", ["disktype", "disktyp"], None),
        ("ssd", ["hdd"], None),
        ("sdd", ["hdd", "ssd"], "ssd"),
        ("dsik", ["disk"], "disk"),
        ("SSD", ["ssd"], "ssd"),
        ("zone", [ZONE], ZONE),
        ("failure-domain.beta.kubernetes.io/zone", [ZONE], ZONE),
        ("zone-a", ["zone-b"], None),
        ("us-east-1a", ["us-east-1b"], None),
        ("i3", ["i4"], None),
        ("node7", ["node8"], None),
        ("amd64", ["arm64"], None),
        ("nvidia.com/gpus", ["nvidia.com/gpu"], "nvidia.com/gpu"),
        ("", ["a"], None),
        ("disk", [], None),
    ],
)
def test_near(word: str, known: list[str], found: str | None) -> None:
    """One letter, the case or the prefix may differ; digits and initials tell things apart."""
    assert near(word, known) == found


# What it is: the cluster, the pod, the first change.
CASES: dict[str, tuple[list[Manifest], Manifest, str]] = {
    "a label's key in the node selector": (
        [node("n", labels=SSD)],
        pod("p", nodeSelector={"disktyp": "ssd"}),
        "correct the pod's nodeSelector disktyp=ssd to disktype=ssd",
    ),
    "a label's value in the node selector": (
        [node("m"), node("n", labels=SSD)],
        pod("p", nodeSelector={"disktype": "sdd"}),
        "correct the pod's nodeSelector disktype=sdd to disktype=ssd",
    ),
    "key and value at once": (
        [node("n", labels=SSD)],
        pod("p", nodeSelector={"Disktype": "SSD"}),
        "correct the pod's nodeSelector Disktype=SSD to disktype=ssd",
    ),
    "a key without its prefix": (
        [node("n", labels={ZONE: "a"})],
        pod("p", nodeSelector={"zone": "a"}),
        f"correct the pod's nodeSelector zone=a to {ZONE}=a",
    ),
    "an expression of the node affinity": (
        [node("n", labels=SSD)],
        pod("p", affinity=node_affinity({"key": "disktyp", "operator": "In", "values": ["nvme", "sdd"]})),
        "correct the pod's node affinity disktyp In (nvme, sdd) to disktype In (nvme, ssd)",
    ),
    "a key that has to be there": (
        [node("n", labels=SSD)],
        pod("p", affinity=node_affinity({"key": "disktpye", "operator": "Exists"})),
        "correct the pod's node affinity disktpye Exists to disktype Exists",
    ),
    "the key of a toleration": (
        [node("n", taints=["dedicated=gpu:NoSchedule"])],
        pod("p", tolerations=[{"key": "dedicatd", "value": "gpu", "effect": "NoSchedule"}]),
        "correct the pod's toleration of dedicatd=gpu to dedicated=gpu",
    ),
    "the value of a toleration": (
        [node("n", taints=["dedicated=batch:NoSchedule"])],
        pod("p", tolerations=[{"key": "dedicated", "value": "bacth", "effect": "NoSchedule"}]),
        "correct the pod's toleration of dedicated=bacth to dedicated=batch",
    ),
    "a topology key": (
        [node("n", labels={"zone": "a"}), pod("x", on="n", labels={"app": "web"})],
        pod("p", affinity=affinity("podAffinity", key="zoen", app="web")),
        "correct the pod's affinity topologyKey zoen to zone",
    ),
    "a label of the pods that are sought": (
        [node("n", labels={"zone": "a"}), pod("x", on="n", labels={"app": "web-server"})],
        pod("p", affinity=affinity("podAffinity", app="web-sever")),
        "correct the pod's affinity label app=web-sever to app=web-server",
    ),
    "an extended resource": (
        [node("n", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": "2"})],
        pod("p", {"nvidia.com/gpus": "1"}),
        "correct the pod's request for nvidia.com/gpus to nvidia.com/gpu",
    ),
    "a claim": (
        [
            node("n"),
            claim("data", volumeName="v"),
            volume("v", claimRef={"namespace": "default", "name": "data"}),
        ],
        pod("p", **mounting("dta")),
        "correct the pod's claim dta to data",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_misspelled_name_comes_first(case: str) -> None:
    """The first change corrects it alone, costs nothing, and was run: the pod fits with it."""
    cluster, asked, words = CASES[case]
    answer = explain(scenario(*cluster, asked), "default/p")
    first = answer.changes[0]
    assert first.words == (words,)
    assert (first.effort, first.chosen) == (0, "n")


def test_what_is_wrong_besides_is_answered_too() -> None:
    """A misspelled selector and a missing toleration make one change."""
    tainted = node("n", labels=SSD, taints=["gpu:NoSchedule"])
    answer = explain(scenario(tainted, pod("p", nodeSelector={"disktyp": "ssd"})), "default/p")
    assert answer.changes[0].words == (
        "correct the pod's nodeSelector disktyp=ssd to disktype=ssd",
        "tolerate the taint gpu:NoSchedule",
    )


def test_a_name_that_occurs_is_not_misspelled() -> None:
    """Where another node has the label, its wording is what was meant."""
    nodes = [node("n", labels=SSD), node("m", labels={"disktyp": "ssd"}, unschedulable=True)]
    answer = explain(scenario(*nodes, pod("p", nodeSelector={"disktyp": "ssd"})), "default/p")
    assert all("correct" not in text for change in answer.changes for text in change.words)


def test_a_pod_that_fits_gets_no_remedy() -> None:
    """A pod that fits somewhere needs none, unless one asks about a node where it does not fit."""
    nodes = [node("n"), node("m", unschedulable=True)]
    source = scenario(*nodes, pod("p"))
    pending = explain(source, "default/p", step=0)
    assert (pending.state, pending.changes) == ("pending", ())
    assert explain(source, "default/p").changes == ()
    assert [change.words for change in explain(source, "default/p", "m").changes] == [("uncordon node m",)]


def test_a_misspelled_scheduler_is_named() -> None:
    """A pod that is left to a scheduler of almost the default's name says so."""
    stray = pod("p", schedulerName="defalt-scheduler")
    answer = explain(scenario(node("n"), stray), "default/p")
    assert answer.state == "other"
    assert "did you mean default-scheduler?" in answer.summary


def test_a_correction_is_applied_in_the_template() -> None:
    """A Deployment's pods are corrected where their template is."""
    template = {
        "metadata": {"labels": {"app": "w"}},
        "spec": pod("t", nodeSelector={"disktyp": "ssd"})["spec"],
    }
    web = obj(
        "Deployment",
        "web",
        "apps/v1",
        spec={"replicas": 1, "selector": {"matchLabels": {"app": "w"}}, "template": template},
    )
    source = load_documents([node("n", labels=SSD), web])
    asked = next(obj.meta.key for obj in source.objects if isinstance(obj, Pod))
    (patch,) = explain(source, asked).changes[0].patches
    assert (patch["kind"], patch["name"]) == ("Deployment", "default/web")
    selector = {"disktyp": None, "disktype": "ssd"}
    assert patch["patch"] == {"spec": {"template": {"spec": {"nodeSelector": selector}}}}
