"""A stepwise simulation of the scheduling framework in virtual time, the counterpart of v1.11's."""

from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.stepper import Stepper, cache_of, counter_of
from scheduler_core.run.table import is_timed, is_timed_run, simulate, unpacked, usages

__all__ = [
    "Stepper",
    "TimedSimulation",
    "cache_of",
    "counter_of",
    "is_timed",
    "is_timed_run",
    "simulate",
    "unpacked",
    "usages",
]
