"""A deterministic, columnar simulator of Kubernetes scheduling."""

from scheduler_core.formats.limits import Limits
from scheduler_core.load import load, load_documents
from scheduler_core.policy import PolicyError
from scheduler_core.scenario import BundleError, Operation, Problem, Scenario
from scheduler_core.simulation import Simulation
from scheduler_core.timed import TimedSimulation, simulate

__all__ = [
    "BundleError",
    "Limits",
    "Operation",
    "PolicyError",
    "Problem",
    "Scenario",
    "Simulation",
    "TimedSimulation",
    "load",
    "load_documents",
    "simulate",
]
