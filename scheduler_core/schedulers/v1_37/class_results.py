"""Verdicts and scores of all nodes for one class of pods, updated for added and removed pods.

Arrays are in the order of the walk.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from msgspec import Struct

from scheduler_core.record.choice import ChoiceCounts
from scheduler_core.schedulers.v1_37.class_filters import AFFINITY, FIT, SPREAD, ClassFilters
from scheduler_core.schedulers.v1_37.filters import feasible_wanted
from scheduler_core.schedulers.v1_37.node_choice import select
from scheduler_core.schedulers.v1_37.nodes import Ints, Mask, Rows
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.plugins.image_locality import image_name
from scheduler_core.schedulers.v1_37.plugins.pod_topology_spread import HARD, SOFT, constraints_of
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.row_memo import FEW_CHANGED, MAX_NUMBERS
from scheduler_core.schedulers.v1_37.soft_spread import SoftSpread, soft_scores, soft_spreads
from scheduler_core.schedulers.v1_37.status import SKIP

_IMAGES = "ImageLocality"


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


class ClassCounts(Struct, frozen=True):
    """What pods of a class on nodes count for: for required terms, and for the soft constraints, in order."""

    terms: bool
    spread: bool
    soft: tuple[bool, ...]


class ClassResults(ClassFilters):
    """One class of pods on nodes of one structure."""

    is_lent = False
    """Whether copies of the cluster share it (:mod:`.loans`)."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self.position = ctx.cluster.log.end
        self.version = ctx.nodes.version
        if self.usable:
            self._build()

    # Building.

    def _build(self) -> None:
        self.ctx.pod.compile()  # for the others of the class
        ctx, nodes, rows = self.ctx, self.ctx.nodes, self.ctx.nodes.order
        self.rows: Rows = rows
        self.everywhere = np.arange(len(rows))
        self.honors_taints = any(
            constraint.honors_taints for kind in (HARD, SOFT) for constraint in constraints_of(ctx, kind)
        )
        self.ids: dict[str, Rows] = {}
        self.counted_by: dict[int, ClassCounts | None] = {}
        self.place = nodes.places()
        self.static = self._passing(rows)
        scoring = [
            key
            for key in ctx.profile.points["score"]
            if not ctx.profile.has(key, "preScore")
            or key == SPREAD
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
        codes = self.plugins[FIT].filter(ctx, rows)
        self.feasible = self.static.copy() if codes is None else self.static & (codes == 0)
        self.by_numbers: dict[Hashable, dict[Hashable, tuple[bool, int]]] = {}
        """By the columns there are and a row's numbers: room and score. Copies share it."""
        self.plain = np.zeros(len(rows), np.int64)
        self.stale = np.ones(len(rows), np.bool_)
        spreads = soft_spreads(ctx, rows) if SPREAD in scoring else []
        self.usable = spreads is not None
        self.soft: list[SoftSpread] = spreads or []
        self.normalized = self._normalized(None)

    def _weighted(self, key: str, rows: Rows, raw: Ints) -> Ints:
        """Return a plugin's weighted scores of rows with these raw scores."""
        out: Ints = self.ctx.profile.weights[key] * self.plugins[key].normalize(self.ctx, rows, raw)
        return out

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
        self._nodes_differ()
        self.static[places] = self._passing(rows)
        for key, raw in self.raw.items():
            raw[places] = self.plugins[key].score(self.ctx, rows)
        self.normalized = self._normalized(None)
        self._renew(places.tolist())
        return True

    def _follow_pods(self) -> bool:
        """Apply what came and went; False if that is no longer known."""
        log, position = self.ctx.cluster.log, self.position
        if position < log.start:
            return False
        self.position = log.end
        if not self.usable or position == log.end:
            return True
        classes, counted_by = log.classes(position), self.counted_by
        for number in classes.difference(counted_by):
            counted_by[number] = self._counted_by(log.examples[number])
        counts = {number: found for number in classes if (found := counted_by[number]) is not None}
        for number, row, sign in log.of_classes(counts, position):
            if self.place[row] >= 0:
                self._follow(counts[number], row, log.examples[number], sign)
        places = [self.place.item(row) for row in set(log.rows(position))]
        changed = [place for place in places if place >= 0]
        self._renew(changed)
        self._pods_differ(changed)
        return True

    def _nodes_differ(self) -> None:
        """Follow a change of nodes in what is derived of the results."""

    def _pods_differ(self, places: list[int]) -> None:
        """Follow a change of these places' pods in what is derived of the results."""

    def _counted_by(self, pod: CompiledPod) -> ClassCounts | None:
        """Return what a pod on a node counts for, as all pods of its class do; None for nothing."""
        ctx = self.ctx
        terms = bool(pod.affinity.required_anti or ctx.pod.affinity.required_anti)
        if pod.terminating or pod.namespace != ctx.pod.namespace:
            return ClassCounts(terms, False, ()) if terms else None
        selectors = [soft.constraint.selector for soft in self.soft]
        soft = tuple(not one.empty and one.matches(pod.labels) for one in selectors)
        spread = SPREAD not in ctx.skipped
        return ClassCounts(terms, spread, soft) if terms or spread or any(soft) else None

    def _follow(self, counts: ClassCounts, row: int, pod: CompiledPod, sign: int) -> None:
        """Count a pod in or out for the rules on other pods."""
        ctx, place = self.ctx, self.place[row]
        if counts.terms:
            self.plugins[AFFINITY].update(ctx, ctx.states[AFFINITY], pod, row, sign)
        if counts.spread:
            self.plugins[SPREAD].update(ctx, ctx.states[SPREAD], pod, row, sign)
        for soft, counted in zip(self.soft, counts.soft):
            if counted:
                soft.follow(int(place), sign)

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
            codes = self.plugins[FIT].filter(self.ctx, self.rows[places])
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

    def _walk(self, start: int, number: int) -> Rows:
        """Return so many rows from a place on."""
        if start + number <= len(self.rows):
            return self.rows[start : start + number]
        return np.concatenate((self.rows[start:], self.rows[: start + number - len(self.rows)]))

    def _admitted(self) -> Mask:
        """Return which places pass every filter."""
        ctx, mask = self.ctx, self.feasible
        if SPREAD not in ctx.skipped:
            for spread in ctx.states[SPREAD]:
                fits = spread.matches + spread.self_match - spread.least() <= spread.constraint.max_skew
                mask = mask & np.append(fits, False)[self._ids(spread.constraint.key)]
        state = ctx.states[AFFINITY]
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
            if number is None:
                number = len(self.rows) if places is None else len(places)
            totals += self.ctx.profile.weights[SPREAD] * soft_scores(self.soft, places, number)
        return totals
