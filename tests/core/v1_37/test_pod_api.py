"""Fields of the pod API that kube-scheduler v1.37 decides by, from a plain bundle: node or message."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core import load
from scheduler_core.run import simulate

SETTINGS = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37"}
NO_VICTIMS = "No preemption victims found for incoming pod."
UNHELPFUL = "Preemption is not helpful for scheduling."
UNMATCHED = (
    "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/1 nodes are "
    f"available: 1 {UNHELPFUL}"
)
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
Manifest = dict[str, Any]


def node(name: str = "n1", cpu: str = "4", zone: str = "", taints: list[Manifest] | None = None) -> Manifest:
    """Return a node of 4 CPU for 10 pods."""
    labels = {HOST: name, **({ZONE: zone} if zone else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints or []},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}},
    }


def pod(name: str, cpu: str = "", app: str = "", **spec: Any) -> Manifest:
    """Return a pod; ``namespace`` and ``status`` are not of its specification."""
    meta = {
        "name": name,
        "labels": {"app": app} if app else {},
        "namespace": spec.pop("namespace", "default"),
    }
    status = spec.pop("status", {})
    container: Manifest = {"name": "c", "image": "i"}
    if cpu:
        container["resources"] = {"requests": {"cpu": cpu}}
    body = {"containers": [container], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": body, "status": status}


def storage_class(**fields: str) -> Manifest:
    """Return the StorageClass ``std``."""
    version = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
    return {**version, "metadata": {"name": "std"}, **fields}


def with_claim() -> list[Manifest]:
    """Return a claim of that class, and a pod that uses it."""
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "std"}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {**spec, "resources": {"requests": {"storage": "1Gi"}}},
    }
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
    return [claim, pod("p", volumes=[volume])]


def init(cpu: str, **more: str) -> Manifest:
    """Return an init container."""
    return {"name": "i" + cpu, "image": "i", "resources": {"requests": {"cpu": cpu}}, **more}


def away_from_db(**selector: Any) -> Manifest:
    """Return an anti-affinity to pods of the app ``db`` on one node."""
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "db"}}, **selector}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def zones(operator: str, *values: str) -> Manifest:
    """Return a required node affinity to zones."""
    term = {"matchExpressions": [{"key": ZONE, "operator": operator, "values": values}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def tolerating(operator: str, value: str) -> list[Manifest]:
    """Return a toleration of the taint ``sla``."""
    return [{"key": "sla", "operator": operator, "value": value, "effect": "NoSchedule"}]


SLA = [{"key": "sla", "value": "950", "effect": "NoSchedule"}]
SPREAD = [
    {
        "maxSkew": 1,
        "minDomains": 3,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "w"}},
    }
]
DAEMON: Manifest = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "agent"},
    "spec": {
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {"metadata": {"labels": {"app": "agent"}}, "spec": pod("x", "5")["spec"]},
    },
}
POLITE = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "polite"}}
FULL = f"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 {NO_VICTIMS}"
TOO_LARGE = f"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 {UNHELPFUL}"
NEVER = "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."
TAINTED = (
    "0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: 1 "
    + UNHELPFUL
)

CASES: dict[str, tuple[list[Manifest], dict[str, str]]] = {
    "a sidecar counts beside the containers": (
        [
            node(),
            pod("a", "2", initContainers=[init("1500m", restartPolicy="Always")]),
            pod("b", "600m"),
            pod("c", "500m"),
        ],
        {"a": "n1", "b": FULL, "c": "n1"},
    ),
    "a sidecar counts beside an init container that starts after it": (
        [
            node(),
            pod("a", "1", initContainers=[init("1", restartPolicy="Always"), init("3500m")]),
            pod("b", "1", initContainers=[init("3500m"), init("1", restartPolicy="Always")]),
        ],
        {"a": TOO_LARGE, "b": "n1"},
    ),
    "requests of the pod as a whole replace its containers'": (
        [node(), pod("a", "1", resources={"requests": {"cpu": "3"}}), pod("b", "1500m"), pod("c", "1")],
        {"a": "n1", "b": FULL, "c": "n1"},
    ),
    "overhead is added": (
        [node(), pod("a", "3", overhead={"cpu": "500m"}), pod("b", "600m"), pod("c", "500m")],
        {"a": "n1", "b": FULL, "c": "n1"},
    ),
    "preemptionPolicy Never": (
        [node(), pod("low", "4", nodeName="n1"), pod("p", "2", priority=9, preemptionPolicy="Never")],
        {"p": NEVER},
    ),
    "preemptionPolicy Never of a class": (
        [
            {**POLITE, "value": 9, "preemptionPolicy": "Never"},
            *(node(), pod("low", "4", nodeName="n1"), pod("p", "2", priorityClassName="polite")),
        ],
        {"p": NEVER},
    ),
    "an empty namespaceSelector selects every namespace": (
        [
            *(node(), pod("db", app="db", namespace="prod", nodeName="n1")),
            pod("all", affinity=away_from_db(namespaceSelector={})),
            pod("own", affinity=away_from_db()),
        ],
        {
            "all": "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. preemption: 0/1 "
            f"nodes are available: 1 {NO_VICTIMS}",
            "own": "n1",
        },
    ),
    "a StorageClass without volumeBindingMode binds at once": (
        [node(), storage_class(provisioner="csi.example.com"), *with_claim()],
        {"p": "n1"},
    ),
    "a StorageClass that nothing provisions for": (
        [node(), storage_class(), *with_claim()],
        {"p": "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"},
    ),
    "WaitForFirstConsumer with a provisioner": (
        [
            node(),
            storage_class(provisioner="csi.example.com", volumeBindingMode="WaitForFirstConsumer"),
            *with_claim(),
        ],
        {"p": "n1"},
    ),
    "WaitForFirstConsumer without a provisioner": (
        [
            node(),
            storage_class(
                provisioner="kubernetes.io/no-provisioner", volumeBindingMode="WaitForFirstConsumer"
            ),
            *with_claim(),
        ],
        {
            "p": "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind. "
            f"preemption: 0/1 nodes are available: 1 {UNHELPFUL}"
        },
    ),
    "Gt and Lt compare the taint's value with the toleration's": (
        [
            {**SETTINGS, "featureGates": {"TaintTolerationComparisonOperators": True}},
            node(taints=SLA),
            pod("above", tolerations=tolerating("Gt", "900")),
            pod("equal", tolerations=tolerating("Gt", "950")),
            pod("below", tolerations=tolerating("Lt", "1000")),
        ],
        {"above": "n1", "equal": TAINTED, "below": "n1"},
    ),
    "Gt without its feature gate tolerates nothing": (
        [node(taints=SLA), pod("above", tolerations=tolerating("Gt", "900"))],
        {"above": TAINTED},
    ),
    "a pod of a DaemonSet that fits nowhere waits with its reason": (
        [node("n1"), node("n2", "6"), DAEMON],
        {
            "agent": "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) "
            f"[NodeAffinity]. preemption: 0/2 nodes are available: 2 {UNHELPFUL}"
        },
    ),
    "a node affinity with a value that no label has matches no node": (
        [
            node(zone="a"),
            pod("one", affinity=zones("In", "a", "a b")),
            pod("none", affinity=zones("NotIn", "a b")),
            pod("without", affinity=zones("NotIn", "b")),
        ],
        {"one": UNMATCHED, "none": UNMATCHED, "without": "n1"},
    ),
    "minDomains 3 in two zones admits one pod a zone": (
        [
            *(node("n1", zone="a"), node("n2", zone="b")),
            *(pod(f"w{number}", app="w", topologySpreadConstraints=SPREAD) for number in range(3)),
        ],
        {
            "w0": "n1",
            "w1": "n2",
            "w2": "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints. "
            f"preemption: 0/2 nodes are available: 2 {NO_VICTIMS}",
        },
    ),
}


def outcomes(documents: list[Manifest]) -> dict[str, str]:
    """Return the node or the message of each pod's last cycle; a controller's failed pod by its name."""
    settings = [] if documents[0]["kind"] == "SimulationSettings" else [SETTINGS]
    found = {}
    for cycle in simulate(load("\n---\n".join(map(json.dumps, [*settings, *documents])))):
        name = cycle.pod.removeprefix("default/")
        found[name.partition("-")[0] if cycle.node is None else name] = cycle.node or cycle.message or ""
    return {name: reported for name, reported in found.items() if not name.startswith("agent-")}


@pytest.mark.parametrize("case", CASES)
def test_the_decision_is_kube_schedulers(case: str) -> None:
    """Each pod is on its node, or waits with the whole message of its condition."""
    documents, expected = CASES[case]
    assert outcomes(documents) == expected


def test_preemption_takes_the_pod_that_started_last() -> None:
    """Of two nodes whose victims are alike, the one whose pod started later; the other keeps its pod."""
    started = "2026-0{}-01T00:00:00Z"
    running = [
        pod(name, "2", nodeName=on, status={"phase": "Running", "startTime": started.format(month)})
        for name, on, month in (("old", "n1", 1), ("young", "n2", 2))
    ]
    documents = [SETTINGS, node("n1", "2"), node("n2", "2"), *running, pod("high", "1", priority=10)]
    first, second = simulate(load("\n---\n".join(map(json.dumps, documents))))
    found = "found a potential placement for pod on node n2, preempting 1 victims"
    assert first.message == f"0/2 nodes are available: 2 Insufficient cpu. preemption: {found}"
    assert (first.decision.nominated, first.decision.victims) == ("n2", ("default/young",))
    assert second.node == "n2"


def test_the_gate_of_gt_and_lt_is_named_where_it_is_off() -> None:
    """And nothing is reported where it is on."""
    documents = [node(taints=SLA), pod("above", tolerations=tolerating("Gt", "900"))]
    settings = {**SETTINGS, "featureGates": {"TaintTolerationComparisonOperators": True}}
    off, on = (load("\n---\n".join(map(json.dumps, [one, *documents]))) for one in (SETTINGS, settings))
    reported = " ".join(problem.message for problem in off.warnings)
    assert "write featureGates: {TaintTolerationComparisonOperators: true} into the Simulation" in reported
    assert on.warnings == ()
