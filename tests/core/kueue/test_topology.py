"""Topology-aware scheduling: a table of placements, and what holds of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.cluster.kueue.objects import ResourceFlavor, Topology, TopologyRequest
from scheduler_core.cluster.kueue.topology.placement import (
    PlacedPodSet,
    TopologyGates,
    TopologyPlacement,
    place,
)
from scheduler_core.cluster.kueue.topology.tree import HOSTNAME, TopologyTree, build_tree
from scheduler_core.cluster.kueue.topology.usage import (
    DomainUsage,
    TopologyUsage,
    add_usage,
    fits,
    remaining,
    remove_usage,
)

CASES = yaml.safe_load((Path(__file__).parent / "topology.yaml").read_text())
LEVELS = ["block", "rack", HOSTNAME]
REQUEST_FIELDS = ("required", "preferred", "unconstrained", "slice_level", "slice_size", "group")


def node(name: str, text: str) -> dict[str, Any]:
    """Return a node of ``block/rack cpus word…``: a word is ``notready``, ``cordoned`` or ``key=value``."""
    place_of, cpus, *words = text.split()
    options = dict(word.split("=") for word in words if "=" in word)
    labels = {HOSTNAME: name, **dict(zip(("block", "rack"), place_of.split("/"), strict=False))}
    labels |= {key: value for key, value in options.items() if key not in ("taint", "pods")}
    taints = [{"key": options["taint"], "effect": "NoSchedule"}] if "taint" in options else []
    ready = {"type": "Ready", "status": "False" if "notready" in words else "True"}
    allocatable = {"cpu": cpus, "pods": options.get("pods", "110")}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"unschedulable": "cordoned" in words, "taints": taints},
        "status": {"allocatable": allocatable, "conditions": [ready]},
    }


def tree_of(case: Mapping[str, Any]) -> TopologyTree:
    """Return the tree of a case's nodes."""
    flavor = ResourceFlavor("f", topology="default", tolerations=tuple(case.get("tolerations", ())))
    held = {name: {"cpu": 1000 * cpus, "pods": 1} for name, cpus in case.get("others", {}).items()}
    nodes = [node(name, text) for name, text in case["nodes"].items()]
    return build_tree(flavor, Topology("default", tuple(case.get("levels", LEVELS))), nodes, held)


def pod_set(name: str, row: Mapping[str, Any]) -> PlacedPodSet:
    """Return a pod set of a row of the table."""
    request = TopologyRequest(**{key: row[key] for key in REQUEST_FIELDS if key in row})
    requests = {"cpu": row["cpu"] * 1000, **({"gpu": row["gpu"]} if "gpu" in row else {})}
    return PlacedPodSet(name, row["count"], requests, row.get("spec", {}), request, row.get("implied", False))


def domains(placement: TopologyPlacement, name: str) -> dict[str, int]:
    """Return the domains of a pod set as the table names them."""
    return {"/".join(key): count for key, count in placement.assignments[name].domains}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_placements_of_the_table(case: Mapping[str, Any]) -> None:
    """A pod set gets the domains that the rules of v0.17.0 name, or its exact reason."""
    used: TopologyUsage = {(name,): {"cpu": 1000 * n, "pods": 1} for name, n in case.get("used", {}).items()}
    pod_sets = [pod_set("main", case["pods"])]
    if "leader" in case:
        pod_sets.append(pod_set("leader", case["leader"]))
    placement = place(tree_of(case), used, pod_sets, TopologyGates(**case.get("gates", {})))
    assert placement.reason == case.get("reason", "")
    if "domains" in case:
        assert domains(placement, "main") == case["domains"]
    if "leader_domains" in case:
        assert domains(placement, "leader") == case["leader_domains"]


def test_pod_sets_of_one_workload_see_each_other() -> None:
    """The second pod set is placed beside the first, and fails where the first takes all."""
    tree = tree_of({"nodes": {"n1": "b0/r0 3"}})
    first, second = (pod_set(name, {"count": 2, "cpu": 1, "required": "rack"}) for name in ("a", "b"))
    placement = place(tree, {}, [first, second], TopologyGates())
    assert (domains(placement, "a"), placement.failed) == ({"n1": 2}, "b")
    assert placement.reason == 'topology "default" allows to fit only 1 out of 2 pod(s)'


CLUSTERS = st.dictionaries(
    st.sampled_from([f"n{index}" for index in range(1, 10)]),
    st.builds(
        "b{}/r{} {}".format,
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(0, 9),
    ),
    max_size=9,
)
ASKED = st.fixed_dictionaries(
    {"count": st.integers(1, 12), "cpu": st.integers(1, 4)},
    optional={"slice_level": st.sampled_from(["rack", HOSTNAME]), "slice_size": st.integers(1, 3)},
)
HOW = st.sampled_from(
    [{"required": "block"}, {"required": "rack"}, {"preferred": "rack"}, {"unconstrained": True}]
)
GATES = st.builds(TopologyGates, st.booleans(), st.booleans())


@given(nodes=CLUSTERS, asked=ASKED, how=HOW, gates=GATES)
def test_a_placement_is_whole_and_within_capacity(
    nodes: dict[str, str], asked: dict[str, Any], how: dict[str, Any], gates: TopologyGates
) -> None:
    """All pods are placed or none, never more than a node holds, together where that is required."""
    asked = {**asked, **how}
    asked["count"] -= asked["count"] % asked.get("slice_size", 1)
    if not asked["count"]:
        return
    tree = tree_of({"nodes": nodes})
    placement = place(tree, {}, [pod_set("main", asked)], gates)
    if placement.reason:
        assert not placement.assignments
        return
    found = placement.assignments["main"].domains
    assert sum(count for _, count in found) == asked["count"]
    assert fits(tree, {}, [DomainUsage(key, {"cpu": asked["cpu"] * 1000}, count) for key, count in found])
    for level in ("block", "rack"):
        if how.get("required") == level:
            assert len({tree.leaves[key].values[: LEVELS.index(level) + 1] for key, _ in found}) == 1


@given(nodes=CLUSTERS, asked=ASKED, how=HOW, gates=GATES)
def test_slices_are_whole(
    nodes: dict[str, str], asked: dict[str, Any], how: dict[str, Any], gates: TopologyGates
) -> None:
    """Each domain of the slices' level gets a multiple of the slices' size."""
    size = asked.get("slice_size", 2)
    asked = {**asked, **how, "slice_level": "rack", "slice_size": size, "count": size * 3}
    tree = tree_of({"nodes": nodes})
    placement = place(tree, {}, [pod_set("main", asked)], gates)
    racks: dict[tuple[str, ...], int] = {}
    for key, count in placement.assignments["main"].domains if not placement.reason else ():
        rack = tree.leaves[key].values[:2]
        racks[rack] = racks.get(rack, 0) + count
    assert all(count % size == 0 for count in racks.values())


@given(nodes=CLUSTERS, asked=ASKED, how=HOW, gates=GATES)
def test_the_order_of_nodes_decides_nothing(
    nodes: dict[str, str], asked: dict[str, Any], how: dict[str, Any], gates: TopologyGates
) -> None:
    """The same nodes in another order give the same placement and the same reason."""
    wanted = [pod_set("main", {**asked, **how})]
    first = place(tree_of({"nodes": nodes}), {}, wanted, gates)
    other = place(tree_of({"nodes": dict(reversed(nodes.items()))}), {}, wanted, gates)
    assert first == other


def test_usage_is_taken_off_as_it_was_put_on() -> None:
    """Usage that is removed leaves a leaf as free as before."""
    tree = tree_of({"nodes": {"n1": "b0/r0 4"}})
    used: TopologyUsage = {}
    rows = [DomainUsage(("n1",), {"cpu": 1000}, 3)]
    add_usage(used, rows)
    assert remaining(tree, ("n1",), used) == {"cpu": 1000, "pods": 107}
    assert not fits(tree, used, rows)
    remove_usage(used, rows)
    assert remaining(tree, ("n1",), used) == {"cpu": 4000, "pods": 110}


@pytest.mark.parametrize(
    ("asked", "explicit"),
    [
        (TopologyRequest(required="rack"), True),
        (TopologyRequest(preferred="rack"), True),
        (TopologyRequest(unconstrained=True), True),
        (TopologyRequest(slice_level="rack", slice_size=2), True),
        (TopologyRequest(group="workers"), False),
    ],
)
def test_a_request_is_explicit_by_any_of_its_levels(asked: TopologyRequest, explicit: bool) -> None:
    """A group alone asks for no place."""
    assert asked.is_explicit is explicit
