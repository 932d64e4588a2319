"""A stepwise simulation of the scheduling framework in virtual time, the counterpart of v1.11's."""

from scheduler_core.run.choosing import is_timed, simulate
from scheduler_core.run.simulation import TimedSimulation
from scheduler_core.run.stepper import Stepper, cache_of, counter_of

__all__ = ["Stepper", "TimedSimulation", "cache_of", "counter_of", "is_timed", "simulate"]
