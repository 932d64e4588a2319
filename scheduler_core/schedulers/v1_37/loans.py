"""What copies of a cluster share of a class's results: whoever goes on with it copies it first."""

from __future__ import annotations

from copy import copy

from msgspec.structs import replace

from scheduler_core.schedulers.v1_37.alike import AlikeResults
from scheduler_core.schedulers.v1_37.state import ClusterState

_NOWHERE = ClusterState()


def lend(results: AlikeResults) -> bool:
    """Let copies of the cluster share the results from now on; return False if they are not up to date."""
    ctx = results.ctx
    if results.position != ctx.cluster.log.end or results.version != ctx.nodes.version:
        return False
    results.is_lent = True
    results.ctx = replace(ctx, cluster=_NOWHERE)  # who shares them does not keep this cluster in memory
    return True


def copied(results: AlikeResults, cluster: ClusterState) -> AlikeResults:
    """Return an independent copy for a copy of the cluster."""
    made, ctx = copy(results), results.ctx
    made.is_lent = False
    plugins = results.plugins
    states = {
        key: plugins[key].copy_state(state) if key in plugins else state for key, state in ctx.states.items()
    }
    made.ctx = replace(ctx, cluster=cluster, states=states)
    if results.usable:
        for name in ("static", "feasible", "plain", "stale", "ids"):
            setattr(made, name, getattr(results, name).copy())
        made.raw = {key: raw.copy() for key, raw in results.raw.items()}
        made.soft = [replace(one, counts=one.counts.copy()) for one in results.soft]
        made.part()
        made.counted_by = {}  # the copied log numbers classes again
    return made
