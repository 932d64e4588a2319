"""Retries of a worker while storage is unavailable: it waits and computes nothing in the meantime.

A run survives a restart of PostgreSQL, a locked SQLite file and a full disk. Retried operations must be
idempotent: an error of a COMMIT does not say whether the transaction was committed.
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
LONGEST_WAIT = 10.0  # seconds: the maximum delay of a run after the end of an outage

_outages = outage.OutageLog("run")


class OutageError(RuntimeError):
    """Storage was unavailable for longer than ``RUN_OUTAGE_SECONDS``; the run is left to the next worker."""


def retry_outages(call: Callable[[], T]) -> T:
    """Return the result of ``call``, retrying it with growing pauses while storage is unavailable.

    The connection is closed before each pause, so the next call opens a new one. Any other error propagates.
    Raises OutageError.
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
        # Jitter, so that the workers waiting for one database do not all retry at once.
        time.sleep(wait * random.uniform(0.5, 1.0))  # noqa: S311 - nothing secret
        wait = min(wait * 2, LONGEST_WAIT)
