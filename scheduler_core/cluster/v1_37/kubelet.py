"""Stand-in kubelets: they start, end, restart and remove pods at whole seconds, and renew leases.

A pod's annotations say how it runs: ``podstep/start-seconds``, ``run-seconds``, ``outcome``,
``fail-indexes``, ``fail-first``, ``exit-code``. A node that failed does nothing until it recovers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import ceil, floor, isfinite
from typing import Any

from scheduler_core.cluster.controllers.kubelet import AdmissionRefusal
from scheduler_core.cluster.v1_37.admission import KubeletAdmission
from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.job_pods import INDEX, is_tracked
from scheduler_core.cluster.v1_37.loop import Loop, StatusError, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    condition_in,
    condition_of,
    controller_of,
    is_deleting,
    is_finished,
    key_of,
    most_restarts_of,
    name_of,
    node_of,
    phase_of,
    ready_status,
    second,
    spec_of,
    stamp,
    status_of,
    uid_of,
    with_condition,
    with_status,
)
from scheduler_core.cluster.v1_37.part_memo import remade
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite

LEASE_SECONDS = 10
MIRROR = "kubernetes.io/config.mirror"
FAILS_AS = "fails-as"
"""The annotation that says how a node fails: ``notready`` goes on, and posts that it is not ready."""
SHARED = 1_024
"""So many parts of statuses are remembered, which many pods have alike."""
_BACKOFF, _BACKOFF_MOST = 10, 300
_STARTING = ("", "ContainerCreating", "PodInitializing")
"""Why containers wait that are about to start."""
Fields = tuple[tuple[str, Any], ...]
PodWork = Callable[[str, str], Work]
"""What a kubelet does about a pod, by its key and uid."""


def annotation(obj: Manifest, name: str) -> str | None:
    """Return an object's annotation ``podstep/name``."""
    marks = annotations_of(obj)
    return marks.get(f"podstep/{name}") if marks else None


def amount(obj: Manifest, name: str) -> float | None:
    """Return a number from 0 that an annotation ``podstep/name`` has, ``None`` if it has none."""
    given = annotation(obj, name)
    if not given:
        return None
    try:
        value = float(given)
    except ValueError:
        return None
    return value if isfinite(value) and 0 <= value <= 1e12 else None


_SUFFICIENT = {
    "MemoryPressure": "KubeletHasSufficientMemory",
    "DiskPressure": "KubeletHasNoDiskPressure",
    "PIDPressure": "KubeletHasSufficientPID",
}
"""The reasons with which a kubelet posts that a condition is False."""


class Kubelets:
    """The kubelets of all nodes. ``failed`` are the nodes that say nothing, ``unready`` those that say no."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.loop: Loop = server.loop
        self.client = Clientset(server, "kubelet")
        self.failed: dict[str, float] = {}
        self.unready: set[str] = set()
        self._recovered: dict[str, float] = {}
        self._missed: dict[str, list[tuple[str, str, int, PodWork]]] = {}
        self._ended: dict[str, int] = {}
        self.watchers: list[Callable[[str], None]] = []
        """Called with a node's name before its kubelet falls silent, recovers or is gone."""
        self.admission: KubeletAdmission | None = None
        """What refuses pods; without it nothing does."""
        server.watch(self.observe, ("Node", "Pod"))

    def observe(self, write: StoredWrite) -> None:
        """Begin with a pod that is bound, and with one that is being deleted."""
        if write.kind == "Node":
            if write.new is None:
                self._forget(write.key)
            else:
                self._plan(write.old, write.new)
            return
        if write.new is None:
            self._make_again(write.old)
            return
        pod, old = write.new, write.old
        if old is not None and old.get("spec") is pod.get("spec") and is_deleting(old) == is_deleting(pod):
            return  # its status alone is another, which mostly a kubelet wrote
        if not node_of(pod) or (is_finished(pod) and not is_deleting(pod)):
            return
        if is_deleting(pod):
            if old is None or not is_deleting(old):
                grace = pod["metadata"].get("deletionGracePeriodSeconds") or 0
                self._later(pod, min(grace, 1), self._terminate)
        elif old is None or not node_of(old):
            if phase_of(pod) == "Running":  # of a cluster that was there before
                self._run(key_of(pod), uid_of(pod))
            elif self.admission is not None and (refused := self.admission.refusal(pod, node_of(pod))):
                self._later(pod, 1, partial(self._refuse, refused))
            else:
                self._later(pod, max(1, ceil(amount(pod, "start-seconds") or 0)), self._start)

    # --- a cluster that runs

    def go_on(self) -> None:
        """Go on from the status of the stored nodes, pods and Jobs: that is what kubelets remember."""
        for node in self.server.of_kind("Node"):
            status = ready_status(node)
            if status == "Unknown":
                self.failed[name_of(node)] = self.loop.now
            elif status == "False":
                self.unready.add(name_of(node))
            self._plan(None, node)
        for job in self.server.of_kind("Job"):
            self._ended[uid_of(job)] = self._ended_of(job)
        for pod in self.server.of_kind("Pod"):
            if node_of(pod):
                self._go_on_with(pod)

    def _ended_of(self, job: Manifest) -> int:
        """Return how many pods of a Job have ended: those it has counted, and those it still tracks."""
        tracked = [pod for pod in self.server.controlled(job, "Pod") if is_tracked(pod) and is_finished(pod)]
        return sum(int(status_of(job).get(kind) or 0) for kind in ("succeeded", "failed")) + len(tracked)

    def _go_on_with(self, pod: Manifest) -> None:
        if is_deleting(pod):
            if not is_finished(pod) or pod["metadata"].get("deletionGracePeriodSeconds"):
                self._go_on_at(pod, 0.0, 1, self._terminate)
        elif phase_of(pod) == "Pending" and not waits_for(pod):
            wait = max(1, ceil(amount(pod, "start-seconds") or 0))
            bound = second((condition_of(pod, "PodScheduled") or {}).get("lastTransitionTime"))
            self._go_on_at(pod, bound + wait, wait, self._start)
        elif phase_of(pod) == "Running" and (stopped := _stopped_at(pod)) is not None:
            wait = _backoff(most_restarts_of(pod)) + 1
            self._go_on_at(pod, stopped + wait, wait, self._restart)
        elif phase_of(pod) == "Running" and (seconds := amount(pod, "run-seconds")) is not None:
            wait = max(1, ceil(seconds))
            self._go_on_at(pod, _started_at(pod) + wait, wait, self._end)

    def _go_on_at(self, pod: Manifest, wall_time: float, seconds: int, act: PodWork) -> None:
        """Do something about a pod at a time, but not before a second has passed."""
        at = max(1.0, wall_time - self.loop.epoch)
        self.loop.at(at, self._due, node_of(pod), key_of(pod), uid_of(pod), seconds, act)

    # --- nodes

    def _plan(self, old: Manifest | None, node: Manifest) -> None:
        """Let a node fail and recover at the times of its annotations, also of those that are new."""
        for mark in ("fails-at", "recovers-at"):
            at = amount(node, mark)
            if at is not None and (old is None or amount(old, mark) != at):
                self.loop.at(max(at, self.loop.now), self._planned, name_of(node), mark, at)

    def _planned(self, name: str, mark: str, at: float) -> None:
        node = self.server.get("Node", name)
        if node is None or amount(node, mark) != at:
            return
        if mark == "fails-at" and annotation(node, FAILS_AS) == "notready":
            self.loop.spawn(self.post_unready(name))
        elif mark == "fails-at":
            self.fail(name)
        elif at > (amount(node, "fails-at") or 0):
            self.loop.spawn(self.recover(name))

    def lease(self, name: str, begun: float, at: float) -> float:
        """Return when the lease of a node created at ``begun`` was renewed last; all are virtual seconds."""
        until = self.failed.get(name, at)
        last = begun + floor((until - begun) / LEASE_SECONDS) * LEASE_SECONDS
        return max(last, self._recovered.get(name, last))

    def fail(self, node: str) -> None:
        """Let a node's kubelet fall silent."""
        self._announce(node)
        self.failed.setdefault(node, self.loop.now)

    def _announce(self, node: str) -> None:
        for watch in self.watchers:
            watch(node)

    def post_unready(self, node: str) -> Work:
        """Let a node post Ready=False, and go on."""
        self.unready.add(node)
        yield from self._post_node(node, "False", "KubeletNotReady")

    def recover(self, node: str) -> Work:
        """Let a node post its status and its pods' readiness, and do what it has missed."""
        self._announce(node)
        self.unready.discard(node)
        self._recovered[node] = floor(self.loop.now)
        self.failed.pop(node, None)
        yield from self._post_node(node, "True", "KubeletReady")
        for pod in self.server.pods_of_node(node):
            if phase_of(pod) == "Running" and not is_finished(pod) and (pod_key := key_of(pod)):
                yield from self._post(pod_key, uid_of(pod), _readied)
        for key, uid, seconds, act in self._missed.pop(node, []):
            self._wait(node, key, uid, seconds, act)

    def _post_node(self, name: str, status: str, reason: str) -> Work:
        node = self.server.get("Node", name)
        if node is None:
            return
        at = stamp(self.loop.wall_time)

        def patch(stored: Manifest) -> Manifest:
            known = condition_of(stored, "Ready") or {}
            since = known.get("lastTransitionTime") if known.get("status") == status else at
            row: dict[str, Any] = {"type": "Ready", "status": status, "reason": reason}
            row |= {"lastHeartbeatTime": at, "lastTransitionTime": since}
            of = status_of(stored)
            conditions = with_condition(_known_again(of.get("conditions") or [], at), row)
            return with_status(stored, {**of, "conditions": conditions})

        yield self.client.patch(node, patch)

    def _forget(self, node: str) -> None:
        self._announce(node)
        for known in (self.failed, self._recovered, self._missed):
            known.pop(node, None)
        self.unready.discard(node)

    # --- pods

    def _later(self, pod: Manifest, seconds: int, act: PodWork) -> None:
        """Do something about a pod so many whole seconds after this one, if its node still answers then."""
        self._wait(node_of(pod), key_of(pod), uid_of(pod), seconds, act)

    def _wait(self, node: str, key: str, uid: str, seconds: int, act: PodWork) -> None:
        self.loop.at(floor(self.loop.now + 1e-3) + seconds, self._due, node, key, uid, seconds, act)

    def _due(self, node: str, key: str, uid: str, seconds: int, act: PodWork) -> None:
        found = self.server.get("Pod", key)
        if found is None or uid_of(found) != uid or self.server.get("Node", node) is None:
            return
        if node in self.failed:
            again = max(1, seconds) if act == self._start else 1
            self._missed.setdefault(node, []).append((key, uid, again, act))
        else:
            self.loop.spawn(act(key, uid))

    def _post(self, key: str, uid: str, patch: Callable[[Manifest, float], Manifest]) -> Work:
        pod = self.server.get("Pod", key)
        if pod is not None and uid_of(pod) == uid:
            try:
                yield self.client.patch(pod, lambda stored: patch(stored, self.loop.wall_time))
            except StatusError:
                return

    def _refuse(self, why: AdmissionRefusal, key: str, uid: str) -> Work:
        """Fail a pod for good that does not fit (rejectPod)."""
        pod = self.server.get("Pod", key)
        if pod is not None and not is_deleting(pod) and not is_finished(pod):
            yield from self._post(key, uid, partial(_refused, why=why))

    def _start(self, key: str, uid: str) -> Work:
        pod = self.server.get("Pod", key)
        if pod is None or is_deleting(pod) or is_finished(pod):
            return
        yield from self._post(key, uid, _started)
        self._run(key, uid)

    def _run(self, key: str, uid: str) -> None:
        pod = self.server.get("Pod", key)
        seconds = amount(pod, "run-seconds") if pod is not None else None
        if pod is not None and seconds is not None and uid_of(pod) == uid:
            self._later(pod, max(1, ceil(seconds)), self._end)

    def _end(self, key: str, uid: str) -> Work:
        pod = self.server.get("Pod", key)
        if pod is None or is_deleting(pod) or is_finished(pod):
            return
        failed = self._fails(pod)
        policy = spec_of(pod).get("restartPolicy")
        if policy == "Always" or (policy == "OnFailure" and failed):
            yield from self._post(key, uid, partial(_stopped, code=_exit_code(pod, failed=failed)))
            self._later(pod, _backoff(most_restarts_of(pod)) + 1, self._restart)
            return
        phase = "Failed" if failed else "Succeeded"
        yield from self._post(key, uid, partial(_finished, phase=phase, code=_exit_code(pod, failed=failed)))

    def _restart(self, key: str, uid: str) -> Work:
        pod = self.server.get("Pod", key)
        if pod is None or is_deleting(pod) or is_finished(pod):
            return
        yield from self._post(key, uid, _restarted)
        self._run(key, uid)

    def _fails(self, pod: Manifest) -> bool:
        owner = controller_of(pod)
        number = amount(pod, "fail-first")
        if number is not None and owner is not None:
            ended = self._ended.get(owner["uid"], 0)
            self._ended[owner["uid"]] = ended + 1
            if ended < number:
                return True
        listed = annotation(pod, "fail-indexes")
        if listed is not None:
            return annotations_of(pod).get(INDEX) in [one.strip() for one in listed.split(",")]
        return annotation(pod, "outcome") == "Failed"

    def _terminate(self, key: str, uid: str) -> Work:
        pod = self.server.get("Pod", key)
        if pod is None:
            return
        if not is_finished(pod):
            yield from self._post(key, uid, partial(_finished, phase="Failed", code=137))
        pod = self.server.get("Pod", key)
        if pod is not None and uid_of(pod) == uid:
            try:
                yield self.client.delete(pod, grace=0)
            except StatusError:
                return

    def _make_again(self, pod: Manifest | None) -> None:
        """Make the mirror of a static pod again that somebody has deleted."""
        if pod is None or MIRROR not in annotations_of(pod):
            return
        if node_of(pod) not in self.failed and self.server.get("Node", node_of(pod)) is not None:
            self.loop.spawn(self._create(_anew(pod)))

    def _create(self, pod: Manifest) -> Work:
        try:
            yield self.client.create(pod)
        except StatusError:
            return


def _anew(pod: Manifest) -> Manifest:
    """Return a pod as it was created, without what the API server and its kubelet have added."""
    kept = ("name", "namespace", "labels", "annotations", "ownerReferences")
    meta = {name: pod["metadata"][name] for name in kept if name in pod["metadata"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec_of(pod)}


def _backoff(restarts: int) -> int:
    """Return how many seconds a container is left after so many restarts."""
    return min(_BACKOFF * 2 ** min(restarts - 1, 9), _BACKOFF_MOST) if restarts else 0


def _started_at(pod: Manifest) -> float:
    """Return when the containers that run have started."""
    states = [one.get("state") or {} for one in status_of(pod).get("containerStatuses") or ()]
    return max((second(one["running"].get("startedAt")) for one in states if "running" in one), default=0.0)


def waits_for(pod: Manifest) -> str:
    """Return why a container of a pod waits, such as ImagePullBackOff; "" for one that is about to start."""
    states = [one.get("state") or {} for one in status_of(pod).get("containerStatuses") or ()]
    reasons = ((one.get("waiting") or {}).get("reason") or "" for one in states)
    return next((reason for reason in reasons if reason not in _STARTING), "")


def _stopped_at(pod: Manifest) -> float | None:
    """Return when a container ended that is to start again, ``None`` if there is none."""
    ends = [
        second((one.get(name) or {})["terminated"].get("finishedAt"))
        for one in status_of(pod).get("containerStatuses") or ()
        if "running" not in (one.get("state") or {})
        for name in ("state", "lastState")
        if "terminated" in (one.get(name) or {})
    ]
    return max(ends, default=None)


def _known_again(conditions: list[Manifest], at: str) -> list[Manifest]:
    """Return a node's conditions without pressure where that was Unknown, as a kubelet posts them."""
    for kind, reason in _SUFFICIENT.items():
        row = condition_in(conditions, kind)
        if row is not None and row["status"] == "Unknown":
            posted = {"status": "False", "reason": reason, "lastTransitionTime": at}
            conditions = with_condition(conditions, {**row, **posted})
    return conditions


def _exit_code(pod: Manifest, *, failed: bool) -> int:
    return int(amount(pod, "exit-code") or 1) if failed else 0


def with_ready(pod: Manifest, now: float, *, ready: bool, reason: str = "") -> Manifest:
    """Return a pod with its conditions Ready and ContainersReady; their times change with their status."""
    return {**pod, "status": remade(status_of(pod), _ready_status, stamp(now), ready, reason)}


def _ready_status(status: dict[str, Any], at: str, ready: bool, reason: str) -> dict[str, Any]:
    conditions = list(status.get("conditions") or ())
    for kind in ("Ready", "ContainersReady"):
        known = condition_in(conditions, kind)
        wanted = "True" if ready else "False"
        since = known.get("lastTransitionTime") if known and known["status"] == wanted else at
        conditions = with_condition(conditions, _condition(kind, wanted, since, reason))
    return {**status, "conditions": conditions}


@lru_cache(SHARED)
def _condition(kind: str, status: str, since: str | None, reason: str) -> dict[str, Any]:
    """Return a condition, the same for the many pods that have it; nothing changes it."""
    row: dict[str, Any] = {"type": kind, "status": status, "lastTransitionTime": since}
    return {**row, "reason": reason} if reason else row


@lru_cache(SHARED)
def _statuses(names: tuple[str, ...], restarts: int, state: str, fields: Fields) -> list[dict[str, Any]]:
    """Return statuses of containers, the same for the many pods that have them; nothing changes them."""
    return [
        {"name": name, "restartCount": restarts, "ready": state == "running", "state": {state: dict(fields)}}
        for name in names
    ]


def _with_containers(
    pod: Manifest, now: float, restarts: int, state: str, fields: Fields, also: Fields = ()
) -> Manifest:
    """Return a pod whose containers are all in one state, with ``also`` in its status."""
    names = tuple(one["name"] for one in spec_of(pod).get("containers") or ())
    rows = names, restarts, state, fields
    return {**pod, "status": remade(status_of(pod), _status_with, rows, stamp(now), also)}


def _status_with(status: dict[str, Any], rows: tuple[Any, ...], at: str, also: Fields) -> dict[str, Any]:
    made = {**status, **dict(also), "containerStatuses": _statuses(*rows)}
    return _ready_status(made, at, rows[2] == "running", "")


def _started(pod: Manifest, now: float) -> Manifest:
    at = stamp(now)
    also = ("phase", "Running"), ("startTime", at)
    return _with_containers(pod, now, 0, "running", (("startedAt", at),), also)


def _refused(pod: Manifest, now: float, why: AdmissionRefusal) -> Manifest:
    reason, message = why
    fields = {"phase": "Failed", "reason": reason, "message": message, "startTime": stamp(now)}
    return with_status(pod, {**status_of(pod), **fields})


def _readied(pod: Manifest, now: float) -> Manifest:
    states = status_of(pod).get("containerStatuses") or ()
    return with_ready(pod, now, ready=all(one.get("ready") for one in states))


def _stopped(pod: Manifest, now: float, code: int) -> Manifest:
    return _with_containers(pod, now, most_restarts_of(pod), "terminated", _end_of(code, now))


def _restarted(pod: Manifest, now: float) -> Manifest:
    return _with_containers(pod, now, most_restarts_of(pod) + 1, "running", (("startedAt", stamp(now)),))


def _finished(pod: Manifest, now: float, phase: str, code: int) -> Manifest:
    end = _end_of(code, now)
    return _with_containers(pod, now, most_restarts_of(pod), "terminated", end, (("phase", phase),))


def _end_of(code: int, now: float) -> Fields:
    return ("exitCode", code), ("finishedAt", stamp(now))
