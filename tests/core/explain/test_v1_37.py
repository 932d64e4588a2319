"""Under kube-scheduler v1.37: numbers per node, and changes that v1.37 itself confirms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scheduler_core import load, load_documents
from scheduler_core.__main__ import main
from scheduler_core.explain import Explanation, explain
from scheduler_core.formats.patch import apply_patch
from scheduler_core.run import simulate
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from tests.core.engine.builders import node, obj, pod

Document = dict[str, Any]


def current(name: str, **fields: Any) -> Document:
    """Return a node of today: the kubelet's version lets v1.37 answer."""
    made = node(name, **fields)
    made.setdefault("status", {})["nodeInfo"] = {"kubeletVersion": "v1.33.2"}
    return made


def cli(path: Path, capsys: pytest.CaptureFixture[str], documents: list[Document], *more: str) -> Document:
    """Return the JSON answer of ``explain`` about the pod default/p."""
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}), encoding="utf-8")
    assert main(["explain", str(path), "--pod", "p", "--json", *more]) == 0
    answer: Document = json.loads(capsys.readouterr().out)
    assert all(placed(documents, change["patches"]) for change in answer["changes"])
    return answer


def placed(documents: list[Document], patches: list[Mapping[str, Any]], key: str = "default/p") -> bool:
    """Return whether v1.37 places the pod in a cluster built anew with the patches."""
    items = {(doc["kind"], doc["metadata"]["name"]): doc for doc in documents}
    for patch in patches:
        name = (patch["kind"], patch["name"].rpartition("/")[2])
        if patch["action"] == "delete":
            del items[name]
        elif patch["action"] == "create":
            items[name] = patch["object"]
        else:
            items[name] = apply_patch(items[name], patch["patch"], patch["type"])
    scenario = load_documents(list(items.values()))
    assert scenario.release == "v1.37"
    again = simulate(scenario)
    for _ in again:
        pass
    return bool(again.placement()[key])


def words(answer: Document) -> list[list[str]]:
    """Return the sentences of each change."""
    return [change["words"] for change in answer["changes"]]


def test_a_taint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The fact is reported in the finding's words, and either side can be changed."""
    documents = [current("a", taints=["gpu:NoSchedule"]), pod("p")]
    answer = cli(tmp_path / "b.json", capsys, documents)
    (failure,) = answer["nodes"][0]["failures"]
    assert (failure["predicate"], failure["details"]) == (
        "TaintToleration",
        ["taint gpu:NoSchedule is not tolerated"],
    )
    assert words(answer) == [
        ["tolerate the taint gpu:NoSchedule"],
        ["remove the taint gpu:NoSchedule from node a"],
    ]
    assert [change["chosen"] for change in answer["changes"]] == ["a", "a"]


def test_a_node_selector(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The label is set on the node, or the pod's selector dropped; asked about one node as well."""
    documents = [current("a"), pod("p", nodeSelector={"disk": "nvme"})]
    expected = [["set label disk=nvme on node a"], ["drop disk=nvme from the pod's nodeSelector"]]
    answer = cli(tmp_path / "b.json", capsys, documents)
    assert words(answer) == expected
    assert answer["nodes"][0]["details"] == ["label disk is missing, wanted nvme"]
    one = cli(tmp_path / "b.json", capsys, documents, "--node", "a")
    assert words(one) == expected
    assert one["summary"].startswith("default/p does not fit on a: NodeAffinity: node(s) didn't match")


@pytest.mark.parametrize("prefix", ["topology.kubernetes.io", "failure-domain.beta.kubernetes.io"])
def test_the_zone_of_a_volume(prefix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Either label of the volume is compared with the node's; the zones are named, and a change is found."""
    size, modes = {"storage": "1Gi"}, ["ReadWriteOnce"]
    claim = obj(
        *("PersistentVolumeClaim", "c"),
        metadata={"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        spec={
            "storageClassName": "",
            "volumeName": "v",
            "accessModes": modes,
            "resources": {"requests": size},
        },
    )
    volume = obj(
        *("PersistentVolume", "v"),
        metadata={"labels": {f"{prefix}/zone": "b__c"}},
        spec={
            "capacity": size,
            "accessModes": modes,
            "claimRef": {"namespace": "default", "name": "c"},
            "csi": {"driver": "csi.example.com", "volumeHandle": "v"},
        },
    )
    using = [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]
    zoned = current("a", labels={"topology.kubernetes.io/zone": "a"})
    answer = cli(tmp_path / "b.json", capsys, [zoned, claim, volume, pod("p", volumes=using)])
    (failure,) = answer["nodes"][0]["failures"]
    assert (failure["predicate"], failure["details"]) == (
        "VolumeZone",
        [f"volume v is in {prefix}/zone=b__c, the node in a"],
    )
    assert [f"drop the label {prefix}/zone of PersistentVolume v"] in words(answer)


def test_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers, and four changes: a smaller request, a larger node, and a pod less."""
    tight = current("a", allocatable={"cpu": "2", "memory": "4Gi", "pods": "10"})
    documents = [tight, pod("other", {"cpu": "1500m"}, on="a"), pod("p", {"cpu": "1"})]
    answer = cli(tmp_path / "b.json", capsys, documents)
    (numbers,) = answer["nodes"][0]["numbers"]
    assert numbers == {
        "resource": "cpu",
        "requested": "1",
        "free": "500m",
        "shortBy": "500m",
        "allocatable": "2",
        "used": "1500m",
    }
    assert ["lower the pod's cpu request from 1 to 500m"] in words(answer)
    assert ["add 500m cpu to node a, from 2 allocatable to 2500m"] in words(answer)
    assert any(change["patches"][0]["action"] == "delete" for change in answer["changes"])


def test_several_reasons_are_answered_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A node's evaluation ends at its first failing plugin; a change has to satisfy all of them."""
    small = current("a", taints=["gpu:NoSchedule"], allocatable={"cpu": "1", "memory": "1Gi", "pods": "9"})
    answer = cli(tmp_path / "b.json", capsys, [small, pod("p", {"cpu": "2"}, nodeSelector={"disk": "nvme"})])
    assert answer["changes"]
    assert all(len(change["words"]) == 3 for change in answer["changes"])


def test_what_only_the_release_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Overhead counts under v1.37 alone: it is in the numbers, and in what the node would need."""
    tight = current("a", allocatable={"cpu": "1", "memory": "1Gi", "pods": "9"})
    heavy = pod("p", {"cpu": "900m"})
    heavy["spec"]["overhead"] = {"cpu": "200m"}
    answer = cli(tmp_path / "b.json", capsys, [tight, heavy])
    (numbers,) = answer["nodes"][0]["numbers"]
    assert (numbers["requested"], numbers["shortBy"]) == ("1100m", "100m")
    assert words(answer) == [
        ["add 100m cpu to node a, from 1 allocatable to 1100m"],
        ["add a node like a (cpu 1, memory 1Gi), but with 2 cpu"],
    ]


def test_too_many_pods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The number of pods is a resource as any other."""
    full = current("a", allocatable={"cpu": "4", "memory": "4Gi", "pods": "1"})
    answer = cli(tmp_path / "b.json", capsys, [full, pod("q", on="a"), pod("p")])
    (numbers,) = answer["nodes"][0]["numbers"]
    assert (numbers["resource"], numbers["free"], numbers["shortBy"]) == ("pods", "0", "1")
    assert ["add 1 pods to node a, from 1 allocatable to 2"] in words(answer)


def spread_over_zones(**more: Any) -> list[Document]:
    """Return a pod spread over two zones; the one without such a pod has a taint."""
    spread = pod("p", labels={"app": "web"})
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        **more,
    }
    spread["spec"]["topologySpreadConstraints"] = [constraint]
    return [
        current("a", labels={"zone": "1"}),
        current("b", labels={"zone": "2"}, taints=["gpu:NoSchedule"]),
        current("c"),
        pod("q", labels={"app": "web"}, on="a"),
        spread,
    ]


def test_spread_constraints_are_reported_by_domain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """How many pods each domain has, which is too many, and the change of the constraint that would help."""
    documents = spread_over_zones()
    answer = cli(tmp_path / "b.json", capsys, documents, "--node", "a")
    assert answer["nodes"][0]["details"] == [
        (
            "zone=1 would have 2 pods, this one included, that the constraint counts: "
            "2 more than the fewest of a domain, 0; maxSkew is 1"
        ),
        "pods that it counts by zone: 2 0, 1 1",
    ]
    assert "No change is searched for" not in answer["summary"]
    assert words(answer)[0] == ["set nodeTaintsPolicy: Honor in the pod's spread constraint on zone"]
    whole = cli(tmp_path / "b.json", capsys, documents)
    assert ["tolerate the taint gpu:NoSchedule"] in words(whole)


@pytest.mark.parametrize(
    ("more", "change"),
    [
        ({"nodeTaintsPolicy": "Honor", "minDomains": 2}, "set minDomains: 1"),
        ({"maxSkew": 1, "labelSelector": {"matchLabels": {"app": "web"}}}, "set nodeTaintsPolicy: Honor"),
    ],
)
def test_a_spread_constraint_is_changed_as_little_as_helps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: Document, change: str
) -> None:
    """Each proposal is verified by v1.37; the constraint is given up last."""
    answer = cli(tmp_path / "b.json", capsys, spread_over_zones(**more), "--node", "a")
    assert words(answer)[0] == [f"{change} in the pod's spread constraint on zone"]


def refusing(answer: Document) -> list[tuple[str, bool]]:
    """Return the plugins that refuse the first node, and whether v1.37 itself left each out."""
    return [(failure["predicate"], failure["further"]) for failure in answer["nodes"][0]["failures"]]


def test_the_spread_behind_a_shortage_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """v1.37 reports the shortage alone; why every change also sets maxSkew is said beside it."""
    documents = spread_over_zones()
    documents[-1]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "5"}}
    answer = cli(tmp_path / "b.json", capsys, documents, "--node", "a")
    assert refusing(answer) == [("NodeResourcesFit", False), ("PodTopologySpread", True)]
    assert answer["nodes"][0]["failures"][1]["details"][1] == "pods that it counts by zone: 2 0, 1 1"
    assert answer["summary"].startswith(
        "default/p does not fit on a: NodeResourcesFit: Insufficient cpu. PodTopologySpread (node(s) didn't "
        "match pod topology spread constraints) would refuse it as well."
    )
    whole = cli(tmp_path / "b.json", capsys, documents)
    listed = {
        tuple(group["nodes"]): [one["predicate"] for one in group["failures"]] for group in whole["groups"]
    }
    assert listed == {
        ("a",): ["NodeResourcesFit", "PodTopologySpread"],
        ("b",): ["TaintToleration", "NodeResourcesFit"],
        ("c",): ["NodeResourcesFit", "PodTopologySpread"],
    }


def missing_claim() -> list[Document]:
    """Return a pod whose claim does not exist, and which the only node has no room for."""
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "none"}}]
    return [current("a", taints=["gpu:NoSchedule"]), pod("p", {"cpu": "9"}, volumes=volumes)]


def named_node() -> list[Document]:
    """Return a pod that names another node than the only one, which has no room for it."""
    field = {"key": "metadata.name", "operator": "In", "values": ["b"]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return [current("b"), current("a"), pod("p", {"cpu": "9"}, affinity=affinity)]


def room_taken() -> list[Document]:
    """Return a pod for whose room another one is nominated, on a node with a taint."""
    waiting = pod("q", {"cpu": "3"}, priority=9, nominatedNodeName="a")
    tight = current("a", allocatable={"cpu": "4", "memory": "4Gi", "pods": "9"}, unschedulable=True)
    return [tight, waiting, pod("p", {"cpu": "2"})]


@pytest.mark.parametrize(
    ("documents", "own", "others"),
    [
        (
            missing_claim(),
            "VolumeRestrictions",
            ["VolumeBinding", "VolumeZone", "TaintToleration", "NodeResourcesFit", "NodeVolumeLimits"],
        ),
        (named_node(), "PreFilter", ["NodeResourcesFit"]),
        (room_taken(), "NodeUnschedulable", ["NodeResourcesFit"]),
    ],
    ids=["a claim is missing", "another node is named", "room is nominated"],
)
def test_what_else_would_refuse_a_node(documents: list[Document], own: str, others: list[str]) -> None:
    """Behind a rejection by PreFilter, on a node that is not among those named, for pods nominated there."""
    answer = explain(load_documents(documents), "default/p", "a", step="0").as_dict()
    assert refusing(answer) == [(own, False), *((name, True) for name in others)]


def test_a_node_without_the_label_by_which_pods_are_spread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It belongs to no domain; with the label of the one that has the fewest pods it fits."""
    answer = cli(tmp_path / "b.json", capsys, spread_over_zones(), "--node", "c")
    assert answer["nodes"][0]["details"] == ["the node has no label zone, by which the pods are spread"]
    assert words(answer)[0] == ["set label zone=2 on node c"]


def test_a_key_that_no_node_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt topologyKey: any value on the node makes a domain, or the constraint is given up."""
    documents = spread_over_zones(topologyKey="zoen")
    answer = cli(tmp_path / "b.json", capsys, documents, "--node", "a")
    assert words(answer)[:2] == [
        ["set label zoen=a on node a"],
        ["set whenUnsatisfiable: ScheduleAnyway in the pod's spread constraint on zoen"],
    ]


def asking_for_devices(
    requests: list[Document], devices: list[Document], *, held: str = "", same: str = ""
) -> list[Document]:
    """Return a node with devices, a claim, and a pod p that asks for it; another claim may hold a device."""
    asking = pod("p")
    asking["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "one"}]
    device_api = {"apiVersion": "resource.k8s.io/v1"}
    claimed: Document = {"devices": {"requests": requests}}
    if same:
        claimed["devices"]["constraints"] = [{"matchAttribute": same}]
    made = {**device_api, "kind": "ResourceClaim", "spec": claimed}
    driver = {"driver": "gpu.example.com", "pool": "a"}
    result = {"request": "r", **driver, "device": held}
    other = {
        **made,
        "metadata": {"name": "other", "namespace": "default"},
        "status": {"allocation": {"devices": {"results": [result]}}},
    }
    return [
        current("a"),
        {**device_api, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
        {
            **device_api,
            "kind": "ResourceSlice",
            "metadata": {"name": "a-gpus"},
            "spec": {
                "driver": "gpu.example.com",
                "nodeName": "a",
                "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
                "devices": devices,
            },
        },
        {**made, "metadata": {"name": "one", "namespace": "default"}},
        *([other] if held else []),
        asking,
    ]


def gpus(count: int = 1, name: str = "r", **more: Any) -> Document:
    """Return a request for devices."""
    return {"name": name, "exactly": {"deviceClassName": "gpu", "count": count, **more}}


ALONE = "each request alone has enough free devices, but "
TWO: list[Document] = [
    {"name": "gpu-0"},
    {"name": "gpu-1", "attributes": {"model": {"string": "b"}}},
]


def test_a_rule_without_proposals_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No change is searched for devices; the node's are counted."""
    answer = cli(tmp_path / "b.json", capsys, asking_for_devices([gpus(3)], TWO), "--node", "a")
    assert answer["summary"].endswith("No change is searched for to satisfy: DynamicResources.")
    assert answer["nodes"][0]["details"] == [
        "claim default/one, request r: 3 devices of class gpu; the node has 2, 2 of them free"
    ]
    assert answer["changes"] == []


def test_a_selector_that_fails_on_a_device_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Filter never evaluates it there; the facts say it."""
    selector = {"cel": {"expression": 'device.attributes["gpu.example.com"].model == "a"'}}
    documents = asking_for_devices([gpus(selectors=[selector])], TWO, held="gpu-0")
    (detail,) = cli(tmp_path / "b.json", capsys, documents, "--node", "a")["nodes"][0]["details"]
    assert (
        "none of the node's 2 devices is selected; selector #0 of claim default/one refuses 1, such as"
        in detail
    )
    assert "; a selector fails on a device: claim default/one: selector #0 on device" in detail


def test_the_selectors_that_refuse_devices_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With how many devices each refuses, an example and the expression, the greatest three at most."""
    texts = [f"device.driver != 'x{n}'" for n in range(2)] + ["has(device.attributes[device.driver].model)"]
    only_b = {"cel": {"expression": f"device.attributes[device.driver].model == 'a' {'|| false ' * 40}"}}
    selectors = [*({"cel": {"expression": text}} for text in texts), only_b]
    documents = asking_for_devices([gpus(selectors=selectors)], [*TWO, {"name": "gpu-2"}])
    (detail,) = cli(tmp_path / "b.json", capsys, documents, "--node", "a")["nodes"][0]["details"]
    start = "claim default/one, request r: 1 device of class gpu; none of the node's 3 devices is selected"
    most = f"selector #2 of claim default/one refuses 2, such as gpu.example.com/a/gpu-0: {texts[2]}"
    other = "selector #3 of claim default/one refuses 1, such as gpu.example.com/a/gpu-1: device.attributes"
    assert detail.startswith(f"{start}; {most}; {other}")
    assert detail.endswith("…")


def test_devices_that_are_enough_for_each_request_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What keeps them apart is said: the other requests, or a constraint by its attribute."""
    path = tmp_path / "b.json"
    several = asking_for_devices([gpus(2, "r"), gpus(1, "s")], TWO)
    assert cli(path, capsys, several, "--node", "a")["nodes"][0]["details"][2:] == [
        f"{ALONE}together with the other requests no allocation is found"
    ]
    same = "matchAttribute gpu.example.com/model"
    alike = asking_for_devices([gpus(2)], TWO, same="gpu.example.com/model")
    assert cli(path, capsys, alike, "--node", "a")["nodes"][0]["details"][1:] == [
        f"{ALONE}no allocation is found: the constraint {same} must hold for all devices of its requests"
    ]


def test_the_template_of_a_controller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pod of a Deployment is changed in its template, and keeps what only v1.37 reads."""
    template = pod("p", {"cpu": "500m"}, labels={"app": "web"})
    sidecar = {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "600m"}}}
    spec = {**template["spec"], "initContainers": [sidecar]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
        },
    }
    tight = current("a", allocatable={"cpu": "1", "memory": "1Gi", "pods": "9"}, taints=["gpu:NoSchedule"])
    documents = [tight, deployment]
    scenario = load(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
    key = next(iter(simulate(scenario).placement()))
    answer = explain(scenario, key)
    assert answer.changes
    for change in answer.changes:
        items = {"Node": tight, "Deployment": deployment}
        for patch in change.patches:
            items[patch["kind"]] = apply_patch(items[patch["kind"]], patch["patch"], patch["type"])
        again = simulate(load_documents(list(items.values())))
        for _ in again:
            pass
        assert set(again.placement().values()) == {"a"}, change.words


def test_why_not_the_other_node() -> None:
    """Of a placed pod: what failed elsewhere, and what would have helped there."""
    documents = [current("a", taints=["gpu:NoSchedule"]), current("b"), pod("p")]
    answer = explain(load_documents(documents), "default/p", "a")
    assert (answer.state, answer.node) == ("placed", "b")
    assert answer.summary.endswith("a did not fit: TaintToleration (node(s) had untolerated taint(s)).")
    assert answer.changes[0].words == ("tolerate the taint gpu:NoSchedule",)
    fitted = explain(load_documents([current("a"), current("b"), pod("p")]), "default/p", "a")
    assert fitted.changes == () and fitted.summary.endswith(("a fitted too.", "a."))


def test_the_simulation_is_left_as_it_is() -> None:
    """Trials run on a copy: the run goes on as if nothing had been asked."""
    documents = [current("a", taints=["gpu:NoSchedule"]), pod("q", on="a"), pod("p", {"cpu": "1"})]
    simulation = V1_37Simulation(load_documents(documents))
    while simulation.step() is not None:
        pass
    stored = {kind: dict(table) for kind, table in simulation.run.cluster.objects.items()}
    first: Explanation = explain(simulation, "default/p")
    assert first.changes
    assert explain(simulation, "default/p") == first
    assert simulation.run.cluster.objects == stored


def test_pods_that_share_a_host_port(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Deleting one of two pods with the port does not free it; each change is checked on a new cluster."""
    port = [{"hostPort": 8080}]
    documents = [
        current("a", allocatable={"cpu": "3", "memory": "4Gi", "pods": "9"}),
        pod("q", {"cpu": "500m"}, ports=port, on="a"),
        pod("r", {"cpu": "1500m"}, ports=port, on="a"),
        pod("p", {"cpu": "2"}, ports=port),
    ]
    answer = cli(tmp_path / "b.json", capsys, documents)
    deleted = [[p["name"] for p in c["patches"] if p["action"] == "delete"] for c in answer["changes"]]
    assert ["default/q", "default/r"] in [sorted(names) for names in deleted]


def test_a_gated_pod_is_held_by_name() -> None:
    """A pod that fits, but that PreEnqueue keeps out of the queue, is not said to fit only."""
    gated = pod("p", schedulingGates=[{"name": "example.com/wait"}])
    answer = explain(load_documents([current("a"), gated]), "default/p")
    assert "fits on 1 of 1 nodes. It is not tried before the plugin SchedulingGates lets it" in answer.summary
    free = explain(load_documents([current("a", taints=["gpu:NoSchedule"]), pod("p")]), "default/p")
    assert "SchedulingGates" not in free.summary


def test_the_search_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that ends early says so."""
    monkeypatch.setattr("scheduler_core.explain.v1_37.proposals.MOST_TRIALS", 1)
    answer = explain(load_documents([current("a", taints=["gpu:NoSchedule"]), pod("p")]), "default/p")
    assert answer.changes == ()
    assert "The search for changes ended early, after 1 trials." in answer.summary
