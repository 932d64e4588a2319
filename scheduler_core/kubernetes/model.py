"""The Kubernetes objects that scheduling reads, as immutable typed records.

Units: cpu in integer millicores, every other resource in integer base units
(bytes, counts), both rounded up. Strings are as in Kubernetes. A field that the
manifest omits is ``None`` where absence has a meaning distinct from emptiness,
and empty otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from sys import intern
from typing import Any, ClassVar, Self

from msgspec import Struct, field

Resources = Mapping[str, int]
NEVER = "Never"  # a preemptionPolicy


class OwnerReference(Struct, frozen=True, gc=False):
    kind: str
    name: str
    uid: str
    controller: bool = False


class Immutable(Struct, frozen=True, gc=False):
    """A record that nothing changes, so that a copy of what holds it shares it."""

    def __deepcopy__(self, memo: object) -> Self:
        return self


class _Hashed(Immutable, frozen=True):
    """An object whose ``repr``, without the ``UNHASHED`` fields, ``template_hash`` names ReplicaSets by."""

    UNHASHED: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        fields = [
            f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in self.UNHASHED
        ]
        return f"{type(self).__name__}({', '.join(fields)})"


class WrittenManifest(Immutable, frozen=True, gc=False):
    """The manifest that an object was read from, or the pod template that a controller's pod was made from.

    It has every field, whichever release reads it. Objects are equal, whatever they were read from, so that
    components that read typed fields alone see no change in the others.
    """

    document: Mapping[str, Any]
    is_template: bool = False

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, WrittenManifest)

    def __hash__(self) -> int:
        return hash(None)


class ObjectMeta(_Hashed, frozen=True):
    UNHASHED: ClassVar = frozenset({"written"})

    name: str
    namespace: str = ""  # "" for cluster-scoped kinds, "default" filled in for the others
    uid: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    creation_timestamp: str | None = None  # RFC 3339
    deletion_timestamp: str | None = None
    written: WrittenManifest | None = None  # None for an object that a controller created without a template

    @property
    def key(self) -> str:
        """``namespace/name``, or the bare name of a cluster-scoped object."""
        return intern(f"{self.namespace}/{self.name}") if self.namespace else self.name

    @property
    def controller(self) -> OwnerReference | None:
        """The first owner with ``controller: true`` (metav1.GetControllerOf)."""
        return next((o for o in self.owner_references if o.controller), None)


class Requirement(Struct, frozen=True, gc=False):
    """One ``matchExpressions`` entry of a label or node selector."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist; for nodes also Gt, Lt
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True, gc=False):
    """``matchLabels`` and ``matchExpressions``, ANDed. Absent selectors are ``None``, not this."""

    match_labels: Mapping[str, str] = field(default_factory=dict)
    match_expressions: tuple[Requirement, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it selects everything."""
        return not self.match_labels and not self.match_expressions


class NodeSelectorTerm(Struct, frozen=True, gc=False):
    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


class PreferredNodeTerm(Struct, frozen=True, gc=False):
    weight: int
    term: NodeSelectorTerm


class PodAffinityTerm(Struct, frozen=True, gc=False):
    selector: LabelSelector | None
    topology_key: str
    namespaces: tuple[str, ...] = ()  # empty: the namespace of the pod with the term


class WeightedPodAffinityTerm(Struct, frozen=True, gc=False):
    weight: int
    term: PodAffinityTerm


class Affinity(Struct, frozen=True, gc=False):
    """``spec.affinity``; a part that the manifest omits is ``None``, or has its ``has_`` flag unset."""

    node_required: tuple[NodeSelectorTerm, ...] | None = None
    node_preferred: tuple[PreferredNodeTerm, ...] = ()
    has_pod_affinity: bool = False
    pod_required: tuple[PodAffinityTerm, ...] = ()
    pod_preferred: tuple[WeightedPodAffinityTerm, ...] = ()
    has_pod_anti_affinity: bool = False
    anti_required: tuple[PodAffinityTerm, ...] = ()
    anti_preferred: tuple[WeightedPodAffinityTerm, ...] = ()


class Taint(Struct, frozen=True, gc=False):
    key: str
    value: str
    effect: str


class Toleration(Struct, frozen=True, gc=False):
    key: str = ""
    operator: str = ""  # "" means Equal
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class HostPort(Struct, frozen=True, gc=False):
    ip: str  # "0.0.0.0" where the manifest names none
    protocol: str  # "TCP" where the manifest names none
    port: int


class Container(_Hashed, frozen=True):
    UNHASHED: ClassVar = frozenset({"network_ports"})

    name: str
    image: str = ""
    requests: Resources = field(default_factory=dict)  # a key with value 0 differs from an absent key
    limits: Resources = field(default_factory=dict)
    host_ports: tuple[HostPort, ...] = ()  # only ports with hostPort > 0
    network_ports: tuple[HostPort, ...] = ()  # the others, used with hostNetwork

    def ports_taken(self, *, host_network: bool) -> tuple[HostPort, ...]:
        """Return the node's ports that the container occupies (SetDefaults_PodSpec)."""
        return self.host_ports + self.network_ports if host_network else self.host_ports


class Volume(Struct, frozen=True, gc=False):
    """One ``spec.volumes`` entry or a PersistentVolume's source: at most one source is set."""

    name: str = ""
    gce_pd: str | None = None  # gcePersistentDisk.pdName
    aws_ebs: str | None = None  # awsElasticBlockStore.volumeID
    azure_disk: str | None = None  # azureDisk.diskName
    iscsi_iqn: str | None = None
    rbd: tuple[tuple[str, ...], str, str] | None = None  # monitors, pool ("rbd" if absent), image
    claim: str | None = None  # persistentVolumeClaim.claimName
    read_only: bool = False
    local: bool = False  # emptyDir or hostPath


class Pod(_Hashed, frozen=True):
    UNHASHED: ClassVar = frozenset(
        "scheduling_gates preemption_policy host_network restart_policy restarts ready start_time"
        " priority_given".split()
    )

    meta: ObjectMeta
    node_name: str = ""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Resources = field(default_factory=dict)
    volumes: tuple[Volume, ...] = ()
    priority: int = 0
    priority_class_name: str = ""
    scheduler_name: str = "default-scheduler"
    phase: str = "Pending"
    nominated_node_name: str = ""
    pod_group: str = ""  # the PodGroup it names, by label, annotation or spec.schedulingGroup
    scheduling_gates: tuple[str, ...] = ()  # template_hash adds them if present
    preemption_policy: str = ""  # "" means PreemptLowerPriority
    host_network: bool = False
    # Fields that only controllers read.
    restart_policy: str = ""  # "" where the manifest names none
    restarts: int = 0  # how often its containers were restarted
    ready: bool = True  # whether it is ready while Running
    start_time: str | None = None  # RFC 3339, when the kubelet accepted it
    priority_given: bool = True  # spec.priority is set; equal pods may differ in it

    def __eq__(self, other: object) -> bool:
        return type(other) is Pod and _compared(self) == _compared(other)

    __hash__ = Struct.__hash__

    @property
    def available(self) -> bool:
        """Whether it is running, ready and not being deleted; a rolling update counts such pods."""
        return self.phase == "Running" and self.ready and self.meta.deletion_timestamp is None

    @property
    def preempts(self) -> bool:
        """Whether it may preempt other pods."""
        return self.preemption_policy != NEVER

    @property
    def terminal(self) -> bool:
        """Whether it has Succeeded or Failed: it then uses no resources, and no selector matches it."""
        return self.phase in ("Succeeded", "Failed")


_compared = attrgetter(*(name for name in Pod.__struct_fields__ if name != "priority_given"))


class NodeCondition(Struct, frozen=True, gc=False):
    type: str
    status: str


class NodeImage(Struct, frozen=True, gc=False):
    names: tuple[str, ...]
    size_bytes: int


class Node(Immutable, frozen=True):
    meta: ObjectMeta
    allocatable: Resources = field(default_factory=dict)
    capacity: Resources = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    conditions: tuple[NodeCondition, ...] = ()  # in manifest order
    images: tuple[NodeImage, ...] = ()


class Service(Immutable, frozen=True):
    meta: ObjectMeta
    selector: Mapping[str, str] | None = None  # None or {}: selects nothing


class UpdateStrategy(Struct, frozen=True, gc=False):
    """A Deployment's ``strategy``, a StatefulSet's or DaemonSet's ``updateStrategy``.

    ``None`` where the manifest names none: each kind has its own default.
    """

    type: str = "RollingUpdate"  # Recreate for Deployments, OnDelete for the others
    max_surge: int | str | None = None  # a count, or a percentage as text
    max_unavailable: int | str | None = None
    partition: int = 0


class JobSpec(Struct, frozen=True, gc=False):
    parallelism: int = 1
    completions: int | None = None  # None: a work queue, done when one pod succeeded and none runs
    backoff_limit: int = 6
    indexed: bool = False
    suspended: bool = False


class WorkloadStatus(Struct, frozen=True, gc=False):
    """The state that controllers keep on the object, under ``status`` in Kubernetes."""

    succeeded: int = 0  # pods of a Job, including those deleted since
    failed: int = 0
    finished: str = ""  # Complete or Failed, once a Job has finished
    current: Pod | None = None  # a StatefulSet's or DaemonSet's template before the update in progress


class Workload(Immutable, frozen=True):
    """A ReplicationController, ReplicaSet, StatefulSet, Deployment, DaemonSet or Job."""

    kind: str
    meta: ObjectMeta
    selector: LabelSelector | None = None  # a ReplicationController's map becomes match_labels
    replicas: int = 1  # a Job's: min(parallelism, completions)
    template: Pod | None = None
    claim_templates: tuple[PersistentVolumeClaim, ...] = ()  # a StatefulSet's volumeClaimTemplates
    strategy: UpdateStrategy = field(default_factory=UpdateStrategy)
    parallel: bool = False  # a StatefulSet's podManagementPolicy
    job: JobSpec = field(default_factory=JobSpec)
    status: WorkloadStatus = field(default_factory=WorkloadStatus)
    paused: bool = False  # a Deployment's: no template is rolled out


class PersistentVolume(Immutable, frozen=True):
    meta: ObjectMeta
    source: Volume
    node_affinity: tuple[NodeSelectorTerm, ...] | None = None
    storage_class: str = ""
    capacity: int = 0  # bytes
    access_modes: tuple[str, ...] = ()
    claim_ref: str = ""  # namespace/name of the claim it is bound to or reserved for
    phase: str = ""


class PersistentVolumeClaim(Immutable, frozen=True):
    meta: ObjectMeta
    volume_name: str = ""
    storage_class: str | None = None  # the beta annotation wins over spec.storageClassName
    request: int = 0  # bytes
    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None  # of volumes, by their labels; None: any


class StorageClass(Immutable, frozen=True):
    meta: ObjectMeta
    provisioner: str = ""
    binding_mode: str | None = None
    allowed_topologies: tuple[tuple[Requirement, ...], ...] = ()  # one must match in full


class PriorityClass(Immutable, frozen=True):
    meta: ObjectMeta
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""  # "" means PreemptLowerPriority


class PodDisruptionBudget(Immutable, frozen=True):
    meta: ObjectMeta
    selector: LabelSelector | None = None
    disruptions_allowed: int = 0
    min_available: int | str | None = None  # a count, or a percentage as text
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str = ""  # "" is IfHealthyBudget


class PodGroupCondition(Struct, frozen=True, gc=False):
    type: str
    status: str = ""
    reason: str = ""
    message: str = ""


class PodGroupStatus(Struct, frozen=True, gc=False):
    phase: str = ""
    occupied_by: str = ""  # owners as ns/name, joined by commas
    scheduled: int = 0  # classic Coscheduling only
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    schedule_start_time: str | None = None  # RFC 3339
    conditions: tuple[PodGroupCondition, ...] = ()


class PodGroup(Immutable, frozen=True):
    meta: ObjectMeta
    min_member: int = 1
    schedule_timeout_seconds: int | None = None
    min_resources: Resources | None = None  # None: the resources are not checked
    status: PodGroupStatus = field(default_factory=PodGroupStatus)
    queue: str = ""  # the Queue it names; "" is the batch scheduler's default queue
    priority_class_name: str = ""


class Queue(Immutable, frozen=True):
    """A queue of a batch scheduler: its jobs share what its weight entitles it to."""

    meta: ObjectMeta
    weight: int = 0


KubernetesObject = (
    Node
    | Pod
    | Service
    | Workload
    | PersistentVolume
    | PersistentVolumeClaim
    | StorageClass
    | PriorityClass
    | PodDisruptionBudget
    | PodGroup
    | Queue
)
