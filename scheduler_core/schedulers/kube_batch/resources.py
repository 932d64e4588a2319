"""Amounts of resources with kube-batch's tolerant comparisons (api.Resource)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler_core.kubernetes.model import Resources
from scheduler_core.kubernetes.resources import is_scalar

CPU_EPSILON = 10.0  # millicores
MEMORY_EPSILON = 10.0 * 1024 * 1024  # bytes
SCALAR_EPSILON = 10.0  # thousandths
SCALAR_UNIT = 1000  # a scalar resource is counted in thousandths


class InsufficientError(ArithmeticError):
    """More was subtracted than there is: the original's process ends here (Resource.Sub)."""


class Resource:
    """Amounts of cpu (millicores), memory (bytes) and scalar resources (thousandths).

    ``scalars`` is ``None`` where no scalar resource was ever counted, which :meth:`less` distinguishes from
    a map of zeros. Methods that change the amounts return the resource itself.
    """

    __slots__ = ("cpu", "memory", "scalars")

    def __init__(
        self, cpu: float = 0.0, memory: float = 0.0, scalars: dict[str, float] | None = None
    ) -> None:
        self.cpu = cpu
        self.memory = memory
        self.scalars = scalars

    @classmethod
    def of(cls, amounts: Resources) -> Resource:
        """Return the amounts of a request or of allocatable; the number of pods is not among them
        (NewResource).
        """
        scalars = {name: float(amount * SCALAR_UNIT) for name, amount in amounts.items() if is_scalar(name)}
        return cls(float(amounts.get("cpu", 0)), float(amounts.get("memory", 0)), scalars or None)

    def __repr__(self) -> str:
        extra = "".join(f", {name} {amount:g}" for name, amount in (self.scalars or {}).items())
        return f"cpu {self.cpu:g}, memory {self.memory:g}{extra}"

    def copy(self) -> Resource:
        """Return an independent copy."""
        return Resource(self.cpu, self.memory, None if self.scalars is None else dict(self.scalars))

    def get(self, name: str) -> float:
        """Return the amount of one resource, 0 if it is absent."""
        if name == "cpu":
            return self.cpu
        if name == "memory":
            return self.memory
        return 0.0 if self.scalars is None else self.scalars.get(name, 0.0)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the resources: cpu, memory and the scalars present."""
        return ("cpu", "memory", *(self.scalars or ()))

    @property
    def empty(self) -> bool:
        """Whether every amount is below its epsilon (Resource.IsEmpty)."""
        return (
            self.cpu < CPU_EPSILON
            and self.memory < MEMORY_EPSILON
            and all(amount < SCALAR_EPSILON for amount in (self.scalars or {}).values())
        )

    def add(self, other: Resource) -> Resource:
        """Add another's amounts."""
        self.cpu += other.cpu
        self.memory += other.memory
        if other.scalars:
            if self.scalars is None:
                self.scalars = {}
            for name, amount in other.scalars.items():
                self.scalars[name] = self.scalars.get(name, 0.0) + amount
        return self

    def sub(self, other: Resource) -> Resource:
        """Subtract another's amounts.

        Raises:
            InsufficientError: They exceed these by more than the epsilons.
        """
        if not other.fits(self):
            raise InsufficientError(f"Resource is not sufficient to do operation: <{self}> sub <{other}>")
        self.cpu -= other.cpu
        self.memory -= other.memory
        if other.scalars and self.scalars is not None:
            for name, amount in other.scalars.items():
                self.scalars[name] = self.scalars.get(name, 0.0) - amount
        return self

    def raise_to(self, other: Resource) -> Resource:
        """Raise each amount to another's (Resource.SetMaxResource)."""
        self.cpu = max(self.cpu, other.cpu)
        self.memory = max(self.memory, other.memory)
        if other.scalars:
            own = self.scalars or {}
            self.scalars = {**own, **{n: max(a, own.get(n, a)) for n, a in other.scalars.items()}}
        return self

    def scaled(self, ratio: float) -> Resource:
        """Return the amounts multiplied by a ratio."""
        scalars = None if self.scalars is None else {n: a * ratio for n, a in self.scalars.items()}
        return Resource(self.cpu * ratio, self.memory * ratio, scalars)

    def fits(self, other: Resource) -> bool:
        """Return whether every amount is at most another's, within the epsilons (Resource.LessEqual)."""
        if not (self.cpu - other.cpu < CPU_EPSILON and self.memory - other.memory < MEMORY_EPSILON):
            return False
        theirs = other.scalars or {}
        return all(
            amount <= SCALAR_EPSILON or amount - theirs.get(name, 0.0) < SCALAR_EPSILON
            for name, amount in (self.scalars or {}).items()
        )

    def less(self, other: Resource) -> bool:
        """Return whether every amount is strictly below another's (Resource.Less).

        Without scalars of its own, a map of scalars on the other side has to be above the epsilon
        throughout; with scalars, the other side needs a map too.
        """
        if not (self.cpu < other.cpu and self.memory < other.memory):
            return False
        if self.scalars is None:
            return all(amount > SCALAR_EPSILON for amount in (other.scalars or {}).values())
        if other.scalars is None:
            return False
        return all(amount < other.scalars.get(name, 0.0) for name, amount in self.scalars.items())

    def least(self, other: Resource) -> Resource:
        """Return the lower amount of each; scalars only if both have some (helpers.Min)."""
        scalars = None
        if self.scalars is not None and other.scalars is not None:
            scalars = {n: min(a, other.scalars.get(n, 0.0)) for n, a in self.scalars.items()}
        return Resource(min(self.cpu, other.cpu), min(self.memory, other.memory), scalars)

    def difference(self, previous: Resource) -> tuple[Resource, Resource]:
        """Return how much was gained and lost since a previous state (Resource.Diff).

        A scalar that is no longer present counts as neither.
        """
        gained, lost = Resource(), Resource()
        for name in self.names:
            change = self.get(name) - previous.get(name)
            gained._count(name, max(change, 0.0))
            lost._count(name, max(-change, 0.0))
        return gained, lost

    def _count(self, name: str, amount: float) -> None:
        if name == "cpu":
            self.cpu = amount
        elif name == "memory":
            self.memory = amount
        elif amount:
            self.scalars = {**(self.scalars or {}), name: amount}

    def missing(self, request: Resource) -> tuple[str, ...]:
        """Return the resources of which there is too little for a request (Resource.FitDelta)."""
        epsilons = {"cpu": CPU_EPSILON, "memory": MEMORY_EPSILON}
        found = []
        for name in dict.fromkeys((*self.names, *request.names)):
            wanted = request.get(name)
            margin = epsilons.get(name, SCALAR_EPSILON) if wanted > 0 else 0.0
            if self.get(name) - wanted - margin < 0:
                found.append(name)
        return tuple(found)

    def amounts(self) -> Mapping[str, float]:
        """Return the amounts by name."""
        return {"cpu": self.cpu, "memory": self.memory, **(self.scalars or {})}


def total(resources: Iterable[Resource]) -> Resource:
    """Return the sum."""
    result = Resource()
    for one in resources:
        result.add(one)
    return result


def share(amount: float, whole: float) -> float:
    """Return the part of a whole; of nothing, any amount is everything (helpers.Share)."""
    if whole == 0:
        return 0.0 if amount == 0 else 1.0
    return amount / whole


def dominant_share(allocated: Resource, of: Resource) -> tuple[float, str]:
    """Return the highest share of any resource of a whole, and that resource; "" if all are 0."""
    highest, dominant = 0.0, ""
    for name in of.names:
        found = share(allocated.get(name), of.get(name))
        if found > highest:
            highest, dominant = found, name
    return highest, dominant
