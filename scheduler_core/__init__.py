"""A deterministic, columnar simulator of Kubernetes scheduling."""

from scheduler_core.config.policy import PolicyError
from scheduler_core.formats.limits import Limits
from scheduler_core.objects.problems import BundleError, Problem
from scheduler_core.scenario.load import load, load_documents
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.simulation.instant import Simulation
from scheduler_core.simulation.virtual import TimedSimulation, simulate

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
