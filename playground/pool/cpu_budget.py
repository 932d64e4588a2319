"""CPU seconds as a budget, by visitor and by address: of threads of a web process and of its pool.

What was spent decays evenly, by the whole budget in ``CPU_BUDGET_SECONDS``. Whoever has spent more is refused
what takes long, and answered with the seconds to wait. Steps that are computed already go on, for a moment
each; who spends a quarter more in such moments is refused these too. Each process counts for itself.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict

from msgspec import Struct

from playground.limits import limit
from playground.pool.shares import BusyError
from playground.visitors import caller

BEYOND = 1.25  # times a budget, beyond which nothing is computed at all
KEPT = 20_000  # visitors and addresses that are counted


class SpentError(BusyError):
    """The budget of a visitor or an address is spent; ``retry_after`` is in seconds."""

    code = "budget.spent"
    status = 429


class SpentSeconds(Struct):
    """The seconds that were spent, as of a time of the monotonic clock."""

    seconds: float = 0.0
    at: float = 0.0

    def spent(self, now: float, budget: int) -> float:
        """Return the seconds that have not decayed yet."""
        return max(0.0, self.seconds - (now - self.at) * budget / limit("CPU_BUDGET_SECONDS"))


class Spending:
    """The accounts of a process. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._accounts: OrderedDict[tuple[str, str], SpentSeconds] = OrderedDict()
        self._lock = threading.Lock()

    def charge(self, share: str, seconds: float, long: bool = False) -> None:
        """Charge seconds to the visitor of a share and to the address that this context works for.

        Raises SpentError if the work turns out to be ``long`` and the budget is spent.
        """
        now = _now()
        with self._lock:
            for name, who, _ in _accounts(share):
                account = self._accounts.setdefault((name, who), SpentSeconds())
                account.seconds, account.at = account.spent(now, limit(name)) + seconds, now
                self._accounts.move_to_end((name, who))
            while len(self._accounts) > KEPT:
                self._accounts.popitem(last=False)
        if long:
            self.check(share)

    def check(self, share: str, beyond: float = 1.0) -> None:
        """Raise SpentError if more than ``beyond`` times a budget is spent."""
        now = _now()
        for name, who, whose in _accounts(share):
            account = self._accounts.get((name, who))
            over = 0.0 if account is None else account.spent(now, limit(name)) - limit(name)
            if over > (beyond - 1) * limit(name):
                raise _spent(name, whose, over)

    def clear(self) -> None:
        """Forget what was spent."""
        with self._lock:
            self._accounts.clear()


def _accounts(share: str) -> tuple[tuple[str, str, str], ...]:
    """Return the limits that a share counts for, with whose: no visitor's name or address has a space."""
    rows = (
        ("CPU_SECONDS_PER_VISITOR", share.partition(" ")[0], "you"),
        ("CPU_SECONDS_PER_ADDRESS", caller.address(), "your address"),
    )
    return tuple(row for row in rows if row[1])  # the server itself is neither


def _spent(name: str, whose: str, over: float) -> SpentError:
    budget, window = limit(name), limit("CPU_BUDGET_SECONDS")
    wait = math.ceil(over * window / budget) + 1
    return SpentError(
        f"Computing for {whose} has taken {budget:,} seconds of a processor, the budget of {window:,} "
        f"seconds; come back in {wait:,} seconds. Steps that are computed already remain available.",
        wait,
    )


def _now() -> float:
    return time.monotonic()


spending = Spending()
