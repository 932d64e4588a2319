"""For each quirk a cluster where it changes a result, and one beside it where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from scheduler_core.record.cycle import Cycle, QuirkChange
from scheduler_core.run.instant import Simulation
from scheduler_core.settings.settings import Settings
from tests.core.engine.builders import Manifest, affinity, node, obj, pod, scenario

ONE = {"cpu": "1", "memory": "1Gi", "pods": "10"}
HOST = "kubernetes.io/hostname"


@dataclass(frozen=True)
class Case:
    """``matters`` and ``idle`` are manifests; the cycle of pod ``of`` that comes first is looked at.

    ``v1_11`` and ``fixed`` are (result, node or nominated node or error) in ``matters``; ``changed`` is
    what the flag says.
    """

    matters: tuple[Manifest, ...]
    idle: tuple[Manifest, ...]
    v1_11: tuple[str, str | None]
    fixed: tuple[str, str | None]
    changed: tuple[QuirkChange, ...]
    nodes: tuple[str, ...] = ()
    text: str = ""
    of: str = "default/p"
    policy: Manifest | None = None

    def cycle(self, manifests: tuple[Manifest, ...], settings: Settings) -> Cycle:
        """Run to the first cycle of the pod."""
        simulation = Simulation(replace(scenario(*manifests, policy=self.policy), settings=settings))
        return next(cycle for cycle in simulation if cycle.pod == self.of)


def outcome(cycle: Cycle) -> tuple[str, str | None]:
    """Return what a case's ``v1_11`` and ``fixed`` hold."""
    return cycle.result, cycle.node or cycle.decision.nominated or (
        cycle.message if cycle.result == "error" else None
    )


def terms(kind: str, *pairs: tuple[str, str]) -> Manifest:
    """Make required terms of (topology key, value of label app)."""
    listed = [{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}} for key, app in pairs]
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": listed}}


def host(name: str, zone: str = "a", **fields: Any) -> Manifest:
    """Make a node with its hostname and its zone as labels."""
    return node(name, labels={HOST: name, "zone": zone}, **fields)


def budget(allowed: int, app: str) -> Manifest:
    """Make a PodDisruptionBudget of the pods with a label app."""
    return obj(
        "PodDisruptionBudget", app, "policy/v1beta1",
        spec={"selector": {"matchLabels": {"app": app}}}, status={"disruptionsAllowed": allowed},
    )  # fmt: skip


def bystander(**fields: Any) -> Manifest:
    """Make a pod that waits with a nomination: it asks for too much to be bound before ``p`` is tried."""
    return pod("waiting", {"cpu": "100"}, nominatedNodeName="n", priority=5, **fields)


def disks(name: str, first: int, count: int, **fields: Any) -> Manifest:
    """Make a pod with so many EBS volumes, numbered from ``first``."""
    volumes = [
        {"name": f"v{number}", "awsElasticBlockStore": {"volumeID": f"vol-{number}"}}
        for number in range(first, first + count)
    ]
    return pod(name, volumes=volumes, **fields)


def web(name: str, **fields: Any) -> Manifest:
    """Make a pod with the label app=web."""
    return pod(name, labels={"app": "web"}, **fields)


CONTROLLER = obj(
    "ReplicaSet", "web", "apps/v1", spec={"replicas": 1, "selector": {"matchLabels": {"app": "web"}}}
)
SERVICE = obj("Service", "web", spec={"selector": {"app": "web"}})
TWO = (host("n1"), host("n2", "b"))
AFFINITY_ALONE = {"predicates": [], "priorities": [{"name": "InterPodAffinityPriority", "weight": 1}]}
FULL = {"cpu": "1", "memory": "4Gi", "pods": "10"}
TOO_MUCH = {"cpu": "2", "memory": "3Gi", "pods": "10"}

PREFERRED = [
    {
        "weight": weight,
        "podAffinityTerm": {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOST},
    }
    for app, weight in (("a", 50), ("b", 49))
]

CASES: Mapping[str, Case] = {
    "last-anti-affinity-term": Case(
        matters=(
            *TWO,
            host("n3"),
            pod("db", on="n1", affinity=terms("podAntiAffinity", ("zone", "p"), (HOST, "other"))),
            pod("p", labels={"app": "p"}, nodeSelector={"zone": "a"}),
        ),
        idle=(
            *TWO,
            host("n3"),
            pod("db", on="n1", affinity=terms("podAntiAffinity", (HOST, "other"), ("zone", "p"))),
            pod("p", labels={"app": "p"}, nodeSelector={"zone": "a"}),
        ),
        v1_11=("scheduled", "n3"),
        fixed=("unschedulable", None),
        changed=("predicates", "preemption", "decision"),
        nodes=("n3",),
        text="A required anti-affinity term of default/db on zone matches default/p, but "
        "kubernetes.io/hostname, of the last term, is compared. In v1.11 the pod goes to n3; as it should "
        "be, the pod fits nowhere.",
    ),
    "anti-affinity-terms-anded": Case(
        matters=(
            host("n"),
            pod("a", on="n", labels={"app": "a"}),
            pod("p", affinity=terms("podAntiAffinity", (HOST, "a"), (HOST, "b"))),
        ),
        idle=(
            host("n"),
            host("m"),
            pod("a", on="n", labels={"app": "c"}),
            pod("p", affinity=terms("podAntiAffinity", (HOST, "a"), (HOST, "b"))),
        ),
        v1_11=("scheduled", "n"),
        fixed=("unschedulable", None),
        changed=("predicates", "preemption", "decision"),
        nodes=("n",),
        text="match 1, 0 pods",
    ),
    "self-match-needs-no-topology": Case(
        matters=(node("n"), pod("p", labels={"app": "p"}, affinity=terms("podAffinity", ("zone", "p")))),
        idle=(host("n"), pod("p", labels={"app": "p"}, affinity=terms("podAffinity", ("zone", "p")))),
        v1_11=("scheduled", "n"),
        fixed=("unschedulable", None),
        changed=("predicates", "preemption", "decision"),
        nodes=("n",),
        text="n without the label zone",
    ),
    "self-match-before-removal": Case(
        matters=(
            host("n", allocatable=ONE),
            pod("a", {"cpu": "1"}, on="n", labels={"app": "p"}),
            pod(
                "p", {"cpu": "1"}, labels={"app": "p"}, priority=5, affinity=terms("podAffinity", (HOST, "p"))
            ),
        ),
        idle=(
            host("n", allocatable=ONE),
            pod("a", {"cpu": "1"}, on="n", labels={"app": "other"}),
            pod(
                "p", {"cpu": "1"}, labels={"app": "p"}, priority=5, affinity=terms("podAffinity", (HOST, "p"))
            ),
        ),
        v1_11=("unschedulable", None),
        fixed=("unschedulable", "n"),
        changed=("preemption", "decision"),
        text="are on n; without them",
    ),
    "nominated-pods-are-no-targets": Case(
        matters=(
            host("n"),
            bystander(labels={"app": "a"}),
            pod("p", affinity=terms("podAntiAffinity", (HOST, "a"))),
        ),
        idle=(
            host("n"),
            bystander(labels={"app": "b"}),
            pod("p", affinity=terms("podAntiAffinity", (HOST, "a"))),
        ),
        v1_11=("scheduled", "n"),
        fixed=("unschedulable", None),
        changed=("predicates", "preemption", "decision"),
        nodes=("n",),
        text="match default/waiting, nominated to n,",
    ),
    "nominated-pod-without-node": Case(
        matters=(
            host("n", allocatable={"cpu": "200", "memory": "8Gi", "pods": "10"}),
            pod("full", {"cpu": "101"}, on="n", priority=9),
            SERVICE,
            pod("waiting", {"cpu": "100"}, nominatedNodeName="n", priority=5, labels={"app": "web"}),
            web("p"),
        ),
        idle=(
            host("n", allocatable={"cpu": "200", "memory": "8Gi", "pods": "10"}),
            pod("full", {"cpu": "101"}, on="n", priority=9),
            SERVICE,
            pod("waiting", {"cpu": "100"}, nominatedNodeName="n", priority=5, labels={"app": "other"}),
            web("p"),
        ),
        v1_11=("error", 'node "" not found'),
        fixed=("scheduled", "n"),
        changed=("predicates", "decision"),
        nodes=("n",),
        policy={
            "predicates": [
                {"name": "CheckServiceAffinity", "argument": {"serviceAffinity": {"labels": ["zone"]}}},
                {"name": "PodFitsResources"},
            ]
        },
    ),
    "unrequested-resources-checked": Case(
        matters=(node("n", allocatable=FULL), pod("a", {"memory": "5Gi"}, on="n"), pod("p", {"cpu": "100m"})),
        idle=(node("n", allocatable=FULL), pod("a", {"memory": "4Gi"}, on="n"), pod("p", {"cpu": "100m"})),
        v1_11=("unschedulable", None),
        fixed=("scheduled", "n"),
        changed=("predicates", "preemption", "decision"),
        nodes=("n",),
        text="default/p requests no memory, of which more is requested than there is on n.",
    ),
    "ports-are-a-set": Case(
        matters=(
            node("n"),
            pod("a", on="n", ports=[{"hostPort": 80}]),
            pod("b", on="n", ports=[{"hostPort": 80}], priority=9),
            pod("p", ports=[{"hostPort": 80}], priority=5),
        ),
        idle=(
            node("n"),
            pod("a", on="n", ports=[{"hostPort": 81}]),
            pod("b", on="n", ports=[{"hostPort": 80}], priority=9),
            pod("p", ports=[{"hostPort": 80}], priority=5),
        ),
        v1_11=("unschedulable", "n"),
        fixed=("unschedulable", None),
        changed=("preemption", "decision"),
        text="On n, 2 pod(s) hold host port 80/TCP",
    ),
    "volume-limit-without-new-volume": Case(
        matters=(node("n"), disks("a", 0, 40, on="n"), disks("p", 0, 1)),
        idle=(node("n"), disks("a", 0, 39, on="n"), disks("p", 0, 1)),
        v1_11=("unschedulable", None),
        fixed=("scheduled", "n"),
        changed=("predicates", "preemption", "decision"),
        nodes=("n",),
        policy={"predicates": [{"name": "MaxEBSVolumeCount"}]},
        text="n has more than 39 ebs volumes",
    ),
    "unknown-predicate-never-run": Case(
        matters=(node("n"), pod("p")),
        idle=(node("n", labels={"rack": "1"}), pod("p")),
        v1_11=("scheduled", "n"),
        fixed=("unschedulable", None),
        changed=("predicates", "preemption", "decision"),
        nodes=("n",),
        policy={
            "predicates": [
                {"name": "Rack", "argument": {"labelsPresence": {"labels": ["rack"], "presence": True}}}
            ]
        },
        text="The policy names Rack,",
    ),
    "service-spreading-takes-controllers": Case(
        matters=(*TWO, CONTROLLER, web("a", on="n2"), web("p")),
        idle=(*TWO, CONTROLLER, SERVICE, web("a", on="n2"), web("p")),
        v1_11=("scheduled", "n1"),
        fixed=("scheduled", "n2"),
        changed=("priorities", "decision"),
        policy={"priorities": [{"name": "ServiceSpreadingPriority", "weight": 1}]},
    ),
    "affinity-scores-from-zero": Case(
        matters=(
            *TWO,
            pod("a", on="n1", labels={"app": "a"}),
            pod("b", on="n2", labels={"app": "b"}),
            pod(
                "p",
                affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": PREFERRED}},
            ),
        ),
        idle=(
            *TWO,
            pod("a", on="n1", labels={"app": "a"}),
            pod("p", affinity=affinity("podAffinity", weight=50, app="a")),
        ),
        v1_11=("scheduled", "n1"),
        fixed=("scheduled", "n1"),
        changed=("priorities",),
        policy=AFFINITY_ALONE,
        text="go from 49 to 50",
    ),
    "first-victim-priority": Case(
        matters=(
            host("n1", allocatable=ONE),
            host("n2", allocatable=ONE),
            budget(0, "guarded"),
            pod("g1", {"cpu": "500m"}, on="n1", labels={"app": "guarded"}, priority=1),
            pod("h1", {"cpu": "500m"}, on="n1", priority=8),
            pod("g2", {"cpu": "500m"}, on="n2", labels={"app": "guarded"}, priority=2),
            pod("h2", {"cpu": "500m"}, on="n2", priority=3),
            pod("p", {"cpu": "1"}, priority=10),
        ),
        idle=(
            host("n1", allocatable=ONE),
            host("n2", allocatable=ONE),
            pod("g1", {"cpu": "500m"}, on="n1", labels={"app": "guarded"}, priority=1),
            pod("h1", {"cpu": "500m"}, on="n1", priority=8),
            pod("g2", {"cpu": "500m"}, on="n2", labels={"app": "guarded"}, priority=2),
            pod("h2", {"cpu": "500m"}, on="n2", priority=3),
            pod("p", {"cpu": "1"}, priority=10),
        ),
        v1_11=("unschedulable", "n1"),
        fixed=("unschedulable", "n2"),
        changed=("preemption", "decision"),
        text="stands in front of one of higher priority",
    ),
    "disruptions-not-counted-down": Case(
        matters=(
            host("n1", allocatable=ONE),
            host("n2", allocatable=ONE),
            budget(1, "guarded"),
            pod("g1", {"cpu": "500m"}, on="n1", labels={"app": "guarded"}, priority=1),
            pod("h1", {"cpu": "500m"}, on="n1", labels={"app": "guarded"}, priority=1),
            pod("g2", {"cpu": "500m"}, on="n2", priority=2),
            pod("h2", {"cpu": "500m"}, on="n2", priority=2),
            pod("p", {"cpu": "1"}, priority=10),
        ),
        idle=(
            host("n1", allocatable=ONE),
            host("n2", allocatable=ONE),
            budget(2, "guarded"),
            pod("g1", {"cpu": "500m"}, on="n1", labels={"app": "guarded"}, priority=1),
            pod("h1", {"cpu": "500m"}, on="n1", labels={"app": "guarded"}, priority=1),
            pod("g2", {"cpu": "500m"}, on="n2", priority=2),
            pod("h2", {"cpu": "500m"}, on="n2", priority=2),
            pod("p", {"cpu": "1"}, priority=10),
        ),
        v1_11=("unschedulable", "n1"),
        fixed=("unschedulable", "n2"),
        changed=("preemption", "decision"),
        text="default/guarded allows disruptions",
    ),
}
