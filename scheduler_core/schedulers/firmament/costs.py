"""The cost of an arc from a task class to the i-th further pod on a machine (EquivClassToEquivClass).

Every step is rounded to 32 bits as in the original; wider arithmetic gives costs that are off by one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from scheduler_core.kubernetes.arrays import IntVector

OMEGA: Final = 1_000
UNSCHEDULED_COST: Final = 2_560_000
"""What it costs to leave a pod pending: more than any arc, so that as many pods as possible are placed."""
_OMEGA = np.float32(OMEGA)
_TWO = np.float32(2)
Fractions = npt.NDArray[np.float32]


def resource_costs(
    capacity: IntVector, available: IntVector, request: tuple[int, ...], indices: IntVector
) -> IntVector:
    """Return ``(machines, indices)``: least requested and balance, of cpu and memory.

    ``capacity`` and ``available`` are ``(resources, machines)`` with cpu and memory first. Before the i-th
    pod i requests are taken; the pod itself is not.
    """
    cpu = _used(capacity[0], available[0], request[0], indices, widened=False)
    memory = _used(capacity[1], available[1], request[1], indices, widened=True)
    load = (_scaled(cpu) + _scaled(memory)) // 2
    mean = (cpu + memory) / _TWO
    variance = ((cpu - mean) * (cpu - mean) + (memory - mean) * (memory - mean)) / _TWO
    return load + _scaled(variance)


def _used(
    capacity: IntVector, available: IntVector, request: int, indices: IntVector, *, widened: bool
) -> Fractions:
    """Return the used fraction; ``widened``: the difference is one of integers, as for memory."""
    left = available[:, None] - request * indices
    whole = capacity[:, None].astype(np.float32)
    used = (capacity[:, None] - left).astype(np.float32) if widened else whole - left.astype(np.float32)
    return used / whole


def share(part: IntVector, whole: int) -> IntVector:
    """Return a score's share of the largest one, scaled to ω and truncated."""
    return _scaled(part.astype(np.float32) / np.float32(whole))


def _scaled(fraction: Fractions) -> IntVector:
    return (fraction * _OMEGA).astype(np.int64)
