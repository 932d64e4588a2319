"""Several schedulers on one cluster: their delays, and how conflicts between them are resolved.

``SimulationSettings.schedulers`` has an entry for each scheduler that is not the default one without delays::

    design: side-by-side
    schedulers:
    - name: default-scheduler
      watchDelay: 0.05
      decisionTime: 0.005
      bindDelay: 0.02
    - name: kube-batch
      watchDelay: 0.1

Times are seconds of virtual time, 0 where they are left out. A scheduler decides on the state of the API
server ``watchDelay`` ago and on what it has decided since; that view is frozen for ``decisionTime``; what it
decides (bindings, evictions, statuses) arrives at the API server ``bindDelay`` after that.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Outline,
    boolean,
    enum,
    integer,
    labels,
    list_of,
    outlined,
    record,
    show,
    text,
)
from scheduler_core.settings.release import RELEASES, TIMED

SIDE_BY_SIDE: Final = "side-by-side"
NODE_POOLS: Final = "node-pools"
ONE_SCHEDULER: Final = "one-scheduler"
ARBITRATED: Final = "arbitrated"
DESIGNS = (SIDE_BY_SIDE, NODE_POOLS, ONE_SCHEDULER, ARBITRATED)
"""What separates the schedulers: nothing, their nodes, one process, or a check at the commit."""

LONGEST_DELAY = 600.0  # seconds
MOST_SCHEDULERS = 16  # processes, replicas included: each has a view of the whole cluster
KUBE_BATCH: Final = "kube-batch"
FIRMAMENT: Final = "poseidon"
NO_PREEMPTION: Final = (
    "preemption: true has no effect: Firmament's CPU-memory cost model does not implement it, and running "
    "pods never move"
)
UNLISTED = ("default-scheduler", KUBE_BATCH)
"""The schedulers that run without being listed."""
RUNNABLE = (*RELEASES, KUBE_BATCH)
"""What a scheduler of the list runs: a release of kube-scheduler, or kube-batch."""


class SchedulerSettings(Struct, frozen=True):
    """A scheduler of its own process. ``name`` is what its pods have in ``spec.schedulerName``.

    ``watch_delay``, ``decision_time`` and ``bind_delay`` are in seconds. ``nodes`` are the labels of the
    nodes that it sees, of all if there are none. ``replicas`` processes of that name run without leader
    election. ``runs`` is what it runs, "" for the one of its name. ``preemption`` is Firmament's flag, which
    has no effect.
    """

    name: str = ""
    watch_delay: float = 0.0
    decision_time: float = 0.0
    bind_delay: float = 0.0
    nodes: tuple[tuple[str, str], ...] = ()
    replicas: int = 1
    runs: str = ""
    preemption: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is as a scheduler that runs without being listed."""
        return self == SchedulerSettings(self.name) and self.name in UNLISTED

    @property
    def is_batch(self) -> bool:
        """Whether it runs kube-batch."""
        return (self.runs or self.name) == KUBE_BATCH

    @property
    def window(self) -> float:
        """Seconds from what it sees to what others may see of its decision, without their own delays."""
        return self.watch_delay + self.decision_time + self.bind_delay


def _seconds(value: Any, at: At) -> float | None:
    if type(value) not in (int, float) or not 0 <= value <= LONGEST_DELAY:
        at.error(f"must be seconds of virtual time from 0 to {LONGEST_DELAY:.0f}, not {show(value)}")
        return None
    return float(value)


outlined(_seconds, Outline("number"))


def _nodes(value: Any, at: At) -> tuple[tuple[str, str], ...] | None:
    read = labels(value, at)
    return None if read is None else tuple(sorted(read.items()))


outlined(_nodes, labels)


SCHEDULER = record(
    SchedulerSettings,
    {
        "name": Field("name", text),
        "watchDelay": Field("watch_delay", _seconds),
        "decisionTime": Field("decision_time", _seconds),
        "bindDelay": Field("bind_delay", _seconds),
        "nodes": Field("nodes", _nodes),
        "replicas": Field("replicas", integer(1, 8)),
        "runs": Field("runs", enum(*RUNNABLE)),
        "preemption": Field("preemption", boolean),
    },
)
_LIST = list_of(SCHEDULER)


def read_schedulers(value: Any, at: At) -> tuple[SchedulerSettings, ...] | None:
    """Read the list of schedulers. Errors are added to the report of ``at``."""
    read = _LIST(value, at)
    if read is None:
        return None
    found = tuple(one for one in read if isinstance(one, SchedulerSettings))
    seen: set[str] = set()
    for place, one in enumerate(found):
        here = at.child(place)
        if not one.name:
            here.error("needs a name: the schedulerName of its pods, such as default-scheduler")
        elif one.name in seen:
            here.child("name").error(f"{show(one.name)} is listed twice: replicas: 2 runs two processes")
        elif one.is_batch and one.name != KUBE_BATCH:
            here.child("runs").error(f"kube-batch serves the pods that name it: write name: {KUBE_BATCH}")
        elif one.name == KUBE_BATCH and not one.is_batch:
            here.child("runs").error(f"pods that name {KUBE_BATCH} are kube-batch's; choose another name")
        elif one.preemption and one.name != FIRMAMENT:
            here.child("preemption").error(
                f"is a flag of Firmament, which serves the pods that name {FIRMAMENT}"
            )
        elif one.preemption:
            here.child("preemption").warn(NO_PREEMPTION)
        seen.add(one.name)
    if sum(one.replicas for one in found) > MOST_SCHEDULERS:
        at.error(f"there may be at most {MOST_SCHEDULERS} schedulers, replicas included")
    return found


outlined(read_schedulers, _LIST)


def check_design(design: str, schedulers: tuple[SchedulerSettings, ...], at: At) -> None:
    """Report what a design needs of its schedulers, or does not allow, at ``at``, the settings' place."""
    for place, one in enumerate(schedulers):
        here = at.child("schedulers").child(place)
        if one.nodes and design != NODE_POOLS:
            here.child("nodes").error(f"only design: {NODE_POOLS} divides nodes: add that, or leave them out")
        if not one.nodes and design == NODE_POOLS:
            here.error(f"needs nodes, the labels of its pool, with design: {NODE_POOLS}")
        if one.replicas > 1 and design == ONE_SCHEDULER:
            here.child("replicas").error(f"there is one process with design: {ONE_SCHEDULER}; leave it out")
    if design == ONE_SCHEDULER and len({_delays(one) for one in schedulers}) > 1:
        at.child("schedulers").error(
            f"the names share one process with design: {ONE_SCHEDULER}: give all of them the same delays"
        )
    if (
        design == ONE_SCHEDULER
        and len({"" if one.is_batch else one.runs or TIMED for one in schedulers} - {""}) > 1
    ):
        at.child("schedulers").error(
            f"the names share one process with design: {ONE_SCHEDULER}: let all of them run the same release"
        )
    if design != SIDE_BY_SIDE and not schedulers:
        at.child("design").error(f"{design} needs the list of schedulers: add schedulers, each with its name")


def _delays(one: SchedulerSettings) -> tuple[float, float, float]:
    return one.watch_delay, one.decision_time, one.bind_delay
