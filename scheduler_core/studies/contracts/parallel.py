"""Play the cases of a contract in several processes, which share what was played before they began."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from multiprocessing import get_context

from scheduler_core.studies.contracts.case import CaseOutcome
from scheduler_core.studies.contracts.histories import History
from scheduler_core.studies.contracts.search import Countdown, Over, Player, Searched

_work: tuple[Player, Sequence[History], Countdown] | None = None
"""What the processes do, which they inherit: a calm cluster is not sent to them."""


def _play(number: int) -> CaseOutcome | None:
    """Play a case; ``None`` where no time is left for it."""
    assert _work is not None
    play, found, time = _work
    try:
        time.check()
        return play(found[number])
    except Over:
        return None


def exhaust_together(found: Sequence[History], play: Player, time: Countdown, processes: int) -> Searched:
    """Play histories until one breaks the claim, or the time is over."""
    global _work  # noqa: PLW0603 -- inherited by the processes that are started below
    _work = play, found, time
    result = Searched()
    with get_context("fork").Pool(processes, initializer=gc.freeze) as pool:
        for history, played in zip(found, pool.imap(_play, range(len(found)), chunksize=4), strict=True):
            if played is None:
                return result
            if result.add(history, played):
                return result
    result.whole = True
    return result
