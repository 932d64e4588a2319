"""What changed about a pod, as the scheduler distinguishes it (framework.PodSchedulingPropertiesChange)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from scheduler_core.kubernetes.requests import Amounts, held_requests, reports_amounts
from scheduler_core.schedulers.v1_37.change import Manifest


def pod_actions(
    old: Manifest, new: Manifest, read_held: Callable[..., Amounts] = held_requests
) -> Iterator[str]:
    """Yield one action for each kind of change; the general ``Update`` if none is known."""
    found = False
    for action, changed in _UNSCALED if _holds_alike(old, new) else _changes(read_held):
        if changed(old, new):
            found = True
            yield action
    if not found:
        yield "Update"


def _labels_changed(old: Manifest, new: Manifest) -> bool:
    return (old["metadata"].get("labels") or {}) != (new["metadata"].get("labels") or {})


def _holds_alike(old: Manifest, new: Manifest) -> bool:
    """Return whether a pod holds the same at sight: False is inconclusive."""
    return (
        _spec(old) is _spec(new) and not reports_amounts(_status(old)) and not reports_amounts(_status(new))
    )


def _scaled_down(read_held: Callable[..., Amounts], old: Manifest, new: Manifest) -> bool:
    before = read_held(_spec(old), _status(old))
    after = read_held(_spec(new), _status(new))
    return any(name not in after or amount > after[name] for name, amount in before.items())


def _scaled_up(read_held: Callable[..., Amounts], old: Manifest, new: Manifest) -> bool:
    return _scaled_down(read_held, new, old)


def _gates_eliminated(old: Manifest, new: Manifest) -> bool:
    return bool(_spec(old).get("schedulingGates")) and not _spec(new).get("schedulingGates")


def _tolerations_changed(old: Manifest, new: Manifest) -> bool:
    # Only their number: tolerations can be added, not changed.
    return len(_spec(old).get("tolerations") or ()) != len(_spec(new).get("tolerations") or ())


def _claims_generated(old: Manifest, new: Manifest) -> bool:
    key = "resourceClaimStatuses"
    return (_status(old).get(key) or []) != (_status(new).get(key) or [])


def _spec(pod: Manifest) -> Mapping[str, Any]:
    return pod.get("spec") or {}


def _status(pod: Manifest) -> Mapping[str, Any]:
    return pod.get("status") or {}


_Change = tuple[str, Callable[[Manifest, Manifest], bool]]

_UNSCALED: tuple[_Change, ...] = (
    ("UpdatePodLabel", _labels_changed),
    ("UpdatePodSchedulingGatesEliminated", _gates_eliminated),
    ("UpdatePodToleration", _tolerations_changed),
    ("UpdatePodGeneratedResourceClaim", _claims_generated),
)


@cache
def _changes(read_held: Callable[..., Amounts]) -> tuple[_Change, ...]:
    labels, *others = _UNSCALED
    down, up = partial(_scaled_down, read_held), partial(_scaled_up, read_held)
    return (labels, ("UpdatePodScaleDown", down), ("UpdatePodScaleUp", up), *others)
