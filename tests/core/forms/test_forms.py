"""Objects made from the fields of a form, and what is mentioned fields that cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core import load, load_documents
from scheduler_core.authoring.forms import FORMS, read
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.model import Node, PersistentVolumeClaim, Pod
from scheduler_core.run import simulate

LEAST = {"name": "it", "selector": "app=web"}
FULL = {
    "name": "it",
    "labels": "app=web, tier=front",
    "cpu": "250m",
    "memory": "1.5Gi",
    "resources": "nvidia.com/gpu=2",
    "nodeSelector": "disk=ssd",
    "tolerations": "gpu=yes:NoSchedule, slow, *",
    "required": "disk in (ssd, nvme), !spot, cores>4, zone!=c, gpu notin (a), arch",
    "preferred": "pool=fast",
    "weight": "7",
    "apart": "required-hostname",
    "together": "preferred-zone",
    "togetherWith": "app=cache",
    "ports": "8080, 53:5353/UDP",
    "claims": "data",
    "schedulerName": "mine",
}


def made(kind: str, **given: str) -> list[dict[str, Any]]:
    form = FORMS[kind]
    values, problems = read(form.fields, given)
    assert problems + form.check(values) == []
    return form.make(values)


def wrong(kind: str, **given: str) -> dict[str, str]:
    form = FORMS[kind]
    values, problems = read(form.fields, {**LEAST, **given})
    return dict(problems or form.check(values))


@pytest.mark.parametrize("kind", FORMS)
def test_a_form_with_only_what_it_must_have_makes_what_the_loader_takes(kind: str) -> None:
    """Every form's defaults are a working object without warnings about its fields."""
    documents = made(kind, **LEAST)
    beside = made("ClusterQueue", **LEAST) if kind == "ResourceFlavor" else []  # nothing has it alone
    scenario = load(write_yaml([*documents, *beside]))
    assert [
        warning.message for warning in scenario.warnings if "it contains no Node" not in warning.message
    ] == []
    assert documents[0]["kind"] == ("Node" if kind == "NodePool" else kind)


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "Job", "Pod"])
def test_every_advanced_field_reaches_the_pod(kind: str) -> None:
    """What is typed is what the scheduler reads."""
    node = made(
        "NodePool", name="n", count="1", labels="disk=ssd, cores=8, arch=arm64", resources="nvidia.com/gpu=4"
    )
    scenario = load_documents([*node, *made(kind, **FULL)], admission=False, presumed="v1.11")
    pod = next(obj for obj in scenario.objects if isinstance(obj, Pod))
    assert pod.containers[0].requests["cpu"] == 250
    assert pod.containers[0].requests["memory"] == 3 * 2**29
    assert pod.node_selector == {"disk": "ssd"}
    assert pod.scheduler_name == "mine"
    assert [(t.key, t.operator, t.value, t.effect) for t in pod.tolerations[:3]] == [
        ("gpu", "Equal", "yes", "NoSchedule"),
        ("slow", "Exists", "", ""),
        ("", "Exists", "", ""),
    ]
    affinity = pod.affinity
    assert affinity is not None
    assert affinity.node_required is not None
    reported = [(r.key, r.operator, r.values) for r in affinity.node_required[0].match_expressions]
    assert reported == [
        ("disk", "In", ("ssd", "nvme")),
        ("spot", "DoesNotExist", ()),
        ("cores", "Gt", ("4",)),
        ("zone", "NotIn", ("c",)),
        ("gpu", "NotIn", ("a",)),
        ("arch", "Exists", ()),
    ]
    assert [(port.port, port.protocol) for port in pod.containers[0].host_ports] == [(5353, "UDP")]


def test_a_stateful_set_brings_a_claim_for_each_pod() -> None:
    """Three replicas have three claims of the size and class that were typed."""
    fields = {"name": "db", "claimName": "data", "storage": "10Gi", "storageClass": "fast"}
    scenario = load_documents(
        [*made("NodePool", name="n"), *made("StatefulSet", **fields, management="Parallel")]
    )
    claims = [obj for obj in scenario.objects if isinstance(obj, PersistentVolumeClaim)]
    assert [claim.meta.name for claim in claims] == ["data-db-0", "data-db-1", "data-db-2"]
    assert {(claim.request, claim.storage_class) for claim in claims} == {(10 * 2**30, "fast")}


def test_a_node_pool_goes_over_its_zones() -> None:
    """Twelve nodes are numbered with two digits, four in each of three zones, tainted and cordoned."""
    documents = made(
        "NodePool", name="gpu", count="12", zones="3", taints="gpu=yes:NoSchedule", cordoned="true"
    )
    nodes = [obj for obj in load_documents(documents).objects if isinstance(obj, Node)]
    assert nodes[0].meta.name == "gpu-01"
    zones = [node.meta.labels["failure-domain.beta.kubernetes.io/zone"] for node in nodes]
    assert zones == [node.meta.labels["topology.kubernetes.io/zone"] for node in nodes]  # for v1.37
    assert zones.count("zone-c") == 4
    assert all(node.unschedulable and node.taints[0].value == "yes" for node in nodes)
    assert (
        "failure-domain.beta.kubernetes.io/zone"
        not in (made("NodePool", name="n", zones="0")[0]["metadata"]["labels"])
    )


@pytest.mark.parametrize(
    ("kind", "field", "typed", "reported"),
    [
        ("Deployment", "name", "Web_1", "lower case letters"),
        ("Deployment", "name", "", "write one, such as web"),
        ("Deployment", "namespace", "a.b", "must consist of lower case letters"),
        ("Deployment", "replicas", "many", "a whole number from 0 to 10,000"),
        ("Deployment", "replicas", "10001", "a whole number from 0 to 10,000"),
        ("Deployment", "cpu", "1 core", "did you mean"),
        ("Deployment", "memory", "2GB", "did you mean '2G'"),
        ("Deployment", "memory", "-1Gi", "must be at least 0"),
        ("Deployment", "labels", "app", "must be key=value"),
        ("Deployment", "labels", "a=b, a=c", "is a duplicate"),
        ("Deployment", "labels", "a/b/c=d", "'a/b/c'"),
        ("Deployment", "tolerations", "gpu:Never", "must be one of NoSchedule"),
        ("Deployment", "required", "disk in ssd", "is not a selector"),
        ("Deployment", "ports", "http", "is not a port"),
        ("Deployment", "ports", "80:70000", "is not a port"),
        ("Deployment", "ports", "80/ICMP", "must be one of TCP"),
        ("Deployment", "resources", "nvidia.com/gpu", "must be key=value"),
        ("Deployment", "apart", "always", "must be one of"),
        ("Deployment", "weight", "101", "from 1 to 100"),
        ("Deployment", "labels", ",".join(f"a{n}=b" for n in range(41)), "at most 40"),
        ("Deployment", "labels", "x" * 2001, "at most 2,000"),
        ("NodePool", "taints", "gpu", "is not a taint"),
        ("NodePool", "taints", "gpu:Sometimes", "must be one of NoSchedule"),
        ("NodePool", "count", "201", "from 1 to 200"),
        ("NodePool", "cpu", "", "write 4"),
        ("NodePool", "cordoned", "yes", "must be true or false"),
        ("PriorityClass", "value", "1.5", "a whole number"),
        ("PriorityClass", "value", "2000000000", "1,000,000,000"),
        ("PodDisruptionBudget", "maxUnavailable", "1", ""),
        ("PodDisruptionBudget", "selector", "", "write the labels"),
        ("StatefulSet", "claimName", "data", ""),
        ("StatefulSet", "storage", "1Gi", ""),
        ("Pod", "replicas", "0", "from 1 to 100"),
        ("Pod", "claims", "Data", "lower case letters"),
    ],
)
def test_what_is_wrong_is_reported_at_its_field(kind: str, field: str, typed: str, reported: str) -> None:
    """The words say what would be right; what two fields say together stands at one of them."""
    errors = wrong(kind, **{field: typed})
    if reported:
        assert reported in errors[field]
    else:
        assert len(errors) == 1


def test_a_path_of_the_loader_leads_to_the_field_that_it_came_from() -> None:
    """What only the loader finds stands at its field too."""
    form = FORMS["Deployment"]
    for path, field in (
        ("spec.template.spec.containers[0].resources.requests.cpu", "cpu"),
        ("spec.template.spec.tolerations[0].effect", "tolerations"),
        ("metadata.name", "name"),
        ("spec.template.spec.priorityClassName", "priorityClassName"),
        ("spec.nothing", ""),
    ):
        assert form.field_of(path) == field


def test_a_teams_queue_is_used_by_a_job_that_names_it() -> None:
    """Flavor, queue and Job of three forms run together: what fits is admitted, and the rest waits."""
    documents = [
        *made("NodePool", name="pool", count="1", cpu="16", memory="64Gi"),
        *made("ResourceFlavor", name="default-flavor"),
        *made("ClusterQueue", name="team-a", cohort="all", quotaCpu="4", reclaim="Any"),
        *made("Job", name="fits", replicas="4", cpu="1", queue="team-a"),
        *made("Job", name="waits", replicas="1", cpu="1", queue="team-a"),
    ]
    simulation = simulate(load(write_yaml(documents)))
    assert [cycle.pod.split("-")[0] for cycle in simulation] == ["default/fits"] * 4


def test_a_queue_says_what_is_wrong_with_its_quota() -> None:
    """Each field has its own message."""
    assert set(wrong("ClusterQueue", quotaCpu="many", quotaGpus="-1")) == {"quotaCpu", "quotaGpus"}
