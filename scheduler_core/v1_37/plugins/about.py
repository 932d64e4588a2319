"""What each plugin of kube-scheduler v1.37 asks of a node, and what it prefers: one row a plugin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from scheduler_core.v1_37.config import IMPLEMENTED, MULTI_POINT


class About(Struct, frozen=True):
    """A plugin in words: when a node passes (``filters``) and which one scores high (``prefers``), or ""."""

    filters: str = ""
    prefers: str = ""
    formula: str = ""
    """Its raw score; what normalization makes of it follows after a semicolon."""
    otherwise: str = ""
    """What it does at other extension points, as a sentence without its period."""


ABOUT: Mapping[str, About] = {
    "SchedulingGates": About(otherwise="PreEnqueue refuses a pod while spec.schedulingGates has an entry"),
    "PrioritySort": About(otherwise="Orders the queue by priority, then by the time of the last attempt"),
    "NodeName": About("spec.nodeName is empty or the node's name"),
    "NodeUnschedulable": About(
        "the node is not marked unschedulable, or the pod tolerates node.kubernetes.io/unschedulable"
    ),
    "TaintToleration": About(
        "the pod tolerates every taint with the effect NoSchedule or NoExecute",
        "nodes with few PreferNoSchedule taints that the pod does not tolerate",
        "number of such taints; normalized by 100 − 100 · score / greatest",
    ),
    "NodeAffinity": About(
        "nodeSelector and the required node affinity match, and the profile's added affinity",
        "nodes that preferred terms of node affinity select",
        "sum of the weights of matching terms; normalized by 100 · score / greatest",
    ),
    "NodePorts": About("no host port of the pod is in use on the node"),
    "NodeResourcesFit": About(
        "the requests, with sidecars and overhead, fit into what is left of allocatable, and so does one pod",
        "by default nodes of which little is requested (LeastAllocated)",
        "mean over resources of 100 · (allocatable − requested) / allocatable, by weight; not normalized",
    ),
    "VolumeRestrictions": About("no other pod uses a ReadWriteOncePod claim or an exclusive disk of the pod"),
    "NodeVolumeLimits": About("the node's CSI drivers can attach the pod's volumes within their limits"),
    "VolumeBinding": About(
        "bound volumes are reachable, and unbound claims find a volume or can be provisioned",
        "with StorageCapacityScoring, nodes whose volumes fit tightly",
        "by the profile's shape of utilization; without the gate it is skipped",
        "Reserve and PreBind bind the claims",
    ),
    "VolumeZone": About("the node is in the zones and regions of the pod's bound volumes"),
    "PodTopologySpread": About(
        "the skew of each DoNotSchedule constraint stays within maxSkew with the pod in the node's domain",
        "domains with few matching pods, by the ScheduleAnyway constraints",
        "matching pods of the domain, weighted by the number of domains; normalized by "
        "100 · (greatest + least − score) / greatest",
    ),
    "InterPodAffinity": About(
        "required pod affinity and anti-affinity hold, and no pod there has anti-affinity to this one",
        "domains with pods that preferred terms select",
        "sum of the weights of terms; normalized to 0–100 between least and greatest",
    ),
    "DynamicResources": About(
        "devices for the pod's ResourceClaims can be allocated on the node",
        "nodes that serve earlier subrequests of prioritized lists",
        "sum over claims; normalized by 100 · score / greatest",
        "PreEnqueue waits for the claims, PostFilter may deallocate one, Reserve and PreBind allocate",
    ),
    "DefaultPreemption": About(otherwise="PostFilter looks for pods of lower priority whose removal helps"),
    "NodeResourcesBalancedAllocation": About(
        prefers="nodes whose resources would be requested in equal shares",
        formula="50 + (50 + balance with the pod − balance without it) / 2, where balance is 100 · (1 − "
        "deviation of the requested shares): no change is 75",
    ),
    "ImageLocality": About(
        prefers="nodes that have the pod's images already",
        formula="sum of the sizes of present images, each times its share of nodes, scaled to 0–100 between "
        "23 MiB and 1000 MiB per container",
    ),
    "DefaultBinder": About(otherwise="Bind writes the node to the pod"),
    "NodeDeclaredFeatures": About("the node declares the features that the pod needs"),
    "GangScheduling": About(
        otherwise="PreEnqueue and Permit hold a PodGroup's pods until minCount are there"
    ),
}
"""By plugin, in the order of the default profile."""


def plugin_text(plugin: str) -> str:
    """Return what a plugin prefers, or asks for, as a clause."""
    found = ABOUT.get(plugin, About())
    return found.prefers or found.filters or found.otherwise


def rows() -> Iterator[tuple[str, About, tuple[str, ...], int]]:
    """Yield each plugin with its text, extension points and default weight, 0 if it does not score."""
    weights = dict(MULTI_POINT)
    for plugin, about in ABOUT.items():
        points = tuple(point for point, names in IMPLEMENTED.items() if plugin in names)
        yield plugin, about, points, (weights.get(plugin, 0) or 1) if "score" in points else 0
