"""Filter: every plugin on every node, columns at a time, and the second pass where pods are nominated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from scheduler_core.v1_37.interface import ERROR, Nominations, Status
from scheduler_core.v1_37.nodes import Mask, Rows
from scheduler_core.v1_37.plugins.base import Context
from scheduler_core.v1_37.plugins.table import PLUGINS
from scheduler_core.v1_37.pods import Pod

MIN_FEASIBLE = 100
"""With fewer nodes all of them are tried (minFeasibleNodesToFind)."""


@dataclass
class Filtered:
    """Verdicts on rows in the order of the walk."""

    passed: Mask
    statuses: dict[int, Status]
    """Of the rows that did not pass; the code is Error where a filter failed."""


def filter_rows(ctx: Context, rows: Rows, nominations: Nominations) -> Filtered:
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
                    out.passed[place] = False
                    out.statuses[row] = status
    return out


def filter_row(ctx: Context, row: int, nominations: Nominations) -> Status | None:
    """Evaluate all filters on one row; None if it passes."""
    return filter_rows(ctx, np.array([row], np.intp), nominations).statuses.get(row)


def _added(pod: Pod, nominated: Sequence[Pod]) -> list[Pod]:
    return [other for other in nominated if other.priority >= pod.priority and other.key != pod.key]


def _with_added(ctx: Context, row: int, added: list[Pod]) -> Status | None:
    trial = what_if_context(ctx)
    with ctx.cluster.what_if(row):
        for pod in added:
            add_pod(trial, row, pod)
        return filter_alone(trial, np.array([row], np.intp)).statuses.get(row)


def what_if_context(ctx: Context) -> Context:
    """Return a context whose prepared states can be changed (CycleState.Clone)."""
    states = dict(ctx.states)
    for key in ctx.profile.points["filter"]:
        if key in states and key not in ctx.skipped:
            states[key] = PLUGINS[key].copy_state(states[key])
    return replace(ctx, states=states)


def add_pod(ctx: Context, row: int, pod: Pod) -> None:
    """Let a pod come to a row, within ``Cluster.what_if``."""
    ctx.nodes.add_pod(row, pod)
    update_states(ctx, row, pod, 1)


def remove_pod(ctx: Context, row: int, pod: Pod) -> None:
    """Let a pod leave a row, within ``Cluster.what_if``."""
    ctx.nodes.remove_pod(row, pod)
    update_states(ctx, row, pod, -1)


def update_states(ctx: Context, row: int, pod: Pod, sign: int) -> None:
    """Tell the prepared states of a pod that comes to a row or leaves it (PreFilterExtensions)."""
    for key in ctx.profile.points["preFilter"]:
        if key not in ctx.skipped and key in ctx.states:
            PLUGINS[key].update(ctx, ctx.states[key], pod, row, sign)


def filter_alone(ctx: Context, rows: Rows) -> Filtered:
    """Evaluate all filters on the rows as they are, nominated pods left out."""
    passed = np.ones(len(rows), np.bool_)
    statuses: dict[int, Status] = {}
    places = np.arange(len(rows))
    for key in ctx.profile.points["filter"]:
        if key in ctx.skipped:
            continue
        plugin = PLUGINS[key]
        here = rows if len(places) == len(rows) else rows[places]
        codes = plugin.filter(ctx, here)
        if codes is None or not codes.any():
            continue
        for place in np.flatnonzero(codes):
            row = int(here[place])
            statuses[row] = _named(plugin.verdict(ctx, row, int(codes[place])), key)
        passed[places[codes != 0]] = False
        places = places[codes == 0]
        if not len(places):
            break
    return Filtered(passed, statuses)


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
