"""DaemonSet: a pod on each node that it may run on (``pkg/controller/daemon``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.v1_37 import revisions
from scheduler_core.cluster.v1_37.controller import Controller, gone, pod_from, pods_of, slow_start
from scheduler_core.cluster.v1_37.daemon_nodes import should_run, target_of, template_for
from scheduler_core.cluster.v1_37.defaults import GENERATION
from scheduler_core.cluster.v1_37.loop import StatusError, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    created_at,
    generation,
    is_available,
    is_deleting,
    is_finished,
    is_ready,
    key_of,
    labels_of,
    name_of,
    node_of,
    phase_of,
    scaled,
    spec_of,
    status_of,
    taints_of,
    uid_of,
    with_meta,
    with_status,
)
from scheduler_core.cluster.v1_37.replicaset import becomes_ready
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.template_hash import template_hash
from scheduler_core.cluster.v1_37.watches import StoredWrite

BURST = 250
GENERATION_LABEL = "pod-template-generation"
Placed = Mapping[str, list[Manifest]]


class _Backoff(Struct):
    """How long a node's failed pods are left, and since when."""

    seconds: float
    since: float


class DaemonSets(Controller):
    """The controller of DaemonSets."""

    name = "daemonset"
    watched = ("DaemonSet", "ControllerRevision", "Pod", "Node")
    owner_kind = "DaemonSet"

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self._backoffs: dict[str, _Backoff] = {}

    def observe(self, write: StoredWrite) -> None:
        """Queue the set, that of a pod or revision, and those that a node concerns."""
        if write.kind == "DaemonSet":
            self.queue.add(write.key)
        elif write.kind == "ControllerRevision":
            if write.old is not None:
                self.queue_owner(write, "DaemonSet")
            self.queue_adopters(write, "DaemonSet")
        elif write.kind == "Pod":
            owner = self.queue_owner(write, "DaemonSet")
            self.queue_adopters(write, "DaemonSet")
            wait = spec_of(owner).get("minReadySeconds") if owner is not None else 0
            if owner is not None and wait and becomes_ready(write):
                self.queue.add_after(key_of(owner), wait + 1)
        elif write.kind == "Node" and write.new is not None and _concerns(write.old, write.new):
            self._see_node(write.new)

    def _see_node(self, node: Manifest) -> None:
        """Queue the sets whose pods on a node are to change (syncNodeUpdate)."""
        pods = self.server.pods_of_node(name_of(node))
        for owner in self.server.of_kind("DaemonSet"):
            wanted, kept = should_run(owner, node)
            scheduled = any(self._is_of(pod, owner) for pod in pods)
            misplaced = bool(status_of(owner).get("numberMisscheduled"))
            if (wanted and not scheduled) or (scheduled and (not kept or misplaced)):
                self.queue.add(key_of(owner))

    @staticmethod
    def _is_of(pod: Manifest, owner: Manifest) -> bool:
        return any(
            one.get("controller") and one["uid"] == uid_of(owner)
            for one in pod["metadata"].get("ownerReferences") or ()
        )

    def sync(self, key: str) -> Work:
        """Create and delete pods, update them, and write the status (syncDaemonSet)."""
        owner = self.server.get("DaemonSet", key)
        if owner is None or is_deleting(owner):
            return
        known = yield from revisions.adopted(self.client, owner, revisions.listed(self.server, owner))
        current = yield from self._revision(owner, known)
        sync = _DaemonSetSync(self, owner, labels_of(current)[revisions.LABEL])
        error = yield from sync.run()
        if error is None:
            yield from self._forget_oldest(owner, current)
        yield from self._write_status(owner, sync)
        if error is not None:
            raise error

    def _revision(self, owner: Manifest, known: Sequence[Manifest]) -> Work:
        """Return the revision of the present template (constructHistory)."""
        labelled = []
        for one in known:
            missing = {} if revisions.LABEL in labels_of(one) else {revisions.LABEL: name_of(one)}
            marked = with_meta(one, labels={**labels_of(one), **missing})
            labelled.append((yield self.client.update(marked)) if missing else one)
        data = revisions.data_of(spec_of(owner)["template"])
        same = [one for one in labelled if one.get("data") == data]
        number = max((one["revision"] for one in labelled if one not in same), default=0) + 1
        if not same:
            return (yield from self._snapshot(owner, number))
        for one in same[:-1]:
            yield from self._replace(owner, one, by=same[-1])
        if same[-1]["revision"] < number:
            return (yield self.client.update({**same[-1], "revision": number}))
        return same[-1]

    def _snapshot(self, owner: Manifest, number: int) -> Work:
        """Create the revision of the present template; count a name that other content has (snapshot)."""
        status, template = status_of(owner), spec_of(owner)["template"]
        collisions = int(status.get("collisionCount") or 0)
        suffix = template_hash(template, collisions)
        made = revisions.new_revision(owner, number, revisions.LABEL, suffix)
        try:
            return (yield self.client.create(made))
        except StatusError as error:
            found = self.server.get("ControllerRevision", key_of(made))
            if error.code != 409 or found is None:
                raise
            if found.get("data") == made["data"]:
                return found
            yield self.client.update_status(with_status(owner, {**status, "collisionCount": collisions + 1}))
            raise

    def _replace(self, owner: Manifest, revision: Manifest, by: Manifest) -> Work:
        """Delete a revision of the same content as another, whose hash the pods get (dedupCurHistories)."""
        hash_ = labels_of(by)[revisions.LABEL]
        for pod in self.server.controlled(owner, "Pod"):
            if labels_of(pod).get(revisions.LABEL) != hash_:
                yield self.client.update(with_meta(pod, labels={**labels_of(pod), revisions.LABEL: hash_}))
        yield self.client.delete(revision)

    def _forget_oldest(self, owner: Manifest, current: Manifest) -> Work:
        known = [one for one in revisions.listed(self.server, owner) if name_of(one) != name_of(current)]
        live = {labels_of(pod).get(revisions.LABEL) for pod in self.server.controlled(owner, "Pod")}
        surplus = len(known) - int(spec_of(owner).get("revisionHistoryLimit") or 0)
        for one in [one for one in known if labels_of(one).get(revisions.LABEL) not in live][
            : max(0, surplus)
        ]:
            yield self.client.delete(one)

    def placed(self, owner: Manifest) -> Work:
        """Return a set's pods by the node that each is for (getNodesToDaemonPods)."""
        pods = yield from self.claim(owner, pods_of(self.server, owner))
        found: dict[str, list[Manifest]] = {}
        for pod in pods:
            if not (is_finished(pod) and is_deleting(pod)) and (node := target_of(pod)):
                found.setdefault(node, []).append(pod)
        return dict(sorted(found.items()))

    def backs_off(self, owner: Manifest, node: str) -> float | None:
        """Return the backoff of a node's failed pods while it lasts; otherwise begin the next one."""
        observed = status_of(owner).get("observedGeneration") or 0
        key = f"{uid_of(owner)}/{observed}/{node}"
        known = self._backoffs.get(key)
        if known is not None and self.now - known.since < known.seconds:
            return known.seconds
        expired = known is None or self.now - known.since > 2 * 900
        seconds = 1.0 if known is None or expired else min(2 * known.seconds, 900.0)
        self._backoffs[key] = _Backoff(seconds, self.now)
        return None

    def _write_status(self, owner: Manifest, sync: _DaemonSetSync) -> Work:
        placed = yield from self.placed(owner)
        status = {**status_of(owner), **sync.counts(placed), "observedGeneration": generation(owner)}
        if any(
            status[field] != (status_of(owner).get(field) or 0) for field in status if field != "conditions"
        ):
            try:
                yield self.client.update_status(with_status(owner, status))
            except StatusError as error:
                if error.code == 404:
                    return
                latest = self.server.current("DaemonSet", key_of(owner))
                yield self.client.update_status(with_status(latest, status))
        wait = spec_of(owner).get("minReadySeconds") or 0
        if wait and status["numberReady"] != status["numberAvailable"]:
            self.queue.add_after(key_of(owner), wait)


def _concerns(old: Manifest | None, new: Manifest) -> bool:
    return old is None or labels_of(old) != labels_of(new) or taints_of(old) != taints_of(new)


class _DaemonSetSync:
    """One sync of a set: ``revision`` is the hash of its present template."""

    def __init__(self, controller: DaemonSets, owner: Manifest, revision: str) -> None:
        self.controller = controller
        self.client = controller.client
        self.server = controller.server
        self.owner = owner
        self.revision = revision
        self.generation = annotations_of(owner).get(GENERATION)
        self.wait = int(spec_of(owner).get("minReadySeconds") or 0)
        self.nodes = {name_of(node): should_run(owner, node) for node in self.server.of_kind("Node")}

    def run(self) -> Work:
        """Manage the pods of all nodes, then update; return the first error."""
        placed = yield from self.controller.placed(self.owner)
        error = yield from self._manage(placed)
        if error is None and spec_of(self.owner)["updateStrategy"]["type"] == "RollingUpdate":
            placed = yield from self.controller.placed(self.owner)
            error = yield from self._roll(placed)
        return error

    def _available(self, pod: Manifest) -> bool:
        return is_available(pod, self.wait, self.controller.now)

    def _is_new(self, pod: Manifest) -> bool:
        """Return whether a pod has the present template, by its hash or its generation (IsPodUpdated)."""
        labels = labels_of(pod)
        return labels.get(revisions.LABEL) == self.revision or (
            bool(self.generation) and labels.get(GENERATION_LABEL) == self.generation
        )

    def _amount(self, field: str, whole: int) -> int:
        rolling = spec_of(self.owner)["updateStrategy"].get("rollingUpdate") or {}
        return scaled(rolling.get(field) or 0, whole, up=True)

    # --- every node

    def _manage(self, placed: Placed) -> Work:
        create: list[str] = []
        delete: list[Manifest] = []
        for node, (wanted, kept) in self.nodes.items():
            pods = placed.get(node)
            if wanted and pods is None:
                create.append(node)
            elif kept:
                self._tidy(node, pods or [], create if wanted else [], delete)
            elif pods:
                delete += [pod for pod in pods if not is_deleting(pod)]
        for node, pods in placed.items():
            if node not in self.nodes:
                delete += [pod for pod in pods if not node_of(pod)]
        return (yield from self._apply(create, delete))

    def _tidy(self, node: str, pods: Sequence[Manifest], create: list[str], delete: list[Manifest]) -> None:
        """Choose what goes and comes on a node where pods run (podsShouldBeOnNode)."""
        running = []
        for pod in pods:
            if is_deleting(pod):
                continue
            if phase_of(pod) == "Failed":
                delay = self.controller.backs_off(self.owner, node)
                if delay is None:
                    delete.append(pod)
                else:
                    self.controller.queue.add_after(key_of(self.owner), delay)
            elif phase_of(pod) == "Succeeded":
                delete.append(pod)
            else:
                running.append(pod)
        running.sort(key=_age)
        if not self._amount("maxSurge", 1):
            delete += running[1:]
        elif not running:
            create.append(node)
        elif len(running) > 1:
            delete += self._surplus(running)

    def _surplus(self, running: Sequence[Manifest]) -> list[Manifest]:
        new = [pod for pod in running if self._is_new(pod)]
        old = [pod for pod in running if not self._is_new(pod)]
        going = [pod for pod in running if pod not in (*new[:1], *old[:1])]
        if new and old and (not is_ready(old[0]) or self._available(new[0])):
            going.append(old[0])
        return going

    def _apply(self, create: Sequence[str], delete: Sequence[Manifest]) -> Work:
        """Create pods in growing batches, then delete in parallel (syncNodes)."""
        labels = {revisions.LABEL: self.revision}
        if self.generation:
            labels[GENERATION_LABEL] = self.generation
        made = [template_for(self.owner, node, labels) for node in create[:BURST]]
        pods = [pod_from(template, self.owner) for template in made]
        error = yield from slow_start(len(pods), lambda place: self.client.create(pods[place]))
        results = yield [self.client.delete(pod) for pod in delete[:BURST]]
        failed = [one for one in results if isinstance(one, StatusError) and not gone(one)]
        return error or next(iter(failed), None)

    # --- updates

    def _roll(self, placed: Placed) -> Work:
        """Replace old pods within maxUnavailable, or add new ones within maxSurge (rollingUpdate)."""
        desired = sum(wanted for wanted, _ in self.nodes.values())
        surge, unavailable = self._amount("maxSurge", desired), self._amount("maxUnavailable", desired)
        if not surge and not unavailable and desired:
            unavailable = 1
        nodes = {node: placed.get(node, []) for node in sorted({*placed, *self._wanted()})}
        if surge:
            return (yield from self._surge(nodes, surge, desired))
        return (yield from self._replace(nodes, unavailable))

    def _wanted(self) -> list[str]:
        return [node for node, (wanted, _) in self.nodes.items() if wanted]

    def _pair(self, pods: Sequence[Manifest]) -> tuple[Manifest | None, Manifest | None] | None:
        """Return a node's new and old pod, ``None`` if there are more (findUpdatedPodsOnNode)."""
        live = [pod for pod in pods if not is_deleting(pod)]
        new, old = [pod for pod in live if self._is_new(pod)], [pod for pod in live if not self._is_new(pod)]
        if len(new) > 1 or len(old) > 1:
            return None
        return next(iter(new), None), next(iter(old), None)

    def _replace(self, nodes: Placed, most: int) -> Work:
        unavailable, allowed, candidates = 0, [], []
        for pods in nodes.values():
            pair = self._pair(pods)
            new, old = pair or (None, None)
            if (new is None) == (old is None):
                unavailable += 1
            elif new is not None:
                unavailable += not self._available(new)
            elif old is not None and not self._available(old):
                allowed.append(old)
                unavailable += 1
            elif old is not None and unavailable < most:
                candidates.append(old)
        return (yield from self._apply([], [*allowed, *candidates[: max(0, most - unavailable)]]))

    def _surge(self, nodes: Placed, most: int, desired: int) -> Work:
        surged = available = 0
        delete: list[Manifest] = []
        leaving: list[Manifest] = []
        allowed: list[str] = []
        candidates: list[str] = []
        for node, pods in nodes.items():
            pair = self._pair(pods)
            if pair is None:
                surged += 1
                continue
            new, old = pair
            first = old if old is not None else new
            available += first is not None and self._available(first)
            if old is None:
                continue
            if new is None and node not in self.nodes:
                return StatusError(404, f'couldn\'t get node for nodeName "{node}"')
            if new is not None:
                if self._available(new):
                    delete.append(old)
                else:
                    surged += 1
            elif not self.nodes[node][0]:
                (leaving if self._available(old) else delete).append(old)
            elif not self._available(old):
                allowed.append(node)
            elif surged < most:
                candidates.append(node)
        delete += leaving[: max(0, available - desired)]
        return (yield from self._apply([*allowed, *candidates[: max(0, most - surged)]], delete))

    # --- status

    def counts(self, placed: Placed) -> dict[str, Any]:
        """Return the counts of the status (updateDaemonSetStatus)."""
        wanted = self._wanted()
        first = {node: min(placed[node], key=_age) for node in wanted if placed.get(node)}
        ready = [pod for pod in first.values() if is_ready(pod)]
        available = sum(map(self._available, ready))
        return {
            "desiredNumberScheduled": len(wanted),
            "currentNumberScheduled": len(first),
            "numberMisscheduled": sum(1 for node in self.nodes if node not in wanted and placed.get(node)),
            "numberReady": len(ready),
            "updatedNumberScheduled": sum(map(self._is_new, first.values())),
            "numberAvailable": available,
            "numberUnavailable": len(wanted) - available,
        }


def _age(pod: Manifest) -> tuple[Any, ...]:
    return not node_of(pod), created_at(pod), name_of(pod)
