"""What pods of one class share: verdicts and scores of all nodes, updated for added and removed pods.

It serves untraced attempts, and only where every plugin that takes part is one of those below; for the others
:meth:`Reuse.choose` declines and the attempt is made in full. Arrays are in the order of the walk.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.schedulers.v1_37.filtering import feasible_wanted
from scheduler_core.schedulers.v1_37.nodes import Ints, Mask, Rows
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.plugins.image_locality import image_name
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import (
    HOSTNAME,
    SOFT,
    TopologySpreadConstraint,
    constraints_of,
    counted_by_row,
    eligible_rows,
    rounded,
    turned,
    weighted,
)
from scheduler_core.schedulers.v1_37.plugins.table import DECLARED, PLUGINS
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration, KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.selecting import select
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import SKIP, SUCCESS

MAX_CLASSES = 64
MAX_NUMBERS = 4096

_SPREAD, _AFFINITY, _FIT, _IMAGES = (
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesFit",
    "ImageLocality",
)
_STATIC_FILTERS = tuple(row.key for row in DECLARED if row.reuse.filter == "nodes")
_STATIC_SCORES = tuple(row.key for row in DECLARED if row.reuse.score == "nodes")
_ROW_SCORES = tuple(row.key for row in DECLARED if row.reuse.score == "requests")
_FOLLOWED = {row.key for row in DECLARED if row.reuse.filter}
_SCORED = {row.key for row in DECLARED if row.reuse.score}
_KINDS = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet", "Namespace")
"""Objects besides nodes and pods that the answers depend on."""


class Reuse:
    """The classes of pods that were seen last."""

    def __init__(self, cluster: ClusterState, configuration: CompiledConfiguration) -> None:
        self._cluster = cluster
        self._configuration = configuration
        self._classes: OrderedDict[tuple[Any, ...], _Shared] = OrderedDict()

    def choose(self, pod: CompiledPod, profile: KubeSchedulerProfile, start: int) -> tuple[int, int] | None:
        """Return the chosen row and the next start index; None if the attempt is to be made in full."""
        cluster = self._cluster
        if cluster.classes.with_affinity or not len(cluster.nodes.order) or not profile.points["score"]:
            return None
        if profile.unprepared:
            return None
        state = (
            cluster.nodes.version,
            cluster.nodes.order_version,
            tuple(cluster.versions.get(kind, 0) for kind in _KINDS),
        )
        shared = self._classes.get(pod.spec_key)
        if shared is None or shared.state != state or not shared.catch_up():
            ctx = Context(pod, cluster, profile, self._configuration)
            shared = self._classes[pod.spec_key] = _Shared(ctx, state)
            if len(self._classes) > MAX_CLASSES:
                self._classes.popitem(last=False)
        self._classes.move_to_end(pod.spec_key)
        return shared.choose(start) if shared.usable else None


@dataclass
class _Soft:
    """A soft spreading constraint: matching pods by place for the hostname, else by value."""

    constraint: TopologySpreadConstraint
    ids: Ints
    eligible: Mask | None
    counts: NDArray[np.float64]
    values: int
    domains: int
    """Number of values over all places."""


class _Shared:
    """One class of pods on one state of the node objects."""

    def __init__(self, ctx: Context, state: tuple[Any, ...]) -> None:
        self.ctx = ctx
        self.state = state
        self.position = ctx.cluster.log.end
        self.usable = self._prepare()
        if self.usable:
            self._build()

    # Building.

    def _prepare(self) -> bool:
        """Run PreFilter; return whether every plugin that takes part is followed here."""
        ctx, pod = self.ctx, self.ctx.pod
        if pod.volumes or pod.resource_claims or pod.host_ports:
            return False
        if pod.affinity.required or pod.affinity.preferred or pod.affinity.preferred_anti:
            return False
        if not {_FIT, _SPREAD, _AFFINITY} <= set(ctx.profile.points["filter"]):
            return False
        if not _SCORED.issuperset(ctx.profile.points["score"]):
            return False
        for key in ctx.profile.points["preFilter"]:
            status, names = PLUGINS[key].pre_filter(ctx)
            if status.code not in (SUCCESS, SKIP) or names is not None:
                return False
            if status.code == SKIP:
                ctx.skipped.add(key)
        return set(ctx.profile.points["filter"]) - ctx.skipped <= _FOLLOWED

    def _build(self) -> None:
        ctx, nodes, rows = self.ctx, self.ctx.nodes, self.ctx.nodes.order
        self.rows: Rows = rows
        self.ids: dict[str, Rows] = {}
        self.counted_by: dict[tuple[Any, ...], list[bool]] = {}
        self.place = np.full(nodes.capacity, -1, np.intp)
        self.place[rows] = np.arange(len(rows))
        self.static = np.ones(len(rows), np.bool_)
        for key in _STATIC_FILTERS:
            asked = ctx.profile.has(key, "filter") and key not in ctx.skipped
            codes = PLUGINS[key].filter(ctx, rows) if asked else None
            if codes is not None:
                self.static &= codes == 0
        scoring = [
            key
            for key in ctx.profile.points["score"]
            if not ctx.profile.has(key, "preScore")
            or key == _SPREAD
            or PLUGINS[key].pre_score(ctx, rows).code != SKIP
        ]
        images = (c.get("image") or "" for c in (*ctx.pod.containers, *ctx.pod.init_containers))
        known = any(image_name(image) in nodes.images for image in images)
        self.row_scores = [key for key in _ROW_SCORES if key in scoring]
        self.images = known and _IMAGES in scoring
        self.raw = {key: PLUGINS[key].score(ctx, rows) for key in _STATIC_SCORES if key in scoring}
        self.raw = {key: raw for key, raw in self.raw.items() if raw.any()}
        self.memo: dict[tuple[int, ...], tuple[bool, int]] = {}
        codes = PLUGINS[_FIT].filter(ctx, rows)
        self.feasible = self.static if codes is None else self.static & (codes == 0)
        self.plain = np.zeros(len(rows), np.int64)
        for key in (*self.row_scores, *((_IMAGES,) if self.images else ())):
            self.plain += ctx.profile.weights[key] * PLUGINS[key].score(ctx, rows)
        self.soft: list[_Soft] = self._soft() if _SPREAD in scoring else []
        self.normalized = self._normalized(None)

    def _soft(self) -> list[_Soft]:
        ctx, out = self.ctx, []
        for constraint in constraints_of(ctx, SOFT):
            column = ctx.nodes.label(constraint.key)
            ids = column.ids[self.rows]
            if (ids < 0).any():
                self.usable = False
            by_row = counted_by_row(ctx, constraint)[self.rows]
            eligible = eligible_rows(ctx, constraint)
            eligible = None if eligible is None else eligible[self.rows]
            counts = by_row
            if constraint.key != HOSTNAME and self.usable:
                here = slice(None) if eligible is None else eligible
                counts = np.bincount(ids[here], by_row[here], len(column.values)).astype(np.int64)
            domains = int(np.count_nonzero(np.bincount(ids))) if self.usable else 0
            as_floats = counts.astype(np.float64)
            out.append(_Soft(constraint, ids, eligible, as_floats, len(column.values), domains))
        return out

    # Following the pods.

    def catch_up(self) -> bool:
        """Apply what came and went since the last attempt; False if that is no longer known."""
        log = self.ctx.cluster.log
        entries = log.since(self.position)
        if entries is None:
            return False
        if self.usable and entries:
            if len(entries) > len(self.rows):
                return False
            for row, pod, sign in entries:
                place = int(self.place[row])
                if place >= 0:
                    self._follow(place, row, pod, sign)
            for place in {int(self.place[row]) for row, _, _ in entries}:
                if place >= 0:
                    self._renew(place)
        self.position = log.end
        return True

    def _follow(self, place: int, row: int, pod: CompiledPod, sign: int) -> None:
        """Count a pod in or out for the rules on other pods."""
        ctx = self.ctx
        PLUGINS[_AFFINITY].update(ctx, ctx.states[_AFFINITY], pod, row, sign)
        if pod.terminating or pod.namespace != ctx.pod.namespace:
            return
        if _SPREAD not in ctx.skipped:
            PLUGINS[_SPREAD].update(ctx, ctx.states[_SPREAD], pod, row, sign)
        if not self.soft:
            return
        counted = self.counted_by.get(pod.class_key)
        if counted is None:
            selectors = [soft.constraint.selector for soft in self.soft]
            counted = self.counted_by[pod.class_key] = [
                not s.empty and s.matches(pod.labels) for s in selectors
            ]
        for soft, counts in zip(self.soft, counted, strict=True):
            if not counts:
                continue
            if soft.constraint.key == HOSTNAME:
                soft.counts[place] += sign
            elif soft.eligible is None or soft.eligible[place]:
                soft.counts[soft.ids[place]] += sign

    def _renew(self, place: int) -> None:
        """Evaluate again what depends on the requests of a row's pods."""
        ctx, row = self.ctx, int(self.rows[place])
        key = ctx.nodes.numbers(row)
        found = self.memo.get(key)
        here = self.rows[place : place + 1]
        if found is None:
            score = sum(ctx.profile.weights[k] * int(PLUGINS[k].score(ctx, here)[0]) for k in self.row_scores)
            found = PLUGINS[_FIT].filter(ctx, here) is None, score
            if len(self.memo) >= MAX_NUMBERS:
                self.memo.clear()
            self.memo[key] = found
        fits, score = found
        if self.images:
            score += ctx.profile.weights[_IMAGES] * int(PLUGINS[_IMAGES].score(ctx, here)[0])
        self.feasible[place] = fits and self.static[place]
        self.plain[place] = score

    # Deciding.

    def choose(self, start: int) -> tuple[int, int] | None:
        """Return the chosen row and the next start index; None if no node is feasible."""
        mask = self._admitted()
        places: Rows | None = None
        number = len(self.rows)
        wanted = feasible_wanted(self.ctx.profile.percentage, number)
        end = start
        if start or wanted < number or not mask.all():
            places = np.flatnonzero(mask)
            if not len(places):
                return None
            cut = int(np.searchsorted(places, start))
            places = np.concatenate((places[cut:], places[:cut])) if cut else places
            if len(places) > wanted:
                end = int(places[wanted])
                places = places[:wanted]
            if len(places) == 1:
                return int(self.rows[places[0]]), end
        elif number == 1:
            return int(self.rows[0]), end
        totals = self._totals(places)
        best = select(totals)
        return int(self.rows[best if places is None else places[best]]), end

    def _admitted(self) -> Mask:
        """Return which places pass every filter."""
        ctx, mask = self.ctx, self.feasible
        if _SPREAD not in ctx.skipped:
            for spread in ctx.states[_SPREAD]:
                fits = spread.matches + spread.self_match - spread.least() <= spread.constraint.max_skew
                mask = mask & np.append(fits, False)[self._ids(spread.constraint.key)]
        state = ctx.states[_AFFINITY]
        for key in {*state.anti, *state.existing}:
            tables = [
                table <= 0 for table in (state.anti.get(key), state.existing.get(key)) if table is not None
            ]
            free = tables[0] if len(tables) == 1 else tables[0] & tables[1]
            mask = mask & free[self._ids(key)]
        return mask

    def _ids(self, key: str) -> Rows:
        """Return the label's values at each place; they stay while the node objects do."""
        found = self.ids.get(key)
        if found is None:
            found = self.ids[key] = self.ctx.nodes.label(key).ids[self.rows]
        return found

    def _normalized(self, places: Rows | None) -> Ints | None:
        """Return the weighted scores that depend on node objects alone, scaled among the feasible nodes."""
        total: Ints | None = None
        for key, raw in self.raw.items():
            own = raw if places is None else raw[places]
            rows = self.rows if places is None else self.rows[places]
            scores = self.ctx.profile.weights[key] * PLUGINS[key].normalize(self.ctx, rows, own)
            total = scores if total is None else total + scores
        return total

    def _totals(self, places: Rows | None) -> Ints:
        """Return the totals of the places, up to what is the same for all of them."""
        totals = self.plain if places is None else self.plain[places]
        normalized = self.normalized if places is None else self._normalized(places)
        if normalized is not None:
            totals = totals + normalized
        if self.soft:
            raw = self._spread(places)
            most, least = int(raw.max()), int(raw.min())
            totals = totals + self.ctx.profile.weights[_SPREAD] * turned(raw, most, least)
        return totals

    def _spread(self, places: Rows | None) -> Ints:
        total: NDArray[np.float64] | None = None
        number = len(self.rows) if places is None else len(places)
        for soft in self.soft:
            ids = soft.ids if places is None else soft.ids[places]
            if soft.constraint.key == HOSTNAME:
                weight = math.log(number + 2)
                counts = soft.counts if places is None else soft.counts[places]
                own = weighted(counts, weight, soft.constraint.max_skew)
            else:
                domains = soft.domains
                if places is not None:
                    domains = int(np.count_nonzero(np.bincount(ids, minlength=soft.values)))
                weight = math.log(domains + 2)
                own = weighted(soft.counts, weight, soft.constraint.max_skew)[ids]
            total = own if total is None else total + own
        assert total is not None
        return rounded(total)
