"""Filtering: the predicates in order, two passes on nodes with nominated pods, the failure message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from scheduler_core.kubernetes.arrays import BoolVector
from scheduler_core.record.cycle import PredicateMatrix
from scheduler_core.record.preemption import NominatedPass
from scheduler_core.schedulers.columns.nominations import Nominations
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.reasons import FAILED_BY_ERROR, Codes, Reasons, ReasonTable
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import View
from scheduler_core.schedulers.profiles.predicate import PredicateResult
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.vectors import KnownOutcomes

NOT_REACHED = -1
Matrix = npt.NDArray[np.int16]


class Filtered(Struct):
    """The outcome of filtering N nodes.

    ``failed`` is ``(N,) int16``, the code of the reasons collected for each node, 0 where the pod fits;
    ``None`` if it fits everywhere. ``codes`` is ``(P, N)`` with -1 for what was not reached, ``unabridged``
    the same without short-circuiting; each is ``None`` unless requested. ``nominated`` are the nodes that
    were checked in two passes, recorded only along with ``codes``. ``asked`` counts the (predicate, node)
    pairs that short-circuiting did not skip, including those of the first pass (with nominated pods); a node
    that fails the first pass has no second one.
    """

    failed: Codes | None
    errors: dict[tuple[int, int], str] = field(default_factory=dict)
    asked: int = 0
    codes: Matrix | None = None
    unabridged: Matrix | None = None
    unabridged_errors: dict[tuple[int, int], str] = field(default_factory=dict)
    nominated: tuple[NominatedPass, ...] = ()


class _FilterPass(Struct):
    outcomes: list[PredicateResult]
    failed: Codes | None
    errors: dict[tuple[int, int], str]
    codes: Matrix | None
    asked: int
    depths: npt.NDArray[np.int64] | None  # how many predicates were checked on each watched row


def filter_nodes(
    pod: PodState,
    cluster: Cluster,
    queue: Nominations,
    profile: Profile,
    known: KnownOutcomes | None,
    *,
    matrix: bool,
    unabridged: bool = False,
) -> Filtered:
    """Check a pod against every node (core.genericScheduler.findNodesThatFit).

    ``known`` provides outcomes that need no evaluation; ``None`` evaluates everything.
    """
    whole = View(cluster)
    nominations = _nominations(pod, cluster, queue)
    rows = np.array(list(nominations), np.int64) if nominations else None
    if known is not None and rows is not None:
        known.leave_out(rows)
    beyond = known.whole if known is not None else None
    everything = unabridged and beyond is known
    without = _run(pod, whole, profile, known, matrix=matrix, everything=everything, watched=rows)
    result = Filtered(without.failed, without.errors, without.asked, without.codes)
    if unabridged:
        whole_story = without
        if not everything:  # results that short-circuiting skips are neither looked up nor written
            whole_story = _run(pod, whole, profile, beyond, matrix=False, everything=True)
        result.unabridged, result.unabridged_errors = _stack(whole_story.outcomes, whole.size)
    if rows is not None:
        view = _with_nominated(nominations, cluster)
        first = _run(pod, view, profile, None, matrix=matrix, everything=unabridged)
        if matrix:
            result.nominated = _nominated_passes(nominations, first.failed, without.failed)
        result.asked += first.asked - _spared(first.failed, without.depths)
        _prefer(first, rows, result, whole.size)
        if unabridged:
            _prefer_unabridged(first, rows, result)
    return result


def filter_node(pod: PodState, node: int, cluster: Cluster, queue: Nominations, profile: Profile) -> Filtered:
    """Check a pod against one node alone; all other nodes count as not reached (evaluateNominatedNode)."""
    rows = np.array([node], np.int64)
    single = _run(pod, View(cluster, rows), profile, None, matrix=True, everything=False)
    asked = single.asked
    nominations = {n: pods for n, pods in _nominations(pod, cluster, queue).items() if n == node}
    if nominations:
        first = _run(pod, _with_nominated(nominations, cluster), profile, None, matrix=True, everything=False)
        fails = _fails(first)
        asked = first.asked + (0 if fails else single.asked)
        single = first if fails else single
    codes = np.full((len(profile.order), cluster.columns.size), NOT_REACHED, np.int16)
    if single.codes is not None:
        codes[:, node] = single.codes[:, 0]
    errors = {(number, node): text for (number, _), text in single.errors.items()}
    return Filtered(single.failed if _fails(single) else None, errors, asked, codes)


def _fails(found: _FilterPass) -> bool:
    """Return whether any node failed a pass; a predicate may also return codes that are all 0."""
    return found.failed is not None and bool(found.failed.any())


def _run(
    pod: PodState,
    view: View,
    profile: Profile,
    known: KnownOutcomes | None,
    *,
    matrix: bool,
    everything: bool,
    watched: npt.NDArray[np.int64] | None = None,
) -> _FilterPass:
    """Evaluate the predicates in order (core.podFitsOnNode, one pass).

    With ``everything`` no predicate is skipped; ``codes``, ``failed`` and ``errors`` still omit what
    short-circuiting would not have reached, and ``asked`` does not count it.
    """
    check_all = profile.always_check_all
    count, left = len(profile.predicates), view.size  # predicates, and rows still to be checked
    asked = count * left
    depths = np.full(len(watched), count, np.int64) if watched is not None else None
    outcomes: list[PredicateResult] = []
    codes = np.zeros((len(profile.order), view.size), np.int16) if matrix else None
    closed: Codes | np.int16 = np.int16(
        0
    )  # the matrix entry of rows that are not reached, and 0 for the others
    errors: dict[tuple[int, int], str] = {}
    failed: Codes | None = None
    open_rows: BoolVector | None = None  # None: all rows are still to be checked
    ask = known.outcome if known is not None else None
    for number in _numbers(profile, known, matrix=matrix or everything):
        outcome = ask(number, open_rows) if ask is not None else None
        if outcome is None:
            outcome = profile.predicates[number](pod.info, view, pod)
        outcomes.append(outcome)
        found = outcome.codes
        if open_rows is not None:
            if found is not None:
                found = np.where(open_rows, found, np.int16(0))
            if codes is not None:
                codes[number] = closed if found is None else found + closed
        elif codes is not None and found is not None:
            codes[number] = found
        if found is None:
            continue
        for row, text in outcome.errors.items():
            if open_rows is None or open_rows[row]:
                errors[number, row] = text
        failed = view.reasons.merge(failed, found)
        # an error ends a node's check even where all predicates are to run
        stopping = found == FAILED_BY_ERROR if check_all else found != 0
        if not stopping.any():
            continue
        open_rows = ~stopping if open_rows is None else open_rows & ~stopping
        before, left = left, int(np.count_nonzero(open_rows))
        asked -= (before - left) * (count - number - 1)
        if watched is not None and depths is not None:
            depths[(depths == count) & ~open_rows[watched]] = number + 1
        if codes is not None:
            closed = np.where(open_rows, np.int16(0), np.int16(NOT_REACHED))
        if not left and not everything:
            if codes is not None:
                codes[number + 1 :] = NOT_REACHED
            break
    return _FilterPass(outcomes, failed, errors, codes, asked, depths)


def _spared(first: Codes | None, depths: npt.NDArray[np.int64] | None) -> int:
    """Count the second pass's checks on nodes that failed the first; v1.11 does not start it there."""
    return 0 if first is None or depths is None else int(depths[first != 0].sum())


def _numbers(profile: Profile, known: KnownOutcomes | None, *, matrix: bool) -> Iterable[int]:
    """Return the predicates to evaluate, in order; without a matrix, skip those known to pass everywhere."""
    return range(len(profile.predicates)) if matrix or known is None else known.checks


def _nominations(pod: PodState, cluster: Cluster, queue: Nominations) -> dict[int, list[PodState]]:
    """Return the nodes, in object order, with the pods of equal or higher priority nominated to them."""
    nominations: dict[int, list[PodState]] = {}
    for node_name in queue.nominated:
        node = cluster.columns.index.get(node_name)
        pods = [other for other in queue.nominated_to(node_name) if other.priority >= pod.priority]
        if node is not None and pods:
            nominations[node] = pods
    return dict(sorted(nominations.items()))


def _with_nominated(nominations: dict[int, list[PodState]], cluster: Cluster) -> View:
    """Return a view of the nodes that have nominated pods, with these pods added (addNominatedPods)."""
    view = View(cluster, np.array(list(nominations), np.int64))
    for row, pods in enumerate(nominations.values()):
        view.change([row] * len(pods), pods, 1, nominated=True)
    return view


def _nominated_passes(
    nominations: dict[int, list[PodState]], first: Codes | None, second: Codes | None
) -> tuple[NominatedPass, ...]:
    """Record which pass each node failed: ``first`` has one row per nomination, ``second`` one per node."""
    passes = []
    for row, (node, pods) in enumerate(nominations.items()):
        failed: Literal[1, 2] | None = None
        if first is not None and first[row]:
            failed = 1
        elif second is not None and second[node]:
            failed = 2
        passes.append(NominatedPass(node, tuple(pod.key for pod in pods), failed))
    return tuple(passes)


def _prefer(first: _FilterPass, rows: npt.NDArray[np.int64], result: Filtered, size: int) -> None:
    """Use the result of the pass with nominated pods on the nodes that failed it."""
    if first.failed is None:
        return
    decided = first.failed != 0
    nodes = rows[decided]
    # a copy, because the array may be shared with the vectors of the pod's class
    result.failed = np.zeros(size, np.int16) if result.failed is None else result.failed.copy()
    result.failed[nodes] = first.failed[decided]
    if result.codes is not None and first.codes is not None:
        result.codes[:, nodes] = first.codes[:, decided]
    chosen = set(nodes.tolist())
    result.errors = {key: text for key, text in result.errors.items() if key[1] not in chosen}
    for (number, row), text in first.errors.items():
        result.errors[number, int(rows[row])] = text


def _prefer_unabridged(first: _FilterPass, rows: npt.NDArray[np.int64], result: Filtered) -> None:
    """Do the same predicate by predicate for the matrix without short-circuiting."""
    codes, errors = _stack(first.outcomes, len(rows))
    if result.unabridged is None:
        return
    there = result.unabridged[:, rows]
    for number, row in zip(*(found.tolist() for found in np.nonzero(codes))):
        result.unabridged_errors.pop((number, int(rows[row])), None)
    for (number, row), text in errors.items():
        result.unabridged_errors[number, int(rows[row])] = text
    result.unabridged[:, rows] = np.where(codes != 0, codes, there)


def _stack(outcomes: list[PredicateResult], size: int) -> tuple[Matrix, dict[tuple[int, int], str]]:
    codes = np.zeros((len(outcomes), size), np.int16)
    errors: dict[tuple[int, int], str] = {}
    for number, outcome in enumerate(outcomes):
        if outcome.codes is not None:
            codes[number] = outcome.codes
        errors.update({(number, row): text for row, text in outcome.errors.items()})
    return codes, errors


class FitCheck:
    """Check where a pod fits in a view with what-if changes, as preemption does: two passes, short-circuited.

    With ``explain``, :meth:`why` returns the reasons why the pod did not fit on a row in the last check.
    """

    def __init__(
        self,
        pod: PodState,
        view: View,
        queue: Nominations,
        profile: Profile,
        *,
        explain: bool = False,
    ) -> None:
        self.pod = pod
        self.view = view
        self.profile = profile
        self._failed: Codes | None = np.zeros(view.size, np.int16) if explain else None
        self._errors: dict[int, str] = {}
        self.nominations: dict[int, list[PodState]] = {}
        for node_name in queue.nominated:
            node = view.columns.index.get(node_name)
            pods = [other for other in queue.nominated_to(node_name) if other.priority >= pod.priority]
            if node is not None and pods:
                self.nominations.update(dict.fromkeys(view.row_numbers({node}), pods))

    def __call__(self) -> BoolVector:
        """Return where the pod fits now, ``(R,) bool``; an error counts as not fitting."""
        if self._failed is not None:
            self._failed[:] = 0
            self._errors.clear()
        fits = self._passes()
        if self.nominations:
            # ports are a set: removing a nominated pod again would free a port that another pod holds
            before = self.view.changes.uses
            uses = {row: before[row].copy() for row in self.nominations if row in before}
            self._nominate(1)
            fits &= self._passes()
            self._nominate(-1)
            after = self.view.changes.uses
            for row in self.nominations:
                after.pop(row, None)
            after.update(uses)
        return fits

    def _nominate(self, sign: int) -> None:
        for row, pods in self.nominations.items():
            self.view.change([row] * len(pods), pods, sign, nominated=True)

    def _passes(self) -> BoolVector:
        fits = np.ones(self.view.size, np.bool_)
        for predicate in self.profile.predicates:
            outcome = predicate(self.pod.info, self.view, self.pod)
            if outcome.codes is not None:
                if self._failed is not None:
                    self._note(outcome, fits, self._failed)
                fits &= outcome.codes == 0
                if not fits.any():
                    break
        return fits

    def _note(self, outcome: PredicateResult, before: BoolVector, failed: Codes) -> None:
        """Keep each row's first failure; the pass with nominated pods, run last, replaces the other's."""
        assert outcome.codes is not None
        new = before & (outcome.codes != 0)
        failed[new] = outcome.codes[new]
        self._errors.update({row: text for row, text in outcome.errors.items() if new[row]})

    def why(self, row: int) -> Reasons:
        """Return the reasons why the pod did not fit on a row in the last check."""
        code = int(self._failed[row]) if self._failed is not None else 0
        return (self._errors[row],) if code == FAILED_BY_ERROR else self.view.reasons.texts[code]


def missing_claim(pod: PodState, cluster: Cluster) -> str | None:
    """Return the error of a pod's claims, checked before any predicate runs (core.podPassesBasicChecks)."""
    for name in pod.info.claims:
        claim = cluster.storage.claim(pod.info.namespace, name)
        if claim is None:
            return f'persistentvolumeclaim "{name}" not found'
        if claim.meta.deletion_timestamp is not None:
            return f'persistentvolumeclaim "{name}" is being deleted'
    return None


def error_message(texts: Iterable[str]) -> str:
    """Merge the nodes' error messages as v1.11's Aggregate prints them."""
    counts = Counter(texts)
    merged = sorted(
        f"{text} (repeated {count} times)" if count > 1 else text for text, count in counts.items()
    )
    return merged[0] if len(merged) == 1 else f"[{', '.join(merged)}]"


def fit_error_message(failed: Codes, reasons: ReasonTable, extended: Mapping[str, int] | None = None) -> str:
    """Return the message why no node is feasible, as the event FailedScheduling has it (core.FitError.Error).

    ``extended`` counts the reasons that extenders gave.
    """
    counts: Counter[str] = Counter(extended or {})
    for code, count in enumerate(np.bincount(failed, minlength=1).tolist()):
        for text in reasons.texts[code] if count else ():
            counts[text] += count
    listed = ", ".join(sorted(f"{count} {text}" for text, count in counts.items()))
    return f"0/{len(failed)} nodes are available: {listed}."


def predicate_matrix(
    order: tuple[str, ...], codes: Matrix, errors: dict[tuple[int, int], str], table: ReasonTable
) -> PredicateMatrix:
    """Renumber the reasons that occur, sorted by text, so that a Cycle does not depend on history.

    ``codes`` is changed in place.
    """
    failing = np.flatnonzero(codes.max(axis=1, initial=0) > 0).tolist()
    occurring = {
        code for number in failing for code in np.flatnonzero(np.bincount(codes[number] + 1)[2:]).tolist()
    }
    used = sorted((table.texts[code + 1], code + 1) for code in occurring)
    if used:
        renumbered = np.zeros(len(table.texts) + 1, np.int16)
        renumbered[[code for _, code in used]] = np.arange(1, len(used) + 1)
        renumbered[NOT_REACHED] = NOT_REACHED  # the last entry
        for number in failing:
            codes[number] = renumbered[codes[number]]
    return PredicateMatrix(order, codes, [(), *(texts for texts, _ in used)], errors)
