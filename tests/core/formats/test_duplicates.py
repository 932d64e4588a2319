"""A dump and the manifests to be applied next: the later document takes the earlier one's place."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml

from scheduler_core import BundleError, Scenario, load, load_documents
from scheduler_core.kubernetes.model import Node, Pod, Workload
from scheduler_core.run import simulate

Manifest = dict[str, Any]


def listed(*items: Manifest) -> str:
    """Return what ``kubectl get -o yaml`` prints of some objects."""
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": list(items)})


def node(**metadata: Any) -> Manifest:
    """Return a node as a cluster has it."""
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", **metadata}, "status": status}


def owned(kind: str, name: str) -> list[Manifest]:
    """Return the ownerReferences of what a controller made."""
    return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}]


LABELS = {"app": "web", "pod-template-hash": "aaa"}
SPEC = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]}
DEPLOYMENT: Manifest = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": SPEC},
    },
}

OTHER = {**DEPLOYMENT["spec"]["template"], "spec": {"containers": [{"name": "other"}]}}


def dump() -> str:
    """Return a node that runs both pods of a Deployment."""
    live = copy.deepcopy(DEPLOYMENT)
    live["metadata"] = {"name": "web", "namespace": "default", "uid": "uid-web"}
    template = {"metadata": {"labels": LABELS}, "spec": SPEC}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": "web-aaa",
            "uid": "uid-web-aaa",
            "labels": LABELS,
            "ownerReferences": owned("Deployment", "web"),
        },
        "spec": {"replicas": 2, "selector": {"matchLabels": LABELS}, "template": template},
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"web-aaa-{n}",
                "labels": LABELS,
                "ownerReferences": owned("ReplicaSet", "web-aaa"),
            },
            "spec": {**SPEC, "nodeName": "n1"},
            "status": {"phase": "Running"},
        }
        for n in range(2)
    ]
    return listed(node(), live, replica_set, *pods)


def applied(**spec: Any) -> str:
    """Return the Deployment's manifest with another spec."""
    return yaml.safe_dump({**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], **spec}})


def pods_of(scenario: Scenario) -> dict[str, str]:
    """Return the pods of a cluster's start with their nodes."""
    return {obj.meta.name: obj.node_name for obj in scenario.objects if isinstance(obj, Pod)}


def messages(scenario: Scenario) -> list[tuple[str | None, int | None, str]]:
    """Return file, line and message of each warning."""
    return [(one.file, one.line, one.message) for one in scenario.warnings]


def test_the_notice_names_both_places() -> None:
    """The later object is in the cluster, once, and the warning has both files and lines."""
    scenario = load([("dump.yaml", dump()), ("next.yaml", applied(replicas=4))])
    [deployment] = [o for o in scenario.objects if isinstance(o, Workload) and o.kind == "Deployment"]
    assert (deployment.replicas, deployment.meta.uid) == (4, "uid-web")
    assert scenario.summary == {"Node": 1, "Deployment": 1, "ReplicaSet": 1, "Pod": 2}
    line = next(n for n, text in enumerate(dump().split("\n"), 1) if text == "    name: web")
    reported = (
        f"replaces Deployment default/web, first defined in dump.yaml at line {line}, as kubectl apply would"
    )
    assert ("next.yaml", 4, reported) in messages(scenario)


@pytest.mark.parametrize("together", [False, True], ids=["two files", "one text"])
def test_more_replicas_are_pods_to_be_scheduled(together: bool) -> None:
    """The pods that run stay where they are, and those that are wanted beside them are pending."""
    files = [("", f"{dump()}---\n{applied(replicas=4)}")]
    scenario = load(files if together else [("a", dump()), ("b", applied(replicas=4))])
    pods = pods_of(scenario)
    assert {name: where for name, where in pods.items() if where} == {"web-aaa-0": "n1", "web-aaa-1": "n1"}
    assert sorted(pods.values()) == ["", "", "n1", "n1"]


def test_fewer_replicas_and_a_new_template_delete_pods() -> None:
    """What a changed controller deletes is gone from the start, with a warning that counts it."""
    fewer = load([("a", dump()), ("b", applied(replicas=1))])
    assert pods_of(fewer) == {"web-aaa-0": "n1"}
    rolled = load([("a", dump()), ("b", applied(template=OTHER))])
    assert sorted(pods_of(rolled).values()) == ["", ""]
    reported = "of its pods are deleted at the start, since its template or its replicas changed"
    assert [file for file, _, message in messages(rolled) if message == f"2 {reported}"] == ["b"]


@pytest.mark.parametrize("change", [{"replicas": 4}, {"replicas": 1}, {"template": OTHER}])
def test_what_is_stored_loads_as_the_same_cluster(change: Manifest) -> None:
    """The documents of the scenario hold the result, and no warning is needed for it any more."""
    scenario = load([("a", dump()), ("b", applied(**change))])
    again = load_documents(scenario.documents)
    assert again.objects == scenario.objects
    assert again.id == load_documents(again.documents).id
    assert not any("replaces" in one.message for one in again.warnings)


def test_in_virtual_time_controllers_roll_out() -> None:
    """Where time runs, the changed controller acts in the run, and ends with what was applied."""
    settings = "kind: SimulationSettings\ntime: virtual\nscheduler: v1.22\n"
    simulation = simulate(load([("a", dump()), ("b", applied(replicas=4)), ("c", settings)]))
    for _ in simulation:
        pass
    assert len(simulation.placement()) == 4


@pytest.mark.parametrize("kind", ["ReplicaSet", "Deployment", "StatefulSet"])
def test_a_manifest_without_replicas_keeps_the_scale(kind: str) -> None:
    """What an autoscaler has set stays, as an apply of a manifest without replicas leaves it."""
    live = {**copy.deepcopy(DEPLOYMENT), "kind": kind}
    live["spec"]["replicas"] = 5
    manifest = copy.deepcopy(live)
    del manifest["spec"]["replicas"]
    scenario = load([("a", listed(node(), live)), ("b", yaml.safe_dump(manifest))])
    [workload] = [o for o in scenario.objects if isinstance(o, Workload) and o.kind == kind]
    assert workload.replicas == 5
    assert any("it keeps spec.replicas from there" in message for _, _, message in messages(scenario))


def test_what_only_the_cluster_writes_stays() -> None:
    """A pod keeps its node, a node its allocatable, unless the later document says otherwise."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": SPEC}
    live = {**pod, "spec": {**SPEC, "nodeName": "n1"}, "status": {"phase": "Running"}}
    labelled = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"zone": "a"}}}
    scenario = load([("a", listed(node(labels={"old": "x"}), live)), ("b", listed(pod, labelled))])
    assert pods_of(scenario) == {"p": "n1"}
    [n1] = [obj for obj in scenario.objects if isinstance(obj, Node)]
    assert (n1.meta.labels, n1.allocatable["pods"]) == ({"zone": "a"}, 20)
    moved = {**live, "spec": {**SPEC, "nodeName": "n2"}}
    other = {**node(), "metadata": {"name": "n2"}}
    assert pods_of(load([("a", listed(node(), other, live)), ("b", listed(moved))])) == {"p": "n2"}


def test_one_list_does_not_hold_an_object_twice() -> None:
    """Two items of one list with one name are an error; two lists are two dumps."""
    with pytest.raises(
        BundleError, match=r"duplicate Node n1; first defined at line \d+: remove one of them"
    ):
        load(json.dumps([node(), node()], indent=1).replace(",\n   ", ", "))
    assert load(f"{listed(node())}---\n{listed(node())}").summary == {"Node": 1}


def test_generated_names_of_two_files_are_two_pods() -> None:
    """A generateName makes another pod in each file, though both are the first document there."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "job-"}, "spec": SPEC}
    scenario = load([("a", yaml.safe_dump(pod)), ("b", yaml.safe_dump(pod)), ("c", yaml.safe_dump(pod))])
    assert len(pods_of(scenario)) == 3
