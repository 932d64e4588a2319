"""A deterministic, columnar simulator of Kubernetes scheduling."""

from scheduler_core.formats.limits import Limits
from scheduler_core.load import load, load_documents
from scheduler_core.scenario import BundleError, Operation, Problem, Scenario

__all__ = ["BundleError", "Limits", "Operation", "Problem", "Scenario", "load", "load_documents"]
