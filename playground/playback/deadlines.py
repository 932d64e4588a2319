"""Ends a computation of the engine that takes too long or too much memory.

A bound applies to one step: a scheduling cycle with everything that follows from it, or the construction of a
simulation. The engine calls :meth:`Bound.look` many times a second (:mod:`scheduler_core.interrupts`).
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playground.limits import MIB, limit
from playground.pool import gate
from scheduler_core.interrupts import interrupted_by

LOOK_SECONDS = 0.02  # between two memory checks, which cost some microseconds each
_STATM = Path("/proc/self/statm")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class TooMuchWorkError(ValueError):
    """The source takes too much work for an interactive request; the text names the bound."""


def resident_bytes() -> int:
    """Return the resident memory of this process; its peak where the current value is not available."""
    try:
        return int(_STATM.read_text().split()[1]) * _PAGE
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@dataclass(slots=True)
class Bound:
    """CPU seconds of this thread and bytes of the process, counted from the last :meth:`renew`.

    ``refuse`` creates the error from the text that names the exceeded bound; ``also`` is called at each look.
    """

    seconds: float
    bytes: int  # resident memory of the whole process
    refuse: Callable[[str], Exception]
    also: Callable[[], None] = gate.look
    _until: float = field(init=False)
    _next: float = 0.0

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Start another step."""
        self._until = time.thread_time() + self.seconds

    def look(self) -> None:
        """Raise if the step exceeds a bound; otherwise let others go first, if that is due."""
        self.also()
        now = time.thread_time()
        if now > self._until:
            raise self.refuse(f"more than {self.seconds:,.0f} seconds of computing")
        if now >= self._next:
            self._next = now + LOOK_SECONDS
            if resident_bytes() > self.bytes:
                raise self.refuse(f"more than {self.bytes // MIB:,} MiB of memory")


@contextmanager
def bounded(bound: Bound) -> Iterator[Bound]:
    """Apply a bound to everything inside."""
    with interrupted_by(bound.look):
        yield bound


def _too_much(what: str) -> Exception:
    return TooMuchWorkError(
        f"One step of this needs {what}, the limit for interactive requests. A run in a worker "
        "may take more; fewer nodes, pods or replicas need less, and so does an earlier end (`until` of "
        "SimulationSettings)."
    )


@contextmanager
def one_step(also: Callable[[], None] = gate.look) -> Iterator[Bound]:
    """Apply the limits of a web process to a step, or to several with :meth:`Bound.renew` before each.

    Raises TooMuchWorkError, naming the bound, in the middle of the computation.
    """
    most = resident_bytes() + limit("STEP_MIB") * MIB
    with bounded(Bound(limit("STEP_SECONDS"), most, _too_much, also)) as bound:
        yield bound


class Superseded(Exception):  # noqa: N818 - not an error: the client has sent a newer request
    """The caller no longer wants the answer."""


Unwanted = Callable[[], bool]
"""Asked now and then whether an answer is no longer wanted."""


def never() -> bool:
    """Return False: the answer is never superseded."""
    return False
