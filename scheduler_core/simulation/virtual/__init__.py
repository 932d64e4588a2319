"""A stepwise simulation of the scheduling framework in virtual time, the counterpart of v1.11's."""

from scheduler_core.simulation.virtual.choosing import is_timed, simulate
from scheduler_core.simulation.virtual.simulation import TimedSimulation
from scheduler_core.simulation.virtual.stepper import Stepper, cache_of, counter_of

__all__ = ["Stepper", "TimedSimulation", "cache_of", "counter_of", "is_timed", "simulate"]
