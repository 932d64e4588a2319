"""Nodes that fail below placed Workloads, and when those are scheduled again (nodeReconciler of v0.17)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from scheduler_core.cluster.kueue.issue import Issued, evicted_for_nodes
from scheduler_core.cluster.kueue.workload import ADMITTED, EVICTED, FINISHED, Workload
from scheduler_core.cluster.v1_37.objects import Manifest, ready_status, status_of
from scheduler_core.kubernetes.times import seconds_of

PATIENCE = 30
"""Seconds that a node may be not ready before it counts as failed (NodeFailureDelay)."""

MOST_TRIES = 7
"""After how many second passes their distance, a second that doubles, grows no more."""


class Writer(Protocol):
    """Who writes Workloads."""

    moment: float
    workloads: dict[str, Workload]

    @property
    def now(self) -> float:
        """The time that is written."""
        ...

    def write_issued(self, issued: Issued) -> None:
        """Write a Workload with its events."""
        ...


class NodeFailures(Struct):
    """The nodes that are not ready with the time at which they will have failed, and Workloads by the time
    of their second pass, each with how often it was tried.
    """

    failing: dict[str, float] = field(default_factory=dict)
    passes: dict[str, float] = field(default_factory=dict)
    tries: dict[str, int] = field(default_factory=dict)

    def copy(self) -> NodeFailures:
        """Return the same, to be run on apart."""
        return NodeFailures(dict(self.failing), dict(self.passes), dict(self.tries))

    def observe(self, control: Writer, name: str, node: Manifest | None) -> None:
        """Follow a node: one that is gone has failed, one that is not ready will have."""
        if node is not None and ready_status(node) == "True":
            self.failing.pop(name, None)
            _heal(control, name)
        else:
            self.failing[name] = control.moment if node is None else _since(node, control.now) + PATIENCE
            self.fail(control)

    def fail(self, control: Writer) -> None:
        """Have the Workloads placed again whose nodes have failed by now."""
        due = [name for name, at in self.failing.items() if at <= control.moment]
        for name in due:
            del self.failing[name]
            for workload in [one for one in control.workloads.values() if _holds(one, name)]:
                self._lose(control, workload, name)

    def _lose(self, control: Writer, workload: Workload, name: str) -> None:
        lost = {*workload.unhealthy, name}
        if len(lost) > 1:
            names = ", ".join(sorted(lost))
            text = (
                f"Workload eviction triggered due to multiple TAS assigned node failures, including: {names}"
            )
            control.write_issued(evicted_for_nodes(workload, text, control.now))
        elif name not in workload.unhealthy:
            control.write_issued(Issued(replace(workload, unhealthy=(name,)), ()))
            self.again(workload.key, control.moment)

    def again(self, key: str, now: float) -> None:
        """Have a Workload tried in a second pass, the later the oftener that was in vain."""
        count = self.tries.get(key, 0)
        self.tries[key] = count + 1
        self.passes[key] = now + 2 ** min(count, MOST_TRIES)

    def due(self, control: Writer) -> list[str]:
        """Return the Workloads whose second pass it is, by key."""
        keys = sorted(key for key, at in self.passes.items() if at <= control.moment)
        return [key for key in keys if _waits(control.workloads.get(key))]

    def take(self, control: Writer) -> list[Workload]:
        """Return the Workloads whose second pass it is, which are not due any more."""
        keys = self.due(control)
        self.passes = {key: at for key, at in self.passes.items() if at > control.moment}
        return [control.workloads[key] for key in keys]

    def times(self) -> Iterable[float]:
        """Yield when something is due."""
        yield from self.failing.values()
        yield from self.passes.values()


def _since(node: Manifest, now: float) -> float:
    rows = [one for one in status_of(node).get("conditions") or () if one.get("type") == "Ready"]
    since = seconds_of(rows[0].get("lastTransitionTime")) if rows else None
    return now if since is None else since


def _waits(workload: Workload | None) -> bool:
    return workload is not None and bool(workload.unhealthy) and _is_placed(workload)


def _is_placed(workload: Workload) -> bool:
    return workload.has(ADMITTED) and not workload.has(EVICTED) and not workload.has(FINISHED)


def _holds(workload: Workload, host: str) -> bool:
    """Return whether a Workload has places for its pods on a node."""
    assigned = workload.admission.pod_sets if workload.admission and _is_placed(workload) else ()
    topologies = (one.topology for one in assigned if one.topology is not None)
    return any(values[-1] == host for one in topologies for values, _ in one.domains)


def _heal(control: Writer, name: str) -> None:
    for workload in [one for one in control.workloads.values() if name in one.unhealthy]:
        left = tuple(one for one in workload.unhealthy if one != name)
        control.write_issued(Issued(replace(workload, unhealthy=left), ()))
