"""Forms of the objects that create pods: Deployment, StatefulSet, DaemonSet, Job, and bare pods."""

from __future__ import annotations

from scheduler_core.authoring.forms.fields import FormField, Values
from scheduler_core.authoring.forms.meta import LABELS, NAMESPACE, manifest, meta, name_field
from scheduler_core.authoring.forms.pods import POD_FIELDS, RUNS, labels_of, template
from scheduler_core.kubernetes.manifests import Manifest

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
MOST_REPLICAS = 10_000
MOST_PODS = 100  # bare pods: each is a separate document


def _replicas(label: str, most: int = MOST_REPLICAS, low: int = 0) -> FormField:
    return FormField(
        "replicas",
        label,
        "integer",
        "3",
        "3",
        low=low,
        high=most,
        required=True,
        place=r"spec\.(replicas|parallelism)",
    )


DEPLOYMENT_FIELDS = (name_field("web"), NAMESPACE, _replicas("Replicas"), LABELS, *POD_FIELDS)
STATEFUL_FIELDS = (
    name_field("db"),
    NAMESPACE,
    _replicas("Replicas"),
    LABELS,
    FormField(
        "management",
        "Pods come",
        "choice",
        "OrderedReady",
        choices=(("OrderedReady", "one after the other"), ("Parallel", "all at once")),
        place=r"podManagementPolicy",
    ),
    FormField(
        "claimName",
        "Claim of each pod",
        "name",
        placeholder="data",
        hint="nothing: pods without claims",
        section="Its claims",
        place=r"volumeClaimTemplates.*name",
    ),
    FormField(
        "storage",
        "Storage",
        "quantity",
        placeholder="10Gi",
        section="Its claims",
        place=r"volumeClaimTemplates.*storage$",
    ),
    FormField(
        "storageClass",
        "Storage class",
        "name",
        placeholder="the default class",
        section="Its claims",
        suggest="storageClasses",
        place=r"storageClassName",
    ),
    *POD_FIELDS,
)
DAEMON_FIELDS = (name_field("agent"), NAMESPACE, LABELS, *POD_FIELDS)
JOB_FIELDS = (
    name_field("batch"),
    NAMESPACE,
    _replicas("Parallelism"),
    FormField(
        "completions",
        "Completions",
        "integer",
        placeholder="as many",
        low=1,
        high=MOST_REPLICAS,
        place=r"completions",
    ),
    FormField(
        "queue",
        "Kueue's LocalQueue",
        "name",
        placeholder="team-a",
        hint="nothing: its pods come at once",
        place=r"metadata\.labels",
    ),
    LABELS,
    RUNS,
    *POD_FIELDS,
)
POD_OF_ITS_OWN_FIELDS = (
    name_field("pod"),
    NAMESPACE,
    FormField(
        "replicas",
        "How many",
        "integer",
        "1",
        "1",
        "more than one are numbered",
        low=1,
        high=MOST_PODS,
        required=True,
    ),
    LABELS,
    FormField(
        "nodeName",
        "Bound to node",
        "name",
        placeholder="none: it is scheduled",
        suggest="nodes",
        place=r"nodeName",
    ),
    RUNS,
    *POD_FIELDS,
)


def _spec(values: Values, restart: str = "") -> Manifest:
    """Return a selector and the template that it selects."""
    metadata, spec = template(values, restart)
    return {
        "selector": {"matchLabels": labels_of(values)},
        "template": {"metadata": metadata, "spec": spec},
    }


def deployment(values: Values) -> list[Manifest]:
    """Return a Deployment."""
    spec = {"replicas": values["replicas"], **_spec(values)}
    return [manifest("apps/v1", "Deployment", meta(values), spec=spec)]


def stateful_set(values: Values) -> list[Manifest]:
    """Return a StatefulSet, with a claim template if one is named."""
    spec = {"serviceName": values["name"], "replicas": values["replicas"], **_spec(values)}
    if values["management"] == "Parallel":
        spec["podManagementPolicy"] = "Parallel"
    if values["claimName"]:
        wanted: Manifest = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": values["storage"]}},
        }
        if values["storageClass"]:
            wanted["storageClassName"] = values["storageClass"]
        spec["volumeClaimTemplates"] = [{"metadata": {"name": values["claimName"]}, "spec": wanted}]
    return [manifest("apps/v1", "StatefulSet", meta(values), spec=spec)]


def daemon_set(values: Values) -> list[Manifest]:
    """Return a DaemonSet."""
    return [manifest("apps/v1", "DaemonSet", meta(values), spec=_spec(values))]


def job(values: Values) -> list[Manifest]:
    """Return a Job whose pods do not restart."""
    metadata, spec = template(values, "Never")
    completions = values["completions"] if values["completions"] is not None else values["replicas"]
    wanted = {"parallelism": values["replicas"], "completions": completions}
    queued = {"labels": {QUEUE_LABEL: values["queue"]}} if values["queue"] else {}
    return [
        manifest(
            "batch/v1",
            "Job",
            {**meta(values), **queued},
            spec={**wanted, "template": {"metadata": metadata, "spec": spec}},
        )
    ]


def pods(values: Values) -> list[Manifest]:
    """Return one pod, or the requested number of them, numbered from 1."""
    count = values["replicas"] or 1
    made = []
    for number in range(1, count + 1):
        metadata, spec = template(values)
        named = meta(values, f"{values['name']}-{number}" if count > 1 else "")
        bound = {"nodeName": values["nodeName"]} if values["nodeName"] else {}
        made.append(manifest("v1", "Pod", {**named, **metadata}, spec={**bound, **spec}))
    return made
