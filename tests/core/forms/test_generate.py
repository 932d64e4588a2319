"""Clusters made from a recipe: the same everywhere, of the sizes that were asked for, and placed."""

from __future__ import annotations

import hashlib
from itertools import islice
from typing import Any

import pytest
from msgspec import convert
from msgspec.structs import replace

from scheduler_core import load, simulate
from scheduler_core.authoring.generate import generate
from scheduler_core.authoring.recipes import MOST_NODES, RECIPES, Recipe
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.model import Node, Pod


def recipe(pools: list[dict[str, str]], workloads: list[dict[str, str]] = [], **top: str) -> Any:  # noqa: B006
    return convert({**top, "pools": pools, "workloads": workloads}, Recipe)


def pods_of(documents: Any) -> list[Pod]:
    return [obj for obj in load(write_yaml(documents)).objects if isinstance(obj, Pod)]


def test_the_same_recipe_makes_the_same_cluster_on_every_machine() -> None:
    """The digest of the mixed recipe's YAML is written down here."""
    text = write_yaml(generate(RECIPES["mixed"][1]).documents)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "9f07e8bf0bffd2f8"


def test_another_seed_draws_other_sizes() -> None:
    """Names and nodes stay; what is drawn is drawn anew."""
    one, two = (generate(replace(RECIPES["mixed"][1], seed=seed)) for seed in "12")
    assert one.documents != two.documents
    assert one.summary.nodes == two.summary.nodes == 100


def test_changing_one_workload_leaves_the_others_as_they_are() -> None:
    """A workload depends on the seed and on its own name only."""
    web = {"name": "web", "shape": "web", "count": "5"}
    alone = generate(recipe([{}], [web])).documents
    after = generate(recipe([{}], [{"name": "job", "shape": "batch", "count": "9"}, web])).documents
    assert alone[-5:] == after[-5:]


@pytest.mark.parametrize("name", RECIPES)
def test_what_the_summary_says_is_what_the_scheduler_sees(name: str) -> None:
    """Nodes, amounts, pods and requests are those of the loaded bundle, daemons included."""
    made = generate(RECIPES[name][1])
    assert not made.problems
    text = write_yaml(made.documents)
    assert not [warning for warning in load(text).warnings if "no Pod" not in warning.message]
    scenario = load(text, scheduler="v1.11")  # where no controller creates pods later
    nodes = [obj for obj in scenario.objects if isinstance(obj, Node)]
    pods = [obj for obj in scenario.objects if isinstance(obj, Pod)]
    summary = made.summary
    assert (summary.nodes, summary.pods) == (len(nodes), len(pods))
    assert summary.cpu == sum(node.allocatable["cpu"] for node in nodes)
    assert summary.memory == sum(node.allocatable["memory"] for node in nodes)
    assert summary.gpus == sum(node.allocatable.get("nvidia.com/gpu", 0) for node in nodes)
    assert summary.wanted_cpu == sum(pod.containers[0].requests.get("cpu", 0) for pod in pods)
    assert summary.wanted_memory == sum(pod.containers[0].requests.get("memory", 0) for pod in pods)


def test_a_generated_cluster_is_scheduled() -> None:
    """All pods of the small recipe find a node."""
    simulation = simulate(load(write_yaml(generate(RECIPES["small"][1]).documents)))
    list(islice(simulation, 200))
    placement = simulation.placement()
    assert len(placement) == 38
    assert all(placement.values())


def test_a_pool_is_as_its_row_says() -> None:
    """Count, zones in turn, labels, taints, GPUs, and a part of it cordoned."""
    row = {
        "name": "gpu",
        "count": "6",
        "cpu": "3920m",
        "memory": "1.5Gi",
        "pods": "30",
        "gpus": "2",
        "zones": "2",
        "labels": "disk=ssd, tier=a",
        "taints": "gpu=yes:NoSchedule",
        "cordoned": "50",
    }
    made = load(write_yaml(generate(recipe([row])).documents)).objects
    nodes = [obj for obj in made if isinstance(obj, Node)]
    assert [node.meta.name for node in nodes] == [f"gpu-0{number}" for number in range(1, 7)]
    zones = [node.meta.labels["failure-domain.beta.kubernetes.io/zone"] for node in nodes]
    assert zones == ["zone-a", "zone-b"] * 3
    assert all(node.meta.labels["tier"] == "a" for node in nodes)
    assert nodes[0].allocatable["cpu"] == 3920
    assert nodes[0].allocatable["memory"] == 3 * 2**29
    assert nodes[0].allocatable["nvidia.com/gpu"] == 2
    assert nodes[0].taints[0].effect == "NoSchedule"
    assert sum(node.unschedulable for node in nodes) == 3


def test_requests_stay_within_their_range_and_small_ones_are_more_frequent() -> None:
    """Of 300 pods between 100m and 4 cores more than half ask for less than the middle."""
    row = {"name": "w", "shape": "web", "count": "300", "replicas": "1", "cpu": "100m-4", "memory": "1Gi"}
    amounts = [pod.containers[0].requests["cpu"] for pod in pods_of(generate(recipe([{}], [row])).documents)]
    assert min(amounts) >= 100
    assert max(amounts) <= 4_000
    assert len(set(amounts)) > 20
    assert sum(value < 2_000 for value in amounts) > 180
    assert {
        pod.containers[0].requests["memory"] for pod in pods_of(generate(recipe([{}], [row])).documents)
    } == {2**30}


@pytest.mark.parametrize(
    ("shape", "kinds"),
    [
        ("web", ["Service", "Deployment"]),
        ("stateful", ["StatefulSet"]),
        ("batch", ["Job"]),
        ("gpu", ["Job"]),
        ("daemon", ["DaemonSet"]),
    ],
)
def test_a_shape_is_of_its_kind(shape: str, kinds: list[str]) -> None:
    """What a shape makes is of the kind that Kubernetes has for it."""
    made = generate(recipe([{"gpus": "8"}], [{"name": "w", "shape": shape}])).documents
    assert [document["kind"] for document in made if document["kind"] != "Node"] == kinds
    gpus = {pod.containers[0].requests.get("nvidia.com/gpu", 0) > 0 for pod in pods_of(made)}
    assert gpus == {shape == "gpu"}


def test_mixed_priorities_bring_their_classes() -> None:
    """Every class that a pod names is there, and no other."""
    row = {"name": "w", "shape": "batch", "count": "40", "priority": "mixed"}
    made = generate(recipe([{}], [row])).documents
    classes = {d["metadata"]["name"] for d in made if d["kind"] == "PriorityClass"}
    assert classes == {"low", "high", "critical"}
    assert {pod.priority for pod in pods_of(made)} == {-100, 1_000, 100_000}


def test_daemons_are_counted_where_they_may_run() -> None:
    """A taint that is not tolerated and a label that is not there keep them away."""
    pools = [{"name": "a", "count": "3"}, {"name": "b", "count": "5", "taints": "gpu=yes:NoSchedule"}]
    for row, count in (({}, 3), ({"tolerations": "gpu"}, 8), ({"nodeSelector": "pool=b"}, 0)):
        made = generate(recipe(pools, [{"name": "agent", "shape": "daemon", **row}]))
        assert made.summary.pods == count
        assert len(pods_of(made.documents)) == count


@pytest.mark.parametrize(
    ("given", "field", "reported"),
    [
        (recipe([{"cpu": "4GB"}]), "pools.0.cpu", "is not a quantity"),
        (recipe([{"count": "0"}]), "pools.0.count", "a whole number from 1"),
        (recipe([{"taints": "gpu"}]), "pools.0.taints", "write key=value:effect"),
        (recipe([{"labels": "disk"}]), "pools.0.labels", "key=value"),
        (recipe([{}, {}]), "pools.1.name", "duplicate 'general'"),
        (recipe([]), "pools", "at least one node pool"),
        (recipe([{"count": "15000"}, {"name": "b", "count": "15000"}]), "pools", f"{MOST_NODES:,}"),
        (recipe([{}] * 21), "pools", "at most 20"),
        (recipe([{}], [{"cpu": "2-1"}]), "workloads.0.cpu", "a range from low to high"),
        (recipe([{}], [{"replicas": "x"}]), "workloads.0.replicas", "is not a quantity"),
        (recipe([{}], [{"shape": "round"}]), "workloads.0.shape", "must be one of web"),
        (recipe([{}], [{"name": "Web"}]), "workloads.0.name", "lower case"),
        (recipe([{}], seed="soon"), "seed", "a whole number"),
        (recipe([{}], [{"count": "1000", "replicas": "1000"}]), "workloads", "at most 150,000 pods"),
    ],
)
def test_what_is_wrong_is_reported_at_its_field(given: Any, field: str, reported: str) -> None:
    """A recipe is never half made, and nothing that it may hold raises."""
    problems = dict(generate(given).problems)
    assert reported in problems[field]
    assert generate(given).documents == ()


def test_jobs_of_teams_wait_for_their_part_of_the_cluster() -> None:
    """Each team has a queue with an equal quota, in one cohort, and other workloads have none."""
    pools = [{"name": "general", "count": "4", "cpu": "8", "memory": "32Gi"}]
    jobs = {"shape": "batch", "count": "3", "replicas": "4", "cpu": "1", "memory": "1Gi"}
    rows = [{"name": "a", "team": "team-a", **jobs}, {"name": "b", "team": "team-b", **jobs}]
    made = generate(recipe(pools, rows, seed="1"))
    queues = [one for one in made.documents if one["kind"] == "ClusterQueue"]
    assert [one["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0] for one in queues] == [
        {"name": "cpu", "nominalQuota": "16"}
    ] * 2
    labels = {
        one["metadata"]["labels"].get("kueue.x-k8s.io/queue-name")
        for one in made.documents
        if one["kind"] == "Job"
    }
    assert labels == {"team-a", "team-b"}
    web = {"name": "c", "shape": "web", "count": "1", "team": "team-a"}
    wrong = generate(recipe(pools, [web], seed="1"))
    assert wrong.problems == (("workloads.0.team", "only Jobs are queued, not a Deployment"),)
