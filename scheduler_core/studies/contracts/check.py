"""Check contracts: what is wrong with them in a cluster, and the verdict on each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from random import Random
from typing import Any

from scheduler_core.compare.calm import SECOND, CalmCluster, Unplayable
from scheduler_core.compare.refinement import Coloring
from scheduler_core.formats.problems import problems_of
from scheduler_core.interrupts import also_interrupted_by
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.scenario.history_entries import with_entries
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.studies.contracts.case import CaseOutcome, CheckedCluster, control_of, play
from scheduler_core.studies.contracts.choices import Sequences
from scheduler_core.studies.contracts.conditions import FACTS, QUEUES, FactName
from scheduler_core.studies.contracts.document import Contract, raise_problems
from scheduler_core.studies.contracts.events import UPGRADE
from scheduler_core.studies.contracts.facts import OF_NODES
from scheduler_core.studies.contracts.headroom import Headroom
from scheduler_core.studies.contracts.histories import Histories, History, histories
from scheduler_core.studies.contracts.known import foreign, podless, unknown_argument, unknown_quota
from scheduler_core.studies.contracts.parallel import exhaust_together
from scheduler_core.studies.contracts.search import (
    CheckBounds,
    Countdown,
    Searched,
    exhaust,
    representatives,
    sample,
    unlike,
)
from scheduler_core.studies.contracts.shrinker import Broken, Shrinker
from scheduler_core.studies.contracts.subjects import Subject
from scheduler_core.studies.contracts.symmetry import HistoryClass, classes_of, losses_of
from scheduler_core.studies.contracts.verdict import (
    HOLDS,
    UNCOUNTERED,
    UNSAID,
    VIOLATED,
    Counterexample,
    Verdict,
)

MOST_HISTORIES = 10**8
"""Histories of a contract in one order, beyond which it has to say how many ``cases`` to play."""

NOT_FORKED = "queue, nominations and scores are of a release, so no calm cluster is forked under another one"

NOTHING_PLAYED, MORE = "no case ends within", "allow more seconds, or a shorter window"

Note = Callable[[str, int, int], None]
"""A callback with the contract's name, the cases that were played, and how many there are to play."""


def unnoted(_contract: str, _done: int, _of: int) -> None:
    """Ignore the progress."""


def check(
    scenario: Scenario, contracts: Sequence[Contract], budget: CheckBounds | None = None, note: Note = unnoted
) -> Iterator[Verdict]:
    """Yield the verdict on each contract, in their order.

    Raises:
        BundleError: A contract asks for what the cluster does not have, or the cluster cannot be read.
        PolicyError: Its configuration cannot be used.
    """
    budget = budget or CheckBounds()
    try:
        cluster = CheckedCluster(scenario)
    except Unplayable as error:
        yield from (_unsaid(contract, str(error)) for contract in contracts)
        return
    prepared = [_Check(cluster, contract) for contract in contracts]
    for contract in contracts:
        raise_problems(contract.at.report)
    for one in prepared:
        yield one.verdict(budget, note)


def misfits(scenario: Scenario, contracts: Sequence[Contract]) -> list[Problem]:
    """Return what contracts ask for that the cluster does not have, without a case being played.

    It is the cluster of the beginning, unless operations change it before events begin.

    Raises:
        BundleError: The cluster cannot be read.
        PolicyError: Its configuration cannot be used.
    """
    try:
        cluster = CheckedCluster(scenario, SECOND if scenario.operations else 0.0)
    except Unplayable:
        return []
    for contract in contracts:
        _Check(cluster, contract)
    errors = [error for contract in contracts[:1] for error in contract.at.report.errors]
    return sorted(problems_of(errors), key=Problem.place)


class _Check:
    """One contract in a cluster: its subjects and its histories."""

    def __init__(self, cluster: CheckedCluster, contract: Contract) -> None:
        self.cluster = cluster
        self.contract = contract
        self.subjects: tuple[Subject, ...] = contract.subject.subjects(cluster.server)
        found = [one.choices(cluster.terrain) for one in contract.when]
        self.histories = histories([one for one in found if one is not None], contract.apart)
        self.by_own_pods = False
        self._check_subjects()
        self._check_facts()
        self._check_size(self.histories)

    def _check_subjects(self) -> None:
        """Report a subject that no pod is of, and none may become of."""
        pods = [*self.cluster.server.of_kind("Pod"), *self.cluster.terrain.pod_templates()]
        place = self.contract.at.child("spec").child("for")
        for subject in self.subjects:
            if message := podless(subject, self.cluster.terrain, pods):
                place.error(message)

    def _check_facts(self) -> None:
        """Report facts that are not of the subject, and labels, resources and quotas that there are not."""
        place = self.contract.at.child("spec").child(self.contract.mode)
        for fact in self.contract.condition.facts if self.subjects else ():
            if message := foreign(fact, self.subjects) or self._unknown(fact):
                place.error(message)

    def _unknown(self, fact: FactName) -> str:
        control = control_of(self.cluster.calm.run)
        if QUEUES in FACTS[fact.name].of and fact.argument and control is not None:
            return unknown_quota(fact, self.subjects, control)
        return unknown_argument(fact, self.cluster.terrain)

    def _check_size(self, found: Histories) -> None:
        open_ = prod(one.size for one in found.choices if not isinstance(one, Sequences))
        if open_ > MOST_HISTORIES and not self.contract.cases:
            self.contract.at.child("spec").child("when").error(
                f"leaves {open_:,} cases open, more than {MOST_HISTORIES:,}: choose fewer of the nodes or a "
                "shorter range, or set cases to how many seeded random ones to play"
            )

    def verdict(self, budget: CheckBounds, note: Note) -> Verdict:
        """Return the verdict."""
        time = Countdown(budget.seconds)
        classes = self._classes(budget)
        searched = self._searched(classes, budget, time, note)
        return self._made(searched, classes, time, budget)

    def _classes(self, budget: CheckBounds) -> list[HistoryClass] | None:
        if self.contract.cases:
            return None
        dice = Random(budget.seed)  # noqa: S311 -- seeded on purpose
        found = self._by_own_pods(dice, budget)
        self.by_own_pods = found is not None
        return found or classes_of(self.histories, self._coloring(), dice, budget.cases)

    def _by_own_pods(self, dice: Random, budget: CheckBounds) -> list[HistoryClass] | None:
        """Return the classes of lost or drained nodes by their own pods alone, if nothing else matters.

        It is so where every evicted pod finds a node in any case, and no fact is read of nodes.
        """
        all_of, room = self.histories, Headroom(self.cluster.server, self.cluster.scenario)
        reads_nodes = any(fact.name in OF_NODES for fact in self.contract.condition.facts)
        if reads_nodes or not (all_of.is_loss or all_of.is_drain) or not room.is_known:
            return None
        if all_of.is_loss:
            found = losses_of(all_of, self._coloring(blind=True), dice, budget.cases)
        else:
            apart = Random(budget.seed)  # noqa: S311 -- what follows draws as if this had not been tried
            found = classes_of(all_of, self._coloring(blind=True), apart, budget.cases)
        safe = found and all(room.suffices([key[1] for key in one.one[0].targets]) for one in found)
        return found if safe else None

    def _coloring(self, *, blind: bool = False) -> Coloring:
        server, documents = self.cluster.server, self.cluster.scenario.documents
        own = self.subjects[0].workloads if len(self.subjects) == 1 else ()
        return Coloring(server, documents, [*self.histories.named, *own], self._has, blind=blind)

    def _has(self, pod: Manifest) -> bool:
        """Return whether a pod is one that a subject selects by itself, not by its workload."""
        return any(one.has(pod, ("", "")) for one in self.subjects if not one.workloads)

    def _searched(
        self, classes: list[HistoryClass] | None, budget: CheckBounds, time: Countdown, note: Note
    ) -> Searched:
        with also_interrupted_by(time.check):
            return (
                self._sample(budget, time, note)
                if classes is None
                else self._exhaust(classes, budget, time, note)
            )

    def _sample(self, budget: CheckBounds, time: Countdown, note: Note) -> Searched:
        name, cases = self.contract.name, min(budget.cases, self.contract.cases or budget.cases)
        bounds = CheckBounds(cases, budget.seconds, budget.seed)
        return sample(self.histories, self._play, bounds, time, lambda done: note(name, done, cases))

    def _exhaust(
        self, classes: list[HistoryClass], budget: CheckBounds, time: Countdown, note: Note
    ) -> Searched:
        name, found = self.contract.name, list(representatives(classes))
        if budget.processes > 1:
            return exhaust_together(found, self._play, time, budget.processes)
        return exhaust(found, self._play, time, lambda done: note(name, done, len(found)))

    def _play(self, history: History) -> CaseOutcome:
        return play(self.cluster, self.contract, self.subjects, history)

    def _made(
        self, searched: Searched, classes: list[HistoryClass] | None, time: Countdown, budget: CheckBounds
    ) -> Verdict:
        unsimulated = unsimulated_in(self.cluster.calm.run.scenario)
        differ = unlike(classes or (), searched.margins)
        shown = None
        if searched.broken is not None:
            word = VIOLATED
            shown = self._counterexample(*searched.broken, budget.shrinking)
        elif unsimulated or not searched.played:
            word = UNSAID
        else:
            word = HOLDS if searched.whole and not differ else UNCOUNTERED
        return _verdict(
            self.contract,
            verdict=word,
            cases=self.histories.size,
            played=searched.played,
            classes=0 if classes is None else len(classes),
            seconds=time.seconds,
            seed=budget.seed if searched.seeded else None,
            counterexample=shown,
            unsimulated=unsimulated,
            reason="" if searched.played else f"{NOTHING_PLAYED} {budget.seconds:g} s: {MORE}",
            notes=tuple(self._notes(differ)),
        )

    def _notes(self, differ: tuple[History, History] | None) -> Iterator[str]:
        if differ is not None:
            one, other = (", then ".join(event.words for event in history) for history in differ)
            yield f"{one} and {other} differ in names alone and end differently: names break ties"
        if self.by_own_pods:
            yield "every evicted pod fits wherever the others go: nodes are alike by their own pods"
        for nemesis in self.contract.when:
            if nemesis.name == UPGRADE:
                yield f"{nemesis.value['scheduler']} places all pods from the start: {NOT_FORKED}"

    def _counterexample(self, history: History, played: CaseOutcome, seconds: float) -> Counterexample:
        found = Broken(self.cluster, self.contract, history, played)
        best = Shrinker(found, Countdown(seconds)).shrunk()
        assert best.played.breach is not None
        documents = bundle_of(best)
        return Counterexample(
            tuple(one.words for one in best.history),
            best.played.breach,
            found.extent,
            best.extent,
            documents,
            best.played.steps,
        )


def bundle_of(broken: Broken) -> list[Document]:
    """Return the documents that play a counterexample, with its operations."""
    documents = _calm(broken).run.scenario.documents
    return with_entries(documents, broken.cluster.entries(broken.history))


def _calm(broken: Broken) -> CalmCluster:
    release = next((one.value for one in broken.history if one.verb == UPGRADE), "")
    return broken.cluster.calm_under(release)


def unsimulated_in(scenario: Scenario) -> tuple[str, ...]:
    """Return the fields and kinds that other clusters honor, and the simulation of a scenario does not."""
    return tuple(dict.fromkeys(one.unhonored for one in scenario.warnings if one.unhonored))


def _unsaid(contract: Contract, why: str) -> Verdict:
    return _verdict(contract, verdict=UNSAID, cases=0, played=0, classes=0, seconds=0.0, reason=why)


def _verdict(contract: Contract, **given: Any) -> Verdict:
    place = contract.problem
    named: dict[str, Any] = {"contract": contract.name, "claim": contract.claim, "because": contract.because}
    return Verdict(**named, file=place.file or "", line=place.line, **given)
