"""The axes of a sweep: which scenario a value makes, and what its run ends with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_core.authoring.examples import find
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.kubernetes.support import part_of
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.sweep import AXES, cell_run, pareto_front, read_sweep, scenario_of_cell
from scheduler_core.sweep.quota import quotas_of
from scheduler_core.sweep.shapes import HOSTNAME

Grid = dict[str, Any]


def cells(scenario: Scenario, grid: Grid) -> list[Scenario]:
    """Return the scenarios of a grid's cells."""
    sweep = read_sweep(grid, scenario)
    return [scenario_of_cell(scenario, sweep.axes, sweep.configs, values) for values in sweep.cells]


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
