"""How many pods each controller has, kept with every write: a sync of a set reads numbers, not its pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    is_active,
    is_deleting,
    is_finished,
    is_ready,
    labels_of,
)

Labels = tuple[tuple[str, str], ...]


class _Part(NamedTuple):
    """What one pod adds to the tally of its controller."""

    uid: str
    labels: Labels | None
    """Those of an active pod."""
    ready: bool
    """Whether it is active and ready."""
    terminating: bool


class PodTally:
    """The pods of one controller: how many active ones by labels, how many of them ready, how many ending."""

    __slots__ = ("labels", "ready", "terminating")

    def __init__(self) -> None:
        self.labels: Counter[Labels] = Counter()
        self.ready = 0
        self.terminating = 0

    def copy(self) -> PodTally:
        """Return an independent copy."""
        made = PodTally()
        made.labels, made.ready, made.terminating = self.labels.copy(), self.ready, self.terminating
        return made

    @property
    def active(self) -> int:
        """How many pods are active."""
        return self.labels.total()

    def labelled(self, matches: Callable[[dict[str, str]], bool]) -> int:
        """Return how many active pods have labels that match."""
        return sum(number for labels, number in self.labels.items() if matches(dict(labels)))

    def add(self, part: _Part, sign: int) -> None:
        """Count a pod in (1) or out (-1)."""
        self.ready += sign * part.ready
        self.terminating += sign * part.terminating
        if part.labels is not None:
            self.labels[part.labels] += sign
            if not self.labels[part.labels]:
                del self.labels[part.labels]


class Tallies:
    """The tally of each controller that has pods, by its uid."""

    def __init__(self) -> None:
        self._by_uid: dict[str, PodTally] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Tallies:
        """Return an independent copy."""
        made = memo[id(self)] = Tallies()
        made._by_uid = {uid: tally.copy() for uid, tally in self._by_uid.items()}
        return made

    def of(self, uid: str) -> PodTally:
        """Return the tally of the controller with a uid."""
        return self._by_uid.get(uid) or PodTally()

    def change(self, old: Manifest | None, new: Manifest | None) -> None:
        """Follow a write of a pod: ``old`` is ``None`` for a creation, ``new`` for a removal."""
        if old is not None and new is not None and _differ_in_status_alone(old, new):
            more = is_ready(new) - is_ready(old)
            controller = controller_of(new) if more else None
            if controller is not None:
                self._by_uid[controller["uid"]].ready += more
            return
        before, after = _part(old), _part(new)
        if before == after:
            return
        if before is not None:
            self._by_uid[before.uid].add(before, -1)
        if after is not None:
            self._by_uid.setdefault(after.uid, PodTally()).add(after, 1)


def _differ_in_status_alone(old: Manifest, new: Manifest) -> bool:
    """Return whether two versions of an active pod have one owner, and labels that are the same object."""
    before, after = old["metadata"], new["metadata"]
    return (
        before.get("labels") is after.get("labels")
        and before.get("ownerReferences") is after.get("ownerReferences")
        and is_active(old)
        and is_active(new)
    )


def _part(pod: Manifest | None) -> _Part | None:
    controller = None if pod is None else controller_of(pod)
    if pod is None or controller is None:
        return None
    deleting, finished = is_deleting(pod), is_finished(pod)
    if deleting or finished:
        return _Part(controller["uid"], None, ready=False, terminating=not finished)
    return _Part(controller["uid"], tuple(labels_of(pod).items()), is_ready(pod), terminating=False)
