"""Where walks end for classes of pods of which only the node's own columns matter: no node is scored.

What repeats a recorded decision knows the node, and lacks only where the next walk begins.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from scheduler_core.forks import Copier, Forkable, emptied, same
from scheduler_core.schedulers.columns.pairs import totals
from scheduler_core.schedulers.v1_37.class_filters import ClassFilters
from scheduler_core.schedulers.v1_37.filters import feasible_wanted
from scheduler_core.schedulers.v1_37.nodes import Ints, NodeTable, Rows
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.plugins.node_resources_fit import NOW, room_of
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration, KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.reuse import state_of
from scheduler_core.schedulers.v1_37.state import ClusterState

MOST_CELLS = 2_000_000
"""Classes times nodes that are kept."""


class ClassWalk(ClassFilters):
    """The walks of one class of pods, on node objects that do not change."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.usable = self.usable and self.looks_at_nodes_alone()
        if not self.usable:
            return
        ctx.pod.compile()
        self.rows: Rows = ctx.nodes.order
        self.wanted = feasible_wanted(ctx.profile.percentage, len(self.rows))
        if self.wanted < len(self.rows):
            self.place = ctx.nodes.places()
            self.static = self._passing(self.rows)
            self.have_room = room_of(ctx)
            self.feasible = self.static & self.have_room(self.rows, NOW)
            self.position = ctx.cluster.log.end

    def end(self, start: int) -> int | None:
        """Return the index of the node that the walk after one from ``start`` begins with.

        ``None`` if no such walk can begin there.
        """
        if self.wanted >= len(self.rows):
            return start
        self.catch_up()
        near = self.feasible[start : start + 2 * self.wanted].nonzero()[0]  # most walks end there
        if len(near) > self.wanted:
            return start + int(near[self.wanted])
        places = self.feasible.nonzero()[0]
        if start >= len(self.rows) or not len(places):
            return None
        if len(places) <= self.wanted:
            return start
        return int(places[(int(places.searchsorted(start)) + self.wanted) % len(places)])

    def catch_up(self) -> None:
        """Look again at the nodes that pods came to or left since the last walk."""
        log, since = self.ctx.cluster.log, self.position
        self.position = log.end
        places = np.arange(len(self.rows)) if since < log.start else self.place[log.rows(since)]
        places = places[places >= 0]
        if len(places):
            self.feasible[places] = self.static[places] & self.have_room(self.rows[places], NOW)


class _ForeseenWalk:
    """The walks of a class while pods are placed that hold nothing on rows but resources.

    ``rows`` are those of the pods' nodes, ``held`` what pods hold there after each of them.
    """

    def __init__(self, walk: ClassWalk, rows: Rows, held: Mapping[str, Ints]) -> None:
        self._wanted, self._number = walk.wanted, len(walk.rows)
        if self._wanted >= self._number:
            return
        walk.catch_up()
        self._places: list[int] = walk.feasible.nonzero()[0].tolist()
        places = walk.place[rows]
        full = np.flatnonzero((places >= 0) & walk.feasible[places] & ~walk.have_room(rows, held))
        _, firsts = np.unique(places[full], return_index=True)
        full = np.sort(full[firsts])
        self._full = deque(zip(full.tolist(), places[full].tolist()))

    def end(self, start: int, cycle: int) -> int | None:
        """Return what :meth:`ClassWalk.end` does once the pods before ``cycle`` are placed."""
        if self._wanted >= self._number:
            return start
        places, full = self._places, self._full
        while full and full[0][0] < cycle:
            del places[bisect_left(places, full.popleft()[1])]
        if start >= self._number or not places:
            return None
        if len(places) <= self._wanted:
            return start
        return places[(bisect_left(places, start) + self._wanted) % len(places)]


def starts_after(
    start: int, walks: Sequence[ClassWalk], pods: Sequence[CompiledPod], rows: Rows
) -> list[int]:
    """Return where the next walk begins after each of some cycles, up to one that cannot be foreseen.

    Each places a pod, of the class of its walk, on a row. Of several none has a share of a GPU.
    """
    held = _held_after(pods, rows, walks[0].ctx.nodes) if len(walks) > 1 else {}
    foreseen: dict[int, _ForeseenWalk] = {}
    starts: list[int] = []
    for cycle, walk in enumerate(walks):
        if len(walks) == 1:
            end = walk.end(start)
        else:
            known = foreseen.get(id(walk)) or foreseen.setdefault(id(walk), _ForeseenWalk(walk, rows, held))
            end = known.end(start, cycle)
        if end is None:
            break
        start = end
        starts.append(end)
    return starts


def _held_after(pods: Sequence[CompiledPod], rows: Rows, nodes: NodeTable) -> dict[str, Ints]:
    """Return what pods hold on each row once a pod is placed there, by resource; their number as "pods"."""
    names = set().union(*(pod.held for pod in pods)) - {"pods"}
    held = {
        name: nodes.column(nodes.requested, name)[rows]
        + totals(rows, np.array([pod.held.get(name, 0) for pod in pods], np.int64))
        for name in names
    }
    return {**held, "pods": nodes.pod_counts[rows] + totals(rows, np.ones(len(rows), np.int64))}


class ClassWalks(Forkable):
    """The walks of the classes of a cluster's pods, made when they are asked for."""

    FORKED: ClassVar[Mapping[str, Copier]] = {"_configuration": same, "_kept": emptied}

    def __init__(self, cluster: ClusterState, configuration: CompiledConfiguration) -> None:
        self._cluster = cluster
        self._configuration = configuration
        self._kept: dict[tuple[Any, ...], ClassWalk] = {}
        self._state: tuple[Any, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Store as empty for the stored cluster."""
        return ClassWalks, (self._cluster, self._configuration)

    def renew(self) -> bool:
        """Drop what has changed with other objects; return whether any pod's walk looks at nodes alone."""
        cluster = self._cluster
        cluster.nodes.refresh()
        state = cluster.nodes.version, *state_of(cluster)
        if state != self._state:
            self._kept.clear()
            self._state = state
        classes = cluster.classes
        return bool(len(cluster.nodes.order)) and not (classes.with_affinity or classes.with_required_anti)

    def find(self, pod: CompiledPod, profile: KubeSchedulerProfile) -> ClassWalk | None:
        """Return the walks of a pod's class, ``None`` if they cannot be known without a full attempt."""
        if not profile.points["score"] or profile.unprepared or pod.affinity.required_anti:
            return None
        key = pod.spec_key
        walk = self._kept.get(key)
        if walk is None:
            if (len(self._kept) + 1) * len(self._cluster.nodes.order) > MOST_CELLS:
                self._kept.clear()
            ctx = Context(pod, self._cluster, profile, self._configuration)
            walk = self._kept[key] = ClassWalk(ctx)
        elif pod is not walk.ctx.pod:
            pod.share_compiled(walk.ctx.pod)
        return walk if walk.usable else None
