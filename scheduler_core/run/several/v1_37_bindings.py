"""The binding of a pod that a kube-scheduler v1.37 has placed: sent, or refused by an extender."""

from __future__ import annotations

from scheduler_core.run.several.v1_37_view import Claims, V1_37View
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.claim_binder import devices_of
from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo
from scheduler_core.schedulers.v1_37.interface import PodAttempt
from scheduler_core.schedulers.v1_37.state import key_of


def send_binding(view: V1_37View, waiting: QueuedPodInfo, tried: PodAttempt) -> bool:
    """Send the binding of an assumed pod; return False if it is refused, which is noted as its failure."""
    run = view.scheduler_run
    tried.result = "scheduled"
    tried.unschedulable_plugins = tried.pending_plugins = frozenset()
    refused = None if tried.calls is None else tried.calls.bind(str(tried.node))
    if refused:
        _refuse(view, waiting, tried, refused)
        return False
    run.nominations.drop(waiting.key)
    view.reserve(waiting, str(tried.node), _claims(tried), devices_of(run.cluster, tried))
    return True


def _refuse(view: V1_37View, waiting: QueuedPodInfo, tried: PodAttempt, why: str) -> None:
    """Take an assumption back; the pod will back off as after any error (handleBindingCycleError)."""
    run = view.scheduler_run
    tried.error = why
    if view.permits is not None:
        view.permits.unreserve(waiting.key)
    view.allocate(tried.pod, devices_of(run.cluster, tried))
    run.scheduling.unreserve(tried)
    view.freed(tried.pod.manifest, str(tried.node))
    run.scheduling.fail(tried)
    waiting.failed(run.clock.now, frozenset(), frozenset())


def _claims(tried: PodAttempt) -> Claims:
    """Return the claims that are bound with a pod (VolumeBinding's Reserve)."""
    state = None if tried.reused else tried.context.states.get("VolumeBinding")
    if state is None or not tried.profile.has("VolumeBinding", "reserve"):
        return ()
    found = state.by_row.get(tried.context.nodes.rows[str(tried.node)])
    if found is None:
        return ()
    static = [(_key(claim), str(volume["metadata"]["name"])) for claim, volume in found.static]
    return (*static, *((_key(claim), "") for claim, _ in found.provisioned))


def _key(claim: Manifest) -> str:
    meta = claim["metadata"]
    return key_of("PersistentVolumeClaim", meta.get("namespace"), meta["name"])
