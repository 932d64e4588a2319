"""The fields of a Pod and the types it contains that are reported or irrelevant."""

from __future__ import annotations

from scheduler_core.kubernetes.support import (
    COSCHEDULING,
    INSTANT,
    RELEASE_1_35,
    ApiType,
    Reported,
    amounts,
    equals,
    of_new_pod,
    part_of,
    pod_spec,
    present,
    resized,
)

NETWORK_VOLUMES = (
    "nfs glusterfs cephfs fc flexVolume flocker vsphereVolume quobyte azureFile photonPersistentDisk "
    "portworxVolume scaleIO storageos"
)
LIMIT = "its volumes count against what CSINode says that a node can attach"
CSI = Reported("csi", LIMIT, disks=True)
CINDER = Reported("cinder", "a node holds a limited number of Cinder volumes", disks=True)

TEMPLATE = ApiType("PodTemplateSpec")
POD = ApiType("Pod", irrelevant={"they identify the document": "apiVersion kind"})

POD_SPEC = ApiType(
    "PodSpec",
    (
        Reported("overhead", "it is requested on top of what the containers request"),
        Reported(
            "resources",
            "the requests of the pod as a whole count instead of the sum of its containers'",
            when=amounts,
        ),
        Reported(
            "topologySpreadConstraints",
            "the pods of a selector are spread over domains by maxSkew, with minDomains, matchLabelKeys, "
            "nodeAffinityPolicy and nodeTaintsPolicy",
            placing=True,
        ),
        Reported(
            "schedulingGates",
            "a pod waits until its gates are removed",
            honored_by=frozenset({RELEASE_1_35}),
            placing=True,
        ),
        Reported(
            "schedulingGroup",
            "the members of the group are placed all or none",
            honored_by=frozenset({COSCHEDULING}),
            placing=True,
        ),
        Reported("workloadRef", "the members of the workload are placed all or none", placing=True),
        Reported("resourceClaims", "the node must have the devices that the claims ask for"),
        Reported(
            "runtimeClassName",
            "the RuntimeClass adds its overhead, node selector and tolerations to the pod",
            when=of_new_pod,
        ),
        Reported(
            "activeDeadlineSeconds",
            "the pod ends after that time and leaves its node",
            honored_by=frozenset({INSTANT}),
        ),
        Reported(
            "hostUsers",
            "with hostNetwork the node must declare the feature UserNamespacesHostNetworkSupport",
            when=lambda value, pod: value is False and part_of(pod_spec(pod), "hostNetwork") is True,
            placing=True,
        ),
    ),
    {
        "deletions are immediate": "terminationGracePeriodSeconds evictionResponders",
        "the kubelet acts on them once the pod has a node": (
            "dnsPolicy dnsConfig hostname hostnameOverride subdomain setHostnameAsFQDN hostAliases hostPID "
            "hostIPC shareProcessNamespace securityContext serviceAccountName serviceAccount "
            "automountServiceAccountToken imagePullSecrets enableServiceLinks os"
        ),
        "they have no requests": "ephemeralContainers",
        "Services and controllers read whether a pod is ready": "readinessGates",
    },
)

STATUS = ApiType(
    "PodStatus",
    (
        Reported(
            "containerStatuses",
            "while a container is resized in place, its requests are the larger of spec, allocatedResources "
            "and resources",
            when=resized,
        ),
        Reported("extendedResourceClaimStatus", "the devices that serve extended resources are in use"),
        Reported("nodeAllocatableResourceClaimStatuses", "the claims take cpu or memory of the node"),
    ),
    {
        "they repeat what the spec and the containers' statuses say": (
            "conditions message reason qosClass resize observedGeneration resources allocatedResources "
            "initContainerStatuses ephemeralContainerStatuses"
        ),
        "spec.resourceClaims is reported": "resourceClaimStatuses",
        "networks and volumes of a pod that runs": "hostIP hostIPs podIP podIPs volumeHealth",
    },
)

_KUBELET = "the kubelet acts on them once the pod has a node"
_RESTART_RULES = Reported(
    "restartPolicyRules",
    "RestartAllContainers needs a node that declares RestartAllContainersOnContainerExits",
    when=lambda value, _: "RestartAllContainers" in str(value),
    placing=True,
)
_RUN = (
    "command args workingDir env envFrom volumeDevices livenessProbe readinessProbe startupProbe lifecycle "
    "terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty "
    "resizePolicy"
)
_MOUNTS = {"their names are checked against spec.volumes, and decide nothing": "volumeMounts"}

CONTAINER = ApiType("Container", (_RESTART_RULES,), {_KUBELET: f"{_RUN} restartPolicy", **_MOUNTS})
INIT_CONTAINER = ApiType(
    "Container in initContainers",
    (
        Reported(
            "restartPolicy",
            "a sidecar keeps running: its requests and host ports count beside those of the containers",
            when=equals("Always"),
        ),
        _RESTART_RULES,
    ),
    {_KUBELET: _RUN, **_MOUNTS},
)
RESOURCES = ApiType(
    "ResourceRequirements",
    (Reported("claims", "the container uses devices of the pod's resource claims"),),
)
PORT = ApiType("ContainerPort", irrelevant={"Services refer to it": "name"})

# --- volumes

_MOUNTING = "mount options do not identify the disk"
GCE_DISK = ApiType("GCEPersistentDiskVolumeSource", irrelevant={_MOUNTING: "fsType partition"})
AWS_DISK = ApiType("AWSElasticBlockStoreVolumeSource", irrelevant={_MOUNTING: "fsType partition"})
AZURE_DISK = ApiType("AzureDiskVolumeSource", irrelevant={_MOUNTING: "diskURI cachingMode fsType kind"})
ISCSI = ApiType(
    "ISCSIVolumeSource",
    irrelevant={
        _MOUNTING: (
            "targetPortal lun fsType portals chapAuthDiscovery chapAuthSession secretRef initiatorName "
            "iscsiInterface"
        )
    },
)
RBD = ApiType("RBDVolumeSource", irrelevant={_MOUNTING: "fsType user keyring secretRef"})
CLAIM_SOURCE = ApiType("PersistentVolumeClaimVolumeSource")
VOLUME = ApiType(
    "Volume",
    (
        CSI,
        CINDER,
        Reported(
            "ephemeral", "a claim is made for the pod, which its volume has to be found for", placing=True
        ),
    ),
    {
        "no predicate reads them": NETWORK_VOLUMES,
        "they are created on the pod's node": "secret configMap projected downwardAPI gitRepo image",
    },
)

# --- affinity and tolerations

AFFINITY = ApiType("Affinity")
NODE_AFFINITY = ApiType("NodeAffinity")
POD_AFFINITY = ApiType("PodAffinity, PodAntiAffinity")
WEIGHTED_TERM = ApiType("WeightedPodAffinityTerm")
PREFERRED_TERM = ApiType("PreferredSchedulingTerm")
PREFERENCE = ApiType(
    "NodeSelectorTerm in preference",
    (Reported("matchFields", "a preferred node can be named", placing=True),),
)
POD_AFFINITY_TERM = ApiType(
    "PodAffinityTerm",
    (
        Reported(
            "namespaceSelector",
            "pods of all selected namespaces are considered; {} selects all",
            when=present,
        ),
        Reported(
            "matchLabelKeys",
            "the pod's own values of these labels are added to the selector",
            when=of_new_pod,
        ),
        Reported(
            "mismatchLabelKeys",
            "pods with the pod's own values of these labels are left out",
            when=of_new_pod,
        ),
    ),
)
TOLERATION = ApiType("Toleration")
GATE = ApiType("PodSchedulingGate")
GROUP = ApiType(
    "PodSchedulingGroup",
    (Reported("workloadRef", "the members of the workload are placed all or none", placing=True),),
)
