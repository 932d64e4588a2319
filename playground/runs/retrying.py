"""Retries of a worker whose storage is unavailable: it waits, and computes nothing meanwhile.

A run outlives a restart of PostgreSQL, a locked SQLite file and a full disk. What is repeated must be safe to
repeat: an error of a COMMIT does not say whether the transaction was committed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from playground.limits import limit
from playground.runtime import outage

T = TypeVar("T")

FIRST_WAIT = 0.1  # seconds
LONGEST_WAIT = 10.0  # seconds: so late a run goes on at most after the outage

_outages = outage.OutageLog("run")


class OutageError(RuntimeError):
    """Storage was unavailable for longer than ``RUN_OUTAGE_SECONDS``: the run is left to the next worker."""


def retry_outages(call: Callable[[], T]) -> T:
    """Return what ``call`` returns, repeating it with growing pauses while storage is unavailable.

    The connection is closed before each pause: the next call makes a new one. Any other error is raised as it
    is. Raises OutageError.
    """
    began: float | None = None
    wait = FIRST_WAIT
    while True:
        try:
            result = call()
        except Exception as error:
            if outage.cause_of(error) is None:
                raise
            _outages.failed(error)
            outage.disconnect()
            began = began or time.monotonic()
            if time.monotonic() - began + wait > limit("RUN_OUTAGE_SECONDS"):
                raise OutageError(
                    f"Storage was unavailable for {limit('RUN_OUTAGE_SECONDS')} seconds."
                ) from error
        else:
            _outages.succeeded()
            return result
        # Jitter: the workers that wait for one database do not all come back at once.
        time.sleep(wait * random.uniform(0.5, 1.0))  # noqa: S311 - nothing secret
        wait = min(wait * 2, LONGEST_WAIT)
