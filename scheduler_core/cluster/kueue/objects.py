"""Kueue's API objects as its scheduler reads them: defaults filled in, quantities as integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

FlavorResource = tuple[str, str]
"""A flavor's name and a resource's: what a quota is of."""

Amounts = dict[str, int]
"""Amounts by resource: millicores of cpu, base units of everything else."""

Usage = dict[FlavorResource, int]

GROUP = "kueue.x-k8s.io"
QUEUE_LABEL = f"{GROUP}/queue-name"
PRIORITY_LABEL = f"{GROUP}/priority-class"
POD_GROUP_LABEL = f"{GROUP}/pod-group-name"
"""Groups pods that Kueue admits together: not simulated, each is a Workload here."""
JOB_UID_LABEL = f"{GROUP}/job-uid"


class ResourceFlavor(Struct, frozen=True):
    """A kind of nodes; with a topology, one whose pods Kueue places itself."""

    name: str
    node_labels: Mapping[str, str] = field(default_factory=dict)
    node_taints: tuple[Mapping[str, Any], ...] = ()
    tolerations: tuple[Mapping[str, Any], ...] = ()
    topology: str = ""


class QuotaLimits(Struct, frozen=True):
    """What a queue or a cohort has of one resource in one flavor; a limit that is ``None`` does not limit."""

    nominal: int = 0
    borrowing_limit: int | None = None
    lending_limit: int | None = None


class FlavorQuotas(Struct, frozen=True):
    """A flavor of a resource group, with the quotas of the resources that the group covers."""

    name: str
    resources: Mapping[str, QuotaLimits]


class ResourceGroup(Struct, frozen=True):
    """Resources that are assigned one flavor together, and the flavors in the order of their trial."""

    covered: tuple[str, ...]
    flavors: tuple[FlavorQuotas, ...]


class Cohort(Struct, frozen=True):
    """A group of queues and cohorts that lend to each other, perhaps with quota of its own."""

    name: str
    parent: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    weight: float = 1.0


class FlavorFungibility(Struct, frozen=True):
    """Whether the search goes on behind a flavor that would borrow or preempt."""

    when_can_borrow: str = "MayStopSearch"
    when_can_preempt: str = "TryNextFlavor"
    preference: str = ""


class PreemptionPolicy(Struct, frozen=True):
    """Which workloads a queue may preempt; ``max_priority_threshold`` is of borrowWithinCohort."""

    within_cluster_queue: str = "Never"
    reclaim_within_cohort: str = "Never"
    borrow_within_cohort: str = "Never"
    max_priority_threshold: int | None = None


class ClusterQueue(Struct, frozen=True):
    """A queue with quota. ``checks``: by name, the flavors that an admission check is for, none for all.

    One that ``is_terminating`` is deleted, and there until no Workload holds its quota.
    """

    name: str
    cohort: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    strategy: str = "BestEffortFIFO"
    namespace_selector: Mapping[str, Any] | None = None
    fungibility: FlavorFungibility = FlavorFungibility()
    preemption: PreemptionPolicy = PreemptionPolicy()
    checks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stop_policy: str = "None"
    weight: float = 1.0
    is_terminating: bool = False

    def group_of(self, resource: str) -> ResourceGroup | None:
        """Return the resource group that covers a resource."""
        for group in self.groups:
            if resource in group.covered:
                return group
        return None


class LocalQueue(Struct, frozen=True):
    """A namespace's door to a ClusterQueue."""

    key: str
    cluster_queue: str
    stop_policy: str = "None"


class TopologyRequest(Struct, frozen=True):
    """How near to each other the pods of a pod set are to be placed."""

    required: str = ""
    preferred: str = ""
    unconstrained: bool = False
    slice_level: str = ""
    slice_size: int | None = None
    group: str = ""

    @property
    def is_explicit(self) -> bool:
        """Whether it asks for anything: a group alone does not."""
        return bool(self.required or self.preferred or self.unconstrained or self.slice_level)


class PodSet(Struct, frozen=True):
    """Pods of one template that are admitted together; ``template`` is a PodTemplateSpec."""

    name: str
    count: int
    template: Mapping[str, Any]
    min_count: int | None = None
    topology: TopologyRequest | None = None

    @property
    def pod_spec(self) -> Mapping[str, Any]:
        """The pods' ``spec``."""
        return self.template.get("spec") or {}


class AdmissionCheck(Struct, frozen=True):
    """A check that somebody else answers, once a Workload has its quota."""

    name: str
    controller: str
    is_active: bool


class Topology(Struct, frozen=True):
    """The node labels of a data center's levels, the highest first."""

    name: str
    levels: tuple[str, ...]
