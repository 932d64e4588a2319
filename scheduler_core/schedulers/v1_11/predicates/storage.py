"""Predicates on claims and their volumes: binding, node affinity of volumes, zones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from scheduler_core.kubernetes.arrays import BoolVector
from scheduler_core.kubernetes.model import PersistentVolume, PersistentVolumeClaim
from scheduler_core.kubernetes.provisioner import selected_node
from scheduler_core.schedulers.columns.columns import REGION_LABEL, ZONE_LABEL
from scheduler_core.schedulers.columns.nodeaffinity import any_term_mask
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.columns.reasons import FAILED_BY_ERROR
from scheduler_core.schedulers.columns.storage import ClaimError, Storage
from scheduler_core.schedulers.columns.view import Scope, View
from scheduler_core.schedulers.profiles.predicate import FITS, PredicateResult, everywhere
from scheduler_core.schedulers.v1_11.predicates.rule import FilterPlugin, OrderPlace, Reason, Rule

VOLUME_CONFLICT = "node(s) had volume node affinity conflict"
NO_VOLUME_TO_BIND = "node(s) didn't find available persistent volumes to bind"
NO_ZONE = "node(s) had no available volume zone"


def _pod_claims(pod: PodInfo, storage: Storage) -> Iterator[PersistentVolumeClaim]:
    """Yield the pod's claims; a missing one has already ended the attempt (section 3.1)."""
    for name in pod.claims:
        claim = storage.claim(pod.namespace, name)
        if claim is not None:
            yield claim


class CheckVolumeBinding:
    """Bound volumes reachable, waiting claims bindable (predicates.VolumeBindingChecker).

    With ``provisions`` a claim that finds no volume passes where its class makes one, as since 1.12: in v1.11
    the gate DynamicProvisioningScheduling is off.
    """

    scope = Scope.OBJECTS
    reads = Reads(
        pod=("namespace", "volumes"),
        node=("name", "labels"),
        objects=("PersistentVolume", "PersistentVolumeClaim", "StorageClass"),
    )

    def __init__(self, *, provisions: bool = False) -> None:
        self.provisions = provisions

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where a bound volume's node affinity does not match, or where no free volume is available."""
        if not pod.claims:
            return FITS
        outcome = view.memo(("volume-binding", pod.number), lambda: self._outcome(pod, View(view.cluster)))
        return _rows_of(outcome, view)

    def _outcome(self, pod: PodInfo, view: View) -> PredicateResult:
        storage = view.cluster.storage
        bound: list[PersistentVolumeClaim] = []
        waiting: list[PersistentVolumeClaim] = []
        immediate = False
        try:
            for claim in _pod_claims(pod, storage):
                if claim.volume_name:
                    bound.append(claim)
                elif storage.delays_binding(claim):
                    waiting.append(claim)
                else:
                    immediate = True
        except ClaimError as error:
            return everywhere(view, str(error))
        if immediate:
            return everywhere(view, "pod has unbound PersistentVolumeClaims")
        return _check_claims(bound, waiting, view, provisions=self.provisions)


def _check_claims(
    bound: list[PersistentVolumeClaim],
    waiting: list[PersistentVolumeClaim],
    view: View,
    *,
    provisions: bool,
) -> PredicateResult:
    reachable = np.ones(view.size, np.bool_)
    errors: dict[int, str] = {}
    for claim in bound:
        volume = view.cluster.storage.volumes.get(claim.volume_name)
        if volume is None:
            text = f'could not find v1.PersistentVolume "{claim.volume_name}"'
            for row in np.flatnonzero(reachable).tolist():
                errors.setdefault(row, text)
            break
        if volume.node_affinity is not None:
            reachable &= any_term_mask(volume.node_affinity, view.columns)
    codes = np.where(reachable, np.int16(0), np.int16(view.reasons.code(VOLUME_CONFLICT)))
    if waiting:
        lacking = ~(_obtainable if provisions else _bindable)(waiting, view)
        merged = view.reasons.merge(
            codes, np.where(lacking, np.int16(view.reasons.code(NO_VOLUME_TO_BIND)), np.int16(0))
        )
        codes = codes if merged is None else merged
    codes[list(errors)] = FAILED_BY_ERROR
    return PredicateResult(codes, errors) if codes.any() else FITS


def _bindable(waiting: list[PersistentVolumeClaim], view: View) -> BoolVector:
    """Return where every waiting claim has a free volume of its own (volumebinder.findMatchingVolumes)."""
    found = _matches(waiting, view)
    return np.array([len(found(row)) == len(waiting) for row in range(view.size)], np.bool_)


def _matches(waiting: list[PersistentVolumeClaim], view: View) -> Callable[[int], dict[str, str]]:
    """Return a function that matches the claims with volumes on a row: claim key to volume name."""
    storage = view.cluster.storage
    reach = {
        name: None if volume.node_affinity is None else any_term_mask(volume.node_affinity, view.columns)
        for name, volume in storage.volumes.items()
    }

    def found(row: int) -> dict[str, str]:
        return storage.match_waiting(waiting, {n for n, mask in reach.items() if mask is None or mask[row]})

    return found


def _obtainable(waiting: list[PersistentVolumeClaim], view: View) -> BoolVector:
    """Return where every waiting claim has a free volume or can be provisioned (volumebinder.FindPodVolumes).

    A claim with a selected node can be provisioned on that node only.
    """
    cluster = view.cluster
    free = [claim for claim in waiting if not selected_node(claim)]
    found = _matches(free, view)

    def fits(row: int) -> bool:
        node = cluster.nodes[view.columns.names[row]]
        chosen = found(row)
        return all(
            claim.meta.key in chosen
            or (selected_node(claim) in ("", node.meta.name) and cluster.storage.made_for(claim, node))
            for claim in waiting
        )

    return np.array([fits(row) for row in range(view.size)], np.bool_)


class NoVolumeZoneConflict:
    """Zone labels of bound volumes against the node's (predicates.VolumeZoneChecker)."""

    scope = Scope.OBJECTS
    reads = Reads(
        pod=("namespace", "volumes"),
        node=("labels",),
        objects=("PersistentVolume", "PersistentVolumeClaim", "StorageClass"),
    )

    def __call__(self, pod: PodInfo, view: View, state: PodState) -> PredicateResult:  # noqa: ARG002
        """Fail where a volume is in other zones than the node."""
        if not pod.claims:
            return FITS
        outcome = view.memo(("volume-zone", pod.number), lambda: self._outcome(pod, View(view.cluster)))
        return _rows_of(outcome, view)

    def _outcome(self, pod: PodInfo, view: View) -> PredicateResult:
        columns, storage = view.columns, view.cluster.storage
        open_rows = (columns.label(ZONE_LABEL).ids >= 0) | (columns.label(REGION_LABEL).ids >= 0)
        codes = np.zeros(view.size, np.int16)
        conflict = np.int16(view.reasons.code(NO_ZONE))
        for claim in _pod_claims(pod, storage):
            try:
                volume = self._volume(claim, storage)
            except ClaimError as error:
                rows = np.flatnonzero(open_rows).tolist()
                codes[rows] = FAILED_BY_ERROR
                return PredicateResult(codes, dict.fromkeys(rows, str(error)))
            for key in (ZONE_LABEL, REGION_LABEL) if volume is not None else ():
                zones = _zones(volume, key) if volume is not None else None
                if zones is None:
                    continue
                elsewhere = ~columns.label_mask(key, lambda found, zones=zones: (found or "") in zones)  # type: ignore[misc]
                codes[open_rows & elsewhere] = conflict
                open_rows &= ~elsewhere
        return PredicateResult(codes) if codes.any() else FITS

    @staticmethod
    def _volume(claim: PersistentVolumeClaim, storage: Storage) -> PersistentVolume | None:
        if not claim.volume_name:
            if storage.delays_binding(claim):
                return None
            raise ClaimError(f'PersistentVolumeClaim is not bound: "{claim.meta.name}"')
        volume = storage.volumes.get(claim.volume_name)
        if volume is None:
            raise ClaimError(f'persistentvolume "{claim.volume_name}" not found')
        return volume


def _zones(volume: PersistentVolume, key: str) -> frozenset[str] | None:
    """Split a volume's zone label at ``__`` (volumeutil.LabelZonesToSet); ``None`` means to ignore it."""
    value = volume.meta.labels.get(key)
    if value is None:
        return None
    parts = [part.strip() for part in value.split("__")]
    return frozenset(parts) if all(parts) else None


def _rows_of(outcome: PredicateResult, view: View) -> PredicateResult:
    """Reduce an outcome over all nodes to a view's rows."""
    if outcome.codes is None or view.rows is None:
        return outcome
    errors = {
        row: outcome.errors[node] for row, node in enumerate(view.rows.tolist()) if node in outcome.errors
    }
    return PredicateResult(outcome.codes[view.rows], errors)


RULES = (
    Rule(
        key="CheckVolumeBinding",
        check=CheckVolumeBinding(),
        text=(
            "The pod's bound volumes are reachable from the node, and volumes for its waiting "
            "claims can be found or provisioned there."
        ),
        v1_11=OrderPlace(160, "Looks for volumes that claims could be bound to."),
        proposal=OrderPlace(120, "", "VolumeNodePredicate"),
        default=True,
        plugin=FilterPlugin("VolumeBinding", "the storage capacity of a class that provisions is not read"),
        reasons=(
            Reason(VOLUME_CONFLICT, resolvable=False, finding="unreachable_volume"),
            Reason(NO_VOLUME_TO_BIND, resolvable=False, finding="nothing_to_bind"),
        ),
        invalidated_by=(
            "pv-topology",
            "pv-to-bind",
            "pv-update-node-affinity",
            "pv-update-match",
            "pvc-any",
            "pvc-update-volume-name",
            "pvc-update-volume-name-no-zone",
            "pvc-update-match",
            "storage-class",
            "pod-bound-volumes",
            "node-update-volume-binding",
        ),
    ),
    Rule(
        key="NoVolumeZoneConflict",
        check=NoVolumeZoneConflict(),
        text="The zone and region labels of the pod's volumes are those of the node.",
        v1_11=OrderPlace(170, "Looks claims and volumes up and compares zones."),
        proposal=OrderPlace(130, "", "VolumeZonePredicate"),
        default=True,
        plugin=FilterPlugin(
            "VolumeZone", "only the labels failure-domain.beta.kubernetes.io/zone and /region are compared"
        ),
        reasons=(Reason(NO_ZONE, resolvable=False, finding="other_zone"),),
        invalidated_by=(
            "pv-topology",
            "pv-zone-label",
            "pv-update-zone-label",
            "pv-missing",
            "pvc-any",
            "pvc-update-volume-name",
            "pvc-update-match",
            "storage-class",
            "pod-bound-claims",
            "node-update-zone",
            "node-update-zone-had",
        ),
    ),
)
