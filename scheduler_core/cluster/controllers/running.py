"""Running pods: what the kubelet does with a bound pod, controlled by podstep's own annotations.

=========================  ==========================================================================
``podstep/start-seconds``  from the binding to Running and ready (0)
``podstep/run-seconds``    from there to termination; without it the pod runs until it is deleted
``podstep/outcome``        ``Succeeded`` (the default) or ``Failed``: how it terminates
=========================  ==========================================================================

``status.startTime`` is the moment of the binding, to the second: the kubelet then acknowledges the pod, or
refuses it for good (:mod:`scheduler_core.cluster.controllers.kubelet`).

``restartPolicy`` determines what happens at termination: with ``Always``, and with ``OnFailure`` after a
failure, the containers restart in the same pod, the first time at once, then after a backoff of 10 s doubling
up to 5 min, during which the pod is Running but not ready. A pod whose manifest sets no policy terminates for
good, because that is the purpose of a given duration. Pods that are recreated forever, like a ReplicaSet's,
run for at least a second, and are refused by the kubelet after one. On a node that stops responding nothing
starts or terminates from that moment on.

=======================  =============================================================
``podstep/fails-at``     a node's annotation: virtual seconds at which it stops responding
``podstep/recovers-at``  and at which it responds again
=======================  =============================================================

A node's annotation ``podstep/release-seconds`` is how long its kubelet still counts a pod that has ended,
while it cleans up; every scheduler counts it no more. Pods that were deleted are gone at once.
"""

from __future__ import annotations

import math
from functools import lru_cache

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation, Wake, timestamp
from scheduler_core.cluster.controllers.kubelet import AdmissionRefusal, is_admitted, refusal
from scheduler_core.cluster.controllers.owned import controller_of
from scheduler_core.cluster.store import Store
from scheduler_core.kubernetes.model import Node, Pod

START = "podstep/start-seconds"
RUN = "podstep/run-seconds"
OUTCOME = "podstep/outcome"
FAILS, RECOVERS = "podstep/fails-at", "podstep/recovers-at"
RELEASE = "podstep/release-seconds"

# A run takes time, or controllers that replace terminated pods would create pods forever in one moment.
_SHORTEST_RUN, _SHORTEST_OF_REPLICAS = 0.001, 1.0
_FIRST_DELAY, _LONGEST_DELAY = 10.0, 300.0  # the kubelet's MaxContainerBackOff


@lru_cache(maxsize=4096)
def seconds(text: str) -> float | None:
    """Parse seconds, at least 0; return ``None`` if the text is no such number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 1e12 else None


def outage(node: Node) -> tuple[float, float] | None:
    """Return the start and end of a node's outage by its annotations, ``None`` if there is none."""
    fails = _moment(node, FAILS)
    if fails is None:
        return None
    recovers = _moment(node, RECOVERS)
    return fails, math.inf if recovers is None or recovers <= fails else recovers


def _moment(node: Node, annotation: str) -> float | None:
    text = node.meta.annotations.get(annotation)
    return seconds(text) if text is not None else None


def restart_delay(restarts: int) -> float:
    """Return the backoff in seconds before the containers restart, given the number of restarts."""
    return min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** min(restarts - 2, 30)) if restarts > 1 else 0.0


def reconcile(pod: Pod, store: Store, now: float) -> Reconciliation:
    """Start, terminate or restart a bound pod when it is due."""
    name = pod.meta.key
    if pod.node_name in store.failing_since:
        return ()
    node = store.nodes.get(pod.node_name)
    silent = outage(node) if node is not None else None
    if silent is not None and silent[0] <= now < silent[1]:
        return (Wake(silent[1], "its node is ready again"),) if silent[1] < math.inf else ()
    since = store.index.since[name]
    if pod.phase == "Pending":
        refused = None
        if store.options.admission and node is not None and not pod.start_time:
            refused = _refusal(pod, node, store, now)
        if refused is not None:
            owner = controller_of(pod)
            again = since + (0.0 if owner is None or owner.kind == "Job" else _SHORTEST_OF_REPLICAS)
            if now < again:
                return (Wake(again, "is refused"),)
            failed = replace(pod, phase="Failed", start_time=timestamp(store.options, now))
            return (Change("update", failed, *refused),)
        begun = pod.start_time or timestamp(store.options, since)
        start = since + (seconds(pod.meta.annotations.get(START, "0")) or 0.0)
        if now >= start:
            running = replace(pod, phase="Running", ready=True, start_time=begun)
            return (Change("update", running, "Started"),)
        wake = Wake(start, "starts")
        if pod.start_time:
            return (wake,)
        return Change("update", replace(pod, start_time=begun), "Acknowledged"), wake
    if pod.phase != "Running":
        return ()
    if not pod.ready:
        again = since + restart_delay(pod.restarts)
        if now < again:
            return (Wake(again, "restarts"),)
        return (Change("update", replace(pod, ready=True), "Started"),)
    written = pod.meta.annotations.get(RUN)
    run = seconds(written) if written is not None else None
    if run is None:
        return ()
    owner = controller_of(pod)
    shortest = _SHORTEST_RUN if owner is None or owner.kind == "Job" else _SHORTEST_OF_REPLICAS
    end = round(since + max(run, shortest), 6)
    if now < end:
        return (Wake(end, "ends"),)
    return (_ended(pod),)


def _refusal(pod: Pod, node: Node, store: Store, now: float) -> AdmissionRefusal | None:
    """Return why the kubelet refuses a pod that it sees for the first time."""
    used = store.index.used.get(pod.node_name, {})
    if held := seconds(node.meta.annotations.get(RELEASE, "0")):
        used = _with_ended(used, pod.node_name, store, now - held)
    return refusal(pod, node, used, lambda: filter(is_admitted, store.pods_on(pod.node_name)))


def _with_ended(used: dict[str, int], node: str, store: Store, since: float) -> dict[str, int]:
    """Return what is used with the pods that ended on a node after a moment, unless they were refused."""
    found = dict(used)
    for name in reversed(store.index.finished):
        if store.index.since[name] <= since:
            break
        ended = store.objects["Pod", name]
        if not isinstance(ended, Pod) or ended.node_name != node or name in store.index.refused:
            continue
        found["pods"] = found.get("pods", 0) + 1
        for container in ended.containers:
            for resource, amount in container.requests.items():
                found[resource] = found.get(resource, 0) + amount
    return found


def _ended(pod: Pod) -> Change:
    failed = pod.meta.annotations.get(OUTCOME) == "Failed"
    if pod.restart_policy == "Always" or (failed and pod.restart_policy == "OnFailure"):
        return Change("update", replace(pod, restarts=pod.restarts + 1, ready=False), "BackOff")
    phase = "Failed" if failed else "Succeeded"
    return Change("update", replace(pod, phase=phase, ready=False), phase)
