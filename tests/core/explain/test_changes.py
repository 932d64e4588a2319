"""Each reason kind as a sentence: what explain says of it, and that the change it shows really helps."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from scheduler_core.explain import Remedy, explain
from scheduler_core.formats.patch import apply_patch
from tests.core.engine.builders import Manifest, affinity, node, node_affinity, obj, pod, scenario, simulate

ZONE = "failure-domain.beta.kubernetes.io/zone"
TIGHT = {"cpu": "1", "memory": "1Gi", "pods": "10"}
WEB = {"labels": {"app": "web"}}
A, B = {"zone": "a"}, {"zone": "b"}
DELETE_X = "delete pod default/x (priority 9) from node n"
GCE = {"name": "v", "gcePersistentDisk": {"pdName": "d"}}


def claim(name: str, **spec: Any) -> Manifest:
    """Make a claim of 2Gi."""
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
    return obj("PersistentVolumeClaim", name, spec={**wanted, **spec})


def volume(name: str, labels: dict[str, str] | None = None, **spec: Any) -> Manifest:
    """Make a volume."""
    given = {"capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], **spec}
    return obj("PersistentVolume", name, metadata={"labels": labels or {}}, spec=given)


def mounting(name: str) -> dict[str, Any]:
    """Make the volumes of a pod that mounts one claim."""
    return {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]}


def reaching(*zones: str) -> Manifest:
    """Make a volume's node affinity."""
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": list(zones)}]}]
    return {"required": {"nodeSelectorTerms": terms}}


LATE = obj(
    "StorageClass", "late", "storage.k8s.io/v1", provisioner="p", volumeBindingMode="WaitForFirstConsumer"
)
PRESENCE = {
    "apiVersion": "v1",
    "kind": "Policy",
    "predicates": [
        {
            "name": "CheckNodeLabelPresence",
            "argument": {"labelsPresence": {"labels": ["rack"], "presence": True}},
        }
    ],
    "priorities": [],
}
SERVICE = {
    "apiVersion": "v1",
    "kind": "Policy",
    "predicates": [{"name": "CheckServiceAffinity", "argument": {"serviceAffinity": {"labels": ["zone"]}}}],
    "priorities": [],
}

# What it is: the cluster, the pod, a part of what is said, the edits that are shown, the smallest one first.
CASES: dict[str, tuple[list[Manifest], Manifest, str, list[list[str]]]] = {
    "too little cpu is lent by the request or added to the node": (
        [node("n", allocatable=TIGHT), pod("x", {"cpu": "600m"}, on="n", priority=9)],
        pod("p", {"cpu": "500m"}),
        "cpu: requested 500m, free 400m, short by 100m",
        [
            ["lower the pod's cpu request from 500m to 400m"],
            ["add 100m cpu to node n, from 1 allocatable to 1100m"],
            [DELETE_X],
        ],
    ),
    "memory is printed in binary units": (
        [node("n", allocatable=TIGHT)],
        pod("p", {"memory": "1536Mi"}),
        "memory: requested 1536Mi, free 1Gi, short by 512Mi",
        [
            ["lower the pod's memory request from 1536Mi to 1Gi"],
            ["add 512Mi memory to node n, from 1Gi allocatable to 1536Mi"],
        ],
    ),
    "a GPU that no node has is added or done without": (
        [node("n")],
        pod("p", {"nvidia.com/gpu": "1"}),
        "nvidia.com/gpu: requested 1, free 0, short by 1",
        [
            ["add 1 nvidia.com/gpu to node n, from 0 allocatable to 1"],
            ["add a node like n (cpu 4, memory 8Gi), but with 1 nvidia.com/gpu"],
            ["lower the pod's nvidia.com/gpu request from 1 to 0"],
        ],
    ),
    "a node that is full of pods takes one more": (
        [node("n", allocatable={**TIGHT, "pods": "1"}), pod("x", on="n", priority=9)],
        pod("p"),
        "pods: requested 1, free 0, short by 1",
        [
            ["add 1 pods to node n, from 1 allocatable to 2"],
            [DELETE_X],
        ],
    ),
    "a taint is tolerated or removed": (
        [node("n", taints=["gpu=yes:NoSchedule"])],
        pod("p"),
        "taint gpu=yes:NoSchedule is not tolerated",
        [["tolerate the taint gpu=yes:NoSchedule"], ["remove the taint gpu=yes:NoSchedule from node n"]],
    ),
    "only the taint that is not tolerated counts": (
        [node("n", taints=["a=1:NoSchedule", "b:NoExecute", "c:PreferNoSchedule"])],
        pod("p", tolerations=[{"key": "a", "operator": "Exists"}]),
        "taint b:NoExecute is not tolerated",
        [["tolerate the taint b:NoExecute"], ["remove the taint b:NoExecute from node n"]],
    ),
    "a cordoned node is uncordoned, its taint included": (
        [node("n", taints=["node.kubernetes.io/unschedulable:NoSchedule"], unschedulable=True)],
        pod("p"),
        "node n is cordoned",
        [["uncordon node n"]],
    ),
    "a node selector's label is set or the selector dropped": (
        [node("n", labels={"disk": "hdd"})],
        pod("p", nodeSelector={"disk": "ssd"}),
        "label disk is hdd, wanted ssd",
        [["set label disk=ssd on node n"], ["drop disk=ssd from the pod's nodeSelector"]],
    ),
    "one expression of two is dropped from the node affinity": (
        [node("n", labels={"disk": "ssd"})],
        pod(
            "p",
            affinity=node_affinity(
                {"key": "disk", "operator": "Exists"}, {"key": "gen", "operator": "Gt", "values": ["3"]}
            ),
        ),
        "node affinity wants gen Gt (3) (missing)",
        [["set label gen=4 on node n"], ["drop gen Gt (3) from the pod's node affinity"]],
    ),
    "an architecture is a fact, so the pod's affinity is what one changes first": (
        [node("n", labels={"kubernetes.io/arch": "arm64"})],
        pod("p", nodeSelector={"kubernetes.io/arch": "amd64"}),
        "label kubernetes.io/arch is arm64, wanted amd64",
        [
            ["drop kubernetes.io/arch=amd64 from the pod's nodeSelector"],
            ["set label kubernetes.io/arch=amd64 on node n"],
        ],
    ),
    "a host port that is taken is done without, or its holder goes": (
        [node("n"), pod("x", on="n", ports=[{"hostPort": 80}], priority=9)],
        pod("p", ports=[{"hostPort": 80}]),
        "host port 80/TCP is held by default/x",
        [
            ["remove the pod's host port 80/TCP"],
            [DELETE_X],
        ],
    ),
    "a disk that is in use is given up by its holder": (
        [node("n"), pod("x", on="n", volumes=[GCE], priority=9)],
        pod("p", volumes=[GCE]),
        "disk gce d is held by default/x",
        [[DELETE_X]],
    ),
    "a node that is not ready has to be mended": (
        [node("n", conditions=[{"type": "Ready", "status": "Unknown"}])],
        pod("p"),
        "condition Ready is Unknown",
        [["repair node n until its condition Ready is True"]],
    ),
    "a node under disk pressure has to be mended": (
        [node("n", conditions=[{"type": "DiskPressure", "status": "True"}])],
        pod("p"),
        "condition DiskPressure is True",
        [["repair node n until its condition DiskPressure is False"]],
    ),
    "anti-affinity in a zone is dropped, or the rival there deleted": (
        [node("n", labels=A), node("m", labels=A, unschedulable=True), pod("x", on="m", **WEB)],
        pod("p", affinity=affinity("podAntiAffinity", app="web"), **WEB),
        "its anti-affinity excludes default/x in zone=a",
        [["drop the pod's required pod anti-affinity"]],
    ),
    "an existing pod's anti-affinity ends with that pod": (
        [node("n", labels=A), pod("x", on="n", affinity=affinity("podAntiAffinity", app="web"), priority=9)],
        pod("p", **WEB),
        "the anti-affinity of default/x excludes it",
        [[DELETE_X]],
    ),
    "affinity without a companion in the zone is dropped, or the node put into the zone": (
        [node("n", labels=B), node("m", labels=A, unschedulable=True), pod("x", on="m", **WEB)],
        pod("p", affinity=affinity("podAffinity", app="web")),
        "no pod that the affinity asks for runs in zone=b; default/x would do",
        [["set label zone=a on node n"], ["uncordon node m"], ["drop the pod's required pod affinity"]],
    ),
    "a volume in another zone is reported with both zones": (
        [
            node("n", labels={ZONE: "a"}),
            claim("c", volumeName="v"),
            volume("v", {ZONE: "b"}, claimRef={"namespace": "default", "name": "c"}),
        ],
        pod("p", **mounting("c")),
        f"volume v is in {ZONE}=b, the node in a",
        [[f"set label {ZONE}=b on node n"], [f"drop the label {ZONE} of PersistentVolume v"]],
    ),
    "a volume that does not reach the node loses its node affinity": (
        [
            node("n", labels=A),
            claim("c", volumeName="v"),
            volume("v", nodeAffinity=reaching("b"), claimRef={"namespace": "default", "name": "c"}),
        ],
        pod("p", **mounting("c")),
        "volume v is not reachable from node n",
        [["drop the node affinity of PersistentVolume v"]],
    ),
    "a claim that waits for its first pod gets a volume": (
        [node("n"), LATE, claim("c", storageClassName="late")],
        pod("p", **mounting("c")),
        "claim default/c wants 2Gi of class late",
        [["create the PersistentVolume pv-c of 2Gi for claim default/c"]],
    ),
    "a claim that does not exist is created with its volume": (
        [node("n")],
        pod("p", **mounting("c")),
        'persistentvolumeclaim "c" not found',
        [
            [
                "create the PersistentVolumeClaim default/c, bound to pv-c",
                "create the PersistentVolume pv-c of 1Gi for claim default/c",
            ]
        ],
    ),
    "an unbound claim is bound to a new volume": (
        [node("n"), claim("c")],
        pod("p", **mounting("c")),
        "pod has unbound PersistentVolumeClaims",
        [
            [
                "create the PersistentVolume pv-c of 2Gi for claim default/c",
                "bind claim default/c to pv-c",
            ]
        ],
    ),
    "a label that the policy asks for is set": (
        [node("n"), PRESENCE],
        pod("p"),
        "label rack is missing",
        [["set label rack= on node n"]],
    ),
    "a service's pods follow the first one's labels": (
        [
            node("n", labels=B),
            node("m", labels=A, unschedulable=True),
            obj("Service", "web", spec={"selector": {"app": "web"}}),
            pod("x", on="m", **WEB),
            SERVICE,
        ],
        pod("p", **WEB),
        "zone must be as on the node of the service's first pod",
        [["set label zone=a on node n"], ["uncordon node m"]],
    ),
    "two reasons on one node are answered together": (
        [node("n", taints=["gpu:NoSchedule"], labels={"disk": "hdd"})],
        pod("p", nodeSelector={"disk": "ssd"}),
        "taint gpu:NoSchedule is not tolerated",
        [["set label disk=ssd on node n", "tolerate the taint gpu:NoSchedule"]],
    ),
}


def applied(manifests: list[Manifest], change: Remedy) -> list[Manifest]:
    """Do to the manifests what the change's patches say."""
    out = copy.deepcopy(manifests)
    for patch in change.patches:
        if patch["action"] == "create":
            out.insert(0, patch["object"])
            continue
        place = next(n for n, m in enumerate(out) if _target(m) == (patch["kind"], patch["name"]))
        if patch["action"] == "delete":
            del out[place]
        else:
            out[place] = apply_patch(out[place], patch["patch"], patch["type"])
    return out


def _target(manifest: Manifest) -> tuple[str, str]:
    meta = manifest["metadata"]
    namespace = meta.get("namespace")
    return manifest["kind"], f"{namespace}/{meta['name']}" if namespace else meta["name"]


@pytest.mark.parametrize("case", CASES)
def test_explain(case: str) -> None:
    """The facts are reported, the smallest change first, and every change shown makes the pod fit."""
    cluster, asked, said, edits = CASES[case]
    policy = next((m for m in cluster if m["kind"] == "Policy"), None)
    manifests = [*(m for m in cluster if m["kind"] != "Policy"), asked]
    answer = explain(scenario(*manifests, policy=policy), "default/p")
    assert (answer.state, answer.node) == ("pending", None)
    reported = [text for verdict in answer.nodes for text in (*verdict.details, *_reasons(verdict.as_dict()))]
    assert any(said in text for text in reported), reported
    assert [list(change.words) for change in answer.changes][: len(edits)] == edits
    for change in answer.changes:
        simulation = simulate(*applied(manifests, change), policy=policy)
        for _ in simulation:
            pass
        assert simulation.placement()["default/p"] in change.fits, change.words


def _reasons(verdict: dict[str, Any]) -> list[str]:
    return [text for f in verdict["failures"] for text in (*f["reasons"], f["error"] or "")]


def test_every_predicate_that_fails_is_reported() -> None:
    """Unlike a cycle's record, an explanation does not stop at a node's first failure."""
    full = node("n", allocatable=TIGHT, taints=["gpu:NoSchedule"], unschedulable=True)
    answer = explain(scenario(full, pod("p", {"cpu": "3"}, nodeSelector={"disk": "ssd"})), "default/p")
    (verdict,) = answer.nodes
    assert [(f.predicate, f.reasons) for f in verdict.failures] == [
        ("CheckNodeCondition", ("node(s) were unschedulable",)),
        ("GeneralPredicates", ("Insufficient cpu", "node(s) didn't match node selector")),
        ("PodToleratesNodeTaints", ("node(s) had taints that the pod didn't tolerate",)),
    ]
    assert verdict.numbers == (
        {"resource": "cpu", "requested": "3", "free": "1", "shortBy": "2", "allocatable": "1", "used": "0"},
    )
    assert answer.changes


def test_over_all_nodes_the_cheapest_comes_first() -> None:
    """Uncordoning one node is less than adding capacity to another."""
    objects = [node("small", allocatable={**TIGHT, "cpu": "0"}), node("cordoned", unschedulable=True)]
    answer = explain(scenario(*objects, pod("p", {"cpu": "1"})), "default/p")
    assert answer.changes[0].words == ("uncordon node cordoned",)
    assert answer.changes[0].fits == ("cordoned",)


def test_a_change_of_the_pod_counts_every_node_that_it_opens() -> None:
    """A toleration makes the pod fit on all nodes with that taint."""
    objects = [node(f"n{k}", taints=["gpu:NoSchedule"]) for k in range(30)]
    answer = explain(scenario(*objects, pod("p")), "default/p")
    assert answer.changes[0].words == ("tolerate the taint gpu:NoSchedule",)
    shown = answer.as_dict()["changes"][0]
    assert (len(shown["fits"]), shown["fitsCount"]) == (20, 30)


def test_preemptions_victims_are_a_change() -> None:
    """For a node that preemption did not choose, the victims there are shown, and said to be such."""
    objects = [
        node("n", allocatable=TIGHT, taints=["gpu:NoSchedule"]),
        pod("x", {"cpu": "900m"}, on="n", priority=1),
        pod("p", {"cpu": "1"}, priority=5),
    ]
    answer = explain(scenario(*objects), "default/p", "n")
    victims = [change for change in answer.changes if any("as preemption would" in w for w in change.words)]
    assert victims[0].words == (
        "tolerate the taint gpu:NoSchedule",
        "delete pod default/x (priority 1) from node n, as preemption would",
    )


def test_what_is_not_needed_is_left_out() -> None:
    """Two taints that one uncordoning removes with it need no toleration."""
    objects = [
        node("n", taints=["node.kubernetes.io/unschedulable:NoSchedule"], unschedulable=True),
        pod("p"),
    ]
    answer = explain(scenario(*objects), "default/p")
    assert answer.changes[0].words == ("uncordon node n",)
    (patch,) = answer.changes[0].patches
    assert patch == {
        "action": "patch",
        "kind": "Node",
        "name": "n",
        "type": "merge",
        "patch": {"spec": {"unschedulable": None, "taints": []}},
    }
