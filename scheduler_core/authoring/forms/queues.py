"""Forms of what Kueue has to give: a ResourceFlavor, and a team's ClusterQueue with its LocalQueue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.authoring.forms.fields import FormField, Values
from scheduler_core.authoring.forms.meta import NAMESPACE, manifest, meta, name_field
from scheduler_core.kubernetes.manifests import Manifest

API = "kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"
QUOTAS = {"quotaCpu": "cpu", "quotaMemory": "memory", "quotaGpus": GPU}
"""The fields with quota, and their resources."""

FLAVOR_FIELDS = (
    name_field("default-flavor"),
    FormField(
        "nodeLabels",
        "Labels of its nodes",
        "labels",
        placeholder="pool=gpu",
        hint="nothing: any node",
        suggest="labels",
        place=r"nodeLabels",
    ),
    FormField(
        "nodeTaints",
        "Taints of its nodes",
        "taints",
        placeholder="gpu=yes:NoSchedule",
        hint="only Jobs that tolerate them get it",
        suggest="taints",
        place=r"nodeTaints",
    ),
)
QUEUE_FIELDS = (
    name_field("team-a"),
    NAMESPACE,
    FormField("flavor", "ResourceFlavor", "name", "default-flavor", "default-flavor", required=True),
    FormField(
        "cohort",
        "Cohort",
        "name",
        placeholder="all-teams",
        hint="queues of one cohort lend each other what they do not use",
        place=r"cohortName",
    ),
    FormField("quotaCpu", "cpu", "cpu", "8", "8", required=True, section="Its quota"),
    FormField("quotaMemory", "memory", "quantity", "32Gi", "32Gi", section="Its quota"),
    FormField("quotaGpus", "GPUs", "integer", placeholder="0", section="Its quota"),
    FormField(
        "strategy",
        "A Job that does not fit",
        "choice",
        "BestEffortFIFO",
        choices=(("BestEffortFIFO", "lets those behind it pass"), ("StrictFIFO", "holds up its queue")),
        place=r"queueingStrategy",
    ),
    FormField(
        "within",
        "Preempts in its queue",
        "choice",
        "Never",
        choices=(
            ("Never", "nobody"),
            ("LowerPriority", "those of lower priority"),
            ("LowerOrNewerEqualPriority", "also newer ones of its priority"),
        ),
        section="Preemption",
        place=r"withinClusterQueue",
    ),
    FormField(
        "reclaim",
        "Takes back what it lent",
        "choice",
        "Never",
        choices=(
            ("Never", "never"),
            ("LowerPriority", "from those of lower priority"),
            ("Any", "from anybody who borrows"),
        ),
        section="Preemption",
        place=r"reclaimWithinCohort",
    ),
)


def flavor(values: Values) -> list[Manifest]:
    """Return a ResourceFlavor."""
    spec: Manifest = {}
    if values["nodeLabels"]:
        spec["nodeLabels"] = dict(values["nodeLabels"])
    if values["nodeTaints"]:
        spec["nodeTaints"] = list(values["nodeTaints"])
    return [manifest(API, "ResourceFlavor", meta(values), spec=spec)]


def team(values: Values) -> list[Manifest]:
    """Return a ClusterQueue and a LocalQueue of its name."""
    quota = {resource: str(values[name]) for name, resource in QUOTAS.items() if values[name]}
    preemption = {
        "withinClusterQueue": values["within"] or "Never",
        "reclaimWithinCohort": values["reclaim"] or "Never",
    }
    return [
        cluster_queue(
            values["name"],
            values["cohort"] or "",
            values["flavor"],
            quota,
            queueingStrategy=values["strategy"] or "BestEffortFIFO",
            preemption=preemption,
        ),
        local_queue(values["name"], values["namespace"] or "default"),
    ]


def cluster_queue(
    name: str, cohort: str, flavor_name: str, quota: Mapping[str, str], **more: object
) -> Manifest:
    """Return a ClusterQueue with quota by resource, of one flavor."""
    resources = [{"name": resource, "nominalQuota": amount} for resource, amount in quota.items()]
    group = {"coveredResources": list(quota), "flavors": [{"name": flavor_name, "resources": resources}]}
    spec: Manifest = {"cohortName": cohort} if cohort else {}
    spec |= {"namespaceSelector": {}, **more, "resourceGroups": [group]}
    return manifest(API, "ClusterQueue", {"name": name}, spec=spec)


def local_queue(name: str, namespace: str) -> Manifest:
    """Return a LocalQueue of a ClusterQueue's name."""
    return manifest(API, "LocalQueue", {"name": name, "namespace": namespace}, spec={"clusterQueue": name})


def teams(names: Iterable[str], namespace: str, whole: Mapping[str, int]) -> list[Manifest]:
    """Return queues of one cohort that share amounts equally, in the order of their names.

    Amounts are in units of ``nominalQuota``: cpu in cores, memory in bytes.
    """
    listed = sorted(names)
    quota = {resource: str(amount // len(listed)) for resource, amount in whole.items() if amount}
    made: list[Manifest] = [manifest(API, "ResourceFlavor", {"name": "default-flavor"}, spec={})]
    for name in listed:
        reclaim = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
        made.append(cluster_queue(name, "all-teams", "default-flavor", quota, preemption=reclaim))
        made.append(local_queue(name, namespace))
    return made
