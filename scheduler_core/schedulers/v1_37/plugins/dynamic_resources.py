"""DynamicResources: devices for the pod's ResourceClaims."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct, field

from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.device_allocation import Allocator, InvalidPoolsError
from scheduler_core.schedulers.v1_37.devices import key_of_claim, requests_of
from scheduler_core.schedulers.v1_37.extended_resources import ExtendedResources, extended_resources
from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    HintAnswer,
    HintContext,
    PluginError,
)
from scheduler_core.schedulers.v1_37.plugins.base import (
    OK,
    SKIPPED,
    Codes,
    Context,
    Ints,
    Plugin,
    Rows,
    Status,
    default_normalize,
    unresolvable,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import Declared, Reused, signs_nothing
from scheduler_core.schedulers.v1_37.plugins.hints import always, answer, listed, metadata, status
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments
from scheduler_core.schedulers.v1_37.selectors import node_terms
from scheduler_core.schedulers.v1_37.state import ClusterState, uid_of
from scheduler_core.schedulers.v1_37.status import ERROR, UNSCHEDULABLE

MAX_ALTERNATIVES = 8

_OF_ALLOCATION = ("allocation", "reservedFor", "devices")
_ELSEWHERE = unresolvable("resourceclaim not available on the node")
NOT_ALLOCATED = unresolvable("cannot allocate all claims")
_ANSWERS = {
    1: _ELSEWHERE,
    2: NOT_ALLOCATED,
    3: unresolvable("invalid resource pools were encountered"),
    4: unresolvable("cannot schedule extended resource claim"),
    5: unresolvable("cannot fit resource"),
}


class DeviceState(Struct):
    """The pod's claims, and what was allocated on each node."""

    claims: list[Manifest] = field(default_factory=list)
    pending: list[Manifest] = field(default_factory=list)
    """Claims to allocate."""
    allocator: Allocator | None = None
    extended: ExtendedResources | None = None
    allocations: dict[int, list[tuple[Manifest, Any]]] = field(default_factory=dict)
    """The claims that are allocated on each row, each with its allocation."""
    unavailable: set[int] = field(default_factory=set)
    """Indices of allocated claims whose node selector failed a node."""
    errors: dict[str, int] = field(default_factory=dict)
    """Each error with its number, from 0."""

    def to_allocate(self, node: Manifest) -> list[Manifest]:
        """Return the claims to allocate on a node, that for extended resources last."""
        special = None if self.extended is None else self.extended.claim_on(node)
        return self.pending if special is None else [*self.pending, special]


def allocation_of(claim: Manifest) -> Any:
    """Return a claim's allocation."""
    return (claim.get("status") or {}).get("allocation")


def consumers(claim: Manifest) -> list[Any]:
    """Return for whom a claim is reserved."""
    return list((claim.get("status") or {}).get("reservedFor") or ())


def pod_uid(pod: CompiledPod) -> str:
    """Return the uid that a reservation names the pod by."""
    return uid_of({**pod.manifest, "kind": "Pod"})


def claims_to_be_made(pod: CompiledPod) -> bool:
    """Return whether a claim of the pod is to be made from a template, and its status names none yet."""
    made = {entry.get("name") for entry in pod.status.get("resourceClaimStatuses") or ()}
    wanted = pod.spec.get("resourceClaims") or ()
    return any(not entry.get("resourceClaimName") and entry.get("name") not in made for entry in wanted)


def unusable_claim(cluster: ClusterState, pod: CompiledPod) -> str | None:
    """Return why the pod's claims cannot be used: not made yet, missing, being deleted or another pod's."""
    generated = {entry.get("name"): entry for entry in pod.status.get("resourceClaimStatuses") or ()}
    for entry in pod.spec.get("resourceClaims") or ():
        name, made = entry.get("resourceClaimName"), False
        if not name:
            if entry.get("name") not in generated:
                return f'pod "{pod.key}": ResourceClaim not created yet'
            name, made = generated[entry.get("name")].get("resourceClaimName"), True
        if not name:
            continue  # it turned out that none is needed
        claim = cluster.get("ResourceClaim", pod.namespace, name)
        if claim is None:
            return f'resourceclaim.resource.k8s.io "{name}" not found'
        if claim["metadata"].get("deletionTimestamp"):
            return f'resourceclaim "{name}" is being deleted'
        if made and not _is_owned(claim, pod):
            return (
                f"ResourceClaim {pod.namespace}/{name} was not created for Pod {pod.key} (Pod is not owner)"
            )
    return None


def _is_owned(claim: Manifest, pod: CompiledPod) -> bool:
    """Return whether the pod controls the claim (resourceclaim.IsForPod)."""
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("uid") == pod_uid(pod) for owner in owners)


class DynamicResources(Plugin):
    """Claims with structured parameters. Codes: as in ``_ANSWERS``; -1… an error."""

    key = "DynamicResources"

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Check the claims and their classes; skip without claims."""
        state = ctx.states[self.key] = DeviceState()
        problem = unusable_claim(ctx.cluster, ctx.pod)
        if problem is not None:
            return unresolvable(problem), None
        state.extended = extended_resources(ctx.cluster, ctx.pod)
        if not ctx.pod.resource_claims and state.extended is None:
            return SKIPPED, None
        claims = []
        for name in ctx.pod.resource_claims:
            claim = ctx.cluster.get("ResourceClaim", ctx.pod.namespace, name)
            assert claim is not None
            claims.append(claim)
            problem = _check(ctx, claim)
            if problem is not None:
                return unresolvable(problem), None
            if not allocation_of(claim):
                state.pending.append(claim)
        state.claims = claims
        if state.pending or state.extended is not None:
            state.allocator = Allocator(ctx.cluster)
        return OK, None

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Check where the claims are allocated, or allocate them, on each node."""
        codes = np.zeros(len(rows), np.int64)
        for place, row in enumerate(rows):
            codes[place] = self._on(ctx, ctx.states[self.key], int(row))
        return codes

    @staticmethod
    def _on(ctx: Context, state: DeviceState, row: int) -> int:
        node = ctx.nodes.nodes[row]
        if state.extended is not None and state.extended.stale is not None:
            return 4
        if state.extended is not None and not state.extended.fits(node.manifest):
            return 5
        elsewhere = set()
        for index, claim in enumerate(state.claims):
            terms = node_terms((allocation_of(claim) or {}).get("nodeSelector"))
            if terms is not None and not any(term.matches(node.name, node.labels) for term in terms):
                elsewhere.add(index)
        claims = state.to_allocate(node.manifest)
        found: list[Any] | None = None
        if state.allocator is not None and claims:
            try:
                found = state.allocator.allocate(claims, node.name, node.labels)
            except PluginError as error:
                return -1 - state.errors.setdefault(str(error), len(state.errors))
            except InvalidPoolsError:
                return 3
            if found is None:
                return 2
        if elsewhere:
            state.unavailable |= elsewhere
            return 1
        if found is not None:
            state.allocations[row] = list(zip(claims, found, strict=True))
        return 0

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return which it was."""
        del row
        if code < 0:
            return Status(ERROR, (list(ctx.states[self.key].errors)[-1 - code],))
        return _ANSWERS[code]

    def score(self, ctx: Context, rows: Rows) -> Ints:
        """Prefer nodes on which earlier subrequests were served."""
        out = np.zeros(len(rows), np.int64)
        state: DeviceState | None = ctx.states.get(self.key)
        if state is not None:
            for place, row in enumerate(rows):
                if int(row) in state.allocations:
                    out[place] = self.preferences(state, state.allocations[int(row)])
        return out

    @staticmethod
    def preferences(state: DeviceState, found: list[tuple[Manifest, Any]]) -> int:
        """Return the sum over all claims of the pod, those included that were allocated before.

        Source: computeScore.
        """
        fresh = (allocation for _, allocation in found)
        return sum(preference(claim, allocation_of(claim) or next(fresh)) for claim in state.claims)

    def normalize(self, ctx: Context, rows: Rows, raw: Ints) -> Ints:
        """Scale to the greatest sum."""
        del ctx, rows
        return default_normalize(raw)


def _check(ctx: Context, claim: Manifest) -> str | None:
    key = key_of_claim(claim)
    if allocation_of(claim):
        return None  # any number of pods may share it
    if key in ctx.cluster.assumed_devices:
        return f"resource claim {key} is in the process of being allocated"
    for alternatives in requests_of(claim):
        for request in alternatives:
            name = request.entry.get("deviceClassName")
            if name and ctx.cluster.get("DeviceClass", None, name) is None:
                return f"request {request.name}: device class {name} does not exist"
    return None


def preference(claim: Manifest, allocation: Any) -> int:
    """Return 8 − index of the subrequest taken, summed over the requests that have subrequests."""
    served = {result.get("request") for result in (allocation.get("devices") or {}).get("results") or ()}
    total = 0
    for alternatives in requests_of(claim):
        if alternatives[0].is_alternative:
            total += sum(MAX_ALTERNATIVES - i for i, one in enumerate(alternatives) if one.name in served)
    return total


def deallocate(ctx: Context) -> tuple[Status, ObjectWrite | None]:
    """Answer PostFilter: free an allocated claim that no other pod uses and that kept the pod off a node.

    A claim for extended resources that is left of a failed binding is deleted.
    """
    state: DeviceState | None = ctx.states.get(DynamicResources.key)
    if state is None:  # PreFilter ended before this plugin ran, and upstream finds no state
        return Status(ERROR, ("not found",)), None
    for index in sorted(state.unavailable):
        claim = state.claims[index]
        reserved = consumers(claim)
        if not reserved or (len(reserved) == 1 and reserved[0].get("uid") == pod_uid(ctx.pod)):
            status = {key: value for key, value in claim["status"].items() if key not in _OF_ALLOCATION}
            change = ctx.cluster.replace({**claim, "status": status})
            return Status(UNSCHEDULABLE, ("deallocation of ResourceClaim completed",)), change
    stale = None if state.extended is None else state.extended.stale
    if stale is not None:
        meta = stale["metadata"]
        change = ctx.cluster.delete("ResourceClaim", meta.get("namespace"), meta["name"])
        return Status(UNSCHEDULABLE, ("deletion of ResourceClaim completed",)), change
    text = ctx.configuration.dialect.allocation_texts[bool(state.claims) or state.extended is not None]
    return Status(UNSCHEDULABLE, (text,) if text else ()), None


def _claims_usable(pod: CompiledPod, context: HintContext) -> bool:
    """Return whether every claim of the pod was made, exists and is not being deleted."""
    if claims_to_be_made(pod):
        return False
    claims = (context.cluster.get("ResourceClaim", pod.namespace, name) for name in pod.resource_claims)
    return all(claim is not None and not metadata(claim).get("deletionTimestamp") for claim in claims)


def _after_target_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del event
    return answer(_claims_usable(pod, context))


def _after_claim_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
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


def _until(pod: CompiledPod) -> str:
    if claims_to_be_made(pod):
        entries = pod.spec.get("resourceClaims") or ()
        templates = [entry.get("resourceClaimTemplateName") for entry in entries]
        named = listed(list(dict.fromkeys(name for name in templates if name)))
        return f"a controller has made its ResourceClaim from ResourceClaimTemplate {named}"
    if not pod.resource_claims:
        return "devices are freed, or a ResourceSlice, DeviceClass or node is created or changes"
    asked = listed(list(pod.resource_claims))
    return f"the ResourceClaim {asked} is created or changes, or a ResourceSlice, DeviceClass or node does"


def _unsigned_because(pod: CompiledPod, arguments: Arguments) -> str:
    del arguments
    return "the pod has ResourceClaims" if pod.spec.get("resourceClaims") else ""


PLUGIN = Declared(
    "DynamicResources",
    "preEnqueue preFilter filter postFilter score reserve preBind podGroupPostFilter",
    rank=150,
    weight=2,
    unprepared={"filter": "not found", "score": "not found"},
    filters="devices for the pod's ResourceClaims, and for extended resources that a DeviceClass backs and "
    "the node does not report, can be allocated on the node",
    prefers="nodes that serve earlier subrequests of prioritized lists",
    formula="sum over claims; normalized by 100 · score / greatest",
    otherwise="PreEnqueue waits for the claims, PostFilter may deallocate one, Reserve and PreBind allocate",
    events=(
        ClusterEventWithHint("resource.k8s.io/ResourceClaim", _ADD_UPDATE, _after_claim_change),
        ClusterEventWithHint(
            "TargetPod", frozenset({"UpdatePodGeneratedResourceClaim"}), _after_target_change
        ),
        ClusterEventWithHint("Node", frozenset({"Add", "UpdateNodeLabel", "UpdateNodeAllocatable"}), always),
        ClusterEventWithHint("resource.k8s.io/DeviceClass", _ADD_UPDATE, always),
        ClusterEventWithHint("resource.k8s.io/ResourceSlice", _ADD_UPDATE, always),
    ),
    until=_until,
    signs=signs_nothing,
    unsigned_because=_unsigned_because,
    reuse=Reused(score="none"),
    code=DynamicResources(),
)
