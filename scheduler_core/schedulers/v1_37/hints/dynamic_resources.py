"""Hints of DynamicResources (plugins/dynamicresources/dynamicresources.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.hints.common import always, answer, listed, metadata, status
from scheduler_core.schedulers.v1_37.interface import Event, HintAnswer, HintContext, Hints, Registration
from scheduler_core.schedulers.v1_37.plugins.dynamic_resources import claims_to_be_made
from scheduler_core.schedulers.v1_37.pods import Pod


def _claims_usable(pod: Pod, context: HintContext) -> bool:
    """Return whether every claim of the pod was made, exists and is not being deleted."""
    if claims_to_be_made(pod):
        return False
    claims = (context.cluster.get("ResourceClaim", pod.namespace, name) for name in pod.resource_claims)
    return all(claim is not None and not metadata(claim).get("deletionTimestamp") for claim in claims)


def _after_target_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    del event
    return answer(_claims_usable(pod, context))


def _after_claim_change(pod: Pod, event: Event, context: HintContext) -> HintAnswer:
    if not _claims_usable(pod, context):
        return "QueueSkip"
    if (
        event.old is not None
        and status(event.old).get("allocation")
        and not status(event.new).get("allocation")
    ):
        return "Queue"  # whoever had it: devices are free again
    meta = metadata(event.new)
    if (meta.get("namespace") or "default") != pod.namespace or meta.get("name") not in pod.resource_claims:
        return "QueueSkip"
    return answer(event.old is None or status(event.old) != status(event.new))


_ADD_UPDATE = frozenset({"Add", "Update"})


def _until(pod: Pod) -> str:
    if claims_to_be_made(pod):
        entries = pod.spec.get("resourceClaims") or ()
        templates = [entry.get("resourceClaimTemplateName") for entry in entries]
        named = listed(list(dict.fromkeys(name for name in templates if name)))
        return f"a controller has made its ResourceClaim from ResourceClaimTemplate {named}"
    asked = listed(list(pod.resource_claims))
    return f"the ResourceClaim {asked} is created or changes, or a ResourceSlice, DeviceClass or node does"


HINTS = Hints(
    "DynamicResources",
    (
        Registration("resource.k8s.io/ResourceClaim", _ADD_UPDATE, _after_claim_change),
        Registration("TargetPod", frozenset({"UpdatePodGeneratedResourceClaim"}), _after_target_change),
        Registration("Node", frozenset({"Add", "UpdateNodeLabel", "UpdateNodeAllocatable"}), always),
        Registration("resource.k8s.io/DeviceClass", _ADD_UPDATE, always),
        Registration("resource.k8s.io/ResourceSlice", _ADD_UPDATE, always),
    ),
    _until,
)
