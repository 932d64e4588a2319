"""Deployment: one ReplicaSet per template, and how replicas move between them.

Source: ``pkg/controller/deployment``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from scheduler_core.cluster.v1_37.controller import Controller, claimable
from scheduler_core.cluster.v1_37.deployment_sizes import (
    DESIRED,
    HASH,
    REVISION,
    active_sets,
    annotated,
    by_age,
    fenceposts,
    grown,
    is_saturated,
    proportions,
    replicas_of,
    revision_of,
    same_template,
    sized,
    total,
)
from scheduler_core.cluster.v1_37.deployment_status import (
    DEADLINE_NEVER,
    is_complete,
    next_status,
    progressing,
    rollout_status,
    with_failure,
)
from scheduler_core.cluster.v1_37.loop import StatusError, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    condition_of,
    controller_of,
    generation,
    is_deleting,
    is_finished,
    is_same_status,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    reference_to,
    second,
    spec_of,
    status_of,
    uid_of,
    with_condition,
    with_meta,
    with_spec,
    with_status,
)
from scheduler_core.cluster.v1_37.revisions import is_assumed
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.template_hash import template_hash
from scheduler_core.cluster.v1_37.watches import StoredWrite
from scheduler_core.forks import Copier, Forkable, flat

Sets = Sequence[Manifest]
MOST_COMPARED = 4_096
"""How many comparisons of templates are remembered."""


class Deployments(Controller, Forkable):
    """The controller of Deployments."""

    FORKED: ClassVar[Mapping[str, Copier]] = {"_settled": flat, "_compared": flat}

    name = "deployment"
    watched = ("Deployment", "ReplicaSet", "Pod")
    owner_kind = "ReplicaSet"

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self._settled: dict[str, Sets] = {}
        """Each Deployment whose last sync wrote its status alone, as it is stored, with its one set."""
        self._compared: dict[tuple[int, int], tuple[Manifest, Manifest, bool]] = {}
        """Two templates by their identities, and whether they are the same but for the hash."""

    def has_same_template(self, made: Manifest, owner: Manifest) -> bool:
        """Return whether a set has the template of a Deployment; versions of both share theirs."""
        one, other = spec_of(made)["template"], spec_of(owner)["template"]
        known = self._compared.get((id(one), id(other)))
        if known is None:
            if len(self._compared) >= MOST_COMPARED:
                self._compared.clear()
            known = self._compared[id(one), id(other)] = one, other, same_template(one, other)
        return known[2]

    def settle(self, *objects: Manifest) -> None:
        """Note that another sync of a Deployment would write nothing, as long as it and its set stay."""
        self._settled[key_of(objects[0])] = objects

    def _is_settled(self, key: str, objects: Sets) -> bool:
        known = self._settled.pop(key, ())
        return len(known) == len(objects) and all(one is other for one, other in zip(known, objects))

    def observe(self, write: StoredWrite) -> None:
        """Queue the Deployment itself, that of a ReplicaSet, and that of a deleted pod if it recreates."""
        if write.kind == "Deployment":
            self.queue.add(write.key)
        elif write.kind == "ReplicaSet":
            self.queue_owner(write, "Deployment")
            self.queue_adopters(write, "Deployment")
        elif write.kind == "Pod" and write.new is None and write.old is not None:
            made_by = self.owner(write.old, "ReplicaSet")
            found = self.owner(made_by, "Deployment") if made_by is not None else None
            if found is not None and spec_of(found)["strategy"]["type"] == "Recreate":
                self.queue.add(key_of(found))

    def sync(self, key: str) -> Work:
        """Take the next step of a Deployment (syncDeployment)."""
        owner = self.server.get("Deployment", key)
        if owner is None:
            return
        found = claimable(self.server, owner, "ReplicaSet")
        if self._is_settled(key, (owner, *found)):
            _Rollout(self, owner, found).look_again(status_of(owner))
            return
        sets = yield from self.claim(owner, found)
        rollout = _Rollout(self, owner, sets)
        if is_deleting(owner):
            yield from rollout.status_only()
            return
        yield from rollout.check_paused()
        if spec_of(rollout.owner).get("paused") or (yield from rollout.is_scaling()):
            yield from rollout.hold()
        elif spec_of(rollout.owner)["strategy"]["type"] == "Recreate":
            yield from rollout.recreate()
        else:
            yield from rollout.roll()


class _Rollout:
    """One sync of a Deployment. ``owner`` is the Deployment as this sync has written it."""

    def __init__(self, controller: Deployments, owner: Manifest, sets: list[Manifest]) -> None:
        self.controller = controller
        self.client = controller.client
        self.owner = owner
        self.sets = by_age(sets)
        self.new: Manifest | None = None
        self.old: list[Manifest] = []
        self._found_as: tuple[Manifest, list[Manifest]] | None = None
        """The Deployment and its sets as :meth:`find` left them, if nothing was written since."""

    @property
    def everyone(self) -> list[Manifest]:
        """The old sets and the new one."""
        return [*self.old, *([self.new] if self.new is not None else [])]

    # --- revisions

    def find(self, *, create: bool = False) -> Work:
        """Find the new set and the old ones, and number the new one (getAllReplicaSetsAndSyncRevision)."""
        known = self._found_as
        if known is not None and known[0] is self.owner and known[1] is self.sets:
            return
        owner, sets = self.owner, self.sets
        new = next((one for one in sets if self.controller.has_same_template(one, owner)), None)
        self.old = [one for one in self.sets if one is not new]
        revision = max((revision_of(one) for one in self.old), default=0) + 1
        if new is not None:
            yield from self._renumber(new, revision)
            if self.owner is owner and self.sets is sets:
                self._found_as = owner, sets
        elif create:
            yield from self._create(revision)

    def _renumber(self, new: Manifest, revision: int) -> Work:
        """Give the new set its revision, and the Deployment the set's."""
        marked = annotated(self.owner, new, revision, fresh=False)
        wait = spec_of(self.owner).get("minReadySeconds") or 0
        if marked != new or (spec_of(new).get("minReadySeconds") or 0) != wait:
            stored = yield self.client.update(with_spec(marked, minReadySeconds=wait or None))
            self._know(new, stored)
            self.new = stored
            return
        self.new = new
        row = None
        if self._has_deadline and condition_of(self.owner, "Progressing") is None:
            row = progressing(self.controller.now, "True", "FoundNewReplicaSet")
        yield from self._number_owner(annotations_of(new).get(REVISION, ""), row)

    def _know(self, known: Manifest, stored: Manifest) -> None:
        self.sets = [stored if one is known else one for one in self.sets]

    def _number_owner(self, revision: str, row: dict[str, Any] | None) -> Work:
        marks, status = annotations_of(self.owner), status_of(self.owner)
        wanted = {**marks, REVISION: revision}
        if row is not None:
            status = {**status, "conditions": with_condition(status.get("conditions") or [], row)}
        if wanted != marks or row is not None:
            made = with_status(with_meta(self.owner, annotations=wanted), status)
            self.owner = yield self.client.update_status(made)

    def _create(self, revision: int) -> Work:
        """Create the set of the template."""
        owner, template = self.owner, spec_of(self.owner)["template"]
        status = status_of(owner)
        suffix = template_hash(template, status.get("collisionCount") or 0)
        meta = template.get("metadata") or {}
        labels = {**(meta.get("labels") or {}), HASH: suffix}
        selector = spec_of(owner)["selector"]
        selector = {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), HASH: suffix}}
        made: Manifest = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"{name_of(owner)}-{suffix}",
                "namespace": namespace_of(owner),
                "labels": labels,
                "ownerReferences": [reference_to(owner)],
            },
            "spec": {
                "replicas": 0,
                "selector": selector,
                "template": {**template, "metadata": {**meta, "labels": labels}},
            },
        }
        if wait := spec_of(owner).get("minReadySeconds"):
            made["spec"]["minReadySeconds"] = wait
        made["spec"]["replicas"] = grown(owner, [*self.old, made], made)
        try:
            self.new = yield self.client.create(annotated(owner, made, revision, fresh=True))
        except StatusError as error:
            if error.code != 409:
                raise
            self.new = self._made_before(made)
            if self.new is None:
                yield from self._collided()
                raise
        self.sets.append(self.new)
        row = progressing(self.controller.now, "True", "NewReplicaSetCreated") if self._has_deadline else None
        yield from self._number_owner(str(revision), row)

    def _made_before(self, made: Manifest) -> Manifest | None:
        """Return the set of that name, if it is the Deployment's and has its template."""
        found = self.controller.server.get("ReplicaSet", key_of(made))
        owner = None if found is None else controller_of(found)
        if found is None or owner is None or owner["uid"] != uid_of(self.owner):
            return None
        return found if self.controller.has_same_template(found, self.owner) else None

    def _collided(self) -> Work:
        status = status_of(self.owner)
        count = (status.get("collisionCount") or 0) + 1
        yield self.client.update_status(with_status(self.owner, {**status, "collisionCount": count}))

    @property
    def _has_deadline(self) -> bool:
        return bool(spec_of(self.owner).get("progressDeadlineSeconds", DEADLINE_NEVER) != DEADLINE_NEVER)

    # --- steps

    def check_paused(self) -> Work:
        """Write that a Deployment is paused, or resumed (checkPausedConditions)."""
        known = condition_of(self.owner, "Progressing")
        if not self._has_deadline or (known and known["reason"] == "ProgressDeadlineExceeded"):
            return
        paused, held = (
            bool(spec_of(self.owner).get("paused")),
            bool(known and known["reason"] == "DeploymentPaused"),
        )
        if paused == held:
            return
        reason = "DeploymentPaused" if paused else "DeploymentResumed"
        row = progressing(self.controller.now, "Unknown", reason, known)
        status = status_of(self.owner)
        conditions = with_condition(status.get("conditions") or [], row)
        made = with_status(self.owner, {**status, "conditions": conditions})
        self.owner = yield self.client.update_status(made)

    def is_scaling(self) -> Work:
        """Return whether the Deployment's size has changed since its sets were sized (isScalingEvent)."""
        yield from self.find()
        wanted = str(spec_of(self.owner)["replicas"])
        found = [annotations_of(one).get(DESIRED) for one in active_sets(self.everyone)]
        return any(one is not None and one != wanted for one in found)

    def status_only(self) -> Work:
        """Write the status of a Deployment that is being deleted."""
        yield from self.find()
        yield from self._write(next_status(self.owner, self.everyone, self.new, self.controller.now))

    def hold(self) -> Work:
        """Scale without a rollout: a paused Deployment, or one whose size has changed (sync)."""
        yield from self.find()
        yield from self._scale()
        if spec_of(self.owner).get("paused"):
            yield from self._forget_oldest()
        yield from self._write(next_status(self.owner, self.everyone, self.new, self.controller.now))

    def _scale(self) -> Work:
        """Size the one active set, or all in proportion (scale)."""
        wanted = spec_of(self.owner)["replicas"]
        only = self._active_or_latest()
        if only is not None:
            if replicas_of(only) != wanted:
                yield from self._resize(only, wanted)
            return
        if is_saturated(self.owner, self.new):
            for one in active_sets(self.old):
                yield from self._resize(one, 0)
        elif spec_of(self.owner)["strategy"]["type"] == "RollingUpdate":
            for one, size in proportions(self.owner, active_sets(self.everyone)):
                yield from self._resize(one, size, always=True)

    def _active_or_latest(self) -> Manifest | None:
        active = active_sets(self.everyone)
        if len(active) > 1 or not self.everyone:
            return None
        if active:
            return active[0]
        return self.new if self.new is not None else self.old[-1]

    def _resize(self, one: Manifest, size: int, *, always: bool = False) -> Work:
        """Scale a set (scaleReplicaSet); return whether its size has changed."""
        resized = replicas_of(one) != size
        if not resized and not always:
            return False
        made = sized(self.owner, one, size)
        if made != one:
            stored = yield self.client.update(made)
            self._take(one, stored)
        return resized

    def _take(self, one: Manifest, stored: Manifest) -> None:
        self._found_as = None
        self.old = [stored if known is one else known for known in self.old]
        if self.new is one:
            self.new = stored

    def roll(self) -> Work:
        """Scale up the new set, else scale down the old ones (rolloutRolling)."""
        before = self.owner
        yield from self.find(create=True)
        new = self.new
        if new is None:
            return
        scaled = (yield from self._grow(new)) or (yield from self._shrink(new))
        if not scaled and is_complete(self.owner, status_of(self.owner)):
            yield from self._forget_oldest()
        alone = not self.old and len(self.sets) == 1 and self.sets[0] is new
        settles = alone and not scaled and self.owner is before
        if (yield from self._write_rollout()) and settles:
            self.controller.settle(self.owner, *self.sets)

    def _grow(self, new: Manifest) -> Work:
        wanted = spec_of(self.owner)["replicas"]
        if replicas_of(new) == wanted:
            return False
        size = wanted if replicas_of(new) > wanted else grown(self.owner, self.everyone, new)
        return (yield from self._resize(new, size))

    def _shrink(self, new: Manifest) -> Work:
        """Remove unhealthy pods of old sets first, then as many as may be unavailable."""
        wanted = spec_of(self.owner)["replicas"]
        least = wanted - fenceposts(self.owner)[1]
        if not total(self.old):
            return False
        unready = replicas_of(new) - (status_of(new).get("availableReplicas") or 0)
        removable = total(self.everyone) - least - unready
        if removable <= 0:
            return False
        old = {uid_of(one) for one in active_sets(self.old)}
        removed = yield from self._remove_unhealthy(removable)
        if removed is None:
            return False
        removed += yield from self._remove_available(least, old)
        return removed > 0

    def _remove_unhealthy(self, most: int) -> Work:
        """Return how many pods went, ``None`` while a set has not observed its last size."""
        removed = 0
        for one in by_age(active_sets(self.old)):
            unhealthy = replicas_of(one) - (status_of(one).get("availableReplicas") or 0)
            number = min(most - removed, unhealthy)
            if most > removed and number < 0:
                return None
            if number > 0:
                yield from self._resize(one, replicas_of(one) - number)
                removed += number
        return removed

    def _remove_available(self, least: int, old: Collection[str]) -> Work:
        """Scale old sets down while enough pods of the new one and of ``old`` are available.

        Sets that had no replicas left when this sync began do not count, whatever their status still says
        (scaleDownOldReplicaSetsForRollingUpdate is given the active old sets alone).
        """
        counted = [one for one in self.everyone if one is self.new or uid_of(one) in old]
        available = sum(status_of(one).get("availableReplicas") or 0 for one in counted)
        spare, removed = available - least, 0
        for one in by_age(active_sets(self.old)):
            number = min(replicas_of(one), spare - removed)
            if number > 0:
                yield from self._resize(one, replicas_of(one) - number)
                removed += number
        return removed

    def recreate(self) -> Work:
        """Scale the old sets down, wait for their pods, then scale up the new one (rolloutRecreate)."""
        yield from self.find()
        scaled = False
        for one in active_sets(self.old):
            scaled = (yield from self._resize(one, 0)) or scaled
        if not scaled and not self._old_pods():
            if self.new is None:
                yield from self.find(create=True)
            if self.new is not None:
                yield from self._resize(self.new, spec_of(self.owner)["replicas"])
            if is_complete(self.owner, status_of(self.owner)):
                yield from self._forget_oldest()
        yield from self._write_rollout()

    def _old_pods(self) -> bool:
        if any(status_of(one).get("replicas") for one in self.old):
            return True
        server = self.controller.server
        return any(not is_finished(pod) for one in self.old for pod in server.controlled(one, "Pod"))

    def _forget_oldest(self) -> Work:
        """Delete old sets beyond the revision history limit (cleanupDeployment)."""
        kept = [one for one in self.old if not is_deleting(one)]
        surplus = len(kept) - spec_of(self.owner).get("revisionHistoryLimit", len(kept))
        for one in sorted(by_age(kept), key=revision_of)[: max(0, surplus)]:
            status = status_of(one)
            observed = status.get("observedGeneration") or 0
            if not (status.get("replicas") or replicas_of(one) or generation(one) > observed):
                yield self.client.delete(one)

    # --- status

    def _write(self, status: dict[str, Any]) -> Work:
        if not is_same_status(status, status_of(self.owner)):
            self.owner = yield self.client.update_status(with_status(self.owner, status))

    def _write_rollout(self) -> Work:
        """Write the status with its progress; look again when the deadline is over (syncRolloutStatus).

        Return whether it was written.
        """
        status = rollout_status(self.owner, self.everyone, self.new, self.controller.now)
        status = with_failure(status, self.everyone, self.new)
        if not is_same_status(status, status_of(self.owner)):
            yield from self._write(status)
            return True
        self.look_again(status)
        return False

    def look_again(self, status: dict[str, Any]) -> None:
        """Have a Deployment that makes progress synced when its deadline is over."""
        known = condition_of(self.owner, "Progressing")
        over = known is None or known["reason"] in ("ProgressDeadlineExceeded", "NewReplicaSetAvailable")
        if not self._has_deadline or over or is_complete(self.owner, status):
            self.controller.queue.cancel(key_of(self.owner))  # upstream looks then, and never finds anything
            return
        assert known is not None
        deadline = second(known["lastUpdateTime"]) + spec_of(self.owner)["progressDeadlineSeconds"]
        left = deadline - self.controller.now
        queue, key = self.controller.queue, key_of(self.owner)
        if left < 1:
            queue.add_rate_limited(key)
        else:
            queue.add_after(key, left + 1)


def rolled_back(owner: Manifest, sets: Sets, revision: int) -> Manifest | None:
    """Return a Deployment with the template of a revision, 0 for the one before (kubectl rollout undo).

    ``None`` without that revision, where it is assumed, and for a Deployment that is paused: kubectl does not
    roll it back.
    """
    if spec_of(owner).get("paused"):
        return None
    numbers = sorted(revision_of(one) for one in sets)
    wanted = revision or (numbers[-2] if len(numbers) > 1 else 0)
    found = next((one for one in sets if revision_of(one) == wanted and uid_of(one)), None)
    if found is None or is_assumed(found):
        return None
    template = spec_of(found)["template"]
    meta = template["metadata"]
    labels = {key: value for key, value in labels_of(template).items() if key != HASH}
    return with_spec(owner, template={**template, "metadata": {**meta, "labels": labels}})
