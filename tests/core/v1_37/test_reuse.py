"""What pods of one class share: the decision is that of an attempt made in full."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import pytest

from scheduler_core.cli.workloads import manifest_workload
from scheduler_core.run import simulate
from scheduler_core.schedulers.v1_37.attempt import Scheduler
from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.nominations import NominatedPods
from scheduler_core.schedulers.v1_37.plugins.base import Context, Ints, Rows
from scheduler_core.schedulers.v1_37.plugins.node_resources_fit import NodeResourcesFit
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.state import ClusterState

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
WEB = {"matchLabels": {"app": "web"}}


def spread(key: str, when: str, **more: Any) -> dict[str, Any]:
    """Return a spreading constraint for the pods of web."""
    return {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": when, "labelSelector": WEB, **more}


def affinity(kind: str, when: str, terms: Any) -> dict[str, Any]:
    """Return an affinity of one kind."""
    return {"affinity": {kind: {f"{when}DuringSchedulingIgnoredDuringExecution": terms}}}


SSD = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
SPECS: dict[str, dict[str, Any]] = {
    "plain": {},
    "share": {},
    "tolerating": {"tolerations": [{"operator": "Exists"}]},
    "selector": {"nodeSelector": {"disk": "ssd"}},
    "preferring": affinity("nodeAffinity", "preferred", [{"weight": 7, "preference": SSD}]),
    "requiring": affinity("nodeAffinity", "required", {"nodeSelectorTerms": [SSD]}),
    "hard": {"topologySpreadConstraints": [spread(ZONE, "DoNotSchedule")]},
    "hard-hosts": {
        "topologySpreadConstraints": [
            spread(HOSTNAME, "DoNotSchedule", minDomains=3),
            spread(ZONE, "ScheduleAnyway"),
        ]
    },
    "soft": {
        "topologySpreadConstraints": [
            spread(ZONE, "ScheduleAnyway", nodeTaintsPolicy="Honor"),
            spread(HOSTNAME, "ScheduleAnyway"),
        ]
    },
    "apart": affinity("podAntiAffinity", "required", [
        {"topologyKey": HOSTNAME, "labelSelector": WEB}
    ]),
    "apart-zones": affinity("podAntiAffinity", "required", [
        {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "db"}}}
    ]),
    "together": affinity("podAffinity", "preferred", [
        {"weight": 5, "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": WEB}}
    ]),
    "ports": {"containers": [
        {"name": "c", "image": "app", "ports": [{"containerPort": 80, "hostPort": 80}]}
    ]},
}  # fmt: skip


def node(chance: random.Random, number: int) -> dict[str, Any]:
    """Make a node."""
    labels = {HOSTNAME: f"n{number}", "disk": chance.choice(["ssd", "hdd"])}
    if chance.random() < 0.9:
        labels[ZONE] = f"z{chance.randrange(3)}"
    taints = [
        {"key": "dedicated", "value": "x", "effect": effect}
        for effect in ("NoSchedule", "PreferNoSchedule")
        if chance.random() < 0.15
    ]
    gpus = {"alibabacloud.com/gpu-milli": f"{chance.randrange(3)}000"}
    images = [{"names": ["app:latest"], "sizeBytes": 300 << 20}] if chance.random() < 0.3 else []
    return {
        "kind": "Node",
        "metadata": {"name": f"n{number}", "labels": labels},
        "spec": {"taints": taints, "unschedulable": chance.random() < 0.05},
        "status": {
            "allocatable": {"cpu": chance.choice(["2", "4"]), "memory": "8Gi", "pods": "8", **gpus},
            "images": images,
        },
    }


def pod(chance: random.Random, number: int, shape: str) -> CompiledPod:
    """Make a waiting pod of a shape."""
    requests = {"cpu": chance.choice(["100m", "500m"]), "memory": "256Mi"}
    if shape == "share":
        requests["alibabacloud.com/gpu-milli"] = chance.choice(["300", "600", "1000"])
    container = {"name": "c", "image": "app", "resources": {"requests": requests}}
    return CompiledPod(
        {
            "kind": "Pod",
            "metadata": {
                "name": f"p{number}",
                "namespace": "default",
                "labels": {"app": chance.choice(["web", "db"])},
            },
            "spec": {"containers": [container], **SPECS[shape]},
        }
    )


def _shown(attempt: PodAttempt) -> tuple[Any, ...]:
    """Return what an untraced cycle shows of an attempt."""
    scored = attempt.scored
    totals = None if scored is None else scored.table(scored.totals)
    lists = [[name for nodes in listed for name in nodes] for listed in (attempt.walked, attempt.passed)]
    passed = lists[1] if scored is None else list(scored.nodes)
    return lists[0], passed, totals, attempt.ranked, attempt.total_nodes, attempt.result


class Trial:
    """A cluster on which pods are placed and removed, and nodes change."""

    def __init__(self, seed: int, nodes: int, percentage: int, *, zoned: bool = False) -> None:
        self.chance = random.Random(seed)
        self.zoned = zoned
        self.cluster = ClusterState()
        self.nodes = nodes
        self.devices = seed % 2 == 0
        for number in range(nodes):
            self.cluster.create(self._node(number))
        self.cluster.create(
            {
                "kind": "Service",
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"selector": {"app": "web"}},
            }
        )
        configuration = read_configuration({"percentageOfNodesToScore": percentage})
        self.scheduler = Scheduler(self.cluster, configuration, NominatedPods())
        self.shapes = self.chance.sample(sorted(SPECS), 5)
        self.reused = self.alike = 0

    def place(self, number: int) -> None:
        """Decide a pod both ways, and place it."""
        waiting = pod(self.chance, number, self.chance.choice(self.shapes))
        self.cluster.pods[waiting.key] = waiting
        start = self.scheduler.start
        full = self.scheduler.schedule(waiting)
        expected = full.node
        after, self.scheduler.start = self.scheduler.start, start
        profile = self.scheduler.profile_of(waiting)
        assert profile is not None
        if self.chance.random() < 0.2 and expected is not None:
            followed = self.scheduler.schedule_untraced(waiting, given=expected)
            assert (followed.node, followed.ranked, self.scheduler.start) == (expected, full.ranked, after)
            self.scheduler.start = start
        attempt = self.scheduler.schedule_untraced(waiting)
        self.reused += attempt.reused
        if attempt.reused and attempt.scored is not None and (counts := attempt.scored.counts) is not None:
            self.alike += 1
            totals = attempt.scored.totals
            assert counts == (len(totals), totals.max(), len(attempt.scored.ties()))
        assert (attempt.node, self.scheduler.start) == (expected, after), waiting.spec
        assert _shown(attempt) == _shown(full), waiting.spec
        if expected is None:
            del self.cluster.pods[waiting.key]
        else:
            self.cluster.assume(waiting, expected)

    def disturb(self, number: int) -> None:
        """Let a pod end, a node change or a node come."""
        what = self.chance.randrange(10)
        placed = [each for each in self.cluster.pods.values() if each.node]
        if what < 7 and placed:
            gone = self.chance.choice(placed)
            self.cluster.objects.setdefault("Pod", {})[gone.key] = gone.manifest
            self.cluster.delete("Pod", gone.namespace, gone.name)
        elif what == 7:
            self.cluster.replace(self._node(self.chance.randrange(self.nodes)))
        elif what == 8:
            self._taint(self.chance.randrange(self.nodes))
        else:
            self.cluster.create(self._node(1000 + number))

    def _node(self, number: int) -> dict[str, Any]:
        made = node(self.chance, number)
        if self.zoned:
            made["metadata"]["labels"].setdefault(ZONE, "z0")
        if not self.devices:
            del made["status"]["allocatable"]["alibabacloud.com/gpu-milli"]
        return made

    def _taint(self, number: int) -> None:
        """Give a node other taints and amounts, and let its labels and images be."""
        known, fresh = self.cluster.objects["Node"][f"n{number}"], self._node(number)
        status = {**known["status"], "allocatable": fresh["status"]["allocatable"]}
        self.cluster.replace({**known, "spec": fresh["spec"], "status": status})


@pytest.mark.parametrize(("seed", "nodes", "percentage"), [
    *((seed, 2 + seed, 100) for seed in range(24)),
    *((seed, 130, percentage) for seed, percentage in ((100, 0), (101, 80), (102, 100))),
])  # fmt: skip
def test_a_reused_decision_is_that_of_a_full_attempt(seed: int, nodes: int, percentage: int) -> None:
    """Node and start index are equal after pods came and went, nodes changed and nodes were added."""
    trial = Trial(seed, nodes, percentage)
    for number in range(60):
        trial.place(number)
        if trial.chance.random() < 0.3:
            trial.disturb(number)
    assert trial.reused > 0 or {"together", "ports"} & set(trial.shapes)


@pytest.mark.parametrize(("seed", "nodes"), [*((seed, 3 + 2 * seed) for seed in range(10)), (202, 90)])
def test_scoring_one_of_the_nodes_that_are_alike_decides_the_same(
    seed: int, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Node, totals and start index are those of a full attempt, however few nodes are alike."""
    for name in ("SCORED_ALONE", "CHOSEN_ALONE", "FEWER_ALIKE"):
        monkeypatch.setattr(f"scheduler_core.schedulers.columns.alike.{name}", 0)
    monkeypatch.setattr("scheduler_core.schedulers.columns.alike.BLOCK", 2)
    trial = Trial(seed, nodes, 100, zoned=True)
    for number in range(60):
        trial.place(number)
        if trial.chance.random() < 0.2:
            trial.disturb(number)
    assert trial.alike > 0


@pytest.mark.parametrize(("shape", "percentage", "digest"), [
    ("plain", 100, "4798030472889d0f"), ("node-affinity", 100, "063214cebb43e913"),
    ("anti-affinity", 100, "8b1d824ea4560ea3"), ("spread", 100, "7326e6b1b5d2dc11"),
    ("plain", 0, "17bde66ff0ff92aa"), ("node-affinity", 0, "4518a25610c7cd92"),
    ("anti-affinity", 0, "0eb8c297ef43671d"), ("spread", 0, "7505d4968960e553"),
])  # fmt: skip
def test_the_measured_workloads_are_placed_as_the_original_places_them(
    shape: str, percentage: int, digest: str
) -> None:
    """Placements of the benchmark have the digests of kube-scheduler v1.37.1; 0 is adaptive sampling."""
    nodes, pods = (5000, 60) if percentage == 0 else (100, 80 if shape == "anti-affinity" else 400)
    simulation = simulate(manifest_workload(shape, nodes, pods, percentage), trace=False)
    assert [cycle.step for cycle in simulation][-1] == f"1.{pods}"
    placement = simulation.placement()
    lines = "".join(f"{key.partition('/')[2]} {chosen}\n" for key, chosen in placement.items())
    assert hashlib.sha256(lines.encode()).hexdigest()[:16] == digest


def test_rows_with_equal_numbers_are_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where 300 equal pods are spread over 100 equal nodes, a row is scored once for each number of pods."""
    simulation = simulate(manifest_workload("plain", 100, 300), trace=False)
    simulation.step()
    scored: list[int] = []
    score = NodeResourcesFit.score

    def counted(plugin: NodeResourcesFit, ctx: Context, rows: Rows) -> Ints:
        scored.append(len(rows))
        return score(plugin, ctx, rows)

    monkeypatch.setattr(NodeResourcesFit, "score", counted)
    assert sum(1 for _ in simulation) == 299
    assert scored == [1, 1, 1]


def test_what_a_controller_says_of_its_pods_changes_no_class() -> None:
    """A ReplicaSet's status and size leave what was derived of controllers; its selector does not."""
    cluster = ClusterState()
    written: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 1, "selector": WEB},
    }
    cluster.create(written)
    made = [cluster.derived(("ReplicaSet",), "one", object)]
    for changed in (
        {**written, "status": {"replicas": 1}},
        {**written, "spec": {**written["spec"], "replicas": 2}},
        {**written, "spec": {**written["spec"], "selector": {"matchLabels": {"app": "api"}}}},
    ):
        cluster.replace(changed)
        made.append(cluster.derived(("ReplicaSet",), "one", object))
    assert made[0] is made[1] is made[2] is not made[3]
