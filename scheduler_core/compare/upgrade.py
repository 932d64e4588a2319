"""What another release decides otherwise: the rules behind it in words, and what becomes of each pod.

A rule is behind a cycle's difference if the release decides it as the other one does once that rule alone is
taken from it: the scenario is run again up to that cycle, without the rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from time import thread_time
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.compare.by_workload import workload_of
from scheduler_core.compare.outcome import outcome
from scheduler_core.record.cycle import Cycle
from scheduler_core.run.loop import Stepper
from scheduler_core.run.v1_37.simulation import V1_37Simulation
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_37.configuration import compiled_for
from scheduler_core.schedulers.v1_37.dialect import Dialect, Difference
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.releases import DIALECTS
from scheduler_core.schedulers.v1_37.releases.derivation import without

ROWS_SHOWN = 1000
MOST_SECONDS = 20.0
"""Of CPU for running again; rules that were not tried are then named as possible ones."""
MOST_CYCLES = 20_000
"""Cycles up to the difference, beyond which it is not run again."""

SAME, OTHER_NODE, PENDING, PLACED, OTHER_MESSAGE = (
    "same node",
    "other node",
    "newly pending",
    "newly placed",
    "other message",
)
CHANGES = (SAME, OTHER_NODE, PENDING, PLACED, OTHER_MESSAGE)

_Decided = Callable[[Cycle], Any]


class RuleBehind(Struct, frozen=True):
    """A rule in which two releases differ; ``proven``: without it, the one decides as the other does."""

    subject: str
    release: str
    here: str
    other: str
    there: str
    source: str
    proven: bool

    @property
    def sentence(self) -> str:
        """The rule in words."""
        may = "" if self.proven else "It may be "
        return f"{may}{self.subject}: {self.release} {self.here}; {self.other} {self.there}."


class ChangedMessage(Struct, frozen=True):
    """The first cycle with the same decision and another message."""

    index: int
    pod: str
    a: str
    b: str
    rules: tuple[RuleBehind, ...]


class PodChange(Struct, frozen=True):
    """What becomes of a pod under two releases: nodes, or the messages of one that stays pending."""

    pod: str
    workload: str
    change: str
    a: str
    b: str


class UpgradeCheck(Struct, frozen=True):
    """What changes from one release to another; ``counts`` are of all pods by :data:`CHANGES`."""

    releases: tuple[str, str]
    rules: tuple[RuleBehind, ...]
    message: ChangedMessage | None
    counts: Mapping[str, int]
    rows: tuple[PodChange, ...]

    @property
    def history(self) -> tuple[str, ...]:
        """The rules behind the first decision that differs, a sentence each."""
        return tuple(rule.sentence for rule in self.rules)


def concerns(a: Scenario, b: Scenario) -> bool:
    """Return whether two scenarios are run by different releases that are one set of plugins."""
    return a.release != b.release and {a.release, b.release} <= DIALECTS.keys()


class Messages:
    """The last message of each pod under two releases, and the first that differs."""

    def __init__(self) -> None:
        self.last: tuple[dict[str, str], dict[str, str]] = ({}, {})
        self.first: tuple[int, Cycle, Cycle] | None = None

    def add(self, index: int, a: Cycle | None, b: Cycle | None) -> None:
        """Take a cycle of each run, None of one that has ended."""
        for cycle, last in zip((a, b), self.last, strict=True):
            if cycle is not None:
                last[cycle.pod] = cycle.message or ""
        if self.first is not None or a is None or b is None or outcome(a.decision) != outcome(b.decision):
            return
        if (a.message or "") != (b.message or ""):
            self.first = index, a, b


def checked(
    scenarios: tuple[Scenario, Scenario],
    runs: tuple[Stepper, Stepper],
    messages: Messages,
    decision: tuple[int, Cycle | None, Cycle | None] | None,
) -> UpgradeCheck:
    """Return what the upgrade changes, by runs that have ended; ``decision`` is the first that differs."""
    rules: tuple[RuleBehind, ...] = ()
    if decision is not None:
        rules = rules_behind(scenarios, *decision, lambda cycle: outcome(cycle.decision))
    message = None
    if messages.first is not None and (decision is None or messages.first[0] < decision[0]):
        index, a, b = messages.first
        found = rules_behind(scenarios, index, a, b, lambda cycle: (outcome(cycle.decision), cycle.message))
        message = ChangedMessage(index, a.pod, a.message or "", b.message or "", found)
    rows = list(_changes(runs, messages))
    counts = Counter(row.change for row in rows)
    changed = (row for row in rows if row.change != SAME)
    return UpgradeCheck(
        (scenarios[0].release, scenarios[1].release),
        rules,
        message,
        {change: counts[change] for change in CHANGES},
        tuple(islice(changed, ROWS_SHOWN)),
    )


def _changes(runs: tuple[Stepper, Stepper], messages: Messages) -> Iterator[PodChange]:
    """Yield what became of each pod; those that another node has, or none, first."""
    found = []
    left, right = (run.cluster.pods for run in runs)
    for key in dict.fromkeys((*left, *right)):
        ends = [pods[key].node_name if key in pods else "" for pods in (left, right)]
        meta = (left.get(key) or right[key]).pod.meta
        change, texts = _change(ends, [last.get(key, "") for last in messages.last])
        found.append(PodChange(key, workload_of(meta), change, *texts))
    yield from sorted(found, key=lambda row: (_ORDER[row.change], row.pod))


_ORDER = {change: place for place, change in enumerate((PENDING, PLACED, OTHER_NODE, OTHER_MESSAGE, SAME))}


def _change(nodes: Sequence[str], messages: Sequence[str]) -> tuple[str, Sequence[str]]:
    if nodes[0] and nodes[1]:
        return (SAME if nodes[0] == nodes[1] else OTHER_NODE), nodes
    if nodes[0] or nodes[1]:
        return (PENDING if nodes[0] else PLACED), [n or m or "pending" for n, m in zip(nodes, messages)]
    return (SAME if messages[0] == messages[1] else OTHER_MESSAGE), messages


# --- The rules behind a difference.


def rules_behind(
    scenarios: tuple[Scenario, Scenario], index: int, a: Cycle | None, b: Cycle | None, decided: _Decided
) -> tuple[RuleBehind, ...]:
    """Return the rules behind the difference of a cycle: those that are, or else those that may be.

    ``decided`` returns that of a cycle which differs.
    """
    began = thread_time()
    found: list[tuple[Dialect, Difference, bool | None]] = []
    for which, dialect, difference in _apart(scenarios[0].release, scenarios[1].release):
        scenario, other = (scenarios[0], b) if which == 0 else (scenarios[1], a)
        tried = None
        if index <= MOST_CYCLES and thread_time() - began < MOST_SECONDS and not scenario.row.is_timed:
            tried = _decides_so(scenario, dialect, difference, index, other, decided)
        found.append((dialect, difference, tried))
    proven = [one for one in found if one[2]]
    possible = [one for one in found if one[2] is None and one[1].shows]
    return tuple(
        RuleBehind(
            one.subject, dialect.name, one.here, dialect.base, one.there, dialect.source_of(one), bool(tried)
        )
        for dialect, one, tried in (proven or possible)
    )


def _apart(a: str, b: str) -> Iterator[tuple[int, Dialect, Difference]]:
    """Yield the differences between two releases, each with which of the two has it, and its release."""
    lines = [list(_line(a)), list(_line(b))]
    for which, own in enumerate(lines):
        others = {dialect.name for dialect in lines[1 - which]}
        for dialect in own:
            if dialect.name not in others:
                yield from ((which, dialect, one) for one in dialect.differences)


def _line(release: str) -> Iterator[Dialect]:
    """Yield a release, that from which it differs, and so on."""
    while release:
        yield DIALECTS[release]
        release = DIALECTS[release].base


class _Hybrid(V1_37Simulation):
    """A run of a scenario by a release that lacks one of its differences."""

    def __init__(self, scenario: Scenario, dialect: Dialect) -> None:
        self._dialect = dialect
        super().__init__(scenario, trace=False)

    def _compiled(self, configuration: Configuration) -> CompiledConfiguration:
        gates = configuration.settings.feature_gates
        return compiled_for(configuration.policy, gates, self._dialect)


def _decides_so(
    scenario: Scenario,
    dialect: Dialect,
    difference: Difference,
    index: int,
    other: Cycle | None,
    decided: _Decided,
) -> bool:
    """Return whether a scenario's release decides a cycle as ``other`` without a difference."""
    chain = [*_line(scenario.release)]
    run = _Hybrid(scenario, without(chain, dialect, difference))
    cycle = next(islice(run, index - 1, index), None)
    if cycle is None or other is None:
        return cycle is other
    return cycle.pod == other.pod and bool(decided(cycle) == decided(other))


def with_rules(found: Any, rules: Iterable[RuleBehind]) -> Any:
    """Return a first difference with what the releases' rules say of it."""
    sentences = tuple(rule.sentence for rule in rules)
    if found is None or not sentences:
        return found
    subject = next(iter(rules)).subject
    return replace(found, rule=found.rule or subject, history=sentences)
