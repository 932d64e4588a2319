"""The fields of nodes, Services, storage, classes, budgets and groups: implemented, reported, irrelevant."""

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
from scheduler_core.kubernetes.support_pod import CINDER, CSI, DISKS, NETWORK_VOLUMES

HEAD = "they identify the document"
TIMES = "timestamps and reasons do not affect scheduling"


def whole(kind: str, implemented: str = "metadata spec") -> ApiType:
    """Create the :class:`ApiType` of a whole kind; its status is irrelevant unless implemented."""
    left = {} if "status" in implemented.split() else {"controllers write it": "status"}
    return ApiType(kind, implemented, irrelevant={HEAD: "apiVersion kind", **left})


META = ApiType(
    "ObjectMeta",
    "name namespace uid labels annotations ownerReferences creationTimestamp deletionTimestamp",
    irrelevant={
        "a name is generated from it if none is given": "generateName",
        "the API server's own bookkeeping": "resourceVersion selfLink generation managedFields",
        "deletions are immediate": "finalizers deletionGracePeriodSeconds",
        "they are fields of earlier releases": "clusterName initializers",
    },
)
OWNER = ApiType(
    "OwnerReference",
    "kind name uid controller",
    irrelevant={
        "kind, name and uid identify it": "apiVersion",
        "the garbage collector's": "blockOwnerDeletion",
    },
)
LABEL_SELECTOR = ApiType("LabelSelector", "matchLabels matchExpressions")
REQUIREMENT = ApiType("LabelSelectorRequirement, NodeSelectorRequirement", "key operator values")
NODE_SELECTOR = ApiType("NodeSelector", "nodeSelectorTerms")
NODE_SELECTOR_TERM = ApiType("NodeSelectorTerm", "matchExpressions matchFields")

# --- Node, Service

NODE = whole("Node", "metadata spec status")
NODE_SPEC = ApiType(
    "NodeSpec",
    "taints unschedulable",
    irrelevant={
        "addresses and names of the machine": "podCIDR podCIDRs providerID externalID",
        "the kubelet's configuration": "configSource",
        "it is about pods that are resized in place, which nothing here does": "podPreemptionPolicy",
    },
)
NODE_STATUS = ApiType(
    "NodeStatus",
    "allocatable capacity conditions images",
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
TAINT = ApiType("Taint", "key value effect", irrelevant={TIMES: "timeAdded"})
CONDITION = ApiType(
    "NodeCondition, JobCondition",
    "type status",
    irrelevant={TIMES: "lastHeartbeatTime lastTransitionTime lastProbeTime message reason"},
)
IMAGE = ApiType("ContainerImage", "names sizeBytes")
SERVICE = whole("Service")
SERVICE_SPEC = ApiType(
    "ServiceSpec",
    "selector",
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
VOLUME = whole("PersistentVolume", "metadata spec status")
VOLUME_SPEC = ApiType(
    "PersistentVolumeSpec",
    f"{DISKS} capacity nodeAffinity storageClassName accessModes claimRef",
    (CSI, CINDER, _MODE, _ATTRIBUTES),
    {
        "no predicate reads them": f"{NETWORK_VOLUMES} hostPath local",
        "they are about a volume that is mounted, or released": "mountOptions persistentVolumeReclaimPolicy",
    },
)
VOLUME_AFFINITY = ApiType("VolumeNodeAffinity", "required")
CLAIM_REF = ApiType(
    "ObjectReference in claimRef",
    "name namespace",
    irrelevant={
        "name and namespace identify the claim": "apiVersion kind uid resourceVersion fieldPath",
    },
)
STORAGE_STATUS = ApiType(
    "PersistentVolumeStatus, PersistentVolumeClaimStatus",
    "phase",
    irrelevant={
        TIMES: "message reason lastPhaseTransitionTime conditions healthStatus",
        "the request is in the spec": (
            "accessModes capacity allocatedResources allocatedResourceStatuses "
            "currentVolumeAttributesClassName modifyVolumeStatus resizeStatus"
        ),
    },
)
CLAIM = whole("PersistentVolumeClaim", "metadata spec status")
CLAIM_SPEC = ApiType(
    "PersistentVolumeClaimSpec",
    "volumeName storageClassName resources accessModes selector",
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
CLAIM_RESOURCES = ApiType(
    "VolumeResourceRequirements", "requests limits", irrelevant={"no claim of storage has it": "claims"}
)
TOPOLOGY = ApiType("TopologySelectorTerm", "matchLabelExpressions")
TOPOLOGY_LABEL = ApiType("TopologySelectorLabelRequirement", "key values")
STORAGE_CLASS = ApiType(
    "StorageClass",
    "metadata provisioner volumeBindingMode allowedTopologies",
    irrelevant={
        HEAD: "apiVersion kind",
        "they are about a volume that is made": "parameters reclaimPolicy mountOptions allowVolumeExpansion",
    },
)

# --- classes, budgets, groups

PRIORITY_CLASS = ApiType(
    "PriorityClass",
    "metadata value globalDefault preemptionPolicy",
    irrelevant={HEAD: "apiVersion kind", "documentation only": "description"},
)
BUDGET = whole("PodDisruptionBudget", "metadata spec status")
BUDGET_SPEC = ApiType(
    "PodDisruptionBudgetSpec",
    "selector minAvailable maxUnavailable unhealthyPodEvictionPolicy",
)
BUDGET_STATUS = ApiType(
    "PodDisruptionBudgetStatus",
    "disruptionsAllowed",
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
POD_GROUP = whole("PodGroup", "metadata spec status")
POD_GROUP_SPEC = ApiType(
    "PodGroupSpec",
    "minMember scheduleTimeoutSeconds minResources schedulingPolicy queue priorityClassName",
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
    "PodGroupSchedulingPolicy", "gang", irrelevant={"it is the policy of pods without a group": "basic"}
)
GANG = ApiType(
    "GangSchedulingPolicy",
    "minCount",
    (Reported("minCount", _ALL_OR_NONE, when=more_than_one, honored_by=_WITH_PLUGIN),),
)
GROUP_STATUS = ApiType(
    "PodGroupStatus",
    "phase occupiedBy scheduled running succeeded failed scheduleStartTime conditions",
    irrelevant={"controllers write what they say": "resourceClaimStatuses observedGeneration"},
)
GROUP_CONDITION = ApiType(
    "PodGroupCondition",
    "type status reason message",
    irrelevant={"they identify a transition": "lastTransitionTime transitionID observedGeneration"},
)
QUEUE = whole("Queue")
QUEUE_SPEC = ApiType(
    "QueueSpec",
    "weight",
    irrelevant={"kube-batch accepts it and never reads it": "capability"},
)

CLUSTER_PARTS = (
    NODE,
    NODE_SPEC,
    NODE_STATUS,
    TAINT,
    CONDITION,
    IMAGE,
    SERVICE,
    SERVICE_SPEC,
    VOLUME,
    VOLUME_SPEC,
    VOLUME_AFFINITY,
    CLAIM_REF,
    CLAIM,
    CLAIM_SPEC,
    CLAIM_RESOURCES,
    STORAGE_STATUS,
    STORAGE_CLASS,
    TOPOLOGY,
    TOPOLOGY_LABEL,
    PRIORITY_CLASS,
    BUDGET,
    BUDGET_SPEC,
    BUDGET_STATUS,
    POD_GROUP,
    POD_GROUP_SPEC,
    GROUP_POLICY,
    GANG,
    GROUP_STATUS,
    GROUP_CONDITION,
    QUEUE,
    QUEUE_SPEC,
    META,
    OWNER,
    LABEL_SELECTOR,
    REQUIREMENT,
    NODE_SELECTOR,
    NODE_SELECTOR_TERM,
)
"""The types, in the order in which the documentation lists them."""
