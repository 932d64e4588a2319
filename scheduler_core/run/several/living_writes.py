"""What a kube-scheduler v1.37 writes at the API server of its control plane: bindings and statuses of pods.

These are works of the loop that can be copied while they wait, which a generator cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, Protocol

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.loop import Loop, StatusError, Write
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    is_deleting,
    key_of,
    node_of,
    stamp,
    status_of,
    uid_of,
    with_condition,
    with_spec,
    with_status,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.run.several.living_volumes import claim_keys, is_fully_bound, is_in_reach, volume_write
from scheduler_core.run.several.v1_37_view import Claims
from scheduler_core.schedulers.v1_37.entities import QueuedPodInfo

_POLL_SECONDS = 1.0001
Patch = Callable[[Manifest], Manifest]


class Binder(Protocol):
    """The scheduler's side of a binding: its API server and what it learns of the outcome."""

    plane: ApiServer
    client: Clientset
    loop: Loop

    def unbound(self, waiting: QueuedPodInfo, node: str, message: str) -> None:
        """Take back a binding that was refused."""
        ...

    def write_devices(self, key: str) -> str:
        """Write a pod's devices; return why that is refused, "" if it is not."""
        ...

    def confirm(self, key: str) -> None:
        """Note that a pod's binding is about to be stored."""
        ...


class Binding:
    """The binding cycle of a pod: it nominates and waits for volumes, then binds."""

    def __init__(self, view: Binder, waiting: QueuedPodInfo, node: str, claims: Claims) -> None:
        self.view, self.waiting, self.node = view, waiting, node
        self.pod = view.plane.get("Pod", waiting.key)
        first: tuple[Callable[[], Write | None], ...] = (self._nominate,) if claims else ()
        written = (volume_write(view.plane, claim, volume, node) for claim, volume in claims)
        volumes = (partial(self._write_volume, one) for one in written if one is not None)
        self._steps: list[Callable[[], Write | None]] = [*first, *volumes, self._bind]

    def send(self, result: Any) -> Write:
        """Return the next write; raise StopIteration at the end."""
        del result
        while self._steps and self.pod is not None:
            step = self._steps.pop(0)
            try:
                write = step()
            except StatusError as error:
                self.throw(error)
            if write is not None:
                return write
        raise StopIteration

    def throw(self, error: StatusError) -> NoReturn:
        """Give up after a write that was refused."""
        self._steps.clear()
        self.view.unbound(self.waiting, self.node, str(error))
        raise StopIteration

    def _nominate(self) -> Write:
        assert self.pod is not None
        return self.view.client.patch(self.pod, partial(nominated, node=self.node))

    def _write_volume(self, manifest: Manifest) -> Write:
        """Write a volume with its claim, or a claim with its node, as they were seen (bindAPIUpdate)."""
        return self.view.client.update(manifest)

    def _bind(self) -> Write | None:
        """Bind the pod, or look again in a second if its volumes are not bound yet (PreBind)."""
        view, plane, claims = self.view, self.view.plane, claim_keys(self.pod)
        if not all(is_fully_bound(plane.get("PersistentVolumeClaim", one)) for one in claims):
            view.loop.at(view.loop.now + _POLL_SECONDS, self._look_again)
            return None
        if not all(is_in_reach(plane, one, self.node) for one in claims):
            raise StatusError(409, "binding volumes: node affinity doesn't match node")
        if refused := view.write_devices(self.waiting.key):
            raise StatusError(409, refused)
        assert self.pod is not None
        return view.client.call("create", self.pod, self._write_binding)

    def _look_again(self) -> None:
        self._steps = [self._bind_if_there]
        self.view.loop.spawn(self)

    def _bind_if_there(self) -> Write | None:
        if self.view.plane.get("Pod", self.waiting.key) is None:
            raise StatusError(404, "pod is gone")
        return self._bind()

    def _write_binding(self) -> Manifest:
        assert self.pod is not None
        key, plane = key_of(self.pod), self.view.plane
        pod = plane.current("Pod", key, uid_of(self.pod))
        if node_of(pod) or is_deleting(pod):
            raise StatusError(409, f"pod {pod['metadata']['name']} is being deleted or assigned to a node")
        self.view.confirm(key)
        return plane.change("Pod", key, partial(bound, node=self.node, now=self.view.loop.now), "scheduler")


class StatusPatch:
    """A patch of a pod's status, unless that changes nothing; ``done`` is called after it."""

    def __init__(
        self, client: Clientset, pod: Manifest, patch: Patch, done: Callable[[], None] | None = None
    ) -> None:
        self.client, self.pod, self.patch, self.done = client, pod, patch, done
        self._begun = False

    def send(self, result: Any) -> Write:
        """Return the write; raise StopIteration at the end."""
        del result
        if self._begun or self.patch(self.pod) == self.pod:
            self._end()
        self._begun = True
        return self.client.patch(self.pod, self.patch)

    def throw(self, error: StatusError) -> NoReturn:
        """End, whatever was refused."""
        del error
        self._end()

    def _end(self) -> NoReturn:
        if self.done is not None:
            self.done()
        raise StopIteration


def bound(pod: Manifest, node: str, now: float) -> Manifest:
    """Return a pod as its binding stores it: its node, its condition, and no nomination."""
    status = {key: value for key, value in status_of(pod).items() if key != "nominatedNodeName"}
    row = {"type": "PodScheduled", "status": "True", "lastTransitionTime": stamp(now)}
    status["conditions"] = with_condition(status.get("conditions") or [], row)
    return with_status(with_spec(pod, nodeName=node), status)


def nominated(pod: Manifest, node: str) -> Manifest:
    """Return a pod with a nomination, with none if ``node`` is ""."""
    status = {key: value for key, value in status_of(pod).items() if key != "nominatedNodeName"}
    return with_status(pod, {**status, "nominatedNodeName": node} if node else status)


def failed(pod: Manifest, row: dict[str, Any], node: str | None, loop: Loop) -> Manifest:
    """Return a pod with the condition of a failed attempt, and nominated unless ``node`` is ``None``."""
    made = marked(pod, row, loop)
    return made if node is None else nominated(made, node)


def marked(pod: Manifest, row: dict[str, Any], loop: Loop) -> Manifest:
    """Return a pod with a condition, which has its time since its status has changed."""
    status = status_of(pod)
    conditions = status.get("conditions") or []
    known = next((one for one in conditions if one["type"] == row["type"]), None)
    same = known and known["status"] == row["status"]
    since = known.get("lastTransitionTime") if known and same else stamp(loop.now)
    made = {**row, "lastTransitionTime": since}
    return with_status(pod, {**status, "conditions": with_condition(conditions, made)})
