"""One sentence for the reference page on what each predicate checks and each priority prefers.

The engine's docstrings are written for its developers; these sentences for authors of manifests.
"""

from __future__ import annotations

from collections.abc import Mapping

PREDICATES: Mapping[str, str] = {
    "CheckNodeCondition": (
        "The node is Ready, its network is configured, it has disk left, and it is not cordoned "
        "(spec.unschedulable)."
    ),
    "CheckNodeUnschedulable": (
        "The node is not cordoned (spec.unschedulable). In v1.11 CheckNodeCondition asks it."
    ),
    "GeneralPredicates": (
        "PodFitsResources, HostName, PodFitsHostPorts and MatchNodeSelector as one: all four are asked, "
        "and every reason counts."
    ),
    "HostName": "The node is the one that the pod names in spec.nodeName.",
    "PodFitsHostPorts": (
        "No pod on the node holds a host port that this pod wants (address, protocol and port)."
    ),
    "MatchNodeSelector": "The node's labels match the pod's nodeSelector and its required node affinity.",
    "PodFitsResources": (
        "What the node's pods request and what this pod requests fit into the node's allocatable cpu, "
        "memory, ephemeral storage, extended resources and number of pods."
    ),
    "NoDiskConflict": (
        "No pod on the node uses a disk (GCE PD, EBS, RBD or iSCSI) that cannot be mounted twice."
    ),
    "PodToleratesNodeTaints": (
        "The pod tolerates each taint of the node with the effect NoSchedule or NoExecute."
    ),
    "PodToleratesNodeNoExecuteTaints": "The pod tolerates each taint of the node with the effect NoExecute.",
    "CheckNodeLabelPresence": "The node has, or has not, the labels that the policy's argument lists.",
    "CheckServiceAffinity": (
        "The node has the same values of the policy's labels as the nodes where pods of the pod's service"
        " run."
    ),
    "MaxEBSVolumeCount": "With this pod's, the node has at most 39 EBS volumes attached.",
    "MaxGCEPDVolumeCount": "With this pod's, the node has at most 16 GCE persistent disks attached.",
    "MaxAzureDiskVolumeCount": "With this pod's, the node has at most 16 Azure disks attached.",
    "CheckVolumeBinding": (
        "The pod's bound volumes are reachable from the node, and volumes for its waiting claims can be "
        "found or provisioned there."
    ),
    "NoVolumeZoneConflict": "The zone and region labels of the pod's volumes are those of the node.",
    "CheckNodeMemoryPressure": "The node is not under memory pressure, for pods of the class BestEffort.",
    "CheckNodePIDPressure": "The node is not running out of process ids.",
    "CheckNodeDiskPressure": "The node is not running out of disk.",
    "MatchInterPodAffinity": (
        "No running pod's required anti-affinity keeps this pod out, and the pod's own required affinity "
        "and anti-affinity to other pods hold."
    ),
}

PRIORITIES: Mapping[str, str] = {
    "SelectorSpreadPriority": "Nodes, and zones, with few pods of the same service, controller or set.",
    "ServiceSpreadingPriority": "Nodes with few pods of the same service.",
    "InterPodAffinityPriority": (
        "Nodes where preferred affinity to pods holds, and preferred anti-affinity does not."
    ),
    "LeastRequestedPriority": "Nodes where much cpu and memory stays free.",
    "MostRequestedPriority": "Nodes where little cpu and memory stays free: it packs.",
    "RequestedToCapacityRatioPriority": "Nodes by a curve over the requested share of cpu and memory.",
    "BalancedResourceAllocation": "Nodes where cpu and memory would be used to the same share.",
    "NodePreferAvoidPodsPriority": (
        "Nodes that do not ask the pod's controller to stay away (an annotation); its weight outvotes all"
        " others."
    ),
    "NodeAffinityPriority": "Nodes that match more of the pod's preferred node affinity, by weight.",
    "TaintTolerationPriority": "Nodes with fewer PreferNoSchedule taints that the pod does not tolerate.",
    "ImageLocalityPriority": "Nodes that have the pod's container images already.",
    "EqualPriority": "All nodes alike.",
    "ResourceLimitsPriority": "Nodes that can hold the pod's limits, not only its requests.",
}

PREDICATE_ARGUMENTS: Mapping[str, str] = {
    "CheckNodeLabelPresence": "labelsPresence: {labels: [zone], presence: true}",
    "CheckServiceAffinity": "serviceAffinity: {labels: [rack]}",
}
"""The required ``argument`` of a policy's entry; a predicate that is not listed takes none."""

FORMULAS: Mapping[str, str] = {
    "SelectorSpreadPriority": (
        "map: the node's pods that match. reduce: 10 × (most − own) / most; where nodes have zones, a third "
        "of that and two thirds of the same for the zone's pods. 10 everywhere if nothing matches."
    ),
    "ServiceSpreadingPriority": "As SelectorSpreadPriority.",
    "InterPodAffinityPriority": (
        "Sum of the weights of preferred terms that hold, those of anti-affinity negative, in both "
        "directions; a required affinity term of another pod counts hardPodAffinitySymmetricWeight. Then "
        "10 × (own − least) / (most − least); least is at most 0, most at least 0."
    ),
    "LeastRequestedPriority": (
        "(capacity − requested) × 10 / capacity, for cpu and for memory; the mean of both. A container "
        "that asks for nothing counts 100m and 200Mi."
    ),
    "MostRequestedPriority": (
        "requested × 10 / capacity, for cpu and for memory, 0 where it is beyond; the mean of both."
    ),
    "RequestedToCapacityRatioPriority": (
        "The shape's score at the requested percentage, for cpu and for memory; the mean of both. Without an "
        "argument from 10 at 0 % to 0 at 100 %."
    ),
    "BalancedResourceAllocation": (
        "(1 − |requested share of cpu − requested share of memory|) × 10, and 0 if either is full."
    ),
    "NodePreferAvoidPodsPriority": (
        "0 if the node's annotation preferAvoidPods names the pod's ReplicationController or ReplicaSet, "
        "else 10."
    ),
    "NodeAffinityPriority": (
        "map: the weights of the preferred terms that match. reduce: 10 × own / most, 0 if none matches."
    ),
    "TaintTolerationPriority": (
        "map: PreferNoSchedule taints that the pod does not tolerate. reduce: 10 − 10 × own / most, 10 if "
        "there are none."
    ),
    "ImageLocalityPriority": (
        "The bytes of the pod's images that the node has: 0 below 23Mi, 10 from 1000Mi on, in between 1 to "
        "10 along a line."
    ),
    "EqualPriority": "1.",
    "ResourceLimitsPriority": "1 if the node can hold the pod's cpu limit or its memory limit, else 0.",
}
"""How a priority computes its score from 0 to 10; all integer divisions truncate."""

PRIORITY_ARGUMENTS: tuple[tuple[str, str, str], ...] = (
    (
        "labelPreference",
        "labelPreference: {label: disk, presence: true}",
        "10 if the node has the label (has it not, for presence: false), else 0.",
    ),
    (
        "serviceAntiAffinity",
        "serviceAntiAffinity: {label: rack}",
        "10 × (pods − pods on nodes with the same value) / pods, of the pod's service; 0 without the label.",
    ),
    (
        "requestedToCapacityRatioArguments",
        "requestedToCapacityRatioArguments: {shape: [{utilization: 0, score: 0}, …]}",
        "As RequestedToCapacityRatioPriority, along the points of the shape.",
    ),
)
"""The argument that defines a priority under an arbitrary name, its syntax, and the formula."""
