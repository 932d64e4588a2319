"""For each contract that is ready: a cluster that satisfies it, and one that does not."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.core.contracts.clusters import (
    EVEN,
    PACKED,
    UNEVEN,
    Manifest,
    apart,
    budget,
    bundle,
    claimed,
    gang,
    joining,
    nodes,
    pod_template,
    priority,
    queued,
    settings,
    spread,
    workload,
)
from tests.core.kueue.clusters import manifests


class ReadyCase(NamedTuple):
    """A ready contract with its two clusters."""

    name: str
    satisfied: str
    violated: str


def _deployment(replicas: int, cpu: str = "100m", **spec: Any) -> Manifest:
    return workload("Deployment", "web", replicas, cpu, **spec)


_GANG = {"gang": {"minCount": 4}}
_FILLER = (priority("filler", 1000), workload("Deployment", "filler", 3, "2", priorityClassName="filler"))
_GATED = settings(scheduler="v1.37", featureGates={"GenericWorkload": True})


def _teams(reclaim: str) -> str:
    """Return the cluster of two teams with half the quota each, all of which one has borrowed."""
    half = {"default": {"cpu": 2, "memory": "1Gi"}}
    lender = {"quota": half, "cohortName": "all", "preemption": {"reclaimWithinCohort": reclaim}}
    queues = {"a": lender, "b": {"quota": half, "cohortName": "all"}}
    jobs = [queued("Job", f"b{number}", "b") for number in range(4)]
    return bundle(nodes("ab"), list(manifests({"queues": queues})), jobs, queued("PodTemplate", "team", "a"))


_DESCHEDULED = settings(scheduler="v1.37", descheduler={"interval": "1m", "passes": 30})
CASES = (
    ReadyCase(
        "zone-loss",
        bundle(nodes("aabbcc"), _deployment(6, **spread("web"))),
        bundle(nodes("aabbcc"), _deployment(6, nodeSelector={"topology.kubernetes.io/zone": "a"})),
    ),
    ReadyCase(
        "drain-order",
        bundle(nodes("abc"), _deployment(3), budget("web", 2)),
        bundle(nodes("abc"), _deployment(3)),
    ),
    ReadyCase(
        "rollout-spread",
        bundle(nodes("ab"), _deployment(6, **spread("web", matchLabelKeys=["pod-template-hash"]))),
        bundle(nodes("ab"), _deployment(6, **spread("web"))),
    ),
    ReadyCase(
        "serving-first",
        bundle(
            nodes("ab"),
            priority("serving", 1000),
            pod_template("batch", "1"),
            _deployment(3, "1", priorityClassName="serving"),
        ),
        bundle(nodes("ab"), pod_template("batch", "1"), _deployment(3, "1")),
    ),
    ReadyCase(
        "least-preemption",
        bundle(
            nodes("ab"),
            priority("urgent", 2000),
            priority("high", 1000),
            workload("Deployment", "low", 4, "1"),
            workload("Deployment", "high", 4, "1", priorityClassName="high"),
            pod_template("urgent", "1", priorityClassName="urgent"),
        ),
        bundle(
            nodes("ab"),
            priority("urgent", 2000),
            priority("high", 1000),
            workload("Deployment", "low", 2, "1"),
            workload("Deployment", "high", 6, "1", priorityClassName="high"),
            pod_template("urgent", "1", priorityClassName="urgent"),
        ),
    ),
    ReadyCase(
        "gang-whole",
        bundle(nodes("ab"), *_FILLER, gang("train", 4, "2", _GANG), _GATED),
        bundle(nodes("ab"), *_FILLER, gang("train", 4, "2", {"basic": {}}), _GATED),
    ),
    ReadyCase(
        "descheduler-rest",
        bundle(nodes("a"), joining("b", 30), _deployment(3, "1"), EVEN, _DESCHEDULED),
        bundle(nodes("a"), joining("b", 30), _deployment(3, "1"), EVEN, _DESCHEDULED, PACKED),
    ),
    ReadyCase(
        "upgrade-in-place",
        bundle(nodes("ab"), _deployment(4), settings(scheduler="v1.35")),
        bundle(UNEVEN, workload("Deployment", "web", 4, "500m", memory="2Gi"), settings(scheduler="v1.35")),
    ),
    ReadyCase(
        "daemons-fit",
        bundle(
            nodes("ab"),
            pod_template("batch", "1"),
            workload("DaemonSet", "agent", 0, "1", priorityClassName="system-node-critical"),
        ),
        bundle(nodes("ab"), pod_template("batch", "1"), workload("DaemonSet", "agent", 0, "1")),
    ),
    ReadyCase(
        "no-majority",
        bundle(nodes("abc"), workload("StatefulSet", "etcd", 3, **apart("etcd"))),
        bundle(nodes("ab"), workload("StatefulSet", "etcd", 3)),
    ),
    ReadyCase(
        "claim-zone",
        bundle(nodes("aabb"), claimed("db", 2, "a")),
        bundle(nodes("abb"), claimed("db", 2, "a")),
    ),
    ReadyCase(
        "surge-fits",
        bundle(nodes("abcd"), _deployment(3, **apart("web"))),
        bundle(nodes("abc"), _deployment(3, **apart("web"))),
    ),
    ReadyCase("nominal-quota", _teams("Any"), _teams("Never")),
)
