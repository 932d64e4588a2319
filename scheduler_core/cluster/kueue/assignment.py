"""What a search for flavors found: a flavor for each resource of each pod set, and why not a better one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from scheduler_core.cluster.kueue.entry import Tried
from scheduler_core.cluster.kueue.objects import Amounts, FlavorResource, Usage
from scheduler_core.cluster.kueue.workload import PodSetAssignment, TopologyAssignment

NO_FIT, NO_CANDIDATES, PREEMPT, RECLAIM, FITS = range(5)
"""How well a flavor suits, from bad to good."""

_WORDS = ("NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit")
COARSE = ("NoFit", "Preempt", "Preempt", "Preempt", "Fit")
"""The mode of an assignment by how well its flavor suits."""

_RANK = {"NoFit": 0, "Preempt": 1, "Fit": 2}


class Suitability(Struct, frozen=True):
    """How well a flavor suits, and the height of the cohort it borrows from; ``None`` where it is unknown."""

    mode: int
    height: int | None = 0


NEVER = Suitability(NO_FIT, None)
FREELY = Suitability(FITS, 0)


class FlavorAttempt(Struct, frozen=True):
    """A flavor that was tried for a pod set."""

    flavor: str
    mode: int = NO_FIT
    height: int = 0  # the greatest of its resources
    reasons: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What the event QuotaReserved says of it."""
        word = _WORDS[self.mode]
        mode = word if self.mode in (NO_FIT, FITS) else f"preemptionMode={word}"
        borrow = [f"borrow={self.height}"] if self.height else []
        return f"{self.flavor}({';'.join([mode, *borrow, *sorted(self.reasons)])})"


class FlavorChoice(Struct, frozen=True):
    """The flavor of a resource; ``tried`` is its index in the group, -1 for the last one."""

    flavor: str
    mode: str
    height: int
    tried: int


class PodSetResult(Struct, frozen=True):
    """What was found for a pod set."""

    name: str
    count: int
    requests: Amounts
    choices: Mapping[str, FlavorChoice] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    attempts: tuple[FlavorAttempt, ...] = ()
    topology: TopologyAssignment | None = None
    error: str = ""

    @property
    def mode(self) -> str:
        """Fit, Preempt or NoFit: the worst of its resources."""
        if self.error:
            return "NoFit"
        if not self.reasons:
            return "Fit"
        if not self.choices:
            return "NoFit"
        return min((one.mode for one in self.choices.values()), key=_RANK.__getitem__)

    @property
    def assigned(self) -> PodSetAssignment:
        """The assignment as the Workload's status has it."""
        return PodSetAssignment(
            name=self.name,
            count=self.count,
            flavors={resource: one.flavor for resource, one in self.choices.items()},
            usage={resource: self.requests[resource] for resource in self.choices},
            topology=self.topology,
        )


class Assignment(Struct, frozen=True):
    """What was found for a Workload; ``settled`` is its mode once topologies have been looked at."""

    pod_sets: tuple[PodSetResult, ...]
    usage: Usage
    tried: Tried
    settled: str = ""

    @property
    def mode(self) -> str:
        """Fit, Preempt or NoFit: the worst of its pod sets."""
        if self.settled:
            return self.settled
        if not self.pod_sets:
            return "NoFit"
        return min((one.mode for one in self.pod_sets), key=_RANK.__getitem__)

    @property
    def borrowing(self) -> int:
        """The greatest height of a cohort that it borrows from."""
        heights = (one.height for pod_set in self.pod_sets for one in pod_set.choices.values())
        return max(heights, default=0)

    @property
    def message(self) -> str:
        """Why the pod sets do not fit, "" if they do; an error alone if there is one."""
        for one in self.pod_sets:
            if one.error:
                return f"failed to assign flavors to pod set {one.name}: {one.error}"
        return "; ".join(
            f"couldn't assign flavors to pod set {one.name}: {', '.join(sorted(one.reasons))}"
            for one in self.pod_sets
            if one.reasons
        )

    @property
    def considered(self) -> str:
        """The flavors that were tried, but for those that fit without borrowing."""
        parts = ((one.name, _listed(one.attempts)) for one in self.pod_sets)
        return " | ".join(f"{name}: {text}" for name, text in parts if text)

    def to_preempt(self) -> frozenset[FlavorResource]:
        """Return the flavors and resources that need preemption."""
        return frozenset(
            (one.flavor, resource)
            for pod_set in self.pod_sets
            for resource, one in pod_set.choices.items()
            if one.mode == "Preempt"
        )


def _listed(attempts: Iterable[FlavorAttempt]) -> str:
    shown = (one for one in attempts if one.mode != FITS or one.height)
    return ", ".join(one.text for one in sorted(shown, key=lambda one: one.flavor))
