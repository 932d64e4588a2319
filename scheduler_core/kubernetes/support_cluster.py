"""The fields of nodes, Services, storage, classes, budgets and groups that are reported or irrelevant."""

from __future__ import annotations

from scheduler_core.kubernetes.support import (
    CONFIGURED,
    COSCHEDULING,
    KUBE_BATCH,
    ApiType,
    Reported,
    contains,
    equals,
    given,
    has_key,
    more_than_one,
    of_unbound,
)
from scheduler_core.kubernetes.support_pod import CINDER, CSI, NETWORK_VOLUMES

HEAD = "they identify the document"
TIMES = "timestamps and reasons do not affect scheduling"


def whole(kind: str, *, has_status: bool = False) -> ApiType:
    """Create the :class:`ApiType` of a whole kind; its status is irrelevant unless it is read."""
    left = {} if has_status else {"controllers write it": "status"}
    return ApiType(kind, irrelevant={HEAD: "apiVersion kind", **left})


META = ApiType(
    "ObjectMeta",
    irrelevant={
        "a name is generated from it if none is given": "generateName",
        "the API server's own bookkeeping": "resourceVersion selfLink generation managedFields",
        "deletions are immediate": "finalizers deletionGracePeriodSeconds",
        "they are fields of earlier releases": "clusterName initializers",
    },
)
OWNER = ApiType(
    "OwnerReference",
    irrelevant={
        "kind, name and uid identify it": "apiVersion",
        "the garbage collector's": "blockOwnerDeletion",
    },
)
LABEL_SELECTOR = ApiType("LabelSelector")
REQUIREMENT = ApiType("LabelSelectorRequirement, NodeSelectorRequirement")
NODE_SELECTOR = ApiType("NodeSelector")
NODE_SELECTOR_TERM = ApiType("NodeSelectorTerm")

# --- Node, Service

NODE = whole("Node", has_status=True)
NODE_SPEC = ApiType(
    "NodeSpec",
    irrelevant={
        "addresses and names of the machine": "podCIDR podCIDRs providerID externalID",
        "the kubelet's configuration": "configSource",
        "it is about pods that are resized in place, which nothing here does": "podPreemptionPolicy",
    },
)
NODE_STATUS = ApiType(
    "NodeStatus",
    (
        Reported(
            "allocatable",
            "attachable-volumes-* are the numbers of volumes that the node can hold",
            when=has_key("attachable-volumes-"),
            disks=True,
        ),
    ),
    {
        "addresses and software of the machine": "addresses daemonEndpoints nodeInfo config features "
        "runtimeHandlers",
        "no scheduler reads it": "phase",
        "the volumes follow from the node's pods": "volumesAttached volumesInUse",
        "the fields of pods that need a feature are reported": "declaredFeatures",
    },
)
TAINT = ApiType("Taint", irrelevant={TIMES: "timeAdded"})
CONDITION = ApiType(
    "NodeCondition, JobCondition",
    irrelevant={TIMES: "lastHeartbeatTime lastTransitionTime lastProbeTime message reason"},
)
IMAGE = ApiType("ContainerImage")
SERVICE = whole("Service")
SERVICE_SPEC = ApiType(
    "ServiceSpec",
    irrelevant={
        "they are about the traffic to the pods": (
            "ports clusterIP clusterIPs type sessionAffinity sessionAffinityConfig externalIPs externalName "
            "externalTrafficPolicy internalTrafficPolicy healthCheckNodePort ipFamilies ipFamilyPolicy "
            "ipFamily loadBalancerIP loadBalancerSourceRanges loadBalancerClass "
            "allocateLoadBalancerNodePorts publishNotReadyAddresses topologyKeys trafficDistribution"
        )
    },
)

# --- storage

_MODE = Reported(
    "volumeMode",
    "a claim is bound to a volume of the same mode alone",
    when=of_unbound(equals("Block")),
    disks=True,
)
_ATTRIBUTES = Reported(
    "volumeAttributesClassName",
    "a claim is bound to a volume of the same VolumeAttributesClass alone",
    when=of_unbound(given),
    disks=True,
)
VOLUME = whole("PersistentVolume", has_status=True)
VOLUME_SPEC = ApiType(
    "PersistentVolumeSpec",
    (CSI, CINDER, _MODE, _ATTRIBUTES),
    {
        "no predicate reads them": f"{NETWORK_VOLUMES} hostPath local",
        "they are about a volume that is mounted, or released": "mountOptions persistentVolumeReclaimPolicy",
    },
)
VOLUME_AFFINITY = ApiType("VolumeNodeAffinity")
CLAIM_REF = ApiType(
    "ObjectReference in claimRef",
    irrelevant={
        "name and namespace identify the claim": "apiVersion kind uid resourceVersion fieldPath",
    },
)
STORAGE_STATUS = ApiType(
    "PersistentVolumeStatus, PersistentVolumeClaimStatus",
    irrelevant={
        TIMES: "message reason lastPhaseTransitionTime conditions healthStatus",
        "the request is in the spec": (
            "accessModes capacity allocatedResources allocatedResourceStatuses "
            "currentVolumeAttributesClassName modifyVolumeStatus resizeStatus"
        ),
    },
)
CLAIM = whole("PersistentVolumeClaim", has_status=True)
CLAIM_SPEC = ApiType(
    "PersistentVolumeClaimSpec",
    (
        Reported(
            "accessModes",
            "a claim with ReadWriteOncePod is used by one pod at a time",
            when=contains("ReadWriteOncePod"),
            disks=True,
        ),
        _MODE,
        _ATTRIBUTES,
    ),
    {"what a new volume is filled with does not say where it is": "dataSource dataSourceRef"},
)
CLAIM_RESOURCES = ApiType("VolumeResourceRequirements", irrelevant={"no claim of storage has it": "claims"})
TOPOLOGY = ApiType("TopologySelectorTerm")
TOPOLOGY_LABEL = ApiType("TopologySelectorLabelRequirement")
STORAGE_CLASS = ApiType(
    "StorageClass",
    irrelevant={
        HEAD: "apiVersion kind",
        "they are about a volume that is made": "parameters reclaimPolicy mountOptions allowVolumeExpansion",
    },
)

# --- classes, budgets, groups

PRIORITY_CLASS = ApiType(
    "PriorityClass",
    irrelevant={HEAD: "apiVersion kind", "documentation only": "description"},
)
BUDGET = whole("PodDisruptionBudget", has_status=True)
BUDGET_SPEC = ApiType(
    "PodDisruptionBudgetSpec",
)
BUDGET_STATUS = ApiType(
    "PodDisruptionBudgetStatus",
    (Reported("disruptedPods", "deleting a listed pod no longer violates the budget"),),
    {
        "disruptionsAllowed is derived from them": (
            "currentHealthy desiredHealthy expectedPods observedGeneration conditions"
        )
    },
)

_ALL_OR_NONE = "the members of the group are placed all or none"
_WITH_PLUGIN = frozenset(
    {COSCHEDULING, CONFIGURED, KUBE_BATCH}
)  # not if a scheduler is configured without it
POD_GROUP = whole("PodGroup", has_status=True)
POD_GROUP_SPEC = ApiType(
    "PodGroupSpec",
    (
        Reported("minMember", _ALL_OR_NONE, when=more_than_one, honored_by=_WITH_PLUGIN),
        Reported("minTaskMember", "the group needs so many members of each task"),
        Reported("schedulingConstraints", "the members are placed in one domain of a topology"),
        Reported("networkTopology", "the members are placed close to each other in the network"),
        Reported("resourceClaims", "the members share the devices that the claims ask for"),
        Reported("priority", "the group is queued and preempted by its own priority"),
        Reported(
            "priorityClassName",
            "the group is queued and preempted by its own priority",
            honored_by=frozenset({KUBE_BATCH}),
        ),
        Reported("preemptionPolicy", "with Never the group does not preempt", when=equals("Never")),
        Reported(
            "disruptionMode",
            "the members are preempted together or not at all",
            when=lambda value, manifest: given(value, manifest) and "all" in str(value).lower(),
        ),
        Reported("parentCompositePodGroupName", "groups of one composite are placed together"),
        Reported("queue", "a queue has its share of the cluster", honored_by=frozenset({KUBE_BATCH})),
    ),
    {
        "scheduleTimeoutSeconds, or the plugin's own, is how long members wait": "maxScheduleTime",
        "they describe the group's origin": "podGroupTemplateRef workloadRef",
    },
)
GROUP_POLICY = ApiType(
    "PodGroupSchedulingPolicy", irrelevant={"it is the policy of pods without a group": "basic"}
)
GANG = ApiType(
    "GangSchedulingPolicy",
    (Reported("minCount", _ALL_OR_NONE, when=more_than_one, honored_by=_WITH_PLUGIN),),
)
GROUP_STATUS = ApiType(
    "PodGroupStatus",
    irrelevant={"controllers write what they say": "resourceClaimStatuses observedGeneration"},
)
GROUP_CONDITION = ApiType(
    "PodGroupCondition",
    irrelevant={"they identify a transition": "lastTransitionTime transitionID observedGeneration"},
)
QUEUE = whole("Queue")
QUEUE_SPEC = ApiType(
    "QueueSpec",
    irrelevant={"kube-batch accepts it and never reads it": "capability"},
)
