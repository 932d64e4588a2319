"""What filters say of one class of pods: PreFilter once, and verdicts that depend on node objects alone."""

from __future__ import annotations

from functools import cache

import numpy as np
from msgspec import Struct

from scheduler_core.schedulers.v1_37.dialect import Dialect
from scheduler_core.schedulers.v1_37.nodes import Mask, Rows
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.signatures import unsigned_because
from scheduler_core.schedulers.v1_37.status import SKIP, SUCCESS

SPREAD, AFFINITY, FIT = "PodTopologySpread", "InterPodAffinity", "NodeResourcesFit"


class _Kept(Struct, frozen=True):
    """The plugins of a release by what is kept of them (:class:`.plugins.declaration.Reused`)."""

    static_filters: tuple[str, ...]
    static_scores: tuple[str, ...]
    row_scores: tuple[str, ...]
    followed: frozenset[str]
    scored: frozenset[str]


@cache
def _kept_of(dialect: Dialect) -> _Kept:
    rows = dialect.declared
    return _Kept(
        tuple(row.key for row in rows if row.reuse.filter == "nodes"),
        tuple(row.key for row in rows if row.reuse.score == "nodes"),
        tuple(row.key for row in rows if row.reuse.score == "requests"),
        frozenset(row.key for row in rows if row.reuse.filter),
        frozenset(row.key for row in rows if row.reuse.score),
    )


class ClassFilters:
    """The filters of one class of pods on nodes of one structure; not ``usable`` if others are asked, too."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.plugins, self.kept = ctx.plugins, _kept_of(ctx.configuration.dialect)
        self.usable = self._prepare()

    def _prepare(self) -> bool:
        """Run PreFilter; return whether every plugin that takes part is followed here."""
        ctx, pod = self.ctx, self.ctx.pod
        if pod.volumes or pod.spec.get("resourceClaims") or pod.resource_claims or pod.host_ports:
            return False
        if pod.affinity.required or pod.affinity.preferred or pod.affinity.preferred_anti:
            return False
        if not {FIT, SPREAD, AFFINITY} <= set(ctx.profile.points["filter"]):
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

    def looks_at_nodes_alone(self) -> bool:
        """Return whether filters that are usable look at no more than each node."""
        state = self.ctx.states[AFFINITY]
        return SPREAD in self.ctx.skipped and not state.anti and not state.existing

    def _passing(self, rows: Rows) -> Mask:
        """Return which rows pass the filters that depend on node objects alone."""
        ctx, out = self.ctx, np.ones(len(rows), np.bool_)
        for key in self.kept.static_filters:
            asked = ctx.profile.has(key, "filter") and key not in ctx.skipped
            codes = self.plugins[key].filter(ctx, rows) if asked else None
            if codes is not None:
                out &= codes == 0
        return out
