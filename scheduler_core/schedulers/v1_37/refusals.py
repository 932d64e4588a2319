"""Every plugin that refuses a node, where an attempt ends a node's evaluation at the first one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.schedulers.v1_37.filters import filter_rows
from scheduler_core.schedulers.v1_37.interface import Nominator, PluginError
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import ERROR, SKIP, SUCCESS, Status


class Prepared(Struct, frozen=True):
    """A pod after every PreFilter plugin, none of which ended it."""

    context: Context
    rejections: tuple[Status, ...]
    """Those of PreFilter, which concern all nodes; such a plugin does not filter."""


def prepare(cluster: ClusterState, configuration: CompiledConfiguration, pod: CompiledPod) -> Prepared:
    """Run PreFilter to its end. Nodes that a plugin names are left to its Filter."""
    context = Context(pod, cluster, configuration.profiles[pod.scheduler_name], configuration)
    rejections = []
    for key in context.profile.points["preFilter"]:
        try:
            status, _ = context.plugins[key].pre_filter(context)
        except PluginError as error:
            status = Status(ERROR, (str(error),))
        if status.code not in (SUCCESS, SKIP):
            rejections.append(replace(status, plugin=key))
        if status.code != SUCCESS:
            context.skipped.add(key)
    return Prepared(context, tuple(rejections))


def refusals(
    prepared: Prepared, nodes: Sequence[str], nominations: Nominator
) -> Mapping[str, tuple[Status, ...]]:
    """Return the status of each plugin that refuses a node, in the order of evaluation, by node.

    PreFilter's rejections come first. Each filter is asked about the rows that are left by itself, with the
    pods that are nominated to them where the scheduler counts those.
    """
    context = prepared.context
    found: dict[str, list[Status]] = {node: list(prepared.rejections) for node in nodes}
    rows = np.array([row for node in nodes if (row := context.nodes.row(node)) is not None], np.intp)
    for key in context.profile.points["filter"] if len(rows) else ():
        if key in context.skipped:
            continue
        skipped = set(context.profile.points["filter"]) - {key}
        alone = replace(context, skipped=context.skipped | skipped)
        result = filter_rows(alone, rows, nominations)
        for place in np.flatnonzero(~result.passed).tolist():
            status = result.statuses[int(result.kinds[place])]
            found[context.nodes.name(int(rows[place]))].append(status)
    return {node: tuple(statuses) for node, statuses in found.items() if statuses}
