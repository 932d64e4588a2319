"""Dumps that lack kinds: what is put back from pods, what is said of it, and that nothing happens by it."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scheduler_core.cluster.reconstruction.completion import NoNodesError, completed
from scheduler_core.run.living.records import answer

RECORDS = Path(__file__).parents[2] / "conformance" / "data" / "life-dump-v1.37.jsonl.gz"
KINDS = (
    "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "ControllerRevision", "Job", "CronJob",
    "PodDisruptionBudget", "StorageClass", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim",
)  # fmt: skip
Facts = dict[str, Any]


@cache
def _records() -> list[Facts]:
    with gzip.open(RECORDS, "rt") as file:
        return [json.loads(line) for line in file]


def _is_at_rest(record: Facts) -> bool:
    return all(one["time"] >= 30 for one in record["expect"]["timeline"])


def _lived(objects: list[Facts], *steps: Facts | int, now: str = "2000-01-01T00:05:00Z") -> Facts:
    """Return the timeline and the end of a scenario that begins with a dump, which may lack kinds."""
    taken = [{"do": "advance", "seconds": one} if isinstance(one, int) else one for one in steps]
    record = {"id": "x", "now": now, "complete": False, "objects": objects, "steps": taken}
    return answer(record)["expect"]


def _timeline(objects: list[Facts], *steps: Facts | int) -> list[Facts]:
    return _lived(objects, *steps)["timeline"]


def test_a_dump_at_rest_stays_so_whatever_it_lacks() -> None:
    """Half a minute is empty without a kind, without all, without some, and without single objects."""
    random = Random(0)
    for record in filter(_is_at_rest, _records()):
        lacking = [{kind for kind in KINDS if random.random() < 0.5}, set(KINDS), {random.choice(KINDS)}]
        left = [[one for one in record["objects"] if one["kind"] not in kinds] for kinds in lacking]
        left.append([o for o in record["objects"] if o["kind"] in ("Node", "Pod") or random.random() < 0.6])
        for objects in left:
            there = {(one["kind"], one["metadata"]["name"]) for one in objects}
            assert _lived(objects, 30, now=record["now"])["timeline"] == [], (record["id"], sorted(there))


def test_a_full_dump_stays_as_it_is() -> None:
    """Nothing is put back that is there, and nothing there is changed."""
    for record in _records():
        found = {(o["kind"], o["metadata"]["uid"]): o for o in completed(record["objects"]).objects}
        if "no-revisions" not in record["features"]:
            assert all(found[o["kind"], o["metadata"]["uid"]] == o for o in record["objects"]), record["id"]


# --- what is said


NODE = {
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}},
}


def pod(name: str, kind: str, owner: str, labels: Facts | None = None, **more: Any) -> Facts:
    """Return a ready pod on the node, with a controller."""
    reference = {"kind": kind, "name": owner, "uid": f"uid-{owner}", "controller": True}
    meta = {"name": name, "namespace": "default", "uid": f"uid-{name}", "ownerReferences": [reference]}
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return {
        "kind": "Pod",
        "metadata": {**meta, "labels": {"app": "x", **(labels or {})}, **more.get("metadata", {})},
        "spec": {"nodeName": "a", "containers": [{"name": "c", "image": "i:1"}], **more.get("spec", {})},
        "status": more.get("status", status),
    }


SET = {"pod-template-hash": "h1"}
OLD = {"pod-template-hash": "h0"}
ORDINAL = "controller-revision-hash"
NOTED = {
    "a Deployment": (
        [pod("web-h1-a", "ReplicaSet", "web-h1", SET), pod("web-h1-b", "ReplicaSet", "web-h1", SET)],
        (
            "Deployment web (ReplicaSet web-h1) is not in the dump: assumed with 2 replicas, from its pods, "
            "maxSurge 25% and maxUnavailable 25%"
        ),
    ),
    "a Deployment that stands still": (
        [pod("web-h1-a", "ReplicaSet", "web-h1", SET), pod("web-h0-a", "ReplicaSet", "web-h0", OLD)],
        (
            "Deployment web (ReplicaSet web-h1) is not in the dump: assumed with 2 replicas, from its pods, "
            "maxSurge 0 and maxUnavailable 25%; paused, as pods of several templates are ready"
        ),
    ),
    "a ReplicaSet of its own": (
        [pod("solo-a", "ReplicaSet", "solo")],
        "ReplicaSet solo is not in the dump: assumed with 1 replica, from its pods",
    ),
    "a StatefulSet": (
        [pod(name, "StatefulSet", "db", {ORDINAL: "db-1"}) for name in ("db-0", "db-2")],
        (
            "StatefulSet db is not in the dump: assumed with 3 replicas, from its pods; "
            "missing, and to be created: db-1"
        ),
    ),
    "a partition": (
        [
            pod("db-0", "StatefulSet", "db", {ORDINAL: "db-o"}),
            pod("db-1", "StatefulSet", "db", {ORDINAL: "db-n"}),
        ],
        (
            "StatefulSet db is not in the dump: assumed with 2 replicas, from its pods; "
            "partition 1, as lower ordinals stand still with an older template"
        ),
    ),
    "a DaemonSet": (
        [pod("ds-a", "DaemonSet", "ds", {ORDINAL: "x"})],
        "DaemonSet ds is not in the dump: assumed from its pods (1)",
    ),
    "a Job": (
        [pod("job-a", "Job", "job")],
        (
            "Job job is not in the dump: assumed with parallelism 1, as many pods are active; "
            "pods that fail are replaced up to 6 times, and it never completes, as its completions are "
            "not known"
        ),
    ),
    "a Job that is over": (
        [pod("job-a", "Job", "job", status={"phase": "Succeeded"})],
        "Job job is not in the dump: its finished pods (1) stay as they are",
    ),
    "an owner of another kind": (
        [pod("w-a", "Widget", "w")],
        "Widget default/w is not in the dump, and cannot be known: its pods (1) are lost once they end",
    ),
    "a class": (
        [pod("solo-a", "ReplicaSet", "solo", spec={"priorityClassName": "high", "priority": 7})],
        "PriorityClass high is not in the dump: assumed with the value 7 of its pods",
    ),
    "a claim": (
        [
            pod(
                "solo-a",
                "ReplicaSet",
                "solo",
                spec={"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]},
            )
        ],
        (
            "PersistentVolumeClaim default/data is not in the dump: assumed bound, to a volume "
            "that any node reaches"
        ),
    ),
    "an image that cannot be pulled": (
        [
            pod(
                "solo-a",
                "ReplicaSet",
                "solo",
                status={
                    "phase": "Pending",
                    "containerStatuses": [
                        {"name": "c", "state": {"waiting": {"reason": "ImagePullBackOff"}}}
                    ],
                },
            )
        ],
        "Each of these pods waits with ImagePullBackOff, and stays so: default/solo-a",
    ),
    "budgets": (
        [pod("solo-a", "ReplicaSet", "solo")],
        "The dump has no PodDisruptionBudgets: none are assumed, and no drain is held back",
    ),
}


@pytest.mark.parametrize("case", NOTED)
def test_what_is_put_back_is_announced_by_name(case: str) -> None:
    """The note says what is assumed, and what that weakens."""
    pods, note = NOTED[case]
    assert note in [one.text for one in completed([NODE, *pods]).notes]
    created = [one["index"] for one in _timeline([NODE, *pods], 5) if one["what"] == "created"]
    assert created == ([1] if case == "a StatefulSet" else [])


def test_evicted_pods_come_back_with_their_template() -> None:
    """A drain of two nodes and pods alone moves the pods of owners that the dump lacks, and no mirror pod."""
    pods = [
        pod("web-h1-a", "ReplicaSet", "web-h1", SET),
        pod("db-0", "StatefulSet", "db", {ORDINAL: "db-1"}),
        pod("static-a", "Node", "a", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}),
    ]
    other = {**NODE, "metadata": {"name": "b"}}
    lived = _lived([NODE, other, *pods], 30, {"do": "drain", "node": "a"}, 30)
    found = lived["timeline"]
    created = sorted(one["workload"] for one in found if one["what"] == "running" and one["node"] == "b")
    assert created == ["Deployment/default/web", "StatefulSet/default/db"]
    assert lived["final"]["drains"] == [{"node": "a", "from": 30, "until": 31, "evicted": 2}]


def test_rolling_back_to_what_is_assumed_is_refused() -> None:
    """A template that was read from pods is no history."""
    pods = NOTED["a partition"][0]
    assert _timeline([NODE, *pods], 30, {"do": "rollback", "kind": "StatefulSet", "name": "db"}, 30) == []


def test_a_job_that_is_assumed_never_completes() -> None:
    """What fails is replaced, what succeeds is not, and no condition is guessed."""
    runs = {"podstep/run-seconds": "40"}
    pods = [
        pod(
            name,
            "Job",
            "job",
            metadata={"annotations": {**runs, "podstep/outcome": outcome}},
            spec={"restartPolicy": "Never"},
        )
        for name, outcome in (("job-a", "Succeeded"), ("job-b", "Failed"))
    ]
    found = [one["what"] for one in _timeline([NODE, *pods], 30)]
    assert found.count("finished") == 2 and found.count("created") == 1 and "condition" not in found


def test_pods_without_nodes_are_refused() -> None:
    """The message has the command that gets them."""
    with pytest.raises(NoNodesError, match="kubectl get nodes"):
        completed(NOTED["a Job"][0])
