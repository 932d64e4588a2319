"""kube-scheduler v1.37 beside others: alone and reported at once it decides as in a run of its own."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from scheduler_core import load
from scheduler_core.explain import explain
from scheduler_core.record.cycle import Decision
from scheduler_core.run.several.simulation import SeveralSimulation
from scheduler_core.run.several.v1_37_peer import V1_37Peer
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from tests.core.trials import trials

ZONES = ("a", "b")
SETTINGS: dict[str, Any] = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "until": 30}
ALONE = {**SETTINGS, "scheduler": "v1.37"}
BESIDE = {
    **SETTINGS,
    "time": "virtual",
    "scheduler": "v1.22",
    "schedulers": [{"name": "default-scheduler", "runs": "v1.37"}],
}


def node(name: str, cpu: int, zone: str, taint: str) -> dict[str, Any]:
    """Return a node's manifest; ``taint`` is an effect, "" for none."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}},
        "spec": {"taints": [{"key": "own", "value": "yes", "effect": taint}] if taint else []},
        "status": {
            "allocatable": {"cpu": str(cpu), "memory": "16Gi", "pods": "6"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


NODES = st.builds(
    node,
    st.just(""),
    st.integers(1, 4),
    st.sampled_from(ZONES),
    st.sampled_from(("", "", "PreferNoSchedule", "NoSchedule")),
)
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
        ]
    }
}
EXTRAS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"nodeSelector": {"zone": "a"}},
    {"tolerations": [{"operator": "Exists"}]},
    {"topologySpreadConstraints": [SPREAD]},
    {"affinity": APART},
    {"schedulingGates": [{"name": "later"}]},
)


def pod(cpu: int, app: str, priority: int, extra: dict[str, Any]) -> dict[str, Any]:
    """Return a pod's manifest without a name."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "", "labels": {"app": app}},
        "spec": {
            "priority": priority,
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": f"{cpu}00m"}}}],
            **extra,
        },
    }


PODS = st.builds(
    pod,
    st.integers(1, 25),
    st.sampled_from(("web", "db")),
    st.sampled_from((0, 0, 5, 9)),
    st.sampled_from(EXTRAS),
)


def named(drawn: list[dict[str, Any]], prefix: str) -> list[dict[str, Any]]:
    """Return manifests with names of their own."""
    out = []
    for place, one in enumerate(drawn):
        meta = {**one["metadata"], "name": f"{prefix}{place}"}
        if "labels" in meta and "kubernetes.io/hostname" in meta["labels"]:
            meta["labels"] = {**meta["labels"], "kubernetes.io/hostname": meta["name"]}
        out.append({**one, "metadata": meta})
    return out


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return a cluster with what happens to it: later pods, a deleted one, a node that loses its taint."""
    nodes = named(draw(st.lists(NODES, min_size=1, max_size=5)), "n")
    pods = named(draw(st.lists(PODS, min_size=1, max_size=8)), "p")
    later = named(draw(st.lists(PODS, max_size=3)), "later")
    operations: list[dict[str, Any]] = [{"createOperation": {"object": one}} for one in later]
    if draw(st.booleans()):
        gone = draw(st.sampled_from(pods))["metadata"]["name"]
        target = {"typeMeta": {"apiVersion": "v1", "kind": "Pod"}, "objectMeta": {"name": gone}}
        operations.append({"deleteOperation": target})
    if draw(st.booleans()):
        opened = draw(st.sampled_from(nodes))["metadata"]["name"]
        target = {"typeMeta": {"apiVersion": "v1", "kind": "Node"}, "objectMeta": {"name": opened}}
        operations.append({"patchOperation": {**target, "patch": json.dumps({"spec": {"taints": []}})}})
    listed = [{"time": 2 + place, **one} for place, one in enumerate(operations)]
    scenario = {"kind": "Scenario", "spec": {"controllers": [], "operations": listed}}
    return [*nodes, *pods, scenario]


def bundle(settings: dict[str, Any], documents: list[dict[str, Any]]) -> str:
    """Return a bundle's text."""
    return "\n---\n".join(json.dumps(one) for one in (settings, *documents))


def decisions(simulation: SeveralSimulation | V1_37Simulation) -> list[Decision]:
    """Return all decisions of a run."""
    return [cycle.decision for cycle in simulation]


@tried(max_examples=trials(40), deadline=None)
@given(documents=histories())
def test_alone_and_reported_at_once_it_decides_as_in_a_run_of_its_own(
    documents: list[dict[str, Any]],
) -> None:
    """The shared clock, its own cluster that follows manifests, and the writes change no decision."""
    alone = V1_37Simulation(load(bundle(ALONE, documents)), trace=False)
    beside = SeveralSimulation(load(bundle(BESIDE, documents)), trace=False)
    assert decisions(beside) == decisions(alone)
    assert beside.placement() == alone.placement()


def ran(*schedulers: dict[str, Any], documents: list[dict[str, Any]]) -> SeveralSimulation:
    """Return a simulation of schedulers side by side that has run to its end."""
    made = SeveralSimulation(load(bundle({**BESIDE, "schedulers": list(schedulers)}, documents)), trace=True)
    list(made)
    return made


def pods(number: int, cpu: int, prefix: str = "p", **spec: Any) -> list[dict[str, Any]]:
    """Return pods of so many tenths of a CPU."""
    return named([pod(cpu, "web", 0, spec) for _ in range(number)], prefix)


def nodes(number: int, cpu: int = 4) -> list[dict[str, Any]]:
    """Return nodes without taints."""
    return named([node("", cpu, ZONES[place % 2], "") for place in range(number)], "n")


def failures(made: SeveralSimulation, key: str) -> list[tuple[float, str]]:
    """Return when a pod failed to be scheduled or bound, and why."""
    again = SeveralSimulation(made.scenario, trace=True)
    reported = [one for cycle in again for one in (*cycle.happenings, *cycle.consequences)]
    return [(one.time, one.text) for one in reported if one.what == "FailedScheduling" and one.about == key]


def test_a_lost_binding_is_forgotten_and_backs_off_for_a_second() -> None:
    """Of two replicas one is answered 409; it waits out its backoff, and is not tried at once."""
    late = {"runs": "v1.37", "watchDelay": 5, "bindDelay": 0.1, "replicas": 2}
    made = ran({"name": "default-scheduler", **late}, documents=[*nodes(2), *pods(1, 5)])
    times = [cycle.time for cycle in SeveralSimulation(made.scenario)]
    assert times[:2] == [0.001, 0.001]
    # Both replicas begin with the pod. The loser hears of 409 at 0.101 s; its backoff of 1 s, from the second
    # of its end on, is over at 2 s, long before it is mentioned the binding at 5.101 s.
    assert times[2] == 2.0
    assert made.placement() == {"default/p0": "n0"}
    current = [peer for peer in made.peers if isinstance(peer, V1_37Peer)]
    assert len(current) == 2
    for peer in current:
        assert peer.view.scheduler_run.cluster.pods["default/p0"].node == "n0"
        assert not peer.view.reserved


def test_what_is_assumed_counts_once_and_until_the_watch_tells() -> None:
    """Two pods of 3 CPUs each on nodes of 4: late or not, each node holds one."""
    late = {"runs": "v1.37", "watchDelay": 40, "bindDelay": 5}
    made = ran({"name": "default-scheduler", **late}, documents=[*nodes(2), *pods(3, 30)])
    assert sorted(made.placement().values()) == ["", "n0", "n1"]
    (peer,) = (peer for peer in made.peers if isinstance(peer, V1_37Peer))
    counted = peer.view.scheduler_run.cluster.nodes
    assert [int(counted.pod_counts[counted.rows[name]]) for name in ("n0", "n1")] == [1, 1]


def test_preemption_waits_for_its_victims_and_nominates_at_once() -> None:
    """The preemptor is not tried before the last eviction has arrived; its room is not given away."""
    (urgent,) = pods(1, 30, "urgent", priority=9)
    listed = [{"time": 1, "createOperation": {"object": one}} for one in (urgent, *pods(1, 30, "late"))]
    documents = [*nodes(1), *pods(1, 30), {"kind": "Scenario", "spec": {"operations": listed}}]
    delays = {"watchDelay": 0.5, "bindDelay": 0.25}
    made = ran({"name": "default-scheduler", "runs": "v1.37", **delays}, documents=documents)
    assert made.placement() == {"default/urgent0": "n0", "default/late0": ""}
    tried = [(one.pod, one.result) for one in made.decisions]
    assert tried[:2] == [("default/p0", "scheduled"), ("default/urgent0", "unschedulable")]
    assert made.decisions[1].victims == ("default/p0",)
    assert made.decisions[1].nominated == "n0"
    cycles = [cycle for cycle in SeveralSimulation(made.scenario) if cycle.pod == "default/urgent0"]
    # 1.5 s: heard of; 1.75 s: evicted; 2 s: ended by its kubelet; 2.5 s: heard of.
    assert [round(cycle.time, 3) for cycle in cycles] == [1.5, 2.5]
    assert made.ledger.tallies["default-scheduler"].evictions == 1


def test_fields_that_only_v1_37_reads_reach_it_from_templates_and_operations() -> None:
    """A Deployment's pods spread as its template says; a patch of a field without a typed one counts."""
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {**pods(1, 5)[0]["spec"], "topologySpreadConstraints": [SPREAD]},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    alike = named([node("", 8, "a", ""), node("", 1, "b", "")], "n")
    sized = {"typeMeta": {"apiVersion": "v1", "kind": "Pod"}, "objectMeta": {"name": "big0"}}
    less = {"spec": {"resources": {"requests": {"cpu": "100m"}}}}
    big = pods(1, 90, "big", resources={"requests": {"cpu": "9"}})
    scenario = {
        "kind": "Scenario",
        "spec": {"operations": [{"time": 5, "patchOperation": {**sized, "patch": json.dumps(less)}}]},
    }
    made = ran({"name": "default-scheduler", "runs": "v1.37"}, documents=[*alike, deployment, *big, scenario])
    spread = [where for key, where in made.placement().items() if "/web-" in key]
    assert sorted(spread) == ["n0", "n0", "n1", "n1"]
    tries = [(one.pod, one.result) for one in made.decisions if one.pod == "default/big0"]
    assert tries == [("default/big0", "unschedulable"), ("default/big0", "scheduled")]
    reported = [problem.message for problem in made.scenario.warnings]
    assert any("in v1.37's decisions alone" in text for text in reported)


LOCAL = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "local"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def volume(name: str, where: str) -> dict[str, Any]:
    """Return a volume on one node."""
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [where]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "local": {"path": "/x"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }


def claiming(name: str, scheduler: str) -> list[dict[str, Any]]:
    """Return a pod with a claim of its own."""
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "storageClassName": "local",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    used = [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]
    (made,) = pods(1, 1, volumes=used, schedulerName=scheduler)
    return [claim, {**made, "metadata": {**made["metadata"], "name": name}}]


def test_a_volume_that_another_scheduler_has_bound_fails_the_binding() -> None:
    """Both take the only volume; the one whose binding arrives last is refused, and its pod stays pending."""
    delays = {"watchDelay": 0.5, "decisionTime": 0.1}
    made = ran(
        {"name": "default-scheduler", "runs": "v1.37", "bindDelay": 0.1, **delays},
        {"name": "second", "runs": "v1.37", "bindDelay": 0.2, **delays},
        documents=[LOCAL, *nodes(2), volume("v", "n1"), *claiming("a", "second"), *claiming("b", "")],
    )
    storage = made.framework.cluster.storage
    assert made.placement() == {"default/a": "", "default/b": "n1"}
    assert (storage.claims["default/b"].volume_name, storage.claims["default/a"].volume_name) == ("v", "")
    first, *_ = failures(made, "default/a")
    assert first[1].endswith('volume "v" already bound to a different claim')
    assert made.ledger.tallies["second"].noticed["apiServer"] == 1


LATE = {"watchDelay": 0.1, "decisionTime": 0.01, "bindDelay": 0.1}
GPU = "resource.k8s.io/v1"


def test_devices_are_allocated_beside_others() -> None:
    """A claim is made from its template, allocated with the binding, and free once its pod has ended."""
    exactly = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
    documents = [
        *nodes(2),
        {"apiVersion": GPU, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
        {"apiVersion": GPU, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {
            "driver": "gpu.example.com", "nodeName": "n1", "devices": [{"name": "gpu-0"}],
            "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        }},
        {"apiVersion": GPU, "kind": "ResourceClaimTemplate", "metadata": {"name": "one"},
         "spec": {"spec": {"devices": {"requests": [exactly]}}}},
    ]  # fmt: skip
    asking: dict[str, Any] = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}
    asked = [
        {**one, "metadata": {**one["metadata"], "annotations": {"podstep/run-seconds": "30"}}}
        for one in pods(2, 1, **asking, restartPolicy="Never")
    ]
    listed = [{"name": "default-scheduler", "runs": "v1.37", **LATE}, {"name": "second", **LATE}]
    others = pods(2, 1, "q", schedulerName="second")
    settings = {**BESIDE, "schedulers": listed, "until": 120}
    made = SeveralSimulation(load(bundle(settings, [*documents, *asked, *others])))
    cycles = list(made)
    placed = {pod: node for one in made.decisions for pod, node in one.placements}
    assert placed["default/p0"] == placed["default/p1"] == "n1"
    assert {"default/q0", "default/q1"} <= set(placed)
    assert made.unsettled == []
    times = [
        one.time for one in cycles if one.decision.placements and one.pod in ("default/p0", "default/p1")
    ]
    assert times[0] < 1
    assert times[1] > 30


def test_gangs_are_scheduled_as_groups_beside_others() -> None:
    """One decision places all members, whose bindings land together with those of another scheduler."""
    group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"},
             "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}  # fmt: skip
    members = pods(3, 20, schedulingGroup={"podGroupName": "g"})
    others = pods(2, 1, "q", schedulerName="second")
    settings = {**BESIDE, "featureGates": {"GenericWorkload": True}, "schedulers": [
        {"name": "default-scheduler", "runs": "v1.37", **LATE}, {"name": "second", **LATE},
    ]}  # fmt: skip
    made = SeveralSimulation(load(bundle(settings, [*nodes(2, 8), group, *members, *others])))
    cycles = list(made)
    (placing,) = (one for one in cycles if one.decision.further)
    assert {pod for pod, _ in placing.decision.placements} == {f"default/p{number}" for number in range(3)}
    assert all(made.placement()[f"default/q{number}"] for number in range(2))
    written = {event.what for one in cycles for event in (*one.happenings, *one.consequences)}
    assert "PodGroupSync" not in written  # Coscheduling's controller knows the groups of its own API group
    assert made.fork(trace=False).placement() == made.placement()


def test_provisioned_volumes_count_for_their_drivers_limit() -> None:
    """The node's CSINode admits one volume: the second pod's claim waits for a node."""
    storage_class = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"},
                     "provisioner": "csi.example", "volumeBindingMode": "WaitForFirstConsumer"}  # fmt: skip
    limited = {"name": "csi.example", "nodeID": "n0", "allocatable": {"count": 1}}
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n0"},
              "spec": {"drivers": [limited]}}  # fmt: skip
    claims = [
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": f"c{number}"},
         "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"],
                  "resources": {"requests": {"storage": "1Gi"}}}}
        for number in range(2)
    ]  # fmt: skip
    waiting = []
    for number in range(2):
        claim = {"name": "v", "persistentVolumeClaim": {"claimName": f"c{number}"}}
        waiting += named([pod(1, "web", 0, {"volumes": [claim]})], f"p{number}-")
    made = SeveralSimulation(load(bundle(BESIDE, [*nodes(1), storage_class, driver, *claims, *waiting])))
    messages = [one.message for one in made]
    assert sum(map(bool, made.placement().values())) == 1
    assert any("exceed max volume count" in (one or "") for one in messages)


def test_members_whose_bindings_failed_come_back_with_their_group() -> None:
    """Two replicas decide at once: what the slower one sends is refused, and its group backs off."""
    group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"},
             "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}  # fmt: skip
    settings = {**BESIDE, "featureGates": {"GenericWorkload": True}, "schedulers": [
        {"name": "default-scheduler", "runs": "v1.37", "replicas": 2, **LATE},
    ]}  # fmt: skip
    members = pods(2, 20, schedulingGroup={"podGroupName": "g"})
    made = SeveralSimulation(load(bundle(settings, [*nodes(2), group, *members])))
    assert [len(one.decision.placements) for one in made] == [2, 2]
    assert all(made.placement().values())
    assert made.unsettled == []


PACKING = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}
PACKER = {
    "schedulerName": "packer",
    "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": PACKING}}],
}
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [PACKER, {"schedulerName": "default-scheduler"}],
}


def test_one_release_reads_the_configuration_and_the_bundle_says_which() -> None:
    """A v1 document is v1.37's where it runs; its other profiles run v1.37 too, v1.22 has its defaults."""
    settings = {**BESIDE, "schedulers": [
        {"name": "packer", "runs": "v1.37", "watchDelay": 0.1}, {"name": "second", "watchDelay": 0.1},
    ]}  # fmt: skip
    documents = [CONFIGURATION, *nodes(2), *pods(2, 5, schedulerName="packer"), *pods(2, 5, "q")]
    scenario = load(bundle(settings, documents))
    reported = [problem.message for problem in scenario.warnings]
    assert any("schedulers that run v1.37 read it" in text for text in reported)
    asking = {**CONFIGURATION, "extenders": [{"urlPrefix": "http://127.0.0.1:9", "filterVerb": "filter"}]}
    warned = load(bundle(settings, [asking, *documents[1:]])).warnings
    assert any("its URL is not approved; declare its answers" in one.message for one in warned)
    made = SeveralSimulation(scenario)
    assert {peer.label: peer.runs for peer in made.peers} == {
        "packer": "v1.37",
        "second": "v1.22",
        "default-scheduler": "v1.37",
        "kube-batch": "kube-batch",
    }
    list(made)
    places = made.placement()
    assert places["default/p0"] == places["default/p1"]


def test_a_pod_is_explained_by_the_release_of_its_scheduler() -> None:
    """v1.37's message, on the view of its scheduler."""
    made = ran(
        {"name": "default-scheduler", "runs": "v1.37", "watchDelay": 0.1},
        documents=[*nodes(2), *pods(1, 5), *pods(1, 90, "big")],
    )
    placed, pending = explain(made, "default/p0"), explain(made, "default/big0", "n1")
    assert "by default-scheduler (kube-scheduler v1.37)" in placed.summary
    assert placed.node == "n0"
    assert pending.state == "pending"
    assert "does not fit on n1: NodeResourcesFit: Insufficient cpu." in pending.summary
    assert "Waiting for one of these events" in pending.summary
