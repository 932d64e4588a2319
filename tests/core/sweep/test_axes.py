"""The axes of a sweep: which scenario a value makes, and what its run ends with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_core.authoring.examples import find
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.kubernetes.support import part_of
from scheduler_core.scenario.load import load, load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.studies.sweep import AXES, cell_run, pareto_front, read_sweep, scenario_of_cell
from scheduler_core.studies.sweep.quota import quotas_of
from scheduler_core.studies.sweep.shapes import HOSTNAME

Grid = dict[str, Any]


def cells(scenario: Scenario, grid: Grid) -> list[Scenario]:
    """Return the scenarios of a grid's cells."""
    sweep = read_sweep(grid, scenario)
    return [scenario_of_cell(scenario, sweep.axes, sweep.named, values) for values in sweep.cells]


def names(scenario: Scenario, kind: str) -> list[str]:
    """Return the names of a scenario's documents of a kind, in order."""
    return [part_of(one, "metadata", "name") for one in scenario.documents if one.get("kind") == kind]


RELEASES: tuple[tuple[Grid, list[str]], ...] = (
    ({"seed": [1]}, ["v1.37"]),
    ({"cache": ["off", "sound"]}, ["v1.11", "v1.11"]),
    ({"weights.LeastRequestedPriority": [2]}, ["v1.11"]),
    ({"weights.NodeResourcesFit": [2]}, ["v1.37"]),
    ({"predicates.PodFitsResources": [True, False]}, ["v1.11", "v1.11"]),
    ({"scheduler": ["v1.11", "v1.36"]}, ["v1.11", "v1.36"]),
    (
        {
            "config": {
                "old": {"apiVersion": "v1", "kind": "Policy"},
                "new": {
                    "apiVersion": "kubescheduler.config.k8s.io/v1",
                    "kind": "KubeSchedulerConfiguration",
                },
            }
        },
        ["v1.11", "v1.37"],
    ),
)


@pytest.mark.parametrize(("grid", "releases"), RELEASES)
def test_release_follows_what_the_axes_are_about(small: Scenario, grid: Grid, releases: list[str]) -> None:
    """A scenario that chooses no release is answered by the one that has what the axes change."""
    assert [cell.release for cell in cells(small, grid)] == releases


def test_largest_first_places_what_smallest_first_leaves_waiting(small: Scenario) -> None:
    """Both large pods fit only before the small ones, whatever the nodes are scored by."""
    orders = ["largest-first", "smallest-first"]
    grid = {"scheduler": ["v1.11", "v1.37"], "arrival": orders}
    placed = [cell_run(cell)["placed"] for cell in cells(small, grid)]
    assert placed[0] == placed[2] > placed[1] - 1
    assert [names(cell, "Pod")[0] for cell in cells(small, {"arrival": orders})] == ["large-1", "small-1"]


def test_seed_shuffles_arrival_and_zero_keeps_it(small: Scenario) -> None:
    """The same seed gives the same order, and the pods are the same ones."""
    given, one, again, other = (
        names(cell, "Pod") for seed in (0, 1, 1, 2) for cell in cells(small, {"seed": [seed]})
    )
    assert given == names(small, "Pod")
    assert one == again != other
    assert sorted(one) == sorted(given)


def test_nodes_are_copied_or_left_out(small: Scenario) -> None:
    """Copies have a name and a hostname of their own, and what they cost is counted."""
    one, two, five = cells(small, {"nodes": [1, 2, 5]})
    assert [len(names(cell, "Node")) for cell in (one, two, five)] == [1, 2, 5]
    copies = [node for node in five.documents if node.get("kind") == "Node"][2:]
    assert [node["metadata"]["labels"]["kubernetes.io/hostname"] for node in copies] == [
        node["metadata"]["name"] for node in copies
    ]
    figures = [cell_run(cell) for cell in (one, five)]
    assert [one["placed"] for one in figures] == [3, 5]
    assert figures[0]["pricePerHour"] == 0.5


def test_pods_of_a_node_that_is_left_out_wait_again(small: Scenario) -> None:
    """They are placed on the nodes that stay."""
    bound = [
        _on("n2", one) if part_of(one, "metadata", "name") == "small-1" else one for one in small.documents
    ]
    (cell,) = cells(load_documents(bound), {"nodes": [1]})
    assert all(not part_of(one, "spec", "nodeName") for one in cell.documents if one.get("kind") == "Pod")


def _on(node: str, pod: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**pod, "spec": {**pod["spec"], "nodeName": node}}


def test_figures_of_a_cell(small: Scenario) -> None:
    """Fits are counted node by node, and as if all that is free were one node."""
    (cell,) = cells(small, {"arrival": ["smallest-first"]})
    figures = cell_run(cell)
    assert (figures["placed"], figures["pending"], figures["cycles"]) == (4, 1, 5)
    sizes = {row["size"]: row for row in figures["fits"]}
    assert sizes["cpu 1"] == {"size": "cpu 1", "pods": 3, "fits": 2, "whole": 2}
    assert sizes["cpu 3"]["fits"] == 0
    assert figures["utilisation"]["cpu"] == 0.75


def test_a_price_is_of_the_node_or_of_a_label_in_the_table(small: Scenario) -> None:
    """A node's annotation comes first; used nodes without a price are counted, and not taken for free."""
    bare = [_priced(one, "pool" if number else "") for number, one in enumerate(small.documents)]
    (cell,) = cells(load_documents(bare), {"seed": [0]})
    prices = {HOSTNAME: {"n2": 2.0}}
    assert [cell_run(cell, given)["pricePerHour"] for given in ({}, prices)] == [0.5, 2.5]
    assert [cell_run(cell, given)["nodesUnpriced"] for given in ({}, prices)] == [1, 0]


def _priced(document: Mapping[str, Any], pool: str) -> Mapping[str, Any]:
    meta = {**document["metadata"], **({"annotations": {}} if pool else {})}
    return {**document, "metadata": meta}


def test_a_gang_waits_until_its_last_pod_is_placed() -> None:
    """A gang with a pod that is pending at the end is no gang that was placed."""
    example = find("native-gang")
    assert example is not None
    (cell,) = cells(example.load(), {"seed": [0]})
    figures = cell_run(cell)
    assert (figures["gangs"], figures["gangsPlaced"]) == (1, 1)
    assert figures["meanGangWait"] >= 60  # seconds, until the third node is there


def test_halving_runs_the_better_part_again_with_more(small: Scenario) -> None:
    """The rungs are cut from the cell's own order of arrival; the last is the cell as it is."""
    body = {
        "grid": {"arrival": ["smallest-first", "largest-first"]},
        "halving": {"arrivals": [0.4, 1], "by": "pending"},
    }
    sweep = read_sweep(body, small)
    assert sweep.halving is not None
    rungs = [
        [scenario_of_cell(small, sweep.axes, {}, values, budget=budget) for values in sweep.cells]
        for budget in sweep.budgets
    ]
    assert [[len(names(cell, "Pod")) for cell in rung] for rung in rungs] == [[2, 2], [5, 5]]
    assert names(rungs[0][1], "Pod") == ["large-1", "large-2"]
    assert sweep.halving.survivors([{"pending": 1}, {"pending": 0}]) == [1]
    assert sweep.halving.survivors([{"pending": 0}, {"pending": 0}, None]) == [0, 1]
    assert sweep.halving.survivors([None, None]) == []


def test_a_rung_in_seconds_ends_the_run_there(small: Scenario) -> None:
    """What is not placed by then is pending; an earlier end of the scenario stays."""
    body = {"grid": {"scheduler": ["v1.37"]}, "halving": {"seconds": [30, 60]}}
    sweep = read_sweep(body, small)
    (values,) = sweep.cells
    made = [scenario_of_cell(small, sweep.axes, {}, values, budget=one) for one in sweep.budgets]
    assert [one.settings.until for one in made] == [30, 60]
    again = scenario_of_cell(made[0], sweep.axes, {}, values, budget=sweep.budgets[1])
    assert again.settings.until == 30


def test_no_cell_of_the_front_is_worse_in_all() -> None:
    """A row that another row is better than in every figure is not on the front; a failed row never is."""
    rows = [
        {"placed": 5, "nodesUsed": 2, "fragmentation": 0.1},
        {"placed": 4, "nodesUsed": 2, "fragmentation": 0.1},
        {"placed": 4, "nodesUsed": 1, "fragmentation": 0.1},
        None,
    ]
    assert pareto_front(rows) == {0, 2}


SHAPES = {
    "given": {"labels": {"pool": "a"}},
    "wide": {"allocatable": {"cpu": 8, "memory": None}, "count": 1, "pricePerHour": 0.9},
    "second": {"selector": {HOSTNAME: "n2"}, "allocatable": {"cpu": "500m"}, "count": 3},
}


def test_nodes_get_a_shape_by_name(small: Scenario) -> None:
    """Amounts, labels, number and price change for the selected nodes; others stay as they are."""
    sweep = read_sweep({"shape": SHAPES}, small)
    given, wide, second = (scenario_of_cell(small, sweep.axes, sweep.named, values) for values in sweep.cells)
    nodes = [[one for one in cell.documents if one.get("kind") == "Node"] for cell in (given, wide, second)]
    assert [[part_of(one, "status", "allocatable", "cpu") for one in own] for own in nodes] == [
        ["4", "4"],
        ["8"],
        ["4", "500m", "500m", "500m"],
    ]
    assert part_of(nodes[1][0], "status", "allocatable") == {"cpu": "8", "pods": "110"}
    figures = [cell_run(cell) for cell in (given, wide)]
    assert [(one["placed"], one["pricePerHour"]) for one in figures] == [(4, None), (4, 0.9)]


PROFILED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: packed
"""


def test_pods_name_the_profile_that_the_plugin_axes_change(small: Scenario) -> None:
    """Its plugins are weighed, not those of the first profile, and pods made by operations name it too."""
    created = {"createOperation": {"object": small.documents[-1]}, "step": 1}
    documents = [
        *small.documents[:-1],
        *load(PROFILED).documents,
        {"apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1", "kind": "Scenario"}
        | {"metadata": {"name": "s"}, "spec": {"operations": [created]}},
    ]
    grid = {
        "profile": ["packed"],
        "scoringStrategy": ["RequestedToCapacityRatio 0:0 100:10"],
        "weights.NodeResourcesFit": [7],
    }
    (cell,) = cells(load_documents(documents), grid)
    assert {pod.scheduler_name for pod in cell.objects if isinstance(pod, Pod)} == {"packed"}
    (first, second) = next(one for one in cell.documents if "profiles" in one)["profiles"]
    assert set(first) == {"schedulerName"}
    assert second["pluginConfig"][0]["args"]["scoringStrategy"]["requestedToCapacityRatio"] == {
        "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    }
    assert {"name": "NodeResourcesFit", "weight": 7} in second["plugins"]["score"]["enabled"]


def test_a_ratio_packs_or_spreads_by_its_points(small: Scenario) -> None:
    """Falling points choose emptier nodes, rising ones fuller nodes, under both configurations."""
    ratios = [f"RequestedToCapacityRatio {points}" for points in ("0:0 100:10", "0:10 100:0")]
    fitting = load_documents(small.documents[:-2])
    for alone in ({"weights.BalancedResourceAllocation": [0], "scheduler": ["v1.11"]}, {}):
        listed = cells(fitting, {"scoringStrategy": ratios, **alone})
        assert [cell_run(cell)["nodesUsed"] for cell in listed] == [1, 2]


POLICIES = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: old
  pluginConfig: [{name: PodLifeTime, args: {maxPodLifeTimeSeconds: 60}}]
  plugins: {deschedule: {enabled: [PodLifeTime]}}
- name: failed
  pluginConfig: [{name: RemoveFailedPods}]
  plugins: {deschedule: {enabled: [RemoveFailedPods]}}
"""


def test_policies_of_the_descheduler_are_the_grids_or_named_by_the_bundle(small: Scenario) -> None:
    """A profile runs alone, a policy of a ConfigMap in place of the bundle's, null none."""
    kept = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}}
    (policy,) = load(POLICIES).documents
    documents = [*small.documents, policy, {**kept, "data": {"policy.yaml": POLICIES.replace("old", "new")}}]
    listed = cells(load_documents(documents), {"deschedulerPolicy": ["failed", "other", None]})
    names = [
        [profile["name"] for one in cell.documents if "profiles" in one for profile in one["profiles"]]
        for cell in listed
    ]
    assert names == [["failed"], ["new", "failed"], []]
    assert [cell.descheduler is not None for cell in listed] == [True, True, False]
    (own,) = cells(small, {"deschedulerPolicy": {"mine": policy}})
    assert own.descheduler is not None


WRONG: tuple[tuple[Grid, str], ...] = (
    ({"shape": ["a"]}, "grid.shape must be an object of shapes by a name of your own"),
    ({"shape": {"a": {"cpu": 1}}}, "grid.shape.a has the unknown field 'cpu'; a shape has allocatable,"),
    ({"shape": {"a": {"allocatable": {"cpu": "x"}}}}, "grid.shape.a allocatable.cpu: "),
    ({"shape": {"a": {"count": 0}}}, "grid.shape.a must be a whole number from 1"),
    ({"shape": {"a": {"labels": {"a b": 1}}}}, "grid.shape.a the label a b=1 "),
    ({"shape": {"a": {"selector": {"pool": "x"}}}}, "selector: no node has the labels pool=x"),
    ({"shape": {"a": {"pricePerHour": -1}}}, "pricePerHour must be a number from 0, not '-1'"),
    ({"profile": ["x"]}, r"there is no profile 'x'; there are default-scheduler"),
    ({"profile": ["x"], "scheduler": ["v1.11"]}, "v1.11 has no profiles"),
    ({"scoringStrategy": ["RequestedToCapacityRatio"]}, "as in RequestedToCapacityRatio 0:0 100:10"),
    ({"scoringStrategy": ["RequestedToCapacityRatio 0:11"]}, "a point of .* is UTILIZATION:SCORE"),
    ({"scoringStrategy": ["RequestedToCapacityRatio 5:1 5:2"]}, "must ascend in utilization"),
    ({"deschedulerPolicy": ["x"]}, "called 'x'; it names none"),
    ({"deschedulerPolicy": {"x": {"kind": "Pod"}}}, "must be a DeschedulerPolicy, not a Pod"),
    ({"descheduler": [True], "cache": ["off"]}, "no descheduler runs under v1.11"),
)


@pytest.mark.parametrize(("grid", "message"), WRONG)
def test_a_wrong_value_is_named_with_what_would_be_right(small: Scenario, grid: Grid, message: str) -> None:
    """Before any cell runs, at the axis and the value."""
    with pytest.raises(BundleError) as raised:
        read_sweep(grid, small)
    assert re.search(message, "; ".join(f"{one.path} {one.message}" for one in raised.value.problems))


def test_every_axis_is_described() -> None:
    """Each has a sentence for its form, and values to begin with unless they are the user's own."""
    assert all(axis.about and (axis.example or axis.name == "config") for axis in AXES.values())


def test_a_larger_quota_admits_more() -> None:
    """Jobs that wait for quota run in the cells that have it; an unknown quota names those that are there."""
    example = find("kueue-reclaim")
    assert example is not None
    scenario = example.load()
    [(first, _), *_] = quotas = [
        place for one in scenario.documents if one.get("kind") == "ClusterQueue" for place in quotas_of(one)
    ]
    assert len(quotas) > 1
    sweep = cells(scenario, {f"quota.{first}": ["1", "40"]})
    small, large = (cell_run(cell)["cycles"] for cell in sweep)
    assert small != large
    with pytest.raises(BundleError, match=f"there is no nominal quota 'a/b/c'; there are {first}"):
        read_sweep({"quota.a/b/c": [1]}, scenario)
