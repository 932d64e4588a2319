"""One case of a contract: a calm cluster's life after a history, and whether the claim holds in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import accumulate, islice
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.kueue.control import Control
from scheduler_core.cluster.v1_37.objects import key_of, node_of
from scheduler_core.compare.calm import SECOND, CalmCluster, plane_of
from scheduler_core.interrupts import look
from scheduler_core.kubernetes.manifests import Manifest
from scheduler_core.run import Stepper
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.studies.contracts.document import Contract
from scheduler_core.studies.contracts.events import UPGRADE, Terrain
from scheduler_core.studies.contracts.facts import WAITING, AnyFacts, FactReader, FactWatch, Settled
from scheduler_core.studies.contracts.histories import History
from scheduler_core.studies.contracts.subjects import Subject

RecordedStep = tuple[str, str, str]
"""The step of a cycle, its pod, and the node that it chose, "" for none."""
MOST_STEPS = 200


class Breach(Struct, frozen=True):
    """Where a claim does not hold: of which subject, when, at which step, and the facts of then."""

    subject: str
    second: float
    step: str
    facts: Mapping[str, float]


class CaseOutcome(Struct, frozen=True):
    """What became of a case: by how much its claim holds, and where it does not.

    ``steps`` are the last decisions before that.
    """

    margin: float
    breach: Breach | None = None
    steps: tuple[RecordedStep, ...] = ()


class CheckedCluster:
    """A scenario that was played until it is calm, with what a contract asks of it.

    Raises:
        Unplayable: It has no controllers.
        BundleError: It cannot be read with controllers.
        PolicyError: Its configuration cannot be used.
    """

    def __init__(self, scenario: Scenario, second: float = SECOND) -> None:
        self.scenario = scenario
        self.calm = CalmCluster(scenario, second, recorded=False)
        self.server = self.calm.server
        self.terrain = Terrain(scenario, self.server, second)
        self.home = {key_of(pod): node_of(pod) for pod in self.server.of_kind("Pod") if node_of(pod)}
        self._released: dict[str, CalmCluster] = {}
        self.counted: dict[tuple[int, int], list[AnyFacts]] = {}
        """The facts at the moment at which events land, by whose they are and the cycles before it."""

    def calm_under(self, release: str) -> CalmCluster:
        """Return the cluster as another release has placed its pods."""
        if not release:
            return self.calm
        found = self._released.get(release)
        if found is None:
            own = self.scenario
            read = load_documents(own.documents, title=own.title, scheduler=release)
            found = self._released[release] = CalmCluster(read, self.calm.second, recorded=False)
        return found

    def entries(self, history: History) -> list[Manifest]:
        """Return the operations of a history."""
        seconds = accumulate((event.after for event in history), initial=self.calm.second)
        return [
            entry
            for number, (event, second) in enumerate(zip(history, islice(seconds, 1, None)))
            if event.verb != UPGRADE
            for entry in self.terrain.entries(event, second, number)
        ]


def control_of(run: Stepper) -> Control | None:
    """Return Kueue's state in a run, ``None`` without Kueue. Raises Unplayable."""
    kueue = plane_of(run).kueue
    return None if kueue is None else kueue.control


class Case:
    """A case that is being played; :meth:`play` it once."""

    def __init__(self, cluster: CheckedCluster, contract: Contract, subjects: tuple[Subject, ...]) -> None:
        self.cluster = cluster
        self.contract = contract
        self.subjects = subjects
        self.breach: tuple[Subject, float, int, dict[str, float]] | None = None
        self.margins: dict[str, float] = {}
        self.labels: dict[int, str] = {}
        self.steps: deque[RecordedStep] = deque(maxlen=MOST_STEPS)
        self.begin = cluster.calm.second

    def play(self, history: History) -> CaseOutcome:
        """Play a history to the end of the contract's window, or until its claim is settled."""
        last = self.begin + sum(event.after for event in history)
        watch = self._run(history, last + self.contract.within)
        self._conclude(watch)
        margin = min(self.margins.values(), default=0.0)
        if self.breach is None:
            return CaseOutcome(margin)
        subject, second, index, facts = self.breach
        return CaseOutcome(margin, Breach(subject.name, second, self._step(index), facts), tuple(self.steps))

    def _run(self, history: History, until: float) -> FactWatch:
        release = next((one.value for one in history if one.verb == UPGRADE), "")
        run = self.cluster.calm_under(release).after(self.cluster.entries(history))
        plane = plane_of(run)
        known = (id(self.contract.subject), run.index)
        watch = FactWatch(
            plane.server,
            self.subjects,
            self._judge,
            self.cluster.home,
            lambda: run.index,
            self.begin,
            until,
            frozenset(fact.name for fact in self.contract.condition.facts),
            control_of(run),
            self.cluster.counted.get(known),
        )
        if not release and run.index:
            self.cluster.counted.setdefault(known, watch.copied())
        plane.observers.append(watch.observe)
        self.labels[run.index] = f"{run.major}.{run.minor}"
        try:
            while (cycle := run.step()) is not None:
                look()
                self.labels[cycle.index] = cycle.step
                self.steps.append((cycle.step, cycle.pod, cycle.decision.node or ""))
            watch.pass_to(until)
        except Settled:
            self.labels[run.index + 1] = f"{run.major}.{run.minor + 1}"
        return watch

    def _judge(self, facts: FactReader, subject: Subject, index: int) -> None:
        """Take a state that cycle ``index`` brought about."""
        mode = self.contract.mode
        holds, margin = self.contract.condition.judge(facts)
        if mode == "never":
            holds, margin = not holds, -margin
        if mode in ("always", "never"):
            self._see(subject, min(margin, self.margins.get(subject.name, margin)))
            if not holds and self.breach is None:
                self._break(facts, subject, index)
                raise Settled
            return
        margin = margin if holds else -abs(margin) or -1.0
        best = self.margins.get(subject.name, margin) if mode == "eventually" else margin
        self._see(subject, max(margin, best))

    def _see(self, subject: Subject, margin: float) -> None:
        self.margins[subject.name] = margin

    def _break(self, facts: FactReader, subject: Subject, index: int) -> None:
        named = {str(fact): facts(fact) for fact in self.contract.condition.facts}
        waits = any(fact.name in WAITING for fact in self.contract.condition.facts)
        self.breach = subject, facts.now if waits else facts.since, index, named

    def _conclude(self, watch: FactWatch) -> None:
        """Find the subject that is left without what should have come."""
        if self.contract.mode in ("always", "never"):
            return
        for one in watch.of:
            if self.breach is None and self.margins.get(one.subject.name, 0.0) < 0:
                self._break(FactReader(watch, one, watch.until, watch.until), one.subject, watch.index)

    def _step(self, index: int) -> str:
        """Return the step of the cycle with a number, or of the nearest one that was played."""
        known = [one for one in self.labels if one <= index] or list(self.labels)
        return self.labels[max(known)]


def play(
    cluster: CheckedCluster, contract: Contract, subjects: tuple[Subject, ...], history: History
) -> CaseOutcome:
    """Play one case. Raises what the simulation raises on operations that cannot be read."""
    return Case(cluster, contract, subjects).play(history)


def numbers(facts: Mapping[str, float]) -> dict[str, Any]:
    """Return facts with whole numbers as such."""
    return {name: int(value) if value == int(value) else round(value, 3) for name, value in facts.items()}
