"""A world around the controllers: a scheduler that gives every pending pod a node, and virtual time.

Not the simulator: no predicate is asked. A pod goes to the node that its affinity names, else to the next
ready node in turn, ``delay`` seconds after it was made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any

from msgspec.structs import replace

from scheduler_core.cluster.controllers import Change, ControllerManager, Options
from scheduler_core.cluster.controllers.changes import Action
from scheduler_core.cluster.controllers.daemon_admission import daemon_node
from scheduler_core.kubernetes.admission import Admission
from scheduler_core.kubernetes.model import KubernetesObject, Pod, Workload
from scheduler_core.scenario.load import load_documents

Watch = Callable[["World"], None]


def node(name: str, **meta: Any) -> dict[str, Any]:
    """Write a node with room for everything."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, **meta},
        "status": {"capacity": {"cpu": 1000, "memory": "1000Gi", "pods": 5000}},
    }


def template(app: str, image: str = "one", *, annotations: dict[str, str] | None = None, **spec: Any) -> Any:
    """Write a pod template."""
    meta = {"labels": {"app": app}, "annotations": annotations or {}}
    return {"metadata": meta, "spec": {"containers": [{"name": "c", "image": image}], **spec}}


def workload(kind: str, name: str = "web", *, image: str = "one", **spec: Any) -> dict[str, Any]:
    """Write a controller whose pods have its name as their label ``app``."""
    annotations, policy = spec.pop("annotations", None), spec.pop("restartPolicy", None)
    made = template(name, image, annotations=annotations, **({"restartPolicy": policy} if policy else {}))
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": name}}}
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {**selector, "template": made, **spec},
    }


def bare(name: str, *, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """Write a pod."""
    made = template("bare", annotations=annotations, **spec)
    return {"apiVersion": "v1", "kind": "Pod", **made, "metadata": {**made["metadata"], "name": name}}


def read(*documents: dict[str, Any]) -> list[KubernetesObject]:
    """Read manifests, admitted and not expanded."""
    return list(load_documents(list(documents), expand=False).objects)


class World:
    """The manager, and who binds its pods. ``log`` has every change with its time."""

    def __init__(
        self,
        *documents: dict[str, Any],
        objects: Iterable[KubernetesObject] = (),
        options: Options | None = None,
        delay: float = 0.0,
        bind: bool = True,
    ) -> None:
        start = [*objects, *read(*documents)]
        admission = Admission(start)
        options = replace(options or Options(), admission=False)  # nobody asks for room here
        self.manager = ControllerManager(options, lambda pod: admission.admit_pod(pod, lambda *_: None))
        self.now = 0.0
        self.delay = delay
        self.bind = bind
        self.log: list[tuple[float, Change]] = []
        self.watch: Watch | None = None
        self._pending: list[tuple[float, int, str]] = []
        self._turn = 0
        self.manager.start(start)
        for pod in self.pods():
            self._wait_for_a_node(pod)
        self.settle()

    # --- what is there

    def pods(self, owner: str = "") -> list[Pod]:
        """Return the pods whose name begins so, in order of creation."""
        objects = self.manager.store.objects.values()
        return [o for o in objects if isinstance(o, Pod) and o.meta.name.startswith(owner)]

    def of(self, kind: str) -> list[Any]:
        """Return all objects of a kind."""
        return [obj for (k, _), obj in self.manager.store.objects.items() if k == kind]

    def get(self, kind: str, name: str) -> Any:
        """Return an object by its name, in the namespace default if it has one."""
        objects = self.manager.store.objects
        return objects.get((kind, f"default/{name}")) or objects.get((kind, name))

    def names(self) -> list[str]:
        """Return the names of the pods that are neither finished nor gone, sorted."""
        return sorted(pod.meta.name for pod in self.pods() if not pod.terminal)

    def phases(self) -> dict[str, int]:
        """Count the pods by phase."""
        return dict(Counter(pod.phase for pod in self.pods()))

    def told(self, reason: str) -> list[tuple[float, str]]:
        """Return when changes of a reason were made, and of what."""
        return [(at, change.object.meta.name) for at, change in self.log if change.reason == reason]

    # --- what happens

    def apply(self, *documents: dict[str, Any]) -> None:
        """Create or replace objects as a user does."""
        for obj in read(*documents):
            known = (
                ("Pod" if isinstance(obj, Pod) else getattr(obj, "kind", type(obj).__name__)),
                obj.meta.key,
            )
            action: Action = "update" if known in self.manager.store.objects else "create"
            self.manager.observe(action, obj, self.now)
            if isinstance(obj, Pod):
                self._wait_for_a_node(obj)
        self.settle()

    def change(self, obj: KubernetesObject, **fields: Any) -> None:
        """Change fields of an object."""
        self.manager.observe("update", replace(obj, **fields), self.now)
        self.settle()

    def delete(self, obj: KubernetesObject) -> None:
        """Delete an object."""
        self.manager.observe("delete", obj, self.now)
        self.settle()

    def settle(self) -> list[Change]:
        """Let controllers and scheduler work until nothing changes at this moment."""
        made: list[Change] = []
        while True:
            changes = self.manager.settle(self.now)
            made += changes
            for change in changes:
                self.log.append((self.now, change))
                if change.action == "create" and isinstance(change.object, Pod):
                    self._wait_for_a_node(change.object)
            if self.watch is not None:
                self.watch(self)
            if not self._schedule() and not changes:
                return made

    def run(self, until: float) -> None:
        """Let time pass, from one event to the next."""
        while (at := self.next_time()) is not None and at <= until:
            self.now = at
            self.settle()
        self.now = until

    def next_time(self) -> float | None:
        """Return when something happens next."""
        times = [
            t
            for t in (self.manager.next_time(), self._pending[0][0] if self._pending else None)
            if t is not None
        ]
        return min(times, default=None)

    # --- the scheduler

    def _wait_for_a_node(self, pod: Pod) -> None:
        self._turn += 1
        if not pod.node_name:
            heappush(self._pending, (self.now + self.delay, self._turn, pod.meta.key))

    def _schedule(self) -> bool:
        bound = False
        ready = [
            n.meta.name
            for n in self.manager.store.nodes.values()
            if not n.unschedulable and not any(t.effect == "NoSchedule" for t in n.taints)
        ]
        while self.bind and self._pending and self._pending[0][0] <= self.now:
            _, turn, key = heappop(self._pending)
            pod = self.manager.store.pod(key)
            if pod is None or pod.node_name or pod.terminal:
                continue
            target = daemon_node(pod) or (ready[turn % len(ready)] if ready else "")
            if not target:
                heappush(self._pending, (self.now + 1.0, turn, key))
                continue
            self.manager.observe("update", replace(pod, node_name=target), self.now)
            bound = True
        return bound


def sets(world: World) -> dict[str, int]:
    """Return the ReplicaSets' sizes in order of creation, by their revision."""
    found = [obj for obj in world.of("ReplicaSet") if isinstance(obj, Workload)]
    return {one.meta.annotations["deployment.kubernetes.io/revision"]: one.replicas for one in found}
