"""A life: objects, steps of a user, and the cluster that answers in virtual time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.defaults import admitted
from scheduler_core.cluster.v1_37.deployment import rolled_back
from scheduler_core.cluster.v1_37.drain import Drain, cordoned
from scheduler_core.cluster.v1_37.loop import StatusError, Work, Write
from scheduler_core.cluster.v1_37.node_zones import zone_of
from scheduler_core.cluster.v1_37.nodelifecycle import NodeOptions
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    is_deleting,
    key_in,
    labels_of,
    name_of,
    node_of,
    selects,
    spec_of,
    with_spec,
)
from scheduler_core.cluster.v1_37.plane import ControlPlane
from scheduler_core.cluster.v1_37.revisions import undone
from scheduler_core.formats.patch import apply_patch
from scheduler_core.run.living.final import final
from scheduler_core.run.living.scheduler import LivingScheduler
from scheduler_core.run.living.timeline import Timeline
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration

Step = Mapping[str, Any]
_USER_SECONDS = 1e-4
"""How long after whole seconds the user of a cluster that runs comes: the kubelets' leases come first."""

EPOCH = 946_684_860
"""Virtual time 0 of a life in seconds since 1970: 2000-01-01T00:01:00Z."""


class Life:
    """A cluster in which a user takes one step after the other."""

    def __init__(
        self,
        configuration: CompiledConfiguration,
        options: NodeOptions,
        epoch: int = EPOCH,
        objects: Iterable[Manifest] | None = None,
        unlisted: Iterable[str] = (),
    ) -> None:
        self.plane = ControlPlane(options, Timeline, epoch, objects, unlisted)
        self.server, self.loop = self.plane.server, self.plane.loop
        self.timeline: Timeline = self.plane.watcher
        self.scheduler = LivingScheduler(self.server, configuration)
        self.user = Clientset(self.server, "user")
        if objects is not None:
            self.loop.advance(_USER_SECONDS)
        self.drains: list[Drain] = []

    def start(self, objects: Iterable[Manifest]) -> None:
        """Create the objects in order."""
        self._do([self.user.create(obj) for obj in objects])

    def take(self, step: Step) -> None:
        """Take a step, and all that follows from it at once.

        Raises:
            ValueError: The step is none.
        """
        do = step.get("do")
        if do == "advance":
            self.loop.advance(self.loop.now + float(step["seconds"]))
            return
        if do in ("fail", "recover"):
            self._power(step, on=do == "recover")
        elif do == "drain":
            self._drain(step)
        elif do in self._writes:
            self._do(self._writes[do](self, step))
        else:
            raise ValueError(f"a life has no step {do!r}")
        self.loop.settle()

    def answer(self) -> dict[str, Any]:
        """Return the record's ``expect``."""
        drains = [drain.facts for drain in self.drains]
        return {
            "timeline": self.timeline.document(),
            "final": final(self.server, self.timeline, drains, self.loop.now),
        }

    # --- writes

    def _do(self, writes: Iterable[Write]) -> None:
        self.loop.spawn(_each(writes))
        self.loop.settle()

    def _object(self, step: Step) -> Manifest | None:
        return self.server.get(step["kind"], key_in(step["kind"], step.get("namespace"), step["name"]))

    def _create(self, step: Step) -> Iterable[Write]:
        yield self.user.create(step["object"])

    def _patch(self, step: Step) -> Iterable[Write]:
        found = self._object(step)
        if found is not None:
            yield self.user.patch(found, lambda one: self._patched(one, step["patch"]))

    def _patched(self, one: Manifest, patch: Any) -> Manifest:
        """Return a patched object, a workload with the defaults of what the patch removes."""
        made = apply_patch(one, patch, "merge")
        return admitted(made, self.server) if spec_of(one).keys() & {"template", "jobTemplate"} else made

    def _delete(self, step: Step) -> Iterable[Write]:
        found = self._object(step)
        if found is not None:
            yield self.user.delete(found, propagation=step.get("propagation") or "Background")

    def _scale(self, step: Step) -> Iterable[Write]:
        found = self._object(step)
        if found is not None:
            field = "parallelism" if step["kind"] == "Job" else "replicas"
            yield self.user.patch(found, lambda one: with_spec(one, **{field: step["replicas"]}))

    def _image(self, step: Step) -> Iterable[Write]:
        found = self._object(step)
        if found is not None:
            yield self.user.patch(found, lambda one: _with_image(one, step["image"]))

    def _rollback(self, step: Step) -> Iterable[Write]:
        found = self._object(step)
        if found is not None:
            made = self._undone(found, int(step.get("revision") or 0))
            if made is not None:
                yield self.user.patch(found, lambda one: with_spec(one, template=spec_of(made)["template"]))

    def _undone(self, found: Manifest, revision: int) -> Manifest | None:
        if found["kind"] == "Deployment":
            return rolled_back(found, self.server.controlled(found, "ReplicaSet"), revision)
        return undone(self.server, found, revision)

    def _patch_pods(self, step: Step) -> Iterable[Write]:
        for pod in self._pods(step):
            yield self.user.patch(pod, lambda one: apply_patch(one, step["patch"], "merge"))

    def _delete_pods(self, step: Step) -> Iterable[Write]:
        for pod in self._pods(step):
            yield self.user.delete(pod)

    def _pods(self, step: Step) -> list[Manifest]:
        """Return the pods that a step selects, in order of their keys."""
        found = [pod for pod in self.server.of_kind("Pod") if not is_deleting(pod)]
        if step.get("selector"):
            found = [pod for pod in found if selects({"matchLabels": step["selector"]}, labels_of(pod))]
        if step.get("node"):
            found = [pod for pod in found if node_of(pod) == step["node"]]
        if step.get("index") is not None:
            found = [pod for pod in found if self.timeline.about(pod)["index"] == step["index"]]
        return found

    # --- nodes

    def _nodes(self, step: Step) -> list[Manifest]:
        """Return the nodes that a step names: one, several, or those of a zone."""
        names: Sequence[str] = step.get("nodes") or ([step["node"]] if step.get("node") else [])
        if names:
            found = [self.server.get("Node", name) for name in names]
            return [node for node in found if node is not None]
        zone = step.get("zone")
        if not zone:
            return []
        return [node for node in self.server.of_kind("Node") if zone_of(node).endswith(f":\0:{zone}")]

    def _cordon(self, step: Step) -> Iterable[Write]:
        for node in self._nodes(step):
            yield self.user.patch(node, lambda one: cordoned(one, on=step["do"] == "cordon"))

    def _delete_node(self, step: Step) -> Iterable[Write]:
        for node in self._nodes(step):
            yield self.user.delete(node)

    def _power(self, step: Step, *, on: bool) -> None:
        for node in map(name_of, self._nodes(step)):
            if on:
                self.loop.spawn(self.plane.kubelets.recover(node))
            elif step.get("mode") == "notready":
                self.loop.spawn(self.plane.kubelets.post_unready(node))
            else:
                self.plane.kubelets.fail(node)

    def _drain(self, step: Step) -> None:
        nodes = self._nodes(step)
        for node in nodes:
            self._do([self.user.patch(node, lambda one: cordoned(one, on=True))])
        for node in nodes:
            drain = Drain(self.server, name_of(node), force=bool(step.get("force")), refused=self._refused)
            self.drains.append(drain)
            self.loop.spawn(drain.run())

    def _refused(self, pod: Manifest, error: StatusError) -> None:
        about = {key: value for key, value in self.timeline.about(pod).items() if not key.startswith("_")}
        self.timeline.add("refused", **about, message=str(error))

    _writes: ClassVar[dict[str, Any]] = {
        "create": _create,
        "patch": _patch,
        "delete": _delete,
        "scale": _scale,
        "image": _image,
        "rollback": _rollback,
        "patchPods": _patch_pods,
        "deletePods": _delete_pods,
        "cordon": _cordon,
        "uncordon": _cordon,
        "deleteNode": _delete_node,
    }


def _each(writes: Iterable[Write]) -> Work:
    for write in writes:
        try:
            yield write
        except StatusError:
            continue


def _with_image(obj: Manifest, image: str) -> Manifest:
    template = spec_of(obj)["template"]
    first, *others = spec_of(template)["containers"]
    spec = {**spec_of(template), "containers": [{**first, "image": image}, *others]}
    return with_spec(obj, template={**template, "spec": spec})
