"""NodeResourcesBalancedAllocation: prefer nodes whose resources the pod makes more evenly used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.kubernetes.requests import is_scalar
from scheduler_core.schedulers.v1_37.plugins.base import (
    MAX_SCORE,
    OK,
    SKIPPED,
    Context,
    Ints,
    Plugin,
    Rows,
    Status,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import CPU_AND_MEMORY, Argument, Declared, Reused
from scheduler_core.schedulers.v1_37.plugins.node_resources_fit import (
    held_of,
    scored_resources,
    served_by_devices,
    signed_requests,
)


class NodeResourcesBalancedAllocation(Plugin):
    """Compares the spread of the resources' utilization with the pod and without it."""

    key = "NodeResourcesBalancedAllocation"

    def pre_score(self, ctx: Context, rows: Rows) -> Status:
        """Skip a pod that requests none of the resources."""
        del rows
        requests = ctx.pod.balanced
        listed = scored_resources(ctx.arguments(self.key).get("resources"))
        return OK if any(requests.get(name, 0) for name, _ in listed) else SKIPPED

    def score(self, ctx: Context, rows: Rows) -> Ints:
        """Return 50 + (50 + with − without) / 2, where each is 100 times 1 − deviation."""
        if served_by_devices(ctx, ctx.arguments(self.key).get("resources")):
            return self.rate(ctx, rows)
        key = self.key, ctx.profile.scheduler_name, tuple(ctx.pod.balanced.items())
        return ctx.nodes.by_numbers(key, ctx.profile, rows, lambda some: self.rate(ctx, some))

    @staticmethod
    def rate(ctx: Context, rows: Rows) -> Ints:
        """Return how much more balanced the pod makes each row."""
        with_pod = balance(ctx, rows, with_pod=True)
        without = balance(ctx, rows, with_pod=False)
        change = MAX_SCORE // 2 + with_pod - without
        score: Ints = MAX_SCORE // 2 + np.sign(change) * (np.abs(change) // 2)
        return score


def balance(ctx: Context, rows: Rows, *, with_pod: bool) -> Ints:
    """Return 100 times 1 − the deviation of what is requested of each row, with the pod or without it."""
    pod = ctx.pod
    fractions: list[NDArray[np.float64]] = []
    counted: list[NDArray[np.bool_]] = []
    for name, _ in scored_resources(ctx.arguments("NodeResourcesBalancedAllocation").get("resources")):
        own = pod.balanced.get(name, 0)
        if own == 0 and is_scalar(name):
            continue
        allocatable, held = held_of(ctx, name, rows)
        requested = held + (own if with_pod else 0)
        fractions.append(np.minimum(requested / np.maximum(allocatable, 1), 1.0))
        counted.append(allocatable != 0)
    return ((1.0 - _deviation(fractions, counted, len(rows))) * MAX_SCORE).astype(np.int64)


def _deviation(
    fractions: list[NDArray[np.float64]], counted: list[NDArray[np.bool_]], rows: int
) -> NDArray[np.float64]:
    """Half the difference of two fractions, the standard deviation of more, 0 of fewer."""
    if not fractions:
        return np.zeros(rows)
    table, here = np.array(fractions), np.array(counted)
    number = here.sum(axis=0)
    if (number == len(fractions)).all():
        return _of(table)
    out = np.zeros(rows)
    for row in range(rows):
        out[row] = _of(table[here[:, row], row][:, None])[0]
    return out


def _of(table: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(table) < 2:
        return np.zeros(table.shape[1])
    if len(table) == 2:
        half: NDArray[np.float64] = np.abs((table[0] - table[1]) / 2)
        return half
    total = np.zeros(table.shape[1])
    for line in table:
        total = total + line
    mean = total / len(table)
    squares = np.zeros(table.shape[1])
    for line in table:
        squares = squares + (line - mean) * (line - mean)
    deviation: NDArray[np.float64] = np.sqrt(squares / len(table))
    return deviation


_ARGUMENTS = (
    Argument(
        "resources", "resources", CPU_AND_MEMORY, "what is balanced; every weight is 1", least=1, most=1,
    ),
)  # fmt: skip


PLUGIN = Declared(
    "NodeResourcesBalancedAllocation",
    "preScore score",
    rank=170,
    weight=1,
    prefers="nodes whose resources would be requested in equal shares",
    formula="50 + (50 + balance with the pod − balance without it) / 2, where balance is 100 · (1 − "
    "deviation of the requested shares): no change is 75",
    arguments=_ARGUMENTS,
    signs=signed_requests,
    reuse=Reused(score="requests"),
    code=NodeResourcesBalancedAllocation(),
)
