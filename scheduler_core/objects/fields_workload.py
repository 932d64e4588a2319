"""The tables of the controllers, from ReplicationController to Job."""

from __future__ import annotations

from typing import Any

from scheduler_core.objects.fields_cluster import CONDITION, PERSISTENT_VOLUME_CLAIM, top
from scheduler_core.objects.fields_common import LABEL_SELECTOR
from scheduler_core.objects.fields_pod import POD_TEMPLATE
from scheduler_core.objects.model import LabelSelector, ObjectMeta, Workload
from scheduler_core.objects.reading import Field, Reader, boolean, integer, labels, list_of, record

_COUNT = integer(0)
_TEMPLATE = Field("template", POD_TEMPLATE)
_SELECTOR = Field("selector", LABEL_SELECTOR)
_REPLICAS = Field("replicas", _COUNT)
_UNREAD = (
    "minReadySeconds revisionHistoryLimit progressDeadlineSeconds paused strategy rollbackTo updateStrategy"
)

_BY_COUNT = record(
    dict, {"replicas": _REPLICAS, "selector": _SELECTOR, "template": _TEMPLATE}, unread=_UNREAD
)
_BY_MAP = record(
    dict,
    {"replicas": _REPLICAS, "selector": Field("labels", labels), "template": _TEMPLATE},
    unread=_UNREAD,
)
_STATEFUL = record(
    dict,
    {
        "replicas": _REPLICAS,
        "selector": _SELECTOR,
        "template": _TEMPLATE,
        "volumeClaimTemplates": Field("claim_templates", list_of(PERSISTENT_VOLUME_CLAIM)),
    },
    unread=_UNREAD + " serviceName podManagementPolicy persistentVolumeClaimRetentionPolicy ordinals",
)
_DAEMON = record(dict, {"selector": _SELECTOR, "template": _TEMPLATE}, unread=_UNREAD + " templateGeneration")
_JOB = record(
    dict,
    {
        "parallelism": Field("parallelism", _COUNT),
        "completions": Field("completions", _COUNT),
        "selector": _SELECTOR,
        "template": _TEMPLATE,
        "suspend": Field("suspended", boolean),
    },
    unread=(
        "backoffLimit activeDeadlineSeconds ttlSecondsAfterFinished manualSelector completionMode "
        "podFailurePolicy podReplacementPolicy backoffLimitPerIndex maxFailedIndexes successPolicy managedBy"
    ),
)
_JOB_STATUS = record(
    dict,
    {"succeeded": Field("succeeded", _COUNT), "conditions": Field("conditions", list_of(CONDITION))},
    unread=(
        "active failed startTime completionTime ready terminating uncountedTerminatedPods "
        "completedIndexes failedIndexes"
    ),
)


def _workload(kind: str) -> Any:
    def build(
        meta: ObjectMeta, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
    ) -> Workload:
        out = dict(spec or {})
        if "labels" in out:
            out["selector"] = LabelSelector(match_labels=out.pop("labels"))
        if kind == "Job":
            parallelism = out.pop("parallelism", 1)
            completions = out.pop("completions", None)
            done = status or {}
            left = parallelism if completions is None else completions - done.get("succeeded", 0)
            over = any(
                c.type in ("Complete", "Failed") and c.status == "True" for c in done.get("conditions", ())
            )
            out["replicas"] = 0 if over or out.pop("suspended", False) else max(0, min(parallelism, left))
            out.pop("suspended", None)
        return Workload(kind, meta, **out)

    return build


def _top(kind: str, spec: Reader, status: Reader | None = None) -> Reader:
    return top(_workload(kind), spec, status)


WORKLOADS: dict[str, Reader] = {
    "ReplicationController": _top("ReplicationController", _BY_MAP),
    "ReplicaSet": _top("ReplicaSet", _BY_COUNT),
    "Deployment": _top("Deployment", _BY_COUNT),
    "StatefulSet": _top("StatefulSet", _STATEFUL),
    "DaemonSet": _top("DaemonSet", _DAEMON),
    "Job": _top("Job", _JOB, _JOB_STATUS),
}
