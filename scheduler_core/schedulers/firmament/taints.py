"""Which taints of a node a task tolerates, with the original's peculiarities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scheduler_core.kubernetes.model import Taint, Toleration
from scheduler_core.schedulers.firmament.tasks import DEFAULT_TOLERATIONS

HARD = ("NoSchedule", "NoExecute")
SOFT = "PreferNoSchedule"
Key = tuple[str, str]  # of a taint, with its effect
Tolerated = Mapping[Key, str | None]  # the value that an Equal toleration needs, None: any


def hard_tolerated(tolerations: Sequence[Toleration]) -> Tolerated | None:
    """Return which hard taints are tolerated (HasMatchingTolerationforNodeTaints), ``None`` for all.

    Without more tolerations than admission adds, none is.
    """
    if len(tolerations) <= DEFAULT_TOLERATIONS:
        return {}
    return _tolerated(tolerations, HARD)


def soft_tolerated(tolerations: Sequence[Toleration]) -> Tolerated | None:
    """Return which soft taints are tolerated (CalculateIntolerableTaintsCost), ``None`` for all."""
    return _tolerated(tolerations, (SOFT,))


def _tolerated(tolerations: Iterable[Toleration], effects: Sequence[str]) -> Tolerated | None:
    """Exists suffices wherever it stands; of several Equal for a key, the first has to have the value."""
    exists: dict[Key, str | None] = {}
    equal: dict[Key, str | None] = {}
    for one in tolerations:
        for effect in effects:
            if one.effect not in ("", effect):
                continue
            if one.operator == "Exists":
                if not one.key:
                    return None
                exists[one.key, effect] = None
            else:
                equal.setdefault((one.key, effect), one.value)
    return equal | exists


def intolerable(taints: Iterable[Taint], tolerated: Tolerated | None, effects: Sequence[str]) -> int:
    """Return how many of a node's taints with these effects are not tolerated."""
    if tolerated is None:
        return 0
    return sum(
        taint.effect in effects
        and tolerated.get((taint.key, taint.effect), "\0absent") not in (None, taint.value)
        for taint in taints
    )
