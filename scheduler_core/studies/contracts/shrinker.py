"""Shrink a counterexample: fewer events, then fewer replicas, nodes and seconds, as long as it stays one.

A smaller cluster counts only if the claim holds in it while nothing happens, where it did before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial
from random import Random
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.compare.calm import Unplayable
from scheduler_core.compare.plane import reread
from scheduler_core.interrupts import also_interrupted_by
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError, PolicyError
from scheduler_core.studies.contracts.case import CaseOutcome, CheckedCluster, play
from scheduler_core.studies.contracts.document import Contract
from scheduler_core.studies.contracts.events import UPGRADE, VerbEvent
from scheduler_core.studies.contracts.facts import WAITING
from scheduler_core.studies.contracts.histories import History, spaced
from scheduler_core.studies.contracts.reduction import replicas_of, resized, sized, without_nodes
from scheduler_core.studies.contracts.search import Countdown, Over
from scheduler_core.studies.contracts.verdict import Extent

Item = TypeVar("Item")
Change = Callable[[Sequence[Document]], Sequence[Document]]
MOST_TRIALS = 400
MORE_GAPS = 12


class Broken(Struct, frozen=True):
    """A counterexample: a cluster, the contract with its window, a history, and what became of it."""

    cluster: CheckedCluster
    contract: Contract
    history: History
    played: CaseOutcome

    @property
    def extent(self) -> Extent:
        """How large it is."""
        breach = self.played.breach
        assert breach is not None
        documents = self.cluster.scenario.documents
        seconds = round(max(0.0, breach.second - self.cluster.calm.second), 1)
        return Extent(len(self.history), replicas_of(documents), len(self.cluster.terrain.nodes), seconds)


class Shrinker:
    """What tries smaller counterexamples until the time is over."""

    def __init__(self, broken: Broken, time: Countdown) -> None:
        self.best = broken
        self.origin = broken.history
        self.time = time
        self.trials = 0
        self.calm_first = self._holds_calm(broken.cluster, broken.contract)

    def shrunk(self) -> Broken:
        """Return the smallest counterexample that was found."""
        with suppress(Over), also_interrupted_by(self.time.check):
            self._shrink()
        return self.best

    def _shrink(self) -> None:
        self._drop_events()
        self._lower_counts()
        self._drop_replicas()
        self._drop_nodes()
        self._drop_both()
        self._drop_events()
        self._close_gaps()
        self._shorten()

    # --- what is tried

    def _drop_events(self) -> None:
        if not self.calm_first and self.best.contract.mode in ("eventually", "finally"):
            return  # each event may be what should bring about what is claimed
        minimized(
            self.best.history, lambda kept: self._accept(history=_first_at_once(kept)), int(self.calm_first)
        )

    def _lower_counts(self) -> None:
        """Let fewer pods arrive, and scale to fewer replicas."""
        for place, event in enumerate(self.best.history):
            if event.value.isdecimal():
                for count in _fewer(int(event.value), event.least):
                    lower = event.valued(count)
                    history = self.best.history
                    if self._accept(history=(*history[:place], lower, *history[place + 1 :])):
                        break

    def _drop_replicas(self) -> None:
        for key, _ in sized(self.best.cluster.scenario.documents):
            while self._fewer_of(key):
                pass

    def _fewer_of(self, key: Key) -> bool:
        """Try fewer replicas of a workload; return whether that helped."""
        count = dict(sized(self.best.cluster.scenario.documents)).get(key, 0)
        return any(
            self._accept(documents=partial(resized, key=key, count=fewer))
            for fewer in _fewer(count, self._least(key))
        )

    def _least(self, key: Key) -> int:
        """Return the fewest replicas to try: an object that the history is on has to stay."""
        named = {target for one in self.best.history for target in one.targets}
        return 1 if key in named or key in self._subjects() else 0

    def _subjects(self) -> set[Key]:
        found = self.best.contract.subject.subjects(self.best.cluster.server)
        return {key for one in found for key in one.workloads}

    def _drop_nodes(self) -> None:
        def keeps(kept: Sequence[str]) -> bool:
            return self._accept(documents=lambda given: without_nodes(given, {*kept}))

        minimized(list(self.best.cluster.terrain.nodes), keeps, 1)

    def _drop_both(self) -> None:
        """Drop a replica together with a node, as long as that helps."""
        while any(
            self._accept(documents=partial(_smaller, key=key, count=count - 1, left=names - {name}))
            for names in [{*self.best.cluster.terrain.nodes}]
            if len(names) > 1
            for key, count in sized(self.best.cluster.scenario.documents)
            if count > 1
            for name in sorted(names)
        ):
            pass

    def _close_gaps(self) -> None:
        """Let events follow each other as soon as the contract allows."""
        for gap in self.best.contract.apart:
            closer = len(self.best.history) > 1 and gap < self.best.history[1].after
            if closer and self._accept(history=spaced(self.best.history, gap)):
                return

    def _shorten(self) -> None:
        """Close the window at the second where it shows, which a wait in an idle cluster passes over."""
        breach, contract = self.best.played.breach, self.best.contract
        assert breach is not None
        if contract.mode not in ("always", "never"):
            return
        last = self.best.cluster.calm.second + sum(event.after for event in self.best.history)
        shown = max(1, int(breach.second - last) + 1)
        if shown < contract.within:
            self._accept(contract=replace(contract, within=float(shown)))
        if any(fact.name in WAITING for fact in contract.condition.facts):
            self._bisect_window()

    def _bisect_window(self) -> None:
        low, high = 0, int(self.best.contract.within)
        while high - low > 1 and not self.time.over:
            middle = (low + high) // 2
            shorter = replace(self.best.contract, within=float(middle))
            low, high = (low, middle) if self._accept(contract=shorter) else (middle, high)

    # --- trying

    def _accept(
        self,
        *,
        history: History | None = None,
        documents: Change | None = None,
        contract: Contract | None = None,
    ) -> bool:
        """Try a smaller counterexample; keep it and return True if it is one."""
        if self.time.over or self.trials >= MOST_TRIALS:
            return False
        self.trials += 1
        best = self.best
        claim = best.contract if contract is None else contract
        if documents is None:
            found = _tried(best.cluster, claim, best.history if history is None else history)
        else:
            found = self._tried_in(self._cluster(documents), claim)
        if found is not None:
            self.best = found
        return found is not None

    def _tried_in(self, cluster: CheckedCluster | None, contract: Contract) -> Broken | None:
        """Try the history in a smaller cluster, and others like it."""
        if cluster is None or (self.calm_first and not self._holds_calm(cluster, contract)):
            return None
        tried = (_tried(cluster, contract, one) for one in self._nearby(contract))
        return next((one for one in tried if one is not None and not self._slips(one)), None)

    def _slips(self, broken: Broken) -> bool:
        """Return whether fewer events do, which did not before: the claim is broken for another reason."""
        history = broken.history
        if not self.calm_first or len(history) < 2:
            return False
        fewer = (_without(history, place) for place in range(len(history)))
        return any(_tried(broken.cluster, broken.contract, one) is not None for one in fewer)

    def _nearby(self, contract: Contract) -> Iterator[History]:
        """Yield what to try in a smaller cluster: the history, with other gaps, and as it was found."""
        history = self.best.history
        yield history
        for one in dict.fromkeys((history, self.origin)):
            if len(one) > 1:
                yield from (spaced(one, gap) for gap in _gaps(contract) if spaced(one, gap) != history)

    def _cluster(self, change: Change) -> CheckedCluster | None:
        own = self.best.cluster.scenario
        try:
            return CheckedCluster(reread(own, change(own.documents)))
        except (BundleError, PolicyError, Unplayable):
            return None

    def _holds_calm(self, cluster: CheckedCluster, contract: Contract) -> bool:
        played = _played(cluster, contract, ())
        return played is not None and played.breach is None


def _gaps(contract: Contract) -> list[float]:
    """Return the gaps of a contract, and some more at random of a range: a restart's second decides ties."""
    least, most = contract.apart[0], contract.apart[-1]
    dice = Random(0)  # noqa: S311 -- seeded on purpose
    more = MORE_GAPS if len(contract.apart) > 1 else 0
    return [*contract.apart, *(float(round(dice.uniform(least, most))) for _ in range(more))]


def _without(history: History, place: int) -> History:
    return _first_at_once((*history[:place], *history[place + 1 :]))


def _first_at_once(events: Sequence[VerbEvent]) -> History:
    return tuple(one if place else one._replace(after=0.0) for place, one in enumerate(events))


def _smaller(
    documents: Sequence[Document], *, key: Key, count: int, left: AbstractSet[str]
) -> list[Document]:
    return without_nodes(resized(documents, key, count), left)


def _tried(cluster: CheckedCluster, contract: Contract, events: History) -> Broken | None:
    """Play events on what there is of their objects; return the counterexample that it is, if it is one."""
    history = tuple(one.on(cluster.terrain.found) for one in events)
    if not all(one.targets or one.verb == UPGRADE for one in history):
        return None
    played = _played(cluster, contract, history)
    return None if played is None or played.breach is None else Broken(cluster, contract, history, played)


def _played(cluster: CheckedCluster, contract: Contract, history: History) -> CaseOutcome | None:
    subjects = contract.subject.subjects(cluster.server)
    if not subjects:
        return None
    try:
        return play(cluster, contract, subjects, history)
    except BundleError:
        return None


def _fewer(count: int, least: int) -> Iterator[int]:
    """Yield smaller counts, the smallest first."""
    tried = {least, least + 1, 2, 3, 4, count // 2, count - 2, count - 1}
    yield from sorted(one for one in tried if least <= one < count)


def minimized(items: Sequence[Item], keeps: Callable[[Sequence[Item]], bool], least: int) -> Sequence[Item]:
    """Return fewer items for which ``keeps`` is true, by leaving out ever smaller parts (Zeller's ddmin)."""
    kept, part = list(items), len(items)
    while part:
        place = 0
        while place < len(kept):
            fewer = kept[:place] + kept[place + part :]
            if len(fewer) >= least and keeps(fewer):
                kept = fewer
            else:
                place += part
        part //= 2
    return kept
