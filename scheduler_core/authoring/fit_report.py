"""How close a fitted workload comes to its trace: both sides' distributions, and their greatest distance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from scheduler_core.authoring.trace_pods import TracePod
from scheduler_core.schedulers.columns.columns import BASIC_RESOURCES

SHARES = (0.5, 0.95)
LEVEL = 1.3581
"""Of the Kolmogorov-Smirnov distance at five per cent: to be divided by the root of the effective size."""


_UNITS = {"cpu": ("cpu, m", 1), "memory": ("memory, MiB", 2**20)}


class Likeness(Struct, frozen=True):
    """A distribution of a trace beside that of what was drawn: the values at :data:`SHARES` of each.

    ``distance`` is that of Kolmogorov and Smirnov, the greatest between the two shares of values up to a
    value; samples of one distribution are further apart than ``bound`` in five of a hundred cases.
    """

    name: str
    trace: tuple[float, ...]
    drawn: tuple[float, ...]
    distance: float
    bound: float


def likeness(trace: Sequence[TracePod], drawn: Sequence[TracePod]) -> list[Likeness]:
    """Compare sizes, lifetimes and arrivals of the pods of a trace and those that were drawn of its fit."""
    sides = [dict(_distributions(pods)) for pods in (trace, drawn)]
    names = [name for name in sides[0] if name in sides[1]]
    return [_compared(name, *(np.sort(side[name]) for side in sides)) for name in names]


def _distributions(pods: Sequence[TracePod]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the values of each distribution of pods in the order of their arrival."""
    asked = {name for pod in pods for name, amount in pod.requests.items() if amount}
    basic = [name for name in BASIC_RESOURCES if name in asked]
    for name in (*basic, *sorted(asked - set(basic))):
        title, unit = _UNITS.get(name, (name, 1))
        yield title, np.array([pod.requests.get(name, 0) / unit for pod in pods])
    if lifetimes := [pod.lifetime for pod in pods if pod.lifetime is not None]:
        yield "lifetime, s", np.array(lifetimes)
    created = np.array([pod.created for pod in pods])
    yield "gap between arrivals, s", np.diff(created)
    yield "arrival, s", created - created[0]


def _compared(name: str, one: np.ndarray, other: np.ndarray) -> Likeness:
    values = np.concatenate((one, other))
    shares = [np.searchsorted(side, values, "right") / len(side) for side in (one, other)]
    size = len(one) * len(other) / (len(one) + len(other))
    at = [tuple(float(np.quantile(side, share)) for share in SHARES) for side in (one, other)]
    distance = float(np.max(np.abs(shares[0] - shares[1])))
    return Likeness(name, at[0], at[1], round(distance, 4), round(LEVEL / math.sqrt(size), 4))
