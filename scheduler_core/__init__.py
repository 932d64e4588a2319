"""A deterministic, columnar simulator of Kubernetes scheduling."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler_core.compare.calm import CalmCluster
    from scheduler_core.formats.limits import Limits
    from scheduler_core.kubernetes.problems import BundleError, PolicyError, Problem
    from scheduler_core.run import simulate
    from scheduler_core.run.instant import Simulation
    from scheduler_core.run.simulation import TimedSimulation
    from scheduler_core.scenario.load import load, load_documents
    from scheduler_core.scenario.scenario import Operation, Scenario

__version__ = "0.1.0"
"""The version of every distribution, image and manifest of this repository."""

_MODULES = {
    "BundleError": "kubernetes.problems",
    "CalmCluster": "compare.calm",
    "Limits": "formats.limits",
    "Operation": "scenario.scenario",
    "PolicyError": "kubernetes.problems",
    "Problem": "kubernetes.problems",
    "Scenario": "scenario.scenario",
    "Simulation": "run.instant",
    "TimedSimulation": "run.simulation",
    "load": "scenario.load",
    "load_documents": "scenario.load",
    "simulate": "run.table",
}
"""What is imported at first use: importing a module of the engine imports no other scheduler."""

__all__ = [
    "BundleError",
    "CalmCluster",
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


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
