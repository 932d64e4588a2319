"""Two runs cycle by cycle; what they have in common before an operation parts them is played once."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from scheduler_core.record.cycle import Cycle
from scheduler_core.run import Stepper, simulate
from scheduler_core.scenario.scenario import Scenario


class PartedEarlierError(Exception):
    """The runs may have differed before the operation that parts them: they have to be played each."""


class InStep:
    """The runs ``a`` and ``b`` of two scenarios, as pairs of cycles, ``None`` for one that has ended.

    As long as ``b`` is the same run as ``a``, a cycle is that of both; unless ``shared``, that is never so.

    Raises:
        PolicyError: One of the scenarios' configurations cannot be used.
        PartedEarlierError: On iteration.
    """

    def __init__(self, a: Scenario, b: Scenario, *, shared: bool = True) -> None:
        self._scenario = b
        self.a = self.b = _unrecorded(simulate(a, quirk_effects=False))
        self._second = self.a.parts_from(b) if shared else None
        if self._second is None:
            self.b = _unrecorded(simulate(b, quirk_effects=False))
        else:
            self.a.keep_before(self._second)

    def __iter__(self) -> Iterator[tuple[Cycle | None, Cycle | None]]:
        while True:
            left = self.a.step()
            if self._is_parting(ended=left is None):
                self.b = self._parted()
            right = left if self.b is self.a else self.b.step()
            if left is None and right is None:
                return
            yield left, right

    def _is_parting(self, *, ended: bool) -> bool:
        if self.b is not self.a or self._second in (None, inf):
            return False
        return ended or self.a.has_kept(self._second)

    def _parted(self) -> Stepper:
        found = self.a.branched(self._scenario, trace=True)
        if found is None:
            raise PartedEarlierError
        return _unrecorded(found)


def _unrecorded(simulation: Stepper) -> Stepper:
    simulation.spare_records()
    return simulation
