"""The plugins of kube-scheduler v1.37: a row for each says all that is not its code.

Its class is in ``plugins/`` and its events in ``hints/``, each in a module of its own that
is found by that alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.arguments import (
    AFFINITY,
    BALANCED,
    BINDING,
    FIT,
    INTER_POD,
    PREEMPTION,
    SPREAD,
    Argument,
)

POINTS = (
    *("preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "preBind", "permit"),
    *("queueSort", "bind", "placementGenerate", "placementScore", "podGroupPostFilter"),
)
"""The extension points, in the order in which the reference lists them."""


class Declared(Struct, frozen=True):
    """A plugin of the default profile, or one that a feature gate adds.

    ``points`` are the extension points that it implements. ``unprepared`` is the error that it answers at one
    of them if it did not run at the point that prepares it (PreFilter, or PreScore for Score); ``required``
    are the points at which the same is not simulated. ``weight`` 0: none is given, which counts as 1 for a
    score plugin. ``arguments`` are those that have an effect here, in the form's order.

    In words: when a node passes (``filters``), which one scores high (``prefers``), its raw score and, after
    a semicolon, what normalization makes of it (``formula``), what it does at other points (``otherwise``).
    """

    key: str
    points: str
    weight: int = 0
    gate: str = ""
    unprepared: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    filters: str = ""
    prefers: str = ""
    formula: str = ""
    otherwise: str = ""
    arguments: tuple[Argument, ...] = ()

    @property
    def text(self) -> str:
        """What it prefers, or asks for, as a clause."""
        return self.prefers or self.filters or self.otherwise

    @property
    def default_weight(self) -> int:
        """The weight in the default profile, 0 if it does not score."""
        return (self.weight or 1) if "score" in self.points.split() else 0


DECLARED = (
    Declared(
        "SchedulingGates", "preEnqueue",
        otherwise="PreEnqueue refuses a pod while spec.schedulingGates has an entry",
    ),
    Declared(
        "PrioritySort", "queueSort",
        otherwise="Orders the queue by priority, then by the time of the last attempt",
    ),
    Declared("NodeName", "preFilter filter", filters="spec.nodeName is empty or the node's name"),
    Declared(
        "NodeUnschedulable", "preFilter filter",
        filters="the node is not marked unschedulable, or the pod tolerates node.kubernetes.io/unschedulable",
    ),
    Declared(
        "TaintToleration", "preFilter filter preScore score", weight=3,
        unprepared={"score": 'failed to read "PreScoreTaintToleration" from cycleState: not found'},
        filters="the pod tolerates every taint with the effect NoSchedule or NoExecute",
        prefers="nodes with few PreferNoSchedule taints that the pod does not tolerate",
        formula="number of such taints; normalized by 100 − 100 · score / greatest",
    ),
    Declared(
        "NodeAffinity", "preFilter filter preScore score", weight=2,
        arguments=AFFINITY,
        filters="nodeSelector and the required node affinity match, and the profile's added affinity",
        prefers="nodes that preferred terms of node affinity select",
        formula="sum of the weights of matching terms; normalized by 100 · score / greatest",
    ),
    Declared(
        "NodePorts", "preFilter filter",
        unprepared={"filter": 'reading "PreFilterNodePorts" from cycleState: not found'},
        filters="no host port of the pod is in use on the node",
    ),
    Declared(
        "NodeResourcesFit", "preFilter filter preScore score placementScore", weight=1,
        unprepared={"filter": 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'},
        arguments=FIT,
        filters="the requests, with sidecars and overhead, fit into what is left of allocatable, and so does "
        "one pod",
        prefers="by default nodes of which little is requested (LeastAllocated)",
        formula="mean over resources of 100 · (allocatable − requested) / allocatable, by weight; not "
        "normalized",
    ),
    Declared(
        "VolumeRestrictions", "preFilter filter", required=("filter",),
        filters="no other pod uses a ReadWriteOncePod claim or an exclusive disk of the pod",
    ),
    Declared(
        "NodeVolumeLimits", "preFilter filter",
        filters="the node's CSI drivers can attach the pod's volumes within their limits",
    ),
    Declared(
        "VolumeBinding", "preFilter filter preScore score reserve preBind",
        unprepared={"filter": "not found"},
        arguments=BINDING,
        filters="bound volumes are reachable, and unbound claims find a volume or can be provisioned",
        prefers="with StorageCapacityScoring, nodes whose volumes fit tightly",
        formula="by the profile's shape of utilization; without the gate it is skipped",
        otherwise="Reserve and PreBind bind the claims",
    ),
    Declared(
        "VolumeZone", "preFilter filter", required=("filter",),
        filters="the node is in the zones and regions of the pod's bound volumes",
    ),
    Declared(
        "PodTopologySpread", "preFilter filter preScore score", weight=2,
        unprepared={
            "filter": 'reading "PreFilterPodTopologySpread" from cycleState: not found',
            "score": 'error reading "PreScorePodTopologySpread" from cycleState: not found',
        },
        arguments=SPREAD,
        filters="the skew of each DoNotSchedule constraint stays within maxSkew with the pod in the node's "
        "domain",
        prefers="domains with few matching pods, by the ScheduleAnyway constraints",
        formula="matching pods of the domain, weighted by the number of domains; normalized by 100 · "
        "(greatest + least − score) / greatest",
    ),
    Declared(
        "InterPodAffinity", "preFilter filter preScore score", weight=2,
        unprepared={
            "filter": 'error reading "PreFilterInterPodAffinity" from cycleState: not found',
            "score": 'failed to read "PreScoreInterPodAffinity" from cycleState: not found',
        },
        arguments=INTER_POD,
        filters="required pod affinity and anti-affinity hold, and no pod there has anti-affinity to this "
        "one",
        prefers="domains with pods that preferred terms select",
        formula="sum of the weights of terms; normalized to 0–100 between least and greatest",
    ),
    Declared(
        "DynamicResources", "preEnqueue preFilter filter postFilter score reserve preBind podGroupPostFilter",
        weight=2, unprepared={"filter": "not found", "score": "not found"},
        filters="devices for the pod's ResourceClaims can be allocated on the node",
        prefers="nodes that serve earlier subrequests of prioritized lists",
        formula="sum over claims; normalized by 100 · score / greatest",
        otherwise="PreEnqueue waits for the claims, PostFilter may deallocate one, Reserve and PreBind "
        "allocate",
    ),
    Declared(
        "DefaultPreemption", "preEnqueue postFilter podGroupPostFilter",
        arguments=PREEMPTION,
        otherwise="PostFilter looks for pods of lower priority whose removal helps",
    ),
    Declared(
        "NodeResourcesBalancedAllocation", "preScore score", weight=1,
        arguments=BALANCED,
        prefers="nodes whose resources would be requested in equal shares",
        formula="50 + (50 + balance with the pod − balance without it) / 2, where balance is 100 · (1 − "
        "deviation of the requested shares): no change is 75",
    ),
    Declared(
        "ImageLocality", "score", weight=1,
        prefers="nodes that have the pod's images already",
        formula="sum of the sizes of present images, each times its share of nodes, scaled to 0–100 between "
        "23 MiB and 1000 MiB per container",
    ),
    Declared("DefaultBinder", "bind", otherwise="Bind writes the node to the pod"),
    Declared(
        "NodeDeclaredFeatures", "preFilter filter",
        unprepared={"filter": 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'},
        filters="the node declares the features that the pod needs",
    ),
    Declared(
        "GangScheduling", "preEnqueue permit", gate="GenericWorkload",
        otherwise="PreEnqueue and Permit hold a PodGroup's pods until minCount are there",
    ),
    Declared("TopologyPlacementGenerator", "placementGenerate", gate="TopologyAwareWorkloadScheduling"),
    Declared("PodGroupPodsCount", "placementScore", weight=1, gate="TopologyAwareWorkloadScheduling"),
)  # fmt: skip
"""In the order of the default profile."""


def declared(plugin: str) -> Declared:
    """Return a plugin's row, an empty one if there is none."""
    return _BY_KEY.get(plugin) or Declared(plugin, "")


_BY_KEY = {row.key: row for row in DECLARED}
