"""Jobs that a dump lacks, from their pods."""

from __future__ import annotations

from typing import Any

from scheduler_core.cluster.reconstruction.dump import (
    Dump,
    Reference,
    active,
    named,
    oldest,
    shared_labels,
    youngest,
)
from scheduler_core.cluster.reconstruction.notes import ENDED, Note
from scheduler_core.cluster.reconstruction.template import own_labels, template_of
from scheduler_core.cluster.v1_37.job_pods import index_of, is_tracked, write_indexes
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    is_finished,
    is_ready,
    is_terminating,
    labels_of,
    namespace_of,
)

_UID, _NAME = "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"


def put_back(dump: Dump) -> None:
    """Put back Jobs whose pods go on; finished pods of others stay as they are."""
    for owner, pods in dump.missing("Pod", "Job"):
        label = named("Job", namespace_of(pods[0]), owner["name"])
        if not active(pods):
            dump.unlisted.add(owner["uid"])
            ended = sum(map(is_finished, pods))
            text = f"{label} is not in the dump: its finished pods ({ended}) stay as they are"
            dump.notes.append(Note(text, "Job", ENDED))
        else:
            _add_job(dump, owner, pods, label)


def _add_job(dump: Dump, owner: Reference, pods: list[Manifest], label: str) -> None:
    """Put back a Job that is active: what fails is replaced, and it is never complete by a guess."""
    own = active(pods)
    counted = [pod for pod in pods if is_finished(pod) and is_tracked(pod)]
    pod = youngest(own)
    labels = {
        _UID: owner["uid"],
        _NAME: owner["name"],
        "controller-uid": owner["uid"],
        "job-name": owner["name"],
    }
    template = template_of(pod)
    template["metadata"]["labels"] |= labels
    status: dict[str, Any] = {
        "active": len(own),
        "ready": sum(map(is_ready, own)),
        "terminating": sum(map(is_terminating, pods)),
        "startTime": oldest(pods),
        "uncountedTerminatedPods": {},
    }
    spec: dict[str, Any] = {
        "parallelism": len(own),
        "completions": len(own) + len(counted),
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
        "selector": {"matchLabels": _selector(pods, owner["uid"])},
        "template": template,
    }
    indexes = {index for one in own if (index := index_of(one)) is not None}
    if indexes:
        done = set(range(max(indexes) + 1)) - indexes - {index_of(one) for one in counted}
        spec |= {"completionMode": "Indexed", "completions": max(indexes) + 1}
        status |= {"completedIndexes": write_indexes(done), "succeeded": len(done)}
    dump.add(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": owner["name"],
                "namespace": namespace_of(pod),
                "uid": owner["uid"],
                "labels": {**own_labels(shared_labels(pods)), **labels},
                "creationTimestamp": oldest(pods),
            },
            "spec": spec,
            "status": status,
        },
        f"{label} is not in the dump: assumed with parallelism {len(own)}, as many pods are active; "
        "pods that fail are replaced up to 6 times, and it never completes, as its completions are not known",
    )


def _selector(pods: list[Manifest], uid: str) -> dict[str, str]:
    """Return the label by which a Job selects its pods, by its old name where they have that alone."""
    key = _UID if all(_UID in labels_of(pod) for pod in pods) else "controller-uid"
    if all(labels_of(pod).get(key) == uid for pod in pods):
        return {key: uid}
    return own_labels(shared_labels(pods))
