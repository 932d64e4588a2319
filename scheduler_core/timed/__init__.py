"""The scheduling framework in virtual time as a simulation that steps, beside v1.11's."""

from scheduler_core.timed.choosing import is_timed, simulate
from scheduler_core.timed.simulation import TimedSimulation
from scheduler_core.timed.stepper import Stepper

__all__ = ["Stepper", "TimedSimulation", "is_timed", "simulate"]
