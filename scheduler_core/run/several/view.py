"""A scheduler's view: the cluster as its watches have delivered it, and what it has decided since.

Each view is a whole framework: cache, queue, plugins and pods that wait at Permit. Writes of others arrive by
:meth:`SchedulerView.written`, ``watch_delay`` after they were made; its own go to the API server
``bind_delay`` after they were decided. While a decision is being made nothing enters the view.

An assumed pod counts on its node until the watch confirms it, the API server rejects its binding, or 30 s
have passed since it was bound (``cache.assumePod`` and ``finishBinding``, ``durationToExpireAssumedPod``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from scheduler_core.kubernetes.model import KubernetesObject, Node, Pod, PodGroup, PodGroupStatus
from scheduler_core.run.control import ControlledFramework
from scheduler_core.run.several.ledger import BindingLedger, Sent
from scheduler_core.run.several.server import SharedCluster
from scheduler_core.run.v1_37.manifests import is_read
from scheduler_core.schedulers.coscheduling.plugin import PodGroupController
from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.scheduler import Statuses
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPod
from scheduler_core.settings.several import SchedulerSettings

EXPIRES = 30.0  # seconds from the end of the binding


class GroupWatcher(PodGroupController):
    """Indexes the pods of PodGroups as the plugin's informers do. The controller itself runs elsewhere."""

    name = "PodGroupInformer"

    def group_changed(self, key: str) -> None:
        """Do nothing: the controller beside the API server syncs."""

    def _enqueue(self, key: str) -> None:
        """Do nothing."""


class CustomGroupController(PodGroupController):
    """The plugin's controller in a cluster with v1.37, to which PodGroups of ``scheduling.k8s.io`` belong."""

    def _enqueue(self, key: str) -> None:
        group = self.framework.groups.get(key)
        if group is None or not is_read(group):
            super()._enqueue(key)


class SchedulerView(ControlledFramework):
    """The view of the scheduler ``of``, which is called ``label``, over a ``server``.

    ``arbitrated`` bindings are checked at their commit. ``assumed`` holds the node of each pod that was
    decided here and is not confirmed by the watch yet.
    """

    expires = True  # whether an assumed pod is forgotten that is not confirmed within EXPIRES

    def __init__(
        self,
        objects: Sequence[KubernetesObject],
        plugins: Sequence[Plugin],
        *,
        of: SchedulerSettings,
        label: str,
        server: SharedCluster,
        ledger: BindingLedger,
        arbitrated: bool,
        **options: Any,
    ) -> None:
        self.of = of
        self.label = label
        self.server = server
        self.ledger = ledger
        self.arbitrated = arbitrated
        self.assumed: dict[str, str] = {}
        self.hidden: dict[str, Node] = {}  # nodes outside of its pool
        self.unheard = 0  # writes that are under way
        self._held: list[Callable[[], None]] | None = None
        self._decided: dict[str, float] = {}  # when each pod in `binding` was
        self._evicting: set[str] = set()
        self._gangs: dict[tuple[str, float], list[tuple[QueuedPod, Statuses]]] = {}
        self._checked: dict[str, str] = {}  # the arbiter's answers on the members of a gang
        shown = [obj for obj in objects if not isinstance(obj, Node) or self._sees(obj)]
        self.hidden = {obj.meta.name: obj for obj in objects if isinstance(obj, Node) and not self._sees(obj)}
        super().__init__(shown, plugins, controlled=False, **options)
        self.turns = server.turns
        self.bound_phase = "Pending"

    @property
    def details(self) -> bool:
        """Whether attempts are recorded: as in the run."""
        return self.server.details

    @details.setter
    def details(self, value: bool) -> None:
        del value

    # Events of the watch

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Hear of a write after the watch delay."""
        self.unheard += 1
        self._after(self.of.watch_delay, partial(self._hear, kind, key, obj), f"watch of {self.label}")

    def _after(self, seconds: float, action: Callable[[], None], name: str) -> None:
        if seconds:
            self.clock.after(seconds, action, name)
        else:
            self.later(action)

    def _hear(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        self.unheard -= 1
        self._enter(partial(self._receive, kind, key, obj))

    def _enter(self, action: Callable[[], None]) -> None:
        if self._held is None:
            action()
        else:
            self._held.append(action)

    def freeze(self) -> None:
        """Let nothing in until :meth:`thaw`: a decision is being made."""
        self._held = []

    def thaw(self) -> None:
        """Let in what has come since :meth:`freeze`."""
        held, self._held = self._held or [], None
        for action in held:
            self.later(action)

    def _receive(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        if kind == "Pod":
            self._receive_pod(key, obj)
        elif kind == "PodGroup":
            if isinstance(obj, PodGroup):
                self.put_group(obj)
            else:
                self.delete_group(key)
        elif kind == "Node":
            self._receive_node(key, obj)
        elif obj is None:
            self.delete_object(kind, key)
        else:
            self.put_object(obj)

    def _sees(self, node: Node) -> bool:
        labels = node.meta.labels
        return all(labels.get(name) == value for name, value in self.of.nodes)

    def _receive_node(self, key: str, obj: KubernetesObject | None) -> None:
        if isinstance(obj, Node) and self._sees(obj):
            self.hidden.pop(key, None)
            self.put_object(obj)
            return
        if isinstance(obj, Node):
            self.hidden[key] = obj
        else:
            self.hidden.pop(key, None)
        if key in self.cluster.nodes:
            self.delete_object("Node", key)

    def _receive_pod(self, key: str, obj: KubernetesObject | None) -> None:
        previous = self.pods.get(key)
        if not isinstance(obj, Pod):
            self._gone(key)
            return
        if previous is not None and previous.meta.uid != obj.meta.uid:
            self._gone(key)
            previous = None
        if previous is None:
            self.create_pod(obj)
        elif obj.terminal:
            bound = self.assumed.pop(key, "") or previous.node_name or obj.node_name
            if not previous.terminal:
                self.pods[key] = obj
                self.leave(key, bound=bool(bound))
        elif not obj.node_name and key in self.assumed:
            self._keep_assumed(obj)
        else:
            if obj.node_name and key in self.binding and self.binding[key].state.pod is not obj:
                self.ledger.abandoned(self.label, key, f"it is bound to {obj.node_name}")
            self.assumed.pop(key, None)
            self.update_pod(obj)

    def _gone(self, key: str) -> None:
        """Remove a deleted pod; what it held, bound or assumed, is free again."""
        pod = self.pods.pop(key, None)
        bound = self.assumed.pop(key, "")
        self._evicting.discard(key)
        if pod is None:
            return
        self.deleted.append(key)
        self.changed[key] = None
        if pod.terminal:
            self.later(partial(self._forget_finished, key))
        else:
            self.leave(key, bound=bool(pod.node_name or bound))

    def _keep_assumed(self, pod: Pod) -> None:
        """Store an update that does not know of the binding yet; the cache keeps the assumed pod."""
        key = pod.meta.key
        node = self.pods[key].node_name
        self.pods[key] = replace(pod, node_name=node) if node else pod
        self.changed[key] = None
        self.later(partial(self._pod_changed, key))

    # What it decides: the framework

    def decided(self, key: str) -> None:
        """Note when a pod was assumed, to record how old the decision is when its binding lands."""
        self._decided[key] = self.clock.now

    def _after_wait(self, waiting: WaitingPod) -> None:
        self._enter(partial(super()._after_wait, waiting))

    def _bind(self, pod: QueuedPod, statuses: Statuses) -> bool:
        """Send the binding; it lands after the bind delay."""
        if self.binding.get(pod.key) is not pod:
            return False
        gang = self.arbitrated and pod.state.pod.pod_group
        if not gang:
            self._after(self.of.bind_delay, partial(self._land, pod, statuses), f"binding of {pod.key}")
            return True
        together = (f"{pod.state.pod.meta.namespace}/{gang}", self.clock.now)
        members = self._gangs.setdefault(together, [])
        members.append((pod, statuses))
        if len(members) == 1:
            self._after(self.of.bind_delay, partial(self._land_gang, together), f"bindings of {gang}")
        return True

    def _land(self, pod: QueuedPod, statuses: Statuses) -> None:
        self._enter(partial(self._landed, pod, statuses))

    def _land_gang(self, together: tuple[str, float]) -> None:
        """Commit the members of a group that were allowed together, all of them or none."""
        self._enter(partial(self._commit_gang, self._gangs.pop(together)))

    def _commit_gang(self, members: Sequence[tuple[QueuedPod, Statuses]]) -> None:
        left = [(pod, statuses) for pod, statuses in members if self.binding.get(pod.key) is pod]
        objection = self.server.objection([(pod.key, pod.state.node_name) for pod, _ in left])
        self._checked = dict.fromkeys((pod.key for pod, _ in left), objection)
        for pod, statuses in left:
            self._landed(pod, statuses)
        self._checked = {}

    def _landed(self, pod: QueuedPod, statuses: Statuses) -> None:
        if super()._bind(pod, statuses):
            key = pod.key
            known = self.pods.get(key)
            if known is not None and not known.node_name:
                self.assumed[key] = pod.state.node_name
                self.clock.after(EXPIRES, partial(self._expire, key, pod.state.node_name), "assumed pods")

    def create_binding(self, key: str, node: str) -> str:
        """Bind a pod in the API; return why it is rejected, "" on success."""
        sent = Sent(key, node, self._decided.get(key, self.clock.now))
        refused = self._checked.get(key)
        if refused is None:
            refused = self.server.objection([(key, node)]) if self.arbitrated else ""
        refused = refused or self.server.bind(key, node)
        self.ledger.landed(self.label, sent, refused)
        return refused

    def _expire(self, key: str, node: str) -> None:
        if self.assumed.get(key) != node:
            return
        self.assumed.pop(key)
        pod = self.pods.get(key)
        if pod is not None and pod.node_name:
            self.pods[key] = replace(pod, node_name="")
        self.cluster.remove_pod(key)
        self.changed[key] = None
        self.record_event("AssumedPodExpired", key, f"{self.label} has not heard of the binding for 30 s")

    def claims_bound(self, keys: Iterable[str]) -> None:
        """Write the claims' volumes to the API."""
        for key in keys:
            claim = self.cluster.storage.claims[key]
            self.server.put_object(self.server.observe("update", claim))

    def provision(self, key: str, node: str) -> None:
        """Have the provisioner create a volume."""
        self.server.provision(key, node)

    def patch_group(self, key: str, status: PodGroupStatus) -> None:
        """Store a PodGroup's status in the API."""
        self.server.patch_group(key, status)

    def evict(self, key: str, plugin: str) -> str:
        """Send an eviction; a pod that waits at Permit here is rejected at once."""
        if self.waiting.get(key) is not None:
            return super().evict(key, plugin)
        if key not in self.pods:
            return f'pods "{key.partition("/")[2]}" not found'
        if key not in self._evicting:
            self._evicting.add(key)
            self._after(self.of.bind_delay, partial(self._evicted, key, plugin), f"eviction of {key}")
        return ""

    def _evicted(self, key: str, plugin: str) -> None:
        pod = self.server.pods.get(key)
        if pod is not None and not pod.terminal:
            self.ledger.evicted(self.label, pod)
            self.server.evict(key, plugin)

    # What it decides: a scheduler of its own

    def assume(self, placements: Iterable[tuple[str, str]]) -> None:
        """Count pods on their nodes that a custom scheduler has just placed."""
        for key, node in placements:
            pod = self.pods[key] = replace(self.pods[key], node_name=node, phase="Pending")
            self.assumed[key] = node
            self.cluster.put(pod)
            self.changed[key] = None

    def send(self, transactions: Sequence[Sequence[tuple[str, str]]]) -> None:
        """Send the bindings of pods that were assumed; what an arbiter checks together is one transaction."""
        if transactions:
            now = self.clock.now
            self._after(
                self.of.bind_delay, partial(self._arrive, transactions, now), f"bindings of {self.label}"
            )

    def _arrive(self, transactions: Sequence[Sequence[tuple[str, str]]], decided: float) -> None:
        for placements in transactions:
            objection = self.server.objection(placements) if self.arbitrated else ""
            for key, node in placements:
                refused = objection or self._write_binding(key, node)
                self.ledger.landed(self.label, Sent(key, node, decided), refused)
                if refused:
                    self.record_event("FailedScheduling", key, refused)
                    self._enter(partial(self._resync, key, node))
                else:
                    self.record_event("Scheduled", key, f"Successfully assigned {key} to {node}")
                    if self.expires:
                        self.clock.after(EXPIRES, partial(self._expire, key, node), "assumed pods")

    def _write_binding(self, key: str, node: str) -> str:
        """Write a binding that has arrived; return why it is rejected, "" on success."""
        return self.server.bind(key, node)

    def _resync(self, key: str, node: str) -> None:
        """Take a pod whose binding failed as the API server has it (SchedulerCache.resyncTask)."""
        if self.assumed.get(key) != node:
            return
        self.assumed.pop(key)
        self._receive_pod(key, self.server.pods.get(key))
        pod = self.server.pods.get(key)
        if pod is not None and not pod.node_name:
            self.pods[key] = pod
            self.cluster.put(pod)
            self.changed[key] = None

    def patch_groups(self, statuses: Iterable[tuple[str, PodGroupStatus]]) -> None:
        """Send PodGroup statuses."""
        found = tuple(statuses)
        if found:
            self._after(
                self.of.bind_delay, partial(self.server.patch_groups, found), f"statuses of {self.label}"
            )

    @property
    def is_busy(self) -> bool:
        """Whether a watch event, a decision or a write of it is in flight."""
        sending = len(self.binding) > len(self.waiting) or bool(self.assumed)
        return bool(self.unheard or self._held is not None or sending)
