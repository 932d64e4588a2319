"""One scenario under two settings of the equivalence cache: where they diverge, and the audit's findings.

Both runs proceed in parallel without a trace; the first cycle with different outcomes is kept from both.
Until then both have the same cluster, so any difference comes from the results of the two caches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from scheduler_core.compare.compare import last_nodes
from scheduler_core.compare.cost import expected_cycles
from scheduler_core.compare.outcome import outcome
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.cache_record import Counts, StaleHit
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.instant import Simulation
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11.equivalence.keeper import CacheKeeper

STALE_LISTED = 5  # stale hits of the first differing cycle, per side


class RunSide(Struct, frozen=True):
    """The totals of one run. ``causes`` are stale hits by cause, the most frequent first."""

    cache: str
    audit: bool
    cycles: int
    placed: int
    hits: int
    evaluations: int
    stale: int
    causes: tuple[tuple[str, int], ...]


class SideDecision(Struct, frozen=True):
    """One side's decision in the first differing cycle, with stale hits; those on its nodes come first."""

    pod: str
    result: str
    node: str | None
    message: str
    nominated: str | None
    victims: tuple[str, ...]
    stale: tuple[StaleHit, ...]


class Parting(Struct, frozen=True):
    """The first cycle with different outcomes; a side is ``None`` if its run had ended."""

    index: int
    step: str
    pod: str
    here: SideDecision | None
    there: SideDecision | None
    words: str


class RunDivergence(Struct, frozen=True):
    """Two runs of one scenario. ``differing`` counts the pods whose final nodes differ."""

    here: RunSide
    there: RunSide
    differing: int
    first: Parting | None

    def as_dict(self) -> dict[str, Any]:
        """Return this as a JSON object."""
        return plain(self)  # type: ignore[no-any-return]


@dataclass(slots=True)
class _SideRun:
    scenario: Scenario
    simulation: Simulation = field(init=False)
    counts: Counts = field(default_factory=Counts)
    evaluations: int = 0
    keepers: list[CacheKeeper] = field(default_factory=list)  # a restarted scheduler gets a new one

    def __post_init__(self) -> None:
        self.simulation = Simulation(self.scenario, trace=False)

    def step(self) -> Cycle | None:
        cycle = self.simulation.step()
        if cycle is None:
            return None
        self.evaluations += cycle.evaluations
        if cycle.cache is not None:
            self.counts.add(cycle.cache.counts)
        keeper = self.simulation.cache
        if isinstance(keeper, CacheKeeper) and (not self.keepers or self.keepers[-1] is not keeper):
            self.keepers.append(keeper)
        return cycle

    def side(self) -> RunSide:
        settings = self.scenario.settings
        causes: Counter[str] = Counter()
        for keeper in self.keepers:
            causes.update(keeper.audit.causes)
        return RunSide(
            cache=settings.cache,
            audit=settings.audit and bool(self.keepers),
            cycles=self.simulation.index,
            placed=sum(bool(node) for node in self.simulation.placement().values()),
            hits=self.counts.hits,
            evaluations=self.evaluations,
            stale=self.counts.stale,
            causes=tuple(causes.most_common()),
        )


def diverging(here: Scenario, there: Scenario) -> Generator[tuple[int, int], None, RunDivergence]:
    """Run both, yielding the done and the expected cycles of both after each; return the divergence.

    Raises:
        PolicyError: The scenario's policy cannot be used.
    """
    mine, other = _SideRun(here), _SideRun(there)
    expected = 2 * expected_cycles(here)
    first: Parting | None = None
    done = index = 0
    while True:
        index += 1
        left, right = mine.step(), other.step()
        if left is None and right is None:
            break
        done += (left is not None) + (right is not None)
        if first is None and _ends(left) != _ends(right):
            first = _parting(index, left, right, (here.settings.cache, there.settings.cache))
        yield done, max(done, expected)
    before, after = last_nodes(mine.simulation), last_nodes(other.simulation)
    pods = dict.fromkeys([*before, *after])
    differing = sum(before.get(pod, "") != after.get(pod, "") for pod in pods)
    return RunDivergence(mine.side(), other.side(), differing, first)


def _ends(cycle: Cycle | None) -> Any:
    return None if cycle is None else outcome(cycle.decision)


def _parting(index: int, here: Cycle | None, there: Cycle | None, modes: tuple[str, str]) -> Parting:
    shown = here or there
    assert shown is not None
    nodes = {cycle.node for cycle in (here, there) if cycle is not None}
    sides = [None if cycle is None else _side_decision(cycle, nodes) for cycle in (here, there)]
    return Parting(index, shown.step, shown.pod, sides[0], sides[1], _words(here, there, modes))


def _side_decision(cycle: Cycle, nodes: set[str | None]) -> SideDecision:
    decision = cycle.decision
    stale = _concerned(cycle, nodes)
    return SideDecision(
        decision.pod,
        decision.result,
        decision.node,
        cycle.message or "",
        decision.nominated,
        decision.victims,
        tuple(stale[:STALE_LISTED]),
    )


def _concerned(cycle: Cycle, nodes: set[str | None]) -> list[StaleHit]:
    """Return a cycle's stale hits, those on the nodes in question first."""
    stale = [] if cycle.cache is None else cycle.cache.stale
    return sorted(stale, key=lambda hit: hit.node not in nodes)


def _words(here: Cycle | None, there: Cycle | None, modes: tuple[str, str]) -> str:
    """Describe the difference in plain words, with its cause if the audit or the cache record shows it."""
    names = [f"under {mode}" if mode != "off" else "without a cache" for mode in modes]
    if modes[0] == modes[1]:
        names = [f"{names[0]} as it is set here", f"{names[1]} as it is set there"]
    if here is None or there is None:
        over, goes_on = names if here is None else reversed(names)
        cycle = here or there
        assert cycle is not None
        return f"The run {over} has ended, while {goes_on} {cycle.pod} is still tried."
    if here.pod != there.pod:
        return (
            f"{_upper(names[0])} {here.pod} is tried next, {names[1]} {there.pod}: "
            "an earlier cycle moved other pods in the queue."
        )
    text = f"{_upper(names[0])} {here.pod} {_fate(here)}; {names[1]} it {_fate(there)}."
    nodes = {here.node, there.node}
    for cycle, name in ((there, names[1]), (here, names[0])):
        why = _why(cycle, name, nodes)
        if why:
            return f"{text} {why}"
    if here.node and there.node and here.last_node_index != there.last_node_index:
        return (
            f"{text} The counter that breaks ties stands at {here.last_node_index:,} {names[0]} and at "
            f"{there.last_node_index:,} {names[1]}: earlier cycles ranked nodes under one of them alone."
        )
    return text


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _fate(cycle: Cycle) -> str:
    decision = cycle.decision
    if decision.node is not None:
        return f"goes to {decision.node}"
    if decision.nominated is not None:
        pods = f"{len(decision.victims)} pod{'' if len(decision.victims) == 1 else 's'}"
        if not decision.victims:
            return f"fits nowhere and is nominated to {decision.nominated}, where no victims are needed"
        return f"fits nowhere and preempts {pods} on {decision.nominated}"
    return "cannot be tried" if decision.result == "error" else "fits nowhere"


def _why(cycle: Cycle, name: str, nodes: set[str | None]) -> str:
    record = cycle.cache
    if record is None:
        return ""
    hits = [hit for hit in _concerned(cycle, nodes) if hit.node in nodes] or record.stale
    if hits:
        hit = hits[0]
        said = "did not fit" if hit.cached else "fits"
        true = f"does not fit ({', '.join(hit.true)})" if hit.true else "fits"
        since = f" since {hit.event}" if hit.event else " in truth"
        return (
            f"{_upper(name)} a stale answer was believed: by {hit.predicate} of cycle {hit.written:,} the "
            f"pod {said} on {hit.node}, but{since} it {true}."
        )
    if record.hint and record.hint in nodes:
        return (
            f"{_upper(name)} {record.hint} was the next best node of the ranking made for an earlier pod, "
            "and no other node was scored again."
        )
    return ""
