"""The decisions of a recorded cluster, stored as annotations of its pods, and their comparison with a run.

``recorded.podstep.dev/node`` is set when a recording is read. kube-scheduler-simulator writes the
results of each plugin as ``kube-scheduler-simulator.sigs.k8s.io/<name>``, in earlier versions
``scheduler-simulator/<name>``: a JSON text each.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from scheduler_core.kubernetes.model import KubernetesObject, Pod

PREFIX = "recorded.podstep.dev/"
NODE = PREFIX + "node"
SECONDS = PREFIX + "seconds"
RESULT_PREFIXES = ("kube-scheduler-simulator.sigs.k8s.io/", "scheduler-simulator/")
SELECTED_NODE = "selected-node"  # the only result that is plain text
RESULTS = (
    "prefilter-result-status", "prefilter-result", "filter-result", "postfilter-result", "prescore-result",
    "score-result", "finalscore-result", "reserve-result", "permit-result", "permit-result-timeout",
    "prebind-result", "bind-result", SELECTED_NODE, "result-history",
)  # fmt: skip
SAME, OTHER, NOT_PLACED = "same node", "other node", "not placed"
_MOST = 4_000_000  # characters of one result that are parsed


class Recorded(Struct, frozen=True):
    """The recording of one pod; a pod that was created again has one for each lifetime.

    ``since`` and ``until`` bound its lifetime in virtual seconds. ``results`` are those of a real
    kube-scheduler by name: ``filter-result`` {node: {plugin: "passed" or the reason}}, ``score-result`` and
    ``finalscore-result`` {node: {plugin: "76"}} and so on; one that cannot be parsed stays a string.
    """

    pod: str
    node: str
    since: float = 0.0
    until: float = float("inf")
    seconds: float | None = None  # when it was bound
    bound: bool = False  # whether it has its node from the start: a run does not schedule it
    results: Mapping[str, Any] = field(default_factory=dict)


def recorded_of(objects: Iterable[KubernetesObject], operations: Iterable[Any]) -> dict[str, list[Recorded]]:
    """Return the recordings of the pods among objects and operations, by ``namespace/name``."""
    out: dict[str, list[Recorded]] = {}
    born: dict[str, tuple[Pod, float]] = {o.meta.key: (o, 0.0) for o in objects if isinstance(o, Pod)}

    def close(key: str, until: float) -> None:
        pod, since = born.pop(key)
        if found := _read(pod, since, until):
            out.setdefault(key, []).append(found)

    for operation in operations:
        if operation.kind != "Pod":
            continue
        if operation.action != "update" and operation.key in born:
            close(operation.key, operation.time)
        if operation.action == "create" and isinstance(operation.object, Pod):
            born[operation.key] = operation.object, operation.time
    for key in list(born):
        close(key, float("inf"))
    return out


def _read(pod: Pod, since: float, until: float) -> Recorded | None:
    annotations = pod.meta.annotations
    results = results_of(annotations)
    node = annotations.get(NODE) or str(results.get(SELECTED_NODE) or "")
    if not node and not results:
        return None
    try:
        seconds: float | None = float(annotations[SECONDS])
    except (KeyError, ValueError):
        seconds = None
    return Recorded(pod.meta.key, node, since, until, seconds, bool(pod.node_name), results)


def results_of(annotations: Mapping[str, str]) -> dict[str, Any]:
    """Return the parsed results of a real kube-scheduler among a pod's annotations, by name."""
    out: dict[str, Any] = {}
    for prefix in reversed(RESULT_PREFIXES):
        for name in RESULTS:
            text = annotations.get(prefix + name)
            if text:
                out[name] = text if name == SELECTED_NODE else _parsed(text)
    return out


def _parsed(text: str) -> Any:
    try:
        value = json.loads(text) if len(text) <= _MOST else text
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (dict, list)) else text


class RecordedPlacement(Struct, frozen=True):
    """One pod that a run scheduled: when, in virtual seconds, and where."""

    pod: str
    node: str
    time: float
    step: str


class PlacementPair(Struct, frozen=True):
    """A pod where the recorded cluster placed it and where a run did; no placement: it stayed pending."""

    recorded: Recorded
    placement: RecordedPlacement | None

    @property
    def verdict(self) -> str:
        """``same node``, ``other node`` or ``not placed``."""
        if self.placement is None:
            return NOT_PLACED
        return SAME if self.placement.node == self.recorded.node else OTHER


class Agreement(Struct, frozen=True):
    """The placements of a run beside the recorded ones, in the order in which those were recorded."""

    pairs: tuple[PlacementPair, ...]

    def count(self, verdict: str) -> int:
        """Return how many pods have a verdict."""
        return sum(pair.verdict == verdict for pair in self.pairs)

    @property
    def differing(self) -> tuple[PlacementPair, ...]:
        """The pods that are not on the same node."""
        return tuple(pair for pair in self.pairs if pair.verdict != SAME)

    def text(self) -> str:
        """Return a one-line summary."""
        of = len(self.pairs)
        summary = f"{self.count(SAME):,} of {of:,} pod{'s' * (of != 1)} placed as recorded"
        differing = self.differing
        if not differing:
            return summary
        pod, ours = differing[0].recorded, differing[0].placement
        counts = ", ".join(f"{count:,} {one}" for one in (OTHER, NOT_PLACED) if (count := self.count(one)))
        where = f"{ours.node} here, in step {ours.step}" if ours is not None else "not placed here"
        return f"{summary}, {counts}; first difference: {pod.pod} on {pod.node} as recorded, {where}"


def agreement(
    recorded: Mapping[str, Sequence[Recorded]], placements: Iterable[RecordedPlacement]
) -> Agreement | None:
    """Compare the placements of a run with the recorded ones; ``None`` if nothing is recorded.

    Pods that were bound from the start do not count: no scheduler placed them.
    """
    wanted = [one for several in recorded.values() for one in several if one.node and not one.bound]
    if not wanted:
        return None
    ours: dict[str, list[RecordedPlacement]] = {}
    for placement in placements:
        ours.setdefault(placement.pod, []).append(placement)
    wanted.sort(key=lambda one: one.since if one.seconds is None else one.seconds)
    return Agreement(tuple(PlacementPair(one, _last(one, ours.get(one.pod, ()))) for one in wanted))


def _last(one: Recorded, ours: Iterable[RecordedPlacement]) -> RecordedPlacement | None:
    """Return the last placement of a pod in its recorded lifetime."""
    return next((p for p in reversed([*ours]) if one.since <= p.time < one.until), None)
