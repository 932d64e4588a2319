"""The field tables of the workload controllers, from ReplicationController to Job."""

from __future__ import annotations

from typing import Any

from scheduler_core.kubernetes import support_workload as support
from scheduler_core.kubernetes.fields_cluster import CONDITION, PERSISTENT_VOLUME_CLAIM, int_or_percent, top
from scheduler_core.kubernetes.fields_common import LABEL_SELECTOR, META
from scheduler_core.kubernetes.fields_pod import POD_TEMPLATE
from scheduler_core.kubernetes.model import (
    JobSpec,
    LabelSelector,
    ObjectMeta,
    UpdateStrategy,
    Workload,
    WorkloadStatus,
)
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Reader,
    boolean,
    enum,
    integer,
    labels,
    list_of,
    record,
    show,
)

_COUNT = integer(0)
_TEMPLATE = Field("template", POD_TEMPLATE)
_SELECTOR = Field("selector", LABEL_SELECTOR)
_REPLICAS = Field("replicas", _COUNT)


def _strategy(*types: str) -> Reader:
    """Create the reader of an update strategy; the first type is the default."""
    rolling = record(
        dict,
        {
            "maxSurge": Field("max_surge", int_or_percent),
            "maxUnavailable": Field("max_unavailable", int_or_percent),
            "partition": Field("partition", _COUNT),
        },
        part=support.ROLLING,
    )

    def build(type: str = types[0], rolling: dict[str, Any] | None = None) -> UpdateStrategy:  # noqa: A002 - the API's name
        return UpdateStrategy(type, **(rolling or {}))

    def check(out: dict[str, Any], at: At) -> None:
        if "rolling" in out and out.get("type", types[0]) != types[0]:
            at.child("rollingUpdate").refuse(f"must be left out where the type is {show(out['type'])}")

    fields = {"type": Field("type", enum(*types)), "rollingUpdate": Field("rolling", rolling)}
    return record(build, fields, part=support.STRATEGY, check=check)


_DEPLOYED = Field("strategy", _strategy("RollingUpdate", "Recreate"))
_UPDATED = Field("strategy", _strategy("RollingUpdate", "OnDelete"))

_BY_COUNT = record(
    dict,
    {"replicas": _REPLICAS, "selector": _SELECTOR, "template": _TEMPLATE},
    part=support.BY_COUNT,
)
_DEPLOYMENT = record(
    dict,
    {
        "replicas": _REPLICAS,
        "selector": _SELECTOR,
        "template": _TEMPLATE,
        "strategy": _DEPLOYED,
        "paused": Field("paused", boolean),
    },
    part=support.DEPLOYMENT,
)
_BY_MAP = record(
    dict,
    {"replicas": _REPLICAS, "selector": Field("labels", labels), "template": _TEMPLATE},
    part=support.BY_COUNT,
)


def _check_claim_templates(out: dict[str, Any], at: At) -> None:
    """Report templates without a name: the names of the claims that a pod mounts begin with it."""
    for index, claim in enumerate(out.get("claim_templates", ())):
        if not claim.meta.name:
            at.child("volumeClaimTemplates").child(index).child("metadata").child("name").error("is required")


_STATEFUL = record(
    dict,
    {
        "replicas": _REPLICAS,
        "selector": _SELECTOR,
        "template": _TEMPLATE,
        "volumeClaimTemplates": Field("claim_templates", list_of(PERSISTENT_VOLUME_CLAIM)),
        "updateStrategy": _UPDATED,
        "podManagementPolicy": Field("management", enum("OrderedReady", "Parallel")),
    },
    part=support.STATEFUL,
    check=_check_claim_templates,
)
_DAEMON = record(
    dict,
    {"selector": _SELECTOR, "template": _TEMPLATE, "updateStrategy": _UPDATED},
    part=support.DAEMON,
)
_JOB = record(
    dict,
    {
        "parallelism": Field("parallelism", _COUNT),
        "completions": Field("completions", _COUNT),
        "selector": _SELECTOR,
        "template": _TEMPLATE,
        "suspend": Field("suspended", boolean),
        "backoffLimit": Field("backoff_limit", _COUNT),
        "completionMode": Field("mode", enum("NonIndexed", "Indexed")),
    },
    part=support.JOB,
)
_JOB_STATUS = record(
    dict,
    {
        "succeeded": Field("succeeded", _COUNT),
        "failed": Field("failed", _COUNT),
        "conditions": Field("conditions", list_of(CONDITION)),
    },
    part=support.JOB_STATUS,
)


def _check_job_template(out: dict[str, Any], at: At) -> None:
    if "template" not in out["spec"]:
        at.child("spec").child("template").error("template is missing: the pods of its Jobs")


JOB_TEMPLATE = record(
    dict,
    {"metadata": Field("meta", META), "spec": Field("spec", _JOB, required=True)},
    check=_check_job_template,
)
"""The reader of a CronJob's Jobs."""


def _job(spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    """Return a Job's fields: spec, status, and as replicas the initial number of active pods."""
    rest: dict[str, Any] = {name: spec[name] for name in ("selector", "template") if name in spec}
    numbers = {name: value for name, value in spec.items() if name not in (*rest, "mode")}
    job = JobSpec(**numbers, indexed=spec.get("mode") == "Indexed")
    ends = [c.type for c in status.get("conditions", ()) if c.status == "True"]
    finished = next((end for end in ends if end in ("Complete", "Failed")), "")
    done = status.get("succeeded", 0)
    left = job.parallelism if job.completions is None else job.completions - done
    wanted = 0 if finished or job.suspended else max(0, min(job.parallelism, left))
    return {
        **rest,
        "replicas": wanted,
        "job": job,
        "status": WorkloadStatus(done, status.get("failed", 0), finished),
    }


def _workload(kind: str) -> Any:
    def build(
        meta: ObjectMeta, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None
    ) -> Workload:
        out = dict(spec or {})
        if "labels" in out:
            out["selector"] = LabelSelector(match_labels=out.pop("labels"))
        if "management" in out:
            out["parallel"] = out.pop("management") == "Parallel"
        if kind == "Job":
            out = _job(out, status or {})
        return Workload(kind, meta, **out)

    return build


def by_count(kind: str) -> Reader:
    """Create the reader of a kind whose spec has replicas, selector and template, as a ReplicaSet's."""
    return top(_REPLICA_SET, _workload(kind), _BY_COUNT)


_REPLICA_SET = next(part for part in support.WORKLOADS if part.type == "ReplicaSet")
WORKLOADS: dict[str, Reader] = {
    part.type: top(part, _workload(part.type), spec)
    for part, spec in zip(
        support.WORKLOADS, (_BY_MAP, _BY_COUNT, _DEPLOYMENT, _STATEFUL, _DAEMON), strict=True
    )
} | {"Job": top(support.WHOLE_JOB, _workload("Job"), _JOB, _JOB_STATUS)}
