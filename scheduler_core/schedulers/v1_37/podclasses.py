"""Pods on nodes by class: pods that no selector or term can distinguish are counted together.

A class holds how many of its pods are on each row, so that a rule on other pods costs one match per class and
one vector operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from scheduler_core.forks import Copier, Forkable, emptied, flat, keyed, same
from scheduler_core.schedulers.v1_37.nodes import Ints
from scheduler_core.schedulers.v1_37.pod_spec import PodAffinityTerms
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.selectors import Selector, is_equality

_SPARSE = 32


class PodClass(Forkable):
    """One class: a pod of it as an example, and its pods per row."""

    FORKED: ClassVar[Mapping[str, Copier]] = {"example": same, "affinity": same, "counts": flat}

    def __init__(self, example: CompiledPod) -> None:
        self.example = example
        self.affinity: PodAffinityTerms = example.affinity
        self.counts: dict[int, int] = {}
        self._dense: Ints | None = None

    def change(self, row: int, by: int) -> None:
        """Count pods on a row."""
        number = self.counts.get(row, 0) + by
        if number:
            self.counts[row] = number
        else:
            del self.counts[row]
        if self._dense is not None and row < len(self._dense):
            self._dense[row] = number

    def add_to(self, vector: Ints, factor: int = 1) -> None:
        """Add the counts, times a factor, to an array over rows."""
        if len(self.counts) <= _SPARSE:
            for row, number in self.counts.items():
                vector[row] += factor * number
            return
        if self._dense is None or len(self._dense) != len(vector):
            self._dense = np.zeros(len(vector), np.int64)
            self._dense[list(self.counts)] = list(self.counts.values())
        vector += self._dense if factor == 1 else factor * self._dense


class PodClasses(Forkable):
    """The classes of all pods on rows."""

    FORKED: ClassVar[Mapping[str, Copier]] = {
        **dict.fromkeys(("_classes", "with_required_anti", "with_affinity"), keyed),
        "_labelled": emptied,
    }

    def __init__(self) -> None:
        self._classes: dict[tuple[object, ...], PodClass] = {}
        self.with_required_anti: dict[tuple[object, ...], PodClass] = {}
        self.with_affinity: dict[tuple[object, ...], PodClass] = {}
        """Classes with terms that count in scores."""
        self._labelled: dict[tuple[str, str], dict[tuple[object, ...], PodClass]] = {}
        """Classes by each of their labels; empty until somebody counts by a selector."""

    def __iter__(self) -> Iterator[PodClass]:
        return iter(self._classes.values())

    def change(self, row: int, pod: CompiledPod, by: int) -> None:
        """Count a pod on a row, or count it no more."""
        self.change_all((row,), pod, (by,))

    def change_all(self, rows: Sequence[int], pod: CompiledPod, changes: Sequence[int]) -> None:
        """Count pods of one class on each of some rows, all different."""
        key = pod.class_key
        found = self._classes.get(key) or self._added(key, pod)
        for row, by in zip(rows, changes):
            found.change(row, by)
        if not found.counts:
            for table in (self._classes, self.with_required_anti, self.with_affinity):
                table.pop(key, None)
            if self._labelled:
                self._unindex(key, found)

    def _added(self, key: tuple[object, ...], pod: CompiledPod) -> PodClass:
        """Return the class of a pod that is the first of it."""
        found = self._classes[key] = PodClass(pod)
        if self._labelled:
            self._index(key, found)
        affinity = found.affinity
        if affinity.required_anti:
            self.with_required_anti[key] = found
        if affinity.required or affinity.preferred or affinity.preferred_anti:
            self.with_affinity[key] = found
        return found

    def _index(self, key: tuple[object, ...], one: PodClass) -> None:
        for pair in one.example.labels.items():
            self._labelled.setdefault(pair, {})[key] = one

    def _unindex(self, key: tuple[object, ...], one: PodClass) -> None:
        for pair in one.example.labels.items():
            del self._labelled[pair][key]
            if not self._labelled[pair]:
                del self._labelled[pair]

    def _candidates(self, selector: Selector) -> Iterable[PodClass]:
        """Return the classes that have a label which the selector requires."""
        pairs = [(one.key, one.values[0]) for one in selector.requirements if is_equality(one)]
        if not pairs:
            return self._classes.values()
        if not self._labelled:
            for key, one in self._classes.items():
                self._index(key, one)
        return min((self._labelled.get(pair, {}) for pair in pairs), key=len).values()

    def count(self, capacity: int, selector: Selector, selected: Callable[[CompiledPod], bool]) -> Ints:
        """Return how many pods each row has of the selected classes; (capacity,) int64.

        ``selector`` is one that all of them match.
        """
        out = np.zeros(capacity, np.int64)
        for each in self._candidates(selector):
            if selected(each.example):
                each.add_to(out)
        return out
