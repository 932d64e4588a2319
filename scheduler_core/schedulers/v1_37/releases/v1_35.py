"""kube-scheduler v1.35: in what it differs from v1.36."""

from __future__ import annotations

from typing import Any

from scheduler_core.kubernetes.requests import held_by_container
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.dialect import Difference
from scheduler_core.schedulers.v1_37.extended_resources import EXTENDED_GATE
from scheduler_core.schedulers.v1_37.interface import ClusterEvent, HintAnswer, HintContext
from scheduler_core.schedulers.v1_37.plugins.base import Context, Ints, Rows, Status, unresolvable
from scheduler_core.schedulers.v1_37.plugins.dynamic_resources import (
    DeviceState,
    DynamicResources,
    preference,
)
from scheduler_core.schedulers.v1_37.plugins.hints import never
from scheduler_core.schedulers.v1_37.plugins.image_locality import ImageLocality, images_of_containers
from scheduler_core.schedulers.v1_37.plugins.inter_pod_affinity import PodChangeHint as TermsHint
from scheduler_core.schedulers.v1_37.plugins.inter_pod_affinity import all_select
from scheduler_core.schedulers.v1_37.plugins.inter_pod_affinity import events_by as by_terms
from scheduler_core.schedulers.v1_37.plugins.node_declared_features import NodeDeclaredFeatures
from scheduler_core.schedulers.v1_37.plugins.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
    balance,
)
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import SpreadChangeHint as SpreadHint
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import events_by as by_spread
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import is_on_node
from scheduler_core.schedulers.v1_37.pod_spec import AffinityTerm
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.releases.derivation import derived
from scheduler_core.schedulers.v1_37.releases.v1_36 import DIALECT as LATER
from scheduler_core.schedulers.v1_37.releases.v1_36 import FallbackBatching


class _Pod(CompiledPod):
    __slots__ = ()

    read_held = staticmethod(held_by_container)


class _Batching(FallbackBatching):
    def _may_be_served(self, pod: CompiledPod) -> bool:
        """Return whether devices may serve any pod."""
        del pod
        return self.scheduling.configuration.gate(EXTENDED_GATE)


class _NodeDeclaredFeatures(NodeDeclaredFeatures):
    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return which features the node lacks."""
        del code
        column = ctx.nodes.features
        has = column.values[column.ids[row]]
        lacking = ", ".join(sorted(ctx.states[self.key] - has))
        return unresolvable(f"node declared features check failed - unsatisfied requirements: {lacking}")


class _DynamicResources(DynamicResources):
    @staticmethod
    def preferences(state: DeviceState, found: list[tuple[Manifest, Any]]) -> int:
        """Return the sum over the claims that are allocated on the node now."""
        del state
        return sum(preference(claim, allocation) for claim, allocation in found)


class _NodeResourcesBalancedAllocation(NodeResourcesBalancedAllocation):
    @staticmethod
    def rate(ctx: Context, rows: Rows) -> Ints:
        """Return how balanced each row is with the pod."""
        return balance(ctx, rows, with_pod=True)


class _ImageLocality(ImageLocality):
    @staticmethod
    def images(pod: CompiledPod) -> tuple[list[str], int]:
        """Return the images of the containers."""
        own = images_of_containers(pod)
        return own, len(own)


def _none_select(terms: tuple[AffinityTerm, ...], pod: CompiledPod) -> bool:
    """Return that the terms are not looked at."""
    del terms, pod
    return False


_TERMS = TermsHint(all_select, _none_select)


def _after_pod_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    """Answer for pods on nodes; one that was only nominated does not count."""
    if not all(is_on_node(one) for one in (event.old, event.new) if one is not None):
        return "QueueSkip"
    return _TERMS(pod, event, context)


DIFFERENCES = (
    Difference(
        subject="NodeResourcesBalancedAllocation",
        here="scores how evenly the node's resources would be requested with the pod",
        there="scores how much more evenly than without the pod",
        source="framework/plugins/noderesources/balanced_allocation.go",
        plugins={
            "NodeResourcesBalancedAllocation": {
                "code": _NodeResourcesBalancedAllocation(),
                "formula": "100 · (1 − deviation of the requested shares with the pod)",
            }
        },
        shows=("scores/NodeResourcesBalancedAllocation", "totals"),
        proof=True,
    ),
    Difference(
        subject="NodeDeclaredFeatures",
        here="is off by default: status.declaredFeatures of nodes means nothing",
        there="is one of the default plugins",
        source="framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go",
        gates={"NodeDeclaredFeatures": False},
        plugins={"NodeDeclaredFeatures": {"gate": "NodeDeclaredFeatures"}},
        shows=("preFilter/NodeDeclaredFeatures", "failed/NodeDeclaredFeatures", "feasible", "moves"),
        proof=True,
    ),
    Difference(
        subject="NodeDeclaredFeatures",
        here="names the features that a node lacks",
        there="says that the node does not match the pod's required features",
        source="framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go",
        plugins={"NodeDeclaredFeatures": {"code": _NodeDeclaredFeatures()}},
        shows=("failed/NodeDeclaredFeatures", "message"),
    ),
    Difference(
        subject="DynamicResources",
        here="does not act on taints of devices: DRADeviceTaints is off by default",
        there="skips tainted devices that a request does not tolerate",
        source="k8s.io/dynamic-resource-allocation/structured/internal/stable/allocator_stable.go",
        gates={"DRADeviceTaints": False},
        shows=("failed/DynamicResources", "feasible", "moves"),
        proof=True,
    ),
    Difference(
        subject="Extended resources",
        here="are served by what a node reports alone: DRAExtendedResource is off by default",
        there="are served by devices where a DeviceClass names one",
        source="framework/plugins/noderesources/fit.go",
        gates={"DRAExtendedResource": False},
        shows=("failed/NodeResourcesFit", "preFilter/DynamicResources", "feasible", "moves"),
        proof=True,
    ),
    Difference(
        subject="DynamicResources",
        here="knows no partitions of devices: DRAPartitionableDevices is off by default",
        there="draws what partitions consume from shared counters",
        source="k8s.io/dynamic-resource-allocation/structured/internal/stable/pools_stable.go",
        gates={"DRAPartitionableDevices": False},
        shows=("failed/DynamicResources", "feasible"),
    ),
    Difference(
        subject="DynamicResources",
        here="gives a device to one claim: DRAConsumableCapacity is off by default",
        there="lets claims share devices that allow it",
        source="k8s.io/dynamic-resource-allocation/structured/internal/stable/allocator_stable.go",
        gates={"DRAConsumableCapacity": False},
        shows=("failed/DynamicResources", "feasible", "message"),
    ),
    Difference(
        subject="DynamicResources",
        here="does not act on binding conditions of devices: DRADeviceBindingConditions is off by default",
        there="tries pools with such devices last, and waits for the conditions",
        source="k8s.io/dynamic-resource-allocation/structured/internal/stable/pools_stable.go",
        gates={"DRADeviceBindingConditions": False},
        shows=("failed/DynamicResources", "feasible"),
    ),
    Difference(
        subject="Requests of pods on nodes",
        here="take those of the pod as a whole from its specification",
        there="take the most of specification and status of the pod as a whole",
        source="k8s.io/component-helpers/resource/helpers.go",
        gates={"InPlacePodLevelResourcesVerticalScaling": False},
        fields={"pod": _Pod},
        shows=("failed/NodeResourcesFit", "feasible", "totals", "scores"),
    ),
    Difference(
        subject="DynamicResources",
        here="lets the first subrequest of a prioritized list take what is left once a later one with "
        "allocationMode All has its first device",
        there="lets that subrequest take all its devices",
        source="k8s.io/dynamic-resource-allocation/structured/internal/stable/allocator_stable.go",
        fields={"keeps_alternative": False},
        shows=("failed/DynamicResources", "feasible", "scores/DynamicResources", "totals"),
        proof=True,
    ),
    Difference(
        subject="NodeVolumeLimits",
        here="with VolumeLimitScaling refuses nodes that lack any driver that has a CSIDriver",
        there="refuses those without a driver whose CSIDriver has preventPodSchedulingIfMissing",
        source="framework/plugins/nodevolumelimits/csi.go",
        fields={"driver_may_be_missing": False},
        shows=("failed/NodeVolumeLimits", "feasible"),
    ),
    Difference(
        subject="NodeVolumeLimits",
        here="counts in-tree Portworx volumes where the CSINode's annotation says that they are migrated",
        there="counts them on every node with a CSINode",
        source="framework/plugins/nodevolumelimits/utils.go",
        fields={"migrates_if_annotated": frozenset({"kubernetes.io/portworx-volume"})},
        shows=("failed/NodeVolumeLimits", "feasible"),
    ),
    Difference(
        subject="DynamicResources",
        here="scores the claims that are allocated now",
        there="scores those that were allocated before too",
        source="framework/plugins/dynamicresources/dynamicresources.go",
        plugins={"DynamicResources": {"code": _DynamicResources()}},
        shows=("scores/DynamicResources", "totals"),
    ),
    Difference(
        subject="ImageLocality",
        here="ignores image volumes",
        there="counts their images",
        source="framework/plugins/imagelocality/image_locality.go",
        plugins={"ImageLocality": {"code": _ImageLocality()}},
        shows=("scores/ImageLocality", "totals"),
    ),
    Difference(
        subject="Opportunistic batching",
        here="signs no pod while DRAExtendedResource is on",
        there="leaves out pods that ask for a resource that a DeviceClass names",
        source="framework/plugins/dynamicresources/dynamicresources.go",
        fields={"batching": _Batching},
        shows=("hint",),
    ),
    Difference(
        subject="InterPodAffinity",
        here="leaves a pod waiting for the terms of a deleted pod, for pods that are only nominated, and for "
        "new labels of its own",
        there="queues it for these",
        source="framework/plugins/interpodaffinity/plugin.go",
        plugins={"InterPodAffinity": {"events": by_terms(_after_pod_change, never)}},
        shows=("moves",),
        proof=True,
    ),
    Difference(
        subject="PodTopologySpread",
        here="counts pods on nodes alone in queueing hints",
        there="counts those that are nominated to a node too",
        source="framework/plugins/podtopologyspread/plugin.go",
        plugins={"PodTopologySpread": {"events": by_spread(SpreadHint(is_on_node), "UpdatePodToleration")}},
        shows=("moves",),
    ),
    Difference(
        subject="NodeResourcesFit",
        here="accepts requestedToCapacityRatio with a scoring strategy that does not read it",
        there="refuses such a configuration",
        source="apis/config/validation/validation_pluginargs.go",
        fields={"checks_shape": False},
    ),
    Difference(
        subject="DynamicResources",
        here="an allocation that takes too long is Unschedulable",
        there="is an error that names the node",
        source="framework/plugins/dynamicresources/dynamicresources.go",
        shows=("message",),
    ),
)

DIALECT = derived(
    LATER,
    DIFFERENCES,
    name="v1.35",
    lacks=(*LATER.lacks, "InPlacePodLevelResourcesVerticalScaling"),
)
