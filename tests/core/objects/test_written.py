"""What an object was read from: it follows the object, and is no part of what it is compared by."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import pytest

from scheduler_core import load_documents, simulate
from scheduler_core.cluster.controllers.workloads import template_hash
from scheduler_core.compare.results.final_manifests import ending_documents
from scheduler_core.formats.interner import with_parts_of
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run.several.simulation import SeveralSimulation
from scheduler_core.run.v1_37.manifests import document_of, manifest_of

NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"allocatable": {"pods": "9"}},
}
BESIDE = {
    "apiVersion": "podstep/v1",
    "kind": "SimulationSettings",
    "until": 300,
    "time": "virtual",
    "scheduler": "v1.22",
    "schedulers": [{"name": "default-scheduler", "runs": "v1.37"}],
}


def workload(kind: str, **spec: Any) -> dict[str, Any]:
    """Return a controller of two pods."""
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"hostname": "old", "containers": [{"name": "c", "image": "app"}]},
    }
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": 2, "selector": selector, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}, "spec": spec}


def written(hostname: str) -> Pod:
    """Return a pod that was read from a manifest with a field that typed objects lack."""
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    (found,) = load_documents(
        [{**document, "spec": {"hostname": hostname, "containers": [{"name": "c"}]}}]
    ).objects
    assert isinstance(found, Pod)
    return found


def test_objects_are_equal_whatever_they_were_read_from() -> None:
    """As are their texts, by which ReplicaSets are named."""
    one, other = written("x"), written("y")
    assert one == other
    assert one.meta == other.meta
    assert repr(one) == repr(other)
    assert template_hash(one) == template_hash(other)
    assert [document_of(each)["spec"]["hostname"] for each in (one, other)] == ["x", "y"]


def test_a_copy_has_the_same_manifest() -> None:
    """A fork shares it; another process receives an equal one."""
    one = written("x")
    assert document_of(deepcopy(one)) is document_of(one)
    assert document_of(pickle.loads(pickle.dumps(one))) == document_of(one)


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"])
def test_a_made_pod_has_all_fields_of_its_template(kind: str) -> None:
    """Under its own name, and those that typed objects lack."""
    objects = load_documents([NODE, workload(kind)]).objects
    pods = [one for one in objects if isinstance(one, Pod)]
    assert pods
    for one in pods:
        made = manifest_of(one)
        assert (made["metadata"]["name"], made["spec"]["hostname"]) == (one.meta.name, "old")


def test_a_recreated_pod_has_the_template_that_its_controller_kept() -> None:
    """Below the partition it is the one before the update, above it the patched one."""
    target = {"typeMeta": {"kind": "StatefulSet"}, "objectMeta": {"name": "web"}}
    patch = {"spec": {"template": {"spec": {"dnsPolicy": "Default", "restartPolicy": "Always"}}}}
    lost = {"typeMeta": {"kind": "Pod"}, "objectMeta": {"name": "web-0"}}
    operations = [
        {"time": 20, "patchOperation": {**target, "patch": patch}},
        {"time": 60, "deleteOperation": lost},
    ]
    sets = workload("StatefulSet", updateStrategy={"rollingUpdate": {"partition": 1}})
    scenario = {"kind": "Scenario", "spec": {"operations": operations}}
    made = SeveralSimulation(load_documents([NODE, BESIDE, sets, scenario]), trace=False)
    list(made)
    assert made.manifests is not None
    pods = made.manifests.table("Pod")
    patched = {key.rpartition("/")[2]: one["spec"].get("dnsPolicy") == "Default" for key, one in pods.items()}
    assert patched == {"web-0": False, "web-1": True}


@pytest.mark.parametrize("controllers", [{}, {"controllers": []}], ids=["live", "recorded"])
def test_the_last_manifest_of_an_object_is_the_written_one_with_patches_and_its_name(
    controllers: dict[str, Any],
) -> None:
    """A generated name is written into it, and a patch that landed, with fields that nothing reads."""
    job = {**workload("Job"), "apiVersion": "batch/v1", "metadata": {"generateName": "job-"}}
    job["spec"] = {"parallelism": 1, "template": job["spec"]["template"], "ttlSecondsAfterFinished": 7}
    patch = {"spec": {"podCIDR": "10.0.0.0/24"}}
    target = {"typeMeta": {"kind": "Node"}, "objectMeta": {"name": "n"}}
    operations = [{"time": 20, "patchOperation": {**target, "patch": patch}}]
    settings = {**BESIDE, "schedulers": []}
    scenario = {"kind": "Scenario", "spec": {**controllers, "operations": operations}}
    made = simulate(load_documents([NODE, settings, job, workload("ReplicaSet"), scenario]))
    list(made)
    found = {one["kind"]: one for one in ending_documents(made)}
    assert found["Node"]["spec"] == {"podCIDR": "10.0.0.0/24"}
    assert found["Job"]["spec"] == job["spec"]
    assert found["Job"]["metadata"]["name"].startswith("job-")


def test_versions_of_an_object_share_what_a_patch_leaves() -> None:
    """Each patch keeps a version; the images of a node are not copied with it."""
    images = [{"names": ["a"], "sizeBytes": 1}, {"names": ["b"], "sizeBytes": 2}]
    node = {**NODE, "status": {**NODE["status"], "images": images}}
    target = {"typeMeta": {"kind": "Node"}, "objectMeta": {"name": "n"}}
    patches: list[dict[str, Any]] = [{"spec": {"podCIDR": "x"}}, {"status": {"phase": "x"}}]
    operations = [{"step": 1, "patchOperation": {**target, "patch": patch}} for patch in patches]
    made = load_documents([node, {"kind": "Scenario", "spec": {"operations": operations}}]).operations
    first, second = (document_of(one.object) for one in made if one.object is not None)
    assert first["status"] is node["status"]
    assert second["status"] == {**node["status"], "phase": "x"}
    assert second["status"]["images"] is images
    assert second["spec"] is first["spec"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([1, 2], [1]),
        ([1], [1, 2]),
        ([{"a": 1}, {"b": 1}], [{"b": 1}, {"a": 1}]),
        ({"a": 1}, {"a": True}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": [1]}, {"a": {"0": 1}}),
        ({"a": {}}, {"a": None}),
        ({"a": {"b": [{}]}}, {"a": {"b": [{}, {}]}, "c": "d"}),
    ],
)
def test_a_version_is_the_changed_one(old: Any, new: Any) -> None:
    """Whatever it shares with the original, to the type of each value and the order of fields."""
    assert repr(with_parts_of(old, new)) == repr(new)
    assert with_parts_of(old, deepcopy(old)) is old


def test_a_claim_template_needs_a_name() -> None:
    """The names of a pod's claims begin with it."""
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    pod = {"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "c"}]}}
    spec: dict[str, Any] = {"selector": {"matchLabels": {"app": "w"}}, "template": pod}
    spec["volumeClaimTemplates"] = [{"metadata": {}, "spec": wanted}]
    manifest = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "w"}, "spec": spec}
    with pytest.raises(BundleError) as raised:
        load_documents([manifest])
    [problem] = raised.value.problems
    assert problem.path == "spec.volumeClaimTemplates[0].metadata.name"
