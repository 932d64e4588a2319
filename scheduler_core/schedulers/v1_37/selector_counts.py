"""How many pods of a namespace each row has that a selector means, kept up as pods come and go."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from scheduler_core.schedulers.v1_37.nodes import Ints
from scheduler_core.schedulers.v1_37.pod_log import PodLog
from scheduler_core.schedulers.v1_37.podclasses import PodClasses
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.selectors import Selector

MAX_SELECTORS = 64
MANY = 2_000
"""After so many changes the pods are recounted."""


class SelectedPods:
    """Counts by namespace and selector; pods that are being deleted are not counted."""

    def __init__(self, classes: PodClasses, log: PodLog) -> None:
        self._classes = classes
        self._log = log
        self._counts: OrderedDict[tuple[str, Selector], tuple[int, Ints]] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy as one that recounts the copied cluster's pods."""
        return SelectedPods, (self._classes, self._log)

    def count(self, namespace: str, selector: Selector, capacity: int) -> Ints:
        """Return the number of each row; (capacity,) int64. It stays as it is for one attempt only."""

        def selected(pod: CompiledPod) -> bool:
            return pod.namespace == namespace and not pod.terminating and selector.matches(pod.labels)

        key = namespace, selector
        position, counts = self._counts.get(key, (0, None))
        entries = None if counts is None else self._log.since(position)
        if counts is None or entries is None or len(entries) > MANY or len(counts) != capacity:
            counts = self._classes.count(capacity, selector, selected)
        else:
            for row, pod, sign in entries:
                if selected(pod):
                    counts[row] += sign
        self._counts[key] = self._log.end, counts
        self._counts.move_to_end(key)
        if len(self._counts) > MAX_SELECTORS:
            self._counts.popitem(last=False)
        return counts
