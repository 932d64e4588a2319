"""Releases that are one set of plugins: chosen where any release is, and each answers by its own rules."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from pickle import dumps, loads
from typing import Any

import pytest

from scheduler_core import Scenario, load_documents
from scheduler_core.__main__ import main
from scheduler_core.explain import explain
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.run import pack, simulate, unpack
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.schedulers.v1_37.releases import DIALECTS
from scheduler_core.settings.release import BY_PLUGINS, RELEASES
from tests.core.compare.test_upgrade import SCORED, node, pod

CHOSEN = {"v1.35": "a", "v1.36": "b", "v1.37": "b"}
"""Where each release puts the last pod of SCORED."""


def settings(**fields: Any) -> dict[str, Any]:
    """Return a SimulationSettings document."""
    return {"apiVersion": "podstep/v1", "kind": "SimulationSettings", **fields}


def configuration(plugin: str, args: dict[str, Any]) -> dict[str, Any]:
    """Return a KubeSchedulerConfiguration with a plugin's arguments."""
    version = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return {**version, "profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}]}


def said(scenario: Scenario) -> str:
    """Return the warnings, a line each."""
    return "\n".join(problem.message for problem in scenario.warnings)


def test_each_module_is_a_release_and_derived_from_another_one_but_the_newest_that_is_proven() -> None:
    """Pickles and copies find the same object by its name."""
    assert set(DIALECTS) == set(BY_PLUGINS) < set(RELEASES)
    assert [name for name, one in DIALECTS.items() if not one.base] == ["v1.37"]
    for name, dialect in DIALECTS.items():
        assert dialect.name == name
        assert loads(dumps(dialect)) is dialect is deepcopy(dialect)
        assert all(one.here and one.there and one.source for one in dialect.differences)


@pytest.mark.parametrize(("release", "place"), CHOSEN.items())
def test_a_release_is_chosen_by_settings_and_options(
    release: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it decides is its own, recorded under its name, explained, and the same from a stored run."""
    scenario = load_documents([*SCORED, settings(scheduler=release)])
    (cycle,) = simulate(scenario)
    record = release_record(cycle)
    assert record is not None
    assert (cycle.node, record.release, scenario.release) == (place, release, release)
    assert explain(scenario, "default/p").as_dict()["node"] == place
    simulation = V1_37Simulation(scenario, trace=False)
    packed = pack(simulation)
    assert packed is not None
    again = unpack(packed, scenario)
    assert [one.node for one in again] == [place]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": SCORED}))
    assert main(["simulate", str(path), "--scheduler", release]) == 0
    shown = capsys.readouterr().out
    assert f"kube-scheduler {release}: " in shown


def test_releases_decide_side_by_side() -> None:
    """Each scheduler of the list decides by the rules of the release that it runs."""
    listed = [{"name": "default-scheduler", "runs": "v1.37"}, {"name": "older", "runs": "v1.35"}]
    for name, place in (("default-scheduler", "b"), ("older", "a")):
        asked = {**SCORED[-1], "spec": {**SCORED[-1]["spec"], "schedulerName": name}}
        several = settings(scheduler="v1.22", time="virtual", schedulers=listed)
        run = simulate(load_documents([*SCORED[:-1], asked, several]))
        for _ in run:
            pass
        assert run.placement()["default/p"] == place


def test_where_controllers_run_a_warning_says_of_which_release_they_are() -> None:
    """The scheduler is the one that was chosen."""
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": SCORED[-1]["spec"],
        }},
    }  # fmt: skip
    for release, place in CHOSEN.items():
        asked = settings(scheduler=release, time="virtual", until=30)
        scenario = load_documents([*SCORED[:-1], deployment, asked])
        run = simulate(scenario)
        for _ in run:
            pass
        (end,) = {where for name, where in run.placement().items() if name.startswith("default/web")}
        assert end == place
        assert ("controllers and kubelets are those of v1.37" in said(scenario)) == (release != "v1.37")


def test_the_release_of_the_nodes_is_offered_and_the_default_answers() -> None:
    """Unless a release is chosen; kubelets that no release is of offer none."""

    def of(version: str, **chosen: Any) -> Scenario:
        made = node("a", "4", "8Gi")
        made["status"]["nodeInfo"] = {"kubeletVersion": version}
        return load_documents([made, pod("p", "1", "1Gi"), *([settings(**chosen)] if chosen else [])])

    scenario = of("v1.35.4-gke.1")
    assert (scenario.release, scenario.offered) == ("v1.37", "v1.35")
    assert "it answers, while the nodes' kubelets are v1.35; choose that release" in said(scenario)
    for other in (of("v1.37.1"), of("v1.33.2"), of("v1.35.4", scheduler="v1.36")):
        assert other.offered == ""
        assert "while the nodes' kubelets" not in said(other)


def test_feature_gates_have_the_defaults_of_their_release() -> None:
    """One that is locked in the default release can be set in another; one that is lacking is named."""
    gates = {"DRAExtendedResource": False}
    with pytest.raises(BundleError, match=r"locked to true in v1\.37"):
        load_documents([*SCORED, settings(featureGates=gates)])
    earlier = settings(scheduler="v1.35", featureGates=gates)
    assert "DRAExtendedResource" not in said(load_documents([*SCORED, earlier]))
    grouped = settings(scheduler="v1.36", featureGates={"GenericWorkload": True})
    assert "featureGates.GenericWorkload: true is not implemented" in said(load_documents([*SCORED, grouped]))
    scored = settings(scheduler="v1.36", featureGates={"StorageCapacityScoring": True})
    (cycle,) = simulate(load_documents([*SCORED, scored]))
    assert "VolumeBinding" in {row.name for row in cycle.priorities}


SHAPE = {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}
OTHERS_SHAPE = {"scoringStrategy": {"type": "LeastAllocated", "requestedToCapacityRatio": SHAPE}}


@pytest.mark.parametrize(
    ("plugin", "args", "accepting"),
    [
        ("VolumeBinding", SHAPE, {"v1.37"}),
        ("NodeResourcesFit", OTHERS_SHAPE, {"v1.35"}),
        ("NodeResourcesFit", {"scoringStrategy": {"type": "LeastAllocated"}}, {"v1.35", "v1.36", "v1.37"}),
    ],
)
def test_a_configuration_is_refused_by_the_releases_that_do_not_start_with_it(
    plugin: str, args: dict[str, Any], accepting: set[str]
) -> None:
    """The field is named; the other releases run with it."""
    for release in CHOSEN:
        documents = [*SCORED, configuration(plugin, args), settings(scheduler=release)]
        if release in accepting:
            assert len(list(simulate(load_documents(documents)))) == 1
            continue
        with pytest.raises(BundleError) as error:
            load_documents(documents)
        assert "shape" in str(error.value.problems[0].path) or "alone" in str(error.value)


def test_a_pod_on_a_node_holds_what_its_release_says() -> None:
    """v1.36 looks at a container's status only if it has resources, v1.37 at what is allocated as well."""
    holding = pod("on-a", "1", "1Gi", nodeName="a")
    holding["status"] = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "3"}}]}
    for release, result in (("v1.35", "scheduled"), ("v1.36", "scheduled"), ("v1.37", "unschedulable")):
        documents = [node("a", "4", "8Gi"), holding, pod("p", "2", "1Gi"), settings(scheduler=release)]
        assert [cycle.result for cycle in simulate(load_documents(documents))] == [result], release
