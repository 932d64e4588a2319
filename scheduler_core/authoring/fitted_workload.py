"""A workload fitted to a trace: the sizes of its pods, how long they live, and when they arrive.

Only distributions are kept, no name, label or image: a fit can be shown where its trace cannot. It is drawn
from by a seed, and gives the same pods on every machine.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from random import Random
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from scheduler_core.authoring.trace_pods import TracePod, pods_of
from scheduler_core.formats.timed_pods import scenario_of_pods
from scheduler_core.kubernetes.conversion import converted
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.kubernetes.model import Node
from scheduler_core.kubernetes.quantity import QuantityError, format_resource, parse_resource
from scheduler_core.scenario.scenario import Scenario

KIND = "FittedWorkload"
MOST_BYTES = 1_000_000
MOST_SIZES, MOST_SHAPES = 256, 100
MOST_LIVES = 40  # sizes with lifetimes of their own: a fit goes into a frame of the socket
POINTS = 33  # of a distribution, which is kept as its quantiles
PARTS = 64  # of a trace's course, each with the gaps between its arrivals
FEWEST = 40  # pods from which a distribution of their own is kept, and of which a fit is made

Text = Annotated[str, Meta(max_length=253)]
Amounts = Annotated[dict[Text, Text], Meta(max_length=20)]
Seconds = Annotated[float, Meta(ge=0, le=1e12)]
Quantiles = Annotated[tuple[Seconds, ...], Meta(max_length=200)]
"""Values at equally distant shares of a distribution, from the least to the greatest."""


class WorkloadFitError(ValueError):
    """The trace has too little to fit to, or the text is no fit; the message says what would be right."""


class NodeShape(Struct, frozen=True, forbid_unknown_fields=True):
    """Nodes that have the same amounts."""

    count: Annotated[int, Meta(ge=1, le=1_000_000)]
    allocatable: Amounts


class PodSize(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Pods that request the same amounts; ``lifetime`` is empty where that of all pods is drawn from.

    ``endless`` is the share of them that is never deleted.
    """

    count: Annotated[int, Meta(ge=1, le=1_000_000_000)]
    requests: Amounts
    lifetime: Quantiles = ()
    endless: Annotated[float, Meta(ge=0, le=1)] = 0.0


class TraceCourse(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a trace's course: how many gaps between arrivals, the seconds of all, and their quantiles."""

    count: Annotated[int, Meta(ge=1, le=1_000_000_000)]
    seconds: Annotated[float, Meta(ge=0, le=1e15)]
    gaps: Annotated[Quantiles, Meta(min_length=1)]


class FittedWorkload(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag=KIND, rename="camel"
):
    """The distributions of a trace. ``lifetime`` is that of pods of sizes without one of their own.

    ``left_out`` counts the pods with something that a fit does not keep, by its name.
    """

    nodes: Annotated[tuple[NodeShape, ...], Meta(max_length=MOST_SHAPES)]
    sizes: Annotated[tuple[PodSize, ...], Meta(min_length=1, max_length=MOST_SIZES)]
    lifetime: Quantiles
    arrivals: Annotated[tuple[TraceCourse, ...], Meta(min_length=1, max_length=200)]
    left_out: Annotated[dict[Text, int], Meta(max_length=50)] = {}
    api_version: Literal["podstep/v1"] = "podstep/v1"

    @property
    def pods(self) -> int:
        """How many pods the trace had."""
        return sum(size.count for size in self.sizes)


def read_fit(text: str | bytes) -> FittedWorkload:
    """Read a fit, JSON. Raises FitError."""
    if len(text) > MOST_BYTES:
        raise WorkloadFitError(f"a {KIND} has at most {MOST_BYTES:,} bytes")
    try:
        fit = converted(msgspec.json.decode(text), FittedWorkload)
    except msgspec.MsgspecError as error:
        raise WorkloadFitError(f"is no {KIND} as `podstep fit --save` writes it: {error}") from error
    for amounts in (*(one.allocatable for one in fit.nodes), *(one.requests for one in fit.sizes)):
        for name, amount in amounts.items():
            _check_amount(name, amount)
    if not fit.lifetime and any(not size.lifetime and size.endless < 1 for size in fit.sizes):
        raise WorkloadFitError("lifetime is empty, and a size has none of its own")
    return fit


def _check_amount(name: str, amount: str) -> None:
    try:
        if not 0 <= parse_resource(name, amount) < 2**63:
            raise WorkloadFitError(f"{name} must not be {amount!r}")
    except QuantityError as error:
        raise WorkloadFitError(f"{name}: {error}") from error


# --- fitting


def fitted(scenario: Scenario) -> FittedWorkload:
    """Fit a workload to the pods that a scenario creates and deletes over its time. Raises FitError."""
    pods, left_out = pods_of(scenario)
    if len(pods) < FEWEST:
        beside = "".join(f"; {name}: {count:,}" for name, count in left_out.items())
        raise WorkloadFitError(
            f"{len(pods):,} pods arrive by operations, and {FEWEST} are needed: "
            f"a fit is made to a trace with times, or a Scenario{beside}"
        )
    own = (one for one in scenario.objects if isinstance(one, Node))
    shapes = Counter(tuple(sorted(node.allocatable.items())) for node in own)
    nodes = [NodeShape(count, _written(shape)) for shape, count in shapes.most_common(MOST_SHAPES)]
    if rare := sum(shapes.values()) - sum(node.count for node in nodes):
        left_out["nodes of rarer shapes"] = rare
    gaps = [later.created - one.created for one, later in pairwise(pods)]
    others: list[float] = []
    return FittedWorkload(
        nodes=tuple(nodes),
        sizes=tuple(_sizes(pods, others, left_out)),
        lifetime=_quantiles(others),
        arrivals=tuple(TraceCourse(len(part), sum(part), _quantiles(part)) for part in _parts(gaps)),
        left_out=left_out,
    )


Size = tuple[tuple[str, int], ...]


def _sizes(pods: Sequence[TracePod], others: list[float], left_out: dict[str, int]) -> Iterator[PodSize]:
    """Yield the sizes, the most frequent first; pods of rarer ones count as the nearest of those kept.

    The lifetimes of sizes without a distribution of their own are added to ``others``.
    """
    by_size: defaultdict[Size, list[TracePod]] = defaultdict(list)
    for pod in pods:
        by_size[tuple(sorted(pod.requests.items()))].append(pod)
    ordered = sorted(by_size, key=lambda size: (-len(by_size[size]), size))
    kept, rare = ordered[:MOST_SIZES], ordered[MOST_SIZES:]
    for size in rare:
        by_size[min(kept, key=lambda one: _distance(one, size))] += by_size[size]
        left_out["pods of rarer sizes"] = left_out.get("pods of rarer sizes", 0) + len(by_size[size])
    for place, size in enumerate(kept):
        ended = [pod.lifetime for pod in by_size[size] if pod.lifetime is not None]
        count = len(by_size[size])
        own = len(ended) >= FEWEST and place < MOST_LIVES
        others += [] if own else ended
        yield PodSize(
            count, _written(size), _quantiles(ended) if own else (), round(1 - len(ended) / count, 6)
        )


def _distance(one: Size, other: Size) -> float:
    left, right = dict(one), dict(other)
    return sum(abs(math.log1p(left.get(name, 0)) - math.log1p(right.get(name, 0))) for name in left | right)


def _written(amounts: Size) -> dict[str, str]:
    return {name: format_resource(name, amount) for name, amount in amounts}


def _parts(values: Sequence[float]) -> Iterator[Sequence[float]]:
    parts = min(PARTS, max(1, len(values) // FEWEST))
    for part in range(parts):
        yield values[part * len(values) // parts : (part + 1) * len(values) // parts]


def _quantiles(values: Sequence[float]) -> tuple[float, ...]:
    """Return the values at equally distant shares, all if they are few."""
    ordered = sorted(values)
    points = min(POINTS, len(ordered))
    if points < 2:
        return tuple(ordered)
    last = len(ordered) - 1
    return tuple(float(f"{ordered[round(point * last / (points - 1))]:.6g}") for point in range(points))


# --- drawing


def drawn(fit: FittedWorkload, count: int, seed: int) -> list[TracePod]:
    """Return so many pods in the order of their arrival, at the rate of the trace."""
    sizes, lives, gaps = (Random(f"{seed}/{of}") for of in ("sizes", "lifetimes", "arrivals"))  # noqa: S311
    requests = [read_amounts(size.requests) for size in fit.sizes]
    totals = list(accumulate(size.count for size in fit.sizes))
    pods = []
    for created in _arrivals(fit.arrivals, count, gaps):
        place = min(bisect_right(totals, sizes.random() * totals[-1]), len(totals) - 1)
        size = fit.sizes[place]
        endless, luck = lives.random() < size.endless, lives.random()
        lifetime = None if endless else round(_at(size.lifetime or fit.lifetime, luck), 3)
        pods.append(TracePod(round(created, 3), lifetime, requests[place]))
    return pods


def _arrivals(parts: Sequence[TraceCourse], count: int, dice: Random) -> Iterator[float]:
    """Yield the seconds at which pods arrive: each part of the course gets its share of them.

    Enough gaps of a part are stretched to its rate, which the rarest of them would miss.
    """
    now = 0.0
    for place, part in enumerate(parts):
        own = range(place * count // len(parts), (place + 1) * count // len(parts))
        gaps = [_at(part.gaps, dice.random()) for _ in own]
        whole = sum(gaps)
        stretch = part.seconds * len(gaps) / part.count / whole if whole and len(gaps) >= FEWEST else 1.0
        for gap in gaps:
            yield now
            now += gap * stretch


def read_amounts(amounts: Mapping[str, str]) -> dict[str, int]:
    """Return amounts in millicores, bytes and counts."""
    return {name: parse_resource(name, text) for name, text in amounts.items()}


def _at(quantiles: Sequence[float], share: float) -> float:
    """Return the value at a share of a distribution; between two points it grows by an even factor."""
    place = share * (len(quantiles) - 1)
    low = int(place)
    if low + 1 >= len(quantiles):
        return quantiles[-1]
    left, right = math.log1p(quantiles[low]), math.log1p(quantiles[low + 1])
    return quantiles[low] if left == right else math.expm1(left + (place - low) * (right - left))


def nodes_of(shapes: Sequence[NodeShape]) -> Iterator[Manifest]:
    """Yield the nodes that the trace had."""
    width = len(str(sum(shape.count for shape in shapes)))
    number = 0
    for shape in shapes:
        for _ in range(shape.count):
            number += 1
            name = f"node-{number:0{width}d}"
            yield {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
                "status": {"capacity": dict(shape.allocatable), "allocatable": dict(shape.allocatable)},
            }


def scenario_of(pods: Sequence[TracePod], namespace: str = "default") -> Manifest:
    """Return the Scenario that creates and deletes pods."""
    width = len(str(len(pods)))
    timed = []
    for number, pod in enumerate(pods, 1):
        end = None if pod.lifetime is None else pod.created + pod.lifetime
        timed.append((pod.created, end, _manifest(f"pod-{number:0{width}d}", namespace, pod.requests)))
    return scenario_of_pods(timed, "fitted")


def _manifest(name: str, namespace: str, requests: Mapping[str, int]) -> dict[str, Any]:
    amounts = _written(tuple(requests.items()))
    resources: dict[str, Any] = {"requests": amounts}
    if extended := {name: amount for name, amount in amounts.items() if name not in _OVERCOMMITTED}:
        resources["limits"] = extended
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "main", "resources": resources}]},
    }


_OVERCOMMITTED = ("cpu", "memory", "ephemeral-storage")
"""Resources that a pod may request without a limit."""
