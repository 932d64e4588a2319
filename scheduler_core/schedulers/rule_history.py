"""What became of each rule between kube-scheduler v1.11 and v1.37: two sentences a rule.

Each names the release and the enhancement (KEP), pull request or issue of kubernetes/kubernetes that it is
about, so that a reader can look it up.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class RuleHistory(Struct, frozen=True):
    """How a rule came to be what it is, and what changed in it; ``plugin`` is its name in the framework."""

    plugin: str
    origin: str
    change: str

    @property
    def sentences(self) -> tuple[str, str]:
        """Both sentences."""
        return self.origin, self.change


_CONDITIONS = RuleHistory(
    "TaintToleration",
    "From v1.12 on the node controller taints nodes by their conditions, and this predicate no longer runs "
    "by default (KEP-382).",
    "v1.17 removed it when those taints became stable (#84152): what it rejected, TaintToleration rejects.",
)
_VOLUME_COUNTS = RuleHistory(
    "NodeVolumeLimits",
    "The counts per cloud became plugins in v1.17 (#83554) beside NodeVolumeLimits, which reads the limit of "
    "each CSI driver and has been stable since v1.17 (KEP-554).",
    "v1.31 took them out of the default profile (#124500) and v1.32 removed them (#124003): drivers report "
    "their limits in CSINode.",
)
_FIT_SCORES = RuleHistory(
    "NodeResourcesFit",
    "The priority became a score plugin of its own with the framework, stable in v1.19 (KEP-624).",
    "v1.22 made it a scoring strategy of NodeResourcesFit, beside MostAllocated and "
    "RequestedToCapacityRatio (KEP-2458).",
)
_SPREADING = RuleHistory(
    "PodTopologySpread",
    "v1.20 turned it off for the default constraints of PodTopologySpread, stable since v1.24 (KEP-1258).",
    "v1.29 removed its plugin, SelectorSpread (#117720).",
)
_SERVICES = RuleHistory(
    "",
    "v1beta2, which came with v1.22 (KEP-785), deprecated its plugin for inter-pod affinity (#94008).",
    "v1.23 removed Policy (#105424), and the plugin with it (#105588).",
)
_LABELS = RuleHistory(
    "NodeAffinity",
    "Since v1.20 a profile says the same by addedAffinity of NodeAffinity (#96202).",
    "v1.23 removed Policy (#105424), and its plugin NodeLabel with it (#105906).",
)
_AFFINITY = RuleHistory(
    "NodeAffinity",
    "The node selector and required affinity became one filter plugin in v1.17, which also scores preferred "
    "terms (#83633, #83848).",
    "v1.20 added addedAffinity for all pods of a profile (#96202), and the weight of preferred terms rose "
    "from 1 to 2 with v1beta3 in v1.23 (#104251).",
)
_PODS = RuleHistory(
    "InterPodAffinity",
    "It became a plugin that filters and scores in v1.17 (#83982); with v1beta3, in v1.23, its weight rose "
    "from 1 to 2 (#104251).",
    "Terms select namespaces by their labels since v1.24 (KEP-2249), and take matchLabelKeys and "
    "mismatchLabelKeys since v1.33 (KEP-3633).",
)
_TAINTS = RuleHistory(
    "TaintToleration",
    "Since v1.17 nodes are always tainted by their conditions, so that it also does what the predicates on "
    "conditions did (#82703).",
    "With v1beta3, in v1.23, the weight of its score rose from 1 to 3 (#104251).",
)
_RESOURCES = RuleHistory(
    "NodeResourcesFit",
    "It became a filter plugin in v1.17 (#83650), and took over scoring by allocation, with a strategy to "
    "choose, in v1.22 (KEP-2458).",
    "What a pod needs includes its overhead, stable since v1.24 (KEP-688), and sidecars, stable since v1.33 "
    "(KEP-753).",
)
_BALANCE = RuleHistory(
    "NodeResourcesBalancedAllocation",
    "v1.11 compares cpu with memory, and with attached volumes if a gate of that release is on (#60525).",
    "v1.22 replaced this by the standard deviation over the resources that are configured, extended ones "
    "included (#101946).",
)
_IMAGES = RuleHistory(
    "ImageLocality",
    "v1.12 weighted the size of an image by the share of nodes that have it (#65745).",
    "With that, v1.12 made it one of the default priorities (#68081).",
)
_DISKS = RuleHistory(
    "VolumeRestrictions",
    "NoDiskConflict, on exclusive disks of clouds, became this plugin in v1.17 (#83554).",
    "It also keeps a ReadWriteOncePod claim to one pod: alpha in v1.22, stable since v1.29 (KEP-2485).",
)
_BINDING = RuleHistory(
    "VolumeBinding",
    "It became a plugin with the framework, stable in v1.19 (KEP-624); since v1.24 it checks the capacity "
    "that a storage class has left (KEP-1472).",
    "Scoring by that capacity is alpha in v1.33 and beta in v1.37 (KEP-4049).",
)
_ZONES = RuleHistory(
    "VolumeZone",
    "NoVolumeZoneConflict became this plugin in v1.17 (#83554).",
    "For CSI drivers the node affinity of volumes, which VolumeBinding checks, says the same since v1.17 "
    "(KEP-557).",
)


def _general(plugin: str, predicate: str) -> RuleHistory:
    return RuleHistory(
        plugin,
        f"In v1.11 it is {predicate}, a part of GeneralPredicates.",
        "v1.17 split these into filter plugins, of which a profile can disable each alone (#84039).",
    )


HISTORY: Mapping[str, RuleHistory] = {
    # Plugins, in the order of the default profile
    "SchedulingGates": RuleHistory(
        "SchedulingGates",
        "It came in v1.26 as alpha, with the extension point PreEnqueue (KEP-3521).",
        "It is stable since v1.30 (KEP-3521).",
    ),
    "PrioritySort": RuleHistory(
        "PrioritySort",
        "v1.11 orders its queue by priority, beta in that release (KEP-268).",
        "The order became a plugin with the framework, stable in v1.19 (KEP-624).",
    ),
    "NodeName": _general("NodeName", "HostName"),
    "NodeUnschedulable": RuleHistory(
        "NodeUnschedulable",
        "In v1.11 it is a part of CheckNodeCondition, and a predicate of its own behind the gate "
        "TaintNodesByCondition (#60386).",
        "v1.12 turned that gate on (KEP-382), and v1.17 removed CheckNodeCondition (#84152).",
    ),
    "TaintToleration": _TAINTS,
    "NodeAffinity": _AFFINITY,
    "NodePorts": _general("NodePorts", "PodFitsHostPorts"),
    "NodeResourcesFit": _RESOURCES,
    "VolumeRestrictions": _DISKS,
    "NodeVolumeLimits": RuleHistory(
        "NodeVolumeLimits",
        "It was alpha in v1.11 and is stable since v1.17: limits of CSI drivers, which CSINode reports "
        "(KEP-554).",
        "It alone is left of the volume limits since v1.32 removed those of each cloud (#124003).",
    ),
    "VolumeBinding": _BINDING,
    "VolumeZone": _ZONES,
    "PodTopologySpread": RuleHistory(
        "PodTopologySpread",
        "It came in v1.16 as alpha and is stable since v1.19 (KEP-895); its default constraints replaced "
        "SelectorSpread, stable since v1.24 (KEP-1258).",
        "Its field minDomains is stable since v1.30 (KEP-3022), and nodeTaintsPolicy since v1.33 (KEP-3094).",
    ),
    "InterPodAffinity": _PODS,
    "DynamicResources": RuleHistory(
        "DynamicResources",
        "Devices by structured parameters are alpha in v1.30 and beta in v1.32 (KEP-4381).",
        "They are stable since v1.34 (KEP-4381).",
    ),
    "DefaultPreemption": RuleHistory(
        "DefaultPreemption",
        "Preemption, beta in v1.11 (KEP-268), became a PostFilter plugin with the framework, stable in v1.19 "
        "(KEP-624).",
        "It deletes victims asynchronously by default since v1.33 (KEP-4832).",
    ),
    "NodeResourcesBalancedAllocation": _BALANCE,
    "ImageLocality": _IMAGES,
    "DefaultBinder": RuleHistory(
        "DefaultBinder",
        "In v1.11 binding is a part of the scheduler itself, with extenders beside it.",
        "It became a plugin with the framework, alpha in v1.16 and stable in v1.19 (KEP-624).",
    ),
    "NodeDeclaredFeatures": RuleHistory(
        "NodeDeclaredFeatures",
        "It came in v1.35 as alpha and was beta in v1.36 (KEP-5328).",
        "It is stable since v1.37 (KEP-5328).",
    ),
    "GangScheduling": RuleHistory(
        "GangScheduling",
        "It came in v1.35 as alpha (KEP-4671).",
        "It is beta in v1.37 (KEP-4671).",
    ),
    # Predicates of v1.11
    "CheckNodeCondition": _CONDITIONS,
    "GeneralPredicates": RuleHistory(
        "NodeResourcesFit",
        "v1.17 split it into NodeResourcesFit, NodeName, NodePorts and NodeAffinity (#84039).",
        "Since the framework became stable in v1.19 (KEP-624), a profile enables and orders each of them.",
    ),
    "HostName": _general("NodeName", "HostName"),
    "PodFitsHostPorts": _general("NodePorts", "PodFitsHostPorts"),
    "PodFitsPorts": _general("NodePorts", "PodFitsHostPorts, whose older name this is"),
    "MatchNodeSelector": _AFFINITY,
    "PodFitsResources": _RESOURCES,
    "NoDiskConflict": _DISKS,
    "PodToleratesNodeTaints": _TAINTS,
    "MaxEBSVolumeCount": _VOLUME_COUNTS,
    "MaxGCEPDVolumeCount": _VOLUME_COUNTS,
    "MaxAzureDiskVolumeCount": _VOLUME_COUNTS,
    "CheckVolumeBinding": _BINDING,
    "NoVolumeZoneConflict": _ZONES,
    "CheckNodeMemoryPressure": _CONDITIONS,
    "CheckNodePIDPressure": _CONDITIONS,
    "CheckNodeDiskPressure": _CONDITIONS,
    "MatchInterPodAffinity": _PODS,
    "CheckServiceAffinity": _SERVICES,
    "CheckNodeLabelPresence": _LABELS,
    # Priorities of v1.11
    "SelectorSpreadPriority": _SPREADING,
    "ServiceSpreadingPriority": _SPREADING,
    "InterPodAffinityPriority": _PODS,
    "LeastRequestedPriority": _FIT_SCORES,
    "MostRequestedPriority": _FIT_SCORES,
    "RequestedToCapacityRatioPriority": _FIT_SCORES,
    "BalancedResourceAllocation": _BALANCE,
    "NodePreferAvoidPodsPriority": RuleHistory(
        "",
        "v1beta2, which came with v1.22 (KEP-785), deprecated its plugin for taints (#94008).",
        "v1.23 removed its plugin (#105907).",
    ),
    "NodeAffinityPriority": _AFFINITY,
    "TaintTolerationPriority": _TAINTS,
    "ImageLocalityPriority": _IMAGES,
    "EqualPriority": RuleHistory(
        "",
        "v1.17 deleted it, as it scores every node alike: a Policy could name it without effect (#84873).",
        "v1.23 removed Policy, which alone could name it (#105424).",
    ),
    "ResourceLimitsPriority": RuleHistory(
        "",
        "It was alpha from v1.9 on, behind a feature gate, and never one of the defaults (#55906).",
        "v1.19 removed it, as nobody used it (#91883).",
    ),
}
"""By plugin of the framework, and by predicate and priority of v1.11."""


def plugin_of(rule: str) -> str:
    """Return the default plugin of v1.37 that a rule became, "" where there is none."""
    found = HISTORY.get(rule)
    return "" if found is None else found.plugin


def history_of(rule: str | None) -> tuple[str, ...]:
    """Return the two sentences on a rule, none on one that is not upstream's."""
    found = HISTORY.get(rule or "")
    return () if found is None else found.sentences
