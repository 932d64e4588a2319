"""A deterministic, columnar simulator of Kubernetes scheduling."""

from scheduler_core.formats.limits import Limits
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.run import TimedSimulation, simulate
from scheduler_core.run.instant import Simulation
from scheduler_core.scenario.load import load, load_documents
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.v1_11.policy import PolicyError

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
