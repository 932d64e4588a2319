"""What pods of one class share: verdicts and scores of all nodes, updated for added and removed pods.

It serves untraced attempts, and only where every plugin that takes part is one of those below; for the others
:meth:`Reuse.choose` declines and the attempt is made in full. Arrays are in the order of the walk.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import dataclass
from dataclasses import replace as _replace
from functools import cache
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from scheduler_core.forks import Memo, copied
from scheduler_core.record.choice import ChoiceCounts
from scheduler_core.schedulers.columns import alike as nodes_alike
from scheduler_core.schedulers.columns.alike import AlikeNodes
from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.schedulers.v1_37.filters import feasible_wanted
from scheduler_core.schedulers.v1_37.node_choice import in_order, select
from scheduler_core.schedulers.v1_37.nodes import Ints, Mask, Rows
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.plugins.image_locality import image_name
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import (
    HARD,
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
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration, KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.row_memo import FEW_CHANGED, MAX_NUMBERS
from scheduler_core.schedulers.v1_37.signatures import unsigned_because
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import SKIP, SUCCESS

MIN_CLASSES = 64
MAX_CELLS = 400_000
"""Classes times nodes; so many are kept, though not fewer than ``MIN_CLASSES`` classes."""

_SPREAD, _AFFINITY, _FIT, _IMAGES = (
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesFit",
    "ImageLocality",
)
_NOWHERE = ClusterState()
_KINDS = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet", "Namespace", "DeviceClass")
"""Objects besides nodes and pods that the answers depend on."""


class _Kept(Struct, frozen=True):
    """The plugins of a release by what is kept of them (:class:`.plugins.declaration.Reused`)."""

    static_filters: tuple[str, ...]
    static_scores: tuple[str, ...]
    row_scores: tuple[str, ...]
    followed: frozenset[str]
    scored: frozenset[str]


@cache
def _kept(dialect: Dialect) -> _Kept:
    rows = dialect.declared
    return _Kept(
        tuple(row.key for row in rows if row.reuse.filter == "nodes"),
        tuple(row.key for row in rows if row.reuse.score == "nodes"),
        tuple(row.key for row in rows if row.reuse.score == "requests"),
        frozenset(row.key for row in rows if row.reuse.filter),
        frozenset(row.key for row in rows if row.reuse.score),
    )


class Chosen(Struct, frozen=True):
    """What an untraced attempt came to: rows are in the order of the walk."""

    row: int
    start: int
    """Index of the node that the next walk begins with."""
    walked: Rows
    feasible: Rows
    totals: Ints | Callable[[], Ints] | None
    """The totals of the feasible rows; None if there is but one, or if the node was given."""
    counts: ChoiceCounts | None = None
    """The choice in numbers, if they are known without the totals."""


class Reuse:
    """The classes of pods that were seen last."""

    def __init__(self, cluster: ClusterState, configuration: CompiledConfiguration) -> None:
        self._cluster = cluster
        self._configuration = configuration
        self._classes: OrderedDict[tuple[Any, ...], _Shared] = OrderedDict()
        self._state: tuple[Any, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Store as an empty one for the stored cluster."""
        return Reuse, (self._cluster, self._configuration)

    def __deepcopy__(self, memo: Memo) -> Reuse:
        """Return one for the copied cluster; classes that are up to date are shared until one changes."""
        made = memo[id(self)] = Reuse(copied(self._cluster, memo), copied(self._configuration, memo))
        made._state = self._state
        for key, shared in self._classes.items():
            if shared.is_lent or shared.lend():
                made._classes[key] = shared
        return made

    def catch_up(self) -> None:
        """Bring all classes up to date, so that a copy need not begin anew."""
        self._drop_outdated()
        for key in list(self._classes):
            shared = self._own(key)
            if not shared.catch_up():
                del self._classes[key]
            elif shared.usable:
                shared.rescore_stale()

    def _drop_outdated(self) -> None:
        """Drop the classes if what they all depend on has changed."""
        cluster = self._cluster
        state = cluster.nodes.structure, *[cluster.versions.get(kind, 0) for kind in _KINDS]
        if state != self._state:
            self._classes.clear()
            self._state = state

    def _own(self, key: tuple[Any, ...]) -> _Shared:
        """Return a class that nobody else changes."""
        shared = self._classes[key]
        if shared.is_lent:
            shared = self._classes[key] = shared.copied(self._cluster)
        return shared

    def choose(
        self, pod: CompiledPod, profile: KubeSchedulerProfile, start: int, given: int | None = None
    ) -> Chosen | None:
        """Choose a row from a walk that begins at ``start``; None if the attempt is to be made in full.

        ``given`` is the row that a recorded decision chose, which is then not searched for.
        """
        cluster = self._cluster
        if cluster.classes.with_affinity or not len(cluster.nodes.order) or not profile.points["score"]:
            return None
        if profile.unprepared:
            return None
        self._drop_outdated()
        key = pod.spec_key
        shared = self._own(key) if key in self._classes else None
        if shared is None or not shared.catch_up():
            shared = self._classes[key] = _Shared(Context(pod, cluster, profile, self._configuration))
            if len(self._classes) > max(MIN_CLASSES, MAX_CELLS // len(cluster.nodes.order)):
                self._classes.popitem(last=False)
        self._classes.move_to_end(key)
        if not shared.usable:
            return None
        pod.share_compiled(shared.ctx.pod)
        vars(pod)["spec_key"] = shared.ctx.pod.spec_key
        return shared.choose(start, given)


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


class _Counted(Struct, frozen=True):
    """What pods of a class on nodes count for: for required terms, and for the soft constraints, in order."""

    terms: bool
    spread: bool
    soft: tuple[bool, ...]


class _Shared:
    """One class of pods on nodes of one structure."""

    is_lent = False
    """Whether copies of the cluster share it: whoever goes on with it copies it first."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.plugins, self.kept = ctx.plugins, _kept(ctx.configuration.dialect)
        self.position = ctx.cluster.log.end
        self.version = ctx.nodes.version
        self.usable = self._prepare()
        if self.usable:
            self._build()

    # Building.

    def _prepare(self) -> bool:
        """Run PreFilter; return whether every plugin that takes part is followed here."""
        ctx, pod = self.ctx, self.ctx.pod
        if pod.volumes or pod.spec.get("resourceClaims") or pod.resource_claims or pod.host_ports:
            return False
        if pod.affinity.required or pod.affinity.preferred or pod.affinity.preferred_anti:
            return False
        if not {_FIT, _SPREAD, _AFFINITY} <= set(ctx.profile.points["filter"]):
            return False
        if not self.kept.scored.issuperset(ctx.profile.points["score"]):
            return False
        if not unsigned_because(pod, ctx.profile):  # batching needs the scores of each plugin
            return False
        for key in ctx.profile.points["preFilter"]:
            if not self.plugins[key].of_class:
                return False
            status, names = self.plugins[key].pre_filter(ctx)
            if status.code not in (SUCCESS, SKIP) or names is not None:
                return False
            if status.code == SKIP:
                ctx.skipped.add(key)
        return set(ctx.profile.points["filter"]) - ctx.skipped <= self.kept.followed

    def _build(self) -> None:
        self.ctx.pod.compile()  # for the others of the class
        ctx, nodes, rows = self.ctx, self.ctx.nodes, self.ctx.nodes.order
        self.rows: Rows = rows
        self.everywhere = np.arange(len(rows))
        self.honors_taints = any(
            constraint.honors_taints for kind in (HARD, SOFT) for constraint in constraints_of(ctx, kind)
        )
        self.ids: dict[str, Rows] = {}
        self.counted_by: dict[int, _Counted | None] = {}
        self.place: Rows = nodes.mask(("place", nodes.order_version), self._places)
        self.static = self._passing(rows)
        scoring = [
            key
            for key in ctx.profile.points["score"]
            if not ctx.profile.has(key, "preScore")
            or key == _SPREAD
            or self.plugins[key].pre_score(ctx, rows).code != SKIP
        ]
        images = (c.get("image") or "" for c in (*ctx.pod.containers, *ctx.pod.init_containers))
        known = any(image_name(image) in nodes.images for image in images)
        self.row_scores = [key for key in self.kept.row_scores if key in scoring]
        self.row_scores += [_IMAGES] if known and _IMAGES in scoring else []
        self.raw = {
            key: self.plugins[key].score(ctx, rows) for key in self.kept.static_scores if key in scoring
        }
        self.level = [key for key, raw in self.raw.items() if not raw.any()]
        self.even = sum(self._weighted(key, rows[:1], self.raw.pop(key)[:1]) for key in self.level)
        codes = self.plugins[_FIT].filter(ctx, rows)
        self.feasible = self.static.copy() if codes is None else self.static & (codes == 0)
        self.by_numbers: dict[Hashable, dict[Hashable, tuple[bool, int]]] = {}
        """By the columns there are and a row's numbers: room and score. Copies share it."""
        self.plain = np.zeros(len(rows), np.int64)
        self.stale = np.ones(len(rows), np.bool_)
        self.soft: list[_Soft] = self._soft() if _SPREAD in scoring else []
        self.alike: AlikeNodes | None = None
        self.choices = 0  # until nodes are compared; -1 for never
        self.listed: tuple[Rows, Rows, Rows] = (rows[:0], rows, rows)
        self.normalized = self._normalized(None)

    def _passing(self, rows: Rows) -> Mask:
        """Return which rows pass the filters that depend on node objects alone."""
        ctx, out = self.ctx, np.ones(len(rows), np.bool_)
        for key in self.kept.static_filters:
            asked = ctx.profile.has(key, "filter") and key not in ctx.skipped
            codes = self.plugins[key].filter(ctx, rows) if asked else None
            if codes is not None:
                out &= codes == 0
        return out

    def _places(self) -> Rows:
        """Return the place of each row in the walk, -1 for a row that is not in it."""
        out = np.full(self.ctx.nodes.capacity, -1, np.intp)
        out[self.rows] = np.arange(len(self.rows))
        return out

    def _weighted(self, key: str, rows: Rows, raw: Ints) -> Ints:
        """Return a plugin's weighted scores of rows with these raw scores."""
        out: Ints = self.ctx.profile.weights[key] * self.plugins[key].normalize(self.ctx, rows, raw)
        return out

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

    # Copies.

    def lend(self) -> bool:
        """Let copies of the cluster share it from now on; return False if it is not up to date."""
        ctx = self.ctx
        if self.position != ctx.cluster.log.end or self.version != ctx.nodes.version:
            return False
        self.is_lent = True
        self.ctx = replace(ctx, cluster=_NOWHERE)  # who shares it does not keep this cluster in memory
        return True

    def copied(self, cluster: ClusterState) -> _Shared:
        """Return an independent copy for a copy of the cluster."""
        made, ctx = copy(self), self.ctx
        made.is_lent = False
        states = {key: self._state_copied(key, state) for key, state in ctx.states.items()}
        made.ctx = replace(ctx, cluster=cluster, states=states)
        if self.usable:
            for name in ("static", "feasible", "plain", "stale", "ids"):
                setattr(made, name, getattr(self, name).copy())
            made.raw = {key: raw.copy() for key, raw in self.raw.items()}
            made.soft = [_replace(one, counts=one.counts.copy()) for one in self.soft]
            made.alike, made.choices = None, min(made.choices, 0)
            made.counted_by = {}  # the copied log numbers classes anew
        return made

    def _state_copied(self, key: str, state: Any) -> Any:
        plugin = self.plugins.get(key)
        return state if plugin is None else plugin.copy_state(state)

    # Following the pods.

    def catch_up(self) -> bool:
        """Apply what has changed since the last attempt; False if that cannot be followed."""
        return self._follow_nodes() and self._follow_pods()

    def _follow_nodes(self) -> bool:
        """Evaluate again the rows whose nodes have other taints or amounts; False if more depends on them."""
        nodes, since = self.ctx.nodes, self.version
        self.version = nodes.version
        if since == nodes.version or not self.usable:
            return True
        if self.honors_taints:
            return False
        places = self.place[np.flatnonzero(nodes.changed_at > since)]
        places = places[places >= 0]
        rows = self.rows[places]
        if any(self.plugins[key].score(self.ctx, rows).any() for key in self.level):
            return False
        self._part()
        self.static[places] = self._passing(rows)
        for key, raw in self.raw.items():
            raw[places] = self.plugins[key].score(self.ctx, rows)
        self.normalized = self._normalized(None)
        self._renew(places.tolist())
        return True

    def _follow_pods(self) -> bool:
        """Apply what came and went; False if that is no longer known."""
        log, position = self.ctx.cluster.log, self.position
        entries = log.since(position)
        if entries is None:
            return False
        self.position = log.end
        if not self.usable or not entries:
            return True
        classes = log.classes(position)
        counting = {number for number in set(classes) if self._counts(number, classes, entries)}
        for number, (row, pod, sign) in zip(classes, entries) if counting else ():
            counts = self.counted_by[number]
            if counts is not None and self.place[row] >= 0:
                self._follow(counts, row, pod, sign)
        places = [self.place.item(row) for row in set(log.rows(position))]
        changed = [place for place in places if place >= 0]
        self._renew(changed)
        if self.alike is not None and len(changed) > nodes_alike.MOST_CHANGED:
            self._part()
        elif self.alike is not None:
            self._rescore(np.array([place for place in changed if self.stale[place]], np.intp))
            self.alike.renew(changed)
        return True

    def _counts(
        self, number: int, classes: Sequence[int], entries: Sequence[tuple[int, CompiledPod, int]]
    ) -> bool:
        """Return whether pods of a class count for anything; one of the entries is of that class."""
        if number not in self.counted_by:
            _, pod, _ = entries[classes.index(number)]
            self.counted_by[number] = self._counted_by(pod)
        return self.counted_by[number] is not None

    def _counted_by(self, pod: CompiledPod) -> _Counted | None:
        """Return what a pod on a node counts for, as all pods of its class do; None for nothing."""
        ctx = self.ctx
        terms = bool(pod.affinity.required_anti or ctx.pod.affinity.required_anti)
        if pod.terminating or pod.namespace != ctx.pod.namespace:
            return _Counted(terms, False, ()) if terms else None
        selectors = [soft.constraint.selector for soft in self.soft]
        soft = tuple(not one.empty and one.matches(pod.labels) for one in selectors)
        spread = _SPREAD not in ctx.skipped
        return _Counted(terms, spread, soft) if terms or spread or any(soft) else None

    def _follow(self, counts: _Counted, row: int, pod: CompiledPod, sign: int) -> None:
        """Count a pod in or out for the rules on other pods."""
        ctx, place = self.ctx, self.place[row]
        if counts.terms:
            self.plugins[_AFFINITY].update(ctx, ctx.states[_AFFINITY], pod, row, sign)
        if counts.spread:
            self.plugins[_SPREAD].update(ctx, ctx.states[_SPREAD], pod, row, sign)
        for soft, counted in zip(self.soft, counts.soft):
            if not counted:
                continue
            if soft.constraint.key == HOSTNAME:
                soft.counts[place] += sign
            elif soft.eligible is None or soft.eligible[place]:
                soft.counts[soft.ids[place]] += sign

    def _renew(self, changed: list[int]) -> None:
        """Evaluate again which of the places have room; the scores of more than a few are stale."""
        if len(changed) <= FEW_CHANGED and _IMAGES not in self.row_scores and self.ctx.nodes.shared is None:
            self._renew_by_numbers(changed)
            return
        places = np.array(changed, np.intp)
        self.feasible[places] = self.static[places] & self._have_room(places)
        self.stale[places] = True

    def _renew_by_numbers(self, places: list[int]) -> None:
        """Look places up by the numbers of their rows, which other rows may have had before."""
        nodes = self.ctx.nodes
        table = self.by_numbers.setdefault((*nodes.requested, "", *nodes.allocatable), {})
        for place in places:
            numbers = nodes.numbers(int(self.rows[place]))
            known = table.get(numbers)
            if known is None:
                if len(table) >= MAX_NUMBERS:
                    table.clear()
                here = np.array([place], np.intp)
                self._rescore(here)
                known = table[numbers] = bool(self._have_room(here)[0]), int(self.plain[place])
            room, self.plain[place] = known
            self.feasible[place] = room and self.static[place]
            self.stale[place] = False

    def _have_room(self, places: Rows) -> Mask:
        """Return which places have room for the requests."""
        with self.ctx.nodes.unkept():
            codes = self.plugins[_FIT].filter(self.ctx, self.rows[places])
        return np.ones(len(places), np.bool_) if codes is None else codes == 0

    def rescore_stale(self) -> None:
        """Evaluate again whatever has changed, whether it is asked about or not."""
        stale = self.stale.nonzero()[0]
        if len(stale):
            self._rescore(stale)

    def _rescore(self, places: Rows) -> None:
        """Evaluate again what depends on the requests of the rows' pods."""
        if not len(places):
            return
        ctx, rows = self.ctx, self.rows[places]
        total: Ints | int = self.even
        with ctx.nodes.unkept():
            for key in self.row_scores:
                total = total + ctx.profile.weights[key] * self.plugins[key].score(ctx, rows)
        self.plain[places] = total
        self.stale[places] = False

    # Deciding.

    def choose(self, start: int, given: int | None) -> Chosen | None:
        """Return the chosen row, with what the walk came to; None if no node is feasible."""
        number = len(self.rows)
        wanted = feasible_wanted(self.ctx.profile.percentage, number)
        if given is None and self._are_compared(wanted):
            return self._choose_alike(start)
        mask = self._admitted()
        places = self.everywhere if mask.all() else mask.nonzero()[0]
        if not len(places):
            return None
        if start:
            cut = int(places.searchsorted(start))
            places = np.concatenate((places[cut:], places[:cut]))
        end, walked = start, number
        if len(places) > wanted:
            end = int(places[wanted])
            walked = (end - start) % number + 1
            places = places[:wanted]
        rows = self.rows if len(places) == number and not start else self.rows[places]
        totals = None
        if given is not None:
            if self.place[given] not in places:
                return None
            row = given
        elif len(places) == 1:
            row = int(rows[0])
        else:
            totals = self._totals(None if rows is self.rows else places)
            row = int(rows[select(totals)])
        return Chosen(row, end, self._walk(start, walked), rows, totals)

    # Deciding among nodes that are alike.

    def _looks_at_nodes_alone(self) -> bool:
        """Return whether filters look at no more than each node."""
        state = self.ctx.states[_AFFINITY]
        return _SPREAD in self.ctx.skipped and not state.anti and not state.existing

    def _part(self) -> None:
        """Compare the nodes again before long."""
        self.alike, self.choices = None, min(self.choices, 0)

    def _are_compared(self, wanted: int) -> bool:
        """Return whether nodes that are alike are known, of all that are feasible."""
        number = len(self.rows)
        if (
            self.choices < 0
            or wanted < number
            or number <= nodes_alike.SCORED_ALONE
            or not self._looks_at_nodes_alone()
        ):
            return False
        if self.alike is None:
            self.choices += 1
            if self.choices > nodes_alike.CHOSEN_ALONE:
                self._compare()
        return self.alike is not None

    def _compare(self) -> None:
        """Find the nodes that are alike; too few of them are not worth it."""
        self._rescore(self.stale.nonzero()[0])
        counts = [soft.counts if soft.constraint.key == HOSTNAME else soft.ids for soft in self.soft]
        columns = [self.plain, *self.raw.values(), *counts]
        alike = AlikeNodes(columns, self.feasible, lambda places: places[in_order(len(places))])
        if alike.are_few:
            self.alike = alike
        else:
            self.choices = -1

    def _choose_alike(self, start: int) -> Chosen | None:
        """Choose as :meth:`choose` does, by one node of those that are alike."""
        alike = self.alike
        assert alike is not None
        alike.begin(start)
        number = len(alike.places)
        if not number:
            return None
        _, walked, feasible = self._listed(start)
        if number == 1:
            return Chosen(int(feasible[0]), start, walked, feasible, None)
        numbers, places = alike.different()
        totals = self._totals(places, number)
        best = totals.max()
        tied = (totals == best).nonzero()[0]
        row = int(self.rows[alike.foremost(places[tied])])
        counts = ChoiceCounts(number, int(best), int(alike.sizes(numbers[tied]).sum()))
        return Chosen(row, start, walked, feasible, alike.spread(numbers, totals), counts)

    def _listed(self, start: int) -> tuple[Rows, Rows, Rows]:
        """Return the feasible places, the rows of a whole walk, and the feasible rows in its order."""
        assert self.alike is not None
        places = self.alike.places
        if self.listed[0] is not places:
            self.listed = places, self._walk(start, len(self.rows)), self.rows[places]
        return self.listed

    def _walk(self, start: int, number: int) -> Rows:
        """Return so many rows from a place on."""
        if start + number <= len(self.rows):
            return self.rows[start : start + number]
        return np.concatenate((self.rows[start:], self.rows[: start + number - len(self.rows)]))

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
            scores = self._weighted(key, rows, own)
            total = scores if total is None else total + scores
        return total

    def _totals(self, places: Rows | None, number: int | None = None) -> Ints:
        """Return the totals of the places, of all of them in their order for None.

        ``number`` is that of the feasible places, of which these may be examples.
        """
        stale = self.stale.nonzero()[0] if places is None else places[self.stale[places]]
        if len(stale):
            self._rescore(stale)
        totals = self.plain.copy() if places is None else self.plain[places]
        normalized = self.normalized if places is None else self._normalized(places)
        if normalized is not None:
            totals += normalized
        if self.soft:
            raw = self._spread(places, number)
            most, least = int(raw.max()), int(raw.min())
            totals += self.ctx.profile.weights[_SPREAD] * turned(raw, most, least)
        return totals

    def _spread(self, places: Rows | None, number: int | None) -> Ints:
        total: NDArray[np.float64] | None = None
        if number is None:
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
