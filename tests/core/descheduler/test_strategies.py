"""Strategies that no recorded run covers, limits, dry runs, and the reasons that a run records."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.cluster.descheduler.facts import REQUIRED
from scheduler_core.cluster.descheduler.policy import Policy
from scheduler_core.cluster.descheduler.runner import Flags
from tests.core.descheduler.parts import node, outcomes, pod, policy_of, read, run

FAILED: Any = {"status": {"phase": "Failed", "reason": "NodeAffinity"}}
CRASHING = {"restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
OOM = {"restartCount": 4, "state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "name",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
SPREADING: Any = {"spec": {"topologySpreadConstraints": [SPREAD]}}
YOUNG: Any = {"metadata": {"creationTimestamp": "2000-01-01T00:17:30Z"}}
THREE = ["web-1", "web-2", "web-3"]
OTHER = pod("other", "n2", "600m", owner="db")


def crowd(count: int, on: str = "n1", cpu: str = "100m", **more: Any) -> list[dict[str, Any]]:
    """Return pods of one owner on one node."""
    return [pod(f"web-{number}", on, cpu, **more) for number in range(count)]


@pytest.mark.parametrize(
    ("plugin", "point", "args", "pods", "evicted"),
    [
        # the emptiest node is drained into the others, which have room for 400m
        ("HighNodeUtilization", "balance", "{thresholds: {cpu: 20}}", [*crowd(2), OTHER], ["web-0", "web-1"]),
        (
            "HighNodeUtilization",
            "balance",
            "{thresholds: {cpu: 20}, numberOfNodes: 2}",
            [*crowd(2), OTHER],
            [],
        ),
        ("HighNodeUtilization", "balance", "{thresholds: {cpu: 10}}", [*crowd(2), OTHER], []),
        (
            "HighNodeUtilization",
            "balance",
            "{thresholds: {memory: 20, cpu: 20}, evictionModes: [OnlyThresholdingResources]}",
            [pod("web-0", "n1", spec={"containers": [{"name": "a", "image": "b"}]}), OTHER],
            [],
        ),
        (
            "PodLifeTime",
            "deschedule",
            "{maxPodLifeTimeSeconds: 999}",
            [pod("old", "n1"), pod("new", "n1", **YOUNG)],
            ["old"],
        ),
        ("PodLifeTime", "deschedule", "{maxPodLifeTimeSeconds: 1000}", [pod("old", "n1")], []),
        (
            "PodLifeTime",
            "deschedule",
            "{states: [CrashLoopBackOff]}",
            [pod("bad", "n1", status={"containerStatuses": [CRASHING]}), pod("good", "n1")],
            ["bad"],
        ),
        (
            "PodLifeTime",
            "deschedule",
            "{exitCodes: [137]}",
            [pod("bad", "n1", status={"initContainerStatuses": [OOM]})],
            [],
        ),
        (
            "PodLifeTime",
            "deschedule",
            "{exitCodes: [137], includingInitContainers: true}",
            [pod("bad", "n1", status={"initContainerStatuses": [OOM]})],
            ["bad"],
        ),
        (
            "PodLifeTime",
            "deschedule",
            "{conditions: [{type: Ready, status: 'False'}]}",
            [
                pod("bad", "n1", status={"conditions": [{"type": "Ready", "status": "False"}]}),
                pod("good", "n1"),
            ],
            ["bad"],
        ),
        (
            "PodLifeTime",
            "deschedule",
            "{maxPodLifeTimeSeconds: 1, ownerKinds: {exclude: [ReplicaSet]}}",
            [pod("old", "n1")],
            [],
        ),
        (
            "RemovePodsHavingTooManyRestarts",
            "deschedule",
            "{podRestartThreshold: 4}",
            [
                pod("a", "n1", status={"containerStatuses": [OOM]}),
                pod("b", "n1", status={"containerStatuses": [CRASHING]}),
                pod("c", "n1"),
            ],
            ["b", "a"],
        ),
        (
            "RemovePodsHavingTooManyRestarts",
            "deschedule",
            "{podRestartThreshold: 5}",
            [pod("a", "n1", status={"containerStatuses": [OOM]})],
            [],
        ),
        (
            "RemovePodsHavingTooManyRestarts",
            "deschedule",
            "{podRestartThreshold: 4, states: [CrashLoopBackOff]}",
            [pod("a", "n1", status={"containerStatuses": [OOM]})],
            [],
        ),
        ("RemoveFailedPods", "deschedule", "{}", [pod("bad", "n1", **FAILED), pod("good", "n1")], ["bad"]),
        ("RemoveFailedPods", "deschedule", "{reasons: [Shutdown]}", [pod("bad", "n1", **FAILED)], []),
        ("RemoveFailedPods", "deschedule", "{minPodLifetimeSeconds: 1001}", [pod("bad", "n1", **FAILED)], []),
        (
            "RemoveFailedPods",
            "deschedule",
            "{excludeOwnerKinds: [ReplicaSet]}",
            [pod("bad", "n1", **FAILED)],
            [],
        ),
        # 4, 0, 0 pods become 1, 2, 1: at first half the skew beyond maxSkew moves, then one more
        ("RemovePodsViolatingTopologySpreadConstraint", "balance", "{}", crowd(4, **SPREADING), THREE),
        ("RemovePodsViolatingTopologySpreadConstraint", "balance", "{}", crowd(1, **SPREADING), []),
        (
            "RemovePodsViolatingTopologySpreadConstraint",
            "balance",
            "{}",
            crowd(
                4,
                cpu="900m",
                spec={"topologySpreadConstraints": [{**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]},
            ),
            [],
        ),
        (
            "RemovePodsViolatingTopologySpreadConstraint",
            "balance",
            "{constraints: [ScheduleAnyway]}",
            crowd(4, spec={"topologySpreadConstraints": [{**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]}),
            THREE,
        ),
        (
            "RemovePodsViolatingTopologySpreadConstraint",
            "balance",
            "{}",
            crowd(4, spec={"topologySpreadConstraints": [SPREAD], "nodeSelector": {"name": "n1"}}),
            [],
        ),
    ],
)
def test_strategies(
    plugin: str, point: str, args: str, pods: list[dict[str, Any]], evicted: list[str]
) -> None:
    """Who is evicted of three nodes, in order; the third is empty and cordoned."""
    nodes = (node("n1"), node("n2"), node("n3", unschedulable=plugin == "HighNodeUtilization"))
    record = run(policy_of(plugin, point, args), *nodes, *pods)
    found = [verdict.pod.partition("/")[2] for _, verdict in record.evictions]
    assert sorted(found) == sorted(evicted) if plugin.endswith("Constraint") else found == evicted


OLD = "{maxPodLifeTimeSeconds: 1}"


@pytest.mark.parametrize(
    ("more", "evictor", "metadata", "outcome", "reason"),
    [
        ("", "{}", {}, "evicted", "1000 s old"),
        ("", "{}", {"ownerReferences": []}, "protected", "pod does not have any ownerRefs"),
        ("", "{labelSelector: {matchLabels: {app: x}}}", {}, "protected", "pod labels do not match"),
        ("", "{minReplicas: 2}", {}, "protected", "owner has 1 replicas which is less than minReplicas of 2"),
        ("", "{minPodAge: 1h}", {}, "protected", "pod age is not older than minPodAge: 3600 seconds"),
        (
            "",
            "{podProtections: {extraEnabled: [PodsWithoutPDB]}}",
            {},
            "protected",
            "does not have a PodDisr",
        ),
        (
            "",
            "{namespaceLabelSelector: {matchLabels: {a: b}}}",
            {},
            "no target",
            "pod namespace does not match",
        ),
        ("", "{nodeFit: true, nodeSelector: name=n1}", {}, "no target", "pod does not fit on any other node"),
        ("maxNoOfPodsToEvictTotal: 0", "{}", {}, "limited", "the run may evict 0"),
        ("maxNoOfPodsToEvictPerNode: 0", "{}", {}, "limited", "the run may evict 0 of node n1"),
        (
            "maxNoOfPodsToEvictPerNamespace: 0",
            "{}",
            {},
            "limited",
            "the run may evict 0 of namespace default",
        ),
        (
            "",
            "{podProtections: {extraEnabled: [PodsWithoutPDB]}}",
            {"annotations": {"descheduler.alpha.kubernetes.io/evict": "false"}},
            "evicted",
            "1000 s old",
        ),
        (
            "",
            "{noEvictionPolicy: Mandatory}",
            {"annotations": {"descheduler.alpha.kubernetes.io/prefer-no-eviction": ""}},
            "protected",
            "noEvictionPolicy is Mandatory",
        ),
    ],
)
def test_a_pod_has_a_verdict(more: str, evictor: str, metadata: Any, outcome: str, reason: str) -> None:
    """Whether it is evicted, or why not."""
    policy = policy_of("PodLifeTime", "deschedule", OLD, more, evictor)
    record = run(policy, node("n1"), node("n2"), pod("a", "n1", metadata=metadata))
    (verdict,) = record.strategies[0].verdicts
    assert (verdict.outcome, reason in verdict.reason) == (outcome, True), verdict.reason


def test_a_budget_refuses() -> None:
    """The pods that it leaves are refused, and a dry run asks no budget."""
    budget = {
        "kind": "PodDisruptionBudget",
        "apiVersion": "policy/v1",
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 1},
    }
    policy = policy_of("PodLifeTime", "deschedule", OLD)
    objects = (node("n1"), node("n2"), *crowd(2), budget)
    assert outcomes(run(policy, *objects)) == {"web-0": "evicted", "web-1": "refused"}
    assert outcomes(run(policy, *objects, flags=Flags(dry_run=True))) == {
        "web-0": "evicted",
        "web-1": "evicted",
    }


def test_a_run_needs_two_nodes() -> None:
    """Those that are not ready, or not selected, do not count."""
    policy = policy_of("PodLifeTime", "deschedule", OLD, "nodeSelector: name in (n1)")
    record = run(policy, node("n1"), node("n2"), pod("a", "n1"))
    assert (record.nodes, record.strategies) == (("n1",), [])
    assert record.skipped == "a run needs 2 nodes that are ready and selected, and finds 1"


def test_utilization_classifies_nodes() -> None:
    """With percentages; deviations are added to the average, and stay between 0 and 100."""
    policy = policy_of(
        "LowNodeUtilization",
        "balance",
        "{thresholds: {cpu: 10}, targetThresholds: {cpu: 10}, useDeviationThresholds: true}",
    )
    record = run(policy, node("n1"), node("n2"), node("n3"), *crowd(6), OTHER)
    found = record.strategies[0].utilization
    assert found is not None and (found.low, found.high) == ({"cpu": 30.0}, {"cpu": 50.0})
    assert [(one.node, one.usage["cpu"], one.category) for one in found.nodes] == [
        ("n1", 60.0, "overutilized"),
        ("n2", 60.0, "overutilized"),
        ("n3", 0.0, "underutilized"),
    ]
    assert [verdict.pod for _, verdict in record.evictions] == ["default/web-0", "default/other"]


CLASSIC = """
apiVersion: descheduler/v1alpha1
kind: DeschedulerPolicy
strategies: {{RemovePodsViolatingNodeAffinity: {{enabled: true, params: {{nodeAffinityType: [{kind}]}}}}}}
"""


def classic(kind: str = REQUIRED) -> Policy:
    """Return a policy of v0.9.0."""
    policy, errors = read(CLASSIC.format(kind=kind))
    assert policy is not None and errors == [] and policy.later == ()
    return policy


def test_a_classic_run_takes_its_flags() -> None:
    """A refused eviction counts for the limit; the first node that matches decides, even if cordoned."""
    required = {
        REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]}
    }
    pods = crowd(3, spec={"affinity": {"nodeAffinity": required}})
    nodes = (node("n1"), node("n2", labels={"disk": "ssd"}))
    assert outcomes(run(classic(), *nodes, *pods, flags=Flags(most_per_node=2))) == {
        "web-0": "evicted",
        "web-1": "evicted",
    }
    cordoned = (
        node("n1"),
        node("n2", labels={"disk": "ssd"}, unschedulable=True),
        node("n3", labels={"disk": "a"}),
    )
    assert set(outcomes(run(classic(), *cordoned, *pods)).values()) == {"no target"}
    assert (
        run(classic("preferred"), *nodes, *pods).strategies[0].stopped
        == "invalid nodeAffinityType: preferred"
    )
