"""Deployment: one ReplicaSet per template, with replicas moved from the old ones to the new one.

Source: ``pkg/controller/deployment`` (``rolling.go``, ``recreate.go``) and its ``util``:
``ResolveFenceposts`` rounds percentages (surge up, unavailable down), ``NewRSNewReplicas`` grows the new
set. A change of scale during an update applies to the new set only, not proportionally to all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change, Reconciliation
from scheduler_core.cluster.controllers.workloads import HASH_LABEL, replica_set, template_hash
from scheduler_core.cluster.store import Store
from scheduler_core.formats.decode import short_hash
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import Pod, Workload

REVISION = "deployment.kubernetes.io/revision"
HISTORY = 10  # revisionHistoryLimit


def share(amount: int | str, whole: int, *, up: bool) -> int:
    """Return an absolute count, or a percentage of the whole rounded up or down (intstr)."""
    if isinstance(amount, int):
        return amount
    exact = whole * int(amount[:-1])
    return -(-exact // 100) if up else exact // 100


def fenceposts(owner: Workload) -> tuple[int, int]:
    """Return the maximum surge and the maximum of unavailable pods of an update (ResolveFenceposts)."""
    strategy = owner.strategy
    surge = share("25%" if strategy.max_surge is None else strategy.max_surge, owner.replicas, up=True)
    wanted = "25%" if strategy.max_unavailable is None else strategy.max_unavailable
    unavailable = min(share(wanted, owner.replicas, up=False), owner.replicas)
    return surge, unavailable if surge or unavailable else 1  # with both 0 an update would never progress


@dataclass(slots=True)
class Rollout:
    """A Deployment, its ReplicaSets in order of creation, and the one for its template."""

    owner: Workload
    store: Store
    sets: list[Workload]
    new: Workload | None

    @property
    def old(self) -> list[Workload]:
        """The sets of previous templates."""
        return [one for one in self.sets if one is not self.new]

    def available(self, one: Workload) -> int:
        """Return how many pods of a set are available."""
        return self.store.owned(key_of(one)).available

    def total(self) -> int:
        """Return the sum of the replicas of all sets."""
        return sum(one.replicas for one in self.sets)


def reconcile(owner: Workload, store: Store, now: float) -> Reconciliation:
    """Take the next step of the rollout; the ReplicaSets are reconciled after each."""
    del now
    if owner.template is None or owner.meta.deletion_timestamp is not None:
        return ()
    sets = store.sets_of(owner)
    new = next((one for one in reversed(sets) if same_template(one.template, owner.template)), None)
    rollout = Rollout(owner, store, sets, new)
    if owner.paused:
        return _hold(rollout)
    recreating = owner.strategy.type == "Recreate"
    if new is None:
        return _recreate(rollout) if recreating else _begin(rollout)
    if (revision := _next_revision(rollout, new)) is not None:
        return (Change("update", _numbered(new, revision), "NewReplicaSetFound"),)
    step = _recreate(rollout) if recreating else _roll(rollout, new)
    return step or _forget_oldest(rollout)


def same_template(made: Pod | None, wanted: Pod) -> bool:
    """Return whether a ReplicaSet was created for the template: all but its hash is equal."""
    if made is None or made.containers != wanted.containers:
        return False
    labels = {key: value for key, value in made.meta.labels.items() if key != HASH_LABEL}
    given = {key: value for key, value in wanted.meta.labels.items() if key != HASH_LABEL}
    return (
        labels == given
        and replace(made, meta=wanted.meta) == wanted
        and (made.meta.annotations == wanted.meta.annotations)
    )


# --- revisions


def _revision(one: Workload) -> int:
    written = one.meta.annotations.get(REVISION, "")
    return int(written) if written.isdecimal() and len(written) < 19 else 1


def _next_revision(rollout: Rollout, new: Workload) -> int | None:
    """Return the revision that the new set should get, ``None`` if it has it (a rollback gets a new one)."""
    highest = max((_revision(one) for one in rollout.old), default=0)
    return highest + 1 if rollout.old and _revision(new) <= highest else None


def _numbered(one: Workload, revision: int) -> Workload:
    return replace(one, meta=replace(one.meta, annotations={**one.meta.annotations, REVISION: str(revision)}))


def _begin(rollout: Rollout) -> Reconciliation:
    """Create the ReplicaSet of the template."""
    owner = rollout.owner
    assert owner.template is not None
    first = template_hash(owner.template)
    suffixes = (
        short_hash(first, str(n), length=len(first)) if n else first for n in count()
    )  # collisionCount
    named = (replica_set(owner, suffix, 0) for suffix in suffixes)
    made = next(one for one in named if key_of(one) not in rollout.store.objects)
    recreating = owner.strategy.type == "Recreate"
    number = owner.replicas if recreating else _grown(rollout, made)
    revision = max((_revision(one) for one in rollout.sets), default=0) + 1
    reason = f"Scaled up replica set {made.meta.name} to {number}"
    return (Change("create", _numbered(replace(made, replicas=number), revision), reason),)


def _forget_oldest(rollout: Rollout) -> Reconciliation:
    """Delete old sets without pods beyond the revision history limit (cleanupDeployment)."""
    empty = [one for one in rollout.old if not one.replicas and not rollout.store.owned(key_of(one)).active]
    surplus = len(empty) - HISTORY
    if surplus <= 0:
        return ()
    empty.sort(key=_revision)
    return [Change("delete", one, "revisionHistoryLimit") for one in empty[:surplus]]


# --- scaling


def _scaled(one: Workload, replicas: int) -> Change:
    direction = "up" if replicas > one.replicas else "down"
    reason = f"Scaled {direction} replica set {one.meta.name} to {replicas}"
    return Change("update", replace(one, replicas=replicas), reason)


def _grown(rollout: Rollout, new: Workload) -> int:
    """Return the next size of the new set (NewRSNewReplicas)."""
    surge, _ = fenceposts(rollout.owner)
    room = rollout.owner.replicas + surge - rollout.total()
    return new.replicas + max(0, min(room, rollout.owner.replicas - new.replicas))


def _wind_down(rollout: Rollout) -> list[Change]:
    """Scale the old sets down to 0 (Recreate)."""
    return [_scaled(one, 0) for one in rollout.old if one.replicas]


def _hold(rollout: Rollout) -> Reconciliation:
    """Handle a paused Deployment: create no set and move no replicas, but apply scaling (Controller.sync)."""
    owner, total = rollout.owner, rollout.total()
    active = [one for one in rollout.sets if one.replicas]
    if not rollout.sets:
        return ()
    surge, unavailable = fenceposts(owner)
    if len(active) > 1 and owner.replicas - unavailable <= total <= owner.replicas + surge:
        return ()  # during an update
    target = rollout.new if rollout.new in active or not active else None
    target = target or max(active or rollout.sets, key=_revision)
    wanted = max(0, target.replicas + owner.replicas - total)
    return (_scaled(target, wanted),) if wanted != target.replicas else ()


def _recreate(rollout: Rollout) -> Reconciliation:
    """Scale the old sets down, wait until their last pod is deleted, then scale up the new set at once."""
    if scaled := _wind_down(rollout):
        return scaled
    if any(rollout.store.owned(key_of(one)).active for one in rollout.old):
        return ()
    new = rollout.new
    if new is None:
        return _begin(rollout)
    return (_scaled(new, rollout.owner.replicas),) if new.replicas != rollout.owner.replicas else ()


def _roll(rollout: Rollout, new: Workload) -> Reconciliation:
    """Scale up the new set within the surge, else scale down the old ones while enough pods are available."""
    wanted = min(rollout.owner.replicas, max(new.replicas, _grown(rollout, new)))
    if wanted != new.replicas:
        return (_scaled(new, wanted),)
    if not any(one.replicas for one in rollout.old):
        return ()
    _, unavailable = fenceposts(rollout.owner)
    least = rollout.owner.replicas - unavailable
    removable = rollout.total() - least - (new.replicas - rollout.available(new))
    return _shrink(rollout, least, removable) if removable > 0 else ()


def _shrink(rollout: Rollout, least: int, removable: int) -> list[Change]:
    """Remove unavailable pods first (cleanupUnhealthyReplicas), then available ones above ``least``."""
    sizes = {one.meta.name: one.replicas for one in rollout.old}
    for one in rollout.old:
        unhealthy = min(removable, max(0, one.replicas - rollout.available(one)))
        sizes[one.meta.name] -= unhealthy
        removable -= unhealthy
    spare = sum(map(rollout.available, rollout.sets)) - least
    for one in rollout.old:
        going = max(0, min(spare, sizes[one.meta.name]))
        sizes[one.meta.name] -= going
        spare -= going
    return [_scaled(one, sizes[one.meta.name]) for one in rollout.old if sizes[one.meta.name] != one.replicas]
