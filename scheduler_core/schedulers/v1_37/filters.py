"""Filter: every plugin on every node, columns at a time, and the second pass where pods are nominated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.schedulers.v1_37.failures import Kinds
from scheduler_core.schedulers.v1_37.interface import Nominator
from scheduler_core.schedulers.v1_37.nodes import Mask, Rows
from scheduler_core.schedulers.v1_37.plugins.base import Codes, Context, Plugin, Unprepared
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.status import ERROR, Status

MIN_FEASIBLE = 100
"""With fewer nodes all of them are tried (minFeasibleNodesToFind)."""


class FilterStatuses(Struct):
    """Verdicts on rows in the order of the walk."""

    kinds: Kinds
    """Which of the statuses each row has; -1 for a row that passed. (rows,) int."""
    statuses: list[Status]
    """The different ones; the code is Error where a filter failed."""

    @property
    def passed(self) -> Mask:
        """Which rows passed; (rows,) bool."""
        return self.kinds < 0

    def first(self) -> Status | None:
        """Return the status of the first row; None if it passed."""
        kind = int(self.kinds[0])
        return None if kind < 0 else self.statuses[kind]


def filter_rows(ctx: Context, rows: Rows, nominations: Nominator) -> FilterStatuses:
    """Evaluate all filters on the rows; each row is done at its first failing plugin.

    A row with nominated pods is evaluated with them first and, if it passed, without them
    (RunFilterPluginsWithNominatedPods).
    """
    out = filter_alone(ctx, rows)
    with_nominated = {
        row: added
        for node in set(nominations.nodes().values())
        if (row := ctx.nodes.row(node)) is not None and (added := _added(ctx.pod, nominations.on(node)))
    }
    if with_nominated:
        for place, row in enumerate(rows.tolist()):
            if row in with_nominated:
                status = _with_added(ctx, row, with_nominated[row])
                if status is not None:
                    out.kinds[place] = len(out.statuses)
                    out.statuses.append(status)
    return out


def filter_row(ctx: Context, row: int, nominations: Nominator) -> Status | None:
    """Evaluate all filters on one row; None if it passes."""
    return filter_rows(ctx, np.array([row], np.intp), nominations).first()


def _added(pod: CompiledPod, nominated: Sequence[CompiledPod]) -> list[CompiledPod]:
    return [other for other in nominated if other.priority >= pod.priority and other.key != pod.key]


def _with_added(ctx: Context, row: int, added: list[CompiledPod]) -> Status | None:
    trial = what_if_context(ctx)
    with ctx.cluster.what_if(row):
        for pod in added:
            add_pod(trial, row, pod)
        return filter_alone(trial, np.array([row], np.intp)).first()


def what_if_context(ctx: Context) -> Context:
    """Return a context whose prepared states can be changed (CycleState.Clone)."""
    states = dict(ctx.states)
    for key in ctx.profile.points["filter"]:
        if key in states and key not in ctx.skipped:
            states[key] = ctx.plugins[key].copy_state(states[key])
    return replace(ctx, states=states)


def add_pod(ctx: Context, row: int, pod: CompiledPod) -> None:
    """Add a pod to a row, within ``Cluster.what_if``."""
    ctx.nodes.add_pod(row, pod)
    update_states(ctx, row, pod, 1)


def remove_pod(ctx: Context, row: int, pod: CompiledPod) -> None:
    """Remove a pod from a row, within ``Cluster.what_if``."""
    ctx.nodes.remove_pod(row, pod)
    update_states(ctx, row, pod, -1)


def update_states(ctx: Context, row: int, pod: CompiledPod, sign: int) -> None:
    """Update the prepared states for a pod added to a row or removed from it (PreFilterExtensions)."""
    for key in ctx.profile.points["preFilter"]:
        if key not in ctx.skipped and key in ctx.states:
            ctx.plugins[key].update(ctx, ctx.states[key], pod, row, sign)


def filter_alone(ctx: Context, rows: Rows) -> FilterStatuses:
    """Evaluate all filters on the rows as they are, nominated pods left out."""
    kinds = np.full(len(rows), -1, np.intp)
    statuses: list[Status] = []
    places = np.arange(len(rows))
    for key in ctx.profile.points["filter"]:
        if key in ctx.skipped:
            continue
        here = rows if len(places) == len(rows) else rows[places]
        plugin = _plugin(ctx, key)
        codes = plugin.filter(ctx, here)
        if codes is None:
            continue
        failing = codes != 0
        if not failing.any():
            continue
        known = len(statuses)
        kinds[places[failing]] = known + _verdicts(ctx, plugin, key, here[failing], codes[failing], statuses)
        places = places[~failing]
        if not len(places):
            break
    return FilterStatuses(kinds, statuses)


def _plugin(ctx: Context, key: str) -> Plugin:
    """Return the plugin as it runs at Filter in this profile."""
    error = ctx.profile.unprepared.get("filter", {}).get(key)
    return ctx.plugins[key] if error is None else Unprepared(error)


def _verdicts(
    ctx: Context, plugin: Plugin, key: str, rows: Rows, codes: Codes, statuses: list[Status]
) -> Kinds:
    """Add the status of each different code to the statuses; return which of those added each row has."""
    first = int(codes[0])
    if (codes == first).all():
        statuses.append(_named(plugin.verdict(ctx, int(rows[0]), first), key))
        return np.zeros(len(rows), np.intp)
    different, examples, which = np.unique(codes, return_index=True, return_inverse=True)
    for code, example in zip(different.tolist(), examples.tolist(), strict=True):
        statuses.append(_named(plugin.verdict(ctx, int(rows[example]), code), key))
    return which.astype(np.intp, copy=False)


def _named(status: Status, plugin: str) -> Status:
    if status.code == ERROR:
        text = f'running "{plugin}" filter plugin: {status.text}'
        return Status(ERROR, (text,), plugin)
    return replace(status, plugin=plugin)


def feasible_wanted(percentage: int, nodes: int) -> int:
    """Return how many feasible nodes end the walk (numFeasibleNodesToFind)."""
    if nodes < MIN_FEASIBLE:
        return nodes
    if percentage <= 0:
        percentage = max(50 - nodes // 125, 5)
    return max(nodes * min(percentage, 100) // 100, MIN_FEASIBLE)
