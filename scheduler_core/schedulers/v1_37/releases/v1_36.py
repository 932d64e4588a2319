"""kube-scheduler v1.36: in what it differs from v1.37."""

from __future__ import annotations

from typing import ClassVar

from scheduler_core.kubernetes.requests import held_by_container_and_level
from scheduler_core.schedulers.v1_37.batches import OpportunisticBatching
from scheduler_core.schedulers.v1_37.dialect import Difference
from scheduler_core.schedulers.v1_37.interface import ClusterEventWithHint
from scheduler_core.schedulers.v1_37.plugins.hints import never
from scheduler_core.schedulers.v1_37.plugins.image_locality import (
    ImageLocality,
    images_of_containers,
    images_of_volumes,
)
from scheduler_core.schedulers.v1_37.plugins.inter_pod_affinity import (
    InterPodAffinity,
    all_select,
    own_selects,
)
from scheduler_core.schedulers.v1_37.plugins.inter_pod_affinity import PodChangeHint as TermsHint
from scheduler_core.schedulers.v1_37.plugins.inter_pod_affinity import events_by as by_terms
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import SpreadChangeHint as SpreadHint
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import events_by as by_spread
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import is_on_or_nominated
from scheduler_core.schedulers.v1_37.pod_spec import AffinityTerm
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.releases.derivation import derived
from scheduler_core.schedulers.v1_37.releases.v1_37 import DIALECT as LATER
from scheduler_core.schedulers.v1_37.state import ClusterState


class _Pod(CompiledPod):
    __slots__ = ()

    read_held = staticmethod(held_by_container_and_level)


class FallbackBatching(OpportunisticBatching):
    """Scored nodes serve the next pod only once the node of the cycle before rejects it."""

    hints_nominated: ClassVar[bool] = True

    def takes_part(self, *scored: object) -> bool:
        """Return that the cycle goes on as usual while that node still fits."""
        del scored
        return False


class _InterPodAffinity(InterPodAffinity):
    @staticmethod
    def own_selects(cluster: ClusterState, term: AffinityTerm, other: CompiledPod) -> bool:
        """Return whether an own term means another pod, by its namespaceSelector without labels too."""
        asked = term.namespace_selector
        if asked.requirements and asked.matches({}):
            return term.selector.matches(other.labels)
        return own_selects(cluster, term, other)


class _ImageLocality(ImageLocality):
    @staticmethod
    def images(pod: CompiledPod) -> tuple[list[str], int]:
        """Return the images of containers and volumes, and how many containers there are."""
        own = images_of_containers(pod)
        return [*own, *images_of_volumes(pod)], len(own)


_TAINT = ClusterEventWithHint("Node", frozenset({"UpdateNodeTaint"}))
_ADDED_TO_NODES = (
    "NodeName", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "VolumeBinding",
    "VolumeZone", "InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures",
)  # fmt: skip


_SPREAD = SpreadHint(is_on_or_nominated)


def _of_assigned(action: str) -> tuple[ClusterEventWithHint, ...]:
    return (ClusterEventWithHint("AssignedPod", frozenset({action}), never),)


DIFFERENCES = (
    Difference(
        subject="VolumeBinding",
        here="does not score: StorageCapacityScoring is off by default",
        there="scores nodes by storage capacity",
        source="framework/plugins/volumebinding/volume_binding.go",
        gates={"StorageCapacityScoring": False},
        shows=("preScore/VolumeBinding", "scores/VolumeBinding", "totals"),
        proof=True,
    ),
    Difference(
        subject="NodeVolumeLimits",
        here="admits nodes that lack a CSI driver: VolumeLimitScaling is off by default",
        there="refuses nodes without a driver whose CSIDriver has preventPodSchedulingIfMissing",
        source="framework/plugins/nodevolumelimits/csi.go",
        gates={"VolumeLimitScaling": False},
        shows=("failed/NodeVolumeLimits", "moves"),
    ),
    Difference(
        subject="DynamicResources",
        here="looks at the taints of ResourceSlices alone: DRADeviceTaintRules is off by default",
        there="looks at DeviceTaintRules too",
        source="k8s.io/dynamic-resource-allocation/resourceslice/tracker/tracker.go",
        gates={"DRADeviceTaintRules": False},
        shows=("failed/DynamicResources", "feasible", "moves"),
    ),
    Difference(
        subject="DynamicResources",
        here="keeps ranges of capacity in whole units",
        there="keeps them in thousandths where all bounds are (DRAFractionalCapacityRange)",
        source="k8s.io/dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go",
        gates={"DRAFractionalCapacityRange": None},
        shows=("failed/DynamicResources", "feasible"),
    ),
    Difference(
        subject="Default profile",
        here="lists NodeUnschedulable before NodeName, which changes no decision",
        there="lists NodeName first",
        source="apis/config/v1/default_plugins.go",
        plugins={"NodeUnschedulable": {"rank": 25}},
    ),
    Difference(
        subject="NodeName, NodeUnschedulable, TaintToleration",
        here="have no PreFilter",
        there="answer PreFilter",
        source="framework/plugins/nodename/node_name.go",
        plugins={
            "NodeName": {"points": "filter"},
            "NodeUnschedulable": {"points": "filter"},
            "TaintToleration": {"points": "filter preScore score"},
        },
        shows=("preFilter",),
        proof=True,
    ),
    Difference(
        subject="Requests of pods on nodes",
        here="are the most of specified, allocated and in use of each container whose status has resources",
        there="are the most of three sums, with every init container's status: specified, allocated, in use",
        source="k8s.io/component-helpers/resource/helpers.go",
        fields={"pod": _Pod},
        shows=("failed/NodeResourcesFit", "feasible", "totals", "scores"),
        proof=True,
    ),
    Difference(
        subject="InterPodAffinity",
        here="asks the namespaceSelector of the pod's own terms once more without labels, so that NotIn and "
        "DoesNotExist admit every namespace",
        there="goes by the namespaces that it selects alone",
        source="framework/plugins/interpodaffinity/plugin.go",
        plugins={"InterPodAffinity": {"code": _InterPodAffinity()}},
        shows=("failed/InterPodAffinity", "scores/InterPodAffinity", "feasible", "totals"),
        proof=True,
    ),
    Difference(
        subject="DynamicResources",
        here="names no device in the error of a CEL selector",
        there="names the device, and optional chaining where a key is missing",
        source="k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go",
        fields={"explains_selectors": False},
        shows=("message", "failed/DynamicResources"),
        proof=True,
    ),
    Difference(
        subject="ImageLocality",
        here="counts image volumes in the sum, not in the number that scales it",
        there="counts them in both",
        source="framework/plugins/imagelocality/image_locality.go",
        plugins={"ImageLocality": {"code": _ImageLocality()}},
        shows=("scores/ImageLocality", "totals"),
    ),
    Difference(
        subject="Opportunistic batching",
        here="gives a hint only once the node of the cycle before is rejected, and gives one to a pod with a "
        "nominated node, which does not follow it",
        there="scores that node again and lets it take part, and gives a pod with a nominated node none",
        source="framework/runtime/batch.go",
        fields={"batching": FallbackBatching},
        shows=("hint", "evaluated", "feasible", "totals"),
        proof=True,
    ),
    Difference(
        subject="Queueing events",
        here="names changes of the waiting pod itself UnschedulablePodUpdate…",
        there="names them TargetPodUpdate…",
        source="framework/events.go",
        fields={"own_events": "UnschedulablePod"},
        shows=("moves",),
        proof=True,
    ),
    Difference(
        subject="Queueing hints",
        here="are asked about updates of pods on nodes where a plugin waits for one of the pod itself",
        there="are asked about the pod's own updates and those of pods on nodes apart",
        source="framework/interface.go",
        plugins={"PodTopologySpread": {"events": by_spread(_SPREAD, "UpdatePodToleration")}},
        events={
            "NodeUnschedulable": _of_assigned("UpdatePodToleration"),
            "TaintToleration": _of_assigned("UpdatePodToleration"),
            "NodeDeclaredFeatures": _of_assigned("Update"),
            "DynamicResources": _of_assigned("UpdatePodGeneratedResourceClaim"),
        },
        shows=("moves",),
        proof=True,
    ),
    Difference(
        subject="Queueing hints",
        here="a change of a node's taints queues the pod where a plugin that rejected it waits for new nodes",
        there="only plugins that look at taints wait for their changes",
        source="scheduler.go",
        events=dict.fromkeys(_ADDED_TO_NODES, (_TAINT,)),
        shows=("moves",),
        proof=True,
    ),
    Difference(
        subject="PodTopologySpread",
        here="counts pods that are nominated to a node in queueing hints, as v1.36.3 does",
        there="counts pods on nodes alone, as v1.37.1 does",
        source="framework/plugins/podtopologyspread/plugin.go",
        plugins={"PodTopologySpread": {"events": by_spread(_SPREAD, "UpdatePodToleration")}},
        shows=("moves",),
    ),
    Difference(
        subject="InterPodAffinity",
        here="queues a pod whose anti-affinity terms all select the pod that left or was relabeled",
        there="queues it if any term does",
        source="framework/plugins/interpodaffinity/plugin.go",
        plugins={"InterPodAffinity": {"events": by_terms(TermsHint(all_select, all_select))}},
        shows=("moves",),
        proof=True,
    ),
    Difference(
        subject="DynamicResources",
        here="says at PostFilter `no new claims to deallocate` or `still not schedulable`, which begins the "
        "message",
        there="says nothing unless it frees a claim",
        source="framework/plugins/dynamicresources/dynamicresources.go",
        fields={"allocation_texts": ("no new claims to deallocate", "still not schedulable")},
        shows=("message", "postFilter"),
        proof=True,
    ),
    Difference(
        subject="DefaultPreemption",
        here="says nothing when it has found victims",
        there="names the node and how many victims there are",
        source="framework/preemption/preemption.go",
        fields={"announces_victims": False},
        shows=("message", "postFilter"),
        proof=True,
    ),
    Difference(
        subject="Feature gates",
        here="has GangScheduling and WorkloadAwarePreemption apart from GenericWorkload",
        there="has both in GenericWorkload",
        source="k8s.io/kubernetes/pkg/features/kube_features.go",
        gates={
            "GangScheduling": False,
            "WorkloadAwarePreemption": False,
            "CompositePodGroup": None,
            "PodGroupPreemptionPolicy": None,
            "SchedulerPreQueueingHints": None,
        },
    ),
)

DIALECT = derived(
    LATER, DIFFERENCES, name="v1.36", lacks=("GenericWorkload", "GangScheduling", "WorkloadAwarePreemption")
)
