"""Descriptions of priorities on amounts: requests, limits, and image sizes."""

from __future__ import annotations

from itertools import pairwise

from scheduler_core.priorities.balanced_allocation import BalancedResourceAllocation
from scheduler_core.priorities.base import MAX_PRIORITY
from scheduler_core.priorities.image_locality import LEAST, MOST, ImageLocality
from scheduler_core.priorities.line import (
    Description,
    Line,
    LineQuestion,
    number,
    shortened,
    truncated,
    unit_of,
)
from scheduler_core.priorities.resource_allocation import (
    ResourceAllocation,
    Shape,
    least_requested,
    most_requested,
    requested_and_capacity,
)
from scheduler_core.priorities.resource_limits import ResourceLimits

PREFERS: dict[object, str] = {
    least_requested: "Nodes where much cpu and memory stays free: the free shares, 0 to 10, averaged.",
    most_requested: "Nodes where little cpu and memory stays free: the used shares, 0 to 10, averaged.",
}
BY_SHAPE = "Nodes by a curve over the requested share of cpu and memory, averaged."


class NodeAmounts:
    """Cpu or memory of a node including the pod, in a unit that divides all of its amounts."""

    def __init__(self, asked: LineQuestion, index: int) -> None:
        view = asked.alone
        requested, capacity = requested_and_capacity(asked.pod.info, view)
        own = int(asked.pod.info.usage[4 + index])
        bytes_ = (int(requested[index, 0]), int(capacity[index, 0]), own)
        unit, size = ("m", 1) if index == 0 else unit_of(*bytes_)
        self.name = ("cpu", "memory")[index]
        self.unit = unit
        self.requested, self.capacity, self.own = (amount // size for amount in bytes_)

    @property
    def fits(self) -> bool:
        """Whether a share can be computed: the capacity is positive and not exceeded."""
        return self.capacity > 0 and self.requested <= self.capacity

    def sum(self) -> Line:
        """Return the line that adds the pod to the node's pods; amounts as v1.11 counts them for scores."""
        before = self.requested - self.own
        return Line(
            f"{self.name} requested, in {self.unit}",
            "pods on the node + this pod",
            f"{number(before)} + {number(self.own)}",
            number(self.requested),
        )

    def full(self, value: int) -> Line:
        """Return the line on why no share can be computed."""
        if self.capacity == 0:
            return Line(self.name, "nothing is allocatable", "", number(value))
        numbers = f"{number(self.requested)} > {number(self.capacity)}"
        return Line(self.name, "requested > allocatable", numbers, number(value))


def resource_allocation(asked: LineQuestion, rule: ResourceAllocation) -> Description:
    """Describe the average of the scores for cpu and memory."""
    both = (NodeAmounts(asked, 0), NodeAmounts(asked, 1))
    scorer = rule.scorer
    lines: list[Line] = []
    scores: list[int] = []
    for amounts in both:
        lines.append(amounts.sum())
        if isinstance(scorer, Shape):
            curve = _shape(amounts, scorer)
            lines += curve
            scores.append(int(curve[-1].value))
        else:
            line = _share(amounts, free=scorer is least_requested)
            lines.append(line)
            scores.append(int(line.value))
    lines.append(_halved(scores))
    return Description(PREFERS.get(scorer, BY_SHAPE), tuple(lines))


def _halved(scores: list[int]) -> Line:
    cpu, memory = scores
    numbers = f"({number(cpu)} + {number(memory)}) / 2"
    return truncated("score", "(cpu + memory) / 2", numbers, (cpu + memory) / 2)


def _share(amounts: NodeAmounts, *, free: bool) -> Line:
    if not amounts.fits:
        return amounts.full(0)
    requested, capacity = amounts.requested, amounts.capacity
    of = f"{amounts.name}, of {number(capacity)} {amounts.unit}"
    if free:
        formula = f"(allocatable − requested) × {MAX_PRIORITY} / allocatable"
        numbers = f"({number(capacity)} − {number(requested)}) × {MAX_PRIORITY} / {number(capacity)}"
        product = (capacity - requested) * MAX_PRIORITY
    else:
        formula = f"requested × {MAX_PRIORITY} / allocatable"
        numbers = f"{number(requested)} × {MAX_PRIORITY} / {number(capacity)}"
        product = requested * MAX_PRIORITY
    return truncated(of, formula, numbers, product / capacity, product // capacity)


def _shape(amounts: NodeAmounts, shape: Shape) -> list[Line]:
    requested, capacity = amounts.requested, amounts.capacity
    if amounts.fits:
        free = (capacity - requested) * 100 // capacity
        used = 100 - free
        of = f"{amounts.name} used, in %"
        numbers = f"100 − ({number(capacity)} − {number(requested)}) × 100 / {number(capacity)}"
        formula = "100 − (allocatable − requested) × 100 / allocatable"
        first = Line(of, formula, numbers, number(used), f"100 − {number(free)}")
    else:
        used = 100
        first = amounts.full(used)
    return [first, _on_curve(amounts.name, used, shape.points)]


def _on_curve(name: str, used: int, points: tuple[tuple[int, int], ...]) -> Line:
    """Return the line for the segment of the curve that contains the utilization."""
    if used <= points[0][0]:
        return Line(name, f"up to {points[0][0]} %", "", number(points[0][1]))
    for (x0, y0), (x1, y1) in pairwise(points):
        if used <= x1:
            product = (y1 - y0) * (used - x0)
            step = abs(product) // (x1 - x0) * (1 if product > 0 else -1)
            numbers = f"{y0} + ({y1} − {y0}) × ({used} − {x0}) / ({x1} − {x0})"
            formula = f"the line from {y0} at {x0} % to {y1} at {x1} %"
            sign = "+" if step >= 0 else "−"
            return Line(name, formula, numbers, number(y0 + step), f"{y0} {sign} {abs(step)}")
    return Line(name, f"from {points[-1][0]} %", "", number(points[-1][1]))


def balanced(asked: LineQuestion, rule: BalancedResourceAllocation) -> Description:  # noqa: ARG001
    """Describe the difference of the two shares."""
    both = (NodeAmounts(asked, 0), NodeAmounts(asked, 1))
    lines: list[Line] = []
    shares: list[float] = []
    for amounts in both:
        lines.append(amounts.sum())
        if amounts.capacity == 0:
            shares.append(1.0)
            lines.append(amounts.full(1))
            continue
        share = amounts.requested / amounts.capacity
        numbers = f"{number(amounts.requested)} / {number(amounts.capacity)}"
        shares.append(share)
        lines.append(Line(f"{amounts.name} share", "requested / allocatable", numbers, number(share)))
    cpu, memory = shares
    if cpu >= 1 or memory >= 1:
        lines.append(Line("score", "0 where cpu or memory is requested in full", "", "0"))
    else:
        numbers = f"(1 − |{number(cpu)} − {number(memory)}|) × {MAX_PRIORITY}"
        formula = f"(1 − |cpu share − memory share|) × {MAX_PRIORITY}"
        exact = (1 - abs(cpu - memory)) * MAX_PRIORITY
        lines.append(truncated("score", formula, numbers, exact))
    return Description("Nodes where cpu and memory would be used to the same share.", tuple(lines))


def resource_limits(asked: LineQuestion, rule: ResourceLimits) -> Description:  # noqa: ARG001
    """Describe the comparison of each of the pod's limits with the allocatable amount."""
    allocatable = asked.alone.allocatable
    lines: list[Line] = []
    either = False
    for name, limit, amount in zip(("cpu", "memory"), asked.pod.info.limits, allocatable[:, 0].tolist()):
        unit, size = ("m", 1) if name == "cpu" else unit_of(limit, amount)
        if not limit:
            lines.append(Line(f"{name} limit", "the pod has none", "", "0"))
            continue
        fits = amount != 0 and limit <= amount
        either |= fits
        sign = "≤" if fits else ">"
        numbers = f"{number(limit // size)} {sign} {number(amount // size)}"
        lines.append(Line(f"{name} limit, in {unit}", "limit ≤ allocatable", numbers, "1" if fits else "0"))
    lines.append(Line("score", "1 if either limit fits", "", "1" if either else "0"))
    prefers = "Nodes whose allocatable cpu or memory covers the pod's limits, not only its requests."
    return Description(prefers, tuple(lines))


def image_locality(asked: LineQuestion, rule: ImageLocality) -> Description:  # noqa: ARG001
    """Describe the scaled sum of the sizes of the images on the node."""
    found = [
        (image, asked.cluster.columns.images.get(image, {}).get(asked.node, 0))
        for image in asked.pod.info.images
    ]
    total = sum(size for _, size in found)
    lines = shortened([_image(image, size) for image, size in found], "images")
    unit, size = unit_of(total, LEAST, MOST)
    low, high, there = number(LEAST // size), number(MOST // size), number(total // size)
    lines.append(Line(f"together, in {unit}", "the sizes added up", "", there))
    if total < LEAST:
        lines.append(Line("score", "0 below 23Mi", f"{there} < {low}", "0"))
    elif total >= MOST:
        lines.append(Line("score", "10 from 1000Mi", f"{there} ≥ {high}", number(MAX_PRIORITY)))
    else:
        scaled = MAX_PRIORITY * (total - LEAST) / (MOST - LEAST) + 1
        numbers = f"{MAX_PRIORITY} × ({there} − {low}) / ({high} − {low}) + 1"
        lines.append(truncated("score", "10 × (sum − 23Mi) / (1000Mi − 23Mi) + 1", numbers, scaled))
    return Description("Nodes that hold the pod's container images already.", tuple(lines))


def _image(image: str, size: int) -> Line:
    unit, whole = unit_of(size) if size else ("bytes", 1)
    return Line(
        f"{image}, in {unit}", "its size on the node; 0 if it is not there", "", number(size // whole)
    )
