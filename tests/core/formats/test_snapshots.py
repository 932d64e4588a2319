"""kube-scheduler-simulator's snapshots: read, and written again with what a run decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core import Scenario, Simulation, load, load_documents
from scheduler_core.__main__ import main
from scheduler_core.authoring.examples import Example, examples
from scheduler_core.compare.results.final_manifests import ending_documents
from scheduler_core.compare.results.snapshot import PREFIX, ResultNotes, snapshot
from scheduler_core.formats.snapshot import CONFIG, LISTS
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import PersistentVolume, PersistentVolumeClaim, Pod
from scheduler_core.run import simulate

FILE = Path(__file__).parent / "recordings" / "snapshot.json"


def notes_of(scenario: Scenario) -> list[str]:
    """Return what is said of the snapshot itself."""
    return [w.message for w in scenario.warnings if w.line is None]


def test_a_snapshot_s_lists_become_objects() -> None:
    """Items get their kind from their list; what every cluster has is left out and said."""
    scenario = load(FILE.read_bytes())
    assert [key_of(o) for o in scenario.objects] == [
        ("PriorityClass", "high"),
        ("PersistentVolumeClaim", "default/c1"),
        ("PersistentVolume", "v1"),
        ("Node", "n1"),
        ("Pod", "default/p1"),
        ("Pod", "default/p2"),
    ]
    assert scenario.summary is not None and scenario.summary["Namespace"] == 1
    assert notes_of(scenario) == [
        "a snapshot of kube-scheduler-simulator: 8 objects",
        "2 left out that every cluster has: PriorityClasses system-*, default and kube-*",
        "1 of the PersistentVolumes linked again with their claims, by name",
    ]


def test_a_volume_finds_its_claim_again_by_name() -> None:
    """The claim's uid is another one in each cluster; the volume gets that of the claim with its name."""
    scenario = load(FILE.read_bytes())
    [volume] = [d for d in scenario.documents if d["kind"] == "PersistentVolume"]
    assert volume["spec"]["claimRef"]["uid"] == "new"
    [read] = [o for o in scenario.objects if isinstance(o, PersistentVolume)]
    assert read.claim_ref == "default/c1"


def test_the_configuration_s_plugins_lose_their_wrappers() -> None:
    """The simulator runs every plugin inside one of its own; the configuration names the plugin."""
    scenario = load(FILE.read_bytes())
    [config] = [d for d in scenario.documents if d["kind"] == "KubeSchedulerConfiguration"]
    enabled = config["profiles"][0]["plugins"]["multiPoint"]["enabled"]
    assert [plugin["name"] for plugin in enabled] == ["NodeResourcesFit", "DefaultBinder", "PrioritySort"]


@pytest.mark.parametrize("lists", [{}, {"pods": None}, {"pvs": [], "schedulerConfig": None}])
def test_lists_may_be_missing_or_null(lists: dict[str, Any]) -> None:
    """An empty list, a null and none at all are the same."""
    value = {"nodes": [{"metadata": {"name": "n1"}, "status": {"allocatable": {"pods": "1"}}}], **lists}
    for text in (json.dumps(value), yaml.safe_dump(value)):
        assert [key_of(o) for o in load(text).objects] == [("Node", "n1")]


def test_a_misspelt_list_is_named() -> None:
    """What is no part of a snapshot is said, with what was probably meant."""
    notes = notes_of(load('{"nodes": [], "storageclasses": []}'))
    assert (
        "'storageclasses' is ignored: it is not part of a snapshot: did you mean 'storageClasses'?" in notes
    )


def test_recorded_results_are_readable_as_data() -> None:
    """What a real scheduler wrote down stands in the scenario, beside the node that it chose."""
    [[known]] = load(FILE.read_bytes()).recorded().values()
    assert (known.pod, known.node, known.bound) == ("default/p1", "n1", True)
    assert known.results["filter-result"] == {"n1": {"NodeName": "passed"}}


def exported(scenario: Scenario) -> dict[str, Any]:
    """Return the snapshot of a run's end, as it is read from a file."""
    simulation, notes = Simulation(scenario, trace=True, quirk_effects=False), ResultNotes()
    for cycle in simulation:
        notes.take(cycle)
    made: dict[str, Any] = json.loads(json.dumps(snapshot(ending_documents(simulation), notes.annotations())))
    return made


@pytest.mark.parametrize("example", [e for e in examples() if e.slug != "five-hundred"], ids=lambda e: e.slug)
def test_an_exported_snapshot_reads_back_as_the_final_cluster(example: Example) -> None:
    """Every object that a snapshot has a list for, and every pod on its node."""
    scenario = example.load()
    simulation = Simulation(scenario, trace=False)
    for _ in simulation:
        pass
    ended = load_documents(ending_documents(simulation), expand=False)
    kinds = {kind for _, kind in LISTS.values()}
    again = load(json.dumps(exported(scenario)), expand=False)
    assert {key_of(o) for o in again.objects} == {key_of(o) for o in ended.objects if key_of(o)[0] in kinds}
    places = {o.meta.key: o.node_name for o in again.objects if isinstance(o, Pod) and not o.terminal}
    assert places == {key: node for key, node in simulation.placement().items() if key in places}
    assert len(places) == len(simulation.placement())


def test_the_end_of_a_run_has_what_operations_changed() -> None:
    """A patched node is exported as patched, with the fields that are not read; what is deleted is gone."""
    text = """
apiVersion: v1
kind: Node
metadata: {name: n1, annotations: {kept: "yes"}}
spec: {podCIDR: 10.0.0.0/24}
status: {allocatable: {cpu: 1, pods: 10}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 1, pods: 10}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}
---
kind: Scenario
spec:
  operations:
  - step: 1
    patchOperation: {typeMeta: {kind: Node}, objectMeta: {name: n1}, patch: {spec: {unschedulable: true}}}
  - {step: 1, deleteOperation: {typeMeta: {kind: Node}, objectMeta: {name: n2}}}
  - step: 2
    createOperation:
      object: {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c}]}}
"""
    simulation = Simulation(load(text), trace=False)
    for _ in simulation:
        pass
    documents = ending_documents(simulation)
    named = {str(d["metadata"]["name"]): d for d in documents}
    assert "n2" not in named
    assert named["n1"]["spec"] == {"podCIDR": "10.0.0.0/24", "unschedulable": True}
    assert named["n1"]["metadata"]["annotations"] == {"kept": "yes"}
    assert "nodeName" not in named["b"]["spec"]


TEMPLATE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 8, memory: 8Gi, pods: 50}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: example.com/disk}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 1
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c}]}}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
kind: Scenario
spec:
  operations:
  - time: 10
    patchOperation: {typeMeta: {kind: StatefulSet}, objectMeta: {name: db}, patch: {spec: {replicas: 3}}}
"""
VIRTUAL = "---\nkind: SimulationSettings\ntime: virtual\n"


V1_11 = "---\nkind: SimulationSettings\nscheduler: v1.11\n"


@pytest.mark.parametrize("settings", [V1_11, VIRTUAL, ""], ids=["standing", "virtual", "v1.37"])
def test_what_controllers_made_is_exported_too(settings: str) -> None:
    """Pods, claims and the volumes provisioned for them have manifests that load as the same cluster."""
    simulation = simulate(load(TEMPLATE + settings), trace=False)
    for _ in simulation:
        pass
    presumed = "v1.11" if settings == V1_11 else "v1.37"
    again = load_documents(ending_documents(simulation), presumed=presumed)
    pods = {o.meta.key: o.node_name for o in again.objects if isinstance(o, Pod)}
    assert pods == simulation.placement()
    assert len(pods) == 3
    claims = [o for o in again.objects if isinstance(o, PersistentVolumeClaim)]
    assert len(claims) == 3
    volumes = {o.meta.name: o.claim_ref for o in again.objects if isinstance(o, PersistentVolume)}
    assert volumes == {claim.volume_name: claim.meta.key for claim in claims if claim.volume_name}
    assert bool(volumes) is (settings != V1_11)


def test_the_results_of_each_attempt_are_annotations_as_the_simulator_writes_them() -> None:
    """Passed or the reason for each node, scores as texts, the chosen node as plain text, and the history."""
    small = {"metadata": {"name": "n0"}, "status": {"allocatable": {"cpu": "100m", "pods": "10"}}}
    nodes = [
        {
            "metadata": {"name": f"n{n}"},
            "status": {"allocatable": {"cpu": str(n), "memory": "1Gi", "pods": "9"}},
        }
        for n in (1, 2)
    ]
    container = {"name": "c", "resources": {"requests": {"cpu": "500m"}}}
    pods = [{"metadata": {"name": "a"}, "spec": {"containers": [container]}}]
    made = exported(load(json.dumps({"nodes": [small, *nodes], "pods": pods})))
    annotations = made["pods"][0]["metadata"]["annotations"]
    filtered = json.loads(annotations[PREFIX + "filter-result"])
    assert "Insufficient cpu" in filtered["n0"].values()
    assert set(filtered["n2"].values()) == {"passed"}
    scores = json.loads(annotations[PREFIX + "finalscore-result"])
    assert scores.keys() == {"n1", "n2"}
    assert all(text.isdecimal() for by_plugin in scores.values() for text in by_plugin.values())
    assert annotations[PREFIX + "selected-node"] == made["pods"][0]["spec"]["nodeName"] == "n2"
    [attempt] = json.loads(annotations[PREFIX + "result-history"])
    assert attempt[PREFIX + "filter-result"] == annotations[PREFIX + "filter-result"]


def test_export_writes_each_format_to_standard_output(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The bundle reads back as itself, the manifests hold the placements, the snapshot the configuration."""
    assert main(["export", str(FILE)]) == 0
    scenario = load(FILE.read_bytes())
    assert load(capsys.readouterr().out).id == scenario.id
    assert main(["export", str(FILE), "--format", "manifests"]) == 0
    ended = load(capsys.readouterr().out)
    assert {o.node_name for o in ended.objects if isinstance(o, Pod)} == {"n1"}
    assert main(["export", str(FILE), "--format", "simulator"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert set(made) == {*LISTS, CONFIG}
    assert made[CONFIG]["profiles"][0]["schedulerName"] == "default-scheduler"
    assert main(["export", str(FILE), "--format", "simulator", "--start"]) == 0
    start = json.loads(capsys.readouterr().out)
    assert [pod["spec"].get("nodeName") for pod in start["pods"]] == ["n1", None]
    service = tmp_path / "service.yaml"
    service.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: web}\n")
    assert main(["export", str(FILE), str(service), "--format", "simulator"]) == 0
    assert "left out: 1 Service: a snapshot has no list for it" in capsys.readouterr().err
